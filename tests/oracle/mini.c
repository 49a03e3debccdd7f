#include "oracle/mini.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "program/text.h"

enum { NAMES = 64, LOCK = 40, COND = 48, BARRIER = 32, MOST_TOKENS = 4000 };
enum { RW = 56, SEM = 32, ONCE = 8 };

typedef struct variable {
    char name[24];
    int bits;  /* of an input; 0: a variable */
    bool late; /* an input that no thread reads before a `read` */
    int n;     /* places of an array; 0: not one */
    int initial;
    bool atomic, own, pointer, local; /* own: each thread has one; local: of the function */
} variable;

typedef struct mini {
    char tokens[MOST_TOKENS][24];
    int n, at;
    variable variables[NAMES];
    int n_variables, bars[4], sems[4], thread, threads, registers, blocks;
    const char *mutexes[4];
    bool in_function;
    ft_strbuf *out, objects;
} mini;

static void wrong(const mini *m, const char *what)
{
    fprintf(stderr, "mini: %s at '%s'\n", what, m->at < m->n ? m->tokens[m->at] : "the end");
    abort();
}

/* ---- tokens ---- */

static void split(mini *m, const char *text)
{
    static const char *const TWO[] = {"==", "!=", "<=", ">=", "&&", "||"};
    while (*text) {
        if (isspace((unsigned char)*text)) {
            text++;
            continue;
        }
        size_t n = 0;
        while (isalnum((unsigned char)text[n]) || text[n] == '_') n++;
        for (size_t i = 0; !n && i < 6; i++)
            if (strncmp(text, TWO[i], 2) == 0) n = 2;
        if (!n) n = 1;
        if (m->n == MOST_TOKENS || n > 23) wrong(m, "too long");
        memcpy(m->tokens[m->n], text, n);
        m->tokens[m->n++][n] = 0;
        text += n;
    }
}

static bool is(const mini *m, const char *token)
{
    return m->at < m->n && strcmp(m->tokens[m->at], token) == 0;
}

static bool take(mini *m, const char *token)
{
    return is(m, token) ? m->at++, true : false;
}

static void expect(mini *m, const char *token)
{
    if (!take(m, token)) wrong(m, token);
}

static const char *word(mini *m)
{
    if (m->at == m->n) wrong(m, "a word is missing");
    return m->tokens[m->at++];
}

static int number(mini *m)
{
    return (int)strtol(word(m), NULL, 10);
}

/* ---- variables ---- */

static variable *find(mini *m, const char *name)
{
    for (int i = 0; i < m->n_variables; i++)
        if (strcmp(m->variables[i].name, name) == 0) return &m->variables[i];
    return NULL;
}

static variable *declare(mini *m, const char *name)
{
    variable *v = find(m, name);
    if (v) return v;
    if (m->n_variables == NAMES) wrong(m, "too many variables");
    v = &m->variables[m->n_variables++];
    *v = (variable){.n = 0};
    memmove(v->name, name, strlen(name) + 1);
    return v;
}

/* The object's name: of a thread's own variable with the thread. */
static void object_name(mini *m, const char *name, char object[40])
{
    if (m->in_function && *name == '_') {
        if (!find(m, name) || !find(m, name)->local) wrong(m, "an unknown variable");
        snprintf(object, 40, "%%v%s", name);
        return;
    }
    if (*name != '_') {
        if (!find(m, name)) wrong(m, "an unknown variable");
        snprintf(object, 40, "@%s", name);
        return;
    }
    snprintf(object, 40, "@t%d%s", m->thread, name);
    if (find(m, object)) return;
    declare(m, object);
    ft_strbuf_printf(&m->objects, "object %s 8 align 8\n", object);
}

static bool is_pointer(mini *m, const char *name)
{
    const variable *v = find(m, name);
    return name[0] == '_' ? name[1] == 'p' : v && v->pointer;
}

