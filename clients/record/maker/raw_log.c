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

struct ft_raw_log {
    unsigned char *map;
    size_t mapped;
    const unsigned char *start, *at, *end;
    uint32_t thread;
    FT_VEC(uint64_t) last; /* by site: the address that it accessed last */
    bool damaged;
};

const char *ft_raw_end_text(uint32_t end)
{
    return end < FT_RAW_ENDS ? end_texts[end] : "the log does not say how";
}

ft_status ft_raw_log_open(const char *path, ft_raw_log **log, ft_error *err)
{
    struct stat file;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &file)) {
        if (fd >= 0) close(fd);
        return ft_error_set(err, FT_IO, "%s: cannot be read", path);
    }
    size_t size = (size_t)file.st_size;
    void *map = size < FT_RAW_PAGE ? MAP_FAILED : mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
    close(fd);
    if (map == MAP_FAILED) return ft_error_set(err, FT_INPUT, "%s: not a recording", path);
    const ft_raw_header *header = map;
    if (memcmp(header->magic, FT_RAW_MAGIC, sizeof header->magic) ||
        header->used > size - FT_RAW_PAGE) {
        munmap(map, size);
        return ft_error_set(err, FT_INPUT, "%s: not a recording", path);
    }
    *log = ft_calloc(1, sizeof **log);
    **log = (ft_raw_log){.map = map, .mapped = size, .start = (unsigned char *)map + FT_RAW_PAGE};
    (*log)->end = (*log)->start + header->used;
    ft_raw_log_rewind(*log);
    return FT_OK;
}

void ft_raw_log_close(ft_raw_log *log)
{
    if (!log) return;
    munmap(log->map, log->mapped);
    ft_vec_release(&log->last);
    free(log);
}

const ft_raw_header *ft_raw_log_header(const ft_raw_log *log)
{
    return (const ft_raw_header *)log->map;
}

void ft_raw_log_rewind(ft_raw_log *log)
{
    log->at = log->start;
    log->thread = 0;
    log->damaged = false;
    log->last.len = 0;
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

static int64_t get_signed(ft_raw_log *log)
{
    uint64_t value = get(log);
    return (int64_t)(value >> 1) ^ -(int64_t)(value & 1);
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

static void get_operands(ft_raw_log *log, ft_raw_record *record)
{
    uint32_t n = 0;
    for (const char *o = operands_of[record->operation]; *o; o++) {
        if (*o == 't')
            get_text(log, record);
        else
            record->operands[n++] = get(log);
    }
}

static void get_access(ft_raw_log *log, ft_raw_record *record, unsigned code)
{
    record->access = true;
    record->form = (ft_raw_form)(code / 8);
    uint64_t site = get(log);
    int64_t delta = get_signed(log);
    if (site >= log->last.len || code / 8 >= FT_RAW_FORMS || code % 8 > FT_RAW_RANGE) {
        log->damaged = true;
        return;
    }
    record->site = (uint32_t)site;
    record->address = log->last.data[site] += (uint64_t)delta;
    if (code % 8 == FT_RAW_RANGE) {
        record->size = get(log);
        get_text(log, record);
        return;
    }
    record->size = 1u << (code % 8);
    record->value = get_signed(log);
    if (record->form == FT_RAW_FORM_UPDATE) record->written = get_signed(log);
}

bool ft_raw_log_next(ft_raw_log *log, ft_raw_record *record, ft_error *err)
{
    if (log->at == log->end) return false;
    unsigned code = *log->at++;
    memset(record, 0, sizeof *record);
    if (code >= FT_RAW_ACCESS)
        get_access(log, record, code - FT_RAW_ACCESS);
    else if (code && code < FT_RAW_OPERATIONS)
        record->operation = (ft_raw_operation)code, get_operands(log, record);
    else
        log->damaged = true;
    if (log->damaged) {
        ft_error_offset(err, FT_INPUT, (uint64_t)(log->at - log->map), "the recording is damaged");
        return false;
    }
    if (!record->access && record->operation == FT_RAW_SITE) ft_vec_push(&log->last, 0);
    if (!record->access && record->operation == FT_RAW_TURN)
        log->thread = (uint32_t)record->operands[0];
    record->thread = log->thread;
    return true;
}
