#include "oracle/schedules_text.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/contract.h"

/* How an operation is written. N: the object; O: the other; V, W: the values; the result %x becomes
 * register 0: as it is (i64), as i32, or whether it is 0. */
typedef enum result { NOTHING, AS_64, AS_32, IF_ZERO, IF_EQUAL, IF_LATE, IF_LAST } result;

typedef struct written {
    const char *text;
    result result;
} written;

static const written WRITTEN[FT_X_KINDS] = {
    [FT_X_LOCK] = {"lock @o%N", NOTHING},
    [FT_X_TRY_LOCK] = {"%x = try_lock @o%N", IF_ZERO},
    [FT_X_UNLOCK] = {"unlock @o%N", NOTHING},
    [FT_X_WAKE] = {"wait @o%N, @o%O", NOTHING},
    [FT_X_SIGNAL] = {"signal @o%N", NOTHING},
    [FT_X_BROADCAST] = {"broadcast @o%N", NOTHING},
    [FT_X_TAKE] = {"sem_wait @o%N", NOTHING},
    [FT_X_TRY_TAKE] = {"%x = sem_try @o%N", IF_ZERO},
    [FT_X_COUNT] = {"%x = sem_count @o%N", AS_32},
    [FT_X_TRY_READ_LOCK] = {"%x = try_read_lock @o%N", IF_ZERO},
    [FT_X_TRY_WRITE_LOCK] = {"%x = try_write_lock @o%N", IF_ZERO},
    [FT_X_POST] = {"sem_post @o%N", NOTHING},
    [FT_X_LOAD] = {"%x = atomic_load seq_cst i64 @o%N", AS_64},
    [FT_X_STORE] = {"atomic_store seq_cst i64 %V, @o%N", NOTHING},
    [FT_X_ADD] = {"%x = atomic_update add seq_cst i64 @o%N, %V", AS_64},
    [FT_X_SWAP] = {"%x = atomic_swap seq_cst i64 @o%N, %V, %W", IF_EQUAL},
    [FT_X_READ_LOCK] = {"read_lock @o%N", NOTHING},
    [FT_X_WRITE_LOCK] = {"write_lock @o%N", NOTHING},
    [FT_X_READ_UNLOCK] = {"rw_unlock @o%N", NOTHING},
    [FT_X_WRITE_UNLOCK] = {"rw_unlock @o%N", NOTHING},
    [FT_X_ARRIVE] = {"barrier_wait @o%N", NOTHING},
    [FT_X_ONCE_BEGIN] = {"once @o%N, @nothing", NOTHING},
    [FT_X_CREATE] = {"create @t%N, 0", NOTHING},
    [FT_X_JOIN] = {"join %N", NOTHING},
    [FT_X_EXIT] = {"exit %V", NOTHING},
};

static const written TIMED_WAIT = {"%x = timed_wait @o%N, @o%O", IF_LATE};
static const written LOOKED_AT = {"%x = barrier_wait @o%N", IF_LAST};

/* The other one of the pair says it all. */
static bool is_silent(uint32_t kind)
{
    return kind == FT_X_WAIT || kind == FT_X_LEAVE || kind == FT_X_ONCE_END;
}

static void put_number(ft_strbuf *out, const char *register_name, uint32_t at, int64_t value)
{
    if (register_name)
        ft_strbuf_printf(out, "%%%s%u", register_name, at);
    else
        ft_strbuf_printf(out, "%" PRId64, value);
}

/* Fills in the letters; names get the instruction's number, since a register is assigned once. */
static void put_pattern(const char *text, const ft_x_operation *o, uint32_t at, ft_strbuf *out)
{
    bool atomic = ft_x_kind_class(o->kind) == FT_X_ATOMIC;
    for (; *text; text++) {
        if (*text != '%') {
            ft_strbuf_add(out, text, 1);
            continue;
        }
        switch (*++text) {
        case 'N':
            ft_strbuf_printf(out, "%u", o->object);
            break;
        case 'O':
            ft_strbuf_printf(out, "%u", o->other);
            break;
        case 'V':
            put_number(out, atomic ? "v" : NULL, at, o->value);
            break;
        case 'W':
            put_number(out, atomic ? "w" : NULL, at, o->value2);
            break;
        default:
            ft_strbuf_printf(out, "%%%c%u", *text, at);
        }
    }
}

static void put_result(result r, uint32_t t, uint32_t at, ft_strbuf *out)
{
    if (r == NOTHING) return;
    if (r == IF_ZERO) ft_strbuf_printf(out, "    %%e%u = eq i32 %%x%u, 0\n", at, at);
    if (r == IF_LATE) ft_strbuf_printf(out, "    %%e%u = eq i32 %%x%u, 110\n", at, at);
    if (r == IF_LAST) ft_strbuf_printf(out, "    %%e%u = eq i32 %%x%u, -1\n", at, at);
    if (r == IF_EQUAL) ft_strbuf_printf(out, "    %%e%u = eq i64 %%x%u, %%v%u\n", at, at, at);
    if (r != AS_64)
        ft_strbuf_printf(out, "    %%r%u = zext i64 %%%c%u\n", at, r == AS_32 ? 'x' : 'e', at);
    ft_strbuf_printf(out, "    store i64 %%%c%u, @registers%u\n", r == AS_64 ? 'x' : 'r', at, t);
}

