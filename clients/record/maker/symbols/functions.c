#include "maker/symbols/functions.h"

#include <dwarf.h>
#include <stdlib.h>

#include "base/contract.h"
#include "base/map.h"
#include "base/memory.h"

/* One of the ranges of code that a function of a unit has. */
typedef struct range {
    Dwarf_Addr low, high;
    size_t order; /* as the unit has them */
    Dwarf_Die function;
} range;

/* Of a compilation unit. */
typedef struct code {
    FT_VEC(range) ranges; /* by `low`, then by order */
} code;

struct ft_functions {
    ft_map numbers; /* address of a unit's entry in its file -> its number in units */
    FT_VEC(code) units;
};

ft_functions *ft_functions_new(void)
{
    return ft_calloc(1, sizeof(ft_functions));
}

void ft_functions_free(ft_functions *functions)
{
    if (!functions) return;
    for (size_t i = 0; i < functions->units.len; i++)
        ft_vec_release(&functions->units.data[i].ranges);
    ft_vec_release(&functions->units);
    ft_map_release(&functions->numbers);
    free(functions);
}

static int by_address(const void *a, const void *b)
{
    const range *x = a, *y = b;
    if (x->low != y->low) return x->low < y->low ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);
}

static void add_function(code *c, Dwarf_Die *function)
{
    Dwarf_Addr base, low, high;
    for (ptrdiff_t at = 0; (at = dwarf_ranges(function, at, &base, &low, &high)) > 0;)
        ft_vec_push(&c->ranges, (range){low, high, c->ranges.len, *function});
}

static bool is_sorted(const code *c)
{
    for (size_t i = 1; i < c->ranges.len; i++)
        if (by_address(&c->ranges.data[i - 1], &c->ranges.data[i]) >= 0) return false;
    return true;
}

/* One walk over what stands in the unit itself: libdw's own search makes one for each address, and
 * C++ headers are long. */
static void add_functions(code *c, Dwarf_Die *unit)
{
    Dwarf_Die die;
    if (dwarf_child(unit, &die)) return;
    do {
        if (dwarf_tag(&die) == DW_TAG_subprogram) add_function(c, &die);
    } while (dwarf_siblingof(&die, &die) == 0);
    if (c->ranges.len) qsort(c->ranges.data, c->ranges.len, sizeof *c->ranges.data, by_address);
    FT_CHECK(is_sorted(c));
}

static const code *code_of(ft_functions *functions, Dwarf_Die *unit)
{
    bool fresh;
    uint64_t *number =
        ft_map_slot(&functions->numbers, (uintptr_t)unit->addr, functions->units.len, &fresh);
    if (fresh) {
        ft_vec_push(&functions->units, (code){0});
        add_functions(&functions->units.data[functions->units.len - 1], unit);
    }
    return &functions->units.data[*number];
}

/* The first function of the unit, in its order, of those that begin there last; NULL: none. */
static const range *range_at(const code *c, Dwarf_Addr address)
{
    size_t from = 0, to = c->ranges.len; /* the first that begins behind the address */
    while (from < to) {
        size_t middle = from + (to - from) / 2;
        if (c->ranges.data[middle].low <= address)
            from = middle + 1;
        else
            to = middle;
    }
    while (from > 1 && c->ranges.data[from - 2].low == c->ranges.data[from - 1].low) from--;
    const range *at = from ? &c->ranges.data[from - 1] : NULL;
    assert(!at || at->low <= address);
    return at && address < at->high ? at : NULL;
}

/* Most of what functions have: no code, which libdw finds out attribute by attribute. */
static bool has_no_code(int tag)
{
    return tag == DW_TAG_variable || tag == DW_TAG_formal_parameter || tag == DW_TAG_call_site ||
           tag == DW_TAG_GNU_call_site || tag == DW_TAG_label;
}

/* The part of a function that has the address. */
static bool step_into(Dwarf_Die *scope, Dwarf_Addr address)
{
    Dwarf_Die die;
    if (dwarf_child(scope, &die)) return false;
    do {
        if (has_no_code(dwarf_tag(&die)) || dwarf_haspc(&die, address) != 1) continue;
        *scope = die;
        return true;
    } while (dwarf_siblingof(&die, &die) == 0);
    return false;
}

/* Where the inlined call is written; false: the compiler does not say. */
static bool written_at(Dwarf_Die *unit, Dwarf_Die *inlined, ft_code_line *line)
{
    Dwarf_Attribute attribute;
    Dwarf_Files *files;
    Dwarf_Word file, number;
    size_t n;
    if (dwarf_getsrcfiles(unit, &files, &n)) return false;
    if (!dwarf_attr(inlined, DW_AT_call_file, &attribute) || dwarf_formudata(&attribute, &file))
        return false;
    if (!dwarf_attr(inlined, DW_AT_call_line, &attribute) || dwarf_formudata(&attribute, &number))
        return false;
    line->file = dwarf_filesrc(files, file, NULL, NULL);
    line->number = (int)number;
    return line->file != NULL;
}

bool ft_functions_written_at(ft_functions *functions, Dwarf_Die *unit, Dwarf_Addr address,
                             bool (*skips)(const char *file), ft_code_line *line)
{
    const range *at = range_at(code_of(functions, unit), address);
    bool found = false;
    if (!at) return false;
    Dwarf_Die scope = at->function;
    const char *function = dwarf_diename(&scope);
    while (step_into(&scope, address)) {
        ft_code_line call = {.function = function};
        if (dwarf_tag(&scope) != DW_TAG_inlined_subroutine) continue;
        if (written_at(unit, &scope, &call) && !skips(call.file)) {
            *line = call;
            found = true;
        }
        function = dwarf_diename(&scope);
    }
    return found;
}

bool ft_functions_die(ft_functions *functions, Dwarf_Die *unit, Dwarf_Addr address,
                      Dwarf_Die *function)
{
    const range *at = range_at(code_of(functions, unit), address);
    if (at) *function = at->function;
    return at != NULL;
}

const char *ft_functions_at(ft_functions *functions, Dwarf_Die *unit, Dwarf_Addr address)
{
    const range *at = range_at(code_of(functions, unit), address);
    if (!at) return NULL;
    Dwarf_Die scope = at->function;
    const char *name = dwarf_diename(&scope);
    while (step_into(&scope, address)) {
        int tag = dwarf_tag(&scope);
        bool function = tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine;
        const char *inner = function ? dwarf_diename(&scope) : NULL;
        if (inner) name = inner;
    }
    return name;
}
