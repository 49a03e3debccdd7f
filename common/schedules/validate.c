#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "schedules/schedules.h"

#define TRY(expression)                                                                            \
    do {                                                                                           \
        ft_status try_status = (expression);                                                       \
        if (try_status != FT_OK) return try_status;                                                \
    } while (0)

typedef struct checked {
    const ft_schedule_set *set;
    const ft_epoch *epoch;
    ft_error *err;
} checked;

#define WRONG(c, ...) ft_error_set((c)->err, FT_INPUT, __VA_ARGS__)

/* "0", "0.2", "0.2.1": numbers from 1 behind the first, without leading zeros. */
static bool is_thread_name(const char *name)
{
    if (*name++ != '0') return false;
    while (*name == '.') {
        if (name[1] < '1' || name[1] > '9') return false;
        for (name++; *name >= '0' && *name <= '9';) name++;
    }
    return !*name;
}

static bool is_word(const char *text)
{
    for (const char *c = text; *c; c++)
        if (*c <= ' ' || *c == '"' || *c == ';' || *c == 127) return false;
    return *text != '\0';
}

/* @name+8, 0.1@name+8, heap:0.1#2+8, stack:0.1#2+8 */
static bool is_object_name(const char *name)
{
    const char *plus = strrchr(name, '+');
    if (!plus || !plus[1] || strspn(plus + 1, "0123456789") != strlen(plus + 1)) return false;
    return is_word(name) && strpbrk(name, "@#") && strpbrk(name, "@#") < plus;
}

static ft_status check_inputs(checked *c)
{
    const ft_schedule_set *set = c->set;
    for (size_t i = 0; i < set->inputs.len; i++) {
        const ft_schedule_input *in = &set->inputs.data[i];
        const char *label = ft_schedule_text_of(set, in->label);
        if (!in->width || in->width > 64 || !in->n || !is_word(label) || strpbrk(label, "()|#") ||
            !is_thread_name(ft_schedule_text_of(set, in->thread)))
            return WRONG(c, "input '%s' has a label, width, thread or number that none has", label);
        for (size_t k = 0; k < i; k++)
            if (set->inputs.data[k].label == in->label)
                return WRONG(c, "two inputs have the label '%s'", label);
    }
    return FT_OK;
}

/* ---- selectors ---- */

static void note_symbol(void *context, ft_symbol symbol)
{
    uint32_t *most = context;
    if (symbol >= *most) *most = symbol + 1;
}

static ft_status check_term(checked *c, ft_term term)
{
    uint32_t most = 0;
    if (term > ft_term_pool_count(c->set->pool) ||
        !ft_sort_equal(ft_term_sort(c->set->pool, term), FT_BOOL_SORT))
        return WRONG(c, "a condition of epoch %s is not a Bool",
                     ft_schedule_text_of(c->set, c->epoch->name));
    ft_term_symbols(c->set->pool, term, note_symbol, &most);
    if (most > c->set->inputs.len)
        return WRONG(c, "a condition of epoch %s has an unknown input",
                     ft_schedule_text_of(c->set, c->epoch->name));
    return FT_OK;
}

/* Each choice but the root is the yes or no of one before it. */
static ft_status check_selector(checked *c)
{
    const ft_epoch *e = c->epoch;
    const char *name = ft_schedule_text_of(c->set, e->name);
    if (!e->choices.len) return WRONG(c, "epoch %s has no selector", name);
    if (e->init != FT_NO_TERM) TRY(check_term(c, e->init));
    size_t named = 1;
    for (size_t i = 0; i < e->choices.len; i++) {
        const ft_choice *x = &e->choices.data[i];
        bool leaf = x->term == FT_NO_TERM;
        if (leaf && x->schedule != FT_NO_SCHEDULE && x->schedule >= e->schedules.len)
            return WRONG(c, "epoch %s: the selector takes a schedule that is not there", name);
        if (leaf) continue;
        if (x->yes != i + 1 || x->no <= x->yes || x->no >= e->choices.len)
            return WRONG(c, "epoch %s: the selector is not a tree", name);
        TRY(check_term(c, x->term));
        named += 2;
    }
    return named == e->choices.len ? FT_OK : WRONG(c, "epoch %s: the selector is not a tree", name);
}

/* ---- schedules ---- */

static ft_status check_names(checked *c, const ft_schedule *s, const char *where)
{
    if (s->threads.len > FT_SCHEDULE_THREADS)
        return WRONG(c, "schedule %s has more than %d threads", where, FT_SCHEDULE_THREADS);
    for (size_t i = 0; i < s->threads.len; i++) {
        if (!is_thread_name(ft_schedule_text_of(c->set, s->threads.data[i])))
            return WRONG(c, "schedule %s: '%s' is not a thread's name", where,
                         ft_schedule_text_of(c->set, s->threads.data[i]));
        for (size_t k = 0; k < i; k++)
            if (s->threads.data[i] == s->threads.data[k])
                return WRONG(c, "schedule %s: two threads have one name", where);
    }
    for (size_t i = 0; i < s->objects.len; i++) {
        if (!is_object_name(ft_schedule_text_of(c->set, s->objects.data[i])))
            return WRONG(c, "schedule %s: '%s' is not an object's name", where,
                         ft_schedule_text_of(c->set, s->objects.data[i]));
        for (size_t k = 0; k < i; k++)
            if (s->objects.data[i] == s->objects.data[k])
                return WRONG(c, "schedule %s: two objects have one name", where);
    }
    return FT_OK;
}

