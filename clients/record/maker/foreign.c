/* Libraries that make their own locks of atomics and futex calls: what they order, no record shows.
 */
#include <string.h>

#include "maker/maker_internal.h"

/*  beginning of the file's name, what it is */
static const char *const foreign[][2] = {
    {"libgomp.", "OpenMP"},
    {"libomp.", "OpenMP"},
    {"libomp-", "OpenMP"},
    {"libiomp5.", "OpenMP"},
    {"libtbb.", "Threading Building Blocks"},
    {"libglib-2.", "GLib's locks and queues"},
    {"libQt5Core.", "Qt's locks"},
    {"libQt6Core.", "Qt's locks"},
    {"libabsl_synchronization.", "Abseil's locks"},
};

static const char *foreign_name(const char *path)
{
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++)
        if (strncmp(base, foreign[i][0], strlen(foreign[i][0])) == 0) return foreign[i][1];
    return NULL;
}

void ft_maker_foreign(ft_maker *m)
{
    for (size_t i = 0; i < m->modules.len && m->summary->threads > 1; i++) {
        const char *name = foreign_name(m->modules.data[i].path);
        if (!name) continue;
        ft_builder_note(m->builder, FT_RECORD_FOREIGN, FT_NO_EVENT,
                        "%s (%s) orders threads without calls that the recorder sees: findings "
                        "between what it keeps apart can be false; tell such orders by annotations "
                        "(docs/record.md)",
                        name, m->modules.data[i].path);
    }
}
