/* Standard input and output. The C library's own reads bypass the hooks, so the content of a stream
 * is an input at the program's own calls. A replay does not read the stream itself. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <wchar.h>

#include "accesses/accesses.h"
#include "files/files.h"
#include "files/scan.h"
#include "inputs/channels.h"
#include "inputs/inputs.h"
#include "libc/libc.h"
#include "log/log.h"
#include "raw/inputs.h"
#include "raw/raw.h"
#include "replay/replay.h"
#include "scheduling/scheduling.h"
#include "state/object.h"
#include "state/thread.h"
#include "sync/sync.h"
#include "trace/event.h"
#include "world/world.h"

#define CODE __builtin_return_address(0)

/* As the C library does with the first use, but for the memory: of a terminal it takes less from
 * the heap than of a file, and a replay may have the other one there. */
static void give_buffer(FILE *stream, char *room)
{
    struct stat about;
    bool known = !FT_REAL(fstat)(stream->_fileno, &about) && about.st_blksize > 0;
    size_t size = known && about.st_blksize < BUFSIZ ? (size_t)about.st_blksize : BUFSIZ;
    if (stream->_IO_buf_base) return;
    setvbuf(stream, room, FT_REAL(isatty)(stream->_fileno) ? _IOLBF : _IOFBF, size);
}

void ft_rt_stdio_start(void)
{
    static char rooms[2][BUFSIZ];
    give_buffer(stdin, rooms[0]);
    give_buffer(stdout, rooms[1]);
}

/* Content of the stream passes between threads, or may do so. */
static bool passes_on(const FILE *stream)
{
    int fd = stream->_fileno;
    return ft_rt_fd_is_virtual(fd) || ft_rt_fd_is_unknown(fd);
}

/* What is in the stream's buffer comes at once, and so do files. Threads get from a stream in their
 * order. */
static int way_of(ft_rt_input *in, FILE *stream)
{
    struct stat file;
    in->takes = FT_RAW_CHANNEL_TAKEN | (uintptr_t)stream;
    if (passes_on(stream)) in->through = stream->_fileno;
    if (stream->_IO_read_ptr < stream->_IO_read_end || stream->_fileno < 0) return FT_RT_OPEN;
    bool regular = !FT_REAL(fstat)(stream->_fileno, &file) && S_ISREG(file.st_mode);
    return regular ? FT_RT_OPEN : FT_RT_SLEEPS;
}

void _IO_doallocbuf(FILE *stream);

/* The same, of a read. Where it is fed nothing fills the stream's buffer, which begins with the
 * first read all the same: what the program allocates behind it is where it was. */
static int reads(ft_rt_input *in, FILE *stream)
{
    if (in->fed && !stream->_IO_buf_base) {
        ft_rt_input_outside(in, false);
        _IO_doallocbuf(stream);
        ft_rt_enter();
    }
    return way_of(in, stream);
}

/* A file that is not there any more can still be read in a replay: from the record. One that was
 * not there, and is, is not seen. */
static FILE *as_it_was(FILE *file, int64_t there, const char *mode)
{
    if (!file && there) return FT_REAL(fopen)("/dev/null", mode);
    if (!file || there) return file;
    FT_REAL(fclose)(file);
    return NULL;
}

/* Its descriptor has the number that it had. */
static FILE *opened(ft_rt_input *in, FILE *file)
{
    int now = file ? file->_fileno : -1, number = (int)ft_rt_input_number(in, (uint64_t)now);
    if (file) file->_fileno = ft_rt_fd_numbered(in, number, now);
    ft_rt_input_end(in);
    return file;
}

#define OPENS(name)                                                                                \
    FILE *name(const char *restrict path, const char *restrict mode)                               \
    {                                                                                              \
        ft_rt_input in;                                                                            \
        FT_RT_EXPLORED(ft_rt_world_fopen(path, mode, CODE));                                       \
        if (!ft_rt_input_begin(&in, FT_INPUT_FOPEN, CODE)) return FT_REAL(name)(path, mode);       \
        (*mode == 'r' ? ft_rt_name_in : ft_rt_name_out)(path, CODE);                               \
        ft_rt_input_outside(&in, false);                                                           \
        FILE *file = FT_REAL(name)(path, mode);                                                    \
        if (in.fed) {                                                                              \
            file = as_it_was(file, in.result, mode);                                               \
            ft_rt_enter();                                                                         \
        } else {                                                                                   \
            ft_rt_input_did(&in, file != NULL);                                                    \
            if (file) file->_fileno = ft_rt_fd_apart(file->_fileno);                               \
        }                                                                                          \
        return opened(&in, file);                                                                  \
    }
OPENS(fopen)
OPENS(fopen64)

