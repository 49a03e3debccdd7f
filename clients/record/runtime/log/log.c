/* The log file: mapping it, room in it, and records of variable length. */
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

#include "libc/contract.h"
#include "libc/libc.h"
#include "log/hot.h"
#include "log/log.h"
#include "log/needs.h"
#include "raw/raw.h"
#include "state/thread.h"

/* Space in the file is taken ahead in steps: a full disk is seen here and not as a signal. Its
 * pages are made in windows, which costs less than a fault for each, and not too early: short
 * programs need few. */
enum { STEP = 8 << 20, MARGIN = 1 << 12, VARINT = 10, AWAY = 500 };
enum { LEAST_WINDOW = 1 << 16, WINDOW = 1 << 20, WAIT = 50000, WAITS = 100000 };

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

ft_raw_header *ft_rt_header;
bool ft_rt_logging, ft_rt_polling;
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

/* The program may have closed it, as programs do that close all descriptors, and opened a file of
 * its own under the number. */
static bool is_log_open(void)
{
    struct stat now;
    return !FT_REAL(fstat)(ft_rt_out.fd, &now) && now.st_dev == log_file.device &&
           now.st_ino == log_file.node;
}

/* Up to `to`, at most the ring's end. Old kernels do not know the advice; then each page is made
 * when it is first written. The same holds if the file was closed. */
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

/* The ring's start is mapped once more after its end. That gives a pending write time to get its
 * value before writing really goes back to the start. */
static void go_round(void)
{
    uint64_t ring = ft_rt_header->ring;
    unsigned char *at = (unsigned char *)ft_rt_out.at;
    bool pending = ft_rt_self && ft_rt_self->late.value;
    if (at < ft_rt_out.start + ring + (pending ? ring / 2 : 0)) return;
    if (pending) ft_rt_end_late(ft_rt_self);
    assert(!pending || !ft_rt_self->late.value); /* its place would be another one now */
    ft_rt_out.at -= ring / sizeof *ft_rt_out.at;
    ft_rt_out.origin -= ring;
}

/* A reader outside of the program's container may exist and be invisible, so the program waits a
 * while anyway. */
static bool has_reader(void)
{
    pid_t maker = (pid_t)ft_rt_header->maker;
    return syscall(SYS_kill, maker, 0) == 0 || errno != ESRCH;
}

/* The room in the ring, at least `need`; 0: there will never be enough. */
static uint64_t wait_for_room(size_t need)
{
    const struct timespec pause = {.tv_nsec = WAIT};
    for (uint32_t waits = 0;; waits++) {
        uint64_t taken = __atomic_load_n(&ft_rt_header->taken, __ATOMIC_ACQUIRE);
        assert(taken <= used()); /* the maker takes what is there */
        uint64_t room = ft_rt_header->ring - (used() - taken);
        if (room >= need + LEAST_WINDOW) return room;
        if (ft_rt_header->full || (waits > WAITS && !has_reader())) return 0;
        syscall(SYS_nanosleep, &pause, NULL);
    }
}

static bool make_window(size_t need)
{
    if (ft_rt_header->ring) go_round();
    assert(used() <= ft_rt_header->limit - FT_RAW_PAGE);
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
    assert(room >= need && most >= need);
    uint64_t size = used();
    if (size < LEAST_WINDOW) size = LEAST_WINDOW;
    if (size > WINDOW) size = WINDOW;
    if (size < need) size = need;
    if (size > room) size = room;
    if (size > most) size = most;
    if (!make_pages((unsigned char *)ft_rt_out.at + size)) return false;
    ft_rt_out.ready = (unsigned char *)ft_rt_out.at + size;
    ft_rt_out.enough = (uint64_t *)(void *)(ft_rt_out.ready - MARGIN - FT_RAW_LONGEST);
    assert(ft_rt_out.enough > ft_rt_out.at);
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
    assert(!has || before_end() >= bytes + MARGIN);
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
    assert(ft_rt_self->id < FT_RT_THREADS);
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
    FT_REQUIRE(at >= (unsigned char *)ft_rt_out.at && at < ft_rt_out.ready);
    if (ft_rt_polling && ft_rt_self) ft_rt_polls_meet((const unsigned char *)ft_rt_out.at, at);
    ft_rt_out.at = (uint64_t *)(void *)whole(at);
    assert(used() >= ft_rt_header->mark); /* published records stay as they are */
    if (!ft_rt_self || !ft_rt_self->late.value) ft_rt_publish(ft_rt_out.at);
}

