/* Limits of one project: rows beside the server's options, changed by `foretelld limit` while a
 * daemon runs. */
#ifndef FT_STORE_LIMITS_H
#define FT_STORE_LIMITS_H

#include "store/store.h"

/* One row a limit; a project without a value of its own has the server's option of the same
 * meaning, where there is one.
 *  symbol         name            one line */
#define FT_LIMIT_TABLE(X)                                                                          \
    X(JOBS, "jobs", "jobs that have not ended")                                                    \
    X(WORKERS, "workers", "workers at once")                                                       \
    X(BYTES, "bytes", "bytes of stored traces; more uploads are refused")                          \
    X(SECONDS, "seconds", "seconds of worker time a day (UTC)")                                    \
    X(MEMORY_MB, "memory-mb", "MiB of memory for a worker at one of its tasks")                    \
    X(RETAIN_DAYS, "retain-days", "days until ended jobs are removed")                             \
    X(RETAIN_BYTES, "retain-bytes",                                                                \
      "bytes of traces beyond which the least recently used are removed")

typedef enum ft_limit {
#define FT_ROW(symbol, name, doc) FT_LIMIT_##symbol,
    FT_LIMIT_TABLE(FT_ROW)
#undef FT_ROW
        FT_LIMITS
} ft_limit;

const char *ft_limit_name(ft_limit limit);
const char *ft_limit_doc(ft_limit limit);
bool ft_limit_parse(const char *name, ft_limit *limit);

/* {"projects": {PROJECT: {LIMIT NAME: N..., "used_ms": N today}...}}: those with limits of their
 * own or with use today. */
void ft_store_limits(ft_store *store, ft_store_done done, void *data);

/* Sets the project's limits that are members of `limits` (numbers; null: as the server's options
 * say). The result is {}. */
void ft_store_limits_set(ft_store *store, const char *project, const json_t *limits,
                         ft_store_done done, void *data);
/* The project has none of its own any more. FT_NOT_FOUND: it had none. */
void ft_store_limits_drop(ft_store *store, const char *project, ft_store_done done, void *data);

/* FT_CONFLICT when the project has that many bytes of traces stored already; else {}. */
void ft_store_room(ft_store *store, const char *project, uint64_t bytes, ft_store_done done,
                   void *data);

/* ---- The command, beside a running daemon -----------------------------------------------------
 */

#define FT_LIMIT_UNSET (-1) /* as the server's options say */

/* Sets those of the project's limits that `given` marks; FT_LIMIT_UNSET removes one. FT_USAGE: no
 * name of a project. */
ft_status ft_limits_set(const char *folder, const char *project, const bool given[FT_LIMITS],
                        const int64_t values[FT_LIMITS], ft_error *err) FT_MUST_CHECK;
/* As ft_store_limits; new reference. */
ft_status ft_limits_list(const char *folder, json_t **list, ft_error *err) FT_MUST_CHECK;

#endif
