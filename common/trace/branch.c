#include "trace/branch.h"
#include "base/contract.h"

#include <stdlib.h>

#include "trace/builder_internal.h"

typedef struct balance {
    uint32_t lock;
    int32_t count; /* acquires minus releases in the arm */
} balance;

/* An open if and what its current arm has open. */
typedef struct frame {
    uint32_t number;       /* of the if in the trace */
    size_t first_balance;  /* the arm's balances start here */
    uint32_t transactions; /* begun in the arm and not ended */
    uint32_t waits;        /* cond-waits without their cond-wake */
    bool in_else;
} frame;

typedef struct branch_thread {
    FT_VEC(frame) frames;
    FT_VEC(balance) balances;
    bool waits; /* its last event was a cond-wait: it releases its mutex next */
} branch_thread;

struct ft_branches {
    FT_VEC(branch_thread) threads;
    uint32_t count; /* ifs so far */
};

ft_branches *ft_branches_new(void)
{
    return ft_calloc(1, sizeof(ft_branches));
}

void ft_branches_free(ft_branches *b)
{
    if (!b) return;
    for (size_t t = 0; t < b->threads.len; t++) {
        ft_vec_release(&b->threads.data[t].frames);
        ft_vec_release(&b->threads.data[t].balances);
    }
    ft_vec_release(&b->threads);
    free(b);
}

static frame *innermost(branch_thread *t)
{
    return t->frames.len ? &t->frames.data[t->frames.len - 1] : NULL;
}

static const frame *innermost_of(const ft_branches *b, uint32_t thread)
{
    return thread < b->threads.len ? innermost(&b->threads.data[thread]) : NULL;
}

/* The thread's path (trace.h), if every if of the trace was followed. */
static uint32_t path_of(const ft_branches *b, uint32_t thread)
{
    const frame *f = innermost_of(b, thread);
    return f ? 2 * f->number + (f->in_else ? 2 : 1) : 0;
}

/* ---- events in an arm ----------------------------------------------------------------------- */

bool ft_branch_may_hold(ft_event_kind kind)
{
    static const bool OUTSIDE[FT_EVENT_KINDS] = {
        [FT_EVENT_FORK] = true,           [FT_EVENT_JOIN] = true,
        [FT_EVENT_BEGIN] = true,          [FT_EVENT_END] = true,
        [FT_EVENT_EDGE_OUT] = true,       [FT_EVENT_EDGE_IN] = true,
        [FT_EVENT_BARRIER_ARRIVE] = true, [FT_EVENT_BARRIER_LEAVE] = true,
        [FT_EVENT_ONCE_BEGIN] = true,     [FT_EVENT_ONCE_END] = true,
        [FT_EVENT_ONCE_PASS] = true};
    return !OUTSIDE[kind];
}

static ft_status change_balance(branch_thread *t, uint32_t lock, int change, bool waits,
                                ft_error *err)
{
    assert(t->frames.len && innermost(t)->first_balance <= t->balances.len);
    size_t i = innermost(t)->first_balance;
    while (i < t->balances.len && t->balances.data[i].lock != lock) i++;
    if (i == t->balances.len) ft_vec_push(&t->balances, (balance){.lock = lock});
    balance *found = &t->balances.data[i];
    found->count += change;
    if (found->count >= 0 || waits) return FT_OK;
    return ft_error_set(err, FT_INPUT,
                        "a release in an arm of an \"if\" needs its acquire in the same arm");
}

static ft_status follow_in_arm(branch_thread *t, ft_event_kind kind, uint32_t object, bool waits,
                               ft_error *err)
{
    frame *f = innermost(t);
    assert(f);
    if (!ft_branch_may_hold(kind))
        return ft_error_set(err, FT_INPUT, "\"%s\" cannot stand in an arm of an \"if\"",
                            ft_event_kind_name(kind));
    if (kind == FT_EVENT_ACQUIRE || kind == FT_EVENT_ACQUIRE_SHARED)
        return change_balance(t, object, 1, true, err);
    if (kind == FT_EVENT_RELEASE) return change_balance(t, object, -1, waits, err);
    if (kind == FT_EVENT_TX_BEGIN) f->transactions++;
    if (kind == FT_EVENT_COND_WAIT) f->waits++;
    if (kind == FT_EVENT_TX_END && f->transactions-- == 0)
        return ft_error_set(err, FT_INPUT,
                            "a \"tx-end\" in an arm of an \"if\" needs its \"tx-begin\" in the "
                            "same arm");
    if (kind == FT_EVENT_COND_WAKE && f->waits-- == 0)
        return ft_error_set(err, FT_INPUT,
                            "a \"cond-wake\" in an arm of an \"if\" needs its \"cond-wait\" in the "
                            "same arm");
    return FT_OK;
}

static ft_status end_arm(branch_thread *t, ft_error *err)
{
    frame *f = innermost(t);
    assert(f->first_balance <= t->balances.len);
    const char *open = f->transactions ? "a transaction" : f->waits ? "a condition wait" : NULL;
    for (size_t i = f->first_balance; i < t->balances.len; i++)
        if (t->balances.data[i].count) open = "a critical section";
    t->balances.len = f->first_balance;
    if (!open) return FT_OK;
    return ft_error_set(err, FT_INPUT, "the arm of the \"if\" ends inside %s that begins in it",
                        open);
}

/* ---- if, else, end-if ----------------------------------------------------------------------- */

