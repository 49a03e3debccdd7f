#include <string.h>

#include "report/internal.h"

static const ft_rule RULES[] = {
    {"race/write-write", "race", "write-write", "Data race",
     "Two threads write %s at the same moment: one of the writes is lost, or the value is torn.",
     "Hold one lock at both accesses, make both atomic, or order them with a join or a condition."},
    {"race/read-write", "race", "read-write", "Data race",
     "A thread reads %s at the moment another one writes it: it may see the old value, the new "
     "one, "
     "or a mixture of both.",
     "Hold one lock at both accesses, make both atomic, or order them with a join or a condition."},
    {"atomicity/RWR", "atomicity", "RWR", "Atomicity violation",
     "Two reads of %s that belong together see different values: another thread writes it in "
     "between.",
     "Hold the lock from the first read to the last, or read once and keep the value."},
    {"atomicity/RWW", "atomicity", "RWW", "Atomicity violation",
     "A thread reads %s, another one changes it, and a write based on the old value wipes that "
     "change out.",
     "Hold the lock from the read to the write, or use one atomic read-modify-write."},
    {"atomicity/WRW", "atomicity", "WRW", "Atomicity violation",
     "A thread reads %s between two writes that belong together: it sees a state that should have "
     "stayed hidden.",
     "Hold the lock from the first write to the last, and at the read."},
    {"atomicity/WWR", "atomicity", "WWR", "Atomicity violation",
     "A thread writes %s and reads it back, but gets the value of another thread's write in "
     "between.",
     "Hold the lock from the write to the read, or keep the value in a local variable."},
    {"atomicity/WWW", "atomicity", "WWW", "Atomicity violation",
     "Another thread's write of %s falls between two writes that belong together: the second one "
     "wipes it out, or builds on it.",
     "Hold the lock from the first write to the last, and at the other write."},
    {"assertion/assertion", "assertion", "assertion", "Assertion failure",
     "The assertion is false when this schedule reaches it.",
     "Find the step from which the values are not those of the observed run: it needs protection."},
    {"lock/double-lock", "lock", "double-lock", "Double lock",
     "A thread takes %s while it holds it: it waits for itself, or the call fails.",
     "Take the lock once, or make it a recursive one."},
    {"lock/double-unlock", "lock", "double-unlock", "Double unlock",
     "A thread releases %s although it has released it already: that is undefined, or the call "
     "fails (an error-checking mutex).",
     "Release the lock once, on the way on which it was taken."},
    {"lock/unlock-by-stranger", "lock", "unlock-by-stranger", "Unlock by a stranger",
     "A thread releases %s, which it does not hold: that is undefined and takes the lock from "
     "whoever does, or the call fails (an error-checking mutex).",
     "Release a lock in the thread that took it."},
    {"lock/misuse", "lock", "misuse", "Misuse of synchronisation",
     "A lock, condition, semaphore, barrier or thread is used as it must not be.",
     "Use it while it is initialised, and by the thread that holds it."},
    {"deadlock/cycle", "deadlock", "cycle", "Deadlock",
     "Threads wait for each other, and none of them can go on.",
     "Take the locks in one order everywhere, or take them both at once."},
    {"deadlock/lost-wakeup", "deadlock", "lost-wakeup", "Lost wake-up",
     "A thread waits on %s forever: no signal that could wake it will come.",
     "Test the condition under the lock in a loop around the wait, change it under the lock, and "
     "broadcast where several threads wait."},
    {"deadlock/semaphore", "deadlock", "semaphore", "Endless wait",
     "A thread waits on the semaphore %s forever: no thread is left that could post it.",
     "Post the semaphore on every way out, or wait with a time limit."},
    {"deadlock/barrier", "deadlock", "barrier", "Endless wait",
     "A thread waits at the barrier %s forever: the others do not arrive.",
     "See that as many threads arrive as the barrier counts."},
    {"deadlock/join", "deadlock", "join", "Endless wait", "A thread joins one that never ends.",
     "End the joined thread's own wait first."},
    {"deadlock/fork", "deadlock", "fork", "Deadlock of a forked process",
     "A process is forked while another thread holds %s. The process waits for it forever: the "
     "thread "
     "that would release it does not exist there.",
     "Take the lock around the fork (pthread_atfork), or let the forked process only call exec."},
    {"order/use-after-free", "order", "use-after-free", "Use after free",
     "A thread uses %s after another one has freed or destroyed it.",
     "Join or count references before the free."},
    {"order/double-free", "order", "double-free", "Double free", "%s is freed twice.",
     "Let one thread own the memory, or count references."},
    {"order/uninitialised", "order", "uninitialised", "Use before initialisation",
     "A thread reads %s before any thread has written it.",
     "Initialise it before the threads start, or wait until it is there."},
    {"failure/exit-code", "failure", "exit-code", "Failing run",
     "The program ended with an exit code that says that it failed.",
     "Repeat the run by the command that the finding names and follow it in a debugger; a program "
     "that is meant to end so is recorded with --expect-exit."},
    {"failure/signal", "failure", "signal", "Crash",
     "The program was ended by a signal, as a crash or a call of abort does it.",
     "Repeat the run by the command that the finding names and follow it in a debugger."},
    {"failure/hang", "failure", "hang", "Hang", "The run did not end.",
     "See where each thread was; give a longer --timeout if the program needs more time."},
    {"failure/null-access", "failure", "null-access", "Null access",
     "The program accesses memory through a null pointer: it crashes.",
     "Check the pointer before its use, or order the use behind the initialisation."},
    {"failure/out-of-bounds", "failure", "out-of-bounds", "Access out of bounds",
     "The program accesses memory outside of an object: it crashes, or changes something else.",
     "Check the index or size against the object's."},
    {"failure/write-to-constant", "failure", "write-to-constant", "Write to a constant",
     "The program writes to an object that is constant: it crashes.", "Write to a copy."},
    {"failure/bad-free", "failure", "bad-free", "Bad free",
     "The program frees memory that no allocation returned.",
     "Free the address that the allocation returned."},
    {"failure/alignment", "failure", "alignment", "Misaligned atomic",
     "An atomic is at an address that is not a multiple of its size.", "Align the object."},
    {"failure/overlap", "failure", "overlap", "Overlapping copy",
     "Memory is copied between parts that overlap: the result is not defined.", "Use memmove."},
    {"failure/division", "failure", "division", "Division error",
     "The program divides by zero, or the quotient overflows: it crashes.",
     "Check the divisor before the division."},
    {"failure/shift", "failure", "shift", "Shift error",
     "The program shifts by the width of the value or more: the result is not defined.",
     "Check the count before the shift."},
    {"failure/conversion", "failure", "conversion", "Conversion error",
     "The program converts a float to an integer that it does not fit into.",
     "Check the range before the conversion."},
    {"failure/unreachable", "failure", "unreachable", "Unreachable code",
     "The program comes to a place that its author or compiler calls unreachable.",
     "Return a value on every way, or handle the case."},
    {"failure/bad-call", "failure", "bad-call", "Bad call",
     "The program calls a function at an address where no such function is.",
     "Check the function pointer, and the types of function and call."},
    {"failure/live-lock", "failure", "live-lock", "Live-lock",
     "Threads go on for ever without getting anywhere: each repeats its steps on values that no "
     "thread changes.",
     "Wait on a condition variable instead of in a loop, or give back the first lock before "
     "trying again."},
    {"failure/oracle", "failure", "oracle", "Wrong output",
     "The command of --oracle refuses what the program writes in this schedule.",
     "Replay the schedule without --stop to see its output, and find the step from which the "
     "values are not those of a run that passes."},
    {"failure/output", "failure", "output", "Output that depends on the schedule",
     "Two schedules that pass write different things.",
     "Order the parts of the output, or leave out what depends on who is first."},
    {"property/assertion", "property", "assertion", "Broken property",
     "A condition that must hold here is false when this schedule reaches it.",
     "Find the step from which the values are not those of the observed run."},
    {"property/co-enabled", "property", "co-enabled", "Broken property",
     "Two places that must not run at the same time can run at the same time.",
     "Hold one lock at both places."},
    {"property/before", "property", "before", "Broken property",
     "The later place runs before the earlier one.",
     "Wait for the first one: a join, a condition or a semaphore."},
    {"property/transaction", "property", "transaction", "Broken property",
     "Another thread's access to %s falls into a transaction.",
     "Hold one lock from the beginning of the transaction to its end."},
    {"certificate/check-cover", "certificate", "check-cover", "Input that no schedule covers",
     "The schedule set has no schedule for an input: a constrained run leaves the set.",
     "Search for the set anew, or add an entry for the input."},
    {"certificate/check-schedule", "certificate", "check-schedule", "Schedule that is left",
     "With an input that selects the schedule, the program takes other steps than it has.",
     "Search for the set anew: the program or the set has changed."},
    {"certificate/check-race", "certificate", "check-race", "Data race under a schedule",
     "Two accesses conflict, and the schedule does not order them: a run under it may end "
     "otherwise.",
     "Hold one lock at both accesses, make both atomic, or order them with a join or a condition."},
    {"certificate/check-deadlock", "certificate", "check-deadlock", "Deadlock under a schedule",
     "Threads wait that only each other could wake.",
     "Take the locks in one order everywhere, or wake the waiters on every way."},
    {"certificate/check-order", "certificate", "check-order", "Operations in no order",
     "The schedule leaves the order of two operations on one object open: runs under it may "
     "differ.",
     "Add the edge between them, or search for the set anew."},
    {"certificate/check-closed", "certificate", "check-closed", "End at no epoch",
     "A run under the schedule ends where no epoch of the set begins.",
     "Search for the set anew, with a larger budget."},
    {"certificate/assertions", "certificate", "assertions", "Failure under a schedule",
     "The program fails with an input, under the schedule that the set has for it.",
     "Run the program with the input under the set (foretell run --schedules) and follow it."},
    {"certificate/divergence", "certificate", "divergence", "Endless loop under a schedule",
     "A thread never leaves a loop that does not synchronise.",
     "Run the program with the input under the set (foretell run --schedules) and follow it."},
    {"context/together", "context", "together", "Context that is reached",
     "Threads are at these places at the same time: a run from the program's entry gets there.",
     "Hold one lock at the places, or order them, if they must not be held together."},
};
#define N_RULES (sizeof RULES / sizeof *RULES)

