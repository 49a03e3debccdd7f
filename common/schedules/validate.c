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
    bool strange; /* a condition has a symbol that the epoch does not have */
    ft_error *err;
} checked;

#define WRONG(c, ...) ft_error_set((c)->err, FT_INPUT, __VA_ARGS__)

/* "0", "0.2", "0.2.1": one of the epoch's `n` threads, and numbers from 1 behind it, without
 * leading zeros. */
static bool is_thread_name(const char *name, size_t n)
{
    size_t root = 0;
    if (*name == '0' && name[1] >= '0' && name[1] <= '9') return false;
    if (*name < '0' || *name > '9') return false;
    for (; *name >= '0' && *name <= '9' && root < n; name++)
        root = root * 10 + (size_t)(*name - '0');
    if (root >= n) return false;
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

/* How many threads an epoch begins with. */
static size_t threads_of(const ft_epoch *e)
{
    return e->stands.len ? e->stands.len : 1;
}

static bool is_place(const ft_schedule_set *set, uint32_t text, ft_state_place *place, size_t n)
{
    if (!ft_state_place_read(ft_schedule_text_of(set, text), place)) return false;
    return place->kind == FT_STATE_GLOBAL || place->kind == FT_STATE_HEAP || place->thread < n;
}

/* A result is one of a thread that has ended; bits of memory are whole bytes. */
static bool has_width(const ft_epoch *e, const ft_state_place *place, uint8_t width)
{
    enum { RESULT = 64 };
    if (place->kind == FT_STATE_RESULT)
        return width == RESULT && place->thread < e->stands.len &&
               e->stands.data[place->thread].kind == FT_STANDING_ENDED;
    return place->kind == FT_STATE_REGISTER || width % 8 == 0;
}

static bool is_handle(const ft_schedule_set *set, uint32_t text, size_t n)
{
    uint32_t thread;
    return ft_state_handle_read(ft_schedule_text_of(set, text), &thread) && thread < n;
}

/* An input of the program, or the content of a place. */
static bool is_symbol(const ft_schedule_set *set, const ft_schedule_input *in)
{
    ft_state_place place;
    if (!in->width || in->width > 64 || in->epoch >= set->epochs.len) return false;
    if (in->dynamic && !in->n) return false;
    if (in->loop && !in->dynamic) return false;
    size_t n = threads_of(&set->epochs.data[in->epoch]);
    if (in->n) return is_thread_name(ft_schedule_text_of(set, in->thread), n);
    return in->epoch && in->thread == FT_NO_ID && is_place(set, in->name, &place, n) &&
           has_width(&set->epochs.data[in->epoch], &place, in->width);
}

static ft_status check_inputs(checked *c)
{
    const ft_schedule_set *set = c->set;
    for (size_t i = 0; i < set->inputs.len; i++) {
        const ft_schedule_input *in = &set->inputs.data[i];
        const char *label = ft_schedule_text_of(set, in->label);
        if (!is_symbol(set, in) || !is_word(label) || strpbrk(label, "()|#"))
            return WRONG(c, "input '%s' has a label, width, place, thread or number that none has",
                         label);
        for (size_t k = 0; k < i; k++)
            if (set->inputs.data[k].label == in->label)
                return WRONG(c, "two inputs have the label '%s'", label);
    }
    return FT_OK;
}

/* ---- selectors ---- */

static void check_symbol(void *context, ft_symbol symbol)
{
    checked *c = context;
    uint32_t own = (uint32_t)(c->epoch - c->set->epochs.data);
    if (symbol >= c->set->inputs.len || c->set->inputs.data[symbol].epoch != own) c->strange = true;
}

static ft_status check_term(checked *c, ft_term term)
{
    if (term > ft_term_pool_count(c->set->pool) ||
        !ft_sort_equal(ft_term_sort(c->set->pool, term), FT_BOOL_SORT))
        return WRONG(c, "a condition of epoch %s is not a Bool",
                     ft_schedule_text_of(c->set, c->epoch->name));
    ft_term_symbols(c->set->pool, term, check_symbol, c);
    if (c->strange)
        return WRONG(c, "a condition of epoch %s has an input that the epoch does not have",
                     ft_schedule_text_of(c->set, c->epoch->name));
    return FT_OK;
}

/* An epoch that begins later is compared with the state before anything is read in it. */
static void check_known(void *context, ft_symbol symbol)
{
    checked *c = context;
    if (c->set->inputs.data[symbol].dynamic) c->strange = true;
}

static ft_status check_init(checked *c)
{
    const ft_epoch *e = c->epoch;
    if (e->init == FT_NO_TERM) return FT_OK;
    TRY(check_term(c, e->init));
    if (e->stands.len) ft_term_symbols(c->set->pool, e->init, check_known, c);
    if (c->strange)
        return WRONG(c, "the init of epoch %s has an input that is not known when it begins",
                     ft_schedule_text_of(c->set, e->name));
    return FT_OK;
}

/* Each choice but the root is the yes or no of one before it. */
static ft_status check_selector(checked *c)
{
    const ft_epoch *e = c->epoch;
    const char *name = ft_schedule_text_of(c->set, e->name);
    if (!e->choices.len) return WRONG(c, "epoch %s has no selector", name);
    TRY(check_init(c));
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
        if (!is_thread_name(ft_schedule_text_of(c->set, s->threads.data[i]), threads_of(c->epoch)))
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

/* Does every thread of the schedule end in it, or before? Threads that stand at the epoch's begin
 * and have no node do not. */
static bool all_end(const checked *c, const ft_schedule *s, uint64_t ended)
{
    uint64_t left = 0, listed = 0;
    for (uint32_t t = 0; t < s->threads.len; t++) {
        char *rest;
        const char *name = ft_schedule_text_of(c->set, s->threads.data[t]);
        size_t own = strtoul(name, &rest, 10);
        bool stands = !*rest && own < c->epoch->stands.len;
        bool before = stands && c->epoch->stands.data[own].kind == FT_STANDING_ENDED;
        if (stands) listed |= UINT64_C(1) << own;
        if (!before && !(ended >> t & 1)) left |= UINT64_C(1) << t;
    }
    for (size_t i = 0; i < c->epoch->stands.len; i++)
        if (!(listed >> i & 1) && c->epoch->stands.data[i].kind != FT_STANDING_ENDED) return false;
    return !left;
}

/* How it ends is as its nodes say: the end of the process belongs to `exited`, and to `failed`
 * where the program asks for it; else all threads have ended in `ended`, and one has not otherwise.
 */
static ft_status check_end(checked *c, const ft_schedule *s, uint64_t ended, const char *where)
{
    bool exits = false;
    for (size_t i = 0; i < s->nodes.len; i++) exits |= s->nodes.data[i].kind == FT_NODE_EXIT;
    if (exits && s->end != FT_SCHEDULE_EXITED && s->end != FT_SCHEDULE_FAILED)
        return WRONG(c, "schedule %s ends the process, so its end is 'exited' or 'failed'", where);
    if (!exits && s->end == FT_SCHEDULE_EXITED)
        return WRONG(c, "schedule %s has no node that ends the process: it is not 'exited'", where);
    if (exits || s->end == FT_SCHEDULE_EPOCH) return FT_OK;
    bool all = all_end(c, s, ended);
    if (s->end == FT_SCHEDULE_ENDED && !all)
        return WRONG(c, "schedule %s has threads that do not end: it is not 'ended'", where);
    if (s->end != FT_SCHEDULE_ENDED && all)
        return WRONG(c, "schedule %s has the end of every thread, so its end is 'ended'", where);
    return FT_OK;
}

/* The epoch that comes behind it, with a thread of the schedule for each of its own. */
static ft_status check_next(checked *c, const ft_schedule *s, const char *where)
{
    uint64_t seen = 0;
    if (s->end != FT_SCHEDULE_EPOCH)
        return s->bound.len ? WRONG(c, "schedule %s: its end does not fit", where) : FT_OK;
    uint32_t next = ft_schedule_epoch_named(c->set, s->next);
    if (next == FT_NO_ID)
        return WRONG(c, "schedule %s ends at epoch %s, which is not there", where,
                     ft_schedule_text_of(c->set, s->next));
    if (!next) return WRONG(c, "schedule %s ends at the program's entry", where);
    if (s->bound.len != c->set->epochs.data[next].stands.len)
        return WRONG(c, "schedule %s has %zu threads for the %zu of epoch %s", where, s->bound.len,
                     c->set->epochs.data[next].stands.len, ft_schedule_text_of(c->set, s->next));
    for (size_t i = 0; i < s->bound.len; i++) {
        if (s->bound.data[i] >= s->threads.len || seen >> s->bound.data[i] & 1)
            return WRONG(c, "schedule %s: a thread of epoch %s is no thread's or another's", where,
                         ft_schedule_text_of(c->set, s->next));
        seen |= UINT64_C(1) << s->bound.data[i];
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
    TRY(check_end(c, s, ended, where));
    return check_next(c, s, where);
}

/* ---- the state at an epoch's begin ---- */

static ft_status check_stands(checked *c, const char *name)
{
    const ft_epoch *e = c->epoch;
    bool entry = e == c->set->epochs.data;
    if (entry && (e->stands.len || e->objects.len || e->cells.len || e->syncs.len || e->locals.len))
        return WRONG(c, "epoch %s is the program's entry, which has no state of its own", name);
    if (!entry && !e->stands.len)
        return WRONG(c, "epoch %s does not say where its threads stand", name);
    if (e->stands.len > FT_SCHEDULE_THREADS)
        return WRONG(c, "epoch %s has more than %d threads", name, FT_SCHEDULE_THREADS);
    for (size_t i = 0; i < e->stands.len; i++) {
        const ft_standing *at = &e->stands.data[i];
        bool ended = at->kind == FT_STANDING_ENDED;
        if (at->kind > FT_STANDING_ENDED || ended == (at->calls.len > 0) ||
            (at->last && at->kind != FT_NODE_LEAVE))
            return WRONG(c, "epoch %s: thread %zu does not stand anywhere", name, i);
    }
    return FT_OK;
}

static ft_status check_objects(checked *c, const char *name)
{
    const ft_epoch *e = c->epoch;
    ft_strbuf place = {0};
    bool good = true;
    const char *what = "";
    for (size_t i = 0; i < e->objects.len && good; i++) {
        ft_state_place p;
        what = ft_schedule_text_of(c->set, e->objects.data[i].name);
        ft_strbuf_clear(&place);
        ft_strbuf_printf(&place, "%s+0", what);
        good =
            ft_state_place_read(place.text, &p) &&
            (p.kind == FT_STATE_HEAP || (p.kind == FT_STATE_STACK && p.thread < e->stands.len)) &&
            e->objects.data[i].size <= FT_PROGRAM_MAX_OBJECT;
        for (size_t k = 0; k < i; k++)
            good = good && e->objects.data[k].name != e->objects.data[i].name;
    }
    ft_strbuf_release(&place);
    return good ? FT_OK
                : WRONG(c,
                        "epoch %s: object '%s' is there twice, too large, or not of the heap or "
                        "the stack of one of its threads",
                        name, what);
}

static ft_status check_cells(checked *c, const char *name)
{
    const ft_epoch *e = c->epoch;
    for (size_t i = 0; i < e->cells.len; i++) {
        const ft_epoch_cell *cell = &e->cells.data[i];
        ft_state_place place, to;
        bool address = cell->address != FT_NO_ID;
        bool good = is_place(c->set, cell->place, &place, e->stands.len) && cell->width &&
                    cell->width <= 64 && has_width(e, &place, cell->width) &&
                    (cell->width == 64 || cell->bits >> cell->width == 0);
        if (address)
            good = good && cell->width == 64 && !cell->bits &&
                   (is_handle(c->set, cell->address, e->stands.len) ||
                    (is_place(c->set, cell->address, &to, e->stands.len) &&
                     ft_state_place_is_memory(&to)));
        if (!good)
            return WRONG(c, "epoch %s: '%s' is not a cell of that width and content", name,
                         ft_schedule_text_of(c->set, cell->place));
    }
    return FT_OK;
}

static ft_status check_syncs(checked *c, const char *name)
{
    const ft_epoch *e = c->epoch;
    uint64_t all = e->stands.len ? UINT64_MAX >> (FT_SCHEDULE_THREADS - e->stands.len) : 0;
    for (size_t i = 0; i < e->syncs.len; i++) {
        const ft_epoch_sync *s = &e->syncs.data[i];
        ft_state_place place;
        bool good = is_place(c->set, s->place, &place, e->stands.len) &&
                    ft_state_place_is_memory(&place) && s->kind < FT_EPOCH_SYNC_KINDS &&
                    s->mutex < FT_MUTEXES && (s->owner == FT_NO_ID || s->owner < e->stands.len) &&
                    !((s->waiters | s->notified | s->arrived) & ~all);
        for (size_t t = e->stands.len; t < FT_SCHEDULE_THREADS; t++) good = good && !s->reads[t];
        for (size_t k = 0; k < i; k++) good = good && e->syncs.data[k].place != s->place;
        if (!good)
            return WRONG(c, "epoch %s: '%s' is there twice, or has threads that are not", name,
                         ft_schedule_text_of(c->set, s->place));
    }
    return FT_OK;
}

static ft_status check_locals(checked *c, const char *name)
{
    const ft_epoch *e = c->epoch;
    for (size_t i = 0; i < e->locals.len; i++) {
        const ft_epoch_local *l = &e->locals.data[i];
        ft_state_place place;
        bool good =
            is_place(c->set, l->place, &place, e->stands.len) &&
            (place.kind == FT_STATE_REGISTER || (place.kind == FT_STATE_STACK && !place.offset)) &&
            *ft_schedule_text_of(c->set, l->name) && *ft_schedule_text_of(c->set, l->file);
        for (size_t k = 0; k < i; k++) good = good && e->locals.data[k].place != l->place;
        if (!good)
            return WRONG(c, "epoch %s: '%s' is there twice, or not a variable of a thread", name,
                         ft_schedule_text_of(c->set, l->place));
    }
    return FT_OK;
}

static ft_status check_state(checked *c, const char *name)
{
    TRY(check_stands(c, name));
    TRY(check_objects(c, name));
    TRY(check_cells(c, name));
    TRY(check_syncs(c, name));
    return check_locals(c, name);
}

static ft_status check_epoch(checked *c)
{
    const ft_epoch *e = c->epoch;
    const char *name = ft_schedule_text_of(c->set, e->name);
    if (!is_word(name)) return WRONG(c, "an epoch has no name");
    for (const ft_epoch *other = c->set->epochs.data; other < e; other++)
        if (other->name == e->name) return WRONG(c, "two epochs have the name %s", name);
    TRY(check_state(c, name));
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
