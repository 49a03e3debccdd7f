#include "maker/symbols/variables.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/contract.h"
#include "base/memory.h"

/* The end of the thread-local storage of the program itself lies at the thread pointer (x86-64, ELF
 * handling for thread-local storage, variant II). */
static int64_t local_size(Elf *elf)
{
    size_t n = 0;
    (void)elf_getphdrnum(elf, &n);
    for (int i = 0; i < (int)n; i++) {
        GElf_Phdr h;
        if (!gelf_getphdr(elf, i, &h) || h.p_type != PT_TLS) continue;
        uint64_t align = h.p_align ? h.p_align : 1;
        return (int64_t)((h.p_memsz + align - 1) / align * align);
    }
    return 0;
}

static void add(const GElf_Sym *symbol, const char *name, int64_t locals, ft_variable *variables,
                size_t n)
{
    unsigned type = GELF_ST_TYPE(symbol->st_info);
    if ((type != STT_OBJECT && type != STT_TLS) || symbol->st_shndx == SHN_UNDEF) return;
    for (size_t i = 0; i < n; i++) {
        ft_variable *v = &variables[i];
        if (v->own != (type == STT_TLS) || strcmp(v->name, name) != 0) continue;
        v->count++;
        v->address = (int64_t)symbol->st_value - (v->own ? locals : 0);
        if (v->count == 1 || v->size < symbol->st_size) v->size = symbol->st_size;
    }
}

static bool read_table(Elf *elf, ft_variable *variables, size_t n)
{
    Elf_Scn *section = NULL;
    GElf_Shdr h;
    int64_t locals = local_size(elf);
    while ((section = elf_nextscn(elf, section))) {
        if (!gelf_getshdr(section, &h) || h.sh_type != SHT_SYMTAB || !h.sh_entsize) continue;
        Elf_Data *data = elf_getdata(section, NULL);
        for (int i = 0; data && i < (int)(h.sh_size / h.sh_entsize); i++) {
            GElf_Sym symbol;
            const char *name =
                gelf_getsym(data, i, &symbol) ? elf_strptr(elf, h.sh_link, symbol.st_name) : NULL;
            if (name) add(&symbol, name, locals, variables, n);
        }
        return data != NULL;
    }
    return false;
}

/* ---- which of several: the one that debug information has (the recorder's own have none) ---- */

/* The address in the variable's location, or its offset in the thread's storage. */
static bool location_of(Dwarf_Die *die, uint64_t *at, bool *own)
{
    Dwarf_Attribute attribute;
    Dwarf_Op *ops;
    size_t n;
    if (!dwarf_attr(die, DW_AT_location, &attribute) || dwarf_getlocation(&attribute, &ops, &n) ||
        !n)
        return false;
    *own = n == 2 &&
           (ops[1].atom == DW_OP_GNU_push_tls_address || ops[1].atom == DW_OP_form_tls_address);
    *at = ops[0].number;
    return *own || (n == 1 && ops[0].atom == DW_OP_addr);
}

/* A name, and for a static variable of a function that function's: as clang calls them
 * (FUNCTION.NAME), where LLVM's linker may have added a number for a name that was taken. */
typedef struct wanted {
    const char *name;
    size_t function; /* the length of the function's name before it and a dot; 0: none */
    bool anywhere;   /* in any function, or in none */
} wanted;

static bool is_called(const char *own, const char *name, size_t length)
{
    return own && strlen(own) == length && memcmp(own, name, length) == 0;
}

static wanted wanted_of(const char *name)
{
    size_t length = strlen(name), at = length;
    for (; at && (name[at - 1] == '.' || (name[at - 1] >= '0' && name[at - 1] <= '9')); at--)
        if (name[at - 1] == '.') length = at - 1;
    for (at = length; at && name[at - 1] != '.'; at--) continue;
    return (wanted){.name = ft_strndup(name + at, length - at), .function = at ? at - 1 : 0};
}

