/* The oracle's rules of synchronisation and of the checks lock, deadlock and order, on examples
 * small enough to be decided by hand: for each rule one schedule that it allows and one that it
 * forbids. Events are numbered from 1. */
#include "tiny_trace.h"

#include "oracle/oracle.h"
#include "verdict/checker.h"

typedef struct example {
    const char *trace;
    ft_check check;
    const char *events; /* of the claim */
    ft_model model;
    ft_wakeups wakeups;
    const char
        *want; /* "violation", "safe", "none": no candidate; a kind ("cycle") after a space */
} example;

#define OBSERVED FT_MODEL_OBSERVED, FT_WAKEUPS_ANY
#define MAXIMAL  FT_MODEL_MAXIMAL, FT_WAKEUPS_ANY
#define CONTROL  FT_MODEL_CONTROL, FT_WAKEUPS_ANY
#define PAIRED   FT_MODEL_OBSERVED, FT_WAKEUPS_OBSERVED
#define SPURIOUS FT_MODEL_OBSERVED, FT_WAKEUPS_SPURIOUS
#define RACE     FT_CHECK_RACE
#define LOCK     FT_CHECK_LOCK
#define DEADLOCK FT_CHECK_DEADLOCK
#define ORDER    FT_CHECK_ORDER

static bool same_events(const ft_claim *claim, const uint32_t *events, uint32_t n)
{
    ft_claim want = *claim;
    if (ft_claim_events(claim) != n) return false;
    memcpy(want.events, events, n * sizeof *events);
    return ft_oracle_claim_equal(claim, &want);
}

static const ft_oracle_answer *answer_to(const ft_oracle_result *result, ft_check check,
                                         const char *text)
{
    uint32_t events[8], n = tiny_numbers(text, events, 8);
    for (size_t i = 0; i < result->answers.len; i++) {
        const ft_oracle_answer *answer = &result->answers.data[i];
        if (answer->check == check && same_events(&answer->claim, events, n)) return answer;
    }
    return NULL;
}

static void ask(const ft_trace *trace, const example *x, ft_oracle_result *result)
{
    ft_oracle_job job = {.model = x->model, .wakeups = x->wakeups, .switches = true};
    job.checks[x->check] = true;
    ft_oracle_enumerate(trace, &job, result);
}

static void check_example(const example *x)
{
    ft_trace *trace = tiny_trace(x->trace);
    ft_oracle_result result;
    ft_observe_run(trace);
    if (trace->broken != FT_NO_EVENT) fail_msg("%s\n%s", x->trace, trace->broken_text);
    ask(trace, x, &result);
    const ft_oracle_answer *answer = answer_to(&result, x->check, x->events);
    const char *have = !answer ? "none" : answer->violated ? "violation" : "safe";
    const char *kind = answer ? ft_oracle_claim_kind(trace, &answer->claim) : "";
    char both[64];
    snprintf(both, sizeof both, *kind && strchr(x->want, ' ') ? "%s %s" : "%s", have, kind);
    if (strcmp(both, x->want) != 0)
        fail_msg("%s\n%s %s: expected %s, the oracle says %s", x->trace, ft_check_name(x->check),
                 x->events, x->want, both);
    ft_oracle_release(&result);
    ft_trace_free(trace);
}

static void check_examples(const example *examples, size_t count)
{
    for (size_t i = 0; i < count; i++) check_example(&examples[i]);
}

#define CHECK_ALL(examples) check_examples(examples, sizeof(examples) / sizeof *(examples))

/* ---- locks ---- */

#define SECTIONS(declaration, one, two)                                                            \
    "var x 0\n" declaration " l\nT1: " one " l\nT1: w x 1\nT1: rel l\nT2: " two                    \
    " l\nT2: w x 2\nT2: rel l\n"

#define ATTEMPT(declaration, taken, attempt)                                                       \
    "var x 0\n" declaration " l\nT1: w x 1\nT1: " taken " l\nT2: " attempt                         \
    " l\nT2: w x 2\nT1: rel l\n"

