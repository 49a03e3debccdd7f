/* Base: what all parts of Foretell are written with. Memory, vectors, maps, text, digests,
 * contracts and time have a header each; this one has status codes, and the error that the caller
 * owns and that a fallible function fills.
 *
 * A fallible function returns ft_status and takes `ft_error *err` as its last argument. On failure
 * it fills *err (the first error wins: a filled error is never overwritten) and leaves its outputs
 * untouched. `err` may be NULL where the caller wants the code alone. Libraries never log.
 *
 * Imports: nothing. */
#ifndef FT_BASE_STATUS_H
#define FT_BASE_STATUS_H

#include <stdbool.h>
#include <stdint.h>

/*       symbol       name (JSON "code")   HTTP  exit code of the CLI */
#define FT_STATUS_TABLE(X)                                                                         \
    X(OK, "ok", 200, 0)                                                                            \
    X(INPUT, "malformed-input", 400, 2)                                                            \
    X(USAGE, "usage", 422, 2)                                                                      \
    X(UNSUPPORTED, "unsupported", 422, 2)                                                          \
    X(LIMIT, "limit-exceeded", 413, 2)                                                             \
    X(NOT_FOUND, "not-found", 404, 2)                                                              \
    X(CONFLICT, "conflict", 409, 2)                                                                \
    X(BUDGET, "budget-exhausted", 503, 3)                                                          \
    X(FULL, "storage-full", 507, 4)                                                                \
    X(IO, "io", 500, 4)                                                                            \
    X(INTERNAL, "internal", 500, 4)

typedef enum ft_status {
#define FT_STATUS_ENUM(symbol, name, http, exit_code) FT_##symbol,
    FT_STATUS_TABLE(FT_STATUS_ENUM)
#undef FT_STATUS_ENUM
        FT_STATUS_COUNT
} ft_status;

typedef struct ft_error {
    ft_status code;  /* FT_OK while nothing went wrong */
    uint64_t line;   /* 1-based line of the input, 0: unknown */
    uint64_t column; /* 1-based byte column in that line, 0: unknown */
    uint64_t offset; /* byte offset in the input, meaningful if has_offset */
    bool has_offset;
    char message[480]; /* what is wrong, where, and what to do; no newline at its end */
} ft_error;

#define FT_ERROR_INIT                  ((ft_error){.code = FT_OK})
#define FT_MUST_CHECK                  __attribute__((warn_unused_result))
#define FT_PRINTF(format_index, first) __attribute__((format(printf, format_index, first)))

/* Fills *err unless it is filled already; returns `code`, not FT_OK, so that callers write
 * `return ft_error_set(err, FT_INPUT, "...")`. */
ft_status ft_error_set(ft_error *err, ft_status code, const char *format, ...) FT_PRINTF(3, 4);

/* Likewise with a 1-based line and column (0: unknown). */
ft_status ft_error_at(ft_error *err, ft_status code, uint64_t line, uint64_t column,
                      const char *format, ...) FT_PRINTF(5, 6);

/* Likewise with a byte offset, for binary input. */
ft_status ft_error_offset(ft_error *err, ft_status code, uint64_t offset, const char *format, ...)
    FT_PRINTF(4, 5);

const char *ft_status_name(ft_status code);      /* "malformed-input" */
ft_status ft_status_from_name(const char *name); /* FT_INTERNAL when the name is unknown */
/* The status of a failed file operation, by its errno: FT_FULL where the disk or a quota on it is
 * full, else FT_IO. */
ft_status ft_status_from_errno(int number);
int ft_status_http(ft_status code);
int ft_status_exit_code(ft_status code);

#endif
