/* Proofs for any number of threads (worker/modular) against brute force: where one says that no
 * assertion fails, none does in any state of the program, with its few threads. Programs by hand
 * say what is proved, and what must not be. FT_SEEDS=N and FT_SEED_START=N make longer runs. */
#include "symbolic_ends.h"

#include "modular/modular.h"
#include "oracle/inputs_text.h"

enum { DEFAULT_SEEDS = 60, MOST_STATES = 8000 };

/* ---- random programs: bytes in atomics, a mutex, sections, loops ---- */

typedef struct maker {
    inputs_text to;
    ft_strbuf text;
    uint32_t regs[64], n_regs; /* i8, in scope */
    bool in_section;
} maker;

/* Among the objects whose memory the oracle compares. The third is used in sections alone. */
static const char *const CELLS[] = {"a0", "a1", "g0"};

/* A register, or a small number. */
static void operand(maker *m, char out[16])
{
    if (m->n_regs && draw(m, 2))
        snprintf(out, 16, "%%r%u", m->regs[draw(m, m->n_regs)]);
    else
        snprintf(out, 16, "%u", draw(m, 4) ? draw(m, 3) : 255);
}

static uint32_t made(maker *m, uint32_t r)
{
    if (m->n_regs < 64) m->regs[m->n_regs++] = r;
    return r;
}

static uint32_t condition(maker *m)
{
    static const char *const COMPARE[] = {"eq", "ne", "ult", "ule", "slt", "sle"};
    char a[16], b[16];
    uint32_t c = fresh(m);
    operand(m, a);
    operand(m, b);
    if (m->n_regs) snprintf(a, sizeof a, "%%r%u", m->regs[draw(m, m->n_regs)]);
    put(m, "%%c%u = %s i8 %s, %s", c, COMPARE[draw(m, 6)], a, b);
    return c;
}

static void body(maker *m, uint32_t depth);

static void choice(maker *m, uint32_t depth)
{
    uint32_t c = condition(m), yes = fresh(m), behind = fresh(m), before = m->n_regs;
    put(m, "branch %%c%u, l%u, l%u", c, yes, behind);
    label(m, yes);
    body(m, depth - 1);
    m->n_regs = before;
    put(m, "jump l%u", behind);
    label(m, behind);
}

/* Goes round until a cell holds a number, or is left at once by a condition. */
static void loop(maker *m, uint32_t depth)
{
    uint32_t head = fresh(m), again = fresh(m), behind = fresh(m), r = fresh(m), c = fresh(m);
    uint32_t before = m->n_regs;
    put(m, "jump l%u", head);
    label(m, head);
    put(m, "%%r%u = atomic_load seq_cst i8 @%s", r, CELLS[draw(m, 2)]);
    put(m, "%%c%u = %s i8 %%r%u, %u", c, draw(m, 2) ? "eq" : "ult", r, draw(m, 3));
    put(m, "branch %%c%u, l%u, l%u", c, again, behind);
    label(m, again);
    made(m, r);
    body(m, depth - 1);
    m->n_regs = before;
    put(m, "jump l%u", head);
    label(m, behind);
    made(m, r);
}

static void locked(maker *m, uint32_t depth)
{
    uint32_t before = m->n_regs;
    put(m, "lock @m");
    body(m, depth - 1);
    m->n_regs = before;
    put(m, "unlock @m");
}

static void section(maker *m)
{
    char a[16];
    uint32_t old = fresh(m), new = fresh(m);
    operand(m, a);
    put(m, "atomic_begin");
    put(m, "%%r%u = load i8 @g0", old);
    if (draw(m, 3) == 0) {
        uint32_t c = fresh(m);
        put(m, "%%c%u = eq i8 %%r%u, %u", c, old, draw(m, 2));
        put(m, "assume %%c%u", c);
    }
    put(m, "%%r%u = add i8 %%r%u, %s", new, old, draw(m, 2) ? "1" : a);
    put(m, "store i8 %%r%u, @g0", draw(m, 4) ? new : old);
    put(m, "atomic_end");
    made(m, old);
    made(m, new);
}