static bool has_other(ft_node_kind kind)
{
    return kind == FT_NODE_WAIT || kind == FT_NODE_WAKE || kind == FT_NODE_TIMED_WAIT ||
           kind == FT_NODE_TIMED_WAKE;
}

static bool may_time_out(ft_node_kind kind)
{
    return kind == FT_NODE_TIMED_LOCK || kind == FT_NODE_SEM_TIMED || kind == FT_NODE_TIMED_WAKE;
}

static bool fits(const ft_schedule *s, const ft_node *n)
{
    const ft_node_row *row = ft_node_row_of((ft_node_kind)n->kind);
    bool peer = n->peer == FT_NO_ID ? !row->peer || n->kind == FT_NODE_SIGNAL
                                    : row->peer && n->peer < s->threads.len;
    bool object = row->object ? n->object < s->objects.len : n->object == FT_NO_ID;
    bool other =
        has_other((ft_node_kind)n->kind) ? n->other < s->objects.len : n->other == FT_NO_ID;
    return peer && object && other && (!n->timed_out || may_time_out((ft_node_kind)n->kind));
}

/* Edges go to smaller numbers of other threads, so that there is no cycle. */
static ft_status check_node(checked *c, const ft_schedule *s, uint32_t i, uint64_t *ended,
                            const char *where)
{
    const ft_node *n = &s->nodes.data[i];
    if (n->kind >= FT_NODE_KINDS || n->thread >= s->threads.len || !fits(s, n))
        return WRONG(c, "schedule %s: node %u does not have what its operation needs", where, i);
    uint64_t bit = UINT64_C(1) << n->thread;
    if (*ended & bit)
        return WRONG(c, "schedule %s: thread %s goes on after its end", where,
                     ft_schedule_text_of(c->set, s->threads.data[n->thread]));
    if (n->kind == FT_NODE_END || n->kind == FT_NODE_EXIT) *ended |= bit;
    if (n->edges > s->edges.len || n->n_edges > s->edges.len - n->edges)
        return WRONG(c, "schedule %s: node %u has edges that are not there", where, i);
    for (uint32_t k = 0; k < n->n_edges; k++) {
        uint32_t other = s->edges.data[n->edges + k];
        if (other >= i || s->nodes.data[other].thread == n->thread)
            return WRONG(c,
                         "schedule %s: an edge of node %u does not come from an earlier node of "
                         "another thread",
                         where, i);
    }
    return FT_OK;
}

static ft_status check_schedule(checked *c, const ft_schedule *s)
{
    const char *where = ft_schedule_text_of(c->set, s->name);
    uint64_t ended = 0;
    if (!is_word(where)) return WRONG(c, "a schedule has no name");
    if (s->end >= FT_SCHEDULE_ENDS || (s->end == FT_SCHEDULE_EPOCH) != (s->next != FT_NO_ID))
        return WRONG(c, "schedule %s: its end does not fit", where);
    TRY(check_names(c, s, where));
    for (uint32_t i = 0; i < s->nodes.len; i++) TRY(check_node(c, s, i, &ended, where));
    if (s->end != FT_SCHEDULE_EPOCH) return FT_OK;
    for (size_t i = 0; i < c->set->epochs.len; i++)
        if (c->set->epochs.data[i].name == s->next) return FT_OK;
    return WRONG(c, "schedule %s ends at epoch %s, which is not there", where,
                 ft_schedule_text_of(c->set, s->next));
}

static ft_status check_epoch(checked *c)
{
    const ft_epoch *e = c->epoch;
    const char *name = ft_schedule_text_of(c->set, e->name);
    if (!is_word(name)) return WRONG(c, "an epoch has no name");
    for (const ft_epoch *other = c->set->epochs.data; other < e; other++)
        if (other->name == e->name) return WRONG(c, "two epochs have the name %s", name);
    for (size_t i = 0; i < e->places.len; i++)
        if (!is_thread_name(ft_schedule_text_of(c->set, e->places.data[i].thread)))
            return WRONG(c, "epoch %s: a place has no thread", name);
    TRY(check_selector(c));
    for (size_t i = 0; i < e->schedules.len; i++) {
        TRY(check_schedule(c, &e->schedules.data[i]));
        for (size_t k = 0; k < i; k++)
            if (e->schedules.data[k].name == e->schedules.data[i].name)
                return WRONG(c, "epoch %s: two schedules have the name %s", name,
                             ft_schedule_text_of(c->set, e->schedules.data[i].name));
    }
    return FT_OK;
}

ft_status ft_schedule_set_validate(const ft_schedule_set *set, ft_error *err)
{
    FT_REQUIRE(set);
    checked c = {.set = set, .err = err};
    if (!set->epochs.len) return WRONG(&c, "the set has no epoch");
    if (set->program != FT_NO_ID && !is_word(ft_schedule_text_of(set, set->program)))
        return WRONG(&c, "the program's hash is not one");
    TRY(check_inputs(&c));
    for (size_t i = 0; i < set->epochs.len; i++) {
        c.epoch = &set->epochs.data[i];
        TRY(check_epoch(&c));
    }
    return FT_OK;
}
