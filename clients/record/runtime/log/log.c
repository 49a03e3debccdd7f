#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "log/hot.h"
#include "state/thread.h"

/* Space in the file is taken ahead in steps: a full disk is seen here and not as a signal. Its
 * pages are made in windows, which costs less than a fault for each, and not too early: short
 * programs need few. */
enum { REBUILD = 2, STEP = 8 << 20, MARGIN = 1 << 12, CHUNK = 1 << 16, VARINT = 10, AWAY = 500 };
enum { LEAST_WINDOW = 1 << 16, WINDOW = 1 << 20, WAIT = 50000, WAITS = 100000 };

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

ft_raw_header *ft_rt_header;
bool ft_rt_logging;
struct ft_rt_out ft_rt_out = {.fd = -1};

static struct {
    dev_t device;
    ino_t node;
} log_file;

static size_t before_end(void)
{
    return (size_t)(ft_rt_out.ready - (unsigned char *)ft_rt_out.at);
}

static uint64_t used(void)
{
    return (uintptr_t)ft_rt_out.at - ft_rt_out.origin;
}

/* The program may have closed it, as those do that close all, and opened a file of its own. */
static bool is_log_open(void)
{
    struct stat now;
    return !FT_REAL(fstat)(ft_rt_out.fd, &now) && now.st_dev == log_file.device &&
           now.st_ino == log_file.node;
}

/* Up to `to`, at most the ring's end. Old kernels do not know the advice: then each page is made
 * when it is written, and so it is where the file is not at hand. */
static bool make_pages(unsigned char *to)
{
    size_t all = ft_rt_header->ring ? ft_rt_header->ring : ft_rt_header->limit - FT_RAW_PAGE;
    if (to > ft_rt_out.start + all) to = ft_rt_out.start + all;
    while (ft_rt_out.end < to) {
        size_t rest = (size_t)(ft_rt_out.start + all - ft_rt_out.end);
        size_t step = rest < STEP ? rest : STEP;
        off_t at = ft_rt_out.end - (unsigned char *)ft_rt_header;
        if (is_log_open() && posix_fallocate(ft_rt_out.fd, at, (off_t)step)) {
            ft_rt_log_end(FT_RAW_END_DISK);
            return false;
        }
        ft_rt_out.end += step;
    }
    if (to <= ft_rt_out.made) return true;
    size_t size = ((size_t)(to - ft_rt_out.made) + FT_RAW_PAGE - 1) / FT_RAW_PAGE * FT_RAW_PAGE;
    madvise(ft_rt_out.made, size, MADV_POPULATE_WRITE);
    ft_rt_out.made += size;
    return true;
}

/* Behind the ring's end lies its start once more; there is room for a pending write to wait for its
 * value before we really go back. */
static void go_round(void)
{
    uint64_t ring = ft_rt_header->ring;
    unsigned char *at = (unsigned char *)ft_rt_out.at;
    bool pending = ft_rt_self && ft_rt_self->late.value;
    if (at < ft_rt_out.start + ring + (pending ? ring / 2 : 0)) return;
    if (pending) ft_rt_end_late(ft_rt_self);
    ft_rt_out.at -= ring / sizeof *ft_rt_out.at;
    ft_rt_out.origin -= ring;
}

/* From a container it may be there and not be seen: the program waits a while all the same. */
static bool has_reader(void)
{
    pid_t maker = (pid_t)ft_rt_header->maker;
    return syscall(SYS_kill, maker, 0) == 0 || errno != ESRCH;
}

/* What the ring has room for, at least `need`; 0: there never will be. */
static uint64_t wait_for_room(size_t need)
{
    const struct timespec pause = {.tv_nsec = WAIT};
    for (uint32_t waits = 0;; waits++) {
        uint64_t taken = __atomic_load_n(&ft_rt_header->taken, __ATOMIC_ACQUIRE);
        uint64_t room = ft_rt_header->ring - (used() - taken);
        if (room >= need + LEAST_WINDOW) return room;
        if (ft_rt_header->full || (waits > WAITS && !has_reader())) return 0;
        syscall(SYS_nanosleep, &pause, NULL);
    }
}

