#include "setup/config.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/closest.h"
#include "base/memory.h"

typedef enum kind { TEXT, NUMBER } kind;

typedef struct option {
    const char *name;
    kind kind;
    size_t offset;
    const char *standard, *argument;
    uint64_t least, most;
    const char *doc;
} option;

static const option OPTIONS[] = {
#define FT_ROW(symbol, name, kind, field, standard, argument, least, most, doc)                    \
    {name, kind, offsetof(ft_config, field), standard, argument, least, most, doc},
    FT_CONFIG_TABLE(FT_ROW)
#undef FT_ROW
};
#define OPTION_COUNT (sizeof OPTIONS / sizeof *OPTIONS)

static void *field_of(ft_config *config, const option *o)
{
    return (char *)config + o->offset;
}

static void set_text(ft_config *config, const option *o, const char *value)
{
    ft_config_text *field = field_of(config, o);
    char *copy = ft_strdup(value);
    free(*field);
    *field = copy;
}

/* Digits and at most one of k, m, g. */
static bool parse_number(const char *text, uint64_t *value)
{
    if (!isdigit((unsigned char)text[0])) return false;
    char *end;
    errno = 0;
    unsigned long long number = strtoull(text, &end, 10);
    if (errno != 0) return false;
    static const char UNITS[] = "kmg";
    const char *unit = *end ? strchr(UNITS, tolower((unsigned char)*end)) : NULL;
    unsigned shift = unit ? 10 * (unsigned)(unit - UNITS + 1) : 0;
    if (shift > 0) end++;
    if (*end != '\0' || (number << shift) >> shift != number) return false;
    *value = number << shift;
    return true;
}

static ft_status set_number(ft_config *config, const option *o, const char *value, ft_error *err)
{
    uint64_t number;
    if (!parse_number(value, &number) || number < o->least || number > o->most) {
        return ft_error_set(err, FT_USAGE, "%s: \"%.64s\" is not a number from %llu to %llu",
                            o->name, value, (unsigned long long)o->least,
                            (unsigned long long)o->most);
    }
    *(ft_config_number *)field_of(config, o) = number;
    return FT_OK;
}

bool ft_config_has(const char *name)
{
    for (size_t i = 0; i < OPTION_COUNT; i++)
        if (strcmp(OPTIONS[i].name, name) == 0) return true;
    return false;
}

ft_status ft_config_set(ft_config *config, const char *name, const char *value, ft_error *err)
{
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        const option *o = &OPTIONS[i];
        if (strcmp(o->name, name) != 0) continue;
        if (o->kind == NUMBER) return set_number(config, o, value, err);
        set_text(config, o, value);
        return FT_OK;
    }
    ft_closest closest = {.word = name};
    for (size_t i = 0; i < OPTION_COUNT; i++) ft_closest_offer(&closest, OPTIONS[i].name);
    if (!closest.name)
        return ft_error_set(err, FT_USAGE, "'%.64s' is not an option; see foretelld --help", name);
    return ft_error_set(err, FT_USAGE, "'%.64s' is not an option; did you mean '%s'?", name,
                        closest.name);
}

void ft_config_init(ft_config *config)
{
    memset(config, 0, sizeof *config);
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        ft_error err = FT_ERROR_INIT;
        if (ft_config_set(config, OPTIONS[i].name, OPTIONS[i].standard, &err) == FT_OK) continue;
        fprintf(stderr, "foretelld: invalid default: %s\n", err.message);
        abort();
    }
}

void ft_config_release(ft_config *config)
{
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        if (OPTIONS[i].kind != TEXT) continue;
        ft_config_text *field = field_of(config, &OPTIONS[i]);
        free(*field);
        *field = NULL;
    }
}

bool ft_config_solves(const ft_config *config)
{
    return strcmp(config->role, "front") != 0;
}

bool ft_config_serves(const ft_config *config)
{
    return *config->listen || *config->socket;
}

const char *ft_config_place(const ft_config *config)
{
    return *config->store ? config->store : config->state;
}

/* ---- File ------------------------------------------------------------------------------------ */

