#include "setup/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "base/strbuf.h"

#define FT_ROW(symbol, name) name,
static const char *const NAMES[] = {FT_LOG_TABLE(FT_ROW)};
#undef FT_ROW

static ft_log_level least_level = FT_LOG_INFO;

bool ft_log_parse(const char *name, ft_log_level *level)
{
    for (int i = 0; i < FT_LOG_LEVELS; i++) {
        if (strcmp(NAMES[i], name) != 0) continue;
        *level = (ft_log_level)i;
        return true;
    }
    return false;
}

void ft_log_set_level(ft_log_level least)
{
    least_level = least;
}

ft_status ft_log_to_file(const char *path, ft_error *err)
{
    int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0640);
    bool good = fd >= 0 && dup2(fd, STDERR_FILENO) >= 0;
    int reason = errno;
    if (fd >= 0) close(fd);
    if (good) return FT_OK;
    return ft_error_set(err, FT_IO, "log-file: cannot write %s: %s", path, strerror(reason));
}

static void add_time(ft_strbuf *line)
{
    struct timeval now;
    struct tm parts;
    char text[32];
    gettimeofday(&now, NULL);
    gmtime_r(&now.tv_sec, &parts);
    strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &parts);
    ft_strbuf_printf(line, "%s.%03dZ", text, (int)(now.tv_usec / 1000));
}

/* One write for a line, so that lines of the workers (same descriptor) do not mix with ours. */
void ft_log(ft_log_level level, const char *message, const char *fields, ...)
{
    if (level < least_level) return;
    char rest[1024];
    va_list args;
    va_start(args, fields);
    vsnprintf(rest, sizeof rest, fields, args);
    va_end(args);
    ft_strbuf line = {0};
    add_time(&line);
    ft_strbuf_printf(&line, " %s \"%s\"%s%s", NAMES[level], message, rest[0] ? " " : "", rest);
    for (size_t i = 0; i < line.len; i++)
        if ((unsigned char)line.text[i] < ' ' || line.text[i] == 127) line.text[i] = '?';
    ft_strbuf_add(&line, "\n", 1);
    ssize_t written = write(STDERR_FILENO, line.text, line.len);
    (void)written;
    ft_strbuf_release(&line);
}
