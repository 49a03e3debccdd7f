/* Cubes: parts of a problem's schedules, as assumptions. */
#include "encode/partial.h"

enum { ENOUGH = 8 }; /* cubes: no further choice is added */

/* ---- Assuming -------------------------------------------------------------------------------- */

static const ft_read *find_read(const ft_decider *d, const ft_choice *choice)
{
    if (choice->event >= d->problem->trace->n_events || !ft_partial_in(d, choice->event))
        return NULL;
    for (uint32_t r = d->read_first[choice->event]; r < d->read_first[choice->event + 1]; r++)
        if (d->reads.data[r].access == choice->access) return &d->reads.data[r];
    return NULL;
}

/* A choice that this decider knows nothing of is left out: all schedules are asked about then. A
 * source that it has excluded is one that no schedule has. */
static ft_lit literal_of(ft_decider *d, const ft_choice *choice)
{
    const uint32_t n = d->problem->trace->n_events;
    if (choice->kind == FT_CHOICE_ORDER) {
        bool both = choice->event < n && choice->other < n && choice->event != choice->other &&
                    ft_partial_in(d, choice->event) && ft_partial_in(d, choice->other);
        return both ? ft_partial_before(d, choice->event, choice->other) : FT_LIT_TRUE;
    }
    const ft_read *read = find_read(d, choice);
    if (!read) return FT_LIT_TRUE;
    if (choice->kind == FT_CHOICE_ABSENT) return -d->member[choice->event];
    for (uint32_t i = 0; i < read->count; i++) {
        const ft_source *source = &d->sources.data[read->first + i];
        if (source->write == choice->other) return source->from;
    }
    return FT_LIT_FALSE;
}

void ft_query_cube(ft_decider *d, ft_query *query)
{
    const ft_cube *cube = d->problem->cube;
    assert(cube && cube->count <= FT_CUBE_CHOICES);
    for (uint32_t i = 0; i < cube->count; i++) {
        ft_lit literal = literal_of(d, &cube->choices[i]);
        if (literal == FT_LIT_FALSE) query->impossible = true;
        if (literal != FT_LIT_TRUE && literal != FT_LIT_FALSE)
            ft_vec_push(&query->assumptions, literal);
    }
}

/* ---- Splitting ------------------------------------------------------------------------------- */

/* The choices that a split has at one place. */
typedef struct fork {
    ft_choice of[FT_CUBES_MOST];
    uint32_t count;
} fork;

static uint32_t ways_of(const ft_decider *d, const ft_read *read)
{
    return read->count + (d->member[read->event] != FT_LIT_TRUE);
}

static bool was_used(const ft_read *read, const ft_cube *cube)
{
    for (uint32_t i = 0; i < cube->count; i++)
        if (cube->choices[i].event == read->event) return true;
    return false;
}

/* Of the reads with the fewest ways, at least two, those of the first one's thread. */
static uint32_t most_constrained(const ft_decider *d, const ft_cube *used, uint32_t *least,
                                 uint16_t *thread)
{
    uint32_t count = 0;
    *least = FT_CUBES_MOST + 1;
    for (size_t i = 0; i < d->reads.len; i++) {
        const ft_read *read = &d->reads.data[i];
        uint32_t ways = ways_of(d, read);
        uint16_t its = d->problem->trace->thread[read->event];
        if (read->count < 2 || ways > *least || was_used(read, used)) continue;
        if (ways < *least) {
            *least = ways;
            *thread = its;
            count = 0;
        }
        count += its == *thread;
    }
    return count;
}

/* The one in their middle: at the ends of a thread one way is nearly all of the problem. */
static const ft_read *next_read(const ft_decider *d, const ft_cube *used)
{
    uint32_t least;
    uint16_t thread = 0;
    uint32_t count = most_constrained(d, used, &least, &thread), place = 0;
    for (size_t i = 0; i < d->reads.len && count > 0; i++) {
        const ft_read *read = &d->reads.data[i];
        bool its = read->count >= 2 && ways_of(d, read) == least && !was_used(read, used) &&
                   d->problem->trace->thread[read->event] == thread;
        if (its && place++ == (count - 1) / 2) return read;
    }
    return NULL;
}