static void test_locks(void **state)
{
    (void)state;
    static const example examples[] = {
        {SECTIONS("rw", "acqs", "acqs"), RACE, "2 5", OBSERVED, "violation"},
        {SECTIONS("rw", "acqs", "acq"), RACE, "2 5", OBSERVED, "safe"},
        {SECTIONS("rw", "acq", "acqs"), RACE, "2 5", OBSERVED, "safe"},
        {SECTIONS("rw", "acq", "acq"), RACE, "2 5", OBSERVED, "safe"},
        {SECTIONS("rw", "trys", "acqs"), RACE, "2 5", OBSERVED, "violation"},
        {SECTIONS("mutex", "try", "acq"), RACE, "2 5", OBSERVED, "safe"},
        {SECTIONS("rw", "try", "acqs"), RACE, "2 5", OBSERVED, "safe"},
        {SECTIONS("chk", "acq", "acq"), RACE, "2 5", OBSERVED, "safe"},
        /* a nested reader gives back the inner hold first */
        {"var x 0\nrw l\nT1: acqs l\nT1: acqs l\nT1: rel l\nT1: w x 1\nT1: rel l\nT2: acq l\n"
         "T2: w x 2\nT2: rel l\n",
         RACE, "4 7", OBSERVED, "safe"},
        {"var x 0\nrw l\nT1: acqs l\nT1: acqs l\nT1: rel l\nT1: rel l\nT1: w x 1\nT2: acq l\n"
         "T2: w x 2\nT2: rel l\n",
         RACE, "5 7", OBSERVED, "violation"},
        /* a failed attempt needs the lock held, here after the write */
        {ATTEMPT("mutex", "acq", "nope"), RACE, "1 4", OBSERVED, "safe"},
        {ATTEMPT("rw", "acqs", "nope"), RACE, "1 4", OBSERVED, "safe"},
        {ATTEMPT("rw", "acq", "nopes"), RACE, "1 4", OBSERVED, "safe"},
        {ATTEMPT("rw", "acq", "nopes"), RACE, "1 4", CONTROL, "safe"},
        {"var x 0\nmutex l\nT1: acq l\nT2: nope l\nT2: w x 1\nT1: w x 2\nT1: rel l\n", RACE, "3 4",
         OBSERVED, "violation"},
        /* held by its own thread: the attempt fails whatever others do */
        {"var x 0\nmutex l\nT1: acq l\nT1: nope l\nT1: w x 1\nT1: rel l\nT2: w x 2\n", RACE, "3 5",
         OBSERVED, "violation"},
        /* an error-checking mutex stays with its holder */
        {"var x 0\nchk l\nT1: acq l\nT1: acq l\nT1: w x 1\nT1: rel l\nT2: acq l\nT2: w x 2\n"
         "T2: rel l\n",
         RACE, "3 6", OBSERVED, "safe"},
        {"var x 0\nchk l\nT1: acq l\nT1: acq l\nT1: rel l\nT1: w x 1\nT2: acq l\nT2: w x 2\n"
         "T2: rel l\n",
         RACE, "4 6", OBSERVED, "violation"},
    };
    CHECK_ALL(examples);
}

static void test_lock_errors(void **state)
{
    (void)state;
    static const example examples[] = {
        {"chk l\nT1: acq l\nT1: acq l\nT1: rel l\n", LOCK, "2", OBSERVED, "violation double-lock"},
        {"chk l\nT1: acq l\nT1: rel l\nT1: acq l\nT1: rel l\n", LOCK, "3", OBSERVED, "none"},
        {"rec l\nT1: acq l\nT1: acq l\nT1: rel l\nT1: rel l\n", LOCK, "2", OBSERVED, "none"},
        {"mutex l\nT1: acq l\nT1: rel l\nT1: rel l\n", LOCK, "3", OBSERVED,
         "violation double-unlock"},
        {"mutex l\nT1: acq l\nT2: rel l\nT1: rel l\n", LOCK, "2", OBSERVED,
         "violation unlock-by-stranger"},
        {"mutex l\nT1: acq l\nT2: rel l\nT1: rel l\n", LOCK, "3", OBSERVED, "none"},
        {"rw l\nT1: acqs l\nT1: acqs l\nT1: rel l\nT1: rel l\nT1: rel l\n", LOCK, "5", OBSERVED,
         "violation double-unlock"},
        {"rw l\nT1: acqs l\nT1: acqs l\nT1: rel l\nT1: rel l\n", LOCK, "4", OBSERVED, "none"},
        {"mutex l\nT1: acq l\nT1: nope l\nT1: rel l\n", LOCK, "2", OBSERVED, "none"},
    };
    CHECK_ALL(examples);
}

