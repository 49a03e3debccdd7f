/* Channels: pipes, sockets, event descriptors and whatever else threads send each other data
 * through. A thread that takes from a channel is ordered after all that was put in before (raw.h,
 * CHANNEL). Which bytes it got is not considered, so the order is at least as strict as the
 * program's. */
#ifndef FT_RECORD_MAKER_CHANNELS_H
#define FT_RECORD_MAKER_CHANNELS_H

#include "trace/trace.h"

/* Names of edges from a thread that sends a signal, or sets its handler: this and its number. */
#define FT_SIGNAL_EDGE "signal"
/* How the names of edges begin that content passes along from thread to thread. */
#define FT_CONTENT_EDGES "channel ", "unknown object ", "queue ", "messages "

typedef struct ft_channels ft_channels;

ft_channels *ft_channels_new(void);
void ft_channels_free(ft_channels *channels); /* accepts NULL */

/* First pass, a CHANNEL record of that thread of the log. A channel from which nobody takes has no
 * edges, nor has one of FT_RAW_CHANNEL_TAKEN that one thread alone uses. `block`: the allocation
 * that the channel lies in if it is an address, else FT_NO_ALLOCATION (cells.h). */
void ft_channels_meet(ft_channels *channels, uint32_t thread, const uint64_t *operands,
                      uint32_t block);
/* Second pass, the same records in the same order, by thread of the trace: appends the edges. */
void ft_channels_follow(ft_channels *channels, ft_builder *builder, uint32_t thread,
                        const uint64_t *operands, uint32_t loc);
/* The last event of the trace after which `thread` is ordered because it took what `other` had put
 * in; 0: it took nothing from that thread. */
uint32_t ft_channels_behind(const ft_channels *channels, uint32_t thread, uint32_t other);

/* So many times a thread came after another one through FT_RAW_CHANNEL_UNKNOWN; *first, *loc: the
 * number and the location of the first such event. */
uint32_t ft_channels_unknown(const ft_channels *channels, uint32_t *first, uint32_t *loc);

#endif
