/* The daemon's log: one line an event on standard error, "time level message key=value ...". */
#ifndef FT_LOG_H
#define FT_LOG_H

#include "base/status.h"

#define FT_LOG_TABLE(X)                                                                            \
    X(DEBUG, "debug")                                                                              \
    X(INFO, "info")                                                                                \
    X(WARN, "warn")                                                                                \
    X(ERROR, "error")

typedef enum ft_log_level {
#define FT_ROW(symbol, name) FT_LOG_##symbol,
    FT_LOG_TABLE(FT_ROW)
#undef FT_ROW
        FT_LOG_LEVELS
} ft_log_level;

bool ft_log_parse(const char *name, ft_log_level *level);
void ft_log_set_level(ft_log_level least); /* default FT_LOG_INFO */
/* Standard error is this file from now on (workers that are started later write there as well);
 * made if it is not there, mode 0640. Called again it opens the file anew, as after a rotation. */
ft_status ft_log_to_file(const char *path, ft_error *err) FT_MUST_CHECK;

/* Writes one line. `fields` (may be "") is a format for "key=value key=value"; a value with spaces
 * is written as key="...". Control characters in the result become '?'. */
void ft_log(ft_log_level level, const char *message, const char *fields, ...) FT_PRINTF(3, 4);

#endif
