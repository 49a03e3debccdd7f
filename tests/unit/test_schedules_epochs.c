/* Runs over several epochs in the interpreter, under sets that were written by hand: programs that
 * go on for ever, whose threads take random turns. Each set is right by reading; each change to it
 * is wrong in one place. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "oracle/constrained.h"
#include "program/text.h"
#include "program/validate.h"
#include "schedules/constrained.h"

enum { EPOCHS = 12, RUNS = 40 };

/* One thread counts for ever; where the count is even it takes another lock too. */
static const char COUNTING[] = "program 1\n"
                               "object @m 40 align 8\n"
                               "object @o 40 align 8\n"
                               "object @n 4 align 4 { 0: \"\\01\\00\\00\\00\" }\n"
                               "function @main() -> i32 {\n"
                               "  start:\n"
                               "    jump round(i32 0)\n"
                               "  round(%i: i32):\n"
                               "    lock @m\n"
                               "    %n = load i32 @n\n"
                               "    %next = add i32 %n, 3\n"
                               "    store i32 %next, @n\n"
                               "    unlock @m\n"
                               "    %j = add i32 %i, 1\n"
                               "    %odd = and i32 %j, 1\n"
                               "    %is = ne i32 %odd, 0\n"
                               "    branch %is, other, round(%j)\n"
                               "  other:\n"
                               "    lock @o\n"
                               "    unlock @o\n"
                               "    jump round(%j)\n"
                               "}\n";
static const char COUNTING_SET[] = "schedules 1\n"
                                   "prefix yes\n"
                                   "marker @main 1\n"
                                   "epoch entry\n"
                                   "take begins\n"
                                   "schedule begins epoch round\n"
                                   "  0:1 begin\n"
                                   "  next 0\n"
                                   "epoch round\n"
                                   "stands 0 lock at @main 1\n"
                                   "unknown i 32 0/0%i\n"
                                   "unknown n 32 @n+0\n"
                                   "init (= n (bvadd #x00000001 (bvmul i #x00000003)))\n"
                                   "if (= ((_ extract 0 0) i) #b1)\n"
                                   "  take one\n"
                                   "else\n"
                                   "  take two\n"
                                   "schedule one epoch round\n"
                                   "  0:1 lock @m+0 at @main 1\n"
                                   "  0:2 unlock @m+0 at @main 5\n"
                                   "  next 0\n"
                                   "schedule two epoch round\n"
                                   "  0:1 lock @m+0 at @main 1\n"
                                   "  0:2 unlock @m+0 at @main 5\n"
                                   "  0:3 lock @o+0 at @main 10\n"
                                   "  0:4 unlock @o+0 at @main 11\n"
                                   "  next 0\n";

/* Two workers take the lock of an object of the heap for ever; which comes first changes with each
 * epoch, since the threads of the next one are bound the other way round. */
static const char WORKERS[] = "program 1\n"
                              "object @shared 8 align 8\n"
                              "function @work(%p: i64) -> i64 {\n"
                              "  start:\n"
                              "    jump round\n"
                              "  round:\n"
                              "    %o = load i64 @shared\n"
                              "    lock %o\n"
                              "    %at = add i64 %o, 40\n"
                              "    store i64 %p, %at\n"
                              "    unlock %o\n"
                              "    jump round\n"
                              "}\n"
                              "function @main() -> i32 {\n"
                              "  start:\n"
                              "    %o = alloc 48\n"
                              "    store i64 %o, @shared\n"
                              "    %t = create @work, 7\n"
                              "    %u = create @work, 7\n"
                              "    join %t\n"
                              "    return i32 0\n"
                              "}\n";
static const char WORKERS_SET[] = "schedules 1\n"
                                  "prefix yes\n"
                                  "marker @work 1\n"
                                  "epoch entry\n"
                                  "take begins\n"
                                  "schedule begins epoch first\n"
                                  "  0:1 begin\n"
                                  "  0:2 create 0.1 at @main 2\n"
                                  "  0:3 create 0.2 at @main 3\n"
                                  "  0.1:1 begin after 0:2\n"
                                  "  0.2:1 begin after 0:3\n"
                                  "  next 0 0.1 0.2\n"
                                  "epoch first\n"
                                  "stands 0 join at @main 4\n"
                                  "stands 1 lock at @work 2\n"
                                  "stands 2 lock at @work 2\n"
                                  "object heap:#1 48\n"
                                  "cell @shared+0 64 heap:#1+0\n"
                                  "take both\n"
                                  "schedule both epoch later\n"
                                  "  1:1 lock heap:#1+0 at @work 2\n"
                                  "  1:2 unlock heap:#1+0 at @work 5\n"
                                  "  2:1 lock heap:#1+0 at @work 2 after 1:2\n"
                                  "  2:2 unlock heap:#1+0 at @work 5\n"
                                  "  next 0 2 1\n"
                                  "epoch later\n"
                                  "stands 0 join at @main 4\n"
                                  "stands 1 lock at @work 2\n"
                                  "stands 2 lock at @work 2\n"
                                  "object heap:#1 48\n"
                                  "cell @shared+0 64 heap:#1+0\n"
                                  "cell heap:#1+40 64 0x7\n"
                                  "take both\n"
                                  "schedule both epoch later\n"
                                  "  1:1 lock heap:#1+0 at @work 2\n"
                                  "  1:2 unlock heap:#1+0 at @work 5\n"
                                  "  2:1 lock heap:#1+0 at @work 2 after 1:2\n"
                                  "  2:2 unlock heap:#1+0 at @work 5\n"
                                  "  next 0 2 1\n";