/* ---- conditions ---- */

#define LOST                                                                                       \
    "mutex l\ncond c\nT1: acq l\nT1: cwait c\nT1: relc l\nT2: acq l\nT2: sig c\nT2: rel l\n"       \
    "T1: cwake c\nT1: acqc l\nT1: rel l\n"
#define FLAG                                                                                       \
    "var x 0\nmutex l\ncond c\nT1: acq l\nT1: r x 0\nT1: cwait c\nT1: relc l\nT2: acq l\n"         \
    "T2: w x 1\nT2: sig c\nT2: rel l\nT1: cwake c\nT1: acqc l\nT1: r x 1\nT1: rel l\n"
#define AFTER_SIGNAL(wake)                                                                         \
    "var x 0\ncond c\nT1: cwait c\nT2: w x 1\nT2: sig c\nT1: " wake " c\nT1: w x 2\n"
#define TWO_SIGNALS(second)                                                                        \
    "var x 0\ncond c\nT1: cwait c\nT2: cwait c\nT3: sig c\nT1: cwake c\nT3: w x 1\nT3: " second    \
    " c\nT2: cwake c\nT2: w x 2\n"

static void test_conditions(void **state)
{
    (void)state;
    static const example examples[] = {
        /* the signal may come before anybody waits */
        {LOST, DEADLOCK, "7", OBSERVED, "violation lost-wakeup"},
        {LOST, DEADLOCK, "7", PAIRED, "violation lost-wakeup"},
        {LOST, DEADLOCK, "7", SPURIOUS, "safe lost-wakeup"},
        /* but not where the waiter looked at the flag under the mutex */
        {FLAG, DEADLOCK, "9", OBSERVED, "safe"},
        {FLAG, DEADLOCK, "9", MAXIMAL, "safe"},
        {FLAG, DEADLOCK, "9", CONTROL, "violation"},
        /* a wake-up comes after its signal, a time-out when it likes */
        {AFTER_SIGNAL("cwake"), RACE, "2 5", OBSERVED, "safe"},
        {AFTER_SIGNAL("cwake"), RACE, "2 5", CONTROL, "safe"},
        {AFTER_SIGNAL("cwake"), RACE, "2 5", SPURIOUS, "violation"},
        {AFTER_SIGNAL("late"), RACE, "2 5", OBSERVED, "violation"},
        {AFTER_SIGNAL("late"), DEADLOCK, "4", OBSERVED, "none"},
        {AFTER_SIGNAL("cwake"), DEADLOCK, "4", OBSERVED, "violation"},
        /* the first signal may wake T2 instead, unless the run's pairs are kept */
        {TWO_SIGNALS("sig"), RACE, "5 8", OBSERVED, "violation"},
        {TWO_SIGNALS("sig"), RACE, "5 8", PAIRED, "safe"},
        {TWO_SIGNALS("bro"), RACE, "5 8", OBSERVED, "violation"},
        /* one signal wakes one: T1 and T2 both past their waits need both signals */
        {"var x 0\ncond c\nT1: cwait c\nT2: cwait c\nT3: sig c\nT1: cwake c\nT1: w x 1\nT3: w x 3\n"
         "T3: sig c\nT2: cwake c\nT2: w x 2\n",
         RACE, "5 9", OBSERVED, "violation"},
        {"var x 0\nvar y 0\ncond c\nT1: cwait c\nT2: cwait c\nT3: sig c\nT1: cwake c\nT1: w x 1\n"
         "T3: r x 1\nT3: sig c\nT2: cwake c\nT2: w x 2\n",
         RACE, "5 9", OBSERVED, "safe"},
        {"var x 0\ncond c\nT1: cwait c\nT2: cwait c\nT3: bro c\nT1: cwake c\nT1: w x 1\n"
         "T2: cwake c\nT2: w x 2\n",
         RACE, "5 7", OBSERVED, "violation"},
        /* a signal that finds a waiter is not lost: with both already waiting nobody is stuck */
        {"cond c\nT1: cwait c\nT1: out e\nT2: in e\nT2: sig c\nT1: cwake c\n", DEADLOCK, "5",
         OBSERVED, "safe"},
        /* T3's time-out may use up the signal */
        {"cond c\nT1: cwait c\nT3: cwait c\nT1: out e\nT2: in e\nT2: sig c\nT1: cwake c\n"
         "T3: late c\n",
         DEADLOCK, "6", OBSERVED, "violation"},
    };
    CHECK_ALL(examples);
}

