/* Traces in any format, taken in block by block and whole: the same canonical form, or the same
 * refusal at the same place. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reader_target.h"
#include "trace/binary.h"
#include "verdict/intake.h"

typedef struct outcome {
    ft_error err;
    bool again;
    ft_strbuf canonical;
} outcome;

static void require(bool condition, const char *what)
{
    if (condition) return;
    fprintf(stderr, "fuzz: %s\n", what);
    abort();
}

static ft_status append(void *context, const void *data, size_t length, ft_error *err)
{
    (void)err;
    ft_strbuf_add(context, data, length);
    return FT_OK;
}

static outcome take(const uint8_t *data, size_t size, uint32_t block, size_t piece)
{
    outcome o = {.err = FT_ERROR_INIT};
    ft_status status = FT_OK;
    ft_intake *in = ft_intake_new(block, append, &o.canonical);
    for (size_t at = 0; at < size && status == FT_OK && !ft_intake_again(in); at += piece)
        status = ft_intake_feed(in, data + at, size - at < piece ? size - at : piece, &o.err);
    if (status == FT_OK && !ft_intake_again(in)) status = ft_intake_finish(in, &o.err);
    require(status == o.err.code, "a status that is not the error's");
    o.again = ft_intake_again(in);
    ft_intake_free(in);
    return o;
}

/* What a canonical file reads as, written whole. */
static void write_whole(const ft_strbuf *file, ft_strbuf *out)
{
    ft_error err = FT_ERROR_INIT;
    ft_trace *trace = NULL;
    if (ft_trace_read_memory(file->text, file->len, &trace, &err) != FT_OK)
        require(false, err.message);
    require(ft_binary_write(trace, append, out, &err) == FT_OK, "it cannot be written");
    ft_trace_free(trace);
}

static void compare(const outcome *a, const outcome *b)
{
    bool same = a->err.code == b->err.code && strcmp(a->err.message, b->err.message) == 0 &&
                a->err.line == b->err.line && a->err.column == b->err.column &&
                a->err.has_offset == b->err.has_offset && a->err.offset == b->err.offset;
    if (!same)
        fprintf(stderr, "whole:  %d %s @%llu\nblocks: %d %s @%llu\n", a->err.code, a->err.message,
                (unsigned long long)a->err.offset, b->err.code, b->err.message,
                (unsigned long long)b->err.offset);
    require(same, "the blocks make a difference to a refusal");
    if (a->err.code) return;
    ft_strbuf left = {0}, right = {0};
    write_whole(&a->canonical, &left);
    write_whole(&b->canonical, &right);
    require(left.len == right.len && memcmp(left.text, right.text, left.len) == 0,
            "the blocks make a difference to a trace");
    ft_strbuf_release(&left);
    ft_strbuf_release(&right);
}

static void try_bytes(const uint8_t *data, size_t size)
{
    outcome whole = take(data, size, 0, size + 1);
    outcome blocks = take(data, size, 1 + (uint32_t)(size % 7), 1 + size / 3);
    require(!whole.again, "what has all asks for more");
    if (!blocks.again) compare(&whole, &blocks);
    ft_strbuf_release(&whole.canonical);
    ft_strbuf_release(&blocks.canonical);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    try_bytes(data, size);
    if (size < 4 || memcmp(data, FT_BINARY_MAGIC, 4) != 0) return 0;
    uint8_t *copy = ft_alloc(size);
    memcpy(copy, data, size);
    fuzz_repair_checksums(copy, size);
    try_bytes(copy, size);
    free(copy);
    return 0;
}
