#include "maker/elf_symbols.h"

#include <stdlib.h>

#include "base/map.h"
#include "base/memory.h"

enum { NOT_ASKED, NOTHING, FIRST }; /* answers; from FIRST on numbers in found */
enum { FEW = 16 };                  /* addresses, for which a table costs more than it saves */

/* libdwfl walks over all symbols for each address. Which it chooses can only change where a symbol
 * or a section begins or ends, so it is asked once for each stretch between two such bounds. */
typedef struct table {
    uint32_t asked;           /* addresses, while they are few: the rest is not there yet */
    FT_VEC(uint64_t) bounds;  /* ascending */
    FT_VEC(uint32_t) answers; /* of the stretch before each bound, then of what is behind all */
} table;

struct ft_elf_symbols {
    ft_map numbers; /* address of a Dwfl_Module -> its number in tables */
    FT_VEC(table) tables;
    FT_VEC(ft_elf_symbol) found;
};

ft_elf_symbols *ft_elf_symbols_new(void)
{
    return ft_calloc(1, sizeof(ft_elf_symbols));
}

void ft_elf_symbols_free(ft_elf_symbols *symbols)
{
    if (!symbols) return;
    for (size_t i = 0; i < symbols->tables.len; i++) {
        ft_vec_release(&symbols->tables.data[i].bounds);
        ft_vec_release(&symbols->tables.data[i].answers);
    }
    ft_vec_release(&symbols->tables);
    ft_vec_release(&symbols->found);
    ft_map_release(&symbols->numbers);
    free(symbols);
}

static int ascending(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static void add_range(table *t, uint64_t from, uint64_t size)
{
    ft_vec_push(&t->bounds, from);
    ft_vec_push(&t->bounds, from + size);
}

static void add_sections(table *t, Dwfl_Module *module)
{
    GElf_Addr bias = 0;
    Elf *elf = dwfl_module_getelf(module, &bias);
    for (Elf_Scn *section = NULL; elf && (section = elf_nextscn(elf, section));) {
        GElf_Shdr header;
        if (gelf_getshdr(section, &header)) add_range(t, header.sh_addr + bias, header.sh_size);
    }
}

static void fill(table *t, Dwfl_Module *module)
{
    int n = dwfl_module_getsymtab(module);
    for (int i = 0; i < n; i++) {
        GElf_Sym symbol;
        GElf_Addr address;
        if (dwfl_module_getsym_info(module, i, &symbol, &address, NULL, NULL, NULL))
            add_range(t, address, symbol.st_size);
    }
    add_sections(t, module);
    qsort(t->bounds.data, t->bounds.len, sizeof *t->bounds.data, ascending);
    for (size_t i = 0; i <= t->bounds.len; i++) ft_vec_push(&t->answers, NOT_ASKED);
}

static table *table_of(ft_elf_symbols *symbols, Dwfl_Module *module)
{
    bool fresh;
    uint64_t *number =
        ft_map_slot(&symbols->numbers, (uintptr_t)module, symbols->tables.len, &fresh);
    if (fresh) ft_vec_push(&symbols->tables, (table){0});
    return &symbols->tables.data[*number];
}

/* How many bounds are not behind the address. */
static size_t stretch_of(const table *t, uint64_t address)
{
    size_t from = 0, to = t->bounds.len;
    while (from < to) {
        size_t middle = from + (to - from) / 2;
        if (t->bounds.data[middle] <= address)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

static uint32_t ask(ft_elf_symbols *symbols, Dwfl_Module *module, uint64_t address)
{
    GElf_Sym symbol;
    GElf_Off offset = 0;
    const char *name = dwfl_module_addrinfo(module, address, &offset, &symbol, NULL, NULL, NULL);
    if (!name) return NOTHING;
    ft_elf_symbol at = {name, address - offset, GELF_ST_TYPE(symbol.st_info) == STT_FUNC};
    ft_vec_push(&symbols->found, at);
    return (uint32_t)(FIRST + symbols->found.len - 1);
}

const ft_elf_symbol *ft_elf_symbol_at(ft_elf_symbols *symbols, Dwfl_Module *module,
                                      uint64_t address)
{
    table *t = table_of(symbols, module);
    if (t->asked < FEW) {
        t->asked++;
        uint32_t found = ask(symbols, module, address);
        return found == NOTHING ? NULL : &symbols->found.data[found - FIRST];
    }
    if (!t->answers.len) fill(t, module);
    uint32_t *answer = &t->answers.data[stretch_of(t, address)];
    if (*answer == NOT_ASKED) *answer = ask(symbols, module, address);
    return *answer == NOTHING ? NULL : &symbols->found.data[*answer - FIRST];
}
