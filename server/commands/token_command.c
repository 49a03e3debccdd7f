#include "commands/token_command.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "commands/verb_command.h"
#include "store/access.h"

static const char HELP[] =
    "usage: foretelld token create [OPTION VALUE]...\n"
    "       foretelld token list [--json]\n"
    "       foretelld token revoke ID\n"
    "\n"
    "Manages access tokens. Without any token, a daemon on loopback serves every request; from "
    "then\n"
    "on each request needs one: Authorization: Bearer TOKEN. A running daemon applies changes from "
    "its\n"
    "next request on. Run this as the user that the daemon runs as.\n"
    "\n"
    "  --state DIR, --config FILE\n"
    "        the daemon's state folder, as for foretelld\n"
    "  --name TEXT\n"
    "        its holder, for lists [unnamed]\n"
    "  --scopes LIST\n"
    "        of read, submit, admin [read,submit]\n"
    "  --projects LIST\n"
    "        the projects that it is limited to [every project]\n"
    "  --rate N\n"
    "        most requests a second; 0: no limit [0]\n"
    "  --max-upload BYTES\n"
    "        largest trace as sent; 0: the server's limit [0]\n"
    "  --days N\n"
    "        days until it expires; 0: never [0]\n"
    "\n"
    "create prints the token, which cannot be shown again: the daemon keeps only its hash.\n"
    "\n"
    "Examples:\n"
    "  foretelld token create --name ci --scopes submit,read --projects team/app > ci.token\n"
    "  foretelld token create --name dashboard --scopes read --days 90\n"
    "  foretelld token revoke 61f3c0ffee61f3c0\n";

static void print_help(void)
{
    fputs(HELP, stdout);
}

/* ---- Options --------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    bool number; /* else a text */
    size_t offset;
} OPTIONS[] = {
    {"name", false, offsetof(ft_token_options, name)},
    {"scopes", false, offsetof(ft_token_options, scopes)},
    {"projects", false, offsetof(ft_token_options, projects)},
    {"rate", true, offsetof(ft_token_options, rate)},
    {"max-upload", true, offsetof(ft_token_options, max_upload)},
    {"days", true, offsetof(ft_token_options, days)},
};
#define N_OPTIONS (sizeof OPTIONS / sizeof *OPTIONS)

static bool set_option(void *own, const char *name, const char *value, ft_status *status,
                       ft_error *err)
{
    size_t i = 0;
    while (i < N_OPTIONS && strcmp(OPTIONS[i].name, name) != 0) i++;
    if (i == N_OPTIONS) return false;
    void *field = (char *)own + OPTIONS[i].offset;
    if (OPTIONS[i].number)
        *status = ft_verb_number(name, value, field, err);
    else
        *(const char **)field = value;
    return true;
}

/* ---- Verbs ----------------------------------------------------------------------------------- */

/* Lists of tokens have one a line and are read in terminals. */
static bool is_printable(const char *text)
{
    while ((unsigned char)*text >= ' ' && *text != 127) text++;
    return *text == '\0';
}

static ft_status create_token(const ft_token_options *options, const ft_verb_call *call,
                              ft_error *err)
{
    char token[FT_TOKEN_LENGTH + 1];
    if (!*options->name || strlen(options->name) > 128 || !is_printable(options->name))
        return ft_error_set(err, FT_USAGE, "--name: use 1 to 128 bytes without control characters");
    ft_status status = ft_token_create(ft_config_place(&call->config), options, token, err);
    if (status != FT_OK) return status;
    printf("%s\n", token);
    fprintf(stderr, "foretelld: this token is shown once; its id is %.*s\n", FT_TOKEN_ID,
            token + sizeof FT_TOKEN_PREFIX - 1);
    return FT_OK;
}

static const char *text(const json_t *token, const char *member, const char *without)
{
    const char *value = json_string_value(json_object_get(token, member));
    return value ? value : without;
}

static void print_line(const json_t *token)
{
    const char *projects = text(token, "projects", ",every project,");
    bool revoked = json_is_string(json_object_get(token, "revoked"));
    bool valid = json_is_true(json_object_get(token, "valid"));
    printf("%s  %-7s  %-18s  %-20.10s  %.*s  %s\n", text(token, "token", ""),
           valid     ? "valid"
           : revoked ? "revoked"
                     : "expired",
           text(token, "scopes", ""), text(token, "expires", "never"), (int)(strlen(projects) - 2),
           projects + 1, text(token, "name", ""));
}

static ft_status list_tokens(const ft_token_options *options, const ft_verb_call *call,
                             ft_error *err)
{
    (void)options;
    json_t *tokens, *token;
    size_t i;
    ft_status status = ft_verb_needs_database(call, err);
    if (status == FT_OK) status = ft_token_list(ft_config_place(&call->config), &tokens, err);
    if (status != FT_OK) return status;
    json_array_foreach(json_object_get(tokens, "tokens"), i, token)
    {
        json_object_del(token, "hash");
        if (!call->json) print_line(token);
    }
    if (call->json) {
        json_dumpf(tokens, stdout, JSON_COMPACT);
        printf("\n");
    }
    json_decref(tokens);
    return FT_OK;
}

static ft_status revoke_token(const ft_token_options *options, const ft_verb_call *call,
                              ft_error *err)
{
    (void)options;
    if (!call->word)
        return ft_error_set(err, FT_USAGE,
                            "revoke needs the id of a token; foretelld token list shows them");
    ft_status status = ft_verb_needs_database(call, err);
    return status == FT_OK ? ft_token_revoke(ft_config_place(&call->config), call->word, err)
                           : status;
}

static const struct {
    const char *name;
    bool takes_id;
    ft_status (*run)(const ft_token_options *options, const ft_verb_call *call, ft_error *err);
} VERBS[] = {
    {"create", false, create_token}, {"list", false, list_tokens}, {"revoke", true, revoke_token}};
#define N_VERBS (sizeof VERBS / sizeof *VERBS)

static ft_status run(void *own, const ft_verb_call *call, ft_error *err)
{
    size_t i = 0;
    while (i < N_VERBS && (!call->verb || strcmp(VERBS[i].name, call->verb) != 0)) i++;
    if (i == N_VERBS)
        return ft_error_set(err, FT_USAGE,
                            "token needs create, list or revoke; see foretelld token --help");
    if (call->word && !VERBS[i].takes_id)
        return ft_error_set(
            err, FT_USAGE, "unexpected argument \"%.64s\"; see foretelld token --help", call->word);
    return VERBS[i].run(own, call, err);
}

int ft_token_command(int count, char **arguments)
{
    static const ft_verb_command TOKEN = {print_help, set_option, run};
    ft_token_options options = {.name = "unnamed", .scopes = "read,submit"};
    return ft_verb_command_main(&TOKEN, &options, count, arguments);
}
