/* The state folder for commands, which work beside a running daemon: SQLite sees to it that each
 * sees whole transactions of the other. */
#ifndef FT_STORE_FOLDER_H
#define FT_STORE_FOLDER_H

#include "store/sql.h"

typedef struct ft_store_folder {
    ft_sql sql;
    int lock; /* -1: a daemon has it */
} ft_store_folder;

/* Opens the database in the folder; brings its schema up to date if no daemon runs there, else it
 * must be this program's (FT_UNSUPPORTED). Close it also on failure. */
ft_status ft_store_folder_open(const char *folder, ft_store_folder *opened,
                               ft_error *err) FT_MUST_CHECK;
void ft_store_folder_close(ft_store_folder *opened); /* initialise .lock to -1 before opening */

#endif