static bool make_window(size_t need)
{
    if (ft_rt_header->ring) go_round();
    uint64_t most = ft_rt_header->limit - FT_RAW_PAGE - used(), room = most;
    if (most < need) {
        ft_rt_log_end(FT_RAW_END_LIMIT);
        return false;
    }
    if (ft_rt_header->ring) room = wait_for_room(need);
    if (!room) {
        bool limit = ft_rt_header->full == FT_RAW_FULL_LIMIT;
        ft_rt_log_end(limit ? FT_RAW_END_LIMIT : FT_RAW_END_DISK);
        return false;
    }
    uint64_t size = used();
    if (size < LEAST_WINDOW) size = LEAST_WINDOW;
    if (size > WINDOW) size = WINDOW;
    if (size < need) size = need;
    if (size > room) size = room;
    if (size > most) size = most;
    if (!make_pages((unsigned char *)ft_rt_out.at + size)) return false;
    ft_rt_out.ready = (unsigned char *)ft_rt_out.at + size;
    ft_rt_out.enough = (uint64_t *)(void *)(ft_rt_out.ready - MARGIN - FT_RAW_LONGEST);
    return true;
}

static bool has_room(size_t bytes)
{
    if (!ft_rt_logging) {
        if (ft_rt_header->end != FT_RAW_END_EXIT) ft_rt_header->ignored++;
        return false;
    }
    if (before_end() >= bytes + MARGIN) return true;
    int error = errno;
    bool has = make_window(bytes + MARGIN);
    errno = error;
    return has;
}

unsigned char *ft_rt_put(unsigned char *at, uint64_t value)
{
    while (value >= 0x80) {
        *at++ = (unsigned char)(value | 0x80);
        value >>= 7;
    }
    *at++ = (unsigned char)value;
    return at;
}

static unsigned char *put_bytes(unsigned char *at, const void *bytes, size_t n)
{
    const unsigned char *from = bytes;
    at = ft_rt_put(at, n);
    for (size_t i = 0; i < n; i++) *at++ = from[i];
    return at;
}

static unsigned char *whole(unsigned char *at)
{
    while ((uintptr_t)at % FT_RAW_WORD) *at++ = 0;
    return at;
}

static unsigned char *put_turn(unsigned char *at)
{
    if (!ft_rt_self || ft_rt_out.thread == ft_rt_self->id) return at;
    ft_rt_out.thread = ft_rt_self->id;
    *at++ = FT_RAW_TURN << 1;
    return whole(ft_rt_put(at, ft_rt_out.thread));
}

unsigned char *ft_rt_open_record(size_t bytes)
{
    if (!has_room(bytes + FT_RAW_LONGEST)) return NULL;
    return put_turn((unsigned char *)ft_rt_out.at);
}

void ft_rt_close_record(unsigned char *at)
{
    ft_rt_out.at = (uint64_t *)(void *)whole(at);
    if (!ft_rt_self || !ft_rt_self->late.value) ft_rt_publish(ft_rt_out.at);
}

void ft_rt_log(ft_raw_operation operation, const uint64_t *operands, uint32_t n)
{
    if (ft_rt_replaying) {
        ft_rt_replay_record(ft_rt_self, operation, operands);
        return;
    }
    unsigned char *at = ft_rt_open_record((n + 1) * VARINT);
    if (!at) return;
    *at++ = (unsigned char)(operation << 1);
    for (uint32_t i = 0; i < n; i++) at = ft_rt_put(at, operands[i]);
    ft_rt_close_record(at);
}

void ft_rt_log_bytes(ft_raw_operation operation, uint64_t operand, const void *bytes, size_t n)
{
    if (ft_rt_replaying) {
        ft_rt_replay_record(ft_rt_self, operation, &operand);
        return;
    }
    unsigned char *at = ft_rt_open_record(n + 3 * VARINT);
    if (!at) return;
    *at++ = (unsigned char)(operation << 1);
    at = ft_rt_put(at, operand);
    ft_rt_close_record(put_bytes(at, bytes, n));
}

/* The program's own variables, from the first address on. */
static struct {
    uintptr_t from;
    size_t size;
} variables;