/* Streams into memory of the heap: where that is, and how much, the C library stores when they are
 * flushed or closed. It does so here, and the thread that calls has it from here. */
enum { MEMORY_STREAMS = 256 };

static struct memory_stream {
    FILE *stream; /* NULL: free */
    char **text, *now;
    size_t *length, n;
} memory_streams[MEMORY_STREAMS];

static struct memory_stream *memory_of(FILE *stream)
{
    struct memory_stream *m = memory_streams;
    while (m < memory_streams + MEMORY_STREAMS && m->stream != stream) m++;
    return m < memory_streams + MEMORY_STREAMS ? m : NULL;
}

FILE *open_memstream(char **text, size_t *length)
{
    ft_rt_thread *self = ft_rt_enter();
    struct memory_stream *m = self ? memory_of(NULL) : NULL;
    if (self) self->inside = false; /* the call's allocations are recorded */
    if (!m) return FT_REAL(open_memstream)(text, length);
    FILE *stream = FT_REAL(open_memstream)(&m->now, &m->n);
    m->stream = stream;
    m->text = text;
    m->length = length;
    return stream;
}

static void give_text(const struct memory_stream *m, const void *pc)
{
    ft_rt_settle(3);
    ft_rt_write_range(m->now, m->n + 1, pc);
    ft_rt_write_range(m->text, sizeof *m->text, pc);
    *m->text = m->now;
    ft_rt_write_range(m->length, sizeof *m->length, pc);
    *m->length = m->n;
}

int fclose(FILE *file)
{
    ft_rt_thread *self = ft_rt_enter();
    struct memory_stream *m = memory_of(file);
    ft_rt_world_closes(file->_fileno);
    if (self && passes_on(file))
        ft_rt_fd_close(file->_fileno, CODE);
    else if (self && file->_fileno >= 0)
        ft_rt_fd_freed(file->_fileno, CODE);
    if (self) self->inside = false; /* the call's frees are recorded */
    int result = FT_REAL(fclose)(file);
    if (!m) return result;
    if (!result) give_text(m, CODE);
    m->stream = NULL;
    return result;
}

/* The buffered output is written now; the turn goes on until then. */
static void goes_out(FILE *stream, const void *pc)
{
    bool sends = stream && passes_on(stream);
    ft_rt_thread *self = sends ? ft_rt_enter() : NULL;
    if (!self) return;
    ft_rt_fd_out(stream->_fileno, pc);
    self->inside = false;
}

int fflush(FILE *stream)
{
    goes_out(stream, CODE);
    const struct memory_stream *m = stream ? memory_of(stream) : NULL;
    int result = FT_REAL(fflush)(stream);
    if (m && !result) give_text(m, CODE);
    return result;
}

/* ---- bytes */