static uint64_t size_of(Dwarf_Die *die)
{
    Dwarf_Attribute attribute;
    Dwarf_Die type;
    Dwarf_Word size;
    bool known = dwarf_attr_integrate(die, DW_AT_type, &attribute) &&
                 dwarf_formref_die(&attribute, &type) && !dwarf_aggregate_size(&type, &size);
    return known ? size : 0;
}

static void choose(Dwarf_Die *die, int64_t locals, const char *wanted_name, ft_variable *v)
{
    uint64_t at;
    bool own;
    const char *name = dwarf_diename(die);
    if (!name || strcmp(name, wanted_name) != 0 || !location_of(die, &at, &own) || own != v->own)
        return;
    int64_t address = (int64_t)at - (own ? locals : 0);
    if (v->count && v->address == address) return;
    if (!v->size) v->size = size_of(die);
    v->count++;
    v->address = address;
}

static bool goes_into(Dwarf_Die *die, const wanted *w, const ft_variable *v)
{
    int tag = dwarf_tag(die);
    if (tag != DW_TAG_subprogram) return tag == DW_TAG_lexical_block || tag == DW_TAG_namespace;
    return w->anywhere || (w->function && is_called(dwarf_diename(die), v->name, w->function));
}

/* Variables of the unit or function, and of what is within it. */
static void choose_within(Dwarf_Die *die, int64_t locals, const wanted *w, ft_variable *v,
                          unsigned depth)
{
    Dwarf_Die child;
    bool in_unit = dwarf_tag(die) == DW_TAG_compile_unit || dwarf_tag(die) == DW_TAG_namespace;
    if (!depth || dwarf_child(die, &child)) return;
    do {
        bool counts = w->anywhere || in_unit == !w->function;
        if (dwarf_tag(&child) == DW_TAG_variable && counts) choose(&child, locals, w->name, v);
        if (goes_into(&child, w, v)) choose_within(&child, locals, w, v, depth - 1);
    } while (!dwarf_siblingof(&child, &child));
}

static void choose_one(Elf *elf, const wanted *w, ft_variable *v)
{
    enum { DEPTH = 16 };
    Dwarf *debug = dwarf_begin_elf(elf, DWARF_C_READ, NULL);
    Dwarf_CU *unit = NULL;
    Dwarf_Die die;
    uint32_t all = v->count;
    if (!debug) return;
    v->count = 0;
    while (!dwarf_get_units(debug, unit, &unit, NULL, NULL, &die, NULL))
        choose_within(&die, local_size(elf), w, v, DEPTH);
    dwarf_end(debug);
    if (!v->count) v->count = all;
}

/* The symbol table has several of the name, or none. */
static void choose_by_source(Elf *elf, ft_variable *v)
{
    if (v->count) {
        choose_one(elf, &(wanted){.name = v->name, .anywhere = true}, v);
    } else if (strchr(v->name, '.')) {
        wanted w = wanted_of(v->name);
        v->size = 0;
        choose_one(elf, &w, v);
        free((char *)(uintptr_t)w.name);
    }
}

ft_status ft_variables_find(const char *program, ft_variable *variables, size_t n, ft_error *err)
{
    FT_REQUIRE(program && (variables || !n));
    int fd = open(program, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return ft_error_set(err, FT_USAGE, "%s: %s", program, strerror(errno));
    for (size_t i = 0; i < n; i++) variables[i].count = 0;
    (void)elf_version(EV_CURRENT);
    Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
    bool read = elf && read_table(elf, variables, n);
    for (size_t i = 0; i < n && read; i++)
        if (variables[i].count != 1) choose_by_source(elf, &variables[i]);
    if (elf) elf_end(elf);
    close(fd);
    if (read) return FT_OK;
    return ft_error_set(err, FT_INPUT, "%s has no symbol table: build it without stripping it",
                        program);
}
