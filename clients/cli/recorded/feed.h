/* What `record --inputs-of` gives the program: the inputs of an earlier recording. */
#ifndef FT_CLI_FEED_H
#define FT_CLI_FEED_H

#include "base/status.h"
#include "trace/trace.h"

typedef struct ft_feed ft_feed;

/* FT_INPUT, FT_USAGE: `path` is no recording, or one of another build of that program. */
ft_status ft_feed_read(const char *path, const char *program, ft_feed **feed,
                       ft_error *err) FT_MUST_CHECK;
void ft_feed_free(ft_feed *feed); /* accepts NULL */

/* How much stands behind the log's limit, and puts it there; false: errno says why. */
uint64_t ft_feed_bytes(const ft_feed *feed);
bool ft_feed_write(const ft_feed *feed, int fd, uint64_t limit);

/* After the run: what was fed and what was not, on standard error unless `quiet`, and as a note of
 * the new trace. */
void ft_feed_tell(const ft_feed *feed, const char *log, uint64_t limit, ft_trace *trace,
                  bool quiet);

#endif
