#include "store/folder.h"

#include <unistd.h>

#include "base/strbuf.h"
#include "store/internal.h"

static ft_status check_version(ft_sql *sql, ft_error *err)
{
    int64_t version = 0;
    ft_status status = ft_sql_version(sql, &version, err);
    if (status == FT_OK && version != ft_store_schema_version())
        return ft_error_set(err, FT_UNSUPPORTED,
                            "the daemon that uses this folder has another version: restart it "
                            "with this version first");
    return status;
}

static ft_status open_address(const char *address, ft_store_folder *opened, ft_error *err)
{
    ft_status status = ft_sql_open(&opened->sql, address, err);
    return status == FT_OK ? ft_sql_migrate(&opened->sql, err) : status;
}

/* Nobody changes the schema under a running daemon. */
ft_status ft_store_folder_open(const char *folder, ft_store_folder *opened, ft_error *err)
{
    ft_error busy = FT_ERROR_INIT;
    ft_strbuf path = {0};
    opened->lock = -1;
    if (ft_sql_is_address(folder)) return open_address(folder, opened, err);
    ft_status status = ft_store_lock_folder(folder, 0, &opened->lock, &busy);
    if (status != FT_OK && status != FT_CONFLICT)
        return ft_error_set(err, status, "%s", busy.message);
    bool alone = status == FT_OK;
    if (!alone) opened->lock = -1;
    ft_strbuf_printf(&path, "%s/foretell.db", folder);
    status = ft_sql_open(&opened->sql, path.text, err);
    ft_strbuf_release(&path);
    if (status == FT_OK)
        status = alone ? ft_sql_migrate(&opened->sql, err) : check_version(&opened->sql, err);
    return status;
}

void ft_store_folder_close(ft_store_folder *opened)
{
    ft_sql_close(&opened->sql);
    if (opened->lock >= 0) close(opened->lock);
}
