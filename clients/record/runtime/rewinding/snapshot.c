/* Everything here lies in kept memory behind one pointer, which is set before the snapshot. The
 * content saved is sealed: no run can change it. */
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <malloc.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "libc/contract.h"
#include "libc/libc.h"
#include "raw/raw.h"
#include "rewinding/contexts.h"
#include "rewinding/kept.h"
#include "rewinding/mappings.h"
#include "rewinding/snapshot.h"

enum { REGIONS = 1024, RED_ZONE = 128, FOUND = 256, AFRESH = 256 };

/* Linux 6.7; newer than Debian 12's headers. */
typedef struct page_region {
    uint64_t start, end, categories;
} page_region;
typedef struct scan_argument {
    uint64_t size, flags, start, end, walk_end, found, n_found, most;
    uint64_t inverted, all_of, any_of, reported;
} scan_argument;
#define PAGEMAP_SCAN _IOWR('f', 16, scan_argument)
enum { IS_WPALLOWED = 1, IS_WRITTEN = 2, WP_MATCHING = 1, CHECK_WPASYNC = 2, WP_ASYNC = 1 << 15 };
#ifndef UFFD_USER_MODE_ONLY
#define UFFD_USER_MODE_ONLY 1
#endif

/* A stretch of memory in the snapshot. Between the stretches of a tracked mapping lie pages that
 * were not there: they are zeros. */
typedef struct region {
    char *from, *to;
    const char *saved; /* NULL: zeros */
    bool tracked;
} region;

static struct snapshot {
    uint32_t n;
    bool over; /* the regions do not fit */
    region regions[REGIONS];
    ft_rt_snapshot_size sizes;
    int userfaults, pagemap;
    uint64_t rewinds;
    uintptr_t sp; /* of the first thread */
    void *brk;
    uint64_t mapped; /* a digest of the mappings, for the audit */
    ft_rt_maps maps;
    uint64_t pages[FOUND];
    page_region found[FOUND];
} * snap;

void ft_rt_snapshot_prepare(void)
{
    enum { NEVER = 1 << 30 };
    mallopt(M_ARENA_MAX, 1);
    mallopt(M_MMAP_MAX, 0);
    mallopt(M_TRIM_THRESHOLD, NEVER);
}

/* ---- finding the memory */

static void add(uintptr_t from, uintptr_t to, bool zeros, bool tracked)
{
    FT_REQUIRE(from < to);
    if (snap->n == REGIONS) {
        snap->over = true;
        return;
    }
    /* Where the content is stored is known when all regions are. */
    snap->regions[snap->n++] =
        (region){(char *)from, (char *)to, zeros ? NULL : (char *)from, tracked};
    if (!zeros) snap->sizes.saved += to - from;
    if (!tracked) snap->sizes.whole += to - from;
}

/* Is the page there? The content of `pages` begins with the page `first`. */
static bool is_there(uintptr_t page, uintptr_t first)
{
    enum { SWAPPED = 62 };
    return snap->pages[page - first] >> SWAPPED;
}

/* A large mapping of no file: the pages that are there, and zeros between them. */
static bool add_pages(uintptr_t from, uintptr_t to)
{
    uintptr_t begin = from, first = from / FT_RAW_PAGE, end = to / FT_RAW_PAGE;
    bool there = false;
    for (uintptr_t page = first, known = first; page < end; page++) {
        if (page == known) {
            size_t n = end - page < FOUND ? end - page : FOUND;
            long size = (long)(n * sizeof *snap->pages), at = (long)(page * sizeof *snap->pages);
            if (syscall(SYS_pread64, snap->pagemap, snap->pages, size, at) != size) return false;
            known += n;
            first = page;
        }
        bool now = is_there(page, first);
        uintptr_t here = page * FT_RAW_PAGE;
        if (now != there && here > begin) {
            add(begin, here, !there, true);
            begin = here;
        }
        there = now;
    }
    add(begin, to, !there, true);
    return true;
}

static bool add_part(uintptr_t from, uintptr_t to, bool file)
{
    if (!file && to - from >= FT_RT_SPARSE) return add_pages(from, to);
    add(from, to, false, snap->sizes.tracks);
    return true;
}

/* Without the kept pieces, which may share a line of the list with each other. */
static bool add_mapping(const ft_rt_mapping *m)
{
    uintptr_t from = m->from, to = m->to;
    if (snap->sp >= from && snap->sp < to) {
        add(snap->sp - RED_ZONE, to, false, false);
        return true;
    }
    while (from < to) {
        uintptr_t kept = ft_rt_kept_until(from), next = from;
        if (kept) {
            from = kept < to ? kept : to;
            continue;
        }
        while (next < to && !ft_rt_kept_until(next)) next += FT_RAW_PAGE;
        if (!add_part(from, next, m->file)) return false;
        from = next;
    }
    return true;
}