static void declare_object(mini *m, const variable *v)
{
    if (v->atomic || v->pointer || v->own) {
        ft_strbuf_printf(&m->objects, "object @%s 8 align 8%s\n", v->name, v->own ? " thread" : "");
        return;
    }
    ft_strbuf_printf(&m->objects, "object @%s %d align 4", v->name, 4 * (v->n ? v->n : 1));
    if (v->initial) ft_strbuf_printf(&m->objects, " { 0: \"\\%02x\\00\\00\\00\" }", v->initial);
    ft_strbuf_puts(&m->objects, "\n");
}

/* ---- expressions: the result is a register or a literal, in `value` ---- */

typedef struct value {
    char text[24];
    bool literal;
    int number;
} value;

static value literal(int n)
{
    value v = {.literal = true, .number = n};
    snprintf(v.text, sizeof v.text, "%d", n);
    return v;
}

static value fresh(mini *m)
{
    value v = {.literal = false};
    snprintf(v.text, sizeof v.text, "%%r%d", m->registers++);
    return v;
}

static value expression(mini *m, int level);

/* The address of an element: base + 4 * index. */
static void element(mini *m, const char *name, char address[48])
{
    expect(m, "[");
    value index = expression(m, 0);
    expect(m, "]");
    char object[40];
    object_name(m, name, object);
    if (index.literal) {
        snprintf(address, 48, "%s+%d", object, 4 * index.number);
        return;
    }
    value wide = fresh(m), scaled = fresh(m), sum = fresh(m);
    ft_strbuf_printf(m->out, "    %s = zext i64 %s\n", wide.text, index.text);
    ft_strbuf_printf(m->out, "    %s = mul i64 %s, 4\n", scaled.text, wide.text);
    ft_strbuf_printf(m->out, "    %s = add i64 %s, %s\n", sum.text, object, scaled.text);
    snprintf(address, 48, "%s", sum.text);
}

/* The address of the E-th object, for E in brackets or up to what follows. */
static void object_at(mini *m, const char *base, int size, char address[48])
{
    value v = expression(m, 0);
    if (v.literal) {
        snprintf(address, 48, "%s+%d", base, size * v.number);
        return;
    }
    value wide = fresh(m), scaled = fresh(m), sum = fresh(m);
    ft_strbuf_printf(m->out, "    %s = zext i64 %s\n", wide.text, v.text);
    ft_strbuf_printf(m->out, "    %s = mul i64 %s, %d\n", scaled.text, wide.text, size);
    ft_strbuf_printf(m->out, "    %s = add i64 %s, %s\n", sum.text, base, scaled.text);
    snprintf(address, 48, "%s", sum.text);
}

/* The value of a pointer variable. */
static value pointer_in(mini *m, const char *name)
{
    char object[40];
    if (!is_pointer(m, name)) wrong(m, "not a pointer");
    object_name(m, name, object);
    value r = fresh(m);
    ft_strbuf_printf(m->out, "    %s = load i64 %s\n", r.text, object);
    return r;
}

static value load_at(mini *m)
{
    value at = pointer_in(m, word(m)), r = fresh(m);
    ft_strbuf_printf(m->out, "    %s = load i32 %s\n", r.text, at.text);
    return r;
}

/* f(E), or p(E) of a pointer. */
static value call(mini *m, const char *name)
{
    expect(m, "(");
    value argument = expression(m, 0);
    expect(m, ")");
    value r;
    const char *i32 = argument.literal ? "i32 " : "";
    if (is_pointer(m, name)) {
        value at = pointer_in(m, name);
        r = fresh(m);
        ft_strbuf_printf(m->out, "    %s = call_at i32 %s(%s%s)\n", r.text, at.text, i32,
                         argument.text);
    } else {
        r = fresh(m);
        ft_strbuf_printf(m->out, "    %s = call i32 @%s(%s%s)\n", r.text, name, i32, argument.text);
    }
    return r;
}

