#include "base/contract.h"
#include "files.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/decompress.h"
#include "base/memory.h"
#include "terminal/terminal.h"
#include "trace/reader.h"

enum { PIECE = 1 << 16 };

/* ---- opening -------------------------------------------------------------------------------- */

/* read(), but a noted signal ends the wait as well: -1. */
static ssize_t read_some(int fd, char *piece, size_t size)
{
    struct pollfd ends[2] = {{.fd = fd, .events = POLLIN},
                             {.fd = ft_signals_fd(), .events = POLLIN}};
    while (poll(ends, 2, -1) < 0 && errno == EINTR && !ft_signals_caught()) {
    }
    errno = EINTR;
    return ft_signals_caught() ? -1 : read(fd, piece, size);
}

static ft_status copy_out(FILE *from, FILE **copy, ft_error *err)
{
    char piece[PIECE];
    FILE *to = tmpfile();
    if (!to) return ft_error_set(err, FT_IO, "cannot create a temporary file: %s", strerror(errno));
    ssize_t got;
    while ((got = read_some(fileno(from), piece, sizeof piece)) > 0)
        if (fwrite(piece, 1, (size_t)got, to) != (size_t)got) break;
    if (got || ferror(to) || fflush(to)) {
        if (got < 0)
            ft_error_set(err, FT_USAGE, "cannot be read: %s", strerror(errno));
        else
            ft_error_set(err, FT_IO, "cannot be copied: %s", strerror(errno));
        fclose(to);
        return err->code;
    }
    rewind(to);
    *copy = to;
    return FT_OK;
}

static ft_coding coding_of(FILE *file)
{
    unsigned char head[8] = {0};
    size_t got = fread(head, 1, sizeof head, file);
    rewind(file);
    return ft_coding_of(head, got);
}

/* Pipes become files, whose size is known and whose start can be looked at. */
static ft_status make_seekable(FILE **file, struct stat *info, ft_error *err)
{
    if (fstat(fileno(*file), info))
        return ft_error_set(err, FT_USAGE, "cannot be read: %s", strerror(errno));
    if (S_ISDIR(info->st_mode)) return ft_error_set(err, FT_USAGE, "is a folder, not a trace");
    if (S_ISREG(info->st_mode) && *file != stdin) return FT_OK;
    FILE *copy = NULL;
    ft_status status = copy_out(*file, &copy, err);
    if (status) return status;
    if (*file != stdin) fclose(*file);
    *file = copy;
    return fstat(fileno(copy), info) ? ft_error_set(err, FT_IO, "%s", strerror(errno)) : FT_OK;
}

void ft_input_close(ft_input *input)
{
    if (input->file && input->file != stdin) fclose(input->file);
    *input = (ft_input){0};
}

static ft_status feed_all(FILE *file, ft_decompressor *decoder, ft_error *err)
{
    char piece[PIECE];
    size_t got;
    while ((got = fread(piece, 1, sizeof piece, file)) > 0) {
        ft_status status = ft_decompressor_feed(decoder, piece, got, err);
        if (status) return status;
    }
    if (ferror(file)) return ft_error_set(err, FT_USAGE, "cannot be read: %s", strerror(errno));
    return ft_decompressor_end(decoder, err);
}

static ft_status decode(FILE *file, ft_coding coding, ft_decompressor_sink to, void *context,
                        ft_error *err)
{
    ft_decompressor *decoder = NULL;
    ft_status status = ft_decompressor_open(coding, to, context, &decoder, err);
    if (!status) status = feed_all(file, decoder, err);
    ft_decompressor_close(decoder);
    return status;
}

static ft_status write_out(void *file, const void *data, size_t length, ft_error *err)
{
    if (fwrite(data, 1, length, file) == length) return FT_OK;
    return ft_error_set(err, FT_IO, "cannot be copied: %s", strerror(errno));
}

/* xz is not a content coding of HTTP, so that such a file is uploaded decoded. */
static ft_status replace_xz(FILE **file, struct stat *info, ft_error *err)
{
    FILE *copy = tmpfile();
    if (!copy)
        return ft_error_set(err, FT_IO, "cannot create a temporary file: %s", strerror(errno));
    ft_status status = decode(*file, FT_CODING_XZ, write_out, copy, err);
    if (!status && (fflush(copy) || fstat(fileno(copy), info)))
        status = ft_error_set(err, FT_IO, "cannot be copied: %s", strerror(errno));
    if (status) {
        fclose(copy);
        return status;
    }
    if (*file != stdin) fclose(*file);
    rewind(copy);
    *file = copy;
    return FT_OK;
}

ft_status ft_input_open(const char *path, ft_input *input, ft_error *err)
{
    FILE *file = strcmp(path, "-") == 0 ? stdin : fopen(path, "re");
    if (!file) return ft_error_set(err, FT_USAGE, "cannot be opened: %s", strerror(errno));
    struct stat info;
    ft_status status = make_seekable(&file, &info, err);
    if (!status && coding_of(file) == FT_CODING_XZ) status = replace_xz(&file, &info, err);
    if (status) {
        if (file != stdin) fclose(file);
        return status;
    }
    ft_coding coding = coding_of(file);
    assert(ftello(file) == 0 && S_ISREG(info.st_mode)); /* it is uploaded from here, to its size */
    *input = (ft_input){.file = file,
                        .bytes = (uint64_t)info.st_size,
                        .encoding = coding == FT_CODINGS ? NULL : ft_coding_name(coding)};
    return FT_OK;
}

/* ---- reading -------------------------------------------------------------------------------- */

typedef struct sink {
    ft_reader *reader;
    ft_digest digest;
} sink;

static ft_status give(void *context, const void *data, size_t length, ft_error *err)
{
    sink *to = context;
    ft_digest_update(&to->digest, data, length);
    return ft_reader_feed(to->reader, data, length, err);
}

static ft_status read_all(const ft_input *input, sink *to, ft_error *err)
{
    return decode(input->file, coding_of(input->file), give, to, err);
}

ft_status ft_input_trace(const char *path, ft_trace **trace, char hash[FT_DIGEST_HEX + 1],
                         ft_error *err)
{
    ft_input input;
    ft_status status = ft_input_open(path, &input, err);
    if (status) return status;
    FT_REQUIRE(trace != NULL);
    sink to = {.reader = ft_reader_new()};
    ft_reader_keep_inputs(to.reader);
    ft_digest_init(&to.digest);
    status = read_all(&input, &to, err);
    if (!status) status = ft_reader_finish(to.reader, trace, err);
    if (!status && hash) ft_digest_hex(&to.digest, hash);
    ft_reader_free(to.reader);
    ft_input_close(&input);
    return status;
}

/* ---- JSON ----------------------------------------------------------------------------------- */

ft_status ft_input_json(const char *path, json_t **json, ft_error *err)
{
    FILE *file = strcmp(path, "-") == 0 ? stdin : fopen(path, "re");
    if (!file) return ft_error_set(err, FT_USAGE, "cannot be opened: %s", strerror(errno));
    json_error_t why;
    json_t *loaded = json_loadf(file, JSON_REJECT_DUPLICATES, &why);
    if (file != stdin) fclose(file);
    if (!loaded) {
        uint64_t line = why.line > 0 ? (uint64_t)why.line : 0;
        return ft_error_at(err, FT_INPUT, line, why.column > 0 ? (uint64_t)why.column : 0,
                           "is not a JSON document: %s", why.text);
    }
    *json = loaded;
    return FT_OK;
}