/* A consumer waits for each item of a producer, who may go on with the next one first: an epoch
 * begins inside of the wait. An input, read in each round, says how many signals there are. */
static const char WAITING[] = "program 1\n"
                              "object @m 40 align 8\n"
                              "object @c 48 align 8\n"
                              "object @full 4 align 4\n"
                              "function @consume(%p: i64) -> i64 {\n"
                              "  start:\n"
                              "    lock @m\n"
                              "    jump look\n"
                              "  look:\n"
                              "    %f = load i32 @full\n"
                              "    %is = ne i32 %f, 0\n"
                              "    branch %is, take, again\n"
                              "  again:\n"
                              "    %w = wait @c, @m\n"
                              "    jump look\n"
                              "  take:\n"
                              "    store i32 0, @full\n"
                              "    jump look\n"
                              "}\n"
                              "function @main() -> i32 {\n"
                              "  start:\n"
                              "    %t = create @consume, 0\n"
                              "    jump round\n"
                              "  round:\n"
                              "    %twice = input \"twice\" i1\n"
                              "    lock @m\n"
                              "    store i32 1, @full\n"
                              "    signal @c\n"
                              "    unlock @m\n"
                              "    branch %twice, more, round\n"
                              "  more:\n"
                              "    signal @c\n"
                              "    jump round\n"
                              "}\n";
static const char WAITING_SET[] = "schedules 1\n"
                                  "prefix yes\n"
                                  "marker @main 2\n"
                                  "input twice 1 \"twice\" 0 1\n"
                                  "epoch entry\n"
                                  "take begins\n"
                                  "schedule begins epoch waits\n"
                                  "  0:1 begin\n"
                                  "  0:2 create 0.1 at @main 0\n"
                                  "  0.1:1 begin after 0:2\n"
                                  "  0.1:2 lock @m+0 at @consume 0\n"
                                  "  0.1:3 wait @c+0 @m+0 at @consume 5\n"
                                  "  next 0 0.1\n"
                                  "epoch waits\n"
                                  "stands 0 lock at @main 3\n"
                                  "stands 1 wake at @consume 5\n"
                                  "unknown twice.0 1 0/0%twice\n"
                                  "sync @c+0 condition waiters 1\n"
                                  "if twice.0\n"
                                  "  take two\n"
                                  "else\n"
                                  "  take one\n"
                                  "schedule two epoch waits\n"
                                  "  0:1 lock @m+0 at @main 3\n"
                                  "  0:2 signal @c+0 wakes 1 at @main 5\n"
                                  "  0:3 unlock @m+0 at @main 6\n"
                                  "  0:4 signal @c+0 wakes nobody at @main 8\n"
                                  "  1:1 wake @c+0 @m+0 at @consume 5 after 0:3\n"
                                  "  1:2 wait @c+0 @m+0 at @consume 5 after 0:4\n"
                                  "  next 0 1\n"
                                  "schedule one epoch waits\n"
                                  "  0:1 lock @m+0 at @main 3\n"
                                  "  0:2 signal @c+0 wakes 1 at @main 5\n"
                                  "  0:3 unlock @m+0 at @main 6\n"
                                  "  1:1 wake @c+0 @m+0 at @consume 5 after 0:3\n"
                                  "  1:2 wait @c+0 @m+0 at @consume 5\n"
                                  "  next 0 1\n";

typedef struct run {
    ft_program *program;
    ft_schedule_set *set;
    ft_strbuf path; /* epoch.schedule, for each */
    ft_constrained_end end;
    ft_error err;
    uint32_t rounds;
} run;

