#include "maker/raw_log.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

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

/* What is predicted of a thread. */
typedef struct actor {
    uint32_t *follows; /* the site that is expected next */
    uint32_t first;
    FT_VEC(uint32_t) entered; /* the calls it is in */
} actor;

struct ft_raw_log {
    unsigned char *map;
    size_t mapped;
    const unsigned char *start, *at, *end;
    uint64_t run;  /* events as predicted that come now */
    uint64_t tail; /* the same behind the last record */
    bool in_tail;
    uint32_t thread;
    uint64_t value;     /* of the last access */
    ft_raw_site *sites; /* [n_sites], from 1 */
    uint32_t n_sites;
    FT_VEC(actor *) actors; /* by thread */
    actor *actor;           /* of `thread` */
    bool damaged;
    ft_raw_event events[FT_RAW_BATCH];
};

const char *ft_raw_end_text(uint32_t end)
{
    return end < FT_RAW_ENDS ? end_texts[end] : "the log does not say how";
}

static ft_status map_log(const char *path, ft_raw_log **log, ft_error *err)
{
    struct stat file;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &file)) {
        if (fd >= 0) close(fd);
        return ft_error_set(err, FT_IO, "%s: cannot be read", path);
    }
    size_t size = (size_t)file.st_size;
    void *map = size < FT_RAW_PAGE ? MAP_FAILED : mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
    close(fd);
    if (map == MAP_FAILED) return ft_error_set(err, FT_INPUT, "%s: not a recording", path);
    const ft_raw_header *header = map;
    if (memcmp(header->magic, FT_RAW_MAGIC, sizeof header->magic)) {
        munmap(map, size);
        return ft_error_set(err, FT_INPUT, "%s: not a recording", path);
    }
    *log = ft_calloc(1, sizeof **log);
    **log = (ft_raw_log){.map = map, .mapped = size, .start = (unsigned char *)map + FT_RAW_PAGE};
    (*log)->end = (*log)->start;
    (*log)->sites = ft_calloc(FT_RAW_SITES, sizeof *(*log)->sites);
    ft_raw_log_rewind(*log);
    return FT_OK;
}

ft_status ft_raw_log_follow(const char *path, ft_raw_log **log, ft_error *err)
{
    return map_log(path, log, err);
}

ft_status ft_raw_log_open(const char *path, ft_raw_log **log, ft_error *err)
{
    ft_status status = map_log(path, log, err);
    if (status != FT_OK) return status;
    ft_raw_log_look(*log, true);
    if (!(*log)->damaged) return FT_OK;
    ft_raw_log_close(*log);
    *log = NULL;
    return ft_error_set(err, FT_INPUT, "%s: not a recording", path);
}

bool ft_raw_log_look(ft_raw_log *log, bool ended)
{
    const unsigned char *before = log->end;
    const ft_raw_header *header = ft_raw_log_header(log);
    uint64_t mark = __atomic_load_n(&header->mark, __ATOMIC_ACQUIRE);
    if (ft_raw_used(mark) + FT_RAW_LONGEST > log->mapped - FT_RAW_PAGE) {
        log->damaged = true;
        return true;
    }
    log->end = log->start + ft_raw_used(mark);
    log->tail = ended ? ft_raw_run(mark) : 0;
    return log->end != before;
}

static void release_actors(ft_raw_log *log)
{
    for (size_t t = 0; t < log->actors.len; t++) {
        ft_vec_release(&log->actors.data[t]->entered);
        free(log->actors.data[t]);
    }
    log->actors.len = 0;
}

void ft_raw_log_close(ft_raw_log *log)
{
    if (!log) return;
    munmap(log->map, log->mapped);
    release_actors(log);
    ft_vec_release(&log->actors);
    free(log->sites);
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
    while (log->actors.len <= thread) {
        actor *a = ft_calloc(1, sizeof *a);
        a->follows = &a->first;
        ft_vec_push(&log->actors, a);
    }
    log->thread = (uint32_t)thread;
    log->actor = log->actors.data[thread];
}

