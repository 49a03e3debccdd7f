/* The interpreter: each error and a twin without it, arithmetic against C's and against the terms'
 * evaluator, addresses, threads, races by clocks. Synchronisation as a whole is in
 * test_interpret_schedules.c. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "program/binary.h"
#include "program/interpret/interpreter.h"
#include "term/term.h"

static ft_program *read_text(const char *text)
{
    ft_error err = FT_ERROR_INIT;
    ft_program *program = NULL;
    if (ft_program_read(text, strlen(text), &program, &err) != FT_OK)
        fail_msg("%llu:%llu: %s\n%s", (unsigned long long)err.line, (unsigned long long)err.column,
                 err.message, text);
    return program;
}

/* Runs the lowest thread that can go on, by its first variant; last: the highest. */
static void run(ft_interpreter *m, bool last)
{
    uint64_t variants[FT_INTERPRETER_THREADS];
    while (ft_interpreter_state_of(m) == FT_INTERPRETER_GOING) {
        uint32_t n = ft_interpreter_thread_count(m), i = 0;
        while (i < n && !ft_interpreter_choices(m, last ? n - 1 - i : i, variants)) i++;
        assert_true(i < n);
        ft_interpreter_step(m, last ? n - 1 - i : i, variants[0]);
    }
}

/* ---- errors */

typedef struct example {
    ft_program_error error; /* NONE: it ends with the exit code */
    int32_t code;
    const char *body; /* of @main, which returns i32 */
} example;

static const char PREFIX[] =
    "program 1\n"
    "object @m 64\nobject @n 64\nobject @c 8 constant { 0: \"abcdefgh\" }\nobject @own 8 thread\n"
    "object @where 8 { 0: @f }\n"
    "function @f(%a: i64) -> i64 { s: return %a }\n"
    "function @g() { s: return }\n"
    "function @deep(%a: i64) -> i64 { s: %b = call i64 @deep(%a) return %b }\n"
    "function @local() -> i64 { s: %p = stack 8 8 return %p }\n"
    "function @locks(%a: i64) -> i64 { s: lock @m return i64 0 }\n"
    "function @ends(%a: i64) -> i64 { s: end %a }\n"
    "function @writes(%a: i64) -> i64 { s: store i32 7, @n return i64 0 }\n"
    "function @main() -> i32 {\n  start:\n";