static bool input(void *context, const char *name, uint8_t width, uint64_t *value)
{
    run *r = context;
    (void)name;
    (void)width;
    *value = r->rounds++ % 3 == 0;
    return true;
}

static void note_schedule(run *r, const ft_constrained *c)
{
    ft_strbuf_printf(&r->path, "%s.%s ",
                     ft_schedule_text_of(r->set, r->set->epochs.data[c->epoch].name),
                     ft_schedule_text_of(r->set, c->schedule->name));
}

static uint32_t next_random(uint64_t *seed)
{
    *seed = *seed * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (uint32_t)(*seed >> 33);
}

/* Takes random turns until no thread follows. */
static void run_epoch(ft_constrained *c, ft_interpreter *m, uint64_t *seed)
{
    for (uint32_t looks = 0; looks < 64 && ft_interpreter_state_of(m) == FT_INTERPRETER_GOING;) {
        uint64_t variant;
        uint32_t t = next_random(seed) % ft_interpreter_thread_count(m);
        looks++;
        if (ft_constrained_next(c, m, t, &variant) != FT_CONSTRAINED_FOLLOWS) continue;
        (void)ft_constrained_step(c, m, t, variant);
        looks = 0;
    }
}

static void run_all(run *r, uint64_t seed)
{
    ft_interpreter_options options = {.races = true, .input = input, .context = r};
    ft_interpreter *m = ft_interpreter_new(r->program, &options);
    ft_constrained c;
    uint32_t thread;
    r->err = FT_ERROR_INIT;
    ft_strbuf_clear(&r->path);
    r->rounds = 0;
    ft_constrained_init(&c, r->program, r->set, &r->set->epochs.data[0].schedules.data[0]);
    for (int epochs = 0; epochs < EPOCHS; epochs++) {
        note_schedule(r, &c);
        run_epoch(&c, m, &seed);
        r->end = ft_constrained_end_of(&c, m, &thread);
        if (r->end == FT_CONSTRAINED_EPOCH)
            r->end = ft_constrained_go_on(&c, m, NULL, NULL, &r->err);
        if (r->end != FT_CONSTRAINED_EPOCH) break;
    }
    ft_constrained_release(&c);
    ft_interpreter_free(m);
}

static ft_program *read_program(const char *text)
{
    ft_program *program = NULL;
    ft_error err = FT_ERROR_INIT;
    if (ft_program_read_text(text, strlen(text), &program, &err) != FT_OK ||
        ft_program_validate(program, &err) != FT_OK)
        fail_msg("%u: %s", (unsigned)err.line, err.message);
    return program;
}

static void begin(run *r, const char *program, const char *set)
{
    *r = (run){.program = read_program(program)};
    ft_error err = FT_ERROR_INIT;
    if (ft_schedule_set_read(set, strlen(set), &r->set, &err) != FT_OK)
        fail_msg("%u:%u: %s", (unsigned)err.line, (unsigned)err.column, err.message);
}

static void end(run *r)
{
    ft_program_free(r->program);
    ft_schedule_set_free(r->set);
    ft_strbuf_release(&r->path);
}

/* The first `part` of the text is replaced. */
static char *changed(const char *text, const char *part, const char *by)
{
    const char *at = strstr(text, part);
    assert_non_null(at);
    ft_strbuf out = {0};
    ft_strbuf_add(&out, text, (size_t)(at - text));
    ft_strbuf_puts(&out, by);
    ft_strbuf_puts(&out, at + strlen(part));
    return out.text;
}

static void test_epochs_follow(void **state)
{
    (void)state;
    static const struct {
        const char *program, *set, *path;
    } rows[] = {
        {COUNTING, COUNTING_SET,
         "entry.begins round.two round.one round.two round.one round.two round.one round.two "
         "round.one round.two round.one round.two "},
        {WORKERS, WORKERS_SET,
         "entry.begins first.both later.both later.both later.both later.both later.both "
         "later.both later.both later.both later.both later.both "},
        {WAITING, WAITING_SET,
         "entry.begins waits.two waits.one waits.one waits.two waits.one waits.one waits.two "
         "waits.one waits.one waits.two waits.one "},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        run r;
        begin(&r, rows[i].program, rows[i].set);
        for (uint64_t seed = 0; seed < RUNS; seed++) {
            run_all(&r, seed);
            if (r.end != FT_CONSTRAINED_EPOCH)
                fail_msg("row %zu: %s: %s", i, ft_constrained_end_name(r.end), r.err.message);
            assert_string_equal(r.path.text, rows[i].path);
        }
        constrained_counts counts = {0};
        constrained_fault fault = constrained_check(r.program, r.set, &counts);
        if (fault.what || fault.races || counts.epochs < 3)
            fail_msg("row %zu: %s: %s", i, fault.what, fault.why);
        end(&r);
    }
}

