#include "maker/symbols/elf_symbols.h"

#include <stdlib.h>

#include "base/contract.h"
#include "base/map.h"
#include "base/memory.h"

/* Answers for a stretch; those with ONE are a symbol's number, from FIRST on indices in `found`. */
enum { NOT_ASKED, NOTHING, FIRST };
#define ONE (UINT32_C(1) << 31)
enum { FEW = 16 }; /* so many addresses are looked up without a table, which costs more */

/* libdwfl walks over all symbols for each address. Its choice can only change where a symbol or a
 * section begins or ends (or at a label, which has no size, and behind it). So it is asked at most
 * once for each stretch from one such bound to the next, and not where a single sized symbol is
 * around: that is the one it chooses. */
typedef struct bound {
    uint64_t address;
    union {
        uint32_t symbol; /* while the table is made: whose bound it is */
        uint32_t answer; /* then: of the stretch from here to the next */
    };
    uint8_t what;
} bound;

/* Bounds: of a symbol with a size, where one without stands, of anything else. */
enum { BEGINS, ENDS, LABEL, SPLIT };

typedef struct table {
    uint32_t asked;       /* look-ups so far, up to FEW; bounds are filled after that */
    FT_VEC(bound) bounds; /* ascending, each address once */
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
    for (size_t i = 0; i < symbols->tables.len; i++)
        ft_vec_release(&symbols->tables.data[i].bounds);
    ft_vec_release(&symbols->tables);
    ft_vec_release(&symbols->found);
    ft_map_release(&symbols->numbers);
    free(symbols);
}

static int ascending(const void *a, const void *b)
{
    const bound *x = a, *y = b;
    return (x->address > y->address) - (x->address < y->address);
}

/* libdwfl counts the address right behind a section as inside of it, where no other begins. */
static void add_sections(table *t, Dwfl_Module *module)
{
    GElf_Addr bias = 0;
    Elf *elf = dwfl_module_getelf(module, &bias);
    for (Elf_Scn *section = NULL; elf && (section = elf_nextscn(elf, section));) {
        GElf_Shdr header;
        if (!gelf_getshdr(section, &header)) continue;
        uint64_t start = header.sh_addr + bias;
        ft_vec_push(&t->bounds, (bound){start, {0}, SPLIT});
        ft_vec_push(&t->bounds, (bound){start + header.sh_size, {0}, SPLIT});
        ft_vec_push(&t->bounds, (bound){start + header.sh_size + 1, {0}, SPLIT});
    }
}

/* May libdwfl choose it? */
static bool is_chosen(const char *name, const GElf_Sym *symbol)
{
    unsigned type = GELF_ST_TYPE(symbol->st_info);
    return name && *name && symbol->st_shndx != SHN_UNDEF && type != STT_SECTION &&
           type != STT_FILE && type != STT_TLS;
}

static void add_symbols(table *t, Dwfl_Module *module)
{
    int n = dwfl_module_getsymtab(module);
    for (int i = 0; i < n; i++) {
        GElf_Sym symbol;
        GElf_Addr start;
        const char *name = dwfl_module_getsym_info(module, i, &symbol, &start, NULL, NULL, NULL);
        if (!is_chosen(name, &symbol)) continue;
        bool sized = symbol.st_size && start + symbol.st_size > start;
        uint64_t end = start + (sized ? symbol.st_size : 1);
        ft_vec_push(&t->bounds, (bound){start, {(uint32_t)i}, sized ? BEGINS : LABEL});
        ft_vec_push(&t->bounds, (bound){end, {(uint32_t)i}, sized ? ENDS : SPLIT});
    }
}

