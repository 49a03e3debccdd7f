#include "maker/symbols/instrumentation.h"

#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <string.h>
#include <unistd.h>

#include "base/contract.h"
#include "raw/assembly.h"

/* Instructions that the notes of a section count: foretell-as writes one note a source file. */
static void read_notes(Elf_Scn *section, ft_instrumentation *found)
{
    Elf_Data *data = elf_getdata(section, NULL);
    GElf_Nhdr note;
    size_t at = 0, name, text;
    while (data && (at = gelf_getnote(data, at, &note, &name, &text))) {
        const char *content = (const char *)data->d_buf + text;
        uint32_t count;
        if (note.n_type == FT_ASSEMBLY_UNSEEN && note.n_descsz == sizeof count) {
            memcpy(&count, content, sizeof count);
            found->unseen += count;
        }
        bool fits = note.n_descsz && note.n_descsz <= sizeof found->place;
        if (note.n_type != FT_ASSEMBLY_PLACE || !fits || *found->place) continue;
        memcpy(found->place, content, note.n_descsz);
        found->place[note.n_descsz - 1] = '\0';
    }
}

static void find_unseen(Elf *elf, ft_instrumentation *found)
{
    size_t names;
    Elf_Scn *section = NULL;
    if (elf_getshdrstrndx(elf, &names)) return;
    while ((section = elf_nextscn(elf, section))) {
        GElf_Shdr header;
        const char *name = NULL;
        if (gelf_getshdr(section, &header)) name = elf_strptr(elf, names, header.sh_name);
        if (name && !strcmp(name, FT_ASSEMBLY_SECTION)) read_notes(section, found);
    }
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
    if (elf) {
        found->calls_hooks = calls_hooks(elf);
        find_unseen(elf, found);
    }
    elf_end(elf);
    if (fd >= 0) close(fd);
    return elf != NULL;
}
