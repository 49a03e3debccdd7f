#include "base/contract.h"
#include "solve/cdcl/internal.h"

enum { MINIMISE_STEPS = 2000 };

/* The literals, all false except perhaps the variable's own, that gave the variable its value. */
static const ft_code *reason_of(ft_cdcl *s, uint32_t variable, uint32_t *count)
{
    uint32_t reason = s->reason[variable];
    assert(reason != FT_BY_NONE); /* decisions are not explained */
    if (!(reason & (FT_BY_LIMIT | FT_BY_BINARY))) {
        assert(reason > 0 && reason < s->arena.len);
        *count = s->arena.data[reason + FT_SIZE];
        return s->arena.data + reason + FT_HEAD;
    }
    s->why.len = 0;
    if (!(reason & FT_BY_LIMIT)) {
        ft_vec_push(&s->why, reason & ~FT_BY_BINARY);
    } else {
        const ft_cdcl_limit *limit = &s->limits.data[reason & ~FT_BY_LIMIT];
        for (uint32_t i = 0; i < limit->count; i++) {
            ft_code q = s->limit_literals.data[limit->first + i];
            if (s->value[q] <= 0 || s->position[FT_VARIABLE(q)] > s->position[variable]) continue;
            ft_vec_push(&s->why, FT_NOT(q));
        }
    }
    *count = (uint32_t)s->why.len;
    return s->why.data;
}

static void bump(ft_cdcl *s, uint32_t variable)
{
    s->activity[variable] += s->bump;
    ft_cdcl_heap_bump(s, variable);
    if (s->activity[variable] < 1e100) return;
    for (uint32_t v = 0; v < s->n_variables; v++) s->activity[v] *= 1e-100;
    s->bump *= 1e-100;
}

static void mark(ft_cdcl *s, uint32_t variable)
{
    s->seen[variable] = 1;
    ft_vec_push(&s->marked, variable);
}

/* Takes over the literals of a conflict or reason; returns how many of them are of this level. */
static uint32_t take(ft_cdcl *s, const ft_code *literals, uint32_t count)
{
    uint32_t here = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t v = FT_VARIABLE(literals[i]);
        if (s->seen[v] || s->level[v] == 0) continue;
        assert(s->value[literals[i]] < 0);
        mark(s, v);
        bump(s, v);
        if (s->level[v] == ft_current_level(s))
            here++;
        else
            ft_vec_push(&s->lesson, literals[i]);
    }
    return here;
}

/* Resolves backwards along the trail to the first unique implication point. */
static void find_implication_point(ft_cdcl *s)
{
    size_t at = s->trail.len;
    s->lesson.len = 0;
    ft_vec_push(&s->lesson, 0u);
    uint32_t open = take(s, s->conflict.data, (uint32_t)s->conflict.len);
    assert(open > 0); /* else the conflict belongs to a level below */
    for (;;) {
        do {
            assert(at > 0);
            at--;
        } while (!s->seen[FT_VARIABLE(s->trail.data[at])]);
        ft_code p = s->trail.data[at];
        if (--open == 0) {
            s->lesson.data[0] = FT_NOT(p);
            return;
        }
        uint32_t count;
        const ft_code *why = reason_of(s, FT_VARIABLE(p), &count);
        open += take(s, why, count); /* p itself is marked already */
    }
}

/* Is p false because of other literals of the lesson alone? (Een and Sorensson, section 4.2) */
static bool is_redundant(ft_cdcl *s, ft_code p)
{
    size_t marked = s->marked.len;
    uint32_t steps = 0;
    bool redundant = s->reason[FT_VARIABLE(p)] != FT_BY_NONE;
    s->stack.len = 0;
    ft_vec_push(&s->stack, p);
    while (s->stack.len > 0 && redundant) {
        uint32_t count, v = FT_VARIABLE(s->stack.data[--s->stack.len]);
        const ft_code *why = reason_of(s, v, &count);
        for (uint32_t i = 0; i < count && redundant; i++) {
            uint32_t u = FT_VARIABLE(why[i]);
            if (s->seen[u] || s->level[u] == 0) continue;
            redundant = s->reason[u] != FT_BY_NONE &&
                        s->level_seen.data[s->level[u]] == s->level_stamp &&
                        ++steps < MINIMISE_STEPS;
            mark(s, u);
            ft_vec_push(&s->stack, why[i]);
        }
    }
    if (redundant) return true;
    while (s->marked.len > marked) s->seen[s->marked.data[--s->marked.len]] = 0;
    return false;
}