/* Merges bounds at one address, and answers stretches with a single sized symbol. */
static void sweep(table *t)
{
    bound *all = t->bounds.data;
    uint32_t around = 0, sum = 0; /* sized symbols around; of one alone the number */
    size_t n = 0;
    for (size_t i = 0, next; i < t->bounds.len; i = next) {
        bool label = false;
        uint64_t address = all[i].address;
        for (next = i; next < t->bounds.len && all[next].address == address; next++) {
            const bound *b = &all[next];
            label |= b->what == LABEL;
            if (b->what > ENDS) continue;
            around += b->what == BEGINS ? 1 : UINT32_MAX;
            sum += b->what == BEGINS ? b->symbol : 0 - b->symbol;
        }
        all[n].address = address;
        all[n++].answer = around == 1 && !label ? sum | ONE : NOT_ASKED;
    }
    t->bounds.len = n;
}

static bool is_sound(const table *t)
{
    for (size_t i = 1; i < t->bounds.len; i++)
        if (t->bounds.data[i - 1].address >= t->bounds.data[i].address) return false;
    return t->bounds.len && t->bounds.data[0].address == 0;
}

static void fill(table *t, Dwfl_Module *module)
{
    add_symbols(t, module);
    add_sections(t, module);
    ft_vec_push(&t->bounds, (bound){0, {0}, SPLIT}); /* no address is before all */
    qsort(t->bounds.data, t->bounds.len, sizeof *t->bounds.data, ascending);
    sweep(t);
    FT_CHECK(is_sound(t));
}

static table *table_of(ft_elf_symbols *symbols, Dwfl_Module *module)
{
    bool fresh;
    uint64_t *number =
        ft_map_slot(&symbols->numbers, (uintptr_t)module, symbols->tables.len, &fresh);
    if (fresh) ft_vec_push(&symbols->tables, (table){0});
    return &symbols->tables.data[*number];
}

/* The stretch that the address is in. */
static bound *stretch_of(const table *t, uint64_t address)
{
    assert(t->bounds.len);
    size_t from = 1, to = t->bounds.len;
    while (from < to) {
        size_t middle = from + (to - from) / 2;
        if (t->bounds.data[middle].address <= address)
            from = middle + 1;
        else
            to = middle;
    }
    return &t->bounds.data[from - 1];
}

static uint32_t keep(ft_elf_symbols *symbols, const char *name, const GElf_Sym *symbol,
                     uint64_t start)
{
    bool function = GELF_ST_TYPE(symbol->st_info) == STT_FUNC;
    ft_vec_push(&symbols->found, (ft_elf_symbol){name, start, function});
    return (uint32_t)(FIRST + symbols->found.len - 1);
}

static uint32_t ask(ft_elf_symbols *symbols, Dwfl_Module *module, uint64_t address)
{
    GElf_Sym symbol;
    GElf_Off offset = 0;
    const char *name = dwfl_module_addrinfo(module, address, &offset, &symbol, NULL, NULL, NULL);
    return name ? keep(symbols, name, &symbol, address - offset) : NOTHING;
}

static uint32_t keep_one(ft_elf_symbols *symbols, Dwfl_Module *module, uint32_t number)
{
    GElf_Sym symbol;
    GElf_Addr start = 0;
    const char *name =
        dwfl_module_getsym_info(module, (int)number, &symbol, &start, NULL, NULL, NULL);
    return name ? keep(symbols, name, &symbol, start) : NOTHING;
}

const ft_elf_symbol *ft_elf_symbol_at(ft_elf_symbols *symbols, Dwfl_Module *module,
                                      uint64_t address)
{
    FT_REQUIRE(module);
    table *t = table_of(symbols, module);
    if (t->asked < FEW) {
        t->asked++;
        uint32_t found = ask(symbols, module, address);
        return found == NOTHING ? NULL : &symbols->found.data[found - FIRST];
    }
    if (!t->bounds.len) fill(t, module);
    uint32_t *answer = &stretch_of(t, address)->answer;
    if (*answer == NOT_ASKED) *answer = ask(symbols, module, address);
    if (*answer & ONE) *answer = keep_one(symbols, module, *answer & ~ONE);
    assert(*answer == NOTHING || *answer - FIRST < symbols->found.len);
    return *answer == NOTHING ? NULL : &symbols->found.data[*answer - FIRST];
}
