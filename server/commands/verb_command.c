#include "commands/verb_command.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/strbuf.h"

enum { EXIT_BAD_USAGE = 2, EXIT_NO_STATE = 4 };

ft_status ft_verb_number(const char *name, const char *value, uint64_t *number, ft_error *err)
{
    char *end;
    if (strspn(value, "0123456789") != strlen(value) || !*value || strlen(value) > 15)
        return ft_error_set(err, FT_USAGE, "--%s: \"%.32s\" is not a whole number", name, value);
    *number = strtoull(value, &end, 10);
    return FT_OK;
}

static ft_status set_option(const ft_verb_command *command, void *own, ft_verb_call *call,
                            const char *name, const char *value, ft_error *err)
{
    ft_status status = FT_OK;
    if (strcmp(name, "config") == 0) return ft_config_read(&call->config, value, err);
    if (command && command->set(own, name, value, &status, err)) return status;
    return ft_config_set(&call->config, name, value, err);
}

/* "--NAME VALUE" or "--NAME=VALUE"; *used counts arguments. command NULL: it has no options of its
 * own. */
static ft_status parse_option(const ft_verb_command *command, void *own, ft_verb_call *call,
                              int count, char **arguments, int *used, ft_error *err)
{
    char name[64];
    const char *argument = arguments[0], *equals = strchr(argument, '=');
    size_t length = equals ? (size_t)(equals - argument) : strlen(argument);
    *used = equals ? 1 : 2;
    if (!equals && count < 2) return ft_error_set(err, FT_USAGE, "%.64s needs a value", argument);
    snprintf(name, sizeof name, "%.*s", (int)(length < 65 ? length - 2 : 63), argument + 2);
    return set_option(command, own, call, name, equals ? equals + 1 : arguments[1], err);
}

static ft_status parse(const ft_verb_command *command, void *own, ft_verb_call *call, int count,
                       char **arguments, ft_error *err)
{
    for (int i = 0, used; i < count; i += used) {
        const char *argument = arguments[i];
        used = 1;
        if (command && strcmp(argument, "--json") == 0) {
            call->json = true;
        } else if (strcmp(argument, "--help") == 0) {
            call->help = true;
        } else if (strncmp(argument, "--", 2) != 0) {
            if (call->word) return ft_error_set(err, FT_USAGE, "unexpected \"%.64s\"", argument);
            call->word = argument;
        } else {
            ft_status status =
                parse_option(command, own, call, count - i, arguments + i, &used, err);
            if (status != FT_OK) return status;
        }
    }
    return FT_OK;
}

ft_status ft_verb_parse(ft_verb_call *call, int count, char **arguments, ft_error *err)
{
    return parse(NULL, NULL, call, count, arguments, err);
}

ft_status ft_verb_needs_database(const ft_verb_call *call, ft_error *err)
{
    ft_strbuf file = {0};
    ft_status status = FT_OK;
    if (*call->config.store) return FT_OK;
    ft_strbuf_printf(&file, "%s/foretell.db", call->config.state);
    if (access(file.text, F_OK) != 0)
        status = ft_error_set(err, FT_NOT_FOUND, "there is no database %s: %s", file.text,
                              strerror(errno));
    ft_strbuf_release(&file);
    return status;
}

/* A database that root has made the daemon could not write to. */
static ft_status check_owner(const char *folder, ft_error *err)
{
    struct stat info;
    if (stat(folder, &info) != 0 || info.st_uid == geteuid()) return FT_OK;
    return ft_error_set(err, FT_USAGE, "%s belongs to another user: run this as that user", folder);
}

int ft_verb_command_main(const ft_verb_command *command, void *own, int count, char **arguments)
{
    ft_verb_call call = {.verb = count > 0 ? arguments[0] : NULL};
    ft_error err = FT_ERROR_INIT;
    ft_config_init(&call.config);
    call.help = call.verb && strcmp(call.verb, "--help") == 0;
    ft_status status = FT_OK;
    if (count > 1) status = parse(command, own, &call, count - 1, arguments + 1, &err);
    if (status == FT_OK && call.help)
        command->print_help();
    else if (status == FT_OK && !*call.config.store)
        status = check_owner(call.config.state, &err);
    if (status == FT_OK && !call.help) status = command->run(own, &call, &err);
    if (status != FT_OK) fprintf(stderr, "foretelld: %s\n", err.message);
    ft_config_release(&call.config);
    if (status == FT_OK) return fflush(stdout) == 0 ? 0 : EXIT_NO_STATE;
    return status == FT_USAGE ? EXIT_BAD_USAGE : EXIT_NO_STATE;
}
