#include "maker/log/log_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/contract.h"

static const char *const operands_of[] = {
#define FT_RAW_ROW(symbol, operands, meaning) operands,
    FT_RAW_TABLE(FT_RAW_ROW)
#undef FT_RAW_ROW
};

static const char *const end_texts[] = {
#define FT_RAW_ROW(symbol, text) text,
    FT_RAW_END_TABLE(FT_RAW_ROW)
#undef FT_RAW_ROW
};

/* The code of a site that is not declared; the number of sites that fit into an event's first word.
 */
enum { NO_EVENT = FT_RAW_PLACE, NARROW = 1 << (64 - FT_RAW_SITE_SHIFT) };

/* The ring holds what a fast program writes in some milliseconds, and fits into a processor's
 * cache. Only the store has PACKED records: batches (pack.h). */
enum {
    RING = 4 << 20,
    LEAST_LIMIT = 64 << 20,
    MOST_MEMORY = 1 << 29,
    HUGE = 1 << 21,
    SLOW = 500000, /* ns for one of these: usual pages are faster */
    PIECE = 4 << 20,
    OFTEN = 16,
    LINE = 64,         /* bytes */
    UNPACKED = 8 << 20 /* bytes: where memory is slow, packing costs no more */
};

_Static_assert(FT_RAW_PACKED / 2 >= FT_RAW_OPERATIONS, "no record of the program's");

const char *ft_raw_end_text(uint32_t end)
{
    return end < FT_RAW_ENDS ? end_texts[end] : "the log does not say how";
}

static ft_status unreadable(int fd, ft_error *err)
{
    int why = errno;
    if (fd >= 0) close(fd);
    return ft_error_set(err, FT_USAGE, "the recording cannot be read: %s%s", strerror(why),
                        why == ENOMEM ? " (ulimit -v); use a smaller --limit" : "");
}

static ft_status map_log(const char *path, bool follow, ft_raw_log **log, ft_error *err)
{
    struct stat file;
    int fd = open(path, (follow ? O_RDWR : O_RDONLY) | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &file)) return unreadable(fd, err);
    size_t size = (size_t)file.st_size;
    int access = follow ? PROT_READ | PROT_WRITE : PROT_READ;
    void *map = size < FT_RAW_PAGE ? MAP_FAILED : mmap(NULL, size, access, MAP_SHARED, fd, 0);
    const ft_raw_header *header = map;
    if (map == MAP_FAILED && size >= FT_RAW_PAGE) return unreadable(fd, err);
    bool right = map != MAP_FAILED && !memcmp(header->magic, FT_RAW_MAGIC, sizeof header->magic) &&
                 (follow || !header->ring);
    if (!follow || !right) close(fd);
    if (!right) {
        if (map != MAP_FAILED) munmap(map, size);
        return ft_error_set(err, FT_INPUT, "%s is not a recorder's log", path);
    }
    *log = ft_calloc(1, sizeof **log);
    **log = (ft_raw_log){.map = map, .mapped = size, .fd = follow ? fd : -1};
    (*log)->start = (*log)->end = (unsigned char *)map + FT_RAW_PAGE;
    (*log)->codes = ft_calloc_sparse(FT_RAW_SITES, sizeof *(*log)->codes);
    (*log)->counts = ft_calloc_sparse(FT_RAW_SITES, sizeof *(*log)->counts);
    ft_raw_log_rewind(*log);
    return FT_OK;
}

/* ---- the ring */

size_t ft_raw_log_memory(void)
{
    size_t memory = (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE) / 8;
    if (memory > MOST_MEMORY) return MOST_MEMORY;
    return memory < LEAST_LIMIT / 2 ? LEAST_LIMIT / 2 : memory;
}

