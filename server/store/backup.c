#include "store/backup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/strbuf.h"
#include "store/check.h"
#include "store/internal.h"

static ft_status open_reading(const char *path, ft_sql *sql, ft_error *err)
{
    if (sqlite3_open_v2(path, &sql->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL) !=
        SQLITE_OK)
        return ft_error_set(err, FT_IO, "cannot open %s: %s", path, sqlite3_errmsg(sql->db));
    sqlite3_busy_timeout(sql->db, 5000);
    return FT_OK;
}

ft_status ft_backup_check(const char *file, ft_error *err)
{
    return ft_store_check_file(file, err);
}

static ft_status copy(const char *from, const char *to, ft_error *err)
{
    ft_sql sql = {.db = NULL};
    ft_status status = open_reading(from, &sql, err);
    /* One read transaction: the daemon's writers go on in the log beside it. */
    if (status == FT_OK) status = ft_sql_run(&sql, NULL, err, "VACUUM INTO ?1", "t", to);
    ft_sql_close(&sql);
    return status;
}

static bool sync_path(const char *path, int flags)
{
    int fd = open(path, flags | O_CLOEXEC);
    bool good = fd >= 0 && fsync(fd) == 0;
    if (fd >= 0) close(fd);
    return good;
}

/* The file's name, and what it names, survive a loss of power. */
static ft_status publish(const char *temporary, const char *file, ft_error *err)
{
    char folder[4096];
    snprintf(folder, sizeof folder, "%s", file);
    char *slash = strrchr(folder, '/');
    if (slash)
        slash[slash == folder] = '\0';
    else
        snprintf(folder, sizeof folder, ".");
    if (sync_path(temporary, O_RDONLY) && link(temporary, file) == 0 &&
        sync_path(folder, O_RDONLY | O_DIRECTORY))
        return FT_OK;
    return ft_error_set(err, errno == EEXIST ? FT_CONFLICT : FT_IO, "cannot write %s: %s", file,
                        strerror(errno));
}

ft_status ft_backup_write(const char *folder, const char *file, ft_error *err)
{
    ft_strbuf from = {0}, temporary = {0};
    ft_strbuf_printf(&from, "%s/foretell.db", folder);
    ft_strbuf_printf(&temporary, "%s.part-%d", file, (int)getpid());
    ft_status status = FT_OK;
    if (access(from.text, R_OK) != 0)
        status = ft_error_set(err, FT_NOT_FOUND, "no database %s: %s", from.text, strerror(errno));
    else if (access(file, F_OK) == 0)
        status = ft_error_set(err, FT_CONFLICT, "%s exists already", file);
    if (status == FT_OK) {
        mode_t mask = umask(0077);
        status = copy(from.text, temporary.text, err);
        umask(mask);
        if (status == FT_OK) status = ft_backup_check(temporary.text, err);
        if (status == FT_OK) status = publish(temporary.text, file, err);
        unlink(temporary.text);
        ft_strbuf_puts(&temporary, "-journal"); /* of a copy that failed */
        unlink(temporary.text);
    }
    ft_strbuf_release(&from);
    ft_strbuf_release(&temporary);
    return status;
}