static void add_contexts(void)
{
    uintptr_t from, to;
    for (uint32_t i = 0; i < FT_RT_CONTEXTS; i++)
        if (ft_rt_contexts_used(i, &from, &to)) add(from, to, false, false);
}

static bool add_all(void)
{
    ft_rt_mapping m;
    uintptr_t pool, end;
    bool fine = ft_rt_maps_open(&snap->maps);
    ft_rt_contexts_pool(&pool, &end);
    while (fine && ft_rt_maps_next(&snap->maps, &m)) {
        bool stack = m.from >= pool && m.to <= end;
        if (m.writable && !m.shared && !stack) fine = add_mapping(&m);
    }
    if (snap->maps.fd >= 0) ft_rt_maps_close(&snap->maps);
    add_contexts();
    return fine && !snap->over;
}

/* ---- written pages */

/* So that the program's own descriptors get the numbers that they would have. */
static int aside(int low)
{
    enum { AWAY = 500 };
    int fd = low < 0 ? -1 : (int)syscall(SYS_fcntl, low, F_DUPFD_CLOEXEC, AWAY);
    if (fd >= 0) syscall(SYS_close, low);
    return fd < 0 ? low : fd;
}

static void scan(scan_argument *a, uintptr_t from, uintptr_t to, uint64_t flags)
{
    *a = (scan_argument){.size = sizeof *a,
                         .flags = flags,
                         .start = from,
                         .end = to,
                         .found = (uintptr_t)snap->found,
                         .n_found = FOUND,
                         .all_of = IS_WRITTEN,
                         .reported = IS_WRITTEN};
}

static bool protect(uintptr_t from, uintptr_t to)
{
    scan_argument a;
    scan(&a, from, to, WP_MATCHING | CHECK_WPASYNC);
    a.found = a.n_found = 0;
    return syscall(SYS_ioctl, snap->pagemap, PAGEMAP_SCAN, &a) >= 0;
}

/* The regions that touch each other, from the i-th on, as one stretch; the first one behind it. */
static uint32_t stretch(uint32_t i, uintptr_t *from, uintptr_t *to)
{
    *from = (uintptr_t)snap->regions[i].from;
    do *to = (uintptr_t)snap->regions[i++].to;
    while (i < snap->n && snap->regions[i].tracked && (uintptr_t)snap->regions[i].from == *to);
    return i;
}

/* Does the kernel say which pages were written? The descriptor stays open: closing it would end the
 * tracking. */
static bool can_track(void)
{
    struct uffdio_api api = {.api = UFFD_API, .features = WP_ASYNC};
    snap->userfaults = aside((int)syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY));
    return snap->userfaults >= 0 && !syscall(SYS_ioctl, snap->userfaults, UFFDIO_API, &api);
}

/* Copying a short stretch takes less time than to ask about it. */
static void leave_short_stretches(void)
{
    for (uint32_t i = 0, next; i < snap->n; i = next) {
        uintptr_t from, to;
        next = i + 1;
        if (!snap->regions[i].tracked) continue;
        next = stretch(i, &from, &to);
        if (to - from >= FT_RT_TRACKED) continue;
        for (uint32_t k = i; k < next; k++) snap->regions[k].tracked = false;
        snap->sizes.whole += to - from;
    }
}

static bool track(void)
{
    for (uint32_t i = 0; i < snap->n;) {
        uintptr_t from, to;
        if (!snap->regions[i].tracked) {
            i++;
            continue;
        }
        i = stretch(i, &from, &to);
        struct uffdio_register r = {.range = {from, to - from}, .mode = UFFDIO_REGISTER_MODE_WP};
        if (syscall(SYS_ioctl, snap->userfaults, UFFDIO_REGISTER, &r) || !protect(from, to))
            return false;
    }
    return true;
}

/* ---- saving */

/* Stacks of the pool may become accessible, and the first thread's may grow: they stay so. */
static bool may_change(const ft_rt_mapping *m)
{
    uintptr_t pool, end;
    ft_rt_contexts_pool(&pool, &end);
    return (m->from >= pool && m->to <= end) || (snap->sp >= m->from && snap->sp < m->to);
}

static uint64_t digest(void)
{
    enum { PRIME = 0x9E3779B1 };
    ft_rt_mapping m;
    uint64_t sum = 0;
    if (!ft_rt_maps_open(&snap->maps)) return 0;
    while (ft_rt_maps_next(&snap->maps, &m)) {
        uint64_t rights = (uint64_t)m.writable << 1 | m.shared;
        if (!may_change(&m)) sum = ((sum ^ m.from) * PRIME ^ m.to) * PRIME ^ rights;
    }
    ft_rt_maps_close(&snap->maps);
    return sum;
}