/* Bytes of them that are shown: initialised ones, then those that libraries share with it. */
enum { SHOWN = 1 << 18 };

void ft_rt_log_variables(void)
{
    size_t size = variables.size < SHOWN ? variables.size : SHOWN;
    for (size_t at = 0, n; at < size; at += n) {
        n = size - at < CHUNK ? size - at : CHUNK;
        uintptr_t from = variables.from + at;
        ft_rt_log_bytes(FT_RAW_SHOWN, from, (const void *)from, n);
    }
    variables.size = 0;
}

static void log_constants(const struct dl_phdr_info *info)
{
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        if (p->p_type == PT_LOAD && !(p->p_flags & PF_W))
            FT_RT_LOG(CONSTANT, info->dlpi_addr + p->p_vaddr, p->p_memsz);
    }
}

/* What a module's writable memory holds before the program starts, or its own code runs. */
static void log_data(const struct dl_phdr_info *info)
{
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        if (p->p_type != PT_LOAD || !(p->p_flags & PF_W)) continue;
        uint64_t from = info->dlpi_addr + p->p_vaddr, at = from, end = from + p->p_filesz;
        if (!variables.from) { /* the executable comes first */
            variables.from = from;
            variables.size = p->p_memsz;
        }
        FT_RT_LOG(ZERO, from, p->p_memsz);
        for (uint64_t n; at < end; at += n) {
            n = end - at < CHUNK ? end - at : CHUNK;
            ft_rt_log_bytes(FT_RAW_MEMORY, at, (const void *)at, n);
        }
    }
}

enum { MODULES = 1024 };

static struct {
    struct range {
        uintptr_t base, end;
    } all[MODULES];
    uint32_t n;
    uint32_t again;          /* places used once more: that of a library which has gone */
    unsigned long long adds; /* of libraries, as the dynamic linker counts them */
} modules;

/* NULL: there are too many at once. */
static struct range *new_place(void)
{
    if (modules.n < MODULES) return &modules.all[modules.n++];
    for (uint32_t i = 0; i < MODULES; i++) {
        if (modules.all[i].end != modules.all[i].base) continue;
        modules.again++;
        return &modules.all[i];
    }
    return NULL;
}

static bool is_known(uintptr_t base, uintptr_t end)
{
    for (uint32_t i = 0; i < modules.n; i++)
        if (modules.all[i].base == base && modules.all[i].end == end) return true;
    return false;
}

static uintptr_t end_of(const struct dl_phdr_info *info)
{
    uintptr_t end = info->dlpi_addr;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        if (p->p_type == PT_LOAD && info->dlpi_addr + p->p_vaddr + p->p_memsz > end)
            end = info->dlpi_addr + p->p_vaddr + p->p_memsz;
    }
    return end;
}

/* When a module is told of: what the memory of those whose code came first held is past. */
typedef enum module_time { AT_START, LOADED, SEEN } module_time;

static int log_module(struct dl_phdr_info *info, size_t size, void *time_of)
{
    module_time time = *(module_time *)time_of;
    char path[PATH_MAX];
    const char *name = info->dlpi_name;
    uintptr_t end = end_of(info);
    (void)size;
    modules.adds = info->dlpi_adds;
    if (is_known(info->dlpi_addr, end)) return 0;
    if (!*name) { /* the executable comes first and has no name, the vdso later has none */
        ssize_t n = modules.n ? -1 : readlink("/proc/self/exe", path, sizeof path - 1);
        if (n <= 0) return 0;
        path[n] = 0;
        name = path;
    } else if (time != AT_START && realpath(name, path)) {
        name = path;
    }
    struct range *place = new_place();
    if (!place) return 0;
    *place = (struct range){info->dlpi_addr, end};
    ft_rt_log_bytes(FT_RAW_MODULE, info->dlpi_addr, name, strlen(name));
    log_constants(info);
    if (time != SEEN) log_data(info);
    return 0;
}

static int has_more(struct dl_phdr_info *info, size_t size, void *unused)
{
    (void)size;
    (void)unused;
    return info->dlpi_adds != modules.adds ? 2 : 1;
}

