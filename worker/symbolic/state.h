/* Symbolic states: executions of a program in which inputs are unknowns.
 *
 * A value is a number or a term over inputs (term/term.h). A state stands, for each thread, before
 * an operation as the interpreter's does (program/interpret/interpreter.h), and means the same; or
 * before a *branch*: an instruction that goes different ways for different inputs. A branch has
 * arms, each with a condition; one step takes an arm and adds its condition to the state's
 * constraints. A thread branches where its *causes* leave more than one arm open: the constraints
 * that were added by steps which it depends on, as the caller's clocks say. So whether and how it
 * branches does not depend on what other threads happened to do meanwhile.
 *
 * What forks: conditions of branches, switches and assertions; operands that divide by 0, shift too
 * far, or leave an object; which of several objects an address means; lengths, thread numbers and
 * addresses of synchronisation objects, one arm a value, the smallest FEW of them if there are many
 * (counted); whether an exit code is the expected one. What does not: a load or store at an unknown
 * place of an object, which is a choice in its term (up to 256 places, else one arm a place); the
 * size of an object, up to 1024 bytes (a larger one is a bound).
 *
 * An assumption that fails leaves its thread standing for ever; the others go on, and an error or
 * an exit of theirs counts: the thread need not have come to the assumption by then. Floating point
 * is computed for numbers alone: a term is forked into its values before.
 *
 * States share memory: a copy costs the pages that are written after it. Terms and the solver
 * belong to the world.
 *
 *   value.c   values and terms        memory.c  objects and pages     decide.c  arms
 *   run.c     instructions            sync.c    visible ones          path.c    questions on inputs
 *   doubts.c  races at unknown places  follow.c  notes of what a step does
 *   mark.c    where a thread was      print.c   a state as bytes, and its fingerprint
 *
 * Imports: common/base, common/program, common/program/flow, common/schedules, common/term, solve.
 */
#ifndef FT_SYMBOLIC_STATE_H
#define FT_SYMBOLIC_STATE_H

#include "base/strbuf.h"
#include "program/program.h"
#include "term/term.h"

enum { FT_SYM_THREADS = 64, FT_SYM_ARMS = 64 };

struct ft_sym_note;
struct ft_loops;
typedef struct ft_sym_state ft_sym_state;

typedef struct ft_sym_options {
    uint64_t max_instructions;    /* of a step; 0: 10 million */
    uint64_t max_bytes;           /* of all objects; 0: 256 MiB */
    uint32_t max_threads;         /* 0: FT_SYM_THREADS */
    uint32_t max_inputs;          /* 0: no bound */
    uint32_t solver_ms;           /* of a question; 0: 2000 */
    const struct ft_loops *loops; /* taken as functions (program/loops.h); NULL: none */
    int32_t expect_exit;          /* the exit code that is no failure */
    /* The value of an input that is given; false: it is open. May be NULL: all are. */
    bool (*input)(void *context, const char *name, uint8_t width, uint64_t *value);
    /* Asked now and then in a step, and when the solver was needed; true: it is cut. May be NULL.
     */
    bool (*should_stop)(void *context);
    bool
        handles; /* the numbers of threads are followed, so that epochs may change them (epoch.h) */
    /* What a step does, one note after the other (follow.h). May be NULL. */
    void (*follow)(void *context, const ft_sym_state *state, const struct ft_sym_note *note);
    void *context;
} ft_sym_options;

typedef struct ft_sym_counts {
    uint64_t questions, cached, solved, unknown; /* to the solver: all, answered without, by it */
    uint64_t concretised;                        /* forks of which only the smallest were kept */
} ft_sym_counts;

typedef struct ft_sym_world ft_sym_world;
/* The program is valid, and outlives the world, which outlives its states. */
ft_sym_world *ft_sym_world_new(const ft_program *program, const ft_sym_options *options);
void ft_sym_world_free(ft_sym_world *world); /* accepts NULL */
ft_sym_counts ft_sym_world_counts(const ft_sym_world *world);
/* The n-th question (from 0) that the solver left open, as conditions in SMT-LIB; an input is
 * NAME.THREAD.NUMBER. False: there are no more. */
bool ft_sym_world_open(const ft_sym_world *world, size_t n, ft_strbuf *text);
bool ft_sym_world_has_inputs(const ft_sym_world *world); /* does any instruction read one? */