static bool save(void)
{
    char *store = ft_rt_kept(snap->sizes.saved);
    if (!store) return false;
    const char *start = store;
    for (uint32_t i = 0; i < snap->n; i++) {
        region *r = &snap->regions[i];
        size_t size = (size_t)(r->to - r->from);
        if (!r->saved) continue;
        r->saved = memcpy(store, r->from, size);
        store += size;
    }
    assert((size_t)(store - start) == snap->sizes.saved);
    ft_rt_kept_seal(start, snap->sizes.saved);
    return true;
}

const char *ft_rt_snapshot_take(uintptr_t sp, bool tracks)
{
    FT_REQUIRE(!snap);
    snap = ft_rt_kept(sizeof *snap);
    if (!snap) return "there is no memory for the snapshot (ulimit -v)";
    snap->pagemap =
        aside((int)syscall(SYS_openat, AT_FDCWD, "/proc/self/pagemap", O_RDONLY | O_CLOEXEC));
    snap->userfaults = -1;
    snap->sp = sp;
    snap->sizes.tracks = tracks && can_track();
    if (!add_all())
        return snap->over ? "the program has too many mappings" : "/proc/self cannot be read";
    snap->sizes.regions = snap->n;
    leave_short_stretches();
    if (!save()) return "there is no memory for the snapshot (ulimit -v)";
    snap->brk = (void *)syscall(SYS_brk, 0);
    snap->sizes.tracks = snap->sizes.tracks && track();
    snap->mapped = digest();
    return NULL;
}

/* ---- rewinding */

static void put_back(const region *r, char *from, char *to)
{
    size_t size = (size_t)(to - from);
    snap->sizes.copied += size;
    if (r->saved)
        memcpy(from, r->saved + (from - r->from), size);
    else
        memset(from, 0, size);
}

/* Returns the first region that may touch what is found next. */
static uint32_t put_back_found(uint32_t i, const page_region *found)
{
    char *from = (char *)found->start, *to = (char *)found->end;
    while (i < snap->n && snap->regions[i].to <= from) i++;
    for (;; i++) {
        const region *r = &snap->regions[i];
        if (i == snap->n || r->from >= to) return i;
        put_back(r, from > r->from ? from : r->from, to < r->to ? to : r->to);
        if (r->to >= to) return i;
    }
}

/* Pages stay unprotected once a run has written them: the next run would pay a fault for each. Now
 * and then all are protected afresh, so that those of one large run are not copied forever. */
static bool put_back_written(uint32_t first, uintptr_t from, uintptr_t to)
{
    scan_argument a;
    bool afresh = snap->rewinds % AFRESH == 0;
    for (uint32_t i = first; from < to; from = a.walk_end) {
        scan(&a, from, to, 0);
        long n = syscall(SYS_ioctl, snap->pagemap, PAGEMAP_SCAN, &a);
        if (n < 0) return false;
        for (long k = 0; k < n; k++) i = put_back_found(i, &snap->found[k]);
    }
    return !afresh || protect((uintptr_t)snap->regions[first].from, to);
}

/* Without tracking: pages that were not there are cleared where there are any now. */
static void clear_if_there(const region *r)
{
    uintptr_t end = (uintptr_t)r->to / FT_RAW_PAGE, page = (uintptr_t)r->from / FT_RAW_PAGE;
    while (page < end) {
        size_t n = end - page < FOUND ? end - page : FOUND;
        long size = (long)(n * sizeof *snap->pages), at = (long)(page * sizeof *snap->pages);
        long got = syscall(SYS_pread64, snap->pagemap, snap->pages, size, at);
        for (size_t k = 0; k < n; k++) {
            char *here = (char *)((page + k) * FT_RAW_PAGE);
            bool clean = got == size && !is_there(page + k, page);
            if (!clean) put_back(r, here, here + FT_RAW_PAGE);
        }
        page += n;
    }
}

static void rewind_untracked(const region *r)
{
    if (r->saved)
        put_back(r, r->from, r->to);
    else
        clear_if_there(r);
}

/* The break comes first: memory beyond it is gone then, and malloc takes new memory there for
 * zeros. (The C library's own idea of the break is ordinary memory.) */
void ft_rt_snapshot_rewind(void)
{
    FT_REQUIRE(snap && snap->brk);
    if ((void *)syscall(SYS_brk, 0) != snap->brk) syscall(SYS_brk, snap->brk);
    snap->sizes.copied = 0;
    snap->rewinds++;
    for (uint32_t i = 0; i < snap->n;) {
        uintptr_t from, to;
        const region *r = &snap->regions[i];
        if (!r->tracked || !snap->sizes.tracks) {
            rewind_untracked(r);
            i++;
            continue;
        }
        uint32_t first = i;
        i = stretch(first, &from, &to);
        bool known = put_back_written(first, from, to);
        assert(known);
    }
}

bool ft_rt_snapshot_audit(void)
{
    FT_REQUIRE(snap && snap->brk);
    return digest() == snap->mapped;
}

ft_rt_snapshot_size ft_rt_snapshot_sizes(void)
{
    FT_REQUIRE(snap);
    return snap->sizes;
}
