#include "base/status.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/contract.h"

static const struct {
    const char *name;
    int http;
    int exit_code;
} STATUS[FT_STATUS_COUNT] = {
#define FT_STATUS_ROW(symbol, name, http, exit_code) [FT_##symbol] = {name, http, exit_code},
    FT_STATUS_TABLE(FT_STATUS_ROW)
#undef FT_STATUS_ROW
};

__attribute__((format(printf, 3, 0))) static bool fill(ft_error *err, ft_status code,
                                                       const char *format, va_list args)
{
    FT_REQUIRE(code > FT_OK && code < FT_STATUS_COUNT);
    if (!err || err->code != FT_OK) return false;
    err->code = code;
    vsnprintf(err->message, sizeof err->message, format, args);
    return true;
}

ft_status ft_error_set(ft_error *err, ft_status code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fill(err, code, format, args);
    va_end(args);
    return code;
}

ft_status ft_error_at(ft_error *err, ft_status code, uint64_t line, uint64_t column,
                      const char *format, ...)
{
    va_list args;
    va_start(args, format);
    if (fill(err, code, format, args)) {
        err->line = line;
        err->column = column;
    }
    va_end(args);
    return code;
}

ft_status ft_error_offset(ft_error *err, ft_status code, uint64_t offset, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    if (fill(err, code, format, args)) {
        err->offset = offset;
        err->has_offset = true;
    }
    va_end(args);
    return code;
}

const char *ft_status_name(ft_status code)
{
    return code < FT_STATUS_COUNT ? STATUS[code].name : "internal";
}

ft_status ft_status_from_name(const char *name)
{
    FT_REQUIRE(name);
    for (int i = 0; i < FT_STATUS_COUNT; i++)
        if (strcmp(STATUS[i].name, name) == 0) return (ft_status)i;
    return FT_INTERNAL;
}

ft_status ft_status_from_errno(int number)
{
    return number == ENOSPC || number == EDQUOT ? FT_FULL : FT_IO;
}

int ft_status_http(ft_status code)
{
    return code < FT_STATUS_COUNT ? STATUS[code].http : 500;
}

int ft_status_exit_code(ft_status code)
{
    return code < FT_STATUS_COUNT ? STATUS[code].exit_code : 4;
}