/* What takes something and says whether it has: 0 if so. */
static bool tries(mini *m, const char *name, value *r)
{
    static const struct {
        const char *name, *instruction, *base;
        int size;
    } TRIES[] = {
        {"try", "try_lock", "@locks", LOCK},      {"timed", "timed_lock", "@locks", LOCK},
        {"tryread", "try_read_lock", "@rws", RW}, {"trywrite", "try_write_lock", "@rws", RW},
        {"trysem", "sem_try", "@sems", SEM},      {"timedsem", "sem_timed", "@sems", SEM},
        {"count", "sem_count", "@sems", SEM},     {"timedwait", "timed_wait", "@conds", COND},
        {"locks", "lock", "@locks", LOCK},
    };
    for (size_t i = 0; i < sizeof TRIES / sizeof TRIES[0]; i++) {
        if (strcmp(TRIES[i].name, name) != 0) continue;
        char address[48], mutex[48] = "";
        expect(m, "[");
        object_at(m, TRIES[i].base, TRIES[i].size, address);
        if (take(m, ",")) object_at(m, "@locks", LOCK, mutex);
        expect(m, "]");
        *r = fresh(m);
        ft_strbuf_printf(m->out, "    %s = %s %s%s%s\n", r->text, TRIES[i].instruction, address,
                         *mutex ? ", " : "", mutex);
        return true;
    }
    return false;
}

/* fetch[a,E] adds and gives the value before; swap[a,E,E] replaces the first by the second. */
static bool updates(mini *m, const char *name, value *r)
{
    bool swaps = strcmp(name, "swap") == 0;
    if (!swaps && strcmp(name, "fetch") != 0) return false;
    expect(m, "[");
    const char *object = word(m);
    expect(m, ",");
    value x = expression(m, 0), y = literal(0);
    if (swaps) {
        expect(m, ",");
        y = expression(m, 0);
    }
    expect(m, "]");
    *r = fresh(m);
    if (swaps)
        ft_strbuf_printf(m->out, "    %s = atomic_swap seq_cst i32 @%s, %s, %s\n", r->text, object,
                         x.text, y.text);
    else
        ft_strbuf_printf(m->out, "    %s = atomic_update add seq_cst i32 @%s, %s\n", r->text,
                         object, x.text);
    return true;
}

/* got[K] joins thread K. */
static bool joins(mini *m, const char *name, value *r)
{
    if (strcmp(name, "got") != 0) return false;
    expect(m, "[");
    int k = number(m);
    expect(m, "]");
    value handle = fresh(m), wide = fresh(m);
    *r = fresh(m);
    ft_strbuf_printf(m->out,
                     "    %s = load i64 @handle%d\n    %s = join %s\n    %s = trunc i32 %s\n",
                     handle.text, k, wide.text, handle.text, r->text, wide.text);
    return true;
}

static value primary(mini *m)
{
    if (take(m, "(")) {
        value v = expression(m, 0);
        expect(m, ")");
        return v;
    }
    if (take(m, "!")) {
        value a = primary(m), bit = fresh(m), r = fresh(m);
        ft_strbuf_printf(m->out, "    %s = eq i32 %s, 0\n", bit.text, a.text);
        ft_strbuf_printf(m->out, "    %s = zext i32 %s\n", r.text, bit.text);
        return r;
    }
    if (take(m, "*")) return load_at(m);
    const char *name = word(m);
    if (isdigit((unsigned char)*name)) return literal((int)strtol(name, NULL, 10));
    if (is(m, "(")) return call(m, name);
    value r;
    if (tries(m, name, &r) || updates(m, name, &r) || joins(m, name, &r)) return r;
    char address[48];
    bool atomic = find(m, name) && find(m, name)->atomic && !is(m, "[");
    if (is(m, "["))
        element(m, name, address);
    else
        object_name(m, name, address);
    r = fresh(m);
    ft_strbuf_printf(m->out, "    %s = %s i32 %s\n", r.text,
                     atomic ? "atomic_load seq_cst" : "load", address);
    return r;
}

