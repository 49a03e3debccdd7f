#include <fcntl.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "runtime.h"
#include "trace/event.h"

/* Space in the file is taken ahead in steps: a full disk is seen here and not as a signal. */
enum { STEP = 16 << 20, SITES = 1 << 20, MARGIN = 1 << 12, CHUNK = 1 << 16, VARINT = 10 };

ft_raw_header *ft_rt_header;
bool ft_rt_logging;

typedef struct site {
    uintptr_t pc;
    uint32_t id;
} site;

static struct {
    int fd;
    unsigned char *start, *at, *end; /* end: of the space that is taken */
    site *sites;                     /* by hash of the pc */
    uintptr_t *last;                 /* by id */
    uint32_t n_sites;
    uint32_t thread; /* of the last TURN */
} out = {.fd = -1};

static bool take_space(void)
{
    size_t have = (size_t)(out.end - (unsigned char *)ft_rt_header);
    size_t size = have + STEP > ft_rt_header->limit ? ft_rt_header->limit : have + STEP;
    if (size <= have || (size_t)(out.end - out.at) + (size - have) < MARGIN) {
        ft_rt_log_end(FT_RAW_END_LIMIT);
        return false;
    }
    if (posix_fallocate(out.fd, (off_t)have, (off_t)(size - have))) {
        ft_rt_log_end(FT_RAW_END_DISK);
        return false;
    }
    out.end = (unsigned char *)ft_rt_header + size;
    return true;
}

static bool has_room(size_t bytes)
{
    if (!ft_rt_logging) {
        if (ft_rt_header->end != FT_RAW_END_EXIT) ft_rt_header->ignored++;
        return false;
    }
    return (size_t)(out.end - out.at) >= bytes + MARGIN || take_space();
}

static void put(uint64_t value)
{
    while (value >= 0x80) {
        *out.at++ = (unsigned char)(value | 0x80);
        value >>= 7;
    }
    *out.at++ = (unsigned char)value;
}

static void put_signed(int64_t value)
{
    put(((uint64_t)value << 1) ^ (value < 0 ? UINT64_MAX : 0));
}

static void put_bytes(const void *bytes, size_t n)
{
    const unsigned char *from = bytes;
    put(n);
    for (size_t i = 0; i < n; i++) *out.at++ = from[i];
}

/* What stands before `used` is whole: the process may die anywhere. */
static void commit(void)
{
    __atomic_store_n(&ft_rt_header->used, (uint64_t)(out.at - out.start), __ATOMIC_RELEASE);
}

static void put_turn(void)
{
    if (!ft_rt_self || out.thread == ft_rt_self->id) return;
    out.thread = ft_rt_self->id;
    *out.at++ = FT_RAW_TURN;
    put(out.thread);
}

void ft_rt_log(ft_raw_operation operation, const uint64_t *operands, uint32_t n)
{
    if (ft_rt_replaying) {
        ft_rt_replay_record(ft_rt_self, operation, operands);
        return;
    }
    if (!has_room((n + 2) * VARINT)) return;
    put_turn();
    *out.at++ = (unsigned char)operation;
    for (uint32_t i = 0; i < n; i++) put(operands[i]);
    commit();
}

void ft_rt_log_bytes(ft_raw_operation operation, uint64_t operand, const void *bytes, size_t n)
{
    if (ft_rt_replaying) {
        ft_rt_replay_record(ft_rt_self, operation, &operand);
        return;
    }
    if (!has_room(n + 4 * VARINT)) return;
    put_turn();
    *out.at++ = (unsigned char)operation;
    put(operand);
    put_bytes(bytes, n);
    commit();
}

static void put_access(ft_raw_form form, unsigned code, uint32_t id, uintptr_t address)
{
    put_turn();
    *out.at++ = (unsigned char)(FT_RAW_ACCESS + 8 * (unsigned)form + code);
    put(id);
    put_signed((int64_t)(address - out.last[id]));
    out.last[id] = address;
}

static void replay_access(ft_raw_form form, uint32_t id)
{
    static const uint32_t kinds[] = {
        [FT_RAW_FORM_READ] = FT_EVENT_READ,        [FT_RAW_FORM_WRITE] = FT_EVENT_WRITE,
        [FT_RAW_FORM_ATOMIC_READ] = FT_EVENT_READ, [FT_RAW_FORM_ATOMIC_WRITE] = FT_EVENT_WRITE,
        [FT_RAW_FORM_UPDATE] = FT_EVENT_RMW,
    };
    ft_rt_replay_step(ft_rt_self, kinds[form], id);
}