static const example EXAMPLES[] = {
    {FT_ERROR_NONE, 7, "return i32 7"},
    {FT_ERROR_NONE, 3, "exit 3"},
    {FT_ERROR_NONE, 0, "end 0"},
    {FT_ERROR_ASSERTION, 0, "assert \"no\" 0 return i32 0"},
    {FT_ERROR_NONE, 0, "assert \"yes\" 1 return i32 0"},
    {FT_ERROR_ASSERTION, 0, "fail \"here\""},
    {FT_ERROR_UNREACHABLE, 0, "unreachable"},
    /* division and shifts */
    {FT_ERROR_DIVISION, 0, "%x = udiv i32 1, 0 return %x"},
    {FT_ERROR_DIVISION, 0, "%x = srem i8 -128, -1 return i32 0"},
    {FT_ERROR_NONE, -4, "%x = sdiv i8 -128, 32 %y = sext i32 %x return %y"},
    {FT_ERROR_SHIFT, 0, "%x = shl i8 1, 8 return i32 0"},
    {FT_ERROR_NONE, 128, "%x = shl i8 1, 7 %y = zext i32 %x return %y"},
    {FT_ERROR_CONVERSION, 0, "%x = ftos i8 i64 0x4060000000000000 return i32 0"}, /* 128.0 */
    {FT_ERROR_NONE, 127, "%x = ftos i8 i64 0x405fc00000000000 %y = zext i32 %x return %y"},
    /* memory */
    {FT_ERROR_NULL_ACCESS, 0, "%x = load i32 0 return %x"},
    {FT_ERROR_BOUNDS, 0, "%x = load i32 @m+61 return %x"},
    {FT_ERROR_NONE, 0, "%x = load i32 @m+60 return %x"},
    {FT_ERROR_BOUNDS, 0, "%x = load i8 @m-1 return i32 0"},
    {FT_ERROR_BOUNDS, 0, "%x = load i8 77777 return i32 0"},
    {FT_ERROR_BOUNDS, 0, "%p = add i64 @m, 128 %x = load i8 %p return i32 0"}, /* in @n, perhaps */
    {FT_ERROR_CONSTANT, 0, "store i8 1, @c return i32 0"},
    {FT_ERROR_NONE, 97, "%x = load i8 @c %y = zext i32 %x return %y"},
    {FT_ERROR_NONE, 5, "%p = alloc 4 store i32 5, %p %x = load i32 %p free %p return %x"},
    {FT_ERROR_NONE, 0, "free 0 return i32 0"},
    {FT_ERROR_FREED, 0, "%p = alloc 4 free %p %x = load i32 %p return %x"},
    {FT_ERROR_DOUBLE_FREE, 0, "%p = alloc 4 free %p free %p return i32 0"},
    {FT_ERROR_BAD_FREE, 0, "%p = alloc 4 %q = add i64 %p, 1 free %q return i32 0"},
    {FT_ERROR_BAD_FREE, 0, "free @m return i32 0"},
    {FT_ERROR_BAD_FREE, 0, "%p = stack 4 4 free %p return i32 0"},
    {FT_ERROR_FREED, 0, "%p = call i64 @local() %x = load i32 %p return %x"},
    {FT_ERROR_OVERLAP, 0, "copy @m, @m+1, 2 return i32 0"},
    {FT_ERROR_NONE, 0, "copy @m, @m+2, 2 copy @m, @m, 9 move @m, @m+1, 2 return i32 0"},
    {FT_ERROR_BOUNDS, 0, "fill @m, 1, 65 return i32 0"},
    {FT_ERROR_NONE, 257, "fill @m, 1, 2 %x = load i32 @m return %x"},
    {FT_ERROR_NONE, 60, "%x = size @m+4 %y = trunc i32 %x return %y"},
    {FT_ERROR_ALIGNMENT, 0, "%x = atomic_load relaxed i32 @m+2 return %x"},
    {FT_ERROR_LIMIT, 0, "%p = alloc 999999999999 return i32 0"},
    {FT_ERROR_LIMIT, 0, "%x = call i64 @deep(i64 1) return i32 0"},
    {FT_ERROR_LIVE_LOCK, 0, "jump x(i64 0) x(%i: i64): %j = add i64 %i, 1 jump x(%j)"},
    {FT_ERROR_LIMIT, 0,
     "jump x(i64 0) x(%i: i64): %j = add i64 %i, 1 %c = eq i64 %j, -1 branch %c, y, x(%j) "
     "y: return i32 0"},
    {FT_ERROR_LIVE_LOCK, 0, "jump x x: jump x"},
    {FT_ERROR_LIVE_LOCK, 0, "jump x x: %x = load i32 @n store i32 %x, @n jump x"},
    {FT_ERROR_LIMIT, 0, "jump x(i32 0) x(%i: i32): store i32 %i, @n %j = xor i32 %i, 1 jump x(%j)"},
    {FT_ERROR_LIVE_LOCK, 0,
     "%p = stack 4 4 jump x(i32 0) x(%i: i32): store i32 %i, %p %j = xor i32 %i, 1 jump x(%j)"},
    /* an address that was stored, copied or computed knows its object; a number finds one */
    {FT_ERROR_FREED, 0,
     "%p = alloc 8 store i64 %p, @m copy @n, @m, 8 free %p %q = load i64 @n %x = load i8 %q "
     "return i32 0"},
    {FT_ERROR_NONE, 9, "store i32 9, @n %h = mul i64 @n, 1 %x = load i32 %h return %x"},
    /* calls */
    {FT_ERROR_BAD_CALL, 0, "call_at 5() return i32 0"},
    {FT_ERROR_BAD_CALL, 0, "call_at @f(i32 1) return i32 0"},
    {FT_ERROR_BAD_CALL, 0, "call_at @m() return i32 0"},
    {FT_ERROR_NONE, 8,
     "%p = load i64 @where %x = call_at i64 %p(i64 8) %y = trunc i32 %x return %y"},
    /* mutexes */
    {FT_ERROR_DEADLOCK, 0, "lock @m lock @m return i32 0"},
    {FT_ERROR_NONE, 0, "mutex_init recursive @m lock @m %x = lock @m return %x"},
    {FT_ERROR_NONE, 35, "mutex_init checking @m lock @m %x = lock @m return %x"},
    {FT_ERROR_MISUSE, 0, "unlock @m return i32 0"},
    {FT_ERROR_NONE, 1, "mutex_init checking @m %x = unlock @m return %x"},
    {FT_ERROR_MISUSE, 0, "lock @m mutex_destroy @m return i32 0"},
    {FT_ERROR_MISUSE, 0, "lock @m unlock @m mutex_destroy @m lock @m return i32 0"},
    {FT_ERROR_NONE, 0, "mutex_destroy @m mutex_init normal @m %x = lock @m return %x"},
    {FT_ERROR_NONE, 16, "lock @m %x = try_lock @m return %x"},
    {FT_ERROR_NONE, 110, "lock @m %x = timed_lock @m return %x"},
    {FT_ERROR_MISUSE, 0, "lock @m %x = read_lock @m return %x"},
    {FT_ERROR_NULL_ACCESS, 0, "lock 8 return i32 0"},
    {FT_ERROR_FREED, 0, "%p = alloc 40 lock %p free %p unlock %p return i32 0"},
    /* read-write locks */
    {FT_ERROR_NONE, 0, "read_lock @m %x = read_lock @m return %x"},
    {FT_ERROR_NONE, 16, "read_lock @m %x = try_write_lock @m return %x"},
    {FT_ERROR_NONE, 35, "write_lock @m %x = write_lock @m return %x"},
    {FT_ERROR_DEADLOCK, 0, "read_lock @m %x = write_lock @m return %x"},
    {FT_ERROR_MISUSE, 0, "rw_unlock @m return i32 0"},
    /* condition variables, semaphores, barriers */
    {FT_ERROR_MISUSE, 0, "wait @n, @m return i32 0"},
    {FT_ERROR_DEADLOCK, 0, "lock @m wait @n, @m return i32 0"},
    {FT_ERROR_NONE, 110, "lock @m %x = timed_wait @n, @m return %x"},
    {FT_ERROR_NONE, 0, "signal @n broadcast @n return i32 0"},
    {FT_ERROR_MISUSE, 0, "sem_post @n return i32 0"},
    {FT_ERROR_NONE, 2, "sem_init @n, 1 sem_post @n %x = sem_count @n return %x"},
    {FT_ERROR_NONE, 11, "sem_init @n, 0 %x = sem_try @n return %x"},
    {FT_ERROR_NONE, 110, "sem_init @n, 0 %x = sem_timed @n return %x"},
    {FT_ERROR_DEADLOCK, 0, "sem_init @n, 0 %x = sem_wait @n return %x"},
    {FT_ERROR_DEADLOCK, 0, "barrier_init @n, 2 %x = barrier_wait @n return %x"},
    {FT_ERROR_NONE, -1, "barrier_init @n, 1 %x = barrier_wait @n return %x"},
    {FT_ERROR_MISUSE, 0, "barrier_init @n, 0 return i32 0"},
    {FT_ERROR_NONE, 0, "once @n, @g once @n, @g return i32 0"},
    {FT_ERROR_BAD_CALL, 0, "once @n, @f return i32 0"},
    /* threads */
    {FT_ERROR_NONE, 6, "%t = create @f, 6 %r = join %t %y = trunc i32 %r return %y"},
    {FT_ERROR_NONE, 6, "%t = create @ends, 6 %r = join %t %y = trunc i32 %r return %y"},
    {FT_ERROR_MISUSE, 0, "%t = create @f, 6 %r = join %t %s = join %t return i32 0"},
    {FT_ERROR_MISUSE, 0, "%t = create @f, 6 detach %t %s = join %t return i32 0"},
    {FT_ERROR_MISUSE, 0, "%t = self %s = join %t return i32 0"},
    {FT_ERROR_MISUSE, 0, "%s = join 9 return i32 0"},
    {FT_ERROR_BAD_CALL, 0, "%t = create @g, 6 return i32 0"},
    {FT_ERROR_DEADLOCK, 0, "lock @m %t = create @locks, 0 %r = join %t return i32 0"},
    {FT_ERROR_NONE, 0, "lock @m %t = create @locks, 0 return i32 0"},
    {FT_ERROR_MISUSE, 0, "atomic_begin atomic_begin return i32 0"},
    {FT_ERROR_MISUSE, 0, "atomic_end return i32 0"},
    {FT_ERROR_MISUSE, 0, "atomic_begin end 0"},
    {FT_ERROR_NONE, 0, "atomic_begin atomic_end return i32 0"},
    {FT_ERROR_RACE, 0, "%t = create @writes, 0 store i32 1, @n %r = join %t return i32 0"},
    {FT_ERROR_NONE, 7, "%t = create @writes, 0 %r = join %t %x = load i32 @n return %x"},
};

