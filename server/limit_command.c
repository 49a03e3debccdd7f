#include "limit_command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "store/limits.h"

enum { EXIT_BAD_USAGE = 2, EXIT_NO_STATE = 4 };

typedef struct command {
    ft_config config;
    const char *project;
    bool given[FT_LIMITS];
    int64_t values[FT_LIMITS];
    bool json, help;
} command;

static const char HEAD[] = "usage: foretelld limit set PROJECT [OPTION VALUE]...\n"
                           "       foretelld limit list [--json]\n"
                           "\n"
                           "What one project may have, in place of what the daemon's options "
                           "(project-jobs and so on) say.\n"
                           "0 is no limit, a value \"-\" goes back to the option. A running daemon "
                           "learns of changes within\n"
                           "seconds. Run this as the user that the daemon runs as.\n"
                           "\n";
static const char TAIL[] =
    "  --state DIR, --config FILE\n"
    "        the daemon's state folder, as for foretelld\n"
    "\n"
    "Examples:\n"
    "  foretelld limit set team/app --jobs 50 --workers 2 --state /var/lib/foretell\n"
    "  foretelld limit set team/app --seconds 36000 --retain-days 30 --retain-bytes -\n";

static void print_help(void)
{
    fputs(HEAD, stdout);
    for (int i = 0; i < FT_LIMITS; i++)
        printf("  --%s N\n        %s\n", ft_limit_name((ft_limit)i), ft_limit_doc((ft_limit)i));
    fputs(TAIL, stdout);
}

/* ---- Options --------------------------------------------------------------------------------- */

static ft_status set_limit(command *c, ft_limit limit, const char *value, ft_error *err)
{
    char *end;
    c->given[limit] = true;
    c->values[limit] = FT_LIMIT_UNSET;
    if (strcmp(value, "-") == 0) return FT_OK;
    if (strspn(value, "0123456789") != strlen(value) || !*value || strlen(value) > 15)
        return ft_error_set(err, FT_USAGE, "--%s: \"%.32s\" is no number", ft_limit_name(limit),
                            value);
    c->values[limit] = strtoll(value, &end, 10);
    return FT_OK;
}

static ft_status set_option(command *c, const char *name, const char *value, ft_error *err)
{
    ft_limit limit;
    if (strcmp(name, "config") == 0) return ft_config_read(&c->config, value, err);
    if (ft_limit_parse(name, &limit)) return set_limit(c, limit, value, err);
    return ft_config_set(&c->config, name, value, err);
}

static ft_status parse(command *c, int count, char **arguments, ft_error *err)
{
    for (int i = 1; i < count; i++) {
        const char *argument = arguments[i];
        if (strcmp(argument, "--json") == 0) {
            c->json = true;
        } else if (strcmp(argument, "--help") == 0) {
            c->help = true;
        } else if (strncmp(argument, "--", 2) != 0) {
            if (c->project) return ft_error_set(err, FT_USAGE, "unexpected \"%.64s\"", argument);
            c->project = argument;
        } else if (i + 1 == count) {
            return ft_error_set(err, FT_USAGE, "%.64s needs a value", argument);
        } else {
            ft_status status = set_option(c, argument + 2, arguments[++i], err);
            if (status != FT_OK) return status;
        }
    }
    return FT_OK;
}

/* ---- Verbs ----------------------------------------------------------------------------------- */

static ft_status run_set(command *c, ft_error *err)
{
    if (!c->project) return ft_error_set(err, FT_USAGE, "set needs a project; see limit --help");
    return ft_limits_set(c->config.state, c->project, c->given, c->values, err);
}

static void print_project(const char *name, json_t *limits)
{
    const char *limit;
    json_t *value;
    printf("%s", name);
    json_object_foreach(limits, limit, value)
        printf("  %s=%lld", limit, (long long)json_integer_value(value));
    printf("\n");
}

static ft_status run_list(command *c, ft_error *err)
{
    json_t *list, *limits;
    const char *name;
    ft_status status = ft_limits_list(c->config.state, &list, err);
    if (status != FT_OK) return status;
    if (c->json) {
        json_dumpf(list, stdout, JSON_COMPACT);
        printf("\n");
    } else {
        json_object_foreach(json_object_get(list, "projects"), name, limits)
            print_project(name, limits);
    }
    json_decref(list);
    return FT_OK;
}

static ft_status run(command *c, const char *verb, ft_error *err)
{
    if (verb && strcmp(verb, "set") == 0) return run_set(c, err);
    if (verb && strcmp(verb, "list") == 0) return run_list(c, err);
    return ft_error_set(err, FT_USAGE, "limit set or list? See limit --help");
}

int ft_limit_command(int count, char **arguments)
{
    command c = {.project = NULL};
    ft_error err = FT_ERROR_INIT;
    const char *verb = count > 0 ? arguments[0] : NULL;
    ft_config_init(&c.config);
    c.help = verb && strcmp(verb, "--help") == 0;
    ft_status status = parse(&c, count, arguments, &err);
    if (status == FT_OK && c.help)
        print_help();
    else if (status == FT_OK)
        status = run(&c, verb, &err);
    if (status != FT_OK) fprintf(stderr, "foretelld: %s\n", err.message);
    ft_config_release(&c.config);
    if (status == FT_OK) return fflush(stdout) == 0 ? 0 : EXIT_NO_STATE;
    return status == FT_USAGE ? EXIT_BAD_USAGE : EXIT_NO_STATE;
}