typedef struct operator_row {
    const char *token, *instruction;
    int level;
    bool swaps, truth; /* operands change places; the result is a bit */
} operator_row;

static const operator_row OPERATORS[] = {
    {"||", "or", 0, false, false}, {"&&", "and", 1, false, false}, {"==", "eq", 2, false, true},
    {"!=", "ne", 2, false, true},  {"<", "ult", 2, false, true},   {"<=", "ule", 2, false, true},
    {">", "ult", 2, true, true},   {">=", "ule", 2, true, true},   {"+", "add", 3, false, false},
    {"-", "sub", 3, false, false}, {"|", "or", 3, false, false},   {"^", "xor", 3, false, false},
    {"&", "and", 4, false, false}, {"*", "mul", 4, false, false},  {"%", "urem", 4, false, false},
};

static value operate(mini *m, const operator_row *o, value a, value b)
{
    if (o->level < 2) { /* truth values of both */
        value x = fresh(m), y = fresh(m), both = fresh(m), r = fresh(m);
        ft_strbuf_printf(m->out, "    %s = ne i32 %s, 0\n", x.text, a.text);
        ft_strbuf_printf(m->out, "    %s = ne i32 %s, 0\n", y.text, b.text);
        ft_strbuf_printf(m->out, "    %s = %s i1 %s, %s\n", both.text, o->instruction, x.text,
                         y.text);
        ft_strbuf_printf(m->out, "    %s = zext i32 %s\n", r.text, both.text);
        return r;
    }
    value r = fresh(m);
    ft_strbuf_printf(m->out, "    %s = %s i32 %s, %s\n", r.text, o->instruction,
                     o->swaps ? b.text : a.text, o->swaps ? a.text : b.text);
    if (!o->truth) return r;
    value wide = fresh(m);
    ft_strbuf_printf(m->out, "    %s = zext i32 %s\n", wide.text, r.text);
    return wide;
}

static value expression(mini *m, int level)
{
    if (level == 5) return primary(m);
    value a = expression(m, level + 1);
    for (;;) {
        const operator_row *o = NULL;
        for (size_t i = 0; i < sizeof OPERATORS / sizeof OPERATORS[0]; i++)
            if (OPERATORS[i].level == level && is(m, OPERATORS[i].token)) o = &OPERATORS[i];
        if (!o) return a;
        m->at++;
        a = operate(m, o, a, expression(m, level + 1));
    }
}

/* ---- statements ---- */

static void statement(mini *m);

static void block(mini *m)
{
    while (!take(m, "}")) {
        statement(m);
    }
}

static void on_object(mini *m, const char *instruction, const char *base, int size)
{
    char address[48];
    object_at(m, base, size, address);
    ft_strbuf_printf(m->out, "    %s %s\n", instruction, address);
    expect(m, ";");
}

static void wait(mini *m)
{
    char condition[48], mutex[48];
    object_at(m, "@conds", COND, condition);
    object_at(m, "@locks", LOCK, mutex);
    ft_strbuf_printf(m->out, "    wait %s, %s\n", condition, mutex);
    expect(m, ";");
}

static value condition(mini *m)
{
    value v = expression(m, 0), bit = fresh(m);
    ft_strbuf_printf(m->out, "    %s = ne i32 %s, 0\n", bit.text, v.text);
    return bit;
}

static void branch(mini *m)
{
    int own = m->blocks++;
    value bit = condition(m);
    ft_strbuf_printf(m->out, "    branch %s, then%d, else%d\n  then%d:\n", bit.text, own, own, own);
    expect(m, "{");
    block(m);
    ft_strbuf_printf(m->out, "    jump done%d\n  else%d:\n", own, own);
    if (take(m, "else")) {
        expect(m, "{");
        block(m);
    }
    ft_strbuf_printf(m->out, "    jump done%d\n  done%d:\n", own, own);
}