static void check_example(const example *e)
{
    char text[4096];
    snprintf(text, sizeof text, "%s    %s\n}\n", PREFIX, e->body);
    ft_program *program = read_text(text);
    ft_interpreter_options options = {.races = true, .max_steps = 200000};
    ft_interpreter *m = ft_interpreter_new(program, &options);
    run(m, false);
    const ft_interpreter_error *error = ft_interpreter_error_of(m);
    ft_interpreter_state want = e->error == FT_ERROR_NONE    ? FT_INTERPRETER_EXITED
                                : e->error == FT_ERROR_LIMIT ? FT_INTERPRETER_STOPPED
                                                             : FT_INTERPRETER_FAILED;
    if (ft_interpreter_state_of(m) != want ||
        (want != FT_INTERPRETER_EXITED && error->kind != e->error) ||
        (want == FT_INTERPRETER_EXITED && ft_interpreter_exit_code(m) != e->code))
        fail_msg("%s\nis %s, code %d, %s: %s", e->body,
                 ft_interpreter_state_name(ft_interpreter_state_of(m)), ft_interpreter_exit_code(m),
                 ft_program_error_name(error->kind), error->message);
    ft_interpreter_free(m);
    ft_program_free(program);
}

static void test_examples(void **state)
{
    (void)state;
    bool seen[FT_PROGRAM_ERRORS] = {false};
    for (size_t i = 0; i < sizeof EXAMPLES / sizeof EXAMPLES[0]; i++) {
        check_example(&EXAMPLES[i]);
        seen[EXAMPLES[i].error] = true;
    }
    for (int i = 0; i < FT_PROGRAM_ERRORS; i++)
        if (!seen[i]) fail_msg("no example of %s", ft_program_error_name((ft_program_error)i));
}