/* Counts the levels of the lesson and stamps them. */
static uint32_t stamp_levels(ft_cdcl *s)
{
    uint32_t glue = 0;
    while (s->level_seen.len <= ft_current_level(s)) ft_vec_push(&s->level_seen, (uint64_t)0);
    s->level_stamp++;
    for (size_t i = 0; i < s->lesson.len; i++) {
        uint64_t *seen = &s->level_seen.data[s->level[FT_VARIABLE(s->lesson.data[i])]];
        glue += *seen != s->level_stamp;
        *seen = s->level_stamp;
    }
    return glue;
}

static void minimise(ft_cdcl *s)
{
    size_t kept = 1;
    stamp_levels(s);
    for (size_t i = 1; i < s->lesson.len; i++)
        if (!is_redundant(s, s->lesson.data[i])) s->lesson.data[kept++] = s->lesson.data[i];
    s->lesson.len = kept;
}

static void unmark(ft_cdcl *s)
{
    for (size_t i = 0; i < s->marked.len; i++) s->seen[s->marked.data[i]] = 0;
    s->marked.len = 0;
}

uint32_t ft_cdcl_analyse(ft_cdcl *s, uint32_t *glue)
{
    FT_REQUIRE(glue && ft_current_level(s) > 0 && s->conflict.len > 0 && s->marked.len == 0);
    find_implication_point(s);
    minimise(s);
    unmark(s);
    FT_CHECK(ft_cdcl_lesson_asserts(s));
    *glue = stamp_levels(s);
    assert(*glue >= 1 && *glue <= s->lesson.len);
    if (s->lesson.len == 1) return 0;
    size_t latest = 1; /* watched beside the asserting literal */
    for (size_t i = 2; i < s->lesson.len; i++)
        if (s->level[FT_VARIABLE(s->lesson.data[i])] >
            s->level[FT_VARIABLE(s->lesson.data[latest])])
            latest = i;
    ft_code p = s->lesson.data[latest];
    s->lesson.data[latest] = s->lesson.data[1];
    s->lesson.data[1] = p;
    assert(s->level[FT_VARIABLE(p)] < ft_current_level(s));
    return s->level[FT_VARIABLE(p)];
}

void ft_cdcl_explain_assumption(ft_cdcl *s, ft_code p)
{
    FT_REQUIRE(s->value[p] < 0 && s->core.len == 0 && s->marked.len == 0);
    ft_vec_push(&s->core, ft_lit_of(p));
    if (s->level[FT_VARIABLE(p)] == 0) return;
    assert(ft_current_level(s) <= s->assumptions.len); /* only assumptions are decided yet */
    mark(s, FT_VARIABLE(p));
    for (size_t at = s->trail.len; at > s->levels.data[0].trail;) {
        ft_code q = s->trail.data[--at];
        uint32_t v = FT_VARIABLE(q), count;
        if (!s->seen[v]) continue;
        if (s->reason[v] == FT_BY_NONE) { /* an assumption */
            ft_vec_push(&s->core, ft_lit_of(q));
            continue;
        }
        const ft_code *why = reason_of(s, v, &count);
        for (uint32_t i = 0; i < count; i++)
            if (s->level[FT_VARIABLE(why[i])] > 0 && !s->seen[FT_VARIABLE(why[i])])
                mark(s, FT_VARIABLE(why[i]));
    }
    unmark(s);
    FT_CHECK(ft_cdcl_core_is_assumed(s));
}
