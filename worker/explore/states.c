/* States for cutoffs (explore/cutoffs.h): their names, and by how much a step changes their
 * fingerprints. A state is the symbolic one, what the search's names of threads and objects come
 * from, polls, which thread learns of which conditions, and which accesses may still race. */
#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "explore/names.h"
#include "explore/running.h"
#include "symbolic/cutoff_faults.h"

static void number(ft_strbuf *out, uint64_t n)
{
    ft_strbuf_add(out, (const char *)&n, sizeof n);
}

static ft_x_name name_of(const void *bytes, size_t n)
{
    return (ft_x_name){ft_hash_bytes(bytes, n, 23), ft_hash_bytes(bytes, n, UINT64_C(1) << 40)};
}

/* ---- labels: actions by names that are the same in every process ---- */

static uint64_t object_name(const ft_symbolic *c, uint32_t object)
{
    bool named = object >= FIRST_OBJECT && object - FIRST_OBJECT < c->names.len;
    return named ? c->names.data[object - FIRST_OBJECT] : object;
}

static uint64_t operation_label(const ft_symbolic *c, const ft_x_operation *o)
{
    ft_x_class class = ft_x_kind_class((ft_x_kind)o->kind);
    bool by_name = class != FT_X_NO_OBJECT && class != FT_X_THREAD && class != FT_X_PROCESS;
    bool waits = o->kind == FT_X_WAIT || o->kind == FT_X_WAKE;
    const uint64_t words[] = {o->kind, by_name ? object_name(c, o->object) : o->object,
                              waits ? object_name(c, o->other) : o->other, (uint64_t)o->value,
                              (uint64_t)o->value2};
    return ft_hash_bytes(words, sizeof words, 29);
}

/* Watches have numbers of the process. */
static uint64_t poll_label(const ft_symbolic *c, const ft_x_operation *poll)
{
    size_t n;
    uint64_t label = poll->kind;
    const ft_x_attempt *all = ft_x_watched(c->watches, poll, &n);
    for (size_t i = 0; i < n; i++) {
        const uint64_t words[] = {label, operation_label(c, &all[i].operation),
                                  (uint64_t)all[i].result};
        label = ft_hash_bytes(words, sizeof words, 31);
    }
    return label;
}

static uint64_t label_of(const ft_symbolic *c, const ft_x_operation *o)
{
    return o->kind == FT_X_AWAIT || o->kind == FT_X_LINGER ? poll_label(c, o)
                                                           : operation_label(c, o);
}

uint64_t ft_running_label(const ft_symbolic *c, const ft_x_action *a)
{
    const uint64_t words[] = {label_of(c, &a->operation), a->thread, a->variant, a->outcome};
    return ft_hash_bytes(words, sizeof words, 37);
}

/* ---- sets, which are written in one order ---- */

typedef FT_VEC(ft_x_name) set;

static void add_to(set *s, const void *bytes, size_t n)
{
    ft_vec_push(s, name_of(bytes, n));
}

static int by_name(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(ft_x_name));
}

static void write_set(set *s, ft_strbuf *out)
{
    if (s->len) qsort(s->data, s->len, sizeof *s->data, by_name);
    number(out, s->len);
    if (s->len) ft_strbuf_add(out, (const char *)s->data, s->len * sizeof *s->data);
    ft_vec_release(s);
}

/* ---- what threads know of conditions ---- */

/* A condition that some thread does not know of yet matters by when others learn of it: with an
 * action that depends on one behind which it is known. Others are known to everybody for good. */
typedef struct knowledge {
    const running *r;
    FT_VEC(ft_sym_condition) open;
} knowledge;

static uint32_t steps_known(const taken *x, uint32_t thread)
{
    return x && thread < x->width ? x->clock[thread] : 0;
}

static bool is_known_to_all(const running *r, const ft_sym_condition *c)
{
    ft_sym_operation o;
    for (uint32_t t = 0; t < ft_sym_thread_count(r->m); t++)
        if (ft_sym_stands_before(r->m, t, &o) && steps_known(r->last[t], c->thread) < c->step)
            return false;
    return true;
}

/* Which of the open conditions are known behind the step, by their terms and threads. */
static ft_x_name known_behind(const knowledge *k, const taken *x)
{
    set known = {0};
    ft_strbuf bytes = {0};
    for (size_t i = 0; i < k->open.len; i++) {
        const ft_sym_condition *c = &k->open.data[i];
        const uint64_t words[] = {c->term, c->thread};
        if (steps_known(x, c->thread) >= c->step) add_to(&known, words, sizeof words);
    }
    bool any = known.len;
    write_set(&known, &bytes);
    ft_x_name name = any ? name_of(bytes.text, bytes.len) : (ft_x_name){0, 0};
    ft_strbuf_release(&bytes);
    return name;
}

/* Of actions that are alike the newest counts. */
static void add_steps(const knowledge *k, uint32_t t, set *to)
{
    ft_map seen = {0};
    for (const taken *x = k->r->last[t]; x; x = x->own) {
        bool fresh;
        uint64_t label = ft_running_label(k->r->c, &x->action);
        ft_map_slot(&seen, label, 0, &fresh);
        ft_x_name known = fresh ? known_behind(k, x) : (ft_x_name){0, 0};
        const uint64_t words[] = {t, label, known.a, known.b};
        if (known.a || known.b) add_to(to, words, sizeof words);
    }
    ft_map_release(&seen);
}