/* ---- arithmetic */

typedef struct inputs {
    uint64_t values[2];
    int next;
} inputs;

static bool give_input(void *context, const char *name, uint8_t width, uint64_t *value)
{
    (void)name, (void)width;
    inputs *in = context;
    *value = in->values[in->next++];
    return true;
}

/* false: an error. */
static bool compute(const ft_program *program, uint64_t a, uint64_t b, uint64_t *result)
{
    inputs in = {{a, b}, 0};
    ft_interpreter_options options = {.input = give_input, .context = &in};
    ft_interpreter *m = ft_interpreter_new(program, &options);
    uint32_t symbol = ft_intern_find(&program->names, "r", 1);
    run(m, false);
    bool good = ft_interpreter_state_of(m) == FT_INTERPRETER_EXITED;
    *result = 0;
    assert_true(ft_interpreter_read(m, ft_interpreter_address(m, symbol), 8, result));
    ft_interpreter_free(m);
    return good;
}

static ft_program *binary_program(const char *name, uint8_t width, uint8_t result)
{
    char text[500];
    snprintf(
        text, sizeof text,
        "program 1 object @r 8 function @main() { s: %%a = input \"a\" i%u %%b = input \"b\" i%u "
        "%%x = %s i%u %%a, %%b store i%u %%x, @r return }",
        width, width, name, width, result);
    return read_text(text);
}

