#include "report/source.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/contract.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/strbuf.h"

typedef struct file {
    char *text; /* with NULs for line ends; NULL: not readable */
    FT_VEC(const char *) lines;
} file;

struct ft_source {
    char *root;
    ft_intern names;
    FT_VEC(file) files;
};

ft_source *ft_source_open(const char *root)
{
    FT_REQUIRE(root);
    ft_source *source = ft_calloc(1, sizeof *source);
    size_t length = strlen(root);
    while (length > 1 && root[length - 1] == '/') length--;
    source->root = ft_strndup(root, length);
    return source;
}

void ft_source_close(ft_source *source)
{
    if (!source) return;
    for (size_t i = 0; i < source->files.len; i++) {
        free(source->files.data[i].text);
        ft_vec_release(&source->files.data[i].lines);
    }
    ft_vec_release(&source->files);
    ft_intern_release(&source->names);
    free(source->root);
    free(source);
}

static bool leads_out(const char *path)
{
    for (const char *at = path; *at;) {
        size_t length = strcspn(at, "/");
        if (length == 2 && at[0] == '.' && at[1] == '.') return true;
        at += length + (at[length] == '/');
    }
    return false;
}

/* NULL: not under the root. */
static char *path_under(const ft_source *source, const char *path)
{
    size_t length = strlen(source->root);
    ft_strbuf out = {0};
    if (leads_out(path)) return NULL;
    if (*path == '/') {
        bool under = strncmp(path, source->root, length) == 0 && path[length] == '/';
        return under ? ft_strdup(path) : NULL;
    }
    ft_strbuf_printf(&out, "%s/%s", source->root, path);
    return ft_strbuf_take(&out);
}

static char *read_whole(const char *path)
{
    struct stat about;
    if (stat(path, &about) || !S_ISREG(about.st_mode) || about.st_size > (off_t)FT_SOURCE_BYTES)
        return NULL;
    FILE *in = fopen(path, "re");
    if (!in) return NULL;
    char *text = ft_alloc((size_t)about.st_size + 1);
    size_t got = fread(text, 1, (size_t)about.st_size, in);
    assert(got <= (size_t)about.st_size);
    text[got] = '\0';
    fclose(in);
    return text;
}

static file read_file(const ft_source *source, const char *name)
{
    file out = {0};
    char *path = path_under(source, name);
    if (path) out.text = read_whole(path);
    free(path);
    for (char *at = out.text; at && *at;) {
        size_t length = strcspn(at, "\n");
        bool more = at[length] == '\n';
        ft_vec_push(&out.lines, at);
        at[length] = '\0';
        if (length && at[length - 1] == '\r') at[length - 1] = '\0';
        at += length + more;
    }
    return out;
}

const char *ft_source_line(ft_source *source, const char *path, size_t line)
{
    FT_REQUIRE(source && path);
    uint32_t id = ft_intern_add(&source->names, path, strlen(path));
    if (id == source->files.len) ft_vec_push(&source->files, read_file(source, path));
    assert(source->files.len == source->names.len && id < source->files.len);
    const file *of = &source->files.data[id];
    return line && line <= of->lines.len ? of->lines.data[line - 1] : NULL;
}

static void make_clean(char *text)
{
    json_t *valid = json_string(text); /* NULL: no UTF-8 */
    for (char *c = text; *c; c++) {
        unsigned char byte = (unsigned char)*c;
        if (byte == '\t')
            *c = ' ';
        else if (byte < 0x20 || byte == 0x7f || (byte >= 0x80 && !valid))
            *c = '?';
    }
    json_decref(valid);
}

char *ft_source_text(ft_source *source, const char *path, size_t line)
{
    const char *whole = ft_source_line(source, path, line);
    if (!whole) return NULL;
    whole += strspn(whole, " \t");
    size_t length = strlen(whole);
    while (length && strchr(" \t\r", whole[length - 1])) length--;
    char *text = ft_strndup(whole, length);
    make_clean(text);
    return text;
}