/* ---- barriers, once objects, updates ---- */

static void test_barriers_and_once(void **state)
{
    (void)state;
    static const example examples[] = {
        {"var x 0\nbar b 2\nT1: w x 1\nT1: arr b\nT2: arr b\nT2: leave b\nT2: w x 2\nT1: leave b\n",
         RACE, "1 5", CONTROL, "safe"},
        {"var x 0\nbar b 2\nT1: arr b\nT1: w x 1\nT2: arr b\nT2: leave b\nT2: w x 2\nT1: leave b\n",
         RACE, "2 5", OBSERVED, "violation"},
        /* the second round waits for all of the first, the first for nothing of the second */
        {"var x 0\nbar b 2\nT1: arr b\nT2: arr b\nT1: leave b\nT2: leave b\nT1: w x 1\nT1: arr b\n"
         "T2: arr b\nT2: leave b\nT2: w x 2\nT1: leave b\n",
         RACE, "5 9", OBSERVED, "safe"},
        {"var x 0\nbar b 2\nT1: arr b\nT2: arr b\nT1: leave b\nT2: leave b\nT2: w x 2\nT1: w x 1\n"
         "T1: arr b\nT2: arr b\nT2: leave b\nT1: leave b\n",
         RACE, "5 6", OBSERVED, "violation"},
        {"var x 0\nonce o\nT1: obeg o\nT1: w x 1\nT1: oend o\nT2: pass o\nT2: w x 2\n", RACE, "2 5",
         CONTROL, "safe"},
        {"var x 0\nonce o\nT1: obeg o\nT1: w x 1\nT1: oend o\nT2: w x 2\nT2: pass o\n", RACE, "2 4",
         OBSERVED, "violation"},
        {"var x 0\nT1: rmw x 0 1\nT2: w x 2\n", RACE, "1 2", OBSERVED, "violation"},
        {"var x 0\nT1: rmw x 0 1\nT2: rmw x 1 2\n", RACE, "1 2", OBSERVED, "none"},
        /* what an update reads is demanded like any read, what it writes is read like any write */
        {"var x 0\nvar y 0\nT1: w y 1\nT1: w x 1\nT2: rmw x 1 2\nT2: w y 2\n", RACE, "1 4", MAXIMAL,
         "safe"},
        {"var x 0\nvar y 0\nT1: w y 1\nT1: w x 1\nT2: rmw x 1 2\nT2: w y 2\n", RACE, "1 4", CONTROL,
         "violation"},
        {"var x 1\nvar y 0\nT1: w y 1\nT1: w x 1\nT2: rmw x 1 2\nT2: w y 2\n", RACE, "1 4", MAXIMAL,
         "violation"},
        {"var x 1\nvar y 0\nT1: w y 1\nT1: w x 1\nT2: rmw x 1 2\nT2: w y 2\n", RACE, "1 4",
         OBSERVED, "safe"},
        {"var x 0\nvar y 0\nT1: w y 1\nT1: rmw x 0 2\nT2: r x 2\nT2: w y 2\n", RACE, "1 4", MAXIMAL,
         "safe"},
    };
    CHECK_ALL(examples);
}

/* ---- deadlocks ---- */

#define INVERSION(one, two)                                                                        \
    "mutex l\nmutex m\nT1: acq l\nT1: " one " m\nT1: rel m\nT1: rel l\nT2: acq m\nT2: " two        \
    " l\nT2: rel l\nT2: rel m\n"