static uint64_t random_bits(uint64_t *seed, uint8_t width)
{
    uint64_t bits = 0;
    for (int i = 0; i < 3; i++) {
        *seed = *seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
        bits = bits << 31 ^ *seed >> 33;
    }
    uint64_t small = bits >> 40 & 3, mask = ft_width_mask(width);
    if (small == 1) bits = bits & 3;                                      /* near 0 */
    if (small == 2) bits = 0 - (bits & 3);                                /* near -1 */
    if (small == 3) bits = (UINT64_C(1) << (width - 1)) + (bits & 3) - 1; /* near the least */
    return bits & mask;
}

typedef struct pair {
    const char *name;
    ft_op op;
    bool compares, swapped;
} pair;

static const pair PAIRS[] = {
    {"add", FT_OP_BVADD, false, false},   {"sub", FT_OP_BVSUB, false, false},
    {"mul", FT_OP_BVMUL, false, false},   {"udiv", FT_OP_BVUDIV, false, false},
    {"urem", FT_OP_BVUREM, false, false}, {"sdiv", FT_OP_BVSDIV, false, false},
    {"srem", FT_OP_BVSREM, false, false}, {"and", FT_OP_BVAND, false, false},
    {"or", FT_OP_BVOR, false, false},     {"xor", FT_OP_BVXOR, false, false},
    {"shl", FT_OP_BVSHL, false, false},   {"lshr", FT_OP_BVLSHR, false, false},
    {"ashr", FT_OP_BVASHR, false, false}, {"eq", FT_OP_EQ, true, false},
    {"ult", FT_OP_BVULT, true, false},    {"ule", FT_OP_BVULE, true, false},
    {"slt", FT_OP_BVSLT, true, false},    {"sle", FT_OP_BVSLE, true, false},
};

static bool knows_nothing(void *context, ft_symbol symbol, ft_value *value)
{
    (void)context, (void)symbol, (void)value;
    return false;
}

static ft_eval_status by_terms(ft_op op, uint8_t width, uint64_t a, uint64_t b, uint64_t *result)
{
    ft_term_pool *pool = ft_term_pool_new();
    ft_value value = {{FT_SORT_BITVEC, width}, a};
    ft_term children[2] = {ft_term_literal(pool, value), 0}, term;
    value.bits = b;
    children[1] = ft_term_literal(pool, value);
    assert_int_equal(ft_term_apply(pool, op, children, 2, NULL, &term, NULL), FT_OK);
    ft_eval_status status = ft_term_eval(pool, term, knows_nothing, NULL, &value);
    *result = value.bits;
    ft_term_pool_free(pool);
    return status;
}

/* What is an error here and has a value in SMT-LIB, or the other way round. */
static bool is_error(const pair *p, uint8_t width, uint64_t a, uint64_t b)
{
    bool shifts = strcmp(p->name + strlen(p->name) - 2, "hr") == 0 || strcmp(p->name, "shl") == 0;
    bool divides = strstr(p->name, "div") || strstr(p->name, "rem");
    bool overflows =
        p->name[0] == 's' && a == UINT64_C(1) << (width - 1) && b == ft_width_mask(width);
    return (shifts && b >= width) || (divides && (!b || overflows));
}

