/* Copies of the database while a daemon uses it.
 *
 * Imports: store, common/base. */
#ifndef FT_STORE_BACKUP_H
#define FT_STORE_BACKUP_H

#include "base/status.h"

/* Writes the database of a state folder, as it is at one moment, to a new file of mode 0600; it is
 * checked, and durable, before it has that name. To restore it is to put it into an empty folder as
 * foretell.db. Blocking; a running daemon goes on. FT_CONFLICT: the file exists. FT_NOT_FOUND: no
 * database. FT_IO: it cannot be written, or the copy is not sound. The file in the making is
 * FILE.part-PID; a signal that ends the process removes it (store/sqlite/part_file.h), and so does
 * the next backup to FILE where nothing could. */
ft_status ft_backup_write(const char *folder, const char *file, ft_error *err) FT_MUST_CHECK;

/* Whether a database file is whole and its references lead somewhere. FT_IO: what is wrong. */
ft_status ft_backup_check(const char *file, ft_error *err) FT_MUST_CHECK;

#endif