/* The operands of an atomic and what LOCAL_USE added to them. */
static void put_operands(const ft_x_operation *o, uint32_t t, uint32_t at, ft_strbuf *out)
{
    if (ft_x_kind_class(o->kind) != FT_X_ATOMIC) return;
    for (int i = 0; i < 2; i++)
        ft_strbuf_printf(out,
                         "    %%a%u.%d = load i64 @added%u+%d\n"
                         "    %%%c%u = add i64 %%a%u.%d, %" PRId64 "\n"
                         "    store i64 0, @added%u+%d\n",
                         at, i, t, 8 * i, "vw"[i], at, at, i, i ? o->value2 : o->value, t, 8 * i);
}

static void put_operation(const ft_x_operation *o, uint32_t t, uint32_t at, ft_strbuf *out)
{
    const written *w = &WRITTEN[o->kind];
    if (o->kind == FT_X_WAKE && o->value) w = &TIMED_WAIT;
    if (o->kind == FT_X_ARRIVE && o->value2) w = &LOOKED_AT;
    put_operands(o, t, at, out);
    ft_strbuf_puts(out, "    ");
    put_pattern(w->text, o, at, out);
    ft_strbuf_puts(out, "\n");
    put_result(w->result, t, at, out);
}

static void put_skip(const ft_x_operation *o, uint32_t t, uint32_t at, ft_strbuf *out)
{
    int64_t to = (int64_t)at + 1 + o->value2;
    bool unless = o->kind == LOCAL_SKIP_UNLESS;
    ft_strbuf_printf(out,
                     "    %%g%u = load i64 @registers%u+%u\n"
                     "    %%e%u = eq i64 %%g%u, %" PRId64 "\n"
                     "    branch %%e%u, at%" PRId64 ", at%" PRId64 "\n",
                     at, t, 8 * o->other, at, at, o->value, at, unless ? (int64_t)at + 1 : to,
                     unless ? to : (int64_t)at + 1);
}

/* register[other] and globals are memory; %g is read from `from`. */
static void put_move(uint32_t at, const char *from, const char *to, int64_t add, ft_strbuf *out)
{
    ft_strbuf_printf(out,
                     "    %%g%u = load i64 %s\n    %%h%u = add i64 %%g%u, %" PRId64 "\n"
                     "    store i64 %%h%u, %s\n",
                     at, from, at, at, add, at, to);
}

static bool put_local(const ft_x_operation *o, uint32_t t, uint32_t at, ft_strbuf *out)
{
    char own[40], zero[40], global[40], added[40];
    snprintf(own, sizeof own, "@registers%u+%u", t, 8 * o->other);
    snprintf(zero, sizeof zero, "@registers%u", t);
    snprintf(global, sizeof global, "@globals+%u", 8 * o->object);
    snprintf(added, sizeof added, "@added%u+%" PRId64, t, 8 * o->value);
    switch ((int)o->kind) {
    case LOCAL_SET:
        ft_strbuf_printf(out, "    store i64 %" PRId64 ", %s\n", o->value, global);
        break;
    case LOCAL_PUT:
        put_move(at, own, global, o->value, out);
        break;
    case LOCAL_GET:
        put_move(at, global, own, 0, out);
        break;
    case LOCAL_ADD:
        put_move(at, own, own, o->value, out);
        break;
    case LOCAL_COPY:
        put_move(at, zero, own, 0, out);
        break;
    case LOCAL_USE:
        put_move(at, own, added, 0, out);
        break;
    default:
        return false; /* NEED: programs that fail are compared elsewhere */
    }
    return true;
}

static void put_choice(uint32_t t, uint32_t at, ft_strbuf *out)
{
    ft_strbuf_printf(out,
                     "    %%x%u = input \"choice\" i1\n    %%r%u = zext i64 %%x%u\n"
                     "    store i64 %%r%u, @registers%u\n",
                     at, at, at, at, t);
}

static bool put_instruction(const ft_x_operation *o, uint32_t t, uint32_t at, ft_strbuf *out)
{
    ft_strbuf_printf(out, "  at%u:\n", at);
    bool skips = o->kind == LOCAL_SKIP_IF || o->kind == LOCAL_SKIP_UNLESS;
    if (skips)
        put_skip(o, t, at, out);
    else if (o->kind >= FT_X_KINDS) {
        if (!put_local(o, t, at, out)) return false;
    } else if (o->kind == FT_X_CHOOSE)
        put_choice(t, at, out);
    else if (WRITTEN[o->kind].text)
        put_operation(o, t, at, out);
    else if (!is_silent(o->kind))
        return false;
    if (o->kind != FT_X_EXIT && !skips) ft_strbuf_printf(out, "    jump at%u\n", at + 1);
    return true;
}