static void loop(mini *m)
{
    int own = m->blocks++;
    ft_strbuf_printf(m->out, "    jump head%d\n  head%d:\n", own, own);
    value bit = condition(m);
    ft_strbuf_printf(m->out, "    branch %s, body%d, done%d\n  body%d:\n", bit.text, own, own, own);
    expect(m, "{");
    block(m);
    ft_strbuf_printf(m->out, "    jump head%d\n  done%d:\n", own, own);
}

static void leaves(mini *m, const char *instruction)
{
    ft_strbuf_printf(m->out, "    %s\n  dead%d:\n", instruction, m->blocks++);
    expect(m, ";");
}

static void checks(mini *m, const char *instruction)
{
    value bit = condition(m);
    ft_strbuf_printf(m->out, "    %s%s\n", instruction, bit.text);
    expect(m, ";");
}

/* verb: NULL of create. */
static void thread_operation(mini *m, const char *verb)
{
    int k = number(m);
    if (!verb) {
        ft_strbuf_printf(m->out, "    %%h%d = create @t%d, 0\n    store i64 %%h%d, @handle%d\n",
                         m->registers, k, m->registers, k);
    } else {
        ft_strbuf_printf(m->out, "    %%h%d = load i64 @handle%d\n    %s %%h%d\n", m->registers, k,
                         verb, m->registers);
    }
    m->registers++;
    expect(m, ";");
}

/* p = &NAME; p = &NAME[E]; p = new; p = q; p = pick[E] P P; */
static value pointer(mini *m)
{
    value r = literal(0);
    if (take(m, "pick")) {
        expect(m, "[");
        value bit = condition(m);
        expect(m, "]");
        value a = pointer(m), b = pointer(m);
        r = fresh(m);
        ft_strbuf_printf(m->out, "    %s = select i64 %s, %s, %s\n", r.text, bit.text, a.text,
                         b.text);
    } else if (take(m, "new")) {
        r = fresh(m);
        ft_strbuf_printf(m->out, "    %s = alloc 40\n", r.text);
    } else if (take(m, "&")) {
        char address[48];
        const char *name = word(m);
        if (is(m, "["))
            element(m, name, address);
        else if (find(m, name) || *name == '_')
            object_name(m, name, address);
        else
            snprintf(address, sizeof address, "@%s", name);
        if (strlen(address) >= sizeof r.text) wrong(m, "too long");
        memcpy(r.text, address, strlen(address) + 1);
    } else {
        r = pointer_in(m, word(m));
    }
    return r;
}

static void assign_pointer(mini *m, const char *name)
{
    char object[40];
    expect(m, "=");
    value v = pointer(m);
    object_name(m, name, object);
    ft_strbuf_printf(m->out, "    store i64 %s, %s\n", v.text, object);
    expect(m, ";");
}

static void assign_through(mini *m)
{
    value at = pointer_in(m, word(m));
    expect(m, "=");
    value v = expression(m, 0);
    ft_strbuf_printf(m->out, "    store i32 %s, %s\n", v.text, at.text);
    expect(m, ";");
}

/* give E; from a function, or from a thread its result. */
static void gives(mini *m)
{
    value v = expression(m, 0);
    if (m->thread && !m->in_function) {
        value wide = fresh(m);
        ft_strbuf_printf(m->out, "    %s = zext i64 %s%s\n", wide.text, v.literal ? "i32 " : "",
                         v.text);
        v = wide;
    }
    ft_strbuf_printf(m->out, "    return %s%s\n  dead%d:\n", v.literal ? "i32 " : "", v.text,
                     m->blocks++);
    expect(m, ";");
}

static void exits(mini *m)
{
    value v = expression(m, 0);
    ft_strbuf_printf(m->out, "    exit %s\n  dead%d:\n", v.text, m->blocks++);
    expect(m, ";");
}

