#include "oracle/explore.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* No padding inside, so this much of a state is its identity. */
#define STATE_BYTES (offsetof(ft_state, maybe) + sizeof(uint8_t))
#define MAX_STATES  (8u << 20)

typedef struct state_set {
    FT_VEC(ft_state) states; /* in order of discovery: also the work list */
    uint32_t *slots;         /* index + 1, 0: free */
    size_t cap;              /* a power of two */
} state_set;

static size_t slot_of(const state_set *set, const ft_state *state)
{
    size_t at = ft_hash_bytes(state, STATE_BYTES, 7) & (set->cap - 1);
    while (set->slots[at] && memcmp(&set->states.data[set->slots[at] - 1], state, STATE_BYTES) != 0)
        at = (at + 1) & (set->cap - 1);
    return at;
}

static void grow(state_set *set)
{
    set->cap = set->cap ? 2 * set->cap : 256;
    free(set->slots);
    set->slots = ft_calloc(set->cap, sizeof *set->slots);
    for (size_t i = 0; i < set->states.len; i++)
        set->slots[slot_of(set, &set->states.data[i])] = (uint32_t)(i + 1);
}

static void insert(state_set *set, const ft_state *state)
{
    if (2 * (set->states.len + 1) > set->cap) grow(set);
    size_t at = slot_of(set, state);
    if (set->slots[at]) return;
    assert(set->states.len < MAX_STATES);
    ft_vec_push(&set->states, *state);
    set->slots[at] = (uint32_t)set->states.len;
}

uint64_t ft_explore(const ft_machine *machine, const ft_monitor *monitor,
                    void (*visit)(void *context, const ft_state *state), void *context)
{
    state_set set = {0};
    ft_state start;
    ft_machine_start(machine, &start);
    insert(&set, &start);
    for (size_t i = 0; i < set.states.len; i++) {
        ft_state current = set.states.data[i];
        visit(context, &current);
        for (uint32_t t = 0; t < machine->n_threads; t++) {
            ft_state next[FT_MACHINE_BRANCHES];
            uint32_t count = ft_machine_step(machine, monitor, &current, t, next);
            for (uint32_t k = 0; k < count; k++) insert(&set, &next[k]);
        }
    }
    uint64_t visited = set.states.len;
    ft_vec_release(&set.states);
    free(set.slots);
    return visited;
}
