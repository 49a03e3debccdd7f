/* Random programs whose executions come to equal states in many ways, for oracle/inputs.h, as text:
 * threads do what commutes or undoes itself, go round, and learn of inputs and of each other's
 * accesses on different ways. */
#include <stdio.h>

#include "oracle/inputs_text.h"

typedef struct maker {
    inputs_text to;
    bool careless; /* some accesses are not ordered */
} maker;

/* Few contents, so that they come again. */
static void change(maker *m, const char *object)
{
    static const char *const WAYS[] = {"add", "xor", "or", "sub"};
    uint32_t x = fresh(m), y = fresh(m), z = fresh(m);
    if (draw(m, 4) == 0) {
        put(m, "store i8 %u, %s", draw(m, 2), object);
        return;
    }
    put(m, "%%r%u = load i8 %s", x, object);
    put(m, "%%r%u = %s i8 %%r%u, 1", y, WAYS[draw(m, 4)], x);
    put(m, "%%r%u = and i8 %%r%u, 1", z, y);
    put(m, "store i8 %%r%u, %s", z, object);
}

static void look(maker *m, const char *object)
{
    put(m, "%%r%u = load i8 %s", fresh(m), object);
}

static void check(maker *m, const char *object)
{
    uint32_t x = fresh(m), c = fresh(m);
    put(m, "%%r%u = load i8 %s", x, object);
    put(m, "%%r%u = %s i8 %%r%u, %u", c, draw(m, 2) ? "ne" : "ult", x, 1 + draw(m, 2));
    put(m, "assert \"checked\" %%r%u", c);
}

static void section(maker *m)
{
    static const char *const OBJECTS[] = {"@g0", "@g1"};
    uint32_t k = draw(m, 2);
    put(m, "lock @m%u", k);
    for (uint32_t n = 1 + draw(m, 2); n; n--) {
        uint32_t kind = draw(m, 8);
        if (kind < 5)
            change(m, OBJECTS[k]);
        else if (kind < 7)
            look(m, OBJECTS[k]);
        else if (draw(m, 2))
            check(m, OBJECTS[k]);
    }
    put(m, "unlock @m%u", k);
}

/* A message: what was written before it is ordered where the orders are. */
static void atomic(maker *m)
{
    static const char *const ORDERS[] = {"seq_cst", "relaxed", "release", "acquire"};
    uint32_t k = draw(m, 2), order = draw(m, 3), x = fresh(m);
    switch (draw(m, 3)) {
    case 0:
        put(m, "atomic_store %s i8 %u, @a%u", ORDERS[order], draw(m, 2), k);
        break;
    case 1:
        put(m, "%%r%u = atomic_update xor seq_cst i8 @a%u, 1", x, k);
        break;
    default:
        put(m, "%%r%u = atomic_load %s i8 @a%u", x, ORDERS[order == 2 ? 3 : order], k);
    }
}

/* Under a condition that inputs or others decide. */
static void perhaps(maker *m)
{
    uint32_t x = fresh(m), c = fresh(m), yes = fresh(m), no = fresh(m);
    if (m->to.p->n_inputs && draw(m, 3)) {
        put(m, "%%r%u = load i8 @in", x);
    } else {
        put(m, "%%r%u = atomic_load seq_cst i8 @a%u", x, draw(m, 2));
    }
    put(m, "%%r%u = eq i8 %%r%u, %u", c, x, draw(m, 2));
    put(m, "branch %%r%u, l%u, l%u", c, yes, no);
    label(m, yes);
    if (m->careless && draw(m, 3) == 0)
        change(m, "@s");
    else if (draw(m, 2))
        section(m);
    else
        atomic(m);
    put(m, "jump l%u", no);
    label(m, no);
}

static void others(maker *m)
{
    switch (draw(m, 5)) {
    case 0:
        put(m, "%%r%u = sem_post @sem", fresh(m));
        break;
    case 1:
        put(m, "%%r%u = sem_try @sem", fresh(m));
        break;
    case 2:
        put(m, "%%r%u = sem_wait @sem", fresh(m));
        break;
    case 3:
        put(m, "signal @c");
        break;
    default:
        put(m, "lock @m0");
        if (draw(m, 3) == 0) put(m, "%%r%u = wait @c, @m0", fresh(m));
        put(m, "unlock @m0");
    }
}

static void statement(maker *m)
{
    uint32_t kind = draw(m, 12);
    if (kind < 5)
        section(m);
    else if (kind < 7)
        atomic(m);
    else if (kind < 9)
        perhaps(m);
    else if (kind < 10)
        others(m);
    else if (m->careless)
        draw(m, 2) ? look(m, "@s") : change(m, "@s");
}

