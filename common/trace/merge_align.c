/* Aligning one thread of two runs: dynamic programming over pairs of positions, from the end. */
#include <assert.h>
#include <stdlib.h>

#include "base/contract.h"
#include "trace/branch.h"
#include "trace/merge_align.h"

enum {
    MAX_CELLS = 1 << 28, /* decisions kept for one thread */
    IMPOSSIBLE = INT32_MIN / 2
};

/* The best alignment from a pair of positions on. Apart: in the arms of an if that both runs have
 * just entered, each on its own way. Inside: in the arm that the second run goes through, the first
 * run's arms being known. */
enum {
    TOGETHER = 3 << 0, /* a mask; its values: */
    STOP = 0,          /* the end of both, or no way on */
    SHARE = 1,         /* one event of both */
    PART = 2,          /* an if of both: go on apart */
    ENTER = 3,         /* an if of the first run: go on inside */
    APART = 3 << 2,    /* a mask; its values: */
    MEET = 0 << 2,
    FIRST = 1 << 2, /* an event of the first run's arm */
    SECOND = 2 << 2,
    INSIDE = 1 << 4, /* set: an event of the second run's arm, else they meet */
};

typedef struct scores {
    int32_t *together, *next_together; /* [columns] of this row and of the next one */
    int32_t *apart, *next_apart;       /* [states][columns] */
    int32_t *inside, *next_inside;
} scores;

struct ft_alignment {
    const ft_align_side *first, *second;
    const ft_align_rules *rules;
    size_t rows, columns, n_states;
    uint64_t *states;       /* what the runs may hold where they part */
    unsigned char *decided; /* [states][rows][columns] */
    int32_t best;
};

static unsigned char *cell(const ft_alignment *a, size_t state, size_t i, size_t j)
{
    assert(state < a->n_states && i < a->rows && j < a->columns);
    return &a->decided[(state * a->rows + i) * a->columns + j];
}

static size_t find_state(const ft_alignment *a, uint64_t held)
{
    size_t s = 0;
    while (s < a->n_states && a->states[s] != held) s++;
    return s;
}

/* Two runs can only part where they hold the same, and an assume of the second is at hand. */
static void find_states(ft_alignment *a)
{
    size_t cap = 0;
    for (size_t i = 0; i < a->first->n; i++) {
        if (!a->rules->may_part(a->rules->context, a->first, i)) continue;
        if (find_state(a, a->first->held[i]) < a->n_states) continue;
        a->states = ft_vec_grow(a->states, &cap, a->n_states + 1, sizeof *a->states);
        a->states[a->n_states++] = a->first->held[i];
    }
    if (a->n_states) return;
    a->states = ft_calloc(1, sizeof *a->states);
    a->n_states = 1; /* no branches: one table is enough */
}

static void decide_together(ft_alignment *a, scores *s, size_t i, size_t j)
{
    int32_t best = IMPOSSIBLE;
    unsigned char decision = STOP;
    bool inner = i + 1 < a->rows && j + 1 < a->columns;
    ft_align_match match =
        inner ? a->rules->match(a->rules->context, a->first, i, a->second, j) : FT_ALIGN_DIFFER;
    if (i + 1 == a->rows && j + 1 == a->columns) best = 0;
    if (match == FT_ALIGN_SAME && s->next_together[j + 1] > IMPOSSIBLE) {
        best = s->next_together[j + 1] + 1;
        decision = SHARE;
    }
    bool parts = match == FT_ALIGN_PART || match == FT_ALIGN_ENTER;
    if (parts && a->first->held[i] == a->second->held[j]) {
        size_t at = find_state(a, a->first->held[i]) * a->columns + j + 1;
        assert(at < a->columns * a->n_states); /* runs part where the state was found */
        best = match == FT_ALIGN_PART ? s->next_apart[at] : s->next_inside[at];
        decision = match == FT_ALIGN_PART ? PART : ENTER;
    }
    s->together[j] = best;
    for (size_t state = 0; state < a->n_states; state++)
        *cell(a, state, i, j) = best > IMPOSSIBLE ? decision : STOP;
}

