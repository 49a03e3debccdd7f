#include "trace/merge.h"

#include <assert.h>
#include <stdlib.h>

#include "trace/branch.h"
#include "trace/merge_align.h"

typedef struct merger {
    ft_builder *builder;
    const char *const *names;
    uint32_t current; /* the trace that is being merged into those before it */
    uint32_t thread;
    ft_error *err;
} merger;

/* ---- messages ------------------------------------------------------------------------------- */

static const ft_trace *tables(const merger *m)
{
    return ft_builder_peek(m->builder);
}

/* "acquire at a.c:3", or that the thread is at its end. */
static void describe(const merger *m, const ft_merge_entry *entry, ft_strbuf *out)
{
    if (!entry) {
        ft_strbuf_puts(out, "the end of the thread");
        return;
    }
    const char *location = ft_trace_location_text(tables(m), entry->loc);
    ft_strbuf_printf(out, "%s at %s", ft_event_kind_name(entry->kind),
                     location ? location : "no location");
}

static ft_status cannot(const merger *m, const ft_merge_entry *first, const ft_merge_entry *second,
                        const char *why)
{
    ft_strbuf one = {0}, two = {0};
    describe(m, first, &one);
    describe(m, second, &two);
    ft_error_set(m->err, FT_INPUT, "thread %s cannot be merged: %s (%s; %s: %s)",
                 ft_trace_thread_name(tables(m), m->thread), why, ft_strbuf_text(&one),
                 m->names[m->current], ft_strbuf_text(&two));
    ft_strbuf_release(&one);
    ft_strbuf_release(&two);
    return FT_INPUT;
}

/* ---- the events of a thread as items -------------------------------------------------------- */

/* Where the parts of an if are. */
typedef struct extent {
    size_t then_end;   /* its else, its end-if or the end of the thread */
    size_t else_first; /* the first event of its else-arm; else_end where it has none */
    size_t else_end;   /* its end-if or the end of the thread */
    size_t end;        /* behind all of it */
} extent;

/* The if that starts at `from` in entries that end at `end`. */
static extent extent_of(const ft_merge_entry *entries, size_t from, size_t end)
{
    size_t depth = 0, other = end, i = from;
    for (; i < end; i++) {
        if (entries[i].kind == FT_EVENT_IF) depth++;
        if (entries[i].kind == FT_EVENT_ELSE && depth == 1) other = i;
        if (entries[i].kind == FT_EVENT_END_IF && --depth == 0) break;
    }
    bool both = other < i;
    return (extent){both ? other : i, both ? other + 1 : i, i, i < end ? i + 1 : end};
}

static uint64_t change_held(uint64_t held, const ft_merge_entry *entry)
{
    static const struct {
        int sign, class;
    } CHANGES[FT_EVENT_KINDS] = {[FT_EVENT_ACQUIRE] = {1, 1},   [FT_EVENT_ACQUIRE_SHARED] = {1, 1},
                                 [FT_EVENT_RELEASE] = {-1, 1},  [FT_EVENT_TX_BEGIN] = {1, 2},
                                 [FT_EVENT_TX_END] = {-1, 2},   [FT_EVENT_COND_WAIT] = {1, 3},
                                 [FT_EVENT_COND_WAKE] = {-1, 3}};
    uint64_t weight =
        ft_hash_u64((uint64_t)entry->object << 2 | (unsigned)CHANGES[entry->kind].class);
    if (CHANGES[entry->kind].sign > 0) return held + weight;
    return CHANGES[entry->kind].sign < 0 ? held - weight : held;
}

/* Arms leave what is held as it is, so that an if counts as one item. */
static ft_align_side side_of(const ft_merge_entry *entries, size_t n)
{
    ft_align_side side = {.items = ft_calloc(n + 1, sizeof *side.items),
                          .held = ft_calloc(n + 1, sizeof *side.held)};
    for (size_t i = 0; i < n;) {
        const ft_merge_entry *entry = &entries[i];
        bool branch = entry->kind == FT_EVENT_IF;
        side.held[side.n + 1] = branch ? side.held[side.n] : change_held(side.held[side.n], entry);
        side.items[side.n++] = entry;
        i = branch ? extent_of(entries, i, n).end : i + 1;
    }
    side.items[side.n] = entries + n;
    return side;
}