static void check_pair(const pair *p, uint8_t width, uint64_t *seed)
{
    ft_program *program = binary_program(p->name, width, p->compares ? 1 : width);
    for (int i = 0; i < 40; i++) {
        uint64_t a = random_bits(seed, width), b = random_bits(seed, width), got, want = 0;
        bool good = compute(program, a, b, &got);
        if (is_error(p, width, a, b)) {
            assert_false(good);
            continue;
        }
        assert_int_equal(by_terms(p->op, width, a, b, &want), FT_EVAL_OK);
        if (!good || got != want)
            fail_msg("%s i%u %llx, %llx: %llx, terms say %llx", p->name, width,
                     (unsigned long long)a, (unsigned long long)b, (unsigned long long)got,
                     (unsigned long long)want);
    }
    ft_program_free(program);
}

static void test_integers(void **state)
{
    (void)state;
    static const uint8_t WIDTHS[] = {1, 2, 7, 8, 16, 31, 32, 33, 63, 64};
    uint64_t seed = 3;
    for (size_t i = 0; i < sizeof PAIRS / sizeof PAIRS[0]; i++)
        for (size_t w = 0; w < sizeof WIDTHS; w++) check_pair(&PAIRS[i], WIDTHS[w], &seed);
}

/* Floats against the C compiler's own, both widths. */
static uint64_t float_in_c(int op, uint8_t width, uint64_t a, uint64_t b)
{
    union {
        uint64_t bits;
        double d;
        float f;
    } x = {a}, y = {b}, r = {0};
    volatile float f = x.f, g = y.f;
    volatile double d = x.d, e = y.d;
    if (width == 32 && op < 4) r.f = op == 0 ? f + g : op == 1 ? f - g : op == 2 ? f * g : f / g;
    if (width == 64 && op < 4) r.d = op == 0 ? d + e : op == 1 ? d - e : op == 2 ? d * e : d / e;
    if (op == 4) r.bits = width == 32 ? f < g : d < e;
    if (op == 5) r.bits = width == 32 ? f == g : d == e;
    return r.bits;
}

static bool is_nan_of(uint8_t width, uint64_t bits)
{
    float f;
    double d;
    uint32_t low = (uint32_t)bits;
    memcpy(&f, &low, sizeof f);
    memcpy(&d, &bits, sizeof d);
    return width == 32 ? isnan(f) : isnan(d);
}

static uint64_t random_float(uint64_t *seed, uint8_t width)
{
    float f = (float)(int64_t)random_bits(seed, 64) / (float)(1 + random_bits(seed, 20));
    double d = (double)(int64_t)random_bits(seed, 64) / (double)(1 + random_bits(seed, 20));
    uint64_t bits = 0;
    if (random_bits(seed, 64) % 4 == 0) return random_bits(seed, width);
    memcpy(&bits, width == 32 ? (void *)&f : (void *)&d, width / 8);
    return bits;
}

static void test_floats(void **state)
{
    (void)state;
    static const char *const NAMES[] = {"fadd", "fsub", "fmul", "fdiv", "flt", "feq"};
    uint64_t seed = 11;
    for (int op = 0; op < 6; op++)
        for (uint8_t width = 32; width <= 64; width = (uint8_t)(width + 32)) {
            ft_program *program = binary_program(NAMES[op], width, op < 4 ? width : 1);
            for (int i = 0; i < 300; i++) {
                uint64_t a = random_float(&seed, width), b = random_float(&seed, width), got;
                uint64_t want = float_in_c(op, width, a, b);
                assert_true(compute(program, a, b, &got));
                bool nans = op < 4 && is_nan_of(width, want) && is_nan_of(width, got);
                if (got != want && !nans)
                    fail_msg("%s i%u %llx, %llx: %llx, not %llx", NAMES[op], width,
                             (unsigned long long)a, (unsigned long long)b, (unsigned long long)got,
                             (unsigned long long)want);
            }
            ft_program_free(program);
        }
}