/* lockp p; unlockp p; of the mutex at a pointer. */
static void on_pointer(mini *m, const char *instruction)
{
    value at = pointer_in(m, word(m));
    ft_strbuf_printf(m->out, "    %s %s\n", instruction, at.text);
    expect(m, ";");
}

static void once(mini *m)
{
    int k = number(m);
    ft_strbuf_printf(m->out, "    once @onces+%d, @%s\n", ONCE * k, word(m));
    expect(m, ";");
}

static void call_only(mini *m)
{
    const char *name = word(m);
    (void)call(m, name);
    expect(m, ";");
}

static void assign(mini *m, const char *name)
{
    char address[48];
    bool atomic = find(m, name) && find(m, name)->atomic && !is(m, "[");
    if (is_pointer(m, name)) return assign_pointer(m, name);
    if (is(m, "["))
        element(m, name, address);
    else
        object_name(m, name, address);
    expect(m, "=");
    value v = expression(m, 0);
    ft_strbuf_printf(m->out, "    %s i32 %s, %s\n", atomic ? "atomic_store seq_cst" : "store",
                     v.text, address);
    expect(m, ";");
}

/* read VARIABLE INPUT; */
static void read_input(mini *m)
{
    char address[48];
    object_name(m, word(m), address);
    const variable *input = find(m, word(m));
    if (!input || !input->late) wrong(m, "an input that is not late");
    value own = fresh(m), wide = fresh(m);
    ft_strbuf_printf(m->out, "    %s = input \"%s\" i%d\n    %s = zext i32 %s\n", own.text,
                     input->name, input->bits, wide.text, own.text);
    ft_strbuf_printf(m->out, "    store i32 %s, %s\n", wide.text, address);
    expect(m, ";");
}

/* An explicit marker (cover/markers.h). */
static void mark(mini *m)
{
    ft_strbuf_printf(m->out, "    %%r%d = atomic_load seq_cst i32 @foretell_marker_cell\n",
                     m->registers++);
    expect(m, ";");
}

static void statement(mini *m)
{
    const char *name = word(m);
    if (strcmp(name, "marker") == 0) return mark(m);
    if (strcmp(name, "lock") == 0) return on_object(m, "lock", "@locks", LOCK);
    if (strcmp(name, "unlock") == 0) return on_object(m, "unlock", "@locks", LOCK);
    if (strcmp(name, "signal") == 0) return on_object(m, "signal", "@conds", COND);
    if (strcmp(name, "bcast") == 0) return on_object(m, "broadcast", "@conds", COND);
    if (strcmp(name, "barrier") == 0) return on_object(m, "barrier_wait", "@bars", BARRIER);
    if (strcmp(name, "wait") == 0) return wait(m);
    if (strcmp(name, "if") == 0) return branch(m);
    if (strcmp(name, "while") == 0) return loop(m);
    if (strcmp(name, "read") == 0) return read_input(m);
    if (strcmp(name, "ret") == 0)
        return leaves(m, m->thread && !m->in_function ? "return i64 0" : "return i32 0");
    if (strcmp(name, "abort") == 0) return leaves(m, "fail \"abort\"");
    if (strcmp(name, "assert") == 0) return checks(m, "assert \"fails\" ");
    if (strcmp(name, "assume") == 0) return checks(m, "assume ");
    if (strcmp(name, "create") == 0) return thread_operation(m, NULL);
    if (strcmp(name, "join") == 0) return thread_operation(m, "join");
    if (strcmp(name, "detach") == 0) return thread_operation(m, "detach");
    if (strcmp(name, "rdlock") == 0) return on_object(m, "read_lock", "@rws", RW);
    if (strcmp(name, "wrlock") == 0) return on_object(m, "write_lock", "@rws", RW);
    if (strcmp(name, "rwun") == 0) return on_object(m, "rw_unlock", "@rws", RW);
    if (strcmp(name, "take") == 0) return on_object(m, "sem_wait", "@sems", SEM);
    if (strcmp(name, "post") == 0) return on_object(m, "sem_post", "@sems", SEM);
    if (strcmp(name, "once") == 0) return once(m);
    if (strcmp(name, "exit") == 0) return exits(m);
    if (strcmp(name, "give") == 0) return gives(m);
    if (strcmp(name, "free") == 0) return on_pointer(m, "free");
    if (strcmp(name, "lockp") == 0) return on_pointer(m, "lock");
    if (strcmp(name, "unlockp") == 0) return on_pointer(m, "unlock");
    if (strcmp(name, "call") == 0) return call_only(m);
    if (strcmp(name, "*") == 0) return assign_through(m);
    assign(m, name);
}