void ft_raw_log_rewind(ft_raw_log *log)
{
    log->at = log->start;
    log->run = 0;
    log->value = 0;
    log->in_tail = false;
    log->damaged = false;
    if (log->n_sites) memset(log->sites, 0, log->n_sites * sizeof *log->sites);
    log->n_sites = 1;
    release_actors(log);
    turn_to(log, 0);
}

static uint64_t get(ft_raw_log *log)
{
    uint64_t value = 0;
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

static void add_site(ft_raw_log *log, uint64_t pc, uint64_t code)
{
    if (log->n_sites == FT_RAW_SITES || code > FT_RAW_PLACE) {
        log->damaged = true;
        return;
    }
    log->sites[log->n_sites++].key = pc | code << FT_RAW_CODE_SHIFT;
}

static void get_record(ft_raw_log *log, ft_raw_record *record)
{
    uint32_t n = 0;
    for (const char *o = operands_of[record->operation]; *o; o++) {
        if (*o == 't')
            get_text(log, record);
        else
            record->operands[n++] = get(log);
    }
    if (record->operation == FT_RAW_SITE) add_site(log, record->operands[0], record->operands[1]);
    if (record->operation == FT_RAW_TURN) turn_to(log, record->operands[0]);
}

/* ---- events */

static void call(ft_raw_log *log, ft_raw_site *site, uint32_t id, uint32_t code)
{
    actor *a = log->actor;
    if (code == FT_RAW_ENTER) {
        ft_vec_push(&a->entered, id);
        a->follows = &site->next;
    } else if (code == FT_RAW_LEAVE && a->entered.len) {
        a->follows = &log->sites[a->entered.data[--a->entered.len]].after;
    } else {
        log->damaged = true;
    }
}

/* Events as they were predicted; as many as fit. */
static uint32_t get_predicted(ft_raw_log *log, ft_raw_event *out, uint32_t room)
{
    actor *a = log->actor;
    uint32_t n = log->run < room ? (uint32_t)log->run : room;
    log->run -= n;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t id = *a->follows;
        ft_raw_site *site = &log->sites[id];
        uint32_t code = ft_raw_code(site);
        out[i].site = id;
        out[i].code = code;
        if (code >= FT_RAW_ENTER || !id) {
            call(log, site, id, code);
            continue;
        }
        out[i].address = site->address = ft_raw_next_address(site);
        log->value = site->value = ft_raw_next_value(site, log->value);
        out[i].value = (int64_t)site->value;
        out[i].written = (int64_t)(site->value + site->change);
        a->follows = &site->next;
    }
    return n;
}

/* Numbers of any alignment. What is read too much lies in the file: a log never fills it. */
typedef uint64_t word __attribute__((aligned(1), may_alias));
typedef uint16_t half __attribute__((aligned(1), may_alias));

static uint32_t get_site(ft_raw_log *log)
{
    uint32_t id = *(const half *)log->at;
    log->at += 2;
    if (!(id & FT_RAW_WIDE_SITE)) return id;
    id = (id & (FT_RAW_WIDE_SITE - 1)) | (uint32_t) * (const half *)log->at << 15;
    log->at += 2;
    return id;
}

static uint64_t get_difference(ft_raw_log *log, unsigned code)
{
    static const uint64_t masks[] = {0,          0xFF,         0xFFFF,         0xFFFFFF,
                                     0xFFFFFFFF, 0xFFFFFFFFFF, 0xFFFFFFFFFFFF, UINT64_MAX};
    uint64_t coded = *(const word *)log->at & masks[code];
    log->at += ft_raw_length(code);
    return ft_raw_unzigzag(coded);
}

/* An event that was not predicted. False: it is a range, whose size comes next, or the log is
 * damaged. */
