/* The encodings of synchronisation, of the claims about it and of the context bound, on hand-made
 * traces: the default encoding on the whole trace and on the claim's cone, and the literal one. */
#include "tiny_trace.h"

#include "base/strbuf.h"
#include "encode/decide.h"
#include "reduce/cone.h"
#include "verdict/checker.h"

#define ANY      FT_WAKEUPS_ANY
#define OBSERVED FT_WAKEUPS_OBSERVED
#define SPURIOUS FT_WAKEUPS_SPURIOUS
#define RUN      FT_MODEL_OBSERVED
#define VALUES   FT_MODEL_MAXIMAL
#define CONTROL  FT_MODEL_CONTROL

typedef struct sync_row {
    const char *name, *trace;
    ft_model model;
    ft_wakeups wakeups;
    ft_claim_kind claim;
    const char *events; /* 1-based */
    bool reachable;
} sync_row;

#define RACE    FT_CLAIM_RACE
#define CYCLE   FT_CLAIM_DEADLOCK
#define ERROR   FT_CLAIM_LOCK_ERROR
#define STUCK   FT_CLAIM_STUCK
#define FREED   FT_CLAIM_AFTER_FREE
#define UNSET   FT_CLAIM_UNINITIALISED
#define ENABLED FT_CLAIM_CO_ENABLED

#define READERS                                                                                    \
    "var x\nrw l\nT1: acqs l\nT1: w x\nT1: rel l\nT2: acqs l\nT2: w x\nT2: rel l\n"                \
    "T3: acq l\nT3: w x\nT3: rel l\n"
#define UPGRADE                                                                                    \
    "rw l\nrw m\nT1: acqs l\nT1: acq m\nT1: rel m\nT1: rel l\n"                                    \
    "T2: acqs m\nT2: acq l\nT2: rel l\nT2: rel m\n"
#define SHARED_CYCLE                                                                               \
    "rw l\nrw m\nT1: acqs l\nT1: acqs m\nT1: rel m\nT1: rel l\n"                                   \
    "T2: acqs m\nT2: acqs l\nT2: rel l\nT2: rel m\n"
/* T1 waits for c under l; T2 signals; 1-6 T1's wait, 3 the release, 4 the signal. */
#define ONE_WAITER                                                                                 \
    "var x\nmutex l\ncond c\nT1: acq l\nT1: cwait c\nT1: relc l\nT2: w x\nT2: sig c\n"             \
    "T1: cwake c\nT1: acqc l\nT1: w x\nT1: rel l\n"
/* Two waiters, one signal, one time-out. */
#define TIMED                                                                                      \
    "var x\ncond c\nT1: cwait c\nT2: cwait c\nT3: sig c\nT1: cwake c\nT2: late c\nT1: w x\n"       \
    "T2: w x\n"
#define TWO_SIGNALS                                                                                \
    "var x\ncond c\nT1: cwait c\nT2: cwait c\nT3: sig c\nT1: cwake c\nT1: w x\nT3: w x\n"          \
    "T3: sig c\nT2: cwake c\nT2: w x\n"
#define BARRIER                                                                                    \
    "var x\nbar b 2\nT1: w x\nT1: arr b\nT2: arr b\nT2: leave b\nT2: w x\nT1: leave b\nT1: w x\n"
#define ONCE    "var x\nonce o\nT1: obeg o\nT1: w x\nT1: oend o\nT2: pass o\nT2: w x\n"
#define ATTEMPT "var x\nmutex l\nT1: w x\nT1: acq l\nT2: nope l\nT2: w x\nT1: rel l\nT1: w x\n"
#define MESSAGE                                                                                    \
    "var x 0\nvar y\nblock m y\nT1: alloc m\nT1: w y\nT1: w x 1\nT2: r x 1\nT2: r y\nT1: free m\n"