static void access_cell(maker *m)
{
    static const char *const UPDATE[] = {"add", "exchange", "sub", "or", "umax", "and"};
    const char *cell = CELLS[draw(m, 2)];
    char a[16], b[16];
    uint32_t r = fresh(m), kind = draw(m, 5);
    operand(m, a);
    operand(m, b);
    if (kind < 2)
        put(m, "atomic_store seq_cst i8 %s, @%s", a, cell);
    else if (kind == 2)
        put(m, "%%r%u = atomic_load seq_cst i8 @%s", made(m, r), cell);
    else if (kind == 3)
        put(m, "%%r%u = atomic_update %s seq_cst i8 @%s, %s", made(m, r), UPDATE[draw(m, 6)], cell,
            a);
    else
        put(m, "%%r%u = atomic_swap seq_cst i8 @%s, %s, %s", made(m, r), cell, a, b);
}

static void compute(maker *m)
{
    static const char *const OPS[] = {"add", "sub", "and", "udiv", "mul"};
    char a[16], b[16];
    uint32_t r = fresh(m);
    operand(m, a);
    operand(m, b);
    put(m, "%%r%u = %s i8 %s, %s", r, OPS[draw(m, 5)], a, b);
    made(m, r);
}

static void statement(maker *m, uint32_t depth)
{
    switch (draw(m, depth ? 14 : 11)) {
    case 0:
    case 1:
        put(m, "assert \"a\" %%c%u", condition(m));
        break;
    case 2:
        section(m);
        break;
    case 3:
        compute(m);
        break;
    case 4:
        if (draw(m, 3) == 0) put(m, "assume %%c%u", condition(m));
        break;
    case 11:
        choice(m, depth);
        break;
    case 12:
        loop(m, depth);
        break;
    case 13:
        locked(m, depth);
        break;
    default:
        access_cell(m);
    }
}

static void body(maker *m, uint32_t depth)
{
    for (uint32_t n = 1 + draw(m, 3); n; n--) statement(m, depth);
}

static void thread(maker *m, uint32_t number)
{
    ft_strbuf_printf(&m->to.p->text, "function @t%u(%%a: i64) -> i64 {\n  l0:\n", number);
    m->n_regs = 0;
    if (draw(m, 3) == 0) {
        put(m, "%%r%u = trunc i8 %%a", m->to.next + 1);
        made(m, fresh(m));
    }
    body(m, 2);
    put(m, "return i64 0");
    ft_strbuf_puts(&m->to.p->text, "}\n");
}

/* Two or three threads of one function, made by a loop. */
static void make_many(maker *m, uint32_t function)
{
    uint32_t head = fresh(m), next = fresh(m), behind = fresh(m), i = fresh(m), c = fresh(m);
    put(m, "jump l%u(i64 0)", head);
    ft_strbuf_printf(&m->to.p->text, "  l%u(%%i%u: i64):\n", head, i);
    put(m, "%%c%u = ult i64 %%i%u, %u", c, i, 2);
    put(m, "branch %%c%u, l%u, l%u", c, next, behind);
    label(m, next);
    put(m, "%%t%u = create @t%u, %%i%u", next, function, i);
    put(m, "%%n%u = add i64 %%i%u, 1", next, i);
    put(m, "jump l%u(%%n%u)", head, next);
    label(m, behind);
}

static void make_program(uint64_t seed, inputs_program *p)
{
    *p = (inputs_program){.n_threads = 3};
    maker m = {.to = {.random = seed * 2654435761u + 17, .p = p}};
    bool many = draw(&m, 2), joins = draw(&m, 2);
    ft_strbuf_printf(&p->text,
                     "program 1\nobject @a0 1 { 0: \"\\%02x\" }\nobject @a1 1\n"
                     "object @in 8\nobject @g0 8\nobject @g1 8\nobject @s 8\nobject @m 40 align 8\n"
                     "object @own0 8\nobject @own1 8\nobject @own2 8\n",
                     draw(&m, 2));
    thread(&m, 1);
    thread(&m, 2);
    ft_strbuf_puts(&p->text, "function @main() -> i32 {\n  l0:\n");
    m.n_regs = 0;
    if (draw(&m, 2)) access_cell(&m);
    if (many) {
        make_many(&m, 1);
    } else {
        put(&m, "%%first = create @t1, 1");
        put(&m, "%%second = create @t2, %u", draw(&m, 2));
        if (joins) put(&m, "%%joined = join %%first");
        if (joins && draw(&m, 2)) put(&m, "%%both = join %%second");
    }
    m.n_regs = 0;
    body(&m, 1);
    put(&m, "return i32 0");
    ft_strbuf_puts(&p->text, "}\n");
}