static const ft_rule OTHER = {"foretell/finding",
                              "finding",
                              "finding",
                              "Concurrency bug",
                              "Another schedule of the same events goes wrong.",
                              "Follow the schedule step by step."};

const ft_rule *ft_rule_at(size_t index)
{
    return index < N_RULES ? &RULES[index] : index == N_RULES ? &OTHER : NULL;
}

/* A transaction property's records name the triplet's pattern. */
const ft_rule *ft_rule_find(const char *check, const char *kind)
{
    const ft_rule *of_check = NULL;
    for (size_t i = 0; i < N_RULES; i++) {
        if (strcmp(RULES[i].check, check) != 0) continue;
        if (strcmp(RULES[i].kind, kind) == 0) return &RULES[i];
        of_check = &RULES[i];
    }
    return of_check ? of_check : &OTHER;
}

char *ft_rule_title(const ft_rule *rule, const char *object, const char *name)
{
    ft_strbuf out = {0};
    FT_REQUIRE(rule);
    ft_strbuf_puts(&out, rule->title);
    if (name) ft_strbuf_puts(&out, " ");
    if (name) ft_view_safe_text(name, &out);
    if (object) ft_strbuf_puts(&out, " on ");
    if (object) ft_view_safe_text(object, &out);
    return ft_strbuf_take(&out);
}

char *ft_rule_danger(const ft_rule *rule, const char *object)
{
    ft_strbuf out = {0};
    FT_REQUIRE(rule);
    const char *hole = strstr(rule->danger, "%s");
    assert(!hole || !strstr(hole + 2, "%s"));
    if (!hole) return ft_strdup(rule->danger);
    ft_strbuf_add(&out, rule->danger, (size_t)(hole - rule->danger));
    ft_view_safe_text(object ? object : "an object", &out);
    ft_strbuf_puts(&out, hole + 2);
    return ft_strbuf_take(&out);
}