static bool get_event(ft_raw_log *log, ft_raw_event *out)
{
    actor *a = log->actor;
    unsigned token = *log->at++;
    if (token & FT_RAW_SITE_FOLLOWS) *a->follows = get_site(log);
    uint32_t id = *a->follows;
    if (!id || id >= log->n_sites) {
        log->damaged = true;
        return false;
    }
    ft_raw_site *site = &log->sites[id];
    out->site = id;
    out->code = ft_raw_code(site);
    if (out->code >= FT_RAW_ENTER) {
        call(log, site, id, out->code);
        return true;
    }
    a->follows = &site->next;
    if (token >> 3 & 7)
        ft_raw_learn_address(site, site->address + get_difference(log, token >> 3 & 7));
    else
        site->address = ft_raw_next_address(site);
    out->address = site->address;
    if (out->code % 8 == FT_RAW_RANGE) return false;
    if (token & 7)
        ft_raw_learn_value(site, site->value + get_difference(log, token & 7), log->value);
    else
        site->value = ft_raw_next_value(site, log->value);
    log->value = site->value;
    out->value = (int64_t)site->value;
    if (out->code / 8 == FT_RAW_FORM_UPDATE) site->change = ft_raw_unzigzag(get(log));
    out->written = (int64_t)(site->value + site->change);
    return true;
}

static void get_range(ft_raw_log *log, const ft_raw_event *event, ft_raw_record *record)
{
    record->access = true;
    record->form = (ft_raw_form)(event->code / 8);
    record->site = event->site;
    record->address = event->address;
    record->size = get(log);
    get_text(log, record);
    if (record->form > FT_RAW_FORM_WRITE) log->damaged = true;
}

/* Events up to the next record; a range ends them, and is the record's access. */
static void get_events(ft_raw_log *log, ft_raw_record *record)
{
    uint32_t n = 0;
    while (n < FT_RAW_BATCH && !log->damaged) {
        if (log->run) {
            n += get_predicted(log, log->events + n, FT_RAW_BATCH - n);
            continue;
        }
        if (log->at == log->end) {
            if (log->in_tail || !log->tail) break;
            log->in_tail = true;
            log->run = log->tail;
            continue;
        }
        unsigned code = *log->at;
        if (code < FT_RAW_ONE && code != FT_RAW_RUN) break;
        if (code < FT_RAW_EVENT) {
            log->at++;
            log->run = code == FT_RAW_RUN ? get(log) : code - FT_RAW_ONE + 1;
            continue;
        }
        if (get_event(log, &log->events[n])) {
            n++;
        } else if (!log->damaged) {
            get_range(log, &log->events[n], record);
            break;
        }
    }
    record->n_events = n;
}

void ft_raw_record_of(const ft_raw_event *event, uint32_t thread, ft_raw_record *record)
{
    *record = (ft_raw_record){.thread = thread,
                              .access = true,
                              .form = (ft_raw_form)(event->code / 8),
                              .site = event->site,
                              .address = event->address,
                              .size = UINT64_C(1) << event->code % 8,
                              .value = event->value,
                              .written = event->written};
}

bool ft_raw_log_next(ft_raw_log *log, ft_raw_record *record, ft_error *err)
{
    *record = (ft_raw_record){.thread = log->thread, .events = log->events};
    if (!log->damaged) get_events(log, record);
    if (!log->damaged && !record->n_events && !record->access) {
        if (log->at == log->end) return false;
        unsigned code = *log->at++;
        if (code && code < FT_RAW_OPERATIONS)
            record->operation = (ft_raw_operation)code, get_record(log, record);
        else
            log->damaged = true;
        record->thread = log->thread;
    }
    if (log->at > log->end) log->damaged = true;
    if (log->damaged)
        ft_error_offset(err, FT_INPUT, (uint64_t)(log->at - log->map), "the recording is damaged");
    return !log->damaged;
}