#define READS(name)                                                                                \
    size_t name(void *restrict to, size_t size, size_t n, FILE *restrict from)                     \
    {                                                                                              \
        ft_rt_input in;                                                                            \
        ft_rt_world_streams(from, #name, CODE);                                                    \
        if (!ft_rt_input_begin(&in, FT_INPUT_FREAD, CODE))                                         \
            return FT_REAL(name)(to, size, n, from);                                               \
        FT_RT_GET(&in, reads(&in, from), FT_REAL(name)(to, size, n, from));                        \
        size_t most = (size_t)in.result < n ? (size_t)in.result : n;                               \
        ft_rt_input_piece(&in, to, most *size);                                                    \
        return (size_t)ft_rt_input_end(&in);                                                       \
    }
READS(fread)
#undef fread_unlocked
READS(fread_unlocked)

#define GETS(name)                                                                                 \
    char *name(char *restrict to, int n, FILE *restrict from)                                      \
    {                                                                                              \
        ft_rt_input in;                                                                            \
        ft_rt_world_streams(from, #name, CODE);                                                    \
        if (!ft_rt_input_begin(&in, FT_INPUT_FGETS, CODE)) return FT_REAL(name)(to, n, from);      \
        FT_RT_GET(&in, reads(&in, from), FT_REAL(name)(to, n, from) != NULL);                      \
        if (!in.fed && in.result) in.result = (int64_t)strlen(to) + 1;                             \
        size_t most = in.result < n ? (size_t)in.result : (size_t)n;                               \
        ft_rt_input_piece(&in, to, most);                                                          \
        return ft_rt_input_end(&in) ? to : NULL;                                                   \
    }
GETS(fgets)
GETS(fgets_unlocked)

#define GETC(name, parameters, arguments, from)                                                    \
    int name parameters                                                                            \
    {                                                                                              \
        ft_rt_world_streams(from, #name, CODE);                                                    \
        return FT_RT_INPUT(FT_INPUT_FGETC, reads(&in, from), FT_REAL(name) arguments, NULL, 0);    \
    }
#undef getc
#undef getchar
#undef fgetc_unlocked
#undef getc_unlocked
#undef getchar_unlocked
GETC(fgetc, (FILE * from), (from), from)
GETC(getc, (FILE * from), (from), from)
GETC(getchar, (void), (), stdin)
GETC(fgetc_unlocked, (FILE * from), (from), from)
GETC(getc_unlocked, (FILE * from), (from), from)
GETC(getchar_unlocked, (void), (), stdin)

#define ASKS(call, name)                                                                           \
    int name(FILE *stream)                                                                         \
    {                                                                                              \
        return FT_RT_INPUT(call, (way_of(&in, stream), FT_RT_STAYS), FT_REAL(name)(stream), NULL,  \
                           0);                                                                     \
    }
#undef feof_unlocked
#undef ferror_unlocked
ASKS(FT_INPUT_FEOF, feof)
ASKS(FT_INPUT_FEOF, feof_unlocked)
ASKS(FT_INPUT_FERROR, ferror)
ASKS(FT_INPUT_FERROR, ferror_unlocked)

/* ---- lines */

ssize_t __getdelim(char **restrict line, size_t *restrict room, int end, FILE *restrict from);

/* Fed: the line has the room that it had, in memory of this run. */
static ssize_t got_line(ft_rt_input *in, char **line, size_t *room)
{
    const void *pc = in->pc;
    size_t length = in->result >= 0 ? (size_t)in->result + 1 : 0;
    size_t had = ft_rt_input_number(in, *room);
    if (in->fed && had) {
        if (!*line || *room < had) *line = ft_rt_libc()->realloc(*line, had);
        *room = had;
        if (length > had) length = had;
    }
    ft_rt_input_piece(in, *line, *line ? length : 0);
    ssize_t result = (ssize_t)ft_rt_input_end(in);
    ft_rt_write_range(line, sizeof *line, pc);
    ft_rt_write_range(room, sizeof *room, pc);
    return result;
}

#define LINES(name, parameters, arguments)                                                         \
    ssize_t name parameters                                                                        \
    {                                                                                              \
        ft_rt_input in;                                                                            \
        ft_rt_world_streams(from, #name, CODE);                                                    \
        if (!ft_rt_input_begin(&in, FT_INPUT_GETLINE, CODE)) return FT_REAL(name) arguments;       \
        FT_RT_GET(&in, reads(&in, from), FT_REAL(name) arguments);                                 \
        return got_line(&in, line, room);                                                          \
    }
LINES(getline, (char **restrict line, size_t *restrict room, FILE *restrict from),
      (line, room, from))
LINES(getdelim, (char **restrict line, size_t *restrict room, int end, FILE *restrict from),
      (line, room, end, from))
LINES(__getdelim, (char **restrict line, size_t *restrict room, int end, FILE *restrict from),
      (line, room, end, from))

/* ---- scanf */

static size_t size_of(const ft_scanned *r)
{
    const void *text = r->allocated ? *(void **)r->memory : r->memory;
    if (!text) return 0;
    if (r->size) return r->size;
    return r->wide ? (wcslen(text) + 1) * sizeof(wchar_t) : strlen(text) + 1;
}

static void take_text(ft_rt_input *in, const ft_scanned *r)
{
    size_t size = ft_rt_input_number(in, in->fed ? 0 : size_of(r));
    if (r->allocated && in->fed) *(void **)r->memory = ft_rt_libc()->malloc(size ? size : 1);
    ft_rt_input_piece(in, r->allocated ? *(void **)r->memory : r->memory, size);
}

static int scanned(ft_rt_input *in, const char *format, va_list arguments)
{
    ft_scan scan = {.at = format};
    ft_scanned r;
    va_copy(scan.arguments, arguments);
    for (int64_t left = in->result; ft_scan_next(&scan, &r);) {
        if (r.counts && left-- <= 0) break;
        take_text(in, &r);
    }
    va_end(scan.arguments);
    return (int)ft_rt_input_end(in);
}

static int scan_stream(FILE *from, const char *format, va_list arguments,
                       int (*real)(FILE *, const char *, va_list), const void *pc)
{
    ft_rt_input in;
    va_list copy;
    va_copy(copy, arguments);
    int result;
    ft_rt_world_streams(from, "scanf", pc);
    if (!ft_rt_input_begin(&in, FT_INPUT_SCANF, pc)) {
        result = real(from, format, copy);
    } else {
        int way = reads(&in, from);
        if (!in.fed) FT_RT_LIVE(&in, way, real(from, format, copy));
        ft_rt_channel(in.takes, FT_RAW_CHANNEL_IN | FT_RAW_CHANNEL_OUT, pc);
        if (in.through >= 0) ft_rt_fd_in(in.through, pc);
        result = scanned(&in, format, arguments);
    }
    va_end(copy);
    return result;
}

static int scan_text(const char *from, const char *format, va_list arguments,
                     int (*real)(const char *, const char *, va_list), const void *pc)
{
    ft_scan scan = {.at = format};
    ft_scanned r;
    ft_rt_read_range(from, strlen(from) + 1, pc);
    va_copy(scan.arguments, arguments);
    int result = real(from, format, arguments), left = result;
    while (ft_scan_next(&scan, &r)) {
        if (r.counts && left-- <= 0) break;
        ft_rt_write_range(r.allocated ? *(void **)r.memory : r.memory, size_of(&r), pc);
    }
    va_end(scan.arguments);
    return result;
}

int __isoc99_vfscanf(FILE *from, const char *format, va_list arguments);
int __isoc99_vsscanf(const char *from, const char *format, va_list arguments);

#define SCANS(name, parameters, last, how, from, real)                                             \
    int name parameters;                                                                           \
    int name parameters                                                                            \
    {                                                                                              \
        va_list arguments;                                                                         \
        va_start(arguments, last);                                                                 \
        int result = how(from, format, arguments, FT_REAL(real), CODE);                            \
        va_end(arguments);                                                                         \
        return result;                                                                             \
    }
#define SCANS_LIST(name, parameters, how, from, real)                                              \
    int name parameters;                                                                           \
    int name parameters                                                                            \
    {                                                                                              \
        return how(from, format, arguments, FT_REAL(real), CODE);                                  \
    }
#define SCAN_FAMILY(before, vfscanf_name, vsscanf_name)                                            \
    SCANS(before##fscanf, (FILE *restrict from, const char *restrict format, ...), format,         \
          scan_stream, from, vfscanf_name)                                                         \
    SCANS(before##scanf, (const char *restrict format, ...), format, scan_stream, stdin,           \
          vfscanf_name)                                                                            \
    SCANS(before##sscanf, (const char *restrict from, const char *restrict format, ...), format,   \
          scan_text, from, vsscanf_name)                                                           \
    SCANS_LIST(before##vfscanf,                                                                    \
               (FILE *restrict from, const char *restrict format, va_list arguments), scan_stream, \
               from, vfscanf_name)                                                                 \
    SCANS_LIST(before##vscanf, (const char *restrict format, va_list arguments), scan_stream,      \
               stdin, vfscanf_name)                                                                \
    SCANS_LIST(before##vsscanf,                                                                    \
               (const char *restrict from, const char *restrict format, va_list arguments),        \
               scan_text, from, vsscanf_name)
SCAN_FAMILY(__isoc99_, __isoc99_vfscanf, __isoc99_vsscanf)

/* ---- a stream's lock is a recursive mutex */

static ft_rt_object *stream_at(FILE *stream)
{
    return ft_rt_object_at(FT_RAW_CLASS_MUTEX, &stream->_lock, PTHREAD_MUTEX_RECURSIVE);
}

void flockfile(FILE *stream)
{
    ft_rt_about(FT_RT_ANY, CODE);
    ft_rt_thread *self = ft_rt_enter();
    if (!self) {
        FT_REAL(flockfile)(stream);
        return;
    }
    ft_rt_object *o = stream_at(stream);
    FT_RT_ASKS(self, ACQUIRE, 0, o->id, FT_RT_SITE);
    ft_rt_mutex_lock(self, o, NULL);
    FT_RT_SYNC(ACQUIRE, 0, o, FT_RT_SITE);
    ft_rt_leave(self);
}

int ftrylockfile(FILE *stream)
{
    FT_RT_HOOK(ftrylockfile, stream);
    ft_rt_object *o = stream_at(stream);
    bool held = o->owner && o->owner != self;
    if (held) {
        FT_RT_SYNC(TRY_FAILED, 0, o, FT_RT_SITE);
    } else {
        ft_rt_mutex_lock(self, o, NULL);
        FT_RT_SYNC(ACQUIRE, FT_FLAG_TRY, o, FT_RT_SITE);
    }
    return FT_RT_END(held ? EBUSY : 0);
}

void funlockfile(FILE *stream)
{
    ft_rt_about(FT_RT_ANY, CODE);
    ft_rt_thread *self = ft_rt_enter();
    if (!self) {
        FT_REAL(funlockfile)(stream);
        return;
    }
    ft_rt_object *o = stream_at(stream);
    FT_RT_SYNC(RELEASE, 0, o, FT_RT_SITE);
    if (o->owner == self) ft_rt_mutex_release(o);
    ft_rt_leave(self);
}
