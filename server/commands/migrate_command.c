#include "commands/migrate_command.h"

#include <stdio.h>
#include <string.h>

#include "base/status.h"
#include "store/move.h"

static const char HELP[] =
    "usage: foretelld migrate --from STORE --to STORE\n"
    "\n"
    "Copies a store into another, empty database, and compares the two row by row. A STORE is\n"
    "sqlite:FOLDER (a state folder) or postgresql://USER@HOST/DATABASE. No daemon may use either.\n"
    "A migration that was interrupted goes on when the same command is given again; no daemon "
    "opens\n"
    "the new store before it is whole. The old store stays as it is.\n"
    "\n"
    "The password of a PostgreSQL database is never in its address: use a password file "
    "(PGPASSFILE)\n"
    "or a service file (PGSERVICEFILE).\n"
    "\n"
    "Example:\n"
    "  foretelld migrate --from sqlite:/var/lib/foretell --to postgresql://foretell@db/foretell\n"
    "\n"
    "Exit codes: 0 moved, 2 usage, 4 it could not be moved.\n";

enum { EXIT_BAD_USAGE = 2, EXIT_NOT_MOVED = 4 };

static void report(void *data, const char *table, const char *what, int64_t rows)
{
    (void)data;
    fprintf(stderr, "foretelld: %s: %lld rows %s\n", table, (long long)rows, what);
}

/* The value of "--NAME VALUE" and "--NAME=VALUE"; NULL: it is another argument. */
static const char *value_of(const char *name, int count, char **arguments, int *at)
{
    size_t length = strlen(name);
    const char *argument = arguments[*at];
    if (strncmp(argument, name, length) != 0) return NULL;
    if (argument[length] == '=') return argument + length + 1;
    if (argument[length] != '\0' || *at + 1 >= count) return NULL;
    return arguments[++*at];
}

static ft_status parse(int count, char **arguments, const char **from, const char **to,
                       ft_error *err)
{
    for (int i = 0; i < count; i++) {
        const char *value;
        if ((value = value_of("--from", count, arguments, &i)) != NULL)
            *from = value;
        else if ((value = value_of("--to", count, arguments, &i)) != NULL)
            *to = value;
        else
            return ft_error_set(err, FT_USAGE,
                                "\"%.32s\" is not an option, or lacks its value; see foretelld "
                                "migrate --help",
                                arguments[i]);
    }
    if (*from && *to) return FT_OK;
    return ft_error_set(err, FT_USAGE,
                        "migrate needs --from and --to; see foretelld migrate --help");
}

int ft_migrate_command(int count, char **arguments)
{
    const char *from = NULL, *to = NULL;
    ft_error err = FT_ERROR_INIT;
    if (count > 0 && strcmp(arguments[0], "--help") == 0) return fputs(HELP, stdout) < 0;
    ft_status status = parse(count, arguments, &from, &to, &err);
    if (status == FT_OK) status = ft_store_move(from, to, report, NULL, &err);
    if (status == FT_OK) return 0;
    fprintf(stderr, "foretelld: %s\n", err.message);
    return status == FT_USAGE ? EXIT_BAD_USAGE : EXIT_NOT_MOVED;
}