void ft_rt_log_library(uintptr_t pc)
{
    for (uint32_t i = 0; i < modules.n; i++)
        if (pc >= modules.all[i].base && pc < modules.all[i].end) return;
    bool more = modules.n && dl_iterate_phdr(has_more, NULL) == 2;
    module_time seen = SEEN;
    if (more) dl_iterate_phdr(log_module, &seen);
}

enum { NEW = 64 };

typedef struct loaded {
    struct dl_phdr_info all[NEW];
    uint32_t n;
} loaded;

static int find_loaded(struct dl_phdr_info *info, size_t size, void *context)
{
    loaded *l = context;
    (void)size;
    if (l->n < NEW && !is_known(info->dlpi_addr, end_of(info))) l->all[l->n++] = *info;
    return 0;
}

/* The dynamic linker's lock is perhaps this thread's: so the baton is waited for behind the look.
 */
void ft_rt_log_loaded(void)
{
    loaded found = {.n = 0};
    module_time time = LOADED;
    if (!modules.n || dl_iterate_phdr(has_more, NULL) != 2) return;
    dl_iterate_phdr(find_loaded, &found);
    ft_rt_thread *self = ft_rt_enter();
    if (!self) return;
    for (uint32_t i = 0; ft_rt_logging && i < found.n; i++)
        log_module(&found.all[i], sizeof found.all[i], &time);
    ft_rt_leave(self);
}

enum { BITS = 64 };

/* By their places in the table. */
typedef struct present {
    uint64_t bits[MODULES / BITS];
    uint32_t n; /* of the table, when the look began */
} present;

static int find_present(struct dl_phdr_info *info, size_t size, void *context)
{
    present *p = context;
    uintptr_t end = end_of(info);
    (void)size;
    for (uint32_t i = 0; i < p->n; i++)
        if (modules.all[i].base == info->dlpi_addr && modules.all[i].end == end)
            p->bits[i / BITS] |= UINT64_C(1) << i % BITS;
    return 0;
}

void ft_rt_log_unloaded(void (*gone)(uintptr_t address, size_t size))
{
    present now = {.n = modules.n};
    uint32_t again = modules.again;
    ft_rt_lend(ft_rt_self); /* the dynamic linker's lock */
    dl_iterate_phdr(find_present, &now);
    ft_rt_take_back(ft_rt_self);
    if (modules.again != again) return; /* the look is of other libraries: the next one tells */
    for (uint32_t i = 0; i < now.n; i++) {
        struct range *r = &modules.all[i];
        if (r->end == r->base || now.bits[i / BITS] >> i % BITS & 1) continue;
        gone(r->base, r->end - r->base);
        r->end = r->base;
    }
}

/* Of a file with a ring that is all; behind it lies the ring again. */
static size_t mapped_size(const ft_raw_header *header)
{
    bool whole = !header->ring || header->feed;
    return whole ? header->limit + header->feed : FT_RAW_PAGE + 2 * header->ring;
}

static bool map_file(const ft_raw_header *header, int fd)
{
    void *at = ft_rt_away(header->limit + header->feed);
    int flags = MAP_SHARED | MAP_NORESERVE, access = PROT_READ | PROT_WRITE;
    void *all = mmap(at, mapped_size(header), access, flags, fd, 0);
    if (all == MAP_FAILED) return false;
    ft_rt_header = all;
    unsigned char *behind = (unsigned char *)all + FT_RAW_PAGE + header->ring;
    return !header->ring || mmap(behind, header->ring, access, MAP_SHARED | MAP_FIXED, fd,
                                 FT_RAW_PAGE) != MAP_FAILED;
}

/* Where it is in nobody's way: the program's own have the numbers that they have without us. */
static int open_aside(const char *path)
{
    int low = open(path, O_RDWR | O_CLOEXEC);
    int fd = low < 0 ? -1 : fcntl(low, F_DUPFD_CLOEXEC, AWAY);
    if (fd < 0) return low;
    close(low);
    return fd;
}

/* Whoever waits for the program tells that. */
static void end_unmapped(ft_raw_header *header, int fd)
{
    header->end = FT_RAW_END_SPACE;
    ssize_t written = FT_REAL(pwrite)(fd, header, sizeof *header, 0);
    (void)written;
}

