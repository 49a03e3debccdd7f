#include "service/fault_vfs.h"

#include <pthread.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/strbuf.h"

#define SECTOR 512

/* A write, or with no bytes a truncation to `at`. */
typedef struct change {
    int64_t at;
    size_t length;
    char *bytes;
} change;

/* A file as the disk has it, and what the disk may not have yet. */
typedef struct image {
    struct image *next;
    char *path;
    ft_strbuf safe;
    FT_VEC(change) pending;
} image;

typedef struct file {
    sqlite3_file base;
    image *image; /* NULL: not watched */
    sqlite3_file *real;
} file;

static struct {
    pthread_mutex_t mutex;
    sqlite3_vfs vfs, *real;
    uint64_t count, struck, fail_at;
    bool stays, full;
    char *folder;
    image *images;
    void (*each)(void *data);
    void *data;
} all = {.mutex = PTHREAD_MUTEX_INITIALIZER};

/* ---- Failing --------------------------------------------------------------------------------- */

static bool strikes(void)
{
    pthread_mutex_lock(&all.mutex);
    uint64_t n = ++all.count;
    bool now = all.fail_at && (n == all.fail_at || (all.stays && n > all.fail_at));
    if (now) all.struck++;
    pthread_mutex_unlock(&all.mutex);
    return now;
}

void ft_fault_vfs_fail(uint64_t nth, bool stays)
{
    pthread_mutex_lock(&all.mutex);
    all.count = all.struck = 0;
    all.fail_at = nth;
    all.stays = stays;
    pthread_mutex_unlock(&all.mutex);
}

void ft_fault_vfs_fill(bool full)
{
    pthread_mutex_lock(&all.mutex);
    all.full = full;
    pthread_mutex_unlock(&all.mutex);
}

static bool is_full(void)
{
    pthread_mutex_lock(&all.mutex);
    bool full = all.full;
    pthread_mutex_unlock(&all.mutex);
    return full;
}

uint64_t ft_fault_vfs_count(void)
{
    pthread_mutex_lock(&all.mutex);
    uint64_t count = all.count;
    pthread_mutex_unlock(&all.mutex);
    return count;
}

uint64_t ft_fault_vfs_struck(void)
{
    pthread_mutex_lock(&all.mutex);
    uint64_t struck = all.struck;
    pthread_mutex_unlock(&all.mutex);
    return struck;
}

/* ---- Losing power ---------------------------------------------------------------------------- */

static void apply(ft_strbuf *content, const change *c, size_t from, size_t to)
{
    if (!c->bytes) {
        if ((size_t)c->at < content->len) ft_strbuf_cut(content, (size_t)c->at);
        return;
    }
    while (content->len < (size_t)c->at + to) ft_strbuf_add(content, "", 1);
    memcpy(content->text + c->at + from, c->bytes + from, to - from);
}

static void note(image *i, const void *bytes, size_t length, int64_t at)
{
    if (!i) return;
    change c = {.at = at, .length = length};
    if (bytes) c.bytes = memcpy(ft_alloc(length), bytes, length);
    pthread_mutex_lock(&all.mutex);
    ft_vec_push(&i->pending, c);
    pthread_mutex_unlock(&all.mutex);
}

static void settle(image *i)
{
    if (!i) return;
    pthread_mutex_lock(&all.mutex);
    for (size_t k = 0; k < i->pending.len; k++) {
        apply(&i->safe, &i->pending.data[k], 0, i->pending.data[k].length);
        free(i->pending.data[k].bytes);
    }
    i->pending.len = 0;
    pthread_mutex_unlock(&all.mutex);
}

static void forget(image *i)
{
    for (size_t k = 0; k < i->pending.len; k++) free(i->pending.data[k].bytes);
    i->pending.len = 0;
    ft_strbuf_release(&i->safe);
}

static image *image_of(const char *path)
{
    if (!path || !all.folder || strncmp(path, all.folder, strlen(all.folder)) != 0) return NULL;
    image *i = all.images;
    while (i && strcmp(i->path, path) != 0) i = i->next;
    if (i) return i;
    i = ft_calloc(1, sizeof *i);
    i->path = ft_strdup(path);
    i->next = all.images;
    return all.images = i;
}

static void before_change(const image *i)
{
    if (i && all.each) all.each(all.data);
}

