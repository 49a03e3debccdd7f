#include "maker/symbols/line_ranges.h"

#include <elfutils/libdw.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/contract.h"

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static void add(ft_source_line *lines, size_t n, const char *file, int number, uint64_t from,
                uint64_t to)
{
    const char *name = base_name(file);
    for (size_t i = 0; i < n; i++)
        if ((uint32_t)number >= lines[i].line && (uint32_t)number <= lines[i].last &&
            strcmp(lines[i].file, name) == 0)
            ft_vec_push(&lines[i].code, (ft_line_range){from, to});
}

/* A row of the table is good up to the next one. */
static void read_unit(Dwarf_Die *unit, ft_source_line *lines, size_t n)
{
    Dwarf_Lines *rows;
    size_t n_rows;
    if (dwarf_getsrclines(unit, &rows, &n_rows)) return;
    for (size_t i = 0; i + 1 < n_rows; i++) {
        Dwarf_Line *row = dwarf_onesrcline(rows, i), *next = dwarf_onesrcline(rows, i + 1);
        Dwarf_Addr from, to;
        int number;
        bool ends;
        if (!row || !next || dwarf_lineendsequence(row, &ends) || ends) continue;
        if (dwarf_lineaddr(row, &from) || dwarf_lineaddr(next, &to) || to <= from) continue;
        const char *file = dwarf_linesrc(row, NULL, NULL);
        if (file && !dwarf_lineno(row, &number)) add(lines, n, file, number, from, to);
    }
}

static void read_units(Dwarf *debug, ft_source_line *lines, size_t n)
{
    Dwarf_CU *unit = NULL;
    Dwarf_Die die;
    while (!dwarf_get_units(debug, unit, &unit, NULL, NULL, &die, NULL)) read_unit(&die, lines, n);
}

ft_status ft_line_ranges_find(const char *program, ft_source_line *lines, size_t n, ft_error *err)
{
    FT_REQUIRE(program && (lines || !n));
    int fd = open(program, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return ft_error_set(err, FT_USAGE, "%s: %s", program, strerror(errno));
    Dwarf *debug = dwarf_begin(fd, DWARF_C_READ);
    if (debug) read_units(debug, lines, n);
    dwarf_end(debug);
    close(fd);
    if (debug) return FT_OK;
    return ft_error_set(err, FT_INPUT, "%s has no debug information: build it with foretell-cc -g",
                        program);
}
