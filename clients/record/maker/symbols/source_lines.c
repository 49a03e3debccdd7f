#include "maker/symbols/source_lines.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/map.h"
#include "base/memory.h"
#include "base/strbuf.h"
#include "report/report.h"
#include "report/source.h"

enum {
    LONGEST = 400, /* bytes of a line: longer ones are made by programs */
    MOST_LINES = 3 /* of a statement, up to the one that is asked for */
};

typedef struct file {
    char *path; /* without links; as it was where the file is gone */
    struct timespec changed;
    bool there;
} file;

struct ft_source_lines {
    ft_intern names;    /* of sources, with the folders that they were told with, and of modules */
    FT_VEC(file) files; /* by name */
    ft_source *texts;
    ft_map statements; /* location -> its number in `joined` */
    FT_VEC(char *) joined;
};

ft_source_lines *ft_source_lines_new(void)
{
    ft_source_lines *lines = ft_calloc(1, sizeof *lines);
    lines->texts = ft_source_open("/");
    return lines;
}

void ft_source_lines_free(ft_source_lines *lines)
{
    if (!lines) return;
    for (size_t i = 0; i < lines->files.len; i++) free(lines->files.data[i].path);
    ft_vec_release(&lines->files);
    for (size_t i = 0; i < lines->joined.len; i++) free(lines->joined.data[i]);
    ft_vec_release(&lines->joined);
    ft_map_release(&lines->statements);
    ft_intern_release(&lines->names);
    ft_source_close(lines->texts);
    free(lines);
}

static file look_at(const char *name)
{
    char path[PATH_MAX];
    struct stat about;
    file found = {.there = realpath(name, path) && !stat(path, &about)};
    found.path = ft_strdup(found.there ? path : name);
    if (found.there) found.changed = about.st_mtim;
    return found;
}

/* Its path is the table's. */
static file file_called(ft_source_lines *lines, const char *name)
{
    uint32_t id = ft_intern_add(&lines->names, name, strlen(name));
    if (id == lines->files.len) ft_vec_push(&lines->files, look_at(name));
    return lines->files.data[id];
}

/* Without a path: where it is, is not known. */
static file source_of(ft_source_lines *lines, const ft_code_place *place)
{
    const char *folder = place->folder ? place->folder : "";
    if (!place->file || (place->file[0] != '/' && folder[0] != '/')) return (file){.path = NULL};
    if (place->file[0] == '/') return file_called(lines, place->file);
    ft_strbuf name = {0};
    ft_strbuf_printf(&name, "%s/%s", folder, place->file);
    file found = file_called(lines, name.text);
    ft_strbuf_release(&name);
    return found;
}

static bool is_older(const file *a, const file *b)
{
    if (a->changed.tv_sec != b->changed.tv_sec) return a->changed.tv_sec < b->changed.tv_sec;
    return a->changed.tv_nsec <= b->changed.tv_nsec;
}

void ft_source_lines_tell(ft_source_lines *lines, ft_builder *builder, uint32_t loc,
                          const ft_code_place *place, const char *module)
{
    file source = source_of(lines, place), built = file_called(lines, module);
    if (!source.path) return;
    bool same = source.there && built.there && is_older(&source, &built);
    char *text = same && place->line > 0
                     ? ft_source_text(lines->texts, source.path + 1, (size_t)place->line)
                     : NULL;
    size_t length = text ? strlen(text) : 0;
    bool kept = length && length <= LONGEST;
    ft_builder_source(builder, loc, source.path, strlen(source.path), kept ? text : NULL, length);
    free(text);
}

/* Is the statement at its end there, or has none begun? */
static bool is_whole(const char *text)
{
    size_t length = strlen(text);
    return !length || strchr(";{}:/", text[length - 1]) || *text == '#';
}

static char *joined_lines(ft_source_lines *lines, const ft_location *at)
{
    ft_place place;
    if (!at->line || !ft_place_parse(at->text, &place)) return NULL;
    char *text = ft_strdup(at->line);
    for (size_t n = 1; n < MOST_LINES && n < place.line; n++) {
        char *before = ft_source_text(lines->texts, at->path + 1, place.line - n);
        bool whole = !before || is_whole(before);
        ft_strbuf both = {0};
        if (!whole) ft_strbuf_printf(&both, "%s %s", before, text);
        free(before);
        if (whole) break;
        free(text);
        text = ft_strbuf_take(&both);
    }
    free(place.file);
    return text;
}

const char *ft_source_lines_statement(ft_source_lines *lines, const ft_trace *trace, uint32_t loc)
{
    bool fresh;
    uint64_t *known = ft_map_slot(&lines->statements, loc, lines->joined.len, &fresh);
    if (fresh) ft_vec_push(&lines->joined, joined_lines(lines, &trace->locations[loc]));
    return lines->joined.data[*known];
}
