/* Inputs by name: from the command line to the program, and the names without a value. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "raw/inputs.h"
#include "recorded/recorded.h"

/* Signed or unsigned, of 64 bits: larger ones than INT64_MAX are negative here. */
static long long whole_number(const char *text, char **end)
{
    return strchr(text, '-') ? strtoll(text, end, 0) : (long long)strtoull(text, end, 0);
}

ft_status ft_input_setting(const char *text, char **name, long long *value, ft_error *err)
{
    const char *equals = strchr(text, '=');
    char *end = NULL;
    errno = 0;
    *value = equals ? whole_number(equals + 1, &end) : 0;
    if (!equals || equals == text || !equals[1] || *end || errno)
        return ft_error_set(err, FT_USAGE,
                            "--input takes NAME=VALUE with a whole number of at most 64 bits, "
                            "not '%s'",
                            text);
    if (memchr(text, '\n', (size_t)(equals - text)))
        return ft_error_set(err, FT_USAGE, "the name of an input is one line, not '%s'", text);
    *name = ft_strndup(text, (size_t)(equals - text));
    return FT_OK;
}

ft_status ft_inputs_give(const ft_texts *settings, ft_error *err)
{
    ft_strbuf all = {0};
    ft_status status = FT_OK;
    for (size_t i = 0; i < settings->len && status == FT_OK; i++) {
        char *name = NULL;
        long long value = 0;
        status = ft_input_setting(settings->data[i], &name, &value, err);
        if (status == FT_OK) ft_strbuf_printf(&all, "%s=%lld\n", name, value);
        free(name);
    }
    if (status == FT_OK && all.len && setenv(FT_INPUTS_VARIABLE, ft_strbuf_text(&all), 1))
        status = ft_error_set(err, FT_IO, "the environment cannot be changed: %s", strerror(errno));
    ft_strbuf_release(&all);
    return status;
}

static uint64_t value_in_environment(const char *name)
{
    size_t length = strlen(name);
    for (const char *line = getenv(FT_INPUTS_VARIABLE); line && *line;) {
        if (strncmp(line, name, length) == 0 && line[length] == '=')
            return line[length + 1] == '-' ? (uint64_t)strtoll(line + length + 1, NULL, 0)
                                           : strtoull(line + length + 1, NULL, 0);
        line += strcspn(line, "\n");
        line += *line == '\n';
    }
    return 0;
}

uint64_t ft_inputs_value(const ft_texts *settings, const char *name)
{
    for (size_t i = 0; i < settings->len; i++) {
        ft_error err = FT_ERROR_INIT;
        char *known = NULL;
        long long value = 0;
        bool good = ft_input_setting(settings->data[i], &known, &value, &err) == FT_OK;
        bool same = good && strcmp(known, name) == 0;
        free(known);
        if (same) return (uint64_t)value;
    }
    return value_in_environment(name);
}

void ft_inputs_quote(const ft_texts *settings, ft_strbuf *out)
{
    for (size_t i = 0; i < settings->len; i++) {
        ft_strbuf_puts(out, " --input");
        ft_failure_quote(&settings->data[i], 1, out);
    }
}

void ft_inputs_report(const ft_raw_unset unset[FT_RAW_UNSETS], FILE *out)
{
    for (size_t i = 0; i < FT_RAW_UNSETS; i++) {
        const char *name = unset[i].name;
        size_t room = sizeof unset[i].name;
        bool again = false;
        if (!unset[i].taken || !name[0]) continue;
        for (size_t k = 0; k < i; k++) again |= strncmp(unset[k].name, name, room) == 0;
        if (again) continue;
        fprintf(out,
                "foretell: the input '%.*s' has no value, so it is 0: give --input %.*s=VALUE\n",
                (int)room, name, (int)room, name);
    }
}