static fork fork_at_read(const ft_decider *d, const ft_read *read)
{
    fork f = {.count = 0};
    for (uint32_t i = 0; i < read->count; i++)
        f.of[f.count++] = (ft_choice){FT_CHOICE_SOURCE, read->event, read->access,
                                      d->sources.data[read->first + i].write};
    if (d->member[read->event] != FT_LIT_TRUE)
        f.of[f.count++] = (ft_choice){FT_CHOICE_ABSENT, read->event, read->access, FT_NO_EVENT};
    assert(f.count == ways_of(d, read));
    return f;
}

/* Two sections of the lock whose order is open; false: there is none behind the n-th pair. */
static bool open_pair(ft_decider *d, uint32_t lock, uint32_t skip, fork *f)
{
    const ft_order *order = d->problem->order;
    for (uint32_t i = order->lock_first[lock]; i < order->lock_first[lock + 1]; i++)
        for (uint32_t k = i + 1; k < order->lock_first[lock + 1]; k++) {
            const ft_section *x = &order->sections.data[order->lock_sections[i]],
                             *y = &order->sections.data[order->lock_sections[k]];
            if (x->thread == y->thread || !ft_order_conflict(x, y) ||
                !ft_partial_in(d, x->acquire) || !ft_partial_in(d, y->acquire))
                continue;
            ft_lit before = ft_partial_before(d, x->acquire, y->acquire);
            if (before == FT_LIT_TRUE || before == FT_LIT_FALSE || skip-- > 0) continue;
            f->of[0] = (ft_choice){FT_CHOICE_ORDER, x->acquire, 0, y->acquire};
            f->of[1] = (ft_choice){FT_CHOICE_ORDER, y->acquire, 0, x->acquire};
            f->count = 2;
            return true;
        }
    return false;
}

static uint32_t sections_in(const ft_decider *d, uint32_t lock)
{
    const ft_order *order = d->problem->order;
    uint32_t count = 0;
    for (uint32_t i = order->lock_first[lock]; i < order->lock_first[lock + 1]; i++)
        count += ft_partial_in(d, order->sections.data[order->lock_sections[i]].acquire);
    return count;
}

static bool most_contended(const ft_decider *d, uint32_t *lock)
{
    uint32_t most = 1;
    for (uint32_t l = 0; l < d->problem->trace->locks.len; l++) {
        uint32_t count = sections_in(d, l);
        if (count <= most) continue;
        most = count;
        *lock = l;
    }
    return most > 1;
}

/* Each cube so far with each of the choices. */
static uint32_t multiply(ft_cube *cubes, uint32_t count, const fork *f)
{
    ft_cube before[FT_CUBES_MOST];
    assert(count * f->count <= FT_CUBES_MOST);
    for (uint32_t i = 0; i < count; i++) before[i] = cubes[i];
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = 0; k < f->count; k++) {
            ft_cube *cube = &cubes[i * f->count + k];
            *cube = before[i];
            assert(cube->count < FT_CUBE_CHOICES);
            cube->choices[cube->count++] = f->of[k];
        }
    return count * f->count;
}

uint32_t ft_decider_split(ft_decider *d, ft_cube cubes[FT_CUBES_MOST])
{
    uint32_t count = 1, depth = 0, lock = 0;
    const ft_read *read;
    cubes[0] = (ft_cube){.count = 0};
    while (count < ENOUGH && depth < FT_CUBE_CHOICES && (read = next_read(d, &cubes[0])) != NULL) {
        if (count * ways_of(d, read) > FT_CUBES_MOST) break;
        const fork f = fork_at_read(d, read);
        count = multiply(cubes, count, &f);
        depth++;
    }
    bool locks = depth == 0 && most_contended(d, &lock);
    fork f;
    for (uint32_t pair = 0; locks && depth < FT_CUBE_CHOICES; pair++, depth++) {
        if (!open_pair(d, lock, pair, &f)) break;
        count = multiply(cubes, count, &f);
    }
    return count;
}