#define PHILOSOPHERS                                                                               \
    "mutex a\nmutex b\nmutex c\nT1: acq a\nT1: acq b\nT1: rel b\nT1: rel a\nT2: acq b\nT2: acq "   \
    "c\nT2: rel c\nT2: rel b\nT3: acq c\nT3: acq a\nT3: rel a\nT3: rel c\n"
#define GUARDED                                                                                    \
    "mutex a\nmutex b\nmutex g\nT1: acq g\nT1: acq a\nT1: acq b\nT1: rel b\nT1: rel a\nT1: rel "   \
    "g\nT2: acq g\nT2: acq b\nT2: acq a\nT2: rel a\nT2: rel b\nT2: rel g\n"

static const sync_row ROWS[] = {
    {"two readers write at once", READERS, RUN, ANY, RACE, "2 5", true},
    {"a reader and a writer do not", READERS, RUN, ANY, RACE, "2 8", false},
    {"readers keep writers waiting", UPGRADE, RUN, ANY, CYCLE, "2 6", true},
    {"readers do not keep readers waiting", SHARED_CYCLE, RUN, ANY, CYCLE, "2 6", false},
    {"a reader's own write request", "rw l\nT1: acqs l\nT1: acq l\n", RUN, ANY, ERROR, "2", true},
    {"a second acquire of a mutex", "mutex l\nT1: acq l\nT1: acq l\n", RUN, ANY, ERROR, "2", true},
    {"a recursive one", "rec l\nT1: acq l\nT1: acq l\nT1: rel l\nT1: rel l\n", RUN, ANY, ERROR, "2",
     false},
    {"a checked one goes on", "chk l\nvar x\nT1: acq l\nT1: acq l\nT1: w x\nT1: rel l\nT2: w x\n",
     RUN, ANY, RACE, "3 5", true},
    {"a mutex does not", "mutex l\nvar x\nT1: acq l\nT1: acq l\nT1: w x\nT2: w x\n", RUN, ANY, RACE,
     "3 4", false},
    {"released by a stranger", "mutex l\nT1: acq l\nT1: rel l\nT2: rel l\n", RUN, ANY, ERROR, "3",
     true},

    {"the waker's write before the signal", ONE_WAITER, RUN, ANY, RACE, "4 8", false},
    {"but for spurious wake-ups", ONE_WAITER, RUN, SPURIOUS, RACE, "4 8", true},
    {"or the control model, which keeps signals", ONE_WAITER, CONTROL, ANY, RACE, "4 8", false},
    {"a signal too early is lost", ONE_WAITER, RUN, ANY, STUCK, "6", true},
    {"without waiting there is no loss", ONE_WAITER, RUN, SPURIOUS, STUCK, "6", false},
    {"a broadcast too early is lost", "cond c\nT1: cwait c\nT2: bro c\nT1: cwake c\n", RUN, ANY,
     STUCK, "3", true},
    {"the signal waits for the waiter",
     "cond c\nT1: cwait c\nT1: fork T2\nT2: sig c\nT1: cwake c\n", RUN, ANY, STUCK, "4", false},
    {"one signal for two waiters",
     "cond c\nT1: fork T2\nT1: cwait c\nT2: cwait c\nT3: sig c\nT1: cwake c\n", RUN, ANY, STUCK,
     "5", true},
    {"a broadcast for two waiters",
     "cond c\nsem s 0\nT1: cwait c\nT1: post s\nT2: cwait c\nT2: post s\nT3: wait s\nT3: wait s\n"
     "T3: bro c\nT1: cwake c\nT2: cwake c\n",
     RUN, ANY, STUCK, "8", false},
    {"a signal for two waiters leaves one",
     "cond c\nsem s 0\nT1: cwait c\nT1: post s\nT2: cwait c\nT2: post s\nT3: wait s\nT3: wait s\n"
     "T3: sig c\nT1: cwake c\nT3: sig c\nT2: cwake c\n",
     RUN, ANY, STUCK, "10", false},
    {"a time-out may take the signal", TIMED, RUN, ANY, STUCK, "4", true},
    {"a time-out needs no signal", TIMED, RUN, ANY, RACE, "6 7", true},
    {"the other waiter may be woken first", TWO_SIGNALS, RUN, ANY, RACE, "6 9", true},
    {"unless it has to be the observed one", TWO_SIGNALS, RUN, OBSERVED, RACE, "6 9", false},
    {"observed: its own waiter is woken first", TWO_SIGNALS, RUN, OBSERVED, RACE, "5 6", true},
    {"observed: not one that sleeps for ever",
     "var x\ncond c\nT1: cwait c\nT2: cwait c\nT3: sig c\nT2: cwake c\nT2: w x\nT3: w x\n", RUN,
     OBSERVED, RACE, "5 6", true},
    {"observed: nor one whose time is up",
     "var x\ncond c\nT1: cwait c\nT2: cwait c\nT3: sig c\nT2: cwake c\nT2: w x\nT1: late c\nT3: w "
     "x\n",
     RUN, OBSERVED, RACE, "5 7", true},
    {"an attempt does not fail by its own recursive section",
     "var x\nrec l\nT1: acq l\nT1: nope l\nT1: w x\nT1: rel l\nT2: w x\n", RUN, ANY, RACE, "3 5",
     false},

    {"before and after a barrier", BARRIER, RUN, ANY, RACE, "1 5", false},
    {"after it, both", BARRIER, RUN, ANY, RACE, "5 7", true},
    {"a barrier that not all come to", "bar b 2\nT1: arr b\nT1: leave b\n", RUN, ANY, STUCK, "2",
     true},
    {"a barrier that all come to", BARRIER, RUN, ANY, STUCK, "4", false},
    {"the initialiser before who passes", ONCE, RUN, ANY, RACE, "2 5", false},
    {"who passes for ever", "var x\nonce o\nT1: pass o\nT1: w x\nT2: w x\n", RUN, ANY, RACE, "2 3",
     false},

    {"an attempt fails while the lock is held", ATTEMPT, RUN, ANY, RACE, "1 4", false},
    {"and its thread goes on after the release", ATTEMPT, RUN, ANY, RACE, "4 6", true},
    {"nobody ever holds it", "var x\nmutex l\nT1: nope l\nT1: w x\nT2: w x\n", RUN, ANY, RACE,
     "2 3", false},
    {"an attempt is enabled while it is held", ATTEMPT, RUN, ANY, ENABLED, "3 5", true},
    {"and no longer", ATTEMPT, RUN, ANY, ENABLED, "3 6", false},
    {"a tried lock is no request",
     "mutex a\nmutex b\nT1: acq a\nT1: try b\nT1: rel b\nT1: rel a\nT2: acq b\nT2: acq a\n"
     "T2: rel a\nT2: rel b\n",
     RUN, ANY, CYCLE, "2 6", false},

    {"philosophers", PHILOSOPHERS, RUN, ANY, CYCLE, "2 6 10", true},
    {"no cycle", PHILOSOPHERS, RUN, ANY, CYCLE, "2 6", false},
    {"a guard lock", GUARDED, RUN, ANY, CYCLE, "3 9", false},
    {"requests in one another's past",
     "mutex a\nmutex b\nT1: acq a\nT1: acq b\nT1: rel b\nT1: rel a\nT1: fork T2\nT2: acq b\n"
     "T2: acq a\nT2: rel a\nT2: rel b\n",
     RUN, ANY, CYCLE, "2 7", false},

    {"units left of another semaphore",
     "sem s 0\nsem t 1\nT2: post s\nT2: post s\nT1: wait s\nT3: wait t\nT3: post t\nT4: wait t\n",
     RUN, ANY, STUCK, "4", true},
    {"a semaphore that nobody posts", "sem s 1\nT1: wait s\nT2: wait s\nT1: post s\nT1: wait s\n",
     RUN, ANY, STUCK, "4", true},
    {"a semaphore with units for all", "sem s 2\nT1: wait s\nT2: wait s\n", RUN, ANY, STUCK, "2",
     false},
    {"a join of a thread in a cycle",
     "mutex a\nmutex b\nT1: fork T2\nT1: fork T3\nT2: acq a\nT2: acq b\nT2: rel b\nT2: rel a\n"
     "T3: acq b\nT3: acq a\nT3: rel a\nT3: rel b\nT1: join T2\nT1: join T3\n",
     RUN, ANY, STUCK, "11", true},
    {"a join of a thread that ends", "var x\nT1: fork T2\nT2: w x\nT1: join T2\n", RUN, ANY, STUCK,
     "3", false},
    {"a running thread is no deadlock", "sem s 0\nvar x\nT1: w x\nT2: post s\nT1: wait s\n", RUN,
     ANY, STUCK, "3", false},

    {"used after the free", MESSAGE, RUN, ANY, FREED, "6 5", true},
    {"not before the allocation", "var y\nblock m y\nT1: free m\nT1: alloc m\nT1: w y\n", RUN, ANY,
     FREED, "1 3", false},
    {"freed twice", "var y\nblock m y\nT1: free m\nT2: free m\n", RUN, ANY, FREED, "1 2", true},
    {"read before the message", "var x 0\nvar y\nT1: w y\nT1: w x 1\nT2: r x 1\nT2: r y\n", VALUES,
     ANY, UNSET, "4 1", false},
    {"read without it", "var y\nT1: w y\nT2: r y\n", RUN, ANY, UNSET, "2 0", true},
    {"control: the message does not count",
     "var x 0\nvar y\nT1: w y\nT1: w x 1\nT2: r x 1\nT2: r y\n", CONTROL, ANY, UNSET, "4 1", true},
    {"written, then allocated anew",
     "var y\nblock m y\nT1: w y\nT1: alloc m\nT1: fork T2\nT1: w y\nT2: r y\n", RUN, ANY, UNSET,
     "5 0", true},

    {"an update is atomic", "var x 0\nT1: rmw x 0 1\nT2: rmw x 1 2\nT2: w x 5\nT1: w x 6\n", VALUES,
     ANY, RACE, "3 4", true},
    {"and has its value to read",
     "var x 0\nvar y\nT1: w y\nT1: rmw x 0 1\nT2: rmw x 1 2\nT2: w y\n", VALUES, ANY, RACE, "1 4",
     false},
    {"which control does not ask for",
     "var x 0\nvar y\nT1: w y\nT1: rmw x 0 1\nT2: rmw x 1 2\nT2: w y\n", CONTROL, ANY, RACE, "1 4",
     true},
};