static bool map_log(const char *path)
{
    ft_raw_header header;
    struct stat now;
    int fd = open_aside(path);
    if (fd < 0) return false;
    bool ours = read(fd, &header, sizeof header) == sizeof header &&
                !memcmp(header.magic, FT_RAW_MAGIC, sizeof header.magic) && !header.started;
    bool mapped = ours && map_file(&header, fd);
    if (ours && !mapped) end_unmapped(&header, fd);
    if (!mapped) {
        close(fd);
        return false;
    }
    ft_rt_out.fd = fd;
    if (!FT_REAL(fstat)(fd, &now)) log_file.device = now.st_dev, log_file.node = now.st_ino;
    return true;
}

static void start_log(void)
{
    ft_rt_out.start = (unsigned char *)ft_rt_header + FT_RAW_PAGE;
    ft_rt_out.end = ft_rt_out.made = ft_rt_out.ready = ft_rt_out.start;
    ft_rt_out.origin = (uintptr_t)ft_rt_out.start;
    ft_rt_out.at = ft_rt_out.enough = (uint64_t *)(void *)ft_rt_out.start;
    ft_rt_sites_start();
}

/* Where libraries are looked for first: a script that starts a program in its build's folder says
 * so. */
static size_t library_path(char *words, size_t room)
{
    static const char name[] = "LD_LIBRARY_PATH";
    const char *value = getenv(name);
    if (!value || !*value || strlen(value) > room - sizeof name - 1) return 0;
    memcpy(words, name, sizeof name);
    words[sizeof name - 1] = '=';
    memcpy(words + sizeof name, value, strlen(value) + 1);
    return sizeof name + strlen(value) + 1;
}

/* A script may have started the program with other words than `foretell record` was given. */
static void log_arguments(void)
{
    char words[1 << 14];
    size_t n = library_path(words, sizeof words / 2);
    ssize_t got = 0;
    int fd = FT_REAL(open)("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    do {
        n += (size_t)got;
        got = fd < 0 ? -1 : FT_REAL(read)(fd, words + n, sizeof words - n);
    } while (got > 0);
    if (fd >= 0) close(fd);
    if (n && n < sizeof words) ft_rt_log_bytes(FT_RAW_ARGUMENTS, 0, words, n);
}

bool ft_rt_log_open(void)
{
    const char *path = getenv(FT_RAW_VARIABLE);
    if (!path || !map_log(path)) return false;
    start_log();
    ft_rt_header->started = 1;
    if (ft_rt_header->replay) {
        ft_rt_replaying = true;
        ft_rt_replay_start((unsigned char *)ft_rt_header + FT_RAW_PAGE);
        return true;
    }
    if (ft_rt_header->feed) ft_rt_replay_start((unsigned char *)ft_rt_header + ft_rt_header->limit);
    ft_rt_header->built = ft_sym_built();
    if (ft_rt_header->symbolic && !ft_rt_header->built) {
        ft_rt_header->end = FT_RAW_END_REBUILD;
        _exit(REBUILD);
    }
    ft_rt_logging = true;
    (void)ft_rt_site_of(ft_rt_key(NULL, FT_RAW_LEAVE)); /* FT_RAW_LEAVE_SITE */
    if (ft_rt_header->symbolic) ft_sym_start();
    module_time start = AT_START;
    dl_iterate_phdr(log_module, &start);
    log_arguments();
    return ft_rt_logging;
}

/* What is still to be written says it. */
void ft_rt_tell_line(void)
{
    const FILE *out = stdout;
    bool waits = out->_IO_write_ptr > out->_IO_write_base;
    if (ft_rt_header) ft_rt_header->open_line = waits && out->_IO_write_ptr[-1] != '\n';
}

void ft_rt_log_end(ft_raw_end why)
{
    if (!ft_rt_logging) return;
    ft_rt_logging = false;
    ft_rt_hot = FT_RT_NO_THREAD;
    ft_rt_out.enough = (uint64_t *)(void *)ft_rt_out.start;
    ft_rt_header->end = (uint32_t)why;
}