static void statements(maker *m, uint32_t n)
{
    for (; n; n--) statement(m);
}

/* Twice; or for ever, unless a message ends it. */
static void loop(maker *m, bool endless)
{
    uint32_t top = fresh(m), out = fresh(m), i = fresh(m), j = fresh(m), c = fresh(m), x = fresh(m);
    put(m, "jump l%u(i8 0)", top);
    ft_strbuf_printf(&m->to.p->text, "  l%u(%%r%u: i8):\n", top, i);
    section(m);
    if (draw(m, 2)) statement(m);
    if (endless && draw(m, 3) == 0) {
        put(m, "jump l%u(%%r%u)", top, i);
    } else if (endless) {
        put(m, "%%r%u = atomic_load seq_cst i8 @a1", x);
        put(m, "%%r%u = eq i8 %%r%u, 1", c, x);
        put(m, "branch %%r%u, l%u, l%u(%%r%u)", c, out, top, i);
    } else {
        put(m, "%%r%u = add i8 %%r%u, 1", j, i);
        put(m, "%%r%u = eq i8 %%r%u, 2", c, j);
        put(m, "branch %%r%u, l%u, l%u(%%r%u)", c, out, top, j);
    }
    label(m, out);
}

static void body(maker *m, uint32_t n, bool endless)
{
    bool loops = draw(m, 3) == 0;
    statements(m, loops && n ? n - 1 : n);
    if (loops) loop(m, endless);
}

static const char START[] = "object @m0 40 align 8\nobject @m1 40 align 8\nobject @c 48 align 8\n"
                            "object @sem 32 align 8\nobject @g0 8 align 8\nobject @g1 8 align 8\n"
                            "object @s 8 align 8\nobject @in 8\nobject @a0 1\nobject @a1 1\n";

static void begin(inputs_program *p, uint32_t place)
{
    ft_strbuf_printf(&p->text, "program 1\nobject @before %u\n", 16 * place + 1);
    ft_strbuf_puts(&p->text, START);
    for (uint32_t t = 0; t < p->n_threads; t++)
        ft_strbuf_printf(&p->text, "object @own%u 8 align 8\n", t);
}

/* @main: reads the input, makes the threads and waits for them; `m`: does more besides. */
static void add_main(inputs_program *p, maker *m)
{
    ft_strbuf *out = &p->text;
    ft_strbuf_puts(out, "function @main() -> i32 {\n  start:\n");
    ft_strbuf_printf(out, "    sem_init @sem, %u\n", m ? draw(m, 2) : 0);
    if (p->n_inputs)
        ft_strbuf_printf(out,
                         "    %%in = input \"a\" i%u\n    %%byte = zext i8 %%in\n"
                         "    store i8 %%byte, @in\n",
                         p->bits[0]);
    for (uint32_t t = 1; t < p->n_threads; t++)
        ft_strbuf_printf(out, "    %%thread%u = create @t%u, 0\n", t, t);
    if (m) statements(m, draw(m, 3));
    for (uint32_t t = 1; t < p->n_threads; t++)
        ft_strbuf_printf(out, "    %%joined%u = join %%thread%u\n", t, t);
    if (p->n_inputs) /* every value is an execution of its own */
        ft_strbuf_puts(out, "    %wide = zext i64 %byte\n    output 1, @g0, %wide\n");
    if (m) statements(m, draw(m, 2));
    ft_strbuf_puts(out, "    return i32 0\n}\n");
}

void ft_inputs_cycles(inputs_program *p, uint32_t place, const char *functions)
{
    begin(p, place);
    ft_strbuf_puts(&p->text, functions);
    add_main(p, NULL);
}

void ft_inputs_random_cycles(uint64_t seed, bool endless, bool careless, inputs_program *p)
{
    *p = (inputs_program){0};
    maker m = {.to = {.p = p, .random = seed * UINT64_C(0x9e3779b97f4a7c15) + 11}};
    for (int i = 0; i < 3; i++) (void)draw(&m, 2);
    p->n_threads = draw(&m, 3) == 0 ? 4 : 3;
    p->n_inputs = draw(&m, 3) == 0;
    m.careless = careless;
    for (uint32_t k = 0; k < p->n_inputs; k++) p->bits[k] = 1 + draw(&m, 2);
    begin(p, 0);
    for (uint32_t t = 1; t < p->n_threads; t++) {
        ft_strbuf_printf(&p->text, "function @t%u(%%argument: i64) -> i64 {\n  start:\n", t);
        body(&m, 1 + draw(&m, p->n_threads > 3 ? 2 : 3), endless);
        ft_strbuf_puts(&p->text, "    return i64 0\n}\n");
    }
    add_main(p, &m);
}