/* ---- races: relaxed and ordered atomics, fences, locks, in both orders of the threads */

typedef struct handover {
    bool races;
    const char *writer, *reader; /* around: store to @data; load from @data */
} handover;

static const handover HANDOVERS[] = {
    {false, "atomic_store release i32 1, @flag", "%f = atomic_load acquire i32 @flag"},
    {true, "atomic_store relaxed i32 1, @flag", "%f = atomic_load acquire i32 @flag"},
    {true, "atomic_store release i32 1, @flag", "%f = atomic_load relaxed i32 @flag"},
    {false, "atomic_store seq_cst i32 1, @flag",
     "%f = atomic_load relaxed i32 @flag fence acquire"},
    {false, "fence release atomic_store relaxed i32 1, @flag",
     "%f = atomic_load acquire i32 @flag"},
    {true, "atomic_store relaxed i32 1, @flag fence release", "%f = atomic_load acquire i32 @flag"},
    {false, "atomic_update or release i32 @flag, 1", "%f = atomic_update add acquire i32 @flag, 0"},
    {false, "atomic_store release i32 1, @flag atomic_update add relaxed i32 @flag, 2",
     "%f = atomic_load acquire i32 @flag"}, /* the release sequence goes on */
    {true, "atomic_store release i32 1, @flag atomic_store relaxed i32 3, @flag",
     "%f = atomic_load acquire i32 @flag"}, /* and ends with a store */
    {false, "lock @m store i32 1, @flag unlock @m", "lock @m %f = load i32 @flag unlock @m"},
    {false, "sem_post @s store i32 1, @other", "sem_wait @s %f = sem_count @t"},
    {false, "atomic_begin store i32 1, @flag atomic_end",
     "atomic_begin %f = load i32 @flag atomic_end"},
};

/* The reader looks at the data only if the flag was set, so that an order is there or not. */
static ft_program *handover_program(const handover *h)
{
    char text[2000];
    snprintf(
        text, sizeof text,
        "program 1 object @data 8 object @flag 8 align 8 object @m 64 object @s 64 object @t 64 "
        "object @other 8\n"
        "function @writes(%%a: i64) -> i64 { s: store i32 5, @data %s return i64 0 }\n"
        "function @main() -> i32 { s: sem_init @s, 0 sem_init @t, 1 %%w = create @writes, 0\n"
        "    yield %s %%g = ne i32 %%f, 0 branch %%g, y, n\n"
        "  y: %%x = load i32 @data return %%x\n  n: return i32 1 }\n",
        h->writer, h->reader);
    return read_text(text);
}

static void test_handovers(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof HANDOVERS / sizeof HANDOVERS[0]; i++) {
        ft_program *program = handover_program(&HANDOVERS[i]);
        ft_interpreter_options options = {.races = true};
        ft_interpreter *m = ft_interpreter_new(program, &options);
        run(m, true); /* the writer first, as soon as it is there */
        bool raced = ft_interpreter_state_of(m) == FT_INTERPRETER_FAILED;
        if (raced) assert_int_equal(ft_interpreter_error_of(m)->kind, FT_ERROR_RACE);
        if (raced != HANDOVERS[i].races || (!raced && ft_interpreter_exit_code(m) != 5))
            fail_msg("handover %zu: %s, code %d", i, ft_interpreter_error_of(m)->message,
                     ft_interpreter_exit_code(m));
        ft_interpreter_free(m);
        ft_program_free(program);
    }
}

/* ---- objects and copies */