static void release_side(ft_align_side *side)
{
    free(side->items);
    free(side->held);
}

static const ft_merge_entry *item_or_end(const ft_align_side *side, size_t i)
{
    return i < side->n ? side->items[i] : NULL;
}

/* ---- when events are the same, and when they part the runs ----------------------------------- */

static ft_term condition_of(const merger *m, const ft_merge_entry *entry)
{
    return tables(m)->actions[entry->data].guard;
}

/* Pairs of relations of which exactly one holds for any two values. */
static bool opposite(ft_op a, ft_op b)
{
    static const ft_op PAIRS[][2] = {{FT_OP_EQ, FT_OP_DISTINCT}, {FT_OP_LT, FT_OP_GE},
                                     {FT_OP_GT, FT_OP_LE},       {FT_OP_BVULT, FT_OP_BVUGE},
                                     {FT_OP_BVUGT, FT_OP_BVULE}, {FT_OP_BVSLT, FT_OP_BVSGE},
                                     {FT_OP_BVSGT, FT_OP_BVSLE}};
    for (size_t i = 0; i < sizeof PAIRS / sizeof *PAIRS; i++)
        if ((PAIRS[i][0] == a && PAIRS[i][1] == b) || (PAIRS[i][0] == b && PAIRS[i][1] == a))
            return true;
    return false;
}

static bool negates(const merger *m, ft_term a, ft_term b)
{
    ft_term_pool *pool = ft_builder_terms(m->builder);
    ft_term not_a;
    ft_status status = ft_term_apply(pool, FT_OP_NOT, &a, 1, NULL, &not_a, NULL);
    assert(status == FT_OK);
    (void)status;
    if (not_a == b) return true;
    ft_term_node x = ft_term_get(pool, a), y = ft_term_get(pool, b);
    return x.n_children == 2 && y.n_children == 2 && opposite(x.op, y.op) &&
           x.children[0] == y.children[0] && x.children[1] == y.children[1];
}

static bool same_place(const ft_merge_entry *a, const ft_merge_entry *b)
{
    return a->loc == b->loc && a->loc != FT_NO_LOC;
}

/* The value of a plain access is not compared: it is not part of the program. */
static bool same_event(const ft_merge_entry *a, const ft_merge_entry *b)
{
    bool action =
        a->kind == FT_EVENT_ASSIGN || a->kind == FT_EVENT_ASSUME || a->kind == FT_EVENT_ASSERT;
    return a->kind == b->kind && a->object == b->object && a->loc == b->loc &&
           a->flags == b->flags && (!action || a->data == b->data);
}

static ft_align_match match(void *context, const ft_align_side *first, size_t i,
                            const ft_align_side *second, size_t j)
{
    merger *m = context;
    const ft_merge_entry *a = first->items[i], *b = second->items[j];
    if (a->kind != FT_EVENT_IF && same_event(a, b)) return FT_ALIGN_SAME;
    if ((a->kind != FT_EVENT_ASSUME && a->kind != FT_EVENT_IF) || b->kind != FT_EVENT_ASSUME)
        return FT_ALIGN_DIFFER;
    ft_term c = condition_of(m, a), d = condition_of(m, b);
    bool one_branch = same_place(a, b) || (a->loc == b->loc && (c == d || negates(m, c, d)));
    if (!one_branch) return FT_ALIGN_DIFFER;
    return a->kind == FT_EVENT_IF ? FT_ALIGN_ENTER : FT_ALIGN_PART;
}

static bool may_part(void *context, const ft_align_side *side, size_t i)
{
    (void)context;
    return side->items[i]->kind == FT_EVENT_ASSUME || side->items[i]->kind == FT_EVENT_IF;
}

static bool may_skip(void *context, const ft_align_side *side, size_t i)
{
    (void)context;
    return ft_branch_may_hold(side->items[i]->kind);
}

/* ---- writing what is merged ------------------------------------------------------------------ */