static void write_knowledge(const running *r, ft_strbuf *out)
{
    knowledge k = {.r = r};
    set steps = {0};
    for (size_t i = 0; i < ft_sym_conditions(r->m); i++) {
        ft_sym_condition c = ft_sym_condition_of(r->m, i);
        if (!is_known_to_all(r, &c)) ft_vec_push(&k.open, c);
    }
    for (uint32_t t = 0; t < FT_X_THREADS && k.open.len; t++) {
        ft_x_name now = known_behind(&k, r->last[t]);
        const uint64_t words[] = {t, now.a, now.b};
        if (now.a || now.b) add_to(&steps, words, sizeof words);
        add_steps(&k, t, &steps);
    }
    write_set(&steps, out);
    ft_vec_release(&k.open);
}

/* ---- polls ---- */

static void write_poller(const running *r, uint32_t t, ft_strbuf *out)
{
    const poller *p = r->pollers[t];
    bool stands = p && p->poll.kind != FT_X_NONE;
    number(out, p ? p->visits.len : 0);
    number(out, stands ? label_of(r->c, &p->poll) : 0);
    if (!p || (!p->visits.len && !stands)) return;
    number(out, p->first);
    number(out, ft_sym_changes(r->m, t) - p->changes);
    for (size_t i = 0; i < p->visits.len; i++) {
        const visit *v = &p->visits.data[i];
        number(out, label_of(r->c, &v->attempt.operation));
        number(out, (uint64_t)v->attempt.result);
        number(out, v->address);
        number(out, (uint64_t)v->place.function << 32 | v->place.instruction);
        number(out, v->width);
        ft_sym_mark_bytes(r->m, t, v->mark, out);
    }
}

/* ---- the whole ---- */

static void write_names(const running *r, ft_strbuf *out)
{
    set all = {0};
    for (uint32_t t = 0; t < ft_sym_thread_count(r->m); t++) {
        number(out, r->made[t]);
        number(out, (uint64_t)r->round[t]);
    }
    for (size_t i = 0; i < r->lives.len; i++) {
        const begun *b = &r->lives.data[i];
        const uint64_t words[] = {b->address, b->n, b->count};
        add_to(&all, words, sizeof words);
    }
    write_set(&all, out);
    for (size_t i = 0; i < r->objects.len; i++) {
        const tracked *k = &r->objects.data[i];
        const uint64_t words[] = {i, (uint64_t)k->met << 8 | k->bytes, k->arrivals,
                                  (uint64_t)k->content, (uint64_t)k->first};
        if (k->met || k->bytes || k->arrivals || k->content) add_to(&all, words, sizeof words);
    }
    write_set(&all, out);
    for (size_t i = 0; i < r->arms.len && r->c->options.max_iterations; i++) {
        const arm_count *a = &r->arms.data[i];
        const uint64_t words[] = {(uint64_t)a->thread << 32 | a->arm, a->count, a->place.function,
                                  a->place.instruction};
        add_to(&all, words, sizeof words);
    }
    write_set(&all, out);
}

bool ft_running_name(running *r, ft_x_name *name)
{
    ft_strbuf bytes = {0};
    bool known = ft_sym_state_bytes(r->m, &bytes);
    if (known && r->c->options.races && !ft_sym_fault_is(FT_SYM_FAULT_NO_ORDER))
        known = ft_running_order(r, &bytes);
    if (known) {
        write_names(r, &bytes);
        if (!ft_sym_fault_is(FT_SYM_FAULT_NO_CONDITIONS)) write_knowledge(r, &bytes);
        for (uint32_t t = 0; t < ft_sym_thread_count(r->m); t++) write_poller(r, t, &bytes);
        *name = name_of(bytes.text, bytes.len);
        if (ft_sym_fault_is(FT_SYM_FAULT_NOT_CONFIRMED)) *name = (ft_x_name){r->print, 0};
    }
    ft_strbuf_release(&bytes);
    return known;
}

/* ---- fingerprints ---- */

static uint64_t fragment(uint64_t kind, uint64_t a, uint64_t b, uint64_t c)
{
    const uint64_t words[] = {kind, a, b, c};
    return b || c ? ft_hash_bytes(words, sizeof words, 41) : 0;
}

uint64_t ft_running_print(running *r)
{
    enum { MADE, LIFE, OBJECT, POLLER, ARM };
    uint64_t print = ft_sym_print(r->m);
    for (uint32_t t = 0; t < ft_sym_thread_count(r->m); t++) {
        const poller *p = r->pollers[t];
        print ^= fragment(MADE, t, r->made[t], (uint64_t)r->round[t]);
        if (p) print ^= fragment(POLLER, t, p->visits.len, p->poll.kind);
    }
    for (size_t i = 0; i < r->lives.len; i++)
        print ^=
            fragment(LIFE, r->lives.data[i].address, r->lives.data[i].n, r->lives.data[i].count);
    for (size_t i = 0; i < r->objects.len; i++)
        print ^=
            fragment(OBJECT, i, r->objects.data[i].arrivals, (uint64_t)r->objects.data[i].content);
    for (size_t i = 0; i < r->arms.len && r->c->options.max_iterations; i++)
        print ^=
            fragment(ARM, (uint64_t)r->arms.data[i].place.instruction << 16 | r->arms.data[i].arm,
                     (uint64_t)r->arms.data[i].thread << 32 | r->arms.data[i].count,
                     r->arms.data[i].place.function);
    return print;
}