/* A thread's own objects and what it allocates have addresses that others' doings do not change. */
static void test_addresses(void **state)
{
    (void)state;
    ft_program *program =
        read_text("program 1 object @own 8 thread object @out 32\n"
                  "function @f(%a: i64) -> i64 { s: yield %p = alloc 24 %o = mul i64 %a, 16 "
                  "%q = add i64 @out, %o store i64 %p, %q %r = add i64 %q, 8 store i64 @own, %r "
                  "return i64 0 }\n"
                  "function @main() { s: %t = create @f, 0 %u = create @f, 1 %a = join %t "
                  "%b = join %u return }");
    uint64_t out[2][4];
    for (int last = 0; last < 2; last++) {
        ft_interpreter *m = ft_interpreter_new(program, NULL);
        uint32_t symbol = ft_intern_find(&program->names, "out", 3);
        run(m, last);
        assert_int_equal(ft_interpreter_state_of(m), FT_INTERPRETER_EXITED);
        assert_true(ft_interpreter_read(m, ft_interpreter_address(m, symbol), 32, out[last]));
        ft_interpreter_free(m);
    }
    assert_memory_equal(out[0], out[1], sizeof out[0]);
    assert_true(out[0][0] >> 40 == 2 && out[0][2] >> 40 == 3); /* (n + 1) * 2^40 */
    ft_program_free(program);
}

static void test_copies_are_apart(void **state)
{
    (void)state;
    ft_program *program =
        read_text("program 1 object @n 8 function @main() -> i32 { s: %p = alloc 8 yield "
                  "%x = input \"x\" i32 store i32 %x, %p yield %y = load i32 %p return %y }");
    inputs in = {{3, 4}, 0};
    ft_interpreter_options options = {.input = give_input, .context = &in, .races = true};
    ft_interpreter *m = ft_interpreter_new(program, &options), *copy;
    ft_interpreter_step(m, 0, 0);
    copy = ft_interpreter_copy(m);
    run(m, false);
    run(copy, false);
    assert_int_equal(ft_interpreter_exit_code(m), 3);
    assert_int_equal(ft_interpreter_exit_code(copy), 4);
    ft_interpreter_free(m);
    ft_interpreter_free(copy);
    ft_program_free(program);
}

/* What another thread does wrong is wrong before the assumption too. */
static void test_assumptions_of_others(void **state)
{
    (void)state;
    ft_program *program = read_text(
        "program 1 object @x 1 function @stops(%a: i64) -> i64 { s: atomic_store seq_cst i8 1, @x "
        "assume 0 return i64 0 } function @main() -> i32 { s: %t = create @stops, 0 %v = "
        "atomic_load seq_cst i8 @x %z = eq i8 %v, 0 assert \"unset\" %z return i32 0 }");
    ft_interpreter *m = ft_interpreter_new(program, NULL);
    static const uint32_t STEPS[] = {0, 0, 1, 1, 0, 0};
    for (size_t i = 0; i < sizeof STEPS / sizeof *STEPS; i++) ft_interpreter_step(m, STEPS[i], 0);
    assert_int_equal(ft_interpreter_state_of(m), FT_INTERPRETER_FAILED);
    assert_int_equal(ft_interpreter_error_of(m)->kind, FT_ERROR_ASSERTION);
    ft_interpreter_free(m);
    ft_program_free(program);
}

static void test_assumptions_discard(void **state)
{
    (void)state;
    ft_program *program = read_text("program 1 function @main() { s: assume 0 fail \"no\" }");
    ft_interpreter *m = ft_interpreter_new(program, NULL);
    run(m, false);
    assert_int_equal(ft_interpreter_state_of(m), FT_INTERPRETER_DISCARDED);
    ft_interpreter_free(m);
    ft_program_free(program);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_examples),         cmocka_unit_test(test_assumptions_of_others),
        cmocka_unit_test(test_integers),         cmocka_unit_test(test_floats),
        cmocka_unit_test(test_handovers),        cmocka_unit_test(test_addresses),
        cmocka_unit_test(test_copies_are_apart), cmocka_unit_test(test_assumptions_discard),
    };
    return cmocka_run_group_tests_name("interpret", tests, NULL, NULL);
}
