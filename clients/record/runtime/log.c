#include <fcntl.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "hot.h"
#include "runtime.h"

/* Space in the file is taken ahead in steps: a full disk is seen here and not as a signal. */
enum { REBUILD = 2, STEP = 16 << 20, MARGIN = 1 << 12, CHUNK = 1 << 16, VARINT = 10 };

ft_raw_header *ft_rt_header;
bool ft_rt_logging;
struct ft_rt_out ft_rt_out = {.fd = -1};

static unsigned char *here(void)
{
    return ft_rt_out.start + ft_raw_used(ft_rt_header->mark);
}

static bool take_space(void)
{
    size_t have = (size_t)(ft_rt_out.end - (unsigned char *)ft_rt_header);
    size_t size = have + STEP > ft_rt_header->limit ? ft_rt_header->limit : have + STEP;
    if (size <= have || (size_t)(ft_rt_out.end - here()) + (size - have) < MARGIN) {
        ft_rt_log_end(FT_RAW_END_LIMIT);
        return false;
    }
    if (posix_fallocate(ft_rt_out.fd, (off_t)have, (off_t)(size - have))) {
        ft_rt_log_end(FT_RAW_END_DISK);
        return false;
    }
    ft_rt_out.end = (unsigned char *)ft_rt_header + size;
    ft_rt_out.enough = ft_rt_out.end - MARGIN - FT_RAW_LONGEST;
    return true;
}

static bool has_room(size_t bytes)
{
    if (!ft_rt_logging) {
        if (ft_rt_header->end != FT_RAW_END_EXIT) ft_rt_header->ignored++;
        return false;
    }
    return (size_t)(ft_rt_out.end - here()) >= bytes + MARGIN || take_space();
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

unsigned char *ft_rt_put_bytes(unsigned char *at, const void *bytes, size_t n)
{
    const unsigned char *from = bytes;
    at = ft_rt_put(at, n);
    for (size_t i = 0; i < n; i++) *at++ = from[i];
    return at;
}

static unsigned char *put_run(unsigned char *at, uint32_t run)
{
    if (run > FT_RAW_EVENT - FT_RAW_ONE) {
        *at++ = FT_RAW_RUN;
        return ft_rt_put(at, run);
    }
    if (run) *at++ = (unsigned char)(FT_RAW_ONE - 1 + run);
    return at;
}

static unsigned char *put_turn(unsigned char *at)
{
    if (!ft_rt_self || ft_rt_out.thread == ft_rt_self->id) return at;
    ft_rt_out.thread = ft_rt_self->id;
    *at++ = FT_RAW_TURN;
    return ft_rt_put(at, ft_rt_out.thread);
}

unsigned char *ft_rt_open_record(size_t bytes)
{
    if (!has_room(bytes + FT_RAW_LONGEST)) return NULL;
    return put_turn(put_run(here(), ft_raw_run(ft_rt_header->mark)));
}

/* What stands before the mark is whole: the process may die anywhere. */
void ft_rt_close_record(unsigned char *at)
{
    uint64_t used = (uint64_t)(at - ft_rt_out.start);
    __atomic_store_n(&ft_rt_header->mark, used << FT_RAW_RUN_BITS, __ATOMIC_RELEASE);
}

void ft_rt_end_run(void)
{
    unsigned char *at = ft_rt_open_record(0);
    if (at) ft_rt_close_record(at);
}

static void follow_calls(ft_raw_operation operation)
{
    bool step = FT_RAW_STEPS >> operation & 1;
    if (step && ft_rt_self && ft_rt_self->moved) ft_rt_follow_calls(ft_rt_self);
}

void ft_rt_log(ft_raw_operation operation, const uint64_t *operands, uint32_t n)
{
    if (ft_rt_replaying) {
        ft_rt_replay_record(ft_rt_self, operation, operands);
        return;
    }
    follow_calls(operation);
    unsigned char *at = ft_rt_open_record((n + 1) * VARINT);
    if (!at) return;
    *at++ = (unsigned char)operation;
    for (uint32_t i = 0; i < n; i++) at = ft_rt_put(at, operands[i]);
    ft_rt_close_record(at);
}

void ft_rt_log_bytes(ft_raw_operation operation, uint64_t operand, const void *bytes, size_t n)
{
    if (ft_rt_replaying) {
        ft_rt_replay_record(ft_rt_self, operation, &operand);
        return;
    }
    follow_calls(operation);
    unsigned char *at = ft_rt_open_record(n + 3 * VARINT);
    if (!at) return;
    *at++ = (unsigned char)operation;
    at = ft_rt_put(at, operand);
    ft_rt_close_record(ft_rt_put_bytes(at, bytes, n));
}

/* What a module's writable memory holds before the program starts. */
static void log_data(const struct dl_phdr_info *info)
{
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        if (p->p_type != PT_LOAD || !(p->p_flags & PF_W)) continue;
        uint64_t from = info->dlpi_addr + p->p_vaddr, at = from, end = from + p->p_filesz;
        FT_RT_LOG(ZERO, from, p->p_memsz);
        for (uint64_t n; at < end; at += n) {
            n = end - at < CHUNK ? end - at : CHUNK;
            ft_rt_log_bytes(FT_RAW_MEMORY, at, (const void *)at, n);
        }
    }
}