static void put(ft_merge_list *out, const ft_merge_entry *from, const ft_merge_entry *end)
{
    for (; from < end; from++) ft_vec_push(out, *from);
}

static void put_kind(ft_merge_list *out, ft_event_kind kind)
{
    ft_vec_push(out, (ft_merge_entry){.kind = (uint8_t)kind, .place = FT_NO_EVENT});
}

/* What the second run does in the else-arm of `condition`: it starts with its own condition unless
 * that is what the arm says already. */
static void put_else(const merger *m, ft_term condition, const ft_merge_entry *assume,
                     const ft_merge_entry *end, bool keep, ft_merge_list *out)
{
    bool said = negates(m, condition, condition_of(m, assume)) && !keep;
    put(out, said ? assume + 1 : assume, end);
}

/* Both runs had an assume: [first, first_end) and [second, second_end) begin with it. */
static void put_parted(const merger *m, const ft_merge_entry *first,
                       const ft_merge_entry *first_end, const ft_merge_entry *second,
                       const ft_merge_entry *second_end, ft_merge_list *out)
{
    ft_merge_list other = {0};
    put_else(m, condition_of(m, first), second, second_end, false, &other);
    ft_vec_push(out, *first);
    out->data[out->len - 1].kind = FT_EVENT_IF;
    put(out, first + 1, first_end);
    if (other.len) put_kind(out, FT_EVENT_ELSE);
    put(out, other.data, other.data + other.len);
    put_kind(out, FT_EVENT_END_IF);
    ft_vec_release(&other);
}

static ft_status merge_lists(merger *m, const ft_merge_entry *first, size_t n_first,
                             const ft_merge_entry *second, size_t n_second, ft_merge_list *out);

/* Whether an arm begins with a further case of the branch, as a switch has them. */
static bool may_enter(const ft_merge_entry *arm, const ft_merge_entry *assume)
{
    return (arm->kind == FT_EVENT_ASSUME || arm->kind == FT_EVENT_IF) && arm->loc == assume->loc;
}

/* A second run that enters an if of the first: [first, first_end) is that if, [second,
 * second_end) begins with the assume. */
static ft_status put_entered(merger *m, const ft_merge_entry *first,
                             const ft_merge_entry *first_end, const ft_merge_entry *second,
                             const ft_merge_entry *second_end, ft_merge_list *out)
{
    extent at = extent_of(first, 0, (size_t)(first_end - first));
    ft_term condition = condition_of(m, first);
    bool holds = condition_of(m, second) == condition;
    ft_merge_list run = {0}, arms[2] = {{0}, {0}}; /* then, else */
    put(&arms[holds], first + (holds ? at.else_first : 1),
        first + (holds ? at.else_end : at.then_end));
    const ft_merge_entry *into = first + (holds ? 1 : at.else_first);
    size_t n_into = holds ? at.then_end - 1 : at.else_end - at.else_first;
    if (holds)
        put(&run, second + 1, second_end);
    else
        put_else(m, condition, second, second_end, n_into && may_enter(into, second), &run);
    ft_status status = merge_lists(m, into, n_into, run.data, run.len, &arms[!holds]);
    ft_vec_push(out, *first);
    put(out, arms[0].data, arms[0].data + arms[0].len);
    put(out, first + at.then_end, first + at.else_first); /* its own else, if it has one */
    if (arms[1].len && at.then_end == at.else_first) put_kind(out, FT_EVENT_ELSE);
    put(out, arms[1].data, arms[1].data + arms[1].len);
    put(out, first + at.else_end, first + at.end);
    if (at.else_end == at.end) put_kind(out, FT_EVENT_END_IF);
    ft_vec_release(&run);
    ft_vec_release(&arms[0]);
    ft_vec_release(&arms[1]);
    return status;
}