typedef struct subject {
    ft_trace *trace;
    ft_order *order;
    ft_run *run;
    ft_problem problem;
    ft_claim claim;
} subject;

static void subject_open(subject *s, const char *text, ft_model model, ft_wakeups wakeups,
                         ft_claim_kind kind, const char *events)
{
    uint32_t count;
    *s = (subject){.trace = tiny_trace(text), .claim = {.kind = kind}};
    s->order = ft_order_new(s->trace);
    s->run = ft_run_new(s->trace);
    s->problem = (ft_problem){
        .trace = s->trace, .order = s->order, .run = s->run, .model = model, .wakeups = wakeups};
    if (kind == UNSET) {
        unsigned event, variable;
        assert_int_equal(sscanf(events, "%u %u", &event, &variable), 2);
        s->claim.events[0] = event - 1;
        s->claim.variable = variable;
        return;
    }
    count = tiny_numbers(events, s->claim.events, FT_CLAIM_MAX_EVENTS);
    if (kind == CYCLE) s->claim.n_events = count;
}

static void subject_close(subject *s)
{
    ft_run_free(s->run);
    ft_order_free(s->order);
    ft_trace_free(s->trace);
}

static void expect(const subject *s, const char *name, const char *how, bool reachable,
                   ft_answer answer, ft_witness *witness)
{
    ft_error err = FT_ERROR_INIT;
    if (answer != (reachable ? FT_ANSWER_SAT : FT_ANSWER_UNSAT))
        fail_msg("%s, %s: answer %d", name, how, (int)answer);
    if (answer != FT_ANSWER_SAT) return;
    ft_checker *checker = ft_checker_new(s->trace);
    if (ft_checker_check(checker, witness, NULL, &err))
        fail_msg("%s, %s: %s", name, how, err.message);
    ft_checker_free(checker);
    ft_witness_release(witness);
}

