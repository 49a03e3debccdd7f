#include "maker/symbols/instrumentation.h"

#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <string.h>
#include <unistd.h>

#include "base/contract.h"
#include "raw/assembly.h"

/* Instructions that the notes of a section count: foretell-as writes one note a source file. */
static uint64_t count_notes(Elf_Scn *section)
{
    Elf_Data *data = elf_getdata(section, NULL);
    GElf_Nhdr note;
    uint64_t n = 0;
    size_t at = 0, name, text;
    while (data && (at = gelf_getnote(data, at, &note, &name, &text))) {
        uint32_t count;
        if (note.n_type != FT_ASSEMBLY_UNSEEN || note.n_descsz != sizeof count) continue;
        memcpy(&count, (const char *)data->d_buf + text, sizeof count);
        n += count;
    }
    return n;
}

static uint64_t count_unseen(Elf *elf)
{
    size_t names;
    uint64_t n = 0;
    Elf_Scn *section = NULL;
    if (elf_getshdrstrndx(elf, &names)) return 0;
    while ((section = elf_nextscn(elf, section))) {
        GElf_Shdr header;
        const char *name = NULL;
        if (gelf_getshdr(section, &header)) name = elf_strptr(elf, names, header.sh_name);
        if (name && !strcmp(name, FT_ASSEMBLY_SECTION)) n += count_notes(section);
    }
    return n;
}

static bool is_call(Elf *elf, const GElf_Shdr *header, const GElf_Sym *symbol)
{
    const char *name = elf_strptr(elf, header->sh_link, symbol->st_name);
    return symbol->st_shndx == SHN_UNDEF && name && strncmp(name, "__tsan_", 7) == 0;
}

static bool calls_hooks(Elf *elf)
{
    Elf_Scn *section = NULL;
    while ((section = elf_nextscn(elf, section))) {
        GElf_Shdr header;
        GElf_Sym symbol;
        if (!gelf_getshdr(section, &header) || header.sh_type != SHT_DYNSYM) continue;
        Elf_Data *data = elf_getdata(section, NULL);
        for (int i = 0; data && gelf_getsym(data, i, &symbol); i++)
            if (is_call(elf, &header, &symbol)) return true;
    }
    return false;
}

bool ft_instrumentation_read(const char *path, ft_instrumentation *found)
{
    FT_REQUIRE(path && found);
    *found = (ft_instrumentation){0};
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    elf_version(EV_CURRENT);
    Elf *elf = fd < 0 ? NULL : elf_begin(fd, ELF_C_READ_MMAP, NULL);
    if (elf) *found = (ft_instrumentation){calls_hooks(elf), count_unseen(elf)};
    elf_end(elf);
    if (fd >= 0) close(fd);
    return elf != NULL;
}