static void test_cycles(void **state)
{
    (void)state;
    static const example examples[] = {
        {INVERSION("acq", "acq"), DEADLOCK, "2 6", OBSERVED, "violation cycle"},
        {INVERSION("try", "acq"), DEADLOCK, "2 6", OBSERVED, "none"},
        {INVERSION("acq", "try"), DEADLOCK, "2 6", OBSERVED, "none"},
        {"mutex l\nmutex m\nT1: acq l\nT1: acq m\nT1: rel m\nT1: rel l\nT1: acq m\nT1: acq l\n"
         "T1: rel l\nT1: rel m\n",
         DEADLOCK, "2 6", OBSERVED, "none"},
        {"mutex l\nmutex m\nT1: acq l\nT1: acq m\nT1: rel m\nT1: rel l\nT1: out e\nT2: in e\n"
         "T2: acq m\nT2: acq l\nT2: rel l\nT2: rel m\n",
         DEADLOCK, "2 8", OBSERVED, "safe cycle"},
        {"mutex g\nmutex l\nmutex m\nT1: acq g\nT1: acq l\nT1: acq m\nT1: rel m\nT1: rel l\n"
         "T1: rel g\nT2: acq g\nT2: acq m\nT2: acq l\nT2: rel l\nT2: rel m\nT2: rel g\n",
         DEADLOCK, "3 9", OBSERVED, "safe cycle"},
        /* a guard held for reading by both guards nothing */
        {"rw g\nmutex l\nmutex m\nT1: acqs g\nT1: acq l\nT1: acq m\nT1: rel m\nT1: rel l\n"
         "T1: rel g\nT2: acqs g\nT2: acq m\nT2: acq l\nT2: rel l\nT2: rel m\nT2: rel g\n",
         DEADLOCK, "3 9", OBSERVED, "violation cycle"},
        {"rw l\nmutex m\nT1: acqs l\nT1: acq m\nT1: rel m\nT1: rel l\nT2: acq m\nT2: acqs l\n"
         "T2: rel l\nT2: rel m\n",
         DEADLOCK, "2 6", OBSERVED, "none"},
        {"rw l\nmutex m\nT1: acqs l\nT1: acq m\nT1: rel m\nT1: rel l\nT2: acq m\nT2: acq l\n"
         "T2: rel l\nT2: rel m\n",
         DEADLOCK, "2 6", OBSERVED, "violation cycle"},
        {"mutex k\nmutex l\nmutex m\nT1: acq k\nT1: acq l\nT1: rel l\nT1: rel k\nT2: acq l\n"
         "T2: acq m\nT2: rel m\nT2: rel l\nT3: acq m\nT3: acq k\nT3: rel k\nT3: rel m\n",
         DEADLOCK, "2 6 10", OBSERVED, "violation cycle"},
        {"mutex k\nmutex l\nmutex m\nT1: acq k\nT1: acq l\nT1: rel l\nT1: rel k\nT2: acq l\n"
         "T2: acq m\nT2: rel m\nT2: rel l\nT3: acq m\nT3: acq k\nT3: rel k\nT3: rel m\n",
         DEADLOCK, "2 6", OBSERVED, "none"},
        /* the mutex taken back after a wait is a request like any other */
        {"mutex l\nmutex m\ncond c\nT1: acq m\nT1: acq l\nT1: cwait c\nT1: relc l\nT2: sig c\n"
         "T1: cwake c\nT1: acqc l\nT1: rel l\nT1: rel m\nT2: acq l\nT2: acq m\nT2: rel m\n"
         "T2: rel l\n",
         DEADLOCK, "7 11", OBSERVED, "violation cycle"},
        /* the read that orders them in the run does not under control */
        {"var x 0\nmutex l\nmutex m\nT1: acq l\nT1: acq m\nT1: rel m\nT1: rel l\nT1: w x 1\n"
         "T2: r x 1\nT2: acq m\nT2: acq l\nT2: rel l\nT2: rel m\n",
         DEADLOCK, "2 8", MAXIMAL, "safe cycle"},
        {"var x 0\nmutex l\nmutex m\nT1: acq l\nT1: acq m\nT1: rel m\nT1: rel l\nT1: w x 1\n"
         "T2: r x 1\nT2: acq m\nT2: acq l\nT2: rel l\nT2: rel m\n",
         DEADLOCK, "2 8", CONTROL, "violation cycle"},
    };
    CHECK_ALL(examples);
}