/* A thread's records are written by itself, or for it: by the watchdog when it sleeps, and when it
 * is stuck. */
static bool may_write(void)
{
    return !ft_rt_self || ft_rt_self->state == FT_RT_RUNNING || ft_rt_self->state == FT_RT_BLOCKED;
}

void ft_rt_log(ft_raw_operation operation, const uint64_t *operands, uint32_t n)
{
    FT_REQUIRE(operation < FT_RAW_OPERATIONS);
    assert(may_write());
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
    FT_REQUIRE(operation < FT_RAW_OPERATIONS);
    assert(may_write());
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

/* A file with a ring is mapped up to the ring's end, and the ring once more after it. */
static size_t mapped_size(const ft_raw_header *header)
{
    bool whole = !header->ring || header->feed || header->follow;
    return whole ? header->limit + header->feed + header->follow : FT_RAW_PAGE + 2 * header->ring;
}

static bool map_file(const ft_raw_header *header, int fd)
{
    void *at = ft_rt_away(header->limit + header->feed + header->follow);
    int flags = MAP_SHARED | MAP_NORESERVE, access = PROT_READ | PROT_WRITE;
    void *all = mmap(at, mapped_size(header), access, flags, fd, 0);
    if (all == MAP_FAILED) return false;
    ft_rt_header = all;
    unsigned char *behind = (unsigned char *)all + FT_RAW_PAGE + header->ring;
    return !header->ring || mmap(behind, header->ring, access, MAP_SHARED | MAP_FIXED, fd,
                                 FT_RAW_PAGE) != MAP_FAILED;
}

/* Under a high number, so that the program's own descriptors get the same numbers as without the
 * recorder. */
static int open_aside(const char *path)
{
    int low = open(path, O_RDWR | O_CLOEXEC);
    int fd = low < 0 ? -1 : fcntl(low, F_DUPFD_CLOEXEC, AWAY);
    if (fd < 0) return low;
    close(low);
    return fd;
}

/* `foretell record` reports it when the program has ended. */
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
    assert(!ft_rt_header->mark && !ft_rt_header->end);
    ft_rt_out.start = (unsigned char *)ft_rt_header + FT_RAW_PAGE;
    ft_rt_out.end = ft_rt_out.made = ft_rt_out.ready = ft_rt_out.start;
    ft_rt_out.origin = (uintptr_t)ft_rt_out.start;
    ft_rt_out.at = ft_rt_out.enough = (uint64_t *)(void *)ft_rt_out.start;
    ft_rt_sites_start();
}

bool ft_rt_log_open(void)
{
    const char *path = getenv(FT_RAW_VARIABLE);
    if (!path || !map_log(path)) return false;
    start_log();
    ft_rt_header->started = 1;
    return true;
}

void ft_rt_log_begin(void)
{
    assert(ft_rt_header && !ft_rt_header->replay && !ft_rt_header->end);
    ft_rt_logging = true;
    (void)ft_rt_site_of(ft_rt_key(NULL, FT_RAW_LEAVE)); /* FT_RAW_LEAVE_SITE */
}

/* The text that waits in the buffer decides. */
void ft_rt_log_open_line(void)
{
    const FILE *out = stdout;
    bool waits = out->_IO_write_ptr > out->_IO_write_base;
    if (ft_rt_header) ft_rt_header->open_line = waits && out->_IO_write_ptr[-1] != '\n';
}

void ft_rt_log_end(ft_raw_end why)
{
    FT_REQUIRE(why > FT_RAW_END_OPEN && why < FT_RAW_ENDS);
    if (!ft_rt_logging) return;
    ft_rt_logging = false;
    ft_rt_hot = FT_RT_NO_THREAD;
    ft_rt_out.enough = (uint64_t *)(void *)ft_rt_out.start;
    ft_rt_header->end = (uint32_t)why;
}
