/* The framing of one request, byte by byte: its request line, where head, chunks and trailers end.
 *
 * llhttp 8.1 accepts line ends, folds, protocols and targets that RFC 9112 §2.2, §2.3, §3 and §5.2
 * let a server refuse; requests pass through here first. The guard finds the end of a message on
 * its own, so a disagreement with llhttp shows. */
#ifndef FT_HTTP_GUARD_H
#define FT_HTTP_GUARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Faults: the status of the response, and one sentence. */
#define FT_GUARD_FAULT_TABLE(X)                                                                    \
    X(NONE, 0, "")                                                                                 \
    X(BARE_CR, 400, "a carriage return is not followed by a line feed")                            \
    X(BARE_LF, 400, "a line ends without a carriage return")                                       \
    X(NUL, 400, "a line contains a NUL byte")                                                      \
    X(CONTROL, 400, "a line contains a control character")                                         \
    X(NO_METHOD, 400, "the request line does not begin with a method")                             \
    X(TARGET_TEXT, 400, "the request target contains a character that must be percent-encoded")    \
    X(VERSION, 400, "the request line does not end with a version, HTTP/1.1")                      \
    X(FOLDED, 400,                                                                                 \
      "a header is folded: start each header on its own line, without leading blanks")             \
    X(EMPTY_NAME, 400, "a header has no name")                                                     \
    X(NO_COLON, 400, "a header line has no colon")                                                 \
    X(NAME, 400, "a header name contains a character that is not allowed")                         \
    X(CHUNK, 400, "a chunk is malformed")                                                          \
    X(TARGET, 414, "the request line is too long")                                                 \
    X(HEADERS, 431, "the headers are too long")                                                    \
    X(COUNT, 431, "too many headers")

typedef enum ft_guard_fault {
#define FT_ROW(symbol, status, text) FT_GUARD_##symbol,
    FT_GUARD_FAULT_TABLE(FT_ROW)
#undef FT_ROW
        FT_GUARD_FAULTS
} ft_guard_fault;

int ft_guard_fault_status(ft_guard_fault fault);
const char *ft_guard_fault_text(ft_guard_fault fault);

typedef enum ft_guard_state {
    FT_GUARD_LINE_START, /* in the head or the trailers */
    FT_GUARD_METHOD,
    FT_GUARD_TARGET_REST,
    FT_GUARD_VERSION_REST,
    FT_GUARD_LINE_NAME,
    FT_GUARD_LINE_REST,
    FT_GUARD_LINE_CR,
    FT_GUARD_HEAD_END, /* waits for ft_guard_body_... */
    FT_GUARD_BODY_LENGTH,
    FT_GUARD_CHUNK_SIZE,
    FT_GUARD_CHUNK_EXTENSION,
    FT_GUARD_CHUNK_SIZE_CR,
    FT_GUARD_CHUNK_DATA,
    FT_GUARD_CHUNK_DATA_CR,
    FT_GUARD_CHUNK_DATA_LF,
    FT_GUARD_END
} ft_guard_state;

/* Embedded: ft_guard_init. */
typedef struct ft_guard {
    ft_guard_state state;
    bool trailers, request_line;
    uint32_t max_target, max_header, max_count; /* limits */
    uint32_t header_bytes, line_bytes, count;
    uint64_t left;   /* of the body or the chunk */
    uint32_t digits; /* of a chunk's size; bytes of the version */
} ft_guard;

void ft_guard_init(ft_guard *guard, uint32_t max_target, uint32_t max_header, uint32_t max_count);

/* Takes in bytes up to the end of the head, or of the message; *used says how many, on a fault
 * those before the faulty byte. */
ft_guard_fault ft_guard_scan(ft_guard *guard, const char *data, size_t length, size_t *used);

/* After FT_GUARD_HEAD_END: how the body is framed. */
void ft_guard_body_length(ft_guard *guard, uint64_t length);
void ft_guard_body_chunked(ft_guard *guard);

#endif