/* ---- the whole ---- */

static void header(mini *m)
{
    for (;;) {
        if (is(m, "in") || is(m, "late")) {
            bool late = strcmp(word(m), "late") == 0;
            while (!take(m, ";")) {
                variable *v = declare(m, word(m));
                expect(m, ":");
                v->bits = number(m);
                v->late = late;
                declare_object(m, v);
            }
        } else if (take(m, "var")) {
            while (!take(m, ";")) {
                variable *v = declare(m, word(m));
                if (take(m, "=")) v->initial = number(m);
                declare_object(m, v);
            }
        } else if (is(m, "atom") || is(m, "own") || is(m, "ptr")) {
            char kind = *word(m);
            while (!take(m, ";")) {
                variable *v = declare(m, word(m));
                v->atomic = kind == 'a';
                v->own = kind == 'o';
                v->pointer = kind == 'p';
                if (v->atomic) v->n = 2;
                declare_object(m, v);
            }
        } else if (take(m, "sem")) {
            int sem = number(m);
            expect(m, ":");
            m->sems[sem & 3] = number(m) + 1;
            expect(m, ";");
        } else if (take(m, "mutex")) {
            int mutex = number(m);
            expect(m, ":");
            m->mutexes[mutex & 3] = word(m);
            expect(m, ";");
        } else if (take(m, "arr")) {
            variable *v = declare(m, word(m));
            v->n = number(m);
            declare_object(m, v);
            expect(m, ";");
        } else if (take(m, "bar")) {
            int bar = number(m);
            expect(m, ":");
            m->bars[bar & 3] = number(m);
            expect(m, ";");
        } else {
            return;
        }
    }
}

/* Inputs are read, and barriers made, before anything else. */
static void begin_main(mini *m)
{
    ft_strbuf_puts(m->out, "function @main() -> i32 {\n  start:\n");
    for (int i = 0; i < m->n_variables; i++) {
        const variable *v = &m->variables[i];
        if (!v->bits || v->late) continue;
        ft_strbuf_printf(m->out, "    %%in%d = input \"%s\" i%d\n", i, v->name, v->bits);
        ft_strbuf_printf(m->out, "    %%wide%d = zext i32 %%in%d\n    store i32 %%wide%d, @%s\n", i,
                         i, i, v->name);
    }
    for (int b = 0; b < 4; b++)
        if (m->bars[b])
            ft_strbuf_printf(m->out, "    barrier_init @bars+%d, %d\n", BARRIER * b, m->bars[b]);
    for (int k = 0; k < 4; k++) {
        if (m->sems[k])
            ft_strbuf_printf(m->out, "    sem_init @sems+%d, %d\n", SEM * k, m->sems[k] - 1);
        if (m->mutexes[k])
            ft_strbuf_printf(m->out, "    mutex_init %s @locks+%d\n", m->mutexes[k], LOCK * k);
    }
}

/* ---- functions ---- */