static ft_status begin_if(ft_branches *b, branch_thread *t, ft_error *err)
{
    if (t->frames.len == FT_BRANCH_MAX_DEPTH)
        return ft_error_set(err, FT_LIMIT, "more than %d nested \"if\"s", FT_BRANCH_MAX_DEPTH);
    ft_vec_push(&t->frames, (frame){.number = b->count++, .first_balance = t->balances.len});
    return FT_OK;
}

static ft_status begin_else(branch_thread *t, ft_error *err)
{
    frame *f = innermost(t);
    if (!f) return ft_error_set(err, FT_INPUT, "\"else\" without an open \"if\"");
    if (f->in_else) return ft_error_set(err, FT_INPUT, "a second \"else\" of one \"if\"");
    f->in_else = true;
    return end_arm(t, err);
}

static ft_status end_if(branch_thread *t, ft_error *err)
{
    if (!t->frames.len) return ft_error_set(err, FT_INPUT, "\"end-if\" without an open \"if\"");
    ft_status status = end_arm(t, err);
    t->frames.len--;
    return status;
}

ft_status ft_branches_follow(ft_branches *b, ft_event_kind kind, uint32_t thread, uint32_t object,
                             uint8_t flags, ft_error *err)
{
    FT_REQUIRE(kind < FT_EVENT_KINDS && thread <= UINT16_MAX);
    while (b->threads.len <= thread) ft_vec_push(&b->threads, (branch_thread){.waits = false});
    branch_thread *t = &b->threads.data[thread];
    bool waits = t->waits || (flags & FT_FLAG_CONDITION);
    t->waits = kind == FT_EVENT_COND_WAIT;
    if (kind == FT_EVENT_IF) return begin_if(b, t, err);
    if (kind == FT_EVENT_ELSE) return begin_else(t, err);
    if (kind == FT_EVENT_END_IF) return end_if(t, err);
    return t->frames.len ? follow_in_arm(t, kind, object, waits, err) : FT_OK;
}

/* ---- the paths of a whole trace ------------------------------------------------------------- */

static void number_event(ft_trace *trace, uint32_t e, uint32_t before, uint32_t after)
{
    assert(before < trace->n_paths && after < trace->n_paths);
    trace->path[e] = before;
    if (trace->kind[e] == FT_EVENT_ELSE) trace->path[e] = trace->paths[before].parent;
    if (trace->kind[e] == FT_EVENT_END_IF) trace->path[e] = after;
    if (trace->kind[e] != FT_EVENT_IF) return;
    assert(after % 2 == 1 && after > before); /* parents first */
    trace->paths[after] = (ft_path){.parent = before, .branch = e, .taken = true};
    trace->paths[after + 1] = (ft_path){.parent = before, .branch = e, .taken = false};
}

/* Which arms were passed over is for the observed run to say; a canonical file has it. */
static ft_status check_passed(const ft_builder *b, uint32_t e, ft_error *err)
{
    ft_trace *trace = b->trace;
    if (!b->canonical) trace->flags[e] &= (uint8_t)~FT_FLAG_PASSED;
    if (!(trace->flags[e] & FT_FLAG_PASSED) || trace->path[e]) return FT_OK;
    return ft_error_set(err, FT_INPUT, "it is said to be passed over, but is in no arm");
}

static ft_status number_events(const ft_builder *b, ft_branches *branches, ft_error *err)
{
    ft_trace *trace = b->trace;
    for (uint32_t e = 0; e < trace->n_events; e++) {
        uint32_t t = trace->thread[e], before = path_of(branches, t);
        ft_error why = FT_ERROR_INIT;
        ft_status status = ft_branches_follow(branches, trace->kind[e], t, trace->object[e],
                                              trace->flags[e], &why);
        if (!status) {
            number_event(trace, e, before, path_of(branches, t));
            status = check_passed(b, e, &why);
        }
        if (status)
            return ft_error_set(err, status, "event %u (%s): %s", e + 1,
                                ft_trace_thread_name(trace, t), why.message);
    }
    return FT_OK;
}

static void note_unclosed(ft_builder *b, const ft_branches *branches)
{
    for (uint32_t t = 0; t < branches->threads.len; t++) {
        uint32_t depth = (uint32_t)branches->threads.data[t].frames.len;
        if (!depth) continue;
        uint32_t first = 2 * branches->threads.data[t].frames.data[0].number + 1;
        ft_builder_add_note(b, "unclosed-branch", b->trace->paths[first].branch, depth,
                            "an if has no end-if: the trace of its thread ends in one of its arms");
    }
}

ft_status ft_builder_find_paths(ft_builder *b, ft_error *err)
{
    ft_trace *trace = b->trace;
    uint32_t n_ifs = b->counts[FT_EVENT_IF];
    if (!n_ifs && !b->counts[FT_EVENT_ELSE] && !b->counts[FT_EVENT_END_IF]) return FT_OK;
    if (n_ifs > UINT32_MAX / 2 - 1)
        return ft_error_set(err, FT_LIMIT, "the trace has more than %u branches",
                            UINT32_MAX / 2 - 1);
    trace->n_paths = 2 * n_ifs + 1;
    trace->path = ft_calloc(trace->n_events, sizeof *trace->path);
    trace->paths = ft_calloc(trace->n_paths, sizeof *trace->paths);
    trace->paths[0] = (ft_path){.branch = FT_NO_EVENT, .taken = true};
    ft_branches *branches = ft_branches_new();
    ft_status status = number_events(b, branches, err);
    assert(status || branches->count == n_ifs);
    if (!status && !b->canonical) note_unclosed(b, branches);
    ft_branches_free(branches);
    return status;
}