static ft_status put_aligned(merger *m, const ft_alignment *alignment, const ft_align_side *first,
                             const ft_align_side *second, ft_merge_list *out)
{
    ft_status status = FT_OK;
    for (size_t i = 0, j = 0; i < first->n && !status;) {
        size_t meet_first, meet_second;
        const ft_merge_entry *a = first->items[i], *b = second->items[j];
        ft_align_match step = ft_alignment_step(alignment, i, j, &meet_first, &meet_second);
        const ft_merge_entry *a_end = first->items[meet_first];
        const ft_merge_entry *b_end = second->items[meet_second];
        if (step == FT_ALIGN_SAME) put(out, a, a_end);
        if (step == FT_ALIGN_PART) put_parted(m, a, a_end, b, b_end, out);
        if (step == FT_ALIGN_ENTER) status = put_entered(m, a, a_end, b, b_end, out);
        assert(step != FT_ALIGN_DIFFER);
        i = meet_first;
        j = meet_second;
    }
    return status;
}

static ft_status merge_sides(merger *m, const ft_align_side *first, const ft_align_side *second,
                             ft_merge_list *out)
{
    ft_align_rules rules = {match, may_part, may_skip, m};
    ft_alignment *alignment;
    const ft_merge_entry *a = item_or_end(first, 0), *b = item_or_end(second, 0);
    bool parts = a && b && match(m, first, 0, second, 0) != FT_ALIGN_DIFFER;
    if (!parts && (a || b)) return cannot(m, a, b, "its events differ without a branch");
    ft_status status = ft_alignment_new(first, second, &rules, &alignment, m->err);
    if (status) return status;
    if (ft_alignment_possible(alignment))
        status = put_aligned(m, alignment, first, second, out);
    else
        status = cannot(m, a, b,
                        "the runs part here and cannot be joined again: their events differ "
                        "without a branch, or an arm would have to hold what no arm may hold");
    ft_alignment_free(alignment);
    return status;
}

/* Appends both runs' stretches of events, merged. What they begin with alike needs no search. */
static ft_status merge_lists(merger *m, const ft_merge_entry *first, size_t n_first,
                             const ft_merge_entry *second, size_t n_second, ft_merge_list *out)
{
    size_t alike = 0;
    while (alike < n_first && alike < n_second && first[alike].kind != FT_EVENT_IF &&
           same_event(&first[alike], &second[alike]))
        alike++;
    put(out, first, first + alike);
    if (alike == n_first && alike == n_second) return FT_OK;
    ft_align_side one = side_of(first + alike, n_first - alike);
    ft_align_side two = side_of(second + alike, n_second - alike);
    ft_status status = merge_sides(m, &one, &two, out);
    release_side(&one);
    release_side(&two);
    return status;
}

/* ---- checking what is merged ----------------------------------------------------------------- */

static ft_status check_entry(merger *m, const ft_merge_entry *entry, const ft_merge_entry *branch,
                             ft_branches *branches)
{
    ft_error why = FT_ERROR_INIT;
    ft_object_class object = ft_event_kind_object(entry->kind);
    if (entry->place == FT_NO_EVENT && object == FT_OBJECT_VARIABLE)
        return cannot(m, branch, entry,
                      "a plain access in an arm that the first trace did not take: it must be an "
                      "assign, which says what is computed");
    if (!ft_branches_follow(branches, entry->kind, m->thread, entry->object, entry->flags, &why))
        return FT_OK;
    return cannot(m, branch, entry, why.message);
}

static ft_status check_thread(merger *m, const ft_merge_list *list, ft_branches *branches)
{
    const ft_merge_entry *branch = NULL;
    for (size_t i = 0; i < list->len; i++) {
        const ft_merge_entry *entry = &list->data[i];
        if (entry->kind == FT_EVENT_IF) branch = entry;
        ft_status status = check_entry(m, entry, branch, branches);
        if (status) return status;
    }
    return FT_OK;
}

static ft_status check_all(merger *m, const ft_merge_list *threads)
{
    ft_branches *branches = ft_branches_new();
    ft_status status = FT_OK;
    for (m->thread = 0; m->thread < tables(m)->threads.len && !status; m->thread++)
        status = check_thread(m, &threads[m->thread], branches);
    ft_branches_free(branches);
    return status;
}

/* ---- whole traces ---------------------------------------------------------------------------- */