static void test_stuck(void **state)
{
    (void)state;
    static const example examples[] = {
        {"sem s 0\nT1: post s\nT2: wait s\n", DEADLOCK, "2", OBSERVED, "safe semaphore"},
        {"sem a 1\nsem b 1\nT1: wait a\nT1: wait b\nT1: post b\nT1: post a\nT2: wait b\nT2: wait "
         "a\n"
         "T2: post a\nT2: post b\n",
         DEADLOCK, "2", OBSERVED, "violation semaphore"},
        {"sem a 1\nsem b 1\nT1: wait a\nT1: wait b\nT1: post b\nT1: post a\nT2: wait b\nT2: wait "
         "a\n"
         "T2: post a\nT2: post b\n",
         DEADLOCK, "1", OBSERVED, "safe semaphore"},
        /* the same, with a thread that can still go on: a write */
        {"sem a 1\nsem b 1\nvar x 0\nT1: wait a\nT1: wait b\nT1: post b\nT1: post a\nT2: wait b\n"
         "T2: wait a\nT2: post a\nT2: post b\nT3: w x 1\n",
         DEADLOCK, "2", OBSERVED, "violation semaphore"},
        {"sem a 1\nsem b 1\nT1: wait a\nT1: wait b\nT1: post b\nT1: post a\nT2: wait b\nT2: wait "
         "a\n"
         "T2: post a\nT2: post b\nT3: post a\n",
         DEADLOCK, "2", OBSERVED, "safe semaphore"},
        /* a thread at an attempt goes another way: nobody is stuck for good */
        {"sem a 1\nmutex m\nT1: wait a\nT1: acq m\nT1: rel m\nT1: post a\nT2: acq m\nT2: wait a\n"
         "T2: post a\nT2: rel m\n",
         DEADLOCK, "6", OBSERVED, "violation semaphore"},
        {"sem a 1\nmutex m\nT1: wait a\nT1: try m\nT1: rel m\nT1: post a\nT2: acq m\nT2: wait a\n"
         "T2: post a\nT2: rel m\n",
         DEADLOCK, "6", OBSERVED, "safe semaphore"},
        /* joining with a lock that the child needs */
        {"mutex l\nT1: fork T2\nT2: acq l\nT2: rel l\nT1: acq l\nT1: join T2\nT1: rel l\n",
         DEADLOCK, "5", OBSERVED, "violation join"},
        {"mutex l\nmutex m\nT1: fork T2\nT2: acq l\nT2: rel l\nT1: acq m\nT1: join T2\nT1: rel m\n",
         DEADLOCK, "5", OBSERVED, "safe join"},
        {"mutex l\nT1: fork T2\nT2: acq l\nT2: rel l\nT1: join T2\nT1: acq l\nT1: rel l\n",
         DEADLOCK, "4", OBSERVED, "none"},
        /* a thread that ended with the lock never gives it back */
        {"mutex l\nT1: fork T2\nT1: fork T3\nT2: acq l\nT2: rel l\nT1: join T2\nT3: acq l\n",
         DEADLOCK, "5", OBSERVED, "violation join"},
        /* who joins a stuck thread is no finding of its own */
        {"cond c\nT1: fork T2\nT2: cwait c\nT3: sig c\nT2: cwake c\nT1: join T2\n", DEADLOCK, "4",
         OBSERVED, "violation lost-wakeup"},
        {"cond c\nmutex l\nT1: fork T2\nT2: cwait c\nT3: sig c\nT2: cwake c\nT1: acq l\n"
         "T1: join T2\nT1: rel l\n",
         DEADLOCK, "6", OBSERVED, "safe join"},
        /* a barrier that a stuck thread does not come to */
        {"cond c\nbar b 2\nT2: cwait c\nT3: sig c\nT2: cwake c\nT2: arr b\nT1: arr b\nT1: leave b\n"
         "T2: leave b\n",
         DEADLOCK, "6", OBSERVED, "violation barrier"},
        {"cond c\nbar b 2\nT2: cwait c\nT3: sig c\nT2: cwake c\nT2: arr b\nT1: arr b\nT1: leave b\n"
         "T2: leave b\n",
         DEADLOCK, "7", OBSERVED, "safe barrier"},
        /* a thread that was not started yet cannot help */
        {"cond c\nT1: cwait c\nT3: sig c\nT1: cwake c\nT1: fork T2\nT2: sig c\n", DEADLOCK, "3",
         OBSERVED, "violation lost-wakeup"},
        {"cond c\nT1: cwait c\nT1: fork T2\nT2: sig c\nT1: cwake c\n", DEADLOCK, "4", OBSERVED,
         "safe lost-wakeup"},
    };
    CHECK_ALL(examples);
}