static void check_row(const sync_row *row)
{
    subject s;
    ft_decide_stats stats = {0};
    ft_witness witness = {0};
    const ft_question question = {.claim = &s.claim, .bound = FT_NO_BOUND};
    subject_open(&s, row->trace, row->model, row->wakeups, row->claim, row->events);
    uint8_t *cone = ft_calloc(s.trace->n_events, 1);
    ft_cone_compute(&s.problem, &s.claim, cone);
    const uint8_t *parts[2] = {NULL, cone};
    for (int i = 0; i < 2; i++) {
        ft_decider *decider = ft_decider_new(&s.problem, parts[i]);
        ft_answer answer = ft_decider_decide(decider, &question, &witness, &stats);
        expect(&s, row->name, i ? "cone" : "whole trace", row->reachable, answer, &witness);
        ft_decider_free(decider);
    }
    ft_answer answer = ft_literal_decide(&s.problem, &question, &witness, &stats);
    expect(&s, row->name, "literal", row->reachable, answer, &witness);
    free(cone);
    subject_close(&s);
}

static void test_claims(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++) check_row(&ROWS[i]);
}

typedef struct bound_row {
    const char *name, *trace;
    ft_claim_kind claim;
    const char *events;
    uint32_t fewest; /* context switches of its best witness, FT_NO_BOUND: there is none */
} bound_row;

