/* Call stacks of threads while the log is read (raw.h, FT_RAW_ENTER), as calling contexts of the
 * trace (trace.h). Only stacks in which an event is found become contexts. */
#ifndef FT_RECORD_STACKS_H
#define FT_RECORD_STACKS_H

#include "maker/log/log.h"
#include "trace/trace.h"

typedef struct ft_stacks ft_stacks;

/* location: the builder's location of a site. */
ft_stacks *ft_stacks_new(ft_builder *builder, uint32_t (*location)(void *of, uint64_t site),
                         void *of);
void ft_stacks_free(ft_stacks *stacks); /* accepts NULL */

/* An event with the code FT_RAW_ENTER or FT_RAW_LEAVE. */
void ft_stacks_follow(ft_stacks *stacks, uint32_t thread, const ft_raw_event *event);
/* All calls and returns of a batch, by their sum. */
void ft_stacks_pass(ft_stacks *stacks, uint32_t thread, const ft_raw_sum *sum);
/* The context of the thread's next event. */
uint32_t ft_stacks_context(ft_stacks *stacks, uint32_t thread);

#endif