void ft_fault_vfs_watch(const char *folder, void (*each)(void *data), void *data)
{
    pthread_mutex_lock(&all.mutex);
    for (image *i = all.images, *next; i; i = next) {
        next = i->next;
        forget(i);
        ft_vec_release(&i->pending);
        free(i->path);
        free(i);
    }
    all.images = NULL;
    free(all.folder);
    all.folder = folder ? ft_strdup(folder) : NULL;
    all.each = each;
    all.data = data;
    pthread_mutex_unlock(&all.mutex);
}

static uint32_t chance(uint32_t *seed)
{
    return (*seed = *seed * 1103515245u + 12345u) >> 16;
}

/* Whether all, nothing or some sectors of each write are there. */
static void apply_by_chance(ft_strbuf *content, const change *c, uint32_t *seed)
{
    uint32_t what = *seed == 1 ? 0 : chance(seed) % 3;
    if (what == 1) return;
    if (what == 0 || !c->bytes) {
        apply(content, c, 0, c->length);
        return;
    }
    for (size_t from = 0; from < c->length; from += SECTOR)
        if (chance(seed) & 1)
            apply(content, c, from, c->length - from < SECTOR ? c->length : from + SECTOR);
}

static void put_image(const image *i, uint32_t seed,
                      void (*put)(const char *name, const void *bytes, size_t length))
{
    ft_strbuf content = {0};
    ft_strbuf_add(&content, ft_strbuf_text(&i->safe), i->safe.len);
    for (size_t k = 0; seed && k < i->pending.len; k++)
        apply_by_chance(&content, &i->pending.data[k], &seed);
    put(strrchr(i->path, '/') + 1, ft_strbuf_text(&content), content.len);
    ft_strbuf_release(&content);
}

void ft_fault_vfs_cut(uint32_t seed,
                      void (*put)(const char *name, const void *bytes, size_t length))
{
    pthread_mutex_lock(&all.mutex);
    for (const image *i = all.images; i; i = i->next)
        if (i->safe.len || (seed && i->pending.len)) put_image(i, seed, put);
    pthread_mutex_unlock(&all.mutex);
}

/* ---- Files ----------------------------------------------------------------------------------- */

static sqlite3_file *real_of(sqlite3_file *f)
{
    return ((file *)f)->real;
}

static int x_close(sqlite3_file *f)
{
    return real_of(f)->pMethods->xClose(real_of(f));
}

static int x_read(sqlite3_file *f, void *to, int length, sqlite3_int64 at)
{
    if (strikes()) {
        memset(to, 0, (size_t)length);
        return SQLITE_IOERR_READ;
    }
    return real_of(f)->pMethods->xRead(real_of(f), to, length, at);
}

static int x_write(sqlite3_file *f, const void *bytes, int length, sqlite3_int64 at)
{
    image *i = ((file *)f)->image;
    before_change(i);
    if (is_full()) return SQLITE_FULL;
    if (strikes()) {
        if (ft_fault_vfs_count() % 2 == 0 || length < 2) return SQLITE_FULL;
        (void)real_of(f)->pMethods->xWrite(real_of(f), bytes, length / 2, at);
        note(i, bytes, (size_t)length / 2, at);
        return SQLITE_IOERR_WRITE;
    }
    int code = real_of(f)->pMethods->xWrite(real_of(f), bytes, length, at);
    if (code == SQLITE_OK) note(i, bytes, (size_t)length, at);
    return code;
}

static int x_truncate(sqlite3_file *f, sqlite3_int64 size)
{
    before_change(((file *)f)->image);
    if (strikes()) return SQLITE_IOERR_TRUNCATE;
    int code = real_of(f)->pMethods->xTruncate(real_of(f), size);
    if (code == SQLITE_OK) note(((file *)f)->image, NULL, 0, size);
    return code;
}

static int x_sync(sqlite3_file *f, int flags)
{
    before_change(((file *)f)->image);
    if (strikes()) return SQLITE_IOERR_FSYNC;
    int code = real_of(f)->pMethods->xSync(real_of(f), flags);
    if (code == SQLITE_OK) settle(((file *)f)->image);
    return code;
}

static int x_file_size(sqlite3_file *f, sqlite3_int64 *size)
{
    if (strikes()) return SQLITE_IOERR_FSTAT;
    return real_of(f)->pMethods->xFileSize(real_of(f), size);
}

