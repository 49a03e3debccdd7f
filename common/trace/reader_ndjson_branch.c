#include <stdlib.h>

#include "trace/reader_ndjson.h"

/* What an arm assigns may be read behind its end-if only if the other arm assigns it too, or it was
 * assigned before: there must be a value whichever arm runs (Wang et al. §8, the φ-functions). */
typedef struct arms {
    size_t then_first; /* of the if: the thread's locals that were first assigned in its then-arm */
    size_t else_first; /* likewise; SIZE_MAX: no else yet */
} arms;

struct ft_ndjson_branch_thread {
    FT_VEC(arms) open;
    FT_VEC(uint32_t) locals; /* first assigned in an open arm, arm after arm */
};

static uint64_t local_key(uint32_t owner, uint32_t local)
{
    return (uint64_t)owner << 32 | local;
}

bool ft_ndjson_is_assigned(const ndjson *s, uint32_t owner, uint32_t local)
{
    uint64_t assigned;
    return ft_map_get(&s->assigned, local_key(owner, local), &assigned) && assigned;
}

void ft_ndjson_assign_local(ndjson *s, uint32_t owner, uint32_t local)
{
    if (ft_ndjson_is_assigned(s, owner, local)) return;
    ft_map_put(&s->assigned, local_key(owner, local), 1);
    if (owner >= s->branch_threads.len) return;
    ft_ndjson_branch_thread *t = &s->branch_threads.data[owner];
    if (t->open.len) ft_vec_push(&t->locals, local);
}

static void forget(ndjson *s, uint32_t owner, size_t first, size_t end)
{
    const ft_ndjson_branch_thread *t = &s->branch_threads.data[owner];
    for (size_t i = first; i < end; i++)
        ft_map_put(&s->assigned, local_key(owner, t->locals.data[i]), 0);
}

static void begin_else(ndjson *s, uint32_t owner)
{
    ft_ndjson_branch_thread *t = &s->branch_threads.data[owner];
    arms *innermost = &t->open.data[t->open.len - 1];
    innermost->else_first = t->locals.len;
    forget(s, owner, innermost->then_first, t->locals.len);
}

static void end_if(ndjson *s, uint32_t owner)
{
    ft_ndjson_branch_thread *t = &s->branch_threads.data[owner];
    arms innermost = t->open.data[--t->open.len];
    bool both = innermost.else_first != SIZE_MAX;
    size_t then_end = both ? innermost.else_first : t->locals.len, kept = innermost.then_first;
    for (size_t i = innermost.then_first; both && i < then_end; i++)
        if (ft_ndjson_is_assigned(s, owner, t->locals.data[i]))
            t->locals.data[kept++] = t->locals.data[i];
    forget(s, owner, both ? then_end : innermost.then_first, t->locals.len);
    for (size_t i = innermost.then_first; i < kept; i++)
        ft_map_put(&s->assigned, local_key(owner, t->locals.data[i]), 1);
    t->locals.len = t->open.len ? kept : 0;
}

ft_status ft_ndjson_branch(ndjson *s, ft_event_kind kind, uint32_t owner, uint32_t object,
                           uint8_t flags, size_t at, ft_error *err)
{
    bool branch = kind == FT_EVENT_IF || kind == FT_EVENT_ELSE || kind == FT_EVENT_END_IF;
    ft_error why = FT_ERROR_INIT;
    if (!s->branches && !branch) return FT_OK;
    if (!s->branches) s->branches = ft_branches_new();
    ft_status status = ft_branches_follow(s->branches, kind, owner, object, flags, &why);
    if (status) return ft_error_at(err, status, s->json.number, at + 1, "%s", why.message);
    while (branch && s->branch_threads.len <= owner)
        ft_vec_push(&s->branch_threads, (ft_ndjson_branch_thread){{0}, {0}});
    if (kind == FT_EVENT_IF) {
        ft_ndjson_branch_thread *t = &s->branch_threads.data[owner];
        ft_vec_push(&t->open, (arms){t->locals.len, SIZE_MAX});
    }
    if (kind == FT_EVENT_ELSE) begin_else(s, owner);
    if (kind == FT_EVENT_END_IF) end_if(s, owner);
    return FT_OK;
}

void ft_ndjson_release_branches(ndjson *s)
{
    for (size_t t = 0; t < s->branch_threads.len; t++) {
        ft_vec_release(&s->branch_threads.data[t].open);
        ft_vec_release(&s->branch_threads.data[t].locals);
    }
    ft_vec_release(&s->branch_threads);
    ft_branches_free(s->branches);
}