static ft_status check_input(const ft_trace *trace, const char *name, bool first, ft_error *err)
{
    bool symbolic = false;
    for (uint32_t e = 0; e < trace->n_events && !symbolic; e++)
        symbolic = ft_trace_is_symbolic_event(trace, e);
    if (!symbolic)
        return ft_error_set(err, FT_INPUT,
                            "%s has no symbolic events (assign, assume, assert): nothing in it "
                            "says where its threads branch",
                            name);
    if (first || !trace->n_paths) return FT_OK;
    return ft_error_set(err, FT_INPUT,
                        "%s has branches already: only the first trace may have some", name);
}

static void release_lists(ft_merge_list *threads, uint32_t n)
{
    for (uint32_t t = 0; t < n; t++) ft_vec_release(&threads[t]);
    free(threads);
}

/* The first trace's order; what only others have comes right behind what is before it. */
static void emit_all(const merger *m, const ft_trace *first, const ft_merge_list *threads)
{
    const ft_intern *names = &tables(m)->threads;
    size_t *next = ft_calloc(names->len, sizeof *next);
    for (uint32_t e = 0; e < first->n_events; e++) {
        if (first->kind[e] == FT_EVENT_RELEASE && first->flags[e] & FT_FLAG_SYNTHETIC) continue;
        uint32_t own = first->thread[e];
        uint32_t t = ft_intern_find(names, first->threads.names[own], first->threads.lengths[own]);
        const ft_merge_list *list = &threads[t];
        assert(list->data[next[t]].place == e);
        do {
            const ft_merge_entry *entry = &list->data[next[t]++];
            ft_builder_raw_event(m->builder, entry->kind, t, entry->object, entry->loc, entry->data,
                                 entry->flags);
        } while (next[t] < list->len && list->data[next[t]].place == FT_NO_EVENT);
    }
    free(next);
}

static ft_status declare_all(const ft_trace *const *traces, const merger *m, uint32_t n)
{
    ft_status status = FT_OK;
    for (uint32_t i = 0; i < n && !status; i++)
        status = check_input(traces[i], m->names[i], i == 0, m->err);
    for (uint32_t i = 0; i < n && !status; i++)
        status = ft_merge_declare(m->builder, traces[i], m->names[i], m->err);
    return status;
}

/* Merges one more trace into the lists of all threads. */
static ft_status merge_trace(merger *m, const ft_trace *trace, ft_merge_list *threads)
{
    uint32_t n = tables(m)->threads.len;
    ft_merge_list *added = ft_calloc(n, sizeof *added);
    ft_merge_import(m->builder, trace, false, added);
    ft_status status = FT_OK;
    for (m->thread = 0; m->thread < n && !status; m->thread++) {
        ft_merge_list merged = {0}, *known = &threads[m->thread];
        const ft_merge_list *other = &added[m->thread];
        status = merge_lists(m, known->data, known->len, other->data, other->len, &merged);
        ft_vec_release(known);
        *known = merged;
    }
    release_lists(added, n);
    return status;
}

static ft_status merge_all(merger *m, const ft_trace *const *traces, uint32_t n)
{
    ft_status status = declare_all(traces, m, n);
    if (status) return status;
    uint32_t n_threads = tables(m)->threads.len;
    ft_merge_list *threads = ft_calloc(n_threads, sizeof *threads);
    ft_merge_import(m->builder, traces[0], true, threads);
    for (m->current = 1; m->current < n && !status; m->current++)
        status = merge_trace(m, traces[m->current], threads);
    m->current = n - 1;
    if (!status) status = check_all(m, threads);
    if (!status) emit_all(m, traces[0], threads);
    release_lists(threads, n_threads);
    return status;
}

ft_status ft_trace_merge(const ft_trace *const *traces, const char *const *names, uint32_t n,
                         ft_trace **merged, ft_error *err)
{
    assert(n >= 2);
    merger m = {.builder = ft_builder_new(FT_FORMAT_NDJSON), .names = names, .err = err};
    ft_status status = merge_all(&m, traces, n);
    if (!status) return ft_builder_finish(m.builder, merged, err);
    ft_builder_free(m.builder);
    return status;
}
