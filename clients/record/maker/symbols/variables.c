#include "maker/symbols/variables.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <string.h>
#include <unistd.h>

#include "base/contract.h"

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

static void choose(Dwarf_Die *die, int64_t locals, ft_variable *v)
{
    uint64_t at;
    bool own;
    const char *name = dwarf_diename(die);
    if (!name || strcmp(name, v->name) != 0 || !location_of(die, &at, &own) || own != v->own)
        return;
    int64_t address = (int64_t)at - (own ? locals : 0);
    if (v->count && v->address == address) return;
    v->count++;
    v->address = address;
}

/* Variables of the unit or function, and of what is within it. */
static void choose_within(Dwarf_Die *die, int64_t locals, ft_variable *v, unsigned depth)
{
    Dwarf_Die child;
    if (!depth || dwarf_child(die, &child)) return;
    do {
        int tag = dwarf_tag(&child);
        if (tag == DW_TAG_variable) choose(&child, locals, v);
        if (tag == DW_TAG_subprogram || tag == DW_TAG_lexical_block || tag == DW_TAG_namespace)
            choose_within(&child, locals, v, depth - 1);
    } while (!dwarf_siblingof(&child, &child));
}

static void choose_one(Elf *elf, ft_variable *v)
{
    enum { DEPTH = 16 };
    Dwarf *debug = dwarf_begin_elf(elf, DWARF_C_READ, NULL);
    Dwarf_CU *unit = NULL;
    Dwarf_Die die;
    uint32_t all = v->count;
    if (!debug) return;
    v->count = 0;
    while (!dwarf_get_units(debug, unit, &unit, NULL, NULL, &die, NULL))
        choose_within(&die, local_size(elf), v, DEPTH);
    dwarf_end(debug);
    if (!v->count) v->count = all;
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
        if (variables[i].count > 1) choose_one(elf, &variables[i]);
    if (elf) elf_end(elf);
    close(fd);
    if (read) return FT_OK;
    return ft_error_set(err, FT_INPUT, "%s has no symbol table: build it without stripping it",
                        program);
}
