/* The raw log of a recorded program, which may have died anywhere and whose memory may be
 * overwritten: an error, or a trace that can be written and read back. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "maker/log/log.h"
#include "maker/maker.h"
#include "trace/reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { FRONT = 8, SYMBOLIC = 1, LONG = 1 << 16 };

/* Files of the machine are no part of the input. */
static bool names_files(const uint8_t *data, size_t size)
{
    static const char *const folders[] = {"/dev/", "/proc/", "/sys/"};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        if (memmem(data, size, folders[i], strlen(folders[i]))) return true;
    return false;
}

/* The first byte says what the header does; behind eight bytes stand the records. */
static int make_log(const uint8_t *data, size_t size, char path[64])
{
    ft_raw_header header = {.limit = FT_RAW_PAGE + size + FT_RAW_LONGEST,
                            .started = 1,
                            .mark = size - FRONT,
                            .end = data[1],
                            .threads = data[2],
                            .symbolic = data[0] & SYMBOLIC,
                            .built = data[0] & SYMBOLIC};
    memcpy(header.magic, FT_RAW_MAGIC, sizeof header.magic);
    int fd = memfd_create("log", MFD_CLOEXEC);
    if (fd < 0 || ftruncate(fd, (off_t)header.limit) ||
        pwrite(fd, &header, sizeof header, 0) != (ssize_t)sizeof header ||
        pwrite(fd, data + FRONT, size - FRONT, FT_RAW_PAGE) != (ssize_t)(size - FRONT))
        abort();
    snprintf(path, 64, "/proc/self/fd/%d", fd);
    return fd;
}

static ft_status add(void *text, const void *bytes, size_t n, ft_error *err)
{
    (void)err;
    ft_strbuf_add(text, bytes, n);
    return FT_OK;
}

/* As a server reads what was recorded. */
static void read_back(const ft_trace *trace)
{
    ft_strbuf file = {0};
    ft_trace *again = NULL;
    ft_error err = FT_ERROR_INIT;
    ft_reader *reader = ft_reader_new();
    if (ft_binary_write(trace, add, &file, &err) ||
        ft_reader_feed(reader, file.text, file.len, &err) ||
        ft_reader_finish(reader, &again, &err) || again->n_events != trace->n_events) {
        fprintf(stderr, "fuzz: %s\n", err.message);
        abort();
    }
    ft_trace_free(again);
    ft_reader_free(reader);
    ft_strbuf_release(&file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[64];
    ft_trace *trace = NULL;
    ft_record_summary summary;
    ft_error err = FT_ERROR_INIT;
    if (size < FRONT || size > LONG || names_files(data, size)) return 0;
    int fd = make_log(data, size, path);
    ft_status status = ft_record_make(path, &trace, &summary, &err);
    if (status && (err.code != status || !*err.message)) abort();
    if (!status) read_back(trace);
    ft_trace_free(trace);
    close(fd);
    return 0;
}