void ft_rt_log_access(ft_raw_form form, uint32_t id, uintptr_t address, uint32_t size,
                      int64_t value, int64_t written)
{
    if (ft_rt_replaying) {
        replay_access(form, id);
        return;
    }
    if (!has_room(5 * VARINT)) return;
    put_access(form, (unsigned)__builtin_ctz(size), id, address);
    put_signed(value);
    if (form == FT_RAW_FORM_UPDATE) put_signed(written);
    commit();
}

static int64_t value_of(const void *content, uint32_t size)
{
    switch (size) {
    case 1:
        return *(const volatile int8_t *)content;
    case 2:
        return *(const volatile int16_t *)content;
    case 4:
        return *(const volatile int32_t *)content;
    default:
        return *(const volatile int64_t *)content;
    }
}

void ft_rt_log_memory(ft_raw_form form, uint32_t id, uintptr_t address, uint64_t size,
                      const void *content)
{
    if (ft_rt_replaying) {
        replay_access(form, id);
        return;
    }
    if (size <= 8 && (size & (size - 1)) == 0) {
        ft_rt_log_access(form, id, address, (uint32_t)size, value_of(content, (uint32_t)size), 0);
        return;
    }
    if (!has_room(5 * VARINT + FT_RAW_CONTENT)) return;
    put_access(form, FT_RAW_RANGE, id, address);
    put(size);
    put_bytes(content, size <= FT_RAW_CONTENT ? size : 0);
    commit();
}

uint32_t ft_rt_site(const void *pc)
{
    uintptr_t key = (uintptr_t)pc;
    for (uint64_t at = (key * 0x9E3779B97F4A7C15u) >> 44;; at = (at + 1) % SITES) {
        site *s = &out.sites[at];
        if (s->pc == key) return s->id;
        if (s->pc) continue;
        if (out.n_sites == SITES / 2) {
            ft_rt_log_end(FT_RAW_END_SITES);
            return 0;
        }
        s->pc = key;
        s->id = out.n_sites++;
        if (ft_rt_replaying) out.last[s->id] = key;
        FT_RT_LOG(SITE, key);
        return s->id;
    }
}

const void *ft_rt_site_pc(uint32_t id)
{
    return (const void *)out.last[id]; /* no addresses are kept there while replaying */
}

static void log_held(ft_rt_thread *self)
{
    const ft_rt_held *h = &self->held;
    if (h->size) ft_rt_log_memory(FT_RAW_FORM_READ, h->site, h->address, h->size, h->content);
    self->held.size = 0;
}

/* Was the write's memory written after the hook of the held read? Then the read came first. */
static bool is_copy(const ft_rt_thread *self, const ft_rt_pending *write)
{
    const unsigned char *now = (const unsigned char *)write->address;
    if (write->size > FT_RAW_CONTENT) return true;
    for (uint32_t i = 0; i < write->size; i++)
        if (now[i] != self->held.before[i]) return true;
    return false;
}

void ft_rt_flush(ft_rt_thread *self)
{
    ft_rt_pending p = self->pending;
    if (!p.size) return;
    self->pending.size = 0;
    if (self->held.size && is_copy(self, &p)) {
        ft_rt_log(FT_RAW_SWAPPED, NULL, 0);
        log_held(self);
    }
    ft_rt_log_memory(FT_RAW_FORM_WRITE, p.site, p.address, p.size, (const void *)p.address);
    log_held(self);
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
        ssize_t n = info->dlpi_adds && out.n_sites == 0 && out.at == out.start
                        ? readlink("/proc/self/exe", path, sizeof path - 1)
                        : -1;
        if (n <= 0) return 0;
        path[n] = 0;
        name = path;
    }
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
    out.fd = fd;
    return true;
}

bool ft_rt_log_open(void)
{
    const char *path = getenv(FT_RAW_VARIABLE);
    if (!path || !map_log(path)) return false;
    out.start = out.at = out.end = (unsigned char *)ft_rt_header + FT_RAW_PAGE;
    out.sites = ft_rt_map(SITES * sizeof *out.sites);
    out.last = ft_rt_map(SITES / 2 * sizeof *out.last);
    ft_rt_header->started = 1;
    if (ft_rt_header->replay) {
        ft_rt_replaying = true;
        ft_rt_replay_start();
        return true;
    }
    ft_rt_logging = true;
    dl_iterate_phdr(log_module, NULL);
    return ft_rt_logging;
}

void ft_rt_log_end(ft_raw_end why)
{
    if (!ft_rt_logging) return;
    ft_rt_logging = false;
    ft_rt_header->end = (uint32_t)why;
}
