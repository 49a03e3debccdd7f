#include "setup/program.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <uv.h>

#include "base/memory.h"
#include "base/strbuf.h"

static const char *const FOLDERS[] = {"", "../lib/foretell/"};

static void put_own_folder(ft_strbuf *out)
{
    char own[4096];
    size_t length = sizeof own;
    if (uv_exepath(own, &length) != 0) return;
    char *slash = strrchr(own, '/');
    ft_strbuf_add(out, own, slash ? (size_t)(slash - own) + 1 : 0);
}

ft_status ft_program_path(const char *configured, const char *name, const char *option, char **path,
                          ft_error *err)
{
    ft_strbuf found = {0};
    bool there = *configured != '\0';
    if (there) ft_strbuf_puts(&found, configured);
    for (size_t i = 0; i < sizeof FOLDERS / sizeof *FOLDERS && !there; i++) {
        ft_strbuf_clear(&found);
        put_own_folder(&found);
        ft_strbuf_printf(&found, "%s%s", FOLDERS[i], name);
        there = access(found.text, X_OK) == 0;
    }
    *path = ft_strbuf_take(&found);
    if (access(*path, X_OK) == 0) return FT_OK;
    return ft_error_set(err, FT_IO, "cannot run %s: %s; set --%s", *path, strerror(errno), option);
}
