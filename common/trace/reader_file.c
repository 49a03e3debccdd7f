#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/decompress.h"
#include "trace/reader.h"

enum { PIECE = 1 << 18 };

static ft_status feed_decoded(void *reader, const void *data, size_t length, ft_error *err)
{
    return ft_reader_feed(reader, data, length, err);
}

/* Fills the buffer as far as the file goes, so that the first call sees the magic. */
static ft_status read_piece(int fd, unsigned char *buffer, size_t *length, ft_error *err)
{
    *length = 0;
    while (*length < PIECE) {
        ssize_t got = read(fd, buffer + *length, PIECE - *length);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return ft_error_set(err, FT_IO, "cannot read: %s", strerror(errno));
        if (got == 0) break;
        *length += (size_t)got;
    }
    return FT_OK;
}

static ft_status read_fd(int fd, ft_reader *reader, ft_error *err)
{
    unsigned char *buffer = ft_alloc(PIECE);
    ft_decompressor *decoder = NULL;
    size_t length;
    ft_status status = read_piece(fd, buffer, &length, err);
    if (status == FT_OK)
        status =
            ft_decompressor_open(ft_coding_of(buffer, length), feed_decoded, reader, &decoder, err);
    while (status == FT_OK && length) {
        status = ft_decompressor_feed(decoder, buffer, length, err);
        if (status == FT_OK) status = read_piece(fd, buffer, &length, err);
    }
    if (status == FT_OK) status = ft_decompressor_end(decoder, err);
    ft_decompressor_close(decoder);
    free(buffer);
    return status;
}

static ft_status open_file(const char *path, int *fd, ft_error *err)
{
    struct stat info;
    *fd = strcmp(path, "-") == 0 ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (*fd < 0)
        return ft_error_set(err, errno == ENOENT ? FT_NOT_FOUND : FT_USAGE, "cannot open %s: %s",
                            path, strerror(errno));
    if (fstat(*fd, &info) == 0 && S_ISDIR(info.st_mode)) {
        close(*fd);
        return ft_error_set(err, FT_USAGE, "%s is a directory", path);
    }
    return FT_OK;
}

ft_status ft_trace_read_file(const char *path, ft_trace **trace, ft_error *err)
{
    int fd;
    ft_status status = open_file(path, &fd, err);
    if (status != FT_OK) return status;
    ft_reader *reader = ft_reader_new();
    status = read_fd(fd, reader, err);
    if (status == FT_OK) status = ft_reader_finish(reader, trace, err);
    ft_reader_free(reader);
    if (fd != STDIN_FILENO) close(fd);
    return status;
}