/* ---- comparison ---- */

typedef struct totals {
    uint32_t programs, failing, proved, refused, open, proved_many;
} totals;

static bool fails(const inputs_words *words)
{
    for (uint32_t i = 0; i < words->all.len; i++)
        if (strncmp(words->all.names[i], "assertion", 9) == 0) return true;
    return false;
}

static void compare(uint64_t seed, inputs_program *p, totals *t)
{
    inputs_words words;
    ft_strbuf why = {0};
    ft_program *program = program_of(seed, p);
    ft_modular_options options = {.seconds = 2};
    if (ft_inputs_states(p, program, MOST_STATES, &words)) {
        ft_modular_answer answer = ft_modular_prove(program, &options, &why);
        bool failing = fails(&words);
        t->programs++;
        t->failing += failing;
        t->proved += answer == FT_MODULAR_PROVED;
        t->refused += answer == FT_MODULAR_REFUSED;
        t->open += answer == FT_MODULAR_OPEN;
        if (failing && answer == FT_MODULAR_PROVED)
            complain(seed, p, "proved, and an assertion fails");
    }
    ft_strbuf_release(&why);
    ft_inputs_release_words(&words);
    ft_program_free(program);
}

static void report(const char *what, const totals *t)
{
    print_message("%s: %u programs, %u fail, %u proved, %u refused, %u open\n", what, t->programs,
                  t->failing, t->proved, t->refused, t->open);
}

static void test_random_programs(void **state)
{
    (void)state;
    totals t = {0};
    uint64_t n = number("FT_SEEDS", DEFAULT_SEEDS), start = number("FT_SEED_START", 1);
    for (uint64_t seed = start; seed < start + n; seed++) {
        inputs_program p;
        make_program(seed, &p);
        compare(seed, &p, &t);
        ft_inputs_release(&p);
    }
    report("own", &t);
    assert_true(n < DEFAULT_SEEDS || (t.proved > n / 20 && t.failing > n / 10));
}

/* All instructions, of which most are refused. */
static void test_programs_of_others(void **state)
{
    (void)state;
    totals t = {0};
    uint64_t n = number("FT_SEEDS", DEFAULT_SEEDS) / 4 + 1, start = number("FT_SEED_START", 1);
    for (uint64_t seed = start; seed < start + n; seed++) {
        inputs_program p;
        ft_inputs_random_polls(seed, &p);
        compare(seed, &p, &t);
        ft_inputs_release(&p);
        ft_inputs_random_cycles(seed, seed % 2, false, &p);
        compare(seed, &p, &t);
        ft_inputs_release(&p);
    }
    report("others", &t);
}

/* ---- by hand ---- */