/* symbol, name, meaning */
#define FT_SYM_END_TABLE(X)                                                                        \
    X(GOING, "going", "some thread may go on")                                                     \
    X(EXITED, "exited", "the process has ended")                                                   \
    X(FAILED, "failed", "an error")                                                                \
    X(STOPPED, "stopped", "a bound")                                                               \
    X(INFEASIBLE, "infeasible", "no input leads here")                                             \
    X(UNSUPPORTED, "unsupported", "an instruction that is not taken")
typedef enum ft_sym_end {
#define FT_ROW(symbol, name, meaning) FT_SYM_##symbol,
    FT_SYM_END_TABLE(FT_ROW)
#undef FT_ROW
        FT_SYM_ENDS
} ft_sym_end;
const char *ft_sym_end_name(ft_sym_end end);

typedef struct ft_sym_place {
    uint32_t function, instruction; /* the function's symbol; the instruction's number there */
} ft_sym_place;

typedef struct ft_sym_operation {
    ft_code code;    /* FT_CODES: the thread's beginning; FT_CODE_FAIL: an error */
    uint32_t arms;   /* of a branch; else 0 */
    bool second;     /* the second half: a wait's return, a barrier's, a once's */
    bool waits;      /* of a wait's: it has not been notified */
    bool stands;     /* an assumption failed: it never goes on */
    bool circles;    /* it came back to a place as it was, and changed nothing: nor does it */
    uint64_t object; /* the address of what it is about; of join and detach: the thread; else 0 */
    uint64_t other;  /* the mutex of a wait; the function of a create; the code of an exit */
    ft_sym_place place;
} ft_sym_operation;

typedef struct ft_sym_error {
    ft_program_error kind;
    uint32_t thread;
    ft_sym_place place;
    char message[160];
} ft_sym_error;

/* By thread: how many of its steps are causes of the step at hand, itself included. */
typedef struct ft_sym_clock {
    uint32_t of[FT_SYM_THREADS];
} ft_sym_clock;

ft_sym_state *ft_sym_new(ft_sym_world *world); /* thread 0 stands before @main's beginning */
ft_sym_state *ft_sym_copy(const ft_sym_state *state);
void ft_sym_free(ft_sym_state *state);          /* accepts NULL */
size_t ft_sym_bytes(const ft_sym_state *state); /* what it takes; of shared pages its part */

ft_sym_end ft_sym_end_of(const ft_sym_state *state);
const ft_sym_error *ft_sym_error_of(const ft_sym_state *state); /* FAILED, STOPPED, UNSUPPORTED */
uint32_t ft_sym_thread_count(const ft_sym_state *state);
bool ft_sym_is_unknown(
    const ft_sym_state *state); /* the solver left open whether inputs lead here */

/* False: the thread has ended, or does not exist. */
bool ft_sym_stands_before(const ft_sym_state *state, uint32_t thread, ft_sym_operation *operation);
/* As ft_interpreter_choices; of a branch its arms, 0 to arms - 1, also in a state that has EXITED
 * or FAILED. */
uint32_t ft_sym_choices(const ft_sym_state *state, uint32_t thread,
                        uint64_t variants[FT_SYM_THREADS]);
/* The variant is one of the thread's choices. Afterwards the thread stands before its next
 * operation. INFEASIBLE: the arm excludes constraints of the state. */
ft_sym_end ft_sym_step(ft_sym_state *state, uint32_t thread, uint64_t variant,
                       const ft_sym_clock *clock);
/* The arm of the thread's branch that the state's inputs at hand take. */
uint64_t ft_sym_likely_arm(const ft_sym_state *state, uint32_t thread);
/* May inputs of the state take the arm? True also where it is not known. */
bool ft_sym_may_take(const ft_sym_state *state, uint32_t thread, uint64_t arm);

/* A step of the caller's own, which does nothing. */
void ft_sym_pass(ft_sym_state *state, uint32_t thread, const ft_sym_clock *clock);

/* A thread's own state: where it is in each function, its registers, the memory of its stack, how
 * many values it has read of each input, the locks that it holds. Terms are equal if they are the
 * same. */
