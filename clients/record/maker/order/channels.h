/* What threads send each other through pipes, sockets, event descriptors: who takes out of such a
 * channel comes after all that went in before (raw.h, CHANNEL). Which bytes met is not looked at,
 * so the order is at least as strict as the program's. */
#ifndef FT_RECORD_MAKER_CHANNELS_H
#define FT_RECORD_MAKER_CHANNELS_H

#include "trace/trace.h"

/* The edges of who sends a signal, or sets its handler, begin with this; its number follows. */
#define FT_SIGNAL_EDGE "signal"

typedef struct ft_channels ft_channels;

ft_channels *ft_channels_new(void);
void ft_channels_free(ft_channels *channels); /* accepts NULL */

/* First pass, by thread of the log: a channel where nobody takes is none, nor is one of
 * FT_RAW_CHANNEL_TAKEN that one thread alone uses. `block`: which allocation it lies in, should it
 * be an address; FT_NO_ALLOCATION (cells.h). */
void ft_channels_meet(ft_channels *channels, uint32_t thread, const uint64_t *operands,
                      uint32_t block);
/* The operands of a CHANNEL record by that thread of the trace: appends its edges. */
void ft_channels_follow(ft_channels *channels, ft_builder *builder, uint32_t thread,
                        const uint64_t *operands, uint32_t loc);
/* The event of the trace behind which `thread` comes for what it took that `other` had put in, the
 * last of them; 0: it took nothing of that one. */
uint32_t ft_channels_behind(const ft_channels *channels, uint32_t thread, uint32_t other);

#endif
