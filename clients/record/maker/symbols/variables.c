#include "maker/symbols/variables.h"

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
        v->size = symbol->st_size;
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

ft_status ft_variables_find(const char *program, ft_variable *variables, size_t n, ft_error *err)
{
    FT_REQUIRE(program && (variables || !n));
    int fd = open(program, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return ft_error_set(err, FT_USAGE, "%s: %s", program, strerror(errno));
    for (size_t i = 0; i < n; i++) variables[i].count = 0;
    (void)elf_version(EV_CURRENT);
    Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
    bool read = elf && read_table(elf, variables, n);
    if (elf) elf_end(elf);
    close(fd);
    if (read) return FT_OK;
    return ft_error_set(err, FT_INPUT, "%s has no symbol table: build it without stripping it",
                        program);
}
