/* Functions that exploring calls and that folders above it define. */
#ifndef FT_RECORD_EXPLORING_NEEDS_H
#define FT_RECORD_EXPLORING_NEEDS_H

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

/* world/begin.c: at the first choice, before runs are made; at the begin of each run, in its
 * process; at its end. flushes: what the C library holds back goes out. */
void ft_rt_world_look(void);
void ft_rt_world_begins(void);
void ft_rt_world_ends(bool flushes);
/* Where the explorer wants what runs write: opens standard output anew, once in each process that
 * makes runs, at the latest by ft_rt_world_begins; and, after a run that did not come to its end,
 * drops what it wrote. */
void ft_rt_world_opens_output(void);
void ft_rt_world_empties_output(void);
/* world/signals.c: the calling thread is about to create that one. */
void ft_rt_world_thread_made(uint32_t child);

#pragma GCC visibility pop

#endif
