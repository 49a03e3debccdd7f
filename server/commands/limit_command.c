#include "commands/limit_command.h"

#include <stdio.h>
#include <string.h>

#include "commands/verb_command.h"
#include "store/limits.h"

/* Of set. */
typedef struct command {
    bool given[FT_LIMITS];
    int64_t values[FT_LIMITS];
} command;

static const char HEAD[] =
    "usage: foretelld limit set PROJECT [OPTION VALUE]...\n"
    "       foretelld limit list [--json]\n"
    "\n"
    "Sets limits of one project, in place of the daemon's options "
    "(project-jobs and so on).\n"
    "0 means no limit; the value \"-\" restores the option. A running daemon "
    "applies changes within\n"
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
    uint64_t number = 0;
    c->given[limit] = true;
    c->values[limit] = FT_LIMIT_UNSET;
    if (strcmp(value, "-") == 0) return FT_OK;
    ft_status status = ft_verb_number(ft_limit_name(limit), value, &number, err);
    if (status == FT_OK) c->values[limit] = (int64_t)number;
    return status;
}

static bool set_option(void *own, const char *name, const char *value, ft_status *status,
                       ft_error *err)
{
    ft_limit limit;
    if (!ft_limit_parse(name, &limit)) return false;
    *status = set_limit(own, limit, value, err);
    return true;
}

/* ---- Verbs ----------------------------------------------------------------------------------- */

static ft_status run_set(const command *c, const ft_verb_call *call, ft_error *err)
{
    if (!call->word)
        return ft_error_set(err, FT_USAGE, "limit set needs a project; see foretelld limit --help");
    return ft_limits_set(ft_config_place(&call->config), call->word, c->given, c->values, err);
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

static ft_status run_list(const ft_verb_call *call, ft_error *err)
{
    json_t *list, *limits;
    const char *name;
    ft_status status = ft_verb_needs_database(call, err);
    if (status == FT_OK) status = ft_limits_list(ft_config_place(&call->config), &list, err);
    if (status != FT_OK) return status;
    if (call->json) {
        json_dumpf(list, stdout, JSON_COMPACT);
        printf("\n");
    } else {
        json_object_foreach(json_object_get(list, "projects"), name, limits)
            print_project(name, limits);
    }
    json_decref(list);
    return FT_OK;
}

static ft_status run(void *own, const ft_verb_call *call, ft_error *err)
{
    if (call->verb && strcmp(call->verb, "set") == 0) return run_set(own, call, err);
    if (call->verb && strcmp(call->verb, "list") == 0) return run_list(call, err);
    return ft_error_set(err, FT_USAGE, "limit needs set or list; see foretelld limit --help");
}

int ft_limit_command(int count, char **arguments)
{
    static const ft_verb_command LIMIT = {print_help, set_option, run};
    command own = {.given = {false}};
    return ft_verb_command_main(&LIMIT, &own, count, arguments);
}
