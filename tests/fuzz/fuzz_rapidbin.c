/* RapidBin: whatever the bytes, no crash, and the pieces in which they arrive make no difference.
 */
#include <stdlib.h>
#include <string.h>

#include "reader_target.h"

enum { HEADER = 18, LEAST = HEADER + 8 };

static ft_status read_in_pieces(const uint8_t *data, size_t size, size_t piece, ft_trace **trace,
                                ft_error *err)
{
    ft_reader *reader = ft_reader_new();
    ft_status status = FT_OK;
    for (size_t at = 0; status == FT_OK && at < size; at += piece)
        status = ft_reader_feed(reader, data + at, piece < size - at ? piece : size - at, err);
    if (status == FT_OK) status = ft_reader_finish(reader, trace, err);
    ft_reader_free(reader);
    return status;
}

static void try_bytes(const uint8_t *data, size_t size)
{
    ft_trace *whole = NULL, *pieces = NULL;
    ft_error first = FT_ERROR_INIT, second = FT_ERROR_INIT;
    ft_status a = read_in_pieces(data, size, size ? size : 1, &whole, &first);
    ft_status b = read_in_pieces(data, size, 3, &pieces, &second);
    if (a != b || strcmp(first.message, second.message) != 0) abort();
    if ((a == FT_OK) != (whole != NULL)) abort();
    if (whole && whole->n_events != pieces->n_events) abort();
    ft_trace_free(whole);
    ft_trace_free(pieces);
}

/* As it comes, and with a header that says what follows. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    try_bytes(data, size);
    if (size < LEAST) return 0;
    uint8_t *copy = ft_alloc(size);
    memcpy(copy, data, size);
    memset(copy, 0, HEADER);
    copy[1] = 2;
    for (int i = 0; i < 4; i++) copy[HEADER - 1 - i] = (uint8_t)((size - HEADER) / 8 >> 8 * i);
    for (size_t at = HEADER; at < size; at += 8) copy[at] &= 0x7f;
    try_bytes(copy, size);
    free(copy);
    return 0;
}