#define PING_PONG                                                                                  \
    "var x\nsem s 0\nsem t 0\nT1: post s\nT2: wait s\nT2: post t\nT1: wait t\nT1: w x\nT2: w x\n"
#define CHAIN "var x\nT1: fork T2\nT2: fork T3\nT3: fork T4\nT4: w x\nT1: w x\nT3: r x\n"

static const bound_row BOUNDS[] = {
    {"two first events", "var x\nT1: w x\nT2: w x\n", RACE, "1 2", 1},
    {"a chain of forks", CHAIN, RACE, "4 5", 4},
    {"the last step's thread goes on", CHAIN, RACE, "4 6", 3},
    {"to and fro", PING_PONG, RACE, "5 6", 3},
    {"a cycle of three", PHILOSOPHERS, CYCLE, "2 6 10", 4},
    {"ordered for ever", "var x\nT1: w x\nT1: fork T2\nT2: w x\n", RACE, "1 3", FT_NO_BOUND},
    {"one thread alone", "mutex l\nT1: acq l\nT1: acq l\n", ERROR, "2", 0},
    {"its child's lost signal", ONE_WAITER, STUCK, "6", 1},
};

/* One decider answers the bounds in turn, as `auto` asks for them. */
static void check_bounds(const bound_row *row)
{
    subject s;
    ft_decide_stats stats = {0};
    subject_open(&s, row->trace, RUN, ANY, row->claim, row->events);
    ft_decider *decider = ft_decider_new(&s.problem, NULL);
    for (uint32_t bound = 0; bound < 6; bound++) {
        ft_witness witness = {0};
        bool reachable = row->fewest != FT_NO_BOUND && row->fewest <= bound;
        const ft_question question = {.claim = &s.claim, .bound = bound};
        ft_answer answer = ft_decider_decide(decider, &question, &witness, &stats);
        if (answer == FT_ANSWER_SAT && ft_witness_switches(s.trace, &witness) > bound)
            fail_msg("%s: %u switches for %u", row->name, ft_witness_switches(s.trace, &witness),
                     bound);
        expect(&s, row->name, "bounded", reachable, answer, &witness);
        if (answer == FT_ANSWER_UNSAT) assert_int_equal(stats.lifted, row->fewest == FT_NO_BOUND);
    }
    ft_decider_free(decider);
    subject_close(&s);
}