static const struct {
    bool proved;
    const char *what, *text;
} CASES[] = {
    {false, "a third thread writes in between",
     "object @x 4 align 4\n"
     "function @t(%a: i64) -> i64 {\n b:\n atomic_store seq_cst i32 1, @x\n"
     " %v = atomic_load seq_cst i32 @x\n %c = eq i32 %v, 1\n assert \"own\" %c\n"
     " return i64 0\n}\n"
     "function @u(%a: i64) -> i64 {\n b:\n atomic_store seq_cst i32 2, @x\n return i64 0\n}\n"
     "function @main() -> i32 {\n b:\n %t = create @t, 0\n %u = create @u, 0\n"
     " return i32 0\n}\n"},
    {false, "a third thread of the same function writes in between",
     "object @x 4 align 4\nobject @n 4 align 4\n"
     "function @t(%a: i64) -> i64 {\n b:\n %n = atomic_update add seq_cst i32 @n, 1\n"
     " atomic_store seq_cst i32 %n, @x\n %v = atomic_load seq_cst i32 @x\n"
     " %c = eq i32 %v, %n\n assert \"own\" %c\n return i64 0\n}\n"
     "function @main() -> i32 {\n b:\n jump l\n l:\n %t = create @t, 0\n jump l\n}\n"},
    {true, "a thread that another thread makes comes behind what its maker wrote",
     "object @x 4 align 4\n"
     "function @u(%a: i64) -> i64 {\n b:\n %v = atomic_load seq_cst i32 @x\n"
     " %c = ne i32 %v, 0\n assert \"written\" %c\n return i64 0\n}\n"
     "function @t(%a: i64) -> i64 {\n b:\n atomic_store seq_cst i32 1, @x\n"
     " %u = create @u, 0\n return i64 0\n}\n"
     "function @main() -> i32 {\n b:\n %t = create @t, 0\n return i32 0\n}\n"},
    {false, "it runs beside a thread that its maker does not wait for",
     "object @x 4 align 4\n"
     "function @u(%a: i64) -> i64 {\n b:\n %v = atomic_load seq_cst i32 @x\n"
     " %c = ne i32 %v, 0\n assert \"written\" %c\n return i64 0\n}\n"
     "function @w(%a: i64) -> i64 {\n b:\n atomic_store seq_cst i32 0, @x\n return i64 0\n}\n"
     "function @t(%a: i64) -> i64 {\n b:\n atomic_store seq_cst i32 1, @x\n"
     " %u = create @u, 0\n return i64 0\n}\n"
     "function @main() -> i32 {\n b:\n %w = create @w, 0\n %t = create @t, 0\n"
     " return i32 0\n}\n"},
    {false, "the bytes of a constant differ",
     "object @s 2 align 1 constant { 0: \"a\" }\n"
     "function @main() -> i32 {\n b:\n jump l(i64 0)\n l(%i: i64):\n %p = add i64 @s, %i\n"
     " %v = load i8 %p\n %end = eq i8 %v, 0\n branch %end, out, on\n on:\n"
     " %n = add i64 %i, 1\n jump l(%n)\n out:\n fail \"end\"\n}\n"},
    {true, "there is no assertion, and what is not followed does no harm",
     "object @o 4 align 4\nobject @x 4 align 4\n"
     "function @t() {\n b:\n atomic_store seq_cst i32 7, @x\n return\n}\n"
     "function @main() -> i32 {\n b:\n once @o, @t\n return i32 0\n}\n"},
    {false, "the numbers that the first thread begins with may be any",
     "object @x 4 align 4\n"
     "function @main(%a: i32, %b: i64) -> i32 {\n b:\n atomic_store seq_cst i32 7, @x\n"
     " %c = ne i32 %a, 5\n assert \"few\" %c\n return i32 0\n}\n"},
    {false, "a function that is called again has other memory",
     "object @x 4 align 4\n"
     "function @f(%old: i64) -> i64 {\n b:\n %p = stack 8 8\n %same = eq i64 %p, %old\n"
     " atomic_store seq_cst i32 1, @x\n %first = eq i64 %old, 0\n"
     " branch %first, out, on\n on:\n assert \"same\" %same\n jump out\n out:\n return %p\n}\n"
     "function @main() -> i32 {\n b:\n %p = call i64 @f(i64 0)\n %q = call i64 @f(%p)\n"
     " return i32 0\n}\n"},
    {true, "a counter under a lock only grows, but for its end",
     "object @m 40 align 8\nobject @n 4 align 4\n"
     "function @t(%a: i64) -> i64 {\n b:\n lock @m\n %v = load i32 @n\n %top = eq i32 %v, -1\n"
     " branch %top, out, on\n out:\n unlock @m\n return i64 0\n on:\n %w = add i32 %v, 1\n"
     " store i32 %w, @n\n unlock @m\n lock @m\n %x = load i32 @n\n unlock @m\n"
     " %c = ult i32 %v, %x\n assert \"grows\" %c\n return i64 0\n}\n"
     "function @main() -> i32 {\n b:\n jump l\n l:\n %t = create @t, 0\n jump l\n}\n"},
    {false, "the same without the check for its end",
     "object @m 40 align 8\nobject @n 4 align 4\n"
     "function @t(%a: i64) -> i64 {\n b:\n lock @m\n %v = load i32 @n\n %w = add i32 %v, 1\n"
     " store i32 %w, @n\n unlock @m\n lock @m\n %x = load i32 @n\n unlock @m\n"
     " %c = ult i32 %v, %x\n assert \"grows\" %c\n return i64 0\n}\n"
     "function @main() -> i32 {\n b:\n jump l\n l:\n %t = create @t, 0\n jump l\n}\n"},
    {true, "one thread alone is in the section",
     "object @f 4 align 4\nobject @in 4 align 4\n"
     "function @t(%a: i64) -> i64 {\n s:\n jump b\n b:\n %o = atomic_swap seq_cst i32 @f, 0, 1\n"
     " %free = eq i32 %o, 0\n branch %free, go, b\n go:\n"
     " %v = atomic_update add seq_cst i32 @in, 1\n %c = eq i32 %v, 0\n assert \"alone\" %c\n"
     " atomic_store seq_cst i32 0, @in\n atomic_store seq_cst i32 0, @f\n return i64 0\n}\n"
     "function @main() -> i32 {\n b:\n jump l\n l:\n %t = create @t, 0\n jump l\n}\n"},
    {false, "two threads are, where the flag is given back early",
     "object @f 4 align 4\nobject @in 4 align 4\n"
     "function @t(%a: i64) -> i64 {\n s:\n jump b\n b:\n %o = atomic_swap seq_cst i32 @f, 0, 1\n"
     " %free = eq i32 %o, 0\n branch %free, go, b\n go:\n atomic_store seq_cst i32 0, @f\n"
     " %v = atomic_update add seq_cst i32 @in, 1\n %c = eq i32 %v, 0\n assert \"alone\" %c\n"
     " atomic_store seq_cst i32 0, @in\n return i64 0\n}\n"
     "function @main() -> i32 {\n b:\n jump l\n l:\n %t = create @t, 0\n jump l\n}\n"},
    {true, "the first thread writes before the others begin",
     "object @x 4 align 4\n"
     "function @t(%a: i64) -> i64 {\n b:\n %v = atomic_load seq_cst i32 @x\n"
     " %c = eq i32 %v, 7\n assert \"written\" %c\n return i64 0\n}\n"
     "function @main() -> i32 {\n b:\n atomic_store seq_cst i32 7, @x\n jump l\n l:\n"
     " %t = create @t, 0\n jump l\n}\n"},
    {false, "the first thread writes behind the first of them",
     "object @x 4 align 4\n"
     "function @t(%a: i64) -> i64 {\n b:\n %v = atomic_load seq_cst i32 @x\n"
     " %c = eq i32 %v, 7\n assert \"written\" %c\n return i64 0\n}\n"
     "function @main() -> i32 {\n b:\n %t = create @t, 0\n atomic_store seq_cst i32 7, @x\n"
     " return i32 0\n}\n"},
    {true, "a thread that is waited for has ended",
     "object @x 4 align 4\n"
     "function @t(%a: i64) -> i64 {\n b:\n atomic_store seq_cst i32 7, @x\n return i64 0\n}\n"
     "function @main() -> i32 {\n b:\n %t = create @t, 0\n %j = join %t\n"
     " %w = atomic_load seq_cst i32 @x\n atomic_store seq_cst i32 1, @x\n"
     " %v = atomic_load seq_cst i32 @x\n %c = eq i32 %v, 1\n assert \"last\" %c\n"
     " return i32 0\n}\n"},
    {false, "of the threads that a loop makes others may still run",
     "object @x 4 align 4\n"
     "function @t(%a: i64) -> i64 {\n b:\n atomic_store seq_cst i32 7, @x\n return i64 0\n}\n"
     "function @main() -> i32 {\n b:\n jump l\n l:\n %t = create @t, 0\n"
     " %more = input \"more\" i1\n branch %more, again, out\n again:\n jump l\n out:\n"
     " %j = join %t\n atomic_store seq_cst i32 1, @x\n %v = atomic_load seq_cst i32 @x\n"
     " %c = eq i32 %v, 1\n assert \"last\" %c\n return i32 0\n}\n"},
    {false, "a thread that an assumption stops has written before",
     "object @x 4 align 4\n"
     "function @t(%a: i64) -> i64 {\n b:\n atomic_begin\n store i32 7, @x\n atomic_end\n"
     " assume 0\n return i64 0\n}\n"
     "function @main() -> i32 {\n b:\n %t = create @t, 0\n %v = atomic_load seq_cst i32 @x\n"
     " %c = eq i32 %v, 0\n assert \"unwritten\" %c\n return i32 0\n}\n"},
    {false, "of two threads of one function the other may still run",
     "object @x 4 align 4\n"
     "function @t(%a: i64) -> i64 {\n b:\n atomic_store seq_cst i32 7, @x\n return i64 0\n}\n"
     "function @main() -> i32 {\n b:\n %t = create @t, 0\n %u = create @t, 0\n %j = join %t\n"
     " atomic_store seq_cst i32 1, @x\n %v = atomic_load seq_cst i32 @x\n %c = eq i32 %v, 1\n"
     " assert \"last\" %c\n return i32 0\n}\n"},
    {false, "a constant table is read at a place that an input decides",
     "object @t 8 constant { 4: \"\\05\" }\n"
     "function @main() -> i32 {\n b:\n %i = input \"i\" i1\n %w = zext i64 %i\n"
     " %o = mul i64 %w, 4\n %p = add i64 @t, %o\n %v = load i32 %p\n %c = eq i32 %v, 0\n"
     " assert \"first\" %c\n return i32 0\n}\n"},
    {true, "a constant table is read at a known place",
     "object @t 8 constant { 4: \"\\05\" }\n"
     "function @main() -> i32 {\n b:\n %v = load i32 @t+4\n %c = eq i32 %v, 5\n"
     " assert \"second\" %c\n return i32 0\n}\n"},
    {false, "a checking mutex refuses what its owner did not lock",
     "object @m 40 align 8\n"
     "function @main() -> i32 {\n b:\n mutex_init checking @m\n %r = unlock @m\n"
     " %c = eq i32 %r, 0\n assert \"released\" %c\n return i32 0\n}\n"},
    {true, "a normal mutex never does",
     "object @m 40 align 8\n"
     "function @main() -> i32 {\n b:\n mutex_init normal @m\n lock @m\n %r = unlock @m\n"
     " %c = eq i32 %r, 0\n assert \"released\" %c\n return i32 0\n}\n"},
    {false, "a place behind a function is not the function",
     "function @f() {\n b:\n return\n}\n"
     "function @main() -> i32 {\n b:\n %c = eq i64 @f+8, @f\n assert \"same\" %c\n"
     " return i32 0\n}\n"},
    {false, "an address that constant data has at an odd place leads into the next object",
     "object @x 16 align 16\nobject @y 16 align 16\nobject @p 16 constant { 4: @x+80 }\n"
     "function @main() -> i32 {\n b:\n %q = load i64 @p+4\n"
     " atomic_store seq_cst i32 7, %q\n %v = atomic_load seq_cst i32 @y\n"
     " %c = eq i32 %v, 0\n assert \"apart\" %c\n return i32 0\n}\n"},
    {false, "so does one that was stored at an odd place",
     "object @x 16 align 16\nobject @y 16 align 16\n"
     "function @main() -> i32 {\n b:\n %s = stack 8 16\n %o = add i64 %s, 4\n"
     " %a = add i64 @x, 80\n store i64 %a, %o\n %q = load i64 %o\n"
     " atomic_store seq_cst i32 7, %q\n %v = atomic_load seq_cst i32 @y\n"
     " %c = eq i32 %v, 0\n assert \"apart\" %c\n return i32 0\n}\n"},
    {false, "the sum of two addresses has no object, and may lead into any",
     "object @x 16 align 16\nobject @y 16 align 16\nobject @k 8 align 8\nobject @l 8 align 8\n"
     "function @main() -> i32 {\n b:\n store i64 @y, @k\n store i64 @x, @l\n"
     " %y = load i64 @k\n %x = load i64 @l\n %bare = mul i64 %x, 1\n %s = add i64 @x, %y\n"
     " %q = sub i64 %s, %bare\n atomic_store seq_cst i32 7, %q\n"
     " %v = atomic_load seq_cst i32 @y\n %c = eq i32 %v, 0\n assert \"apart\" %c\n"
     " return i32 0\n}\n"},
    {false, "a part of an address that is 0 may still take the object from a sum",
     "object @x 16 align 16\nobject @y 16 align 16\nobject @k 8 align 8\n"
     "function @main() -> i32 {\n b:\n store i64 @y, @k\n %y = load i64 @k\n"
     " %none = and i64 %y, 0\n %p = add i64 @x, 80\n %q = add i64 %p, %none\n"
     " atomic_store seq_cst i32 7, %q\n %v = atomic_load seq_cst i32 @y\n"
     " %c = eq i32 %v, 0\n assert \"apart\" %c\n return i32 0\n}\n"},
    {true, "a number that was computed leaves the object of an address",
     "object @x 16 align 16\nobject @y 16 align 16\n"
     "function @main() -> i32 {\n b:\n %i = input \"i\" i8\n %o = zext i64 %i\n"
     " %q = add i64 @x, %o\n store i8 7, %q\n %v = load i32 @y\n"
     " %c = eq i32 %v, 0\n assert \"apart\" %c\n return i32 0\n}\n"},
    {false, "a semaphore counts beyond 32 bits",
     "object @s 32 align 8\n"
     "function @main() -> i32 {\n b:\n sem_init @s, 4294967296\n %n = sem_count @s\n"
     " %r = sem_wait @s\n %c = ne i32 %n, 0\n assert \"some\" %c\n return i32 0\n}\n"},
    {true, "a semaphore lets one thread in at a time",
     "object @s 32 align 8\nobject @x 8 align 8\n"
     "function @t(%a: i64) -> i64 {\n b:\n sem_wait @s\n atomic_store seq_cst i64 %a, @x\n"
     " %v = atomic_load seq_cst i64 @x\n %c = eq i64 %v, %a\n assert \"own\" %c\n sem_post @s\n"
     " return i64 0\n}\n"
     "function @main() -> i32 {\n b:\n sem_init @s, 1\n jump l\n l:\n"
     " %i = input \"i\" i64\n %t = create @t, %i\n jump l\n}\n"},
    {false, "a semaphore lets two threads in",
     "object @s 32 align 8\nobject @x 8 align 8\n"
     "function @t(%a: i64) -> i64 {\n b:\n sem_wait @s\n atomic_store seq_cst i64 %a, @x\n"
     " %v = atomic_load seq_cst i64 @x\n %c = eq i64 %v, %a\n assert \"own\" %c\n sem_post @s\n"
     " return i64 0\n}\n"
     "function @main() -> i32 {\n b:\n sem_init @s, 2\n jump l\n l:\n"
     " %i = input \"i\" i64\n %t = create @t, %i\n jump l\n}\n"},
    {false, "a thread whose function has another parameter is an error, and none of ours",
     "object @x 4 align 4\n"
     "function @t(%a: i32) -> i64 {\n b:\n %v = atomic_load seq_cst i32 @x\n"
     " %c = eq i32 %v, %a\n assert \"same\" %c\n return i64 0\n}\n"
     "function @main() -> i32 {\n b:\n %t = create @t, 0\n return i32 0\n}\n"},
    {false, "so is a call by an address",
     "object @x 4 align 4\n"
     "function @t(%a: i32) -> i64 {\n b:\n %v = atomic_load seq_cst i32 @x\n"
     " %c = eq i32 %v, %a\n assert \"same\" %c\n return i64 0\n}\n"
     "function @main() -> i32 {\n b:\n %r = call_at i64 @t(i64 7)\n return i32 0\n}\n"},
    {true, "a parameter of a loop is needed behind it",
     "object @x 4 align 4\n"
     "function @main() -> i32 {\n b:\n jump l(i32 0)\n l(%i: i32):\n"
     " %v = atomic_load seq_cst i32 @x\n %n = add i32 %i, 1\n %z = and i32 %n, 3\n"
     " %d = eq i32 %v, 0\n branch %d, out, l(%z)\n out:\n %w = atomic_load seq_cst i32 @x\n"
     " %c = ule i32 %i, 3\n assert \"low\" %c\n return i32 0\n}\n"},
};

static void test_cases(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        inputs_program p = {.n_threads = 1};
        ft_strbuf why = {0};
        ft_strbuf_printf(&p.text, "program 1\n%s", CASES[i].text);
        ft_program *program = program_of(i, &p);
        ft_modular_options options = {.seconds = 60};
        ft_modular_answer answer = ft_modular_prove(program, &options, &why);
        if ((answer == FT_MODULAR_PROVED) != CASES[i].proved)
            fail_msg("%s: %s", CASES[i].what, ft_strbuf_text(&why));
        ft_strbuf_release(&why);
        ft_inputs_release(&p);
        ft_program_free(program);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cases),
        cmocka_unit_test(test_random_programs),
        cmocka_unit_test(test_programs_of_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