static void test_epochs_wrong(void **state)
{
    (void)state;
    static const struct {
        const char *program, *set, *part, *by;
        ft_constrained_end end;
        const char *message;
    } rows[] = {
        {COUNTING, COUNTING_SET, "stands 0 lock at @main 1\n", "stands 0 lock at @main 2\n",
         FT_CONSTRAINED_OUTSIDE, "thread 0 of epoch round stands"},
        {COUNTING, COUNTING_SET, "stands 0 lock", "stands 0 unlock", FT_CONSTRAINED_OUTSIDE,
         "thread 0 of epoch round stands"},
        {COUNTING, COUNTING_SET, "(bvmul i #x00000003)", "#x00000003", FT_CONSTRAINED_OUTSIDE,
         "init does not hold"},
        {COUNTING, COUNTING_SET, "unknown n 32 @n+0\n", "unknown n 32 @n+0\ncell 0/0%i 32 0x0\n",
         FT_CONSTRAINED_OUTSIDE, "0/0%i has another content"},
        {COUNTING, COUNTING_SET,
         "unknown n 32 @n+0\ninit (= n (bvadd #x00000001 (bvmul i #x00000003)))\n", "",
         FT_CONSTRAINED_OUTSIDE, "@n has other content"},
        {COUNTING, COUNTING_SET, "  take two\n", "  none\n", FT_CONSTRAINED_UNCOVERED,
         "no schedule of epoch round"},
        {COUNTING, COUNTING_SET, "unknown i 32 0/0%i\n", "unknown i 32 0/1%i\n",
         FT_CONSTRAINED_OUTSIDE, "init does not hold"},
        {COUNTING, COUNTING_SET, "  0:3 lock @o+0 at @main 10\n  0:4 unlock @o+0 at @main 11\n", "",
         FT_CONSTRAINED_OUTSIDE, "thread 0 of epoch round stands"},
        {COUNTING, COUNTING_SET, "  0:2 unlock @m+0 at @main 5\n  next", "  next",
         FT_CONSTRAINED_OUTSIDE, "thread 0 of epoch round stands"},
        {WORKERS, WORKERS_SET, "cell heap:#1+40 64 0x7", "cell heap:#1+40 64 0x8",
         FT_CONSTRAINED_OUTSIDE, "heap:#1+40 has another content"},
        {WORKERS, WORKERS_SET, "cell heap:#1+40 64 0x7\n", "", FT_CONSTRAINED_OUTSIDE,
         "heap:#1 is another object"},
        {WORKERS, WORKERS_SET, "object heap:#1 48", "object heap:#1 40", FT_CONSTRAINED_OUTSIDE,
         "heap:#1 is another object"},
        {WORKERS, WORKERS_SET, "object heap:#1 48", "object heap:#1 48 freed",
         FT_CONSTRAINED_OUTSIDE, "heap:#1 is another object"},
        {WORKERS, WORKERS_SET, "  next 0 0.1 0.2\n", "  next 0.1 0 0.2\n", FT_CONSTRAINED_OUTSIDE,
         "thread 0 of epoch first stands"},
        {WORKERS, WORKERS_SET, "cell @shared+0 64 heap:#1+0", "cell @shared+0 64 heap:#1+8",
         FT_CONSTRAINED_OUTSIDE, "@shared+0 has another content"},
        {WAITING, WAITING_SET, "sync @c+0 condition waiters 1\n", "", FT_CONSTRAINED_OUTSIDE,
         "in use that it does not have"},
        {WAITING, WAITING_SET, "condition waiters 1\n",
         "condition waiters 1\nsync @m+0 mutex owner 0 count 1\n", FT_CONSTRAINED_OUTSIDE,
         "@m+0 is in another state"},
        {WAITING, WAITING_SET, "stands 1 wake", "stands 1 wait", FT_CONSTRAINED_OUTSIDE,
         "thread 1 of epoch waits stands"},
        {WAITING, WAITING_SET, "if twice.0", "if (not twice.0)", FT_CONSTRAINED_OUTSIDE,
         "thread 0 of epoch waits stands"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        run r;
        char *set = changed(rows[i].set, rows[i].part, rows[i].by);
        begin(&r, rows[i].program, set);
        run_all(&r, i);
        if (r.end != rows[i].end || !strstr(r.err.message, rows[i].message))
            fail_msg("row %zu: %s: %s", i, ft_constrained_end_name(r.end), r.err.message);
        constrained_counts counts = {0};
        if (!constrained_check(r.program, r.set, &counts).what)
            fail_msg("row %zu: brute force sees nothing", i);
        end(&r);
        free(set);
    }
}

/* ---- deadlocks */

/* Each program runs one thread after the other, as far as it can, thread 0 last. */
static void test_epochs_deadlock(void **state)
{
    (void)state;
#define OBJECTS "program 1\nobject @a 40 align 8\nobject @b 40 align 8\nobject @c 48 align 8\n"
#define FUNCTION(name, body)                                                                       \
    "function @" name "(%p: i64) -> i64 {\n  start:\n" body "    return i64 0\n}\n"
#define MAIN(body) "function @main() -> i32 {\n  start:\n" body "    return i32 0\n}\n"
#define SPIN                                                                                       \
    "function @spin(%p: i64) -> i64 {\n  start:\n    jump round\n  round:\n    lock @c\n"          \
    "    unlock @c\n    jump round\n}\n"
    static const struct {
        const char *name, *program;
        uint32_t steps[16]; /* threads, + 1 */
        uint64_t deadlock;
    } rows[] = {
        {"the holder of a lock stands at a marker",
         OBJECTS FUNCTION("other", "    lock @a\n    unlock @a\n")
             MAIN("    lock @a\n    %t = create @other, 0\n    unlock @a\n    join %t\n"),
         {1, 1, 1, 2},
         0},
        {"two locks, crossed, beside a thread that goes on for ever",
         OBJECTS SPIN FUNCTION("one", "    lock @a\n    lock @b\n    unlock @b\n    unlock @a\n")
             FUNCTION("two", "    lock @b\n    lock @a\n    unlock @a\n    unlock @b\n")
                 MAIN("    %t = create @one, 0\n    %u = create @two, 0\n"
                      "    %v = create @spin, 0\n    lock @c\n    unlock @c\n    join %t\n"),
         {1, 1, 1, 1, 2, 2, 3, 3, 4, 4},
         1 << 1 | 1 << 2},
        {"the same, and main joins one of them",
         OBJECTS SPIN FUNCTION("one", "    lock @a\n    lock @b\n    unlock @b\n    unlock @a\n")
             FUNCTION("two", "    lock @b\n    lock @a\n    unlock @a\n    unlock @b\n")
                 MAIN("    %t = create @one, 0\n    %u = create @two, 0\n"
                      "    %v = create @spin, 0\n    join %t\n"),
         {1, 1, 1, 1, 2, 2, 3, 3, 4, 4},
         1 | 1 << 1 | 1 << 2},
        {"a lock whose owner has ended",
         OBJECTS SPIN FUNCTION("one", "    lock @a\n") FUNCTION("two", "    lock @a\n")
             MAIN("    %t = create @one, 0\n    %u = create @two, 0\n    %v = create @spin, 0\n"
                  "    lock @c\n    unlock @c\n"),
         {1, 1, 1, 1, 2, 2, 3},
         1 << 2},
        {"a waiter whom another thread may wake",
         OBJECTS SPIN FUNCTION("one", "    lock @a\n    %w = wait @b, @a\n    unlock @a\n")
             MAIN("    %t = create @one, 0\n    %v = create @spin, 0\n    join %t\n"),
         {1, 1, 1, 2, 2, 2, 3},
         0},
        {"a waiter whom only its joiner could wake",
         OBJECTS FUNCTION("one", "    lock @a\n    %w = wait @b, @a\n    unlock @a\n")
             FUNCTION("two", "    lock @c\n    unlock @c\n")
                 MAIN("    %t = create @one, 0\n    %v = create @two, 0\n    join %t\n"),
         {1, 1, 1, 2, 2, 2, 3, 3},
         0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ft_program *program = read_program(rows[i].program);
        ft_interpreter_options options = {0};
        ft_interpreter *m = ft_interpreter_new(program, &options);
        uint64_t variants[FT_INTERPRETER_THREADS];
        for (size_t k = 0; k < 16 && rows[i].steps[k]; k++)
            if (ft_interpreter_choices(m, rows[i].steps[k] - 1, variants))
                (void)ft_interpreter_step(m, rows[i].steps[k] - 1, variants[0]);
        uint64_t found = ft_constrained_deadlock(m);
        if (found != rows[i].deadlock)
            fail_msg("%s: threads %llx, not %llx", rows[i].name, (unsigned long long)found,
                     (unsigned long long)rows[i].deadlock);
        ft_interpreter_free(m);
        ft_program_free(program);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_epochs_follow),
        cmocka_unit_test(test_epochs_wrong),
        cmocka_unit_test(test_epochs_deadlock),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
