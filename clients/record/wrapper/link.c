#include "link.h"

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/contract.h"
#include "process.h"

/* The archives themselves stand between these. */
static const char *const before[] = {"-Wl,--whole-archive", NULL};
static const char *const after[] = {"-Wl,--no-whole-archive", "-Wl,--export-dynamic", "-lpthread",
                                    "-ldl", NULL};
/* The archive's own needs, where the libraries that follow by default are left out. */
static const char *const needed[] = {"-lgcc", "-lgcc_s", "-lc", "-lgcc", NULL};
static const char *const names[] = {
#define FT_ROW(name) #name,
    FT_WRAPPED_TABLE(FT_ROW)
#undef FT_ROW
};
static const char *const wraps[] = {
#define FT_ROW(name) "-Wl,--wrap=" #name,
    FT_WRAPPED_TABLE(FT_ROW)
#undef FT_ROW
};
/* Without --wrap the runtime's own name for the C library's function means nothing. */
static const char *const plainly[] = {
#define FT_ROW(name) "-Wl,--defsym=__real_" #name "=foretell_libc_" #name,
    FT_WRAPPED_TABLE(FT_ROW)
#undef FT_ROW
};

/* ---- adding */

static void add_runtime(const ft_link *link, ft_command *command)
{
    if (link->language) ft_command_add_all(command, (const char *const[]){"-x", "none", NULL});
    ft_command_add_all(command, before);
    ft_command_add(command, link->runtime);
    if (link->any_own) ft_command_add(command, link->libc);
    ft_command_add_all(command, after);
    if (link->chosen_libraries) ft_command_add_all(command, needed);
}

void ft_link_add(const ft_link *link, ft_command *command)
{
    if (!link->shared) add_runtime(link, command);
    for (size_t i = 0; i < FT_WRAPPED_COUNT; i++) {
        if (!link->own[i])
            ft_command_add(command, wraps[i]);
        else if (!link->shared)
            ft_command_add(command, plainly[i]);
    }
}

/* ---- seeing */

/* A file in memory, for reading; ranges outside of it are refused, since anything can stand there.
 */
typedef struct image {
    const char *data;
    size_t size;
} image;

static const void *part(const image *file, uint64_t at, uint64_t n, uint64_t size)
{
    bool inside = at <= file->size && size && n <= (file->size - at) / size;
    return inside && at % 8 == 0 ? file->data + at : NULL;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(names[*(const unsigned short *)a], names[*(const unsigned short *)b]);
}

static int to_name(const void *name, const void *row)
{
    return strcmp(name, names[*(const unsigned short *)row]);
}

/* The row of that name; NULL: it is not one of the table's. */
static const unsigned short *find(const char *name)
{
    static unsigned short sorted[FT_WRAPPED_COUNT];
    static bool is_sorted;
    for (unsigned short i = 0; !is_sorted && i < FT_WRAPPED_COUNT; i++) sorted[i] = i;
    if (!is_sorted) qsort(sorted, FT_WRAPPED_COUNT, sizeof *sorted, by_name);
    is_sorted = true;
    return bsearch(name, sorted, FT_WRAPPED_COUNT, sizeof *sorted, to_name);
}

/* The linker makes hidden functions local; GNU ld lists these after a nameless file. Functions that
 * the source makes static are no other file's. */
static bool is_global(const Elf64_Sym *symbol, bool nameless)
{
    return ELF64_ST_BIND(symbol->st_info) != STB_LOCAL || nameless ||
           ELF64_ST_VISIBILITY(symbol->st_other) == STV_HIDDEN;
}

static bool see_symbol(ft_link *link, const Elf64_Sym *symbol, const char *name, bool nameless)
{
    bool defined = symbol->st_shndx != SHN_UNDEF && ELF64_ST_TYPE(symbol->st_info) == STT_FUNC;
    if (!defined || !is_global(symbol, nameless)) return false;
    const unsigned short *row = find(name);
    if (!row || link->own[*row]) return false;
    return link->own[*row] = true;
}

static bool see_symbols(ft_link *link, const image *file, const Elf64_Shdr *table,
                        const Elf64_Shdr *strings)
{
    uint64_t n = table->sh_size / sizeof(Elf64_Sym);
    const Elf64_Sym *symbols = part(file, table->sh_offset, n, sizeof *symbols);
    bool inside = strings->sh_size && strings->sh_offset <= file->size &&
                  strings->sh_size <= file->size - strings->sh_offset;
    const char *text = inside ? file->data + strings->sh_offset : NULL;
    bool nameless = false, any = false;
    if (!symbols || !text || text[strings->sh_size - 1]) return false;
    for (uint64_t i = 0; i < n; i++) {
        if (symbols[i].st_name >= strings->sh_size) continue;
        const char *name = text + symbols[i].st_name;
        if (ELF64_ST_TYPE(symbols[i].st_info) == STT_FILE) nameless = !*name;
        any |= see_symbol(link, &symbols[i], name, nameless);
    }
    return any;
}

static bool see_image(ft_link *link, const image *file)
{
    const Elf64_Ehdr *head = part(file, 0, 1, sizeof *head);
    if (!head || memcmp(head->e_ident, ELFMAG, SELFMAG) != 0 ||
        head->e_ident[EI_CLASS] != ELFCLASS64)
        return false;
    const Elf64_Shdr *sections = part(file, head->e_shoff, head->e_shnum, sizeof *sections);
    bool any = false;
    for (unsigned i = 0; sections && i < head->e_shnum; i++) {
        bool table = sections[i].sh_type == SHT_SYMTAB || sections[i].sh_type == SHT_DYNSYM;
        if (table && sections[i].sh_link < head->e_shnum)
            any |= see_symbols(link, file, &sections[i], &sections[sections[i].sh_link]);
    }
    return any;
}

bool ft_link_see(ft_link *link, const char *output)
{
    struct stat info;
    FT_REQUIRE(output != NULL);
    int fd = open(output, O_RDONLY | O_CLOEXEC);
    bool plain = fd >= 0 && !fstat(fd, &info) && S_ISREG(info.st_mode) && info.st_size > 0;
    image file = {.data = MAP_FAILED, .size = plain ? (size_t)info.st_size : 0};
    if (plain) file.data = mmap(NULL, file.size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (fd >= 0) close(fd);
    if (file.data == MAP_FAILED) return false;
    bool any = see_image(link, &file);
    link->any_own |= any;
    munmap((void *)(uintptr_t)file.data, file.size);
    return any;
}
