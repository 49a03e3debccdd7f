#include "store/sqlite/backup.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/strbuf.h"
#include "store/check.h"
#include "store/internal.h"
#include "store/sqlite/part_file.h"

ft_status ft_backup_check(const char *file, ft_error *err)
{
    return ft_store_check_file(file, err);
}

static ft_status copy(const char *from, const char *to, ft_error *err)
{
    ft_sql sql = {.driver = NULL};
    ft_status status = ft_sql_open_existing(&sql, from, err);
    if (status == FT_OK) status = ft_store_check_version(&sql, from, err);
    /* One read transaction: the daemon's writers go on in the log beside it. */
    if (status == FT_OK) status = ft_sql_run(&sql, NULL, err, "VACUUM INTO ?1", "t", to);
    ft_sql_close(&sql);
    return status;
}

static ft_status write_part(const char *from, const char *file, ft_error *err)
{
    ft_part part;
    ft_part_begin(&part, file);
    mode_t mask = umask(0077);
    ft_status status = copy(from, part.path.text, err);
    umask(mask);
    if (status == FT_OK) status = ft_backup_check(part.path.text, err);
    if (status == FT_OK) status = ft_part_publish(&part, err);
    ft_part_end(&part);
    return status;
}

ft_status ft_backup_write(const char *folder, const char *file, ft_error *err)
{
    ft_strbuf from = {0};
    ft_strbuf_printf(&from, "%s/foretell.db", folder);
    ft_status status;
    /* A reader beside a daemon writes locks. */
    if (access(from.text, R_OK | W_OK) != 0)
        status = ft_error_set(err, FT_NOT_FOUND, "cannot use the database %s: %s", from.text,
                              strerror(errno));
    else if (access(file, F_OK) == 0)
        status = ft_error_set(err, FT_CONFLICT, "%s exists already", file);
    else
        status = write_part(from.text, file, err);
    ft_strbuf_release(&from);
    return status;
}