/* Where the runs hold again what they held when they parted, they may meet. */
static void decide_arms(ft_alignment *a, scores *s, size_t state, size_t i, size_t j)
{
    uint64_t held = a->states[state];
    bool meets = a->first->held[i] == held && a->second->held[j] == held;
    size_t at = state * a->columns + j;
    int32_t apart = meets ? s->together[j] : IMPOSSIBLE, inside = apart;
    unsigned char decision = MEET;
    bool first = i + 1 < a->rows && a->rules->may_skip(a->rules->context, a->first, i);
    bool second = j + 1 < a->columns && a->rules->may_skip(a->rules->context, a->second, j);
    if (second && s->inside[at + 1] > inside) {
        inside = s->inside[at + 1];
        decision |= INSIDE;
    }
    if (second && s->apart[at + 1] > apart) {
        apart = s->apart[at + 1];
        decision = (unsigned char)((decision & ~APART) | SECOND);
    }
    if (first && s->next_apart[at] > apart) {
        apart = s->next_apart[at];
        decision = (unsigned char)((decision & ~APART) | FIRST);
    }
    s->apart[at] = apart;
    s->inside[at] = inside;
    *cell(a, state, i, j) |= decision;
}

static int32_t *impossible(size_t count)
{
    int32_t *array = ft_calloc(count, sizeof *array);
    for (size_t i = 0; i < count; i++) array[i] = IMPOSSIBLE;
    return array;
}

static void swap(int32_t **a, int32_t **b)
{
    int32_t *was = *a;
    *a = *b;
    *b = was;
}

static void decide_all(ft_alignment *a)
{
    size_t wide = a->columns * a->n_states;
    scores s = {impossible(a->columns), impossible(a->columns), impossible(wide),
                impossible(wide),       impossible(wide),       impossible(wide)};
    for (size_t i = a->rows; i-- > 0;) {
        for (size_t j = a->columns; j-- > 0;) {
            decide_together(a, &s, i, j);
            for (size_t state = 0; state < a->n_states; state++) decide_arms(a, &s, state, i, j);
        }
        a->best = s.together[0];
        swap(&s.together, &s.next_together);
        swap(&s.apart, &s.next_apart);
        swap(&s.inside, &s.next_inside);
    }
    free(s.together);
    free(s.next_together);
    free(s.apart);
    free(s.next_apart);
    free(s.inside);
    free(s.next_inside);
}

ft_status ft_alignment_new(const ft_align_side *first, const ft_align_side *second,
                           const ft_align_rules *rules, ft_alignment **alignment, ft_error *err)
{
    FT_REQUIRE(first && second && rules);
    ft_alignment *a = ft_calloc(1, sizeof *a);
    *a = (ft_alignment){.first = first,
                        .second = second,
                        .rules = rules,
                        .rows = first->n + 1,
                        .columns = second->n + 1};
    find_states(a);
    if (a->rows > MAX_CELLS / a->columns / a->n_states) {
        ft_alignment_free(a);
        return ft_error_set(err, FT_LIMIT,
                            "too many events to be aligned behind the first branch: %zu and %zu",
                            first->n, second->n);
    }
    a->decided = ft_calloc(a->rows * a->columns, a->n_states);
    decide_all(a);
    *alignment = a;
    return FT_OK;
}

void ft_alignment_free(ft_alignment *a)
{
    if (!a) return;
    free(a->states);
    free(a->decided);
    free(a);
}

bool ft_alignment_possible(const ft_alignment *a)
{
    return a->best > IMPOSSIBLE;
}

ft_align_match ft_alignment_step(const ft_alignment *a, size_t i, size_t j, size_t *meet_first,
                                 size_t *meet_second)
{
    FT_REQUIRE(ft_alignment_possible(a) && i < a->rows && j < a->columns);
    unsigned together = *cell(a, 0, i, j) & TOGETHER;
    *meet_first = i + 1;
    *meet_second = j + 1;
    if (together == SHARE) return FT_ALIGN_SAME;
    if (together == STOP) return FT_ALIGN_DIFFER;
    size_t state = find_state(a, a->first->held[i]);
    assert(state < a->n_states && a->first->held[i] == a->second->held[j]);
    for (;;) {
        unsigned char decision = *cell(a, state, *meet_first, *meet_second);
        bool first = together == PART && (decision & APART) == FIRST;
        bool second = together == PART ? (decision & APART) == SECOND : (decision & INSIDE) != 0;
        if (!first && !second) break;
        ++*(first ? meet_first : meet_second);
    }
    return together == PART ? FT_ALIGN_PART : FT_ALIGN_ENTER;
}