/* ---- order ---- */

static void test_order_errors(void **state)
{
    (void)state;
    static const example examples[] = {
        {"var x 0\nblock k x\nT1: alloc k\nT2: w x 1\nT1: free k\n", ORDER, "3 2", OBSERVED,
         "violation use-after-free"},
        {"var x 0\nblock k x\nT1: alloc k\nT1: fork T2\nT2: w x 1\nT1: join T2\nT1: free k\n",
         ORDER, "5 3", OBSERVED, "safe use-after-free"},
        {"var x 0\nvar y 0\nblock k x\nT1: alloc k\nT2: w y 1\nT1: free k\n", ORDER, "3 2",
         OBSERVED, "none"},
        {"var x 0\nblock k x\nT1: alloc k\nT1: free k\nT1: alloc k\nT1: w x 1\n", ORDER, "2 4",
         OBSERVED, "safe use-after-free"},
        {"var x 0\nblock k x\nT1: free k\nT1: w x 1\n", ORDER, "1 2", OBSERVED,
         "violation use-after-free"},
        {"var x 0\nblock k x\nT1: alloc k\nT1: w x 1\nT1: free k\n", ORDER, "3 2", OBSERVED,
         "none"},
        {"var x 0\nblock k x\nT1: free k\nT2: free k\n", ORDER, "1 2", OBSERVED,
         "violation double-free"},
        {"var x 0\nblock k x\nT1: free k\nT2: free k\n", ORDER, "2 1", OBSERVED,
         "violation double-free"},
        {"var x 0\nblock k x\nT1: free k\nT1: alloc k\nT1: out e\nT2: in e\nT2: free k\n", ORDER,
         "1 5", OBSERVED, "safe double-free"},
        /* the guarded access does not take place after the free */
        {"var x 0\nvar y 1\nblock k x\nT2: x := 1 if (> y 0)\nT1: y := 0\nT1: free k\n", ORDER,
         "3 1", FT_MODEL_CTP, FT_WAKEUPS_ANY, "safe use-after-free"},
        {"var x 0\nvar y 1\nblock k x\nT2: x := 1 if (> y 0)\nT1: free k\nT1: y := 0\n", ORDER,
         "2 1", FT_MODEL_CTP, FT_WAKEUPS_ANY, "violation use-after-free"},
        {"var x\nT1: w x 1\nT2: r x 1\n", ORDER, "2", OBSERVED, "violation uninitialised"},
        {"var x 0\nT1: w x 1\nT2: r x 1\n", ORDER, "2", OBSERVED, "none"},
        {"var x\nT1: w x 1\nT2: rmw x 1 2\n", ORDER, "2", OBSERVED, "none"},
        {"var x\nT1: w x 1\nT1: r x 1\n", ORDER, "2", OBSERVED, "none"},
        {"var x\nsem s 0\nT1: w x 1\nT1: post s\nT2: wait s\nT2: r x 1\n", ORDER, "4", OBSERVED,
         "safe uninitialised"},
        {"var x\nsem s 1\nT1: w x 1\nT1: post s\nT2: wait s\nT2: r x 1\n", ORDER, "4", OBSERVED,
         "violation uninitialised"},
        {"var x\nblock k x\nT1: alloc k\nT1: w x 1\nT1: out e\nT2: in e\nT2: r x 1\n", ORDER, "5",
         OBSERVED, "safe uninitialised"},
        {"var x\nblock k x\nT1: w x 1\nT1: out e\nT2: in e\nT2: alloc k\nT2: r x 1\n", ORDER, "5",
         OBSERVED, "violation uninitialised"},
        /* before the alloc other memory is there, behind the free it is another error */
        {"var x\nblock k x\nT1: alloc k\nT1: w x 1\nT2: r x 1\n", ORDER, "3", OBSERVED,
         "violation uninitialised"},
        {"var x\nmutex m\nblock k x\nT1: acq m\nT1: alloc k\nT1: w x 1\nT1: rel m\nT2: acq m\n"
         "T2: rel m\nT2: r x 1\n",
         ORDER, "7", OBSERVED, "violation uninitialised"},
        {"var x\nmutex m\nblock k x\nT1: acq m\nT1: alloc k\nT1: w x 1\nT1: rel m\nT2: acq m\n"
         "T2: r x 1\nT2: rel m\n",
         ORDER, "6", OBSERVED, "safe uninitialised"},
        {"var x\nmutex m\nblock k x\nT1: acq m\nT1: alloc k\nT1: free k\nT1: rel m\nT1: w x 1\n"
         "T2: acq m\nT2: r x 1\nT2: rel m\n",
         ORDER, "7", OBSERVED, "safe uninitialised"},
    };
    CHECK_ALL(examples);
}

