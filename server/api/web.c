#include "api/web.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>
#include <uv.h>
#include <zlib.h>

#include "api/internal.h"
#include "base/digest.h"
#include "setup/log.h"

#define INDEX  "/index.html"
#define ASSETS "/assets/" /* names with a hash of their content: never changed */

/* Nothing from elsewhere, nothing inline, and never in another page's frame. */
#define POLICY                                                                                     \
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "              \
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

static const struct {
    const char *ending, *type;
    bool packs; /* worth compressing */
} TYPES[] = {
    {".html", "text/html; charset=utf-8", true},
    {".js", "text/javascript; charset=utf-8", true},
    {".mjs", "text/javascript; charset=utf-8", true},
    {".css", "text/css; charset=utf-8", true},
    {".svg", "image/svg+xml", true},
    {".json", "application/json", true},
    {".map", "application/json", true},
    {".webmanifest", "application/manifest+json", true},
    {".txt", "text/plain; charset=utf-8", true},
    {".png", "image/png", false},
    {".ico", "image/x-icon", false},
    {".webp", "image/webp", false},
};
#define N_TYPES (sizeof TYPES / sizeof *TYPES)

typedef struct file {
    char *name; /* "/assets/index-1a2b.js" */
    const char *type;
    char etag[17];
    ft_strbuf plain, packed; /* packed: gzip, empty where it would not pay */
} file;

struct ft_web {
    FT_VEC(file) files;
    size_t bytes;
};

void ft_web_free(ft_web *web)
{
    if (!web) return;
    for (size_t i = 0; i < web->files.len; i++) {
        free(web->files.data[i].name);
        ft_strbuf_release(&web->files.data[i].plain);
        ft_strbuf_release(&web->files.data[i].packed);
    }
    ft_vec_release(&web->files);
    free(web);
}

/* ---- Reading the folder ---------------------------------------------------------------------- */

static bool is_plain_name(const char *name)
{
    static const char GOOD[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
    return *name != '.' && strspn(name, GOOD) == strlen(name);
}

static bool find_type(const char *name, size_t *index)
{
    const char *dot = strrchr(name, '.');
    for (*index = 0; dot && *index < N_TYPES; ++*index)
        if (strcasecmp(dot, TYPES[*index].ending) == 0) return true;
    return false;
}

static void pack(file *f)
{
    z_stream stream = {.zalloc = Z_NULL};
    if (deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, 15 + 16, 9, Z_DEFAULT_STRATEGY) !=
        Z_OK)
        return;
    size_t bound = deflateBound(&stream, f->plain.len);
    char *out = ft_alloc(bound);
    stream.next_in = (unsigned char *)f->plain.text;
    stream.avail_in = (uInt)f->plain.len;
    stream.next_out = (unsigned char *)out;
    stream.avail_out = (uInt)bound;
    bool whole = deflate(&stream, Z_FINISH) == Z_STREAM_END;
    if (whole && stream.total_out + stream.total_out / 8 < f->plain.len)
        ft_strbuf_add(&f->packed, out, stream.total_out);
    deflateEnd(&stream);
    free(out);
}

static void set_etag(file *f)
{
    char hex[FT_DIGEST_HEX + 1];
    ft_digest digest;
    ft_digest_init(&digest);
    ft_digest_update(&digest, ft_strbuf_text(&f->plain), f->plain.len);
    ft_digest_hex(&digest, hex);
    memcpy(f->etag, hex, sizeof f->etag - 1);
}

static bool read_all(int fd, ft_strbuf *out)
{
    char piece[65536];
    ssize_t got;
    while ((got = read(fd, piece, sizeof piece)) > 0 && out->len <= FT_WEB_BYTES_FILE)
        ft_strbuf_add(out, piece, (size_t)got);
    return got == 0;
}

/* Takes the descriptor. False: the folder passes a limit. */
static bool add_file(ft_web *web, int fd, const char *name)
{
    size_t type;
    if (!find_type(name, &type)) {
        close(fd);
        return true;
    }
    file f = {.type = TYPES[type].type};
    bool good = read_all(fd, &f.plain);
    close(fd);
    web->bytes += f.plain.len;
    if (!good || web->bytes > FT_WEB_BYTES || web->files.len == FT_WEB_FILES) {
        ft_strbuf_release(&f.plain);
        return false;
    }
    f.name = ft_strdup(name);
    set_etag(&f);
    if (TYPES[type].packs) pack(&f);
    ft_vec_push(&web->files, f);
    return true;
}

static bool add_folder(ft_web *web, int fd, const char *prefix, unsigned depth);