static bool is_created(const schedule_program *p, uint32_t thread)
{
    for (uint32_t t = 0; t < p->n_threads; t++)
        for (uint32_t i = 0; i < p->length[t]; i++)
            if (p->code[t][i].kind == FT_X_CREATE && p->code[t][i].object == thread) return true;
    return false;
}

static void put_start(const schedule_program *p, ft_strbuf *out)
{
    for (uint32_t i = 0; i < SCHEDULE_OBJECTS; i++)
        if (p->initial[i])
            ft_strbuf_printf(out, "    store i64 %" PRId64 ", @o%u\n", p->initial[i], i);
    for (uint32_t s = 5; s < 7; s++)
        ft_strbuf_printf(out, "    sem_init @o%u, %" PRId64 "\n", s, p->initial[s]);
    ft_strbuf_printf(out, "    barrier_init @o10, %u\n", p->n_threads);
    for (uint32_t t = 1; t < p->n_threads; t++)
        if (!is_created(p, t)) ft_strbuf_printf(out, "    create @t%u, 0\n", t);
}

static bool put_thread(const schedule_program *p, uint32_t t, ft_strbuf *out)
{
    if (t)
        ft_strbuf_printf(out, "function @t%u(%%argument: i64) -> i64 {\n  start:\n", t);
    else
        ft_strbuf_puts(out, "function @main() {\n  start:\n");
    if (!t) put_start(p, out);
    ft_strbuf_puts(out, "    jump at0\n");
    for (uint32_t i = 0; i < p->length[t]; i++)
        if (!put_instruction(&p->code[t][i], t, i, out)) return false;
    ft_strbuf_printf(out, "  at%u:\n    end 0\n}\n", p->length[t]);
    return true;
}

/* A thread that locks again what it holds to write gets an error number, as glibc has it; in the
 * oracle it waits forever. */
static bool relocks(const schedule_program *p, uint32_t t)
{
    bool writes = false;
    for (uint32_t i = 0; i < p->length[t]; i++) {
        uint32_t kind = p->code[t][i].kind;
        if (writes && (kind == FT_X_READ_LOCK || kind == FT_X_WRITE_LOCK)) return true;
        if (kind == FT_X_WRITE_LOCK) writes = true;
        if (kind == FT_X_WRITE_UNLOCK) writes = false;
    }
    return false;
}

/* Limits that pass only where no thread can go on, and wake-ups by themselves. */
static bool has_late_limits(const schedule_program *p, uint32_t t)
{
    for (uint32_t i = 0; i < p->length[t]; i++) {
        const ft_x_operation *o = &p->code[t][i];
        bool waits = o->kind == FT_X_LOCK || o->kind == FT_X_WAKE || o->kind == FT_X_TAKE ||
                     o->kind == FT_X_READ_LOCK || o->kind == FT_X_WRITE_LOCK ||
                     o->kind == FT_X_JOIN;
        bool early = o->kind == FT_X_WAKE && o->value == (FT_X_TIMED | FT_X_EARLY);
        if (waits && o->value && !early) return true;
    }
    return false;
}

static bool chooses(const schedule_program *p)
{
    for (uint32_t t = 0; t < p->n_threads; t++)
        for (uint32_t i = 0; i < p->length[t]; i++)
            if (p->code[t][i].kind == FT_X_CHOOSE) return true;
    return false;
}

static bool put_program(const schedule_program *p, ft_strbuf *out)
{
    FT_REQUIRE(p && out);
    for (uint32_t t = 0; t < p->n_threads; t++)
        if (relocks(p, t) || has_late_limits(p, t)) return false;
    ft_strbuf_puts(out, "program 1\nobject @globals 64 align 8\n");
    for (uint32_t i = 0; i < SCHEDULE_OBJECTS; i++)
        ft_strbuf_printf(out, "object @o%u 64 align 8\n", i);
    for (uint32_t t = 0; t < p->n_threads; t++)
        ft_strbuf_printf(out, "object @registers%u 32 align 8\nobject @added%u 16 align 8\n", t, t);
    ft_strbuf_puts(out, "function @nothing() {\n  start:\n    return\n}\n");
    for (uint32_t t = 0; t < p->n_threads; t++)
        if (!put_thread(p, t, out)) return false;
    return !p->polls;
}

bool ft_schedules_text(const schedule_program *p, ft_strbuf *out)
{
    return !chooses(p) && put_program(p, out);
}

bool ft_schedules_text_open(const schedule_program *p, ft_strbuf *out)
{
    return chooses(p) && put_program(p, out);
}
