/* The token commands. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/digest.h"
#include "base/memory.h"
#include "base/strbuf.h"
#include "store/access.h"
#include "store/folder.h"
#include "store/internal.h"

#define DAY_MS ((int64_t)86400000)

/* "a,b" to ",a,b,". */
static ft_status list_projects(const char *text, char out[FT_PROJECTS_LENGTH], ft_error *err)
{
    size_t used = 1;
    snprintf(out, FT_PROJECTS_LENGTH, ",");
    for (const char *at = text; *at;) {
        char name[FT_PROJECT_LENGTH + 2];
        size_t length = strcspn(at, ",");
        snprintf(name, sizeof name, "%.*s", (int)(length < sizeof name ? length : sizeof name - 1),
                 at);
        if (!ft_project_good(name))
            return ft_error_set(
                err, FT_USAGE,
                "\"%s\" is not a project: use 1 to %d letters, digits, '.', '_', '-', '/'", name,
                FT_PROJECT_LENGTH);
        if (used + length + 2 > FT_PROJECTS_LENGTH)
            return ft_error_set(err, FT_USAGE, "too many projects for one token");
        used += (size_t)snprintf(out + used, FT_PROJECTS_LENGTH - used, "%s,", name);
        at += length + (at[length] == ',');
    }
    if (used > 1) return FT_OK;
    return ft_error_set(err, FT_USAGE,
                        "--projects needs a project; without the option the token is for all");
}

static ft_status make_token(char token[FT_TOKEN_LENGTH + 1], ft_error *err)
{
    char id[FT_TOKEN_ID + 1], secret[FT_TOKEN_SECRET + 1];
    ft_status status = ft_store_random_hex(id, FT_TOKEN_ID, err);
    if (status == FT_OK) status = ft_store_random_hex(secret, FT_TOKEN_SECRET, err);
    if (status == FT_OK)
        snprintf(token, FT_TOKEN_LENGTH + 1, "%s%s_%s", FT_TOKEN_PREFIX, id, secret);
    return status;
}

static ft_status insert(ft_sql *sql, const ft_token_options *o, const char *projects,
                        const char *token, ft_error *err)
{
    char id[FT_TOKEN_ID + 1], hash[FT_DIGEST_HEX + 1];
    if (!ft_token_split(token, id, hash))
        return ft_error_set(err, FT_INTERNAL, "the token is malformed");
    int64_t now = ft_sql_now(sql);
    return ft_sql_run(sql, NULL, err,
                      "INSERT INTO tokens (id, hash, name, scopes, projects, rate, max_upload, "
                      "created, expires) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, nullif(?9, 0))",
                      "tttttiiii", (const char *)id, (const char *)hash, o->name, o->scopes,
                      projects, (int64_t)o->rate, (int64_t)o->max_upload, now,
                      o->days ? now + (int64_t)o->days * DAY_MS : (int64_t)0);
}

static ft_status audit(ft_sql *sql, const char *action, const char *id, ft_error *err)
{
    char text[64];
    snprintf(text, sizeof text, "%s %.32s", action, id);
    return ft_sql_run(sql, NULL, err,
                      "INSERT INTO audit (at, peer, action, outcome) "
                      "VALUES (?1, 'command line', ?2, 'allowed')",
                      "it", ft_sql_now(sql), (const char *)text);
}

/* ---- The mark of changes --------------------------------------------------------------------- */

int ft_token_mark_open(const char *folder)
{
    ft_strbuf path = {0};
    ft_strbuf_printf(&path, "%s/tokens.mark", folder);
    int fd = open(path.text, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    ft_strbuf_release(&path);
    return fd;
}

uint64_t ft_token_mark(int fd)
{
    uint64_t mark = 0;
    if (fd < 0 || pread(fd, &mark, sizeof mark, 0) != (ssize_t)sizeof mark) return 0;
    return mark;
}

/* After the commit, before the command ends. Where it fails the daemon learns a second later. */
static void set_mark(const char *folder)
{
    uint64_t mark;
    if (ft_sql_is_address(folder)) return;
    int fd = ft_token_mark_open(folder);
    if (fd < 0) return;
    if (getrandom(&mark, sizeof mark, 0) == (ssize_t)sizeof mark)
        (void)!pwrite(fd, &mark, sizeof mark, 0);
    close(fd);
}

/* ---- The commands ---------------------------------------------------------------------------- */

ft_status ft_token_create(const char *folder, const ft_token_options *options,
                          char token[FT_TOKEN_LENGTH + 1], ft_error *err)
{
    ft_store_folder o = {.lock = -1};
    unsigned scopes;
    char projects[FT_PROJECTS_LENGTH];
    ft_status status = ft_scopes_parse(options->scopes, &scopes, err);
    if (status == FT_OK && options->projects)
        status = list_projects(options->projects, projects, err);
    if (status == FT_OK) status = make_token(token, err);
    if (status != FT_OK) return status;
    status = ft_store_folder_open(folder, &o, err);
    if (status == FT_OK) status = ft_sql_begin(&o.sql, err);
    if (status == FT_OK)
        status = insert(&o.sql, options, options->projects ? projects : NULL, token, err);
    if (status == FT_OK)
        status = audit(&o.sql, "token create", token + sizeof FT_TOKEN_PREFIX - 1, err);
    if (status == FT_OK) status = ft_sql_commit(&o.sql, err);
    if (status == FT_OK) set_mark(folder);
    ft_store_folder_close(&o);
    return status;
}

ft_status ft_token_list(const char *folder, json_t **list, ft_error *err)
{
    ft_store_folder o = {.lock = -1};
    json_t *read = NULL;
    ft_status status = ft_store_folder_open(folder, &o, err);
    if (status == FT_OK) status = ft_store_read_tokens(&o.sql, &read, err);
    ft_store_folder_close(&o);
    if (status == FT_OK)
        *list = read;
    else
        json_decref(read);
    return status;
}

ft_status ft_token_revoke(const char *folder, const char *id, ft_error *err)
{
    ft_store_folder o = {.lock = -1};
    int64_t changed = 0;
    ft_status status = ft_store_folder_open(folder, &o, err);
    if (status == FT_OK) status = ft_sql_begin(&o.sql, err);
    if (status == FT_OK)
        status = ft_sql_run(&o.sql, &changed, err,
                            "UPDATE tokens SET revoked = coalesce(revoked, ?2) WHERE id = ?1", "ti",
                            id, ft_sql_now(&o.sql));
    if (status == FT_OK && changed == 0)
        status = ft_error_set(err, FT_NOT_FOUND, "no token has the id %.64s", id);
    if (status == FT_OK) status = audit(&o.sql, "token revoke", id, err);
    if (status == FT_OK) status = ft_sql_commit(&o.sql, err);
    if (status == FT_OK) set_mark(folder);
    ft_store_folder_close(&o);
    return status;
}