/* The ring is mapped a second time behind its end, as in the program (runtime/log/log.c). */
static bool map_ring(ft_raw_log *log)
{
    unsigned char *all =
        mmap(NULL, 2 * (size_t)RING, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (all == MAP_FAILED) return false;
    log->ring = all;
    for (size_t i = 0; i < 2; i++)
        if (mmap(all + i * RING, RING, PROT_READ, MAP_SHARED | MAP_FIXED, log->fd, FT_RAW_PAGE) ==
            MAP_FAILED)
            return false;
    return true;
}

static bool make_store(ft_raw_log *log, size_t memory, uint64_t limit)
{
    log->spilled = log->memory = memory < limit ? memory / HUGE * HUGE : limit;
    log->unpacked = log->memory / 2;
    log->limit = limit - FT_RAW_PAGE - RING;
    void *all = mmap(NULL, limit, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (all == MAP_FAILED) return false;
    log->store = all;
    log->opened = 2 * (size_t)HUGE - (uintptr_t)all % HUGE; /* a short log needs none */
    return true;
}

/* CPU time of the thread: other processes that ran meanwhile do not make memory look slow. */
static uint64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* A huge page takes a tenth of the time of 512 others; but up to six times as long in a virtual
 * machine that had given the memory back to its host. */
void ft_raw_log_open_store(ft_raw_log *log)
{
    while (log->opened && log->stored + FT_RAW_BATCH_MOST > log->opened) {
        unsigned char *next = log->store + log->opened;
        uint64_t before = now();
        if (log->opened + HUGE > log->memory || madvise(next, HUGE, MADV_HUGEPAGE)) {
            log->opened = 0;
            return;
        }
        *(volatile unsigned char *)next = 0;
        log->opened += HUGE;
        if (now() - before > SLOW) log->opened = 0;
    }
    if (!log->opened && log->unpacked > UNPACKED) log->unpacked = UNPACKED;
}

static void unmap_store(ft_raw_log *log)
{
    if (log->ring) munmap(log->ring, 2 * (size_t)RING);
    if (log->store) munmap(log->store, log->limit + FT_RAW_PAGE + RING);
    log->ring = log->store = NULL;
}

ft_status ft_raw_log_follow(const char *path, size_t memory, ft_raw_log **log, ft_error *err)
{
    ft_status status = map_log(path, true, log, err);
    if (status != FT_OK) return status;
    ft_raw_header *header = (ft_raw_header *)(*log)->map;
    if (header->limit < LEAST_LIMIT || header->limit > (*log)->mapped) return FT_OK;
    if (!map_ring(*log) || !make_store(*log, memory, header->limit)) {
        unmap_store(*log);
        return FT_OK;
    }
    ft_raw_packer_open(&(*log)->packer);
    (*log)->live = true;
    (*log)->start = (*log)->from = (*log)->at = (*log)->end = (*log)->ring;
    assert((*log)->stored == 0 && (*log)->spilled == (*log)->memory);
    header->maker = (uint32_t)getpid();
    header->ring = RING;
    return FT_OK;
}

/* A piece of the store becomes the file's, where it is; false: there is no room. The file's part
 * of the store lies behind the ring. Record by record it would cost many times more: a file system
 * looks at all of a large folio for each few bytes that are written to it. */
static bool spill(ft_raw_log *log)
{
    assert(log->spilled >= log->memory && log->spilled + PIECE <= log->limit);
    unsigned char *from = log->store + log->spilled;
    off_t to = (off_t)(FT_RAW_PAGE + RING + log->spilled - log->memory);
    for (size_t done = 0; done < PIECE;) {
        ssize_t written = pwrite(log->fd, from + done, PIECE - done, to + (off_t)done);
        if (written <= 0) return false;
        done += (size_t)written;
    }
    if (mmap(from, PIECE, PROT_READ, MAP_SHARED | MAP_FIXED, log->fd, to) == MAP_FAILED)
        return false;
    log->spilled += PIECE;
    return true;
}

/* The program gets the first reason. */
static void end_store(ft_raw_log *log, ft_raw_full why)
{
    if (!log->full) ((ft_raw_header *)log->map)->full = why;
    log->full = true;
}

/* Room in the store for so many bytes; NULL: there is none. */
static unsigned char *room(ft_raw_log *log, size_t n)
{
    if (!log->full && n <= log->limit - FT_RAW_PACKED_BEHIND - log->stored)
        return log->store + log->stored;
    end_store(log, FT_RAW_FULL_LIMIT);
    return NULL;
}

/* n bytes were written into the room. False: the file is full, and they are not kept. */
static bool stored(ft_raw_log *log, size_t n)
{
    while (log->stored + n >= log->spilled + PIECE && !log->full)
        if (!spill(log)) end_store(log, FT_RAW_FULL_DISK);
    log->stored += log->full ? 0 : n;
    assert(log->stored <= log->limit);
    return !log->full;
}

/* Returns where it is in the store; NULL: there is no room. */
static const unsigned char *keep(ft_raw_log *log, const unsigned char *from, size_t n)
{
    unsigned char *to = room(log, n);
    if (!to) return NULL;
    memcpy(to, from, n);
    return stored(log, n) ? to : NULL;
}

/* Gives the part of the ring that was read back to the program; finds what it wrote meanwhile. */
static bool look_at_ring(ft_raw_log *log)
{
    ft_raw_header *header = (ft_raw_header *)log->map;
    const unsigned char *end = log->end;
    uint64_t mark = __atomic_load_n(&header->mark, __ATOMIC_ACQUIRE);
    if (log->full || log->damaged) return false;
    log->taken += (uint64_t)(log->at - log->from);
    __atomic_store_n(&header->taken, log->taken, __ATOMIC_RELEASE);
    log->damaged = mark % FT_RAW_WORD || mark < log->taken || mark - log->taken > RING ||
                   mark > log->limit + RING;
    if (log->damaged) return true;
    assert(log->from <= log->at && log->at <= end && end - log->from <= RING);
    bool more = mark - log->taken > (uint64_t)(end - log->at);
    log->from = log->at = log->ring + log->taken % RING;
    log->end = log->at + (mark - log->taken);
    return more;
}

ft_status ft_raw_log_open(const char *path, ft_raw_log **log, ft_error *err)
{
    ft_status status = map_log(path, false, log, err);
    if (status != FT_OK) return status;
    ft_raw_log_look(*log);
    if (!(*log)->damaged) return FT_OK;
    ft_raw_log_close(*log);
    *log = NULL;
    return ft_error_set(err, FT_INPUT, "%s is not a recorder's log", path);
}

bool ft_raw_log_look(ft_raw_log *log)
{
    FT_REQUIRE(log);
    if (log->store) return log->live && look_at_ring(log);
    const unsigned char *before = log->end;
    uint64_t mark = __atomic_load_n(&ft_raw_log_header(log)->mark, __ATOMIC_ACQUIRE);
    log->damaged = mark > log->mapped - FT_RAW_PAGE || mark % FT_RAW_WORD;
    if (!log->damaged) log->end = log->start + mark;
    return log->damaged || log->end != before;
}

void ft_raw_log_abandon(ft_raw_log *log)
{
    ft_raw_header *header = (ft_raw_header *)log->map;
    if (log->live && !header->full) header->full = FT_RAW_FULL_DISK; /* else nobody is to be told */
}

static void release_actors(ft_raw_log *log)
{
    for (size_t t = 0; t < log->actors.len; t++) {
        ft_vec_release(&log->actors.data[t]->calls);
        free(log->actors.data[t]);
    }
    log->actors.len = 0;
}

void ft_raw_log_close(ft_raw_log *log)
{
    if (!log) return;
    ft_raw_header *header = (ft_raw_header *)log->map;
    if (log->store && !header->started) header->ring = 0; /* it can be read in the usual way */
    unmap_store(log);
    ft_raw_packer_close(&log->packer);
    munmap(log->map, log->mapped);
    if (log->fd >= 0) close(log->fd);
    release_actors(log);
    ft_vec_release(&log->actors);
    free(log->codes);
    free(log->counts);
    free(log);
}

const ft_raw_header *ft_raw_log_header(const ft_raw_log *log)
{
    return (const ft_raw_header *)log->map;
}

static void turn_to(ft_raw_log *log, uint64_t thread)
{
    if (thread > UINT16_MAX) {
        log->damaged = true;
        return;
    }
    while (log->actors.len <= thread) ft_vec_push(&log->actors, ft_calloc(1, sizeof(ft_raw_actor)));
    assert(thread < log->actors.len);
    log->thread = (uint32_t)thread;
    log->actor = log->actors.data[thread];
}

static void go_to_store(ft_raw_log *log)
{
    log->live = false;
    log->start = log->store;
    log->end = log->store + log->stored;
}

bool ft_raw_log_has_batches(const ft_raw_log *log)
{
    return log->store;
}

void ft_raw_log_pass_over(ft_raw_log *log, bool over)
{
    log->over = over;
}

void ft_raw_log_show(ft_raw_log *log, const ft_raw_taker *taker)
{
    FT_REQUIRE(taker->run && taker->other && taker->turn && log->at == log->start);
    log->taker = taker;
}

const ft_raw_event *ft_raw_log_shown(ft_raw_log *log, const ft_raw_record *record)
{
    FT_REQUIRE(record->n_events <= FT_RAW_BATCH);
    ft_raw_log_decode(log, record->n_events);
    return log->events;
}

const uint64_t *ft_raw_log_counts(const ft_raw_log *log)
{
    return log->counts;
}

void ft_raw_log_rewind(ft_raw_log *log)
{
    if (log->store) go_to_store(log);
    log->at = log->start;
    log->wide_site = 0;
    log->damaged = log->over = false;
    log->taker = NULL;
    if (!log->store) memset(log->counts, 0, log->n_sites * sizeof *log->counts);
    memset(log->codes, NO_EVENT, NARROW);
    log->n_sites = 1;
    release_actors(log);
    turn_to(log, 0);
    FT_CHECK(ft_raw_log_is_sound(log));
}

/* The varint in the word's low bytes; ends: the high bits of bytes that have none set. */
static inline uint64_t pull_together(uint64_t word, uint64_t ends)
{
    word &= (ends ^ (ends - 1)) & UINT64_C(0x7F7F7F7F7F7F7F7F);
    word = (word & UINT64_C(0x7F007F007F007F00)) >> 1 | (word & UINT64_C(0x007F007F007F007F));
    word = (word & UINT64_C(0xFFFF0000FFFF0000)) >> 2 | (word & UINT64_C(0x0000FFFF0000FFFF));
    return word >> 32 << 28 | (word & UINT32_MAX);
}

/* A number that ends within eight bytes, as nearly all do, takes no loop over them. */
static uint64_t get(ft_raw_log *log)
{
    uint64_t value = 0, word, ends = 0;
    if (log->end - log->at >= FT_RAW_WORD) {
        memcpy(&word, log->at, sizeof word);
        ends = ~word & UINT64_C(0x8080808080808080);
    }
    if (ends) {
        log->at += (unsigned)__builtin_ctzll(ends) / 8 + 1;
        return pull_together(word, ends);
    }
    for (unsigned shift = 0; shift < 64; shift += 7) {
        if (log->at == log->end) break;
        unsigned char byte = *log->at++;
        value |= (uint64_t)(byte & 127) << shift;
        if (byte < 128) return value;
    }
    log->damaged = true;
    return 0;
}

static void get_text(ft_raw_log *log, ft_raw_record *record)
{
    record->length = get(log);
    if (record->length > (uint64_t)(log->end - log->at)) {
        log->damaged = true;
        record->length = 0;
    }
    record->text = log->at;
    log->at += record->length;
}

/* ---- records */

static void add_site(ft_raw_log *log, uint64_t code)
{
    if (log->n_sites == FT_RAW_SITES || code > FT_RAW_PLACE) {
        log->damaged = true;
        return;
    }
    log->codes[log->n_sites++] = (uint8_t)code;
}

static void note_fork(ft_raw_log *log, uint64_t site)
{
    ft_raw_actor *a = log->actor;
    if (a->calls.len && site < log->n_sites)
        a->calls.data[a->calls.len - 1].inside = (uint32_t)site;
}

bool ft_raw_log_frame_at(const ft_raw_log *log, uint32_t thread, uint64_t address,
                         ft_raw_frame *frame)
{
    FT_REQUIRE(frame);
    const ft_raw_actor *a = thread < log->actors.len ? log->actors.data[thread] : NULL;
    for (size_t i = a ? a->calls.len : 0; i-- > 0;) {
        const ft_raw_call *call = &a->calls.data[i];
        if (call->frame <= address) continue;
        *frame = (ft_raw_frame){call->frame, call->inside, call->since};
        return true;
    }
    return false;
}

uint32_t ft_raw_log_caller(const ft_raw_log *log, uint32_t thread, uint32_t i)
{
    const ft_raw_actor *a = thread < log->actors.len ? log->actors.data[thread] : NULL;
    return a && i + 1 < a->calls.len ? a->calls.data[a->calls.len - 2 - i].inside : 0;
}

static void get_record(ft_raw_log *log, ft_raw_record *record)
{
    uint32_t n = 0;
    for (const char *o = operands_of[record->operation]; *o; o++) {
        assert(n < FT_RAW_OPERANDS);
        if (*o == 't')
            get_text(log, record);
        else
            record->operands[n++] = get(log);
    }
    if (record->operation == FT_RAW_SITE) add_site(log, record->operands[1]);
    if (record->operation == FT_RAW_TURN) turn_to(log, record->operands[0]);
    if (record->operation == FT_RAW_FORK) note_fork(log, record->operands[0]);
    if (record->operation == FT_RAW_WIDE) {
        log->wide_site = (uint32_t)record->operands[0];
        log->wide_address = record->operands[1] << FT_RAW_ADDRESS_BITS;
        if (record->operands[0] >= log->n_sites) log->damaged = true;
    }
    size_t over = (uintptr_t)log->at % FT_RAW_WORD;
    if (over) log->at += FT_RAW_WORD - over;
}

/* Moves behind the record without reading it; false: it is not whole. */
static bool skip_record(ft_raw_log *log, ft_raw_operation operation)
{
    ft_raw_record unused;
    for (const char *o = operands_of[operation]; *o; o++) {
        if (*o == 't')
            get_text(log, &unused);
        else
            (void)get(log);
    }
    size_t over = (uintptr_t)log->at % FT_RAW_WORD;
    if (over) log->at += FT_RAW_WORD - over;
    return !log->damaged && log->at <= log->end;
}

/* ---- from the ring into the store */

/* The batch's words, where packing into the store does not overwrite them. */
static const unsigned char *words_aside(ft_raw_log *log, uint32_t n)
{
    if (log->words != log->passing) memcpy(log->passing, log->words, n * FT_RAW_PLAIN);
    return log->words = log->passing;
}

/* The batch FT_RAW_AHEAD batches earlier leads to this one. The file's part of the store is mapped
 * read-only. */
static void lead_to(ft_raw_log *log, unsigned char *batch)
{
    unsigned char **before = &log->batches[log->n_batches++ % FT_RAW_AHEAD];
    bool writable =
        *before && (*before < log->store + log->memory || *before >= log->store + log->spilled);
    if (writable) ft_raw_batch_lead(*before, batch);
    *before = batch;
}

/* Stores the batch at hand. */
static bool keep_events(ft_raw_log *log, uint32_t n)
{
    unsigned char *to = room(log, FT_RAW_BATCH_MOST);
    bool plain = log->plain && ft_raw_log_keeps_plain(log);
    ft_raw_packer *packer = plain ? NULL : &log->packer;
    ft_raw_taken taken = {plain ? log->words : words_aside(log, n), log->events};
    if (!to) return false;
    size_t bytes = ft_raw_batch_put(packer, &log->sum, &taken, n, to);
    assert(bytes <= FT_RAW_BATCH_MOST && bytes % FT_RAW_WORD == 0);
    FT_CHECK(ft_raw_log_reads_back(log, to, bytes, &taken, n));
    lead_to(log, to);
    return stored(log, bytes);
}

/* Stores the events up to log->at, and behind them the record's access, whose first word is
 * `range`, if it has one. False: there is no room. */
static bool keep_accesses(ft_raw_log *log, const unsigned char *range, ft_raw_record *record)
{
    if (record->n_events && !keep_events(log, record->n_events)) return false;
    if (!record->access) return true;
    const unsigned char *kept = keep(log, range, (size_t)(log->at - range));
    if (!kept) return false;
    record->text = kept + 2 * FT_RAW_WORD;
    log->damaged = ((const ft_raw_word *)(const void *)kept)[1] != log->range_size;
    return true;
}

/* Copies the rest of an operation's record into the store, where the program cannot change it any
 * more, and reads it there. */
static bool keep_record(ft_raw_log *log, ft_raw_record *record)
{
    const unsigned char *first = log->at - 1, *end = log->end;
    if (!skip_record(log, record->operation)) {
        log->damaged = true;
        return true;
    }
    const unsigned char *behind = log->at;
    size_t n = (size_t)(behind - first);
    const unsigned char *kept = keep(log, first, n);
    if (!kept) return false;
    log->at = kept + 1;
    log->end = kept + n;
    get_record(log, record);
    log->damaged |= log->at != log->end || *kept != record->operation << 1;
    log->at = behind;
    log->end = end;
    return true;
}

/* A record that cannot be stored is not delivered: the second pass could not read it. */
static bool give_up(ft_raw_log *log, size_t stored, ft_raw_record *record)
{
    log->stored = stored;
    *record = (ft_raw_record){.thread = log->thread};
    log->at = log->end;
    return false;
}

/* ---- */

/* Most batches are skipped, so each is a cache miss: its start, and the records before it. */
static void fetch(const unsigned char *batch)
{
    __builtin_prefetch(batch);
    __builtin_prefetch(batch - LINE);
}

static void get_packed(ft_raw_log *log, ft_raw_record *record)
{
    ft_raw_batch batch;
    log->damaged = !ft_raw_batch_look(log->at, (size_t)(log->end - log->at), &batch);
    if (log->damaged) return;
    fetch(batch.next);
    if (log->over)
        record->events = NULL;
    else
        log->damaged =
            !ft_raw_batch_get(&log->packer, &batch, log->codes, log->n_sites, log->events);
    log->damaged |= !ft_raw_batch_sum(&batch, log->n_sites, &log->sum);
    record->n_events = batch.n;
    log->wide_site = 0;
    log->at += batch.whole;
}

static bool is_packed(const ft_raw_log *log)
{
    return log->store && !log->live && *log->at == FT_RAW_PACKED;
}

static bool get_operation(ft_raw_log *log, ft_raw_record *record)
{
    unsigned code = *log->at++ / 2;
    log->damaged = !code || code >= FT_RAW_OPERATIONS;
    record->operation = log->damaged ? FT_RAW_NOTHING : (ft_raw_operation)code;
    if (!log->damaged && log->live && !keep_record(log, record)) return false;
    if (!log->damaged && !log->live) get_record(log, record);
    record->thread = log->thread;
    return true;
}

static bool is_event(const ft_raw_log *log)
{
    return *log->at & 1;
}

static bool get_next(ft_raw_log *log, ft_raw_record *record)
{
    const unsigned char *range = log->at;
    size_t stored = log->stored;
    if (log->at == log->end) return false;
    if (is_packed(log))
        get_packed(log, record);
    else if (is_event(log))
        range = ft_raw_log_events(log, record);
    if (log->damaged) return false;
    if (record->n_events || record->access)
        return !log->live || keep_accesses(log, range, record) || give_up(log, stored, record);
    if (log->at == log->end) return false;
    return get_operation(log, record) || give_up(log, stored, record);
}

/* Field by field: zeroing the whole struct takes longer than reading most records. */
static inline void begin_record(const ft_raw_log *log, ft_raw_record *record)
{
    record->thread = log->thread;
    record->n_events = 0;
    record->events = log->events;
    record->sum = &log->sum;
    record->access = false;
    record->operation = FT_RAW_NOTHING;
    record->form = FT_RAW_FORM_READ;
    for (size_t i = 0; i < FT_RAW_OPERANDS; i++) record->operands[i] = 0;
    record->text = NULL;
    record->length = record->address = record->size = 0;
    record->site = 0;
    record->value = record->written = 0;
}

bool ft_raw_log_next(ft_raw_log *log, ft_raw_record *record, ft_error *err)
{
    begin_record(log, record);
    if (log->live && (log->at == log->end || ++log->calls % OFTEN == 0)) look_at_ring(log);
    bool done = log->damaged || (log->live && log->full);
    bool more = !done && get_next(log, record);
    if (log->at > log->end) log->damaged = true;
    if (log->damaged)
        ft_error_offset(err, FT_INPUT, (uint64_t)(log->at - log->start),
                        "the recording is damaged");
    FT_CHECK(log->damaged || ft_raw_log_is_sound(log));
    return more && !log->damaged;
}