typedef struct ft_sym_mark ft_sym_mark;
ft_sym_mark *ft_sym_mark_new(const ft_sym_state *state, uint32_t thread);
ft_sym_mark *ft_sym_mark_share(ft_sym_mark *mark); /* accepts NULL */
void ft_sym_mark_free(ft_sym_mark *mark);          /* one that holds it */
bool ft_sym_is_at(const ft_sym_state *state, uint32_t thread, const ft_sym_mark *mark);
/* How often the thread changed memory beside its stack, or made or freed an object of the heap. */
uint64_t ft_sym_changes(const ft_sym_state *state, uint32_t thread);

/* Appends all that the rest of the execution depends on, but for the clocks of its steps (which
 * tell what inputs each thread knows of) and ft_sym_changes: equal bytes of one world are equal
 * states. False: the state has ended or is not to be compared: the solver left it open, an
 * assumption failed, or races at unknown places are still to be asked for. */
bool ft_sym_state_bytes(const ft_sym_state *state, ft_strbuf *bytes);
void ft_sym_mark_bytes(const ft_sym_state *state, uint32_t thread, const ft_sym_mark *mark,
                       ft_strbuf *bytes);
/* A fingerprint: the xor of hashes of the state's parts, of memory byte by byte, so that what a
 * step changes in it is the same wherever the step has the same causes. */
uint64_t ft_sym_print(ft_sym_state *state);
/* The conditions that branches added, *n of them in the order in which they did. */
typedef struct ft_sym_condition {
    ft_term term;
    uint32_t thread, step; /* the step that added it, by whom */
} ft_sym_condition;
ft_sym_condition ft_sym_condition_of(const ft_sym_state *state, size_t i);
size_t ft_sym_conditions(const ft_sym_state *state);

/* Where the thread stands in its source: the innermost place that has a line there. */
ft_sym_place ft_sym_source(const ft_sym_state *state, uint32_t thread);

/* A thread stands at a failed assumption, and the process was not ended by others: that ends it as
 * well where the thread has not come to the assumption yet. */
bool ft_sym_is_discarded(const ft_sym_state *state);

/* The n-th value (from 0) that the thread reads of the input, in the inputs at hand; false: it
 * reads no such value. Inputs at hand satisfy all constraints, unless ft_sym_is_unknown. */
bool ft_sym_input(const ft_sym_state *state, uint32_t thread, const char *name, uint32_t n,
                  uint64_t *value);
/* Asks the solver anew for inputs that satisfy all constraints; false: there are none at hand. */
bool ft_sym_settle(ft_sym_state *state);

/* The operand of the instruction that the thread stands before; false: it is a term. */
bool ft_sym_operand(const ft_sym_state *state, uint32_t thread, uint32_t i, uint64_t *bits);
/* n bytes of a live object's memory; false: not all in one, or a term among them. */
bool ft_sym_read(const ft_sym_state *state, uint64_t address, size_t n, void *bytes);
/* The same, terms having their values for the inputs at hand. */
bool ft_sym_read_now(const ft_sym_state *state, uint64_t address, size_t n, void *bytes);
/* The exit code, of EXITED, for the inputs at hand. */
int32_t ft_sym_exit_code(const ft_sym_state *state);

/* A synchronisation object; all 0: there is none at the address. */
typedef struct ft_sym_object {
    uint32_t owner; /* thread + 1 */
    uint64_t count, total, readers, waiters;
    ft_mutex_kind kind;
} ft_sym_object;
ft_sym_object ft_sym_object_at(const ft_sym_state *state, uint64_t address);
bool ft_sym_is_detached(const ft_sym_state *state, uint32_t thread);
/* The thread that is within an atomic section, + 1; 0: none. */
uint32_t ft_sym_section(const ft_sym_state *state);

/* Accesses at unknown places of objects that several threads use may race for some inputs alone.
 * Inputs that show each such case, one after the other: those at hand become such, and an execution
 * under them shows whether there is a race. Embedded: zero-initialise. */
typedef struct ft_sym_doubts {
    ft_term *cases;
    size_t n, at;
    bool listed;
} ft_sym_doubts;
/* False: there are no more. *all false: some case could not be had, so that a race may be missed.
 */
bool ft_sym_next_doubt(ft_sym_state *state, ft_sym_doubts *doubts, bool *all);
void ft_sym_doubts_release(ft_sym_doubts *doubts);

#endif
