/* Binary traces: whatever the bytes, no crash; what is read is written and read back the same. */
#include <stdlib.h>
#include <string.h>

#include "reader_target.h"
#include "trace/binary.h"

static ft_status append(void *context, const void *data, size_t length, ft_error *err)
{
    (void)err;
    ft_strbuf_add(context, data, length);
    return FT_OK;
}

static void check_round_trip(const ft_trace *trace)
{
    ft_strbuf once = {0}, twice = {0};
    ft_trace *again = NULL;
    if (ft_binary_write(trace, append, &once, NULL) != FT_OK) abort();
    if (ft_trace_read_memory(once.text, once.len, &again, NULL) != FT_OK) abort();
    if (ft_binary_write(again, append, &twice, NULL) != FT_OK) abort();
    if (again->n_events != trace->n_events || again->n_notes != trace->n_notes) abort();
    if (once.len != twice.len || memcmp(once.text, twice.text, once.len) != 0) abort();
    ft_trace_free(again);
    ft_strbuf_release(&once);
    ft_strbuf_release(&twice);
}

static void try_bytes(const uint8_t *data, size_t size)
{
    ft_trace *trace = NULL;
    ft_error err = FT_ERROR_INIT;
    ft_status status = ft_trace_read_memory(data, size, &trace, &err);
    if ((status == FT_OK) != (trace != NULL) || status != err.code) abort();
    if (trace) check_round_trip(trace);
    ft_trace_free(trace);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *copy = ft_alloc(size + 4);
    try_bytes(data, size);
    if (size) memcpy(copy, data, size);
    if (size >= 4) memcpy(copy, FT_BINARY_MAGIC, 4);
    fuzz_repair_checksums(copy, size);
    try_bytes(copy, size);
    free(copy);
    return 0;
}