static char *trim(char *text)
{
    while (isspace((unsigned char)*text)) text++;
    size_t length = strlen(text);
    while (length > 0 && isspace((unsigned char)text[length - 1])) text[--length] = '\0';
    return text;
}

static ft_status read_line(ft_config *config, char *line, const char *path, unsigned number,
                           ft_error *err)
{
    char *comment = strchr(line, '#');
    if (comment) *comment = '\0';
    char *name = trim(line);
    if (*name == '\0') return FT_OK;
    char *equals = strchr(name, '=');
    if (!equals)
        return ft_error_at(err, FT_USAGE, number, 0, "%s:%u: not \"name = value\"", path, number);
    *equals = '\0';
    ft_error inner = FT_ERROR_INIT;
    ft_status status = ft_config_set(config, trim(name), trim(equals + 1), &inner);
    if (status == FT_OK) return FT_OK;
    return ft_error_at(err, status, number, 0, "%s:%u: %.300s", path, number, inner.message);
}

ft_status ft_config_read(ft_config *config, const char *path, ft_error *err)
{
    FILE *file = fopen(path, "re");
    if (!file) return ft_error_set(err, FT_IO, "cannot read %s: %s", path, strerror(errno));
    char *line = NULL;
    size_t cap = 0;
    ft_status status = FT_OK;
    for (unsigned number = 1; status == FT_OK && getline(&line, &cap, file) >= 0; number++)
        status = read_line(config, line, path, number, err);
    if (status == FT_OK && ferror(file))
        status = ft_error_set(err, FT_IO, "cannot read %s: %s", path, strerror(errno));
    free(line);
    fclose(file);
    return status;
}

/* ---- Texts ----------------------------------------------------------------------------------- */

void ft_config_print_file(ft_strbuf *out)
{
    ft_strbuf_puts(out,
                   "# Configuration of foretelld: every option with its default.\n"
                   "# foretelld --config FILE reads it; options of the command line override it.\n"
                   "# Sizes take the suffixes k, m and g (powers of 1024).\n");
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        const option *o = &OPTIONS[i];
        ft_strbuf_printf(out, "\n# %s\n%s =%s%s\n", o->doc, o->name, *o->standard ? " " : "",
                         o->standard);
    }
}

void ft_config_print_help(ft_strbuf *out)
{
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        const option *o = &OPTIONS[i];
        ft_strbuf_printf(out, "  --%s %s\n        %s", o->name, o->argument, o->doc);
        if (*o->standard) ft_strbuf_printf(out, " [%s]", o->standard);
        ft_strbuf_puts(out, "\n");
    }
}

/* ---- Address --------------------------------------------------------------------------------- */

bool ft_config_is_loopback(const char *address)
{
    struct in_addr v4;
    struct in6_addr v6;
    if (inet_pton(AF_INET, address, &v4) == 1) return ntohl(v4.s_addr) >> 24 == 127;
    return inet_pton(AF_INET6, address, &v6) == 1 && IN6_IS_ADDR_LOOPBACK(&v6);
}

static bool is_address(const char *address)
{
    struct in6_addr any;
    return inet_pton(AF_INET, address, &any) == 1 || inet_pton(AF_INET6, address, &any) == 1;
}

/* "[::1]" loses its brackets, localhost becomes an address. */
static void plain_address(const char *text, size_t length, char address[64])
{
    if (length >= 2 && text[0] == '[' && text[length - 1] == ']') {
        text++;
        length -= 2;
    }
    snprintf(address, 64, "%.*s", (int)length, text);
    if (strcmp(address, "localhost") == 0) snprintf(address, 64, "127.0.0.1");
}

ft_status ft_config_listen(const ft_config *config, char address[64], int *port, ft_error *err)
{
    const char *text = config->listen, *colon = strrchr(text, ':');
    uint64_t number;
    if (!colon || colon - text > 60 || !parse_number(colon + 1, &number) || number > 65535)
        return ft_error_set(err, FT_USAGE, "listen: \"%.64s\" is not an address; use ADDR:PORT",
                            text);
    plain_address(text, (size_t)(colon - text), address);
    if (!is_address(address))
        return ft_error_set(err, FT_USAGE, "listen: %s is not an IP address", address);
    *port = (int)number;
    return FT_OK;
}