static bool add_entry(ft_web *web, int folder, const char *prefix, const char *name, unsigned depth)
{
    struct stat info;
    int fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0) return true;
    ft_strbuf path = {0};
    ft_strbuf_printf(&path, "%s/%s", prefix, name);
    bool known = fstat(fd, &info) == 0, good = true;
    if (known && S_ISREG(info.st_mode))
        good = add_file(web, fd, path.text);
    else if (known && S_ISDIR(info.st_mode) && depth < FT_WEB_DEPTH)
        good = add_folder(web, fd, path.text, depth + 1);
    else
        close(fd);
    ft_strbuf_release(&path);
    return good;
}

/* Takes the descriptor. */
static bool add_folder(ft_web *web, int fd, const char *prefix, unsigned depth)
{
    DIR *folder = fdopendir(fd);
    if (!folder) {
        close(fd);
        return true;
    }
    bool good = true;
    for (const struct dirent *entry; good && (entry = readdir(folder)) != NULL;)
        if (is_plain_name(entry->d_name))
            good = add_entry(web, dirfd(folder), prefix, entry->d_name, depth);
    closedir(folder);
    return good;
}

static void find_root(const char *root, ft_strbuf *path)
{
    char own[4096];
    size_t length = sizeof own;
    if (*root || uv_exepath(own, &length) != 0) {
        ft_strbuf_puts(path, root);
        return;
    }
    char *slash = strrchr(own, '/');
    ft_strbuf_add(path, own, slash ? (size_t)(slash - own) : 0);
    ft_strbuf_puts(path, "/../share/foretell/web");
}

static const file *find(const ft_web *web, const char *name)
{
    for (size_t i = 0; web && i < web->files.len; i++)
        if (strcmp(web->files.data[i].name, name) == 0) return &web->files.data[i];
    return NULL;
}

ft_web *ft_web_open(const char *root)
{
    ft_strbuf path = {0};
    find_root(root, &path);
    int fd = open(ft_strbuf_text(&path), O_RDONLY | O_CLOEXEC | O_DIRECTORY);
    ft_web *web = ft_calloc(1, sizeof *web);
    const char *why = NULL;
    if (fd < 0)
        why = "the folder does not exist";
    else if (!add_folder(web, fd, "", 0))
        why = "it is too large or cannot be read";
    else if (!find(web, INDEX))
        why = "it has no index.html";
    if (why) {
        ft_log(*root ? FT_LOG_WARN : FT_LOG_INFO, "no dashboard", "web-root=\"%s\" reason=\"%s\"",
               ft_strbuf_text(&path), why);
        ft_web_free(web);
        web = NULL;
    }
    ft_strbuf_release(&path);
    return web;
}

/* ---- Answers --------------------------------------------------------------------------------- */

static void set_policy(ft_http_request *request)
{
    ft_http_set(request, "Content-Security-Policy", "%s", POLICY);
    ft_http_set(request, "Referrer-Policy", "no-referrer");
    ft_http_set(request, "Cross-Origin-Opener-Policy", "same-origin");
    ft_http_set(request, "Cross-Origin-Resource-Policy", "same-origin");
    ft_http_set(request, "Permissions-Policy", "camera=(), geolocation=(), microphone=()");
}

static void serve_file(const file *f, ft_http_request *request)
{
    bool lasting = strncmp(f->name, ASSETS, strlen(ASSETS)) == 0;
    bool packed = f->packed.len && ft_http_accepts_coding(request, "gzip");
    const ft_strbuf *body = packed ? &f->packed : &f->plain;
    char etag[24];
    snprintf(etag, sizeof etag, "%s%s", f->etag, packed ? "-gzip" : "");
    set_policy(request);
    ft_http_set(request, "Cache-Control", "%s",
                lasting ? "public, max-age=31536000, immutable" : "no-cache");
    ft_http_vary(request, "Accept");
    if (ft_reply_not_modified(request, etag)) return;
    if (packed) ft_http_set(request, "Content-Encoding", "gzip");
    ft_http_reply(request, 200, f->type, ft_strbuf_text(body), body->len);
}

bool ft_web_serve(const ft_web *web, ft_http_request *request)
{
    const file *f = find(web, ft_http_path(request));
    if (f) serve_file(f, request);
    return f != NULL;
}

void ft_web_serve_index(const ft_web *web, ft_http_request *request)
{
    static const char ABSENT[] =
        "<!doctype html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\">"
        "<title>Foretell</title></head>\n<body>\n<h1>Foretell</h1>\n"
        "<p>This server runs, but its dashboard was not built: build the target "
        "<code>dashboard</code>, or set <code>web-root</code> to a built one.</p>\n"
        "<p>The interface for programs is at <a href=\"/v1\">/v1</a>.</p>\n</body>\n</html>\n";
    const file *f = find(web, INDEX);
    if (f) {
        serve_file(f, request);
        return;
    }
    set_policy(request);
    ft_http_set(request, "Cache-Control", "no-cache");
    ft_http_vary(request, "Accept");
    ft_http_reply(request, 200, "text/html; charset=utf-8", ABSENT, sizeof ABSENT - 1);
}
