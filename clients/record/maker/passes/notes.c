/* What the user is to know of what the recorder does not see: libraries that order threads by
 * atomics and futex calls of their own, inline assembly that foretell-as does not understand,
 * forked threads. */
#include <fcntl.h>
#include <gelf.h>
#include <inttypes.h>
#include <libelf.h>
#include <string.h>
#include <unistd.h>

#include "maker/maker_internal.h"
#include "raw/assembly.h"
#include "raw/schedule.h"

/*  beginning of the file's name, what it is */
static const char *const foreign[][2] = {
    {"libgomp.", "OpenMP"},
    {"libomp.", "OpenMP"},
    {"libomp-", "OpenMP"},
    {"libiomp5.", "OpenMP"},
    {"libtbb.", "Threading Building Blocks"},
    {"libglib-2.", "GLib's locks and queues"},
    {"libQt5Core.", "Qt's locks"},
    {"libQt6Core.", "Qt's locks"},
    {"libabsl_synchronization.", "Abseil's locks"},
    {"liburcu", "userspace RCU's grace periods"}, /* liburcu.so, liburcu-mb.so, ... */
    {"libck.", "Concurrency Kit's locks and queues"},
    {"libdispatch.", "Grand Central Dispatch"},
};

static const char *foreign_name(const char *path)
{
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++)
        if (strncmp(base, foreign[i][0], strlen(foreign[i][0])) == 0) return foreign[i][1];
    return NULL;
}

/* ---- inline assembly */

/* How many instructions the notes of a section tell of: one note a source file. */
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

/* ---- objects that the wrapper built */

static bool is_call(Elf *elf, const GElf_Shdr *header, const GElf_Sym *symbol)
{
    const char *name = elf_strptr(elf, header->sh_link, symbol->st_name);
    return symbol->st_shndx == SHN_UNDEF && name && strncmp(name, "__tsan_", 7) == 0;
}

/* Such a library wants the calls from the program: what it does to its locks is recorded. */
static bool wants_calls(Elf *elf)
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

static bool file_wants_calls(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    elf_version(EV_CURRENT);
    Elf *elf = fd < 0 ? NULL : elf_begin(fd, ELF_C_READ_MMAP, NULL);
    bool wants = !elf || wants_calls(elf);
    elf_end(elf);
    if (fd >= 0) close(fd);
    return wants;
}

static bool is_runtime(const char *path)
{
    static const char *const names[] = {"libstdc++.", "libc++.", "libc++abi.", "libgcc_s.",
                                        "libpthread"};
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strncmp(base, names[i], strlen(names[i])) == 0) return true;
    return ft_schedule_is_c_library(path, strlen(path));
}

/* The program has the hooks, and perhaps objects without them. */
static bool is_hooked(ft_maker *m, uint64_t pc)
{
    enum { NOT_ASKED, WITHOUT, WITH };
    ft_maker_module *from = ft_maker_module_at(m, pc);
    if (!from) return true;
    if (from == &m->modules.data[0]) return ft_symbols_calls(m->symbols, pc, "__tsan_");
    if (from->hooks == NOT_ASKED)
        from->hooks = is_runtime(from->path) || file_wants_calls(from->path) ? WITH : WITHOUT;
    return from->hooks == WITH;
}

bool ft_maker_is_hooked(ft_maker *m, uint64_t site)
{
    if (site >= m->sites.len) return true;
    while (m->hooked.len < m->sites.len) ft_vec_push(&m->hooked, 0);
    uint8_t *known = &m->hooked.data[site];
    if (!*known) *known = is_hooked(m, m->sites.data[site]) ? 2 : 1;
    return *known == 2;
}

/* ---- notes */

static void note_assembly(ft_maker *m, const char *path, Elf *elf)
{
    uint64_t n = count_unseen(elf);
    if (!n) return;
    ft_builder_note(m->builder, FT_RECORD_FOREIGN, FT_NO_EVENT,
                    "%s has %" PRIu64 " instruction(s) of inline assembly that order threads and "
                    "that the recorder does not see: findings between what they keep apart can be "
                    "false; tell such orders by annotations (docs/record.md)",
                    path, n);
}

static void note_library(ft_maker *m, const char *path, Elf *elf)
{
    const char *name = foreign_name(path);
    if (!name || wants_calls(elf)) return;
    ft_builder_note(m->builder, FT_RECORD_FOREIGN, FT_NO_EVENT,
                    "%s (%s) orders threads without calls that the recorder sees: findings between "
                    "what it keeps apart can be false; tell such orders by annotations "
                    "(docs/record.md)",
                    name, path);
}

static void note_module(ft_maker *m, const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    elf_version(EV_CURRENT);
    Elf *elf = fd < 0 ? NULL : elf_begin(fd, ELF_C_READ_MMAP, NULL);
    note_library(m, path, elf);
    note_assembly(m, path, elf);
    elf_end(elf);
    if (fd >= 0) close(fd);
}

/* A program that was linked only: nothing of it is seen, and nothing will be found. */
static void note_no_calls(ft_maker *m)
{
    ft_builder_note(m->builder, FT_RECORD_NO_CALLS, FT_NO_EVENT,
                    "no code that ran was compiled with foretell-cc, which only linked the "
                    "program: none of its accesses to memory is seen; build all of it again");
}

/* Frameworks that run each test in a process of its own: all of it went by unseen. */
static void note_forked(ft_maker *m)
{
    uint32_t n = ft_raw_log_header(m->log)->forked;
    if (!n) return;
    ft_builder_note(m->builder, FT_RECORD_FORKED, FT_NO_EVENT,
                    "%" PRIu32 " process%s that the program forked made threads of %s own: nothing "
                    "of that is recorded; let it run in one process (test frameworks have an "
                    "option for it, like CK_FORK=no or --no-exec; servers one for the foreground)",
                    n, n == 1 ? "" : "es", n == 1 ? "its" : "their");
}

/* Whoever relied on it, above all who then waits for the thread, does so for ever. */
static void note_refused(ft_maker *m)
{
    uint32_t n = ft_raw_log_header(m->log)->refused;
    if (!n) return;
    ft_builder_note(m->builder, FT_RECORD_REFUSED, FT_NO_EVENT,
                    "pthread_cancel was refused %" PRIu32 " time%s: what the program did then, and "
                    "deadlocks of who waits for a thread that goes on, can be false; end threads "
                    "by a flag, a signal or a message instead",
                    n, n == 1 ? "" : "s");
}

void ft_maker_foreign(ft_maker *m)
{
    note_forked(m);
    note_refused(m);
    if (!m->calls && m->summary->threads > 1) note_no_calls(m);
    for (size_t i = 0; i < m->modules.len && m->summary->threads > 1; i++)
        note_module(m, m->modules.data[i].path);
}
