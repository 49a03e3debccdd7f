/* Symbolic memory: the bytes of the recorded program's memory that hold part of a term.
 *
 * A *lane* is one byte of a term. Memory that threads share is not kept here: its lanes are new at
 * each read. */
#ifndef FT_RECORD_LANES_H
#define FT_RECORD_LANES_H

#include "base/memory.h"
#include "term/term.h"

typedef struct ft_lane {
    ft_term term;    /* of its thread; FT_NO_TERM: a constant */
    uint8_t index;   /* which of the term's bytes, from the least */
    uint8_t value;   /* seen */
    uint16_t thread; /* whose term it is (raw log) */
} ft_lane;

typedef FT_VEC(ft_lane) ft_lane_list;
typedef struct ft_lanes ft_lanes;

ft_lanes *ft_lanes_new(void);
void ft_lanes_free(ft_lanes *lanes); /* accepts NULL */

ft_lane ft_lanes_get(const ft_lanes *lanes, uint64_t address);
void ft_lanes_put(ft_lanes *lanes, uint64_t address, ft_lane lane);
void ft_lanes_forget(ft_lanes *lanes, uint64_t address, uint64_t size);
/* Calls visit for each lane of the thread, and forgets it; but for those at addresses that `stays`
 * says (NULL: all). */
void ft_lanes_drain(ft_lanes *lanes, uint16_t thread, void (*visit)(void *context, ft_lane lane),
                    bool (*stays)(void *context, uint64_t address), void *context);

#endif