static void test_bounds(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof BOUNDS / sizeof *BOUNDS; i++) check_bounds(&BOUNDS[i]);
}

/* ---- many waits ---- */

enum { WAITS = 126, CONDITIONS = 6 };

/* Each is signalled, of so many conditions in turn. */
static char *waits(int conditions)
{
    ft_strbuf text = {0};
    for (int c = 0; c < conditions; c++) ft_strbuf_printf(&text, "cond c%d\n", c);
    for (int i = 0; i < WAITS; i++) {
        int c = i % conditions;
        ft_strbuf_printf(&text, "T1: cwait c%d\nT2: sig c%d\nT1: cwake c%d\n", c, c, c);
    }
    return ft_strbuf_take(&text);
}

/* A signal has to do with the waits of its own condition alone. What is too many all the same is
 * told from what ran out of time. */
static void test_many_waits(void **state)
{
    (void)state;
    for (int conditions = 1; conditions <= CONDITIONS; conditions += CONDITIONS - 1) {
        subject s;
        char last[16], *text = waits(conditions);
        ft_decide_stats stats = {0};
        ft_witness witness = {0};
        const ft_question question = {.claim = &s.claim, .bound = FT_NO_BOUND};
        snprintf(last, sizeof last, "%d", 3 * WAITS);
        subject_open(&s, text, RUN, ANY, STUCK, last);
        ft_decider *decider = ft_decider_new(&s.problem, NULL);
        ft_answer answer = ft_decider_decide(decider, &question, &witness, &stats);
        assert_int_equal(stats.too_large, conditions == 1);
        if (stats.too_large)
            assert_int_equal(answer, FT_ANSWER_UNKNOWN);
        else
            expect(&s, "several conditions", "whole trace", true, answer, &witness);
        ft_decider_free(decider);
        subject_close(&s);
        free(text);
    }
}

/* ---- many semaphores ---- */

enum { RING = 12, ROUNDS = 10, RING_MS = 60000 };

/* A token goes round: thread i waits for semaphore i and posts the next one. Nobody waits for ever,
 * which is a matter of counting: matching units with waits one by one takes minutes. */
static char *ring(void)
{
    ft_strbuf text = {0};
    for (int i = 0; i < RING; i++) ft_strbuf_printf(&text, "sem s%d %d\n", i, i == 0);
    for (int r = 0; r < ROUNDS; r++)
        for (int i = 0; i < RING; i++)
            ft_strbuf_printf(&text, "T%d: wait s%d\nT%d: post s%d\n", i, i, i, (i + 1) % RING);
    return ft_strbuf_take(&text);
}

static void test_ring_of_semaphores(void **state)
{
    (void)state;
    subject s;
    ft_decide_stats stats = {0};
    char *text = ring();
    subject_open(&s, text, RUN, ANY, STUCK, "1");
    ft_decider *decider = ft_decider_new(&s.problem, NULL);
    double deadline = ft_now_ms() + RING_MS;
    for (uint32_t e = 0; e < s.trace->n_events; e += 2) {
        ft_witness witness = {0};
        s.claim.events[0] = e;
        const ft_question question = {
            .claim = &s.claim, .bound = FT_NO_BOUND, .deadline = deadline};
        assert_int_equal(ft_decider_decide(decider, &question, &witness, &stats), FT_ANSWER_UNSAT);
    }
    ft_decider_free(decider);
    subject_close(&s);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_claims),
        cmocka_unit_test(test_bounds),
        cmocka_unit_test(test_many_waits),
        cmocka_unit_test(test_ring_of_semaphores),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