/* Names that begin with _ are the function's own, on its stack; _arg has the argument. */
static void declare_locals(mini *m, bool argument)
{
    for (int i = m->at, depth = 1; depth; i++) {
        const char *name = m->tokens[i];
        depth += strcmp(name, "{") == 0 ? 1 : strcmp(name, "}") == 0 ? -1 : 0;
        variable *v = *name == '_' ? declare(m, name) : NULL;
        if (!v || v->local) continue;
        v->local = true;
        ft_strbuf_printf(m->out, "    %%v%s = stack 8 8\n", name);
    }
    if (argument && find(m, "_arg") && find(m, "_arg")->local)
        ft_strbuf_puts(m->out, "    store i32 %argument, %v_arg\n");
}

static void forget_locals(mini *m)
{
    for (int i = 0; i < m->n_variables; i++) m->variables[i].local = false;
}

/* F name { } takes and gives a number; O name { } is for `once`. */
static void function(mini *m, bool is_once)
{
    ft_strbuf_printf(m->out, "function @%s(%s)%s {\n  start:\n", word(m),
                     is_once ? "" : "%argument: i32", is_once ? "" : " -> i32");
    expect(m, "{");
    m->in_function = true;
    declare_locals(m, !is_once);
    block(m);
    ft_strbuf_printf(m->out, "    return%s\n}\n", is_once ? "" : " i32 0");
    m->in_function = false;
    forget_locals(m);
}

static void all_threads(mini *m)
{
    for (int k = 1; k <= m->threads; k++)
        ft_strbuf_printf(m->out, "    %%h%d = create @t%d, 0\n", k, k);
    for (int k = 1; k <= m->threads; k++) ft_strbuf_printf(m->out, "    join %%h%d\n", k);
}

void mini_text(const char *text, ft_strbuf *program)
{
    mini *m = calloc(1, sizeof *m);
    ft_strbuf code = {0};
    int main_at = -1;
    m->out = &code;
    split(m, text);
    header(m);
    while (m->at < m->n) {
        if (is(m, "F") || is(m, "O")) {
            function(m, strcmp(word(m), "O") == 0);
            continue;
        }
        bool is_main = take(m, "M");
        if (!is_main) expect(m, "T");
        expect(m, "{");
        if (is_main) {
            main_at = m->at;
            for (int depth = 1; depth; m->at++) depth += is(m, "{") ? 1 : is(m, "}") ? -1 : 0;
            continue;
        }
        m->thread = ++m->threads;
        ft_strbuf_printf(&code, "function @t%d(%%a: i64) -> i64 {\n  start:\n", m->thread);
        block(m);
        ft_strbuf_puts(&code, "    return i64 0\n}\n");
        ft_strbuf_printf(&m->objects, "object @handle%d 8 align 8\n", m->thread);
    }
    m->thread = 0;
    begin_main(m);
    m->at = main_at;
    if (main_at >= 0)
        block(m);
    else
        all_threads(m);
    ft_strbuf_puts(&code, "    return i32 0\n}\n");
    ft_strbuf_printf(program,
                     "program 1\nobject @locks %d align 8\nobject @conds %d align 8\n"
                     "object @bars %d align 8\nobject @rws %d align 8\nobject @sems %d align 8\n"
                     "object @onces %d align 8\n"
                     "object @foretell_marker_cell 4 align 4 thread\n%s\n%s",
                     4 * LOCK, 4 * COND, 4 * BARRIER, 4 * RW, 4 * SEM, 4 * ONCE,
                     ft_strbuf_text(&m->objects), code.text);
    ft_strbuf_release(&m->objects);
    ft_strbuf_release(&code);
    free(m);
}

ft_program *mini_program(const char *text)
{
    ft_strbuf out = {0};
    ft_error err = FT_ERROR_INIT;
    ft_program *program = NULL;
    mini_text(text, &out);
    if (ft_program_read_text(out.text, out.len, &program, &err) != FT_OK) {
        fprintf(stderr, "mini: line %u: %s\n%s", (unsigned)err.line, err.message, out.text);
        abort();
    }
    ft_strbuf_release(&out);
    return program;
}
