#include "output.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const struct {
    const char *format, *endings; /* endings: ".a .b" */
    ft_trace_writer write;
} writers[] = {
    {"ndjson", ".ndjson .jsonl .json", ft_ndjson_write},
    {"binary", ".ftb .bin", ft_binary_write},
};
#define N_WRITERS (sizeof writers / sizeof writers[0])

static bool ends_in(const char *path, const char *endings)
{
    size_t length = strlen(path);
    while (*endings) {
        size_t one = strcspn(endings, " ");
        if (length > one && strncmp(path + length - one, endings, one) == 0) return true;
        endings += one + (endings[one] == ' ');
    }
    return false;
}

ft_trace_writer ft_output_writer(const char *format, const char *path)
{
    for (size_t i = 0; i < N_WRITERS; i++) {
        bool fits =
            format ? strcmp(writers[i].format, format) == 0 : ends_in(path, writers[i].endings);
        if (fits) return writers[i].write;
    }
    return NULL;
}

static ft_status to_file(void *context, const void *data, size_t length, ft_error *err)
{
    if (fwrite(data, 1, length, context) == length) return FT_OK;
    return ft_error_set(err, FT_USAGE, "cannot be written: %s", strerror(errno));
}

ft_status ft_output_trace(const ft_trace *trace, ft_trace_writer write, const char *path,
                          ft_error *err)
{
    if (strcmp(path, "-") == 0) return write(trace, to_file, stdout, err);
    ft_strbuf temporary = {0};
    ft_strbuf_printf(&temporary, "%s.part-%ld", path, (long)getpid());
    FILE *file = fopen(temporary.text, "wxe");
    ft_status status = FT_OK;
    if (!file) {
        status = ft_error_set(err, FT_USAGE, "cannot be written: %s", strerror(errno));
    } else {
        status = write(trace, to_file, file, err);
        if (fclose(file) && !status)
            status = ft_error_set(err, FT_USAGE, "cannot be written: %s", strerror(errno));
        if (!status && rename(temporary.text, path))
            status = ft_error_set(err, FT_USAGE, "cannot be written: %s", strerror(errno));
        if (status) remove(temporary.text);
    }
    ft_strbuf_release(&temporary);
    return status;
}