/* ---- context switches ---- */

static void check_switches(const char *text, ft_check check, const char *events, uint32_t want)
{
    example x = {text, check, events, OBSERVED, "violation"};
    ft_trace *trace = tiny_trace(text);
    ft_oracle_result result;
    ft_observe_run(trace);
    ask(trace, &x, &result);
    const ft_oracle_answer *answer = answer_to(&result, check, events);
    assert_non_null(answer);
    assert_true(answer->violated);
    if (answer->switches != want)
        fail_msg("%s\n%s: expected %u switches, the oracle has %u", text, events, want,
                 answer->switches);
    ft_oracle_release(&result);
    ft_trace_free(trace);
}

static void test_switches(void **state)
{
    (void)state;
    /* T1: its write is next; T2's comes after. */
    check_switches("var x 0\nT1: w x 1\nT2: w x 2\n", RACE, "1 2", 1);
    /* T2 can only begin after T1's post: T1, T2, then T1's write again. */
    check_switches("var x 0\nsem s 0\nT1: post s\nT1: w x 1\nT2: wait s\nT2: w x 2\n", RACE, "2 4",
                   2);
    /* T1 takes l, T2 takes m; T2 asks for l, T1 for m. */
    check_switches(INVERSION("acq", "acq"), DEADLOCK, "2 6", 2);
    /* T2 all of it, then T1. */
    check_switches(LOST, DEADLOCK, "7", 1);
    /* T1, T2, T3 take a lock each; T3, T2, T1 (or T3, T1, T2) ask for one. */
    check_switches("mutex k\nmutex l\nmutex m\nT1: acq k\nT1: acq l\nT1: rel l\nT1: rel k\n"
                   "T2: acq l\nT2: acq m\nT2: rel m\nT2: rel l\nT3: acq m\nT3: acq k\nT3: rel k\n"
                   "T3: rel m\n",
                   DEADLOCK, "2 6 10", 4);
    /* T2's write after T1's free. */
    check_switches("var x 0\nblock k x\nT1: alloc k\nT2: w x 1\nT1: free k\n", ORDER, "3 2", 1);
    /* The error is T1's first event. */
    check_switches("mutex l\nT1: rel l\nT2: acq l\nT2: rel l\n", LOCK, "1", 0);
    /* t_c, t_r, t_c': out and back. */
    check_switches("var x 0\nT1: tx\nT1: r x 0\nT1: w x 1\nT1: xt\nT2: w x 2\n", FT_CHECK_ATOMICITY,
                   "2 5 3", 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_locks),        cmocka_unit_test(test_lock_errors),
        cmocka_unit_test(test_conditions),   cmocka_unit_test(test_barriers_and_once),
        cmocka_unit_test(test_cycles),       cmocka_unit_test(test_stuck),
        cmocka_unit_test(test_order_errors), cmocka_unit_test(test_switches),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