static int log_module(struct dl_phdr_info *info, size_t size, void *data)
{
    char path[FT_RAW_PAGE / 2];
    const char *name = info->dlpi_name;
    (void)size;
    (void)data;
    if (!*name) { /* the executable comes first and has no name, the vdso later has none */
        ssize_t n = ft_rt_out.n_modules ? -1 : readlink("/proc/self/exe", path, sizeof path - 1);
        if (n <= 0) return 0;
        path[n] = 0;
        name = path;
    }
    ft_rt_out.n_modules++;
    ft_rt_log_bytes(FT_RAW_MODULE, info->dlpi_addr, name, strlen(name));
    log_data(info);
    return 0;
}

static bool map_log(const char *path)
{
    ft_raw_header header;
    int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0) return false;
    if (read(fd, &header, sizeof header) != sizeof header ||
        memcmp(header.magic, FT_RAW_MAGIC, sizeof header.magic) || header.started) {
        close(fd);
        return false;
    }
    void *all = mmap(NULL, header.limit, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
    if (all == MAP_FAILED) {
        close(fd);
        return false;
    }
    ft_rt_header = all;
    ft_rt_out.fd = fd;
    return true;
}

bool ft_rt_log_open(void)
{
    const char *path = getenv(FT_RAW_VARIABLE);
    if (!path || !map_log(path)) return false;
    ft_rt_out.start = ft_rt_out.end = ft_rt_out.enough =
        (unsigned char *)ft_rt_header + FT_RAW_PAGE;
    ft_rt_sites_start();
    ft_rt_header->started = 1;
    if (ft_rt_header->replay) {
        ft_rt_replaying = true;
        ft_rt_replay_start();
        return true;
    }
    ft_rt_header->built = ft_sym_built();
    if (ft_rt_header->symbolic && !ft_rt_header->built) {
        ft_rt_header->end = FT_RAW_END_REBUILD;
        _exit(REBUILD);
    }
    ft_rt_logging = true;
    ft_rt_site_of(ft_rt_key(NULL, FT_RAW_LEAVE)); /* FT_RAW_LEAVE_SITE */
    if (ft_rt_header->symbolic) ft_sym_start();
    dl_iterate_phdr(log_module, NULL);
    return ft_rt_logging;
}

void ft_rt_log_end(ft_raw_end why)
{
    if (!ft_rt_logging) return;
    ft_rt_logging = false;
    ft_rt_hot = FT_RT_NO_THREAD;
    ft_rt_out.enough = ft_rt_out.start;
    ft_rt_header->end = (uint32_t)why;
}