static int x_lock(sqlite3_file *f, int level)
{
    return real_of(f)->pMethods->xLock(real_of(f), level);
}

static int x_unlock(sqlite3_file *f, int level)
{
    return real_of(f)->pMethods->xUnlock(real_of(f), level);
}

static int x_check_lock(sqlite3_file *f, int *locked)
{
    return real_of(f)->pMethods->xCheckReservedLock(real_of(f), locked);
}

static int x_control(sqlite3_file *f, int operation, void *argument)
{
    return real_of(f)->pMethods->xFileControl(real_of(f), operation, argument);
}

static int x_sector_size(sqlite3_file *f)
{
    return real_of(f)->pMethods->xSectorSize(real_of(f));
}

/* No promises (power-safe overwrite, atomic or ordered writes) but what any disk keeps. */
static int x_characteristics(sqlite3_file *f)
{
    (void)f;
    return 0;
}

static int x_shm_map(sqlite3_file *f, int region, int size, int extend, void volatile **to)
{
    if (strikes()) return SQLITE_IOERR_SHMMAP;
    return real_of(f)->pMethods->xShmMap(real_of(f), region, size, extend, to);
}

static int x_shm_lock(sqlite3_file *f, int offset, int count, int flags)
{
    return real_of(f)->pMethods->xShmLock(real_of(f), offset, count, flags);
}

static void x_shm_barrier(sqlite3_file *f)
{
    real_of(f)->pMethods->xShmBarrier(real_of(f));
}

static int x_shm_unmap(sqlite3_file *f, int delete)
{
    return real_of(f)->pMethods->xShmUnmap(real_of(f), delete);
}

static const sqlite3_io_methods METHODS = {
    2,
    x_close,
    x_read,
    x_write,
    x_truncate,
    x_sync,
    x_file_size,
    x_lock,
    x_unlock,
    x_check_lock,
    x_control,
    x_sector_size,
    x_characteristics,
    x_shm_map,
    x_shm_lock,
    x_shm_barrier,
    x_shm_unmap,
    NULL,
    NULL,
};

/* ---- The file system ------------------------------------------------------------------------- */

static int x_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *f, int flags, int *out)
{
    (void)vfs;
    file *mine = (file *)f;
    *mine = (file){.real = (sqlite3_file *)(mine + 1)};
    if (strikes()) return SQLITE_CANTOPEN;
    int code = all.real->xOpen(all.real, name, mine->real, flags, out);
    if (code != SQLITE_OK) return code;
    pthread_mutex_lock(&all.mutex);
    mine->image = image_of(name);
    pthread_mutex_unlock(&all.mutex);
    mine->base.pMethods = &METHODS;
    return SQLITE_OK;
}

/* That a file is gone may be lost as well, but what it said then is in the database already. */
static int x_delete(sqlite3_vfs *vfs, const char *name, int sync)
{
    (void)vfs;
    pthread_mutex_lock(&all.mutex);
    image *i = image_of(name);
    pthread_mutex_unlock(&all.mutex);
    before_change(i);
    if (strikes()) return SQLITE_IOERR_DELETE;
    int code = all.real->xDelete(all.real, name, sync);
    if (i) {
        pthread_mutex_lock(&all.mutex);
        forget(i);
        pthread_mutex_unlock(&all.mutex);
    }
    return code;
}

static int x_access(sqlite3_vfs *vfs, const char *name, int flags, int *result)
{
    (void)vfs;
    if (strikes()) return SQLITE_IOERR_ACCESS;
    return all.real->xAccess(all.real, name, flags, result);
}

void ft_fault_vfs_install(void)
{
    if (sqlite3_initialize() != SQLITE_OK) abort();
    all.real = sqlite3_vfs_find(NULL);
    all.vfs = *all.real;
    all.vfs.zName = "fault";
    all.vfs.pNext = NULL;
    all.vfs.szOsFile = (int)sizeof(file) + all.real->szOsFile;
    all.vfs.xOpen = x_open;
    all.vfs.xDelete = x_delete;
    all.vfs.xAccess = x_access;
    if (sqlite3_vfs_register(&all.vfs, 1) != SQLITE_OK) abort();
}

void ft_fault_vfs_remove(void)
{
    sqlite3_vfs_unregister(&all.vfs);
    ft_fault_vfs_watch(NULL, NULL, NULL);
    ft_fault_vfs_fail(0, false);
}
