#include "service/memory_vfs.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/strbuf.h"

typedef struct handle handle;

typedef struct node {
    struct node *next;
    char *name; /* NULL: deleted, or without a name from the start */
    ft_strbuf content;
    FT_VEC(char *) regions; /* of shared memory */
    handle *handles;
} node;

struct handle {
    sqlite3_file base;
    node *node;
    handle *next;
    int level;                  /* of its lock on the file */
    unsigned shared, exclusive; /* its locks on shared memory, a bit each */
};

static struct {
    sqlite3_vfs vfs;
    node *nodes;
} all;

/* ---- Nodes ----------------------------------------------------------------------------------- */

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static node *find(const char *path)
{
    node *n = all.nodes;
    while (n && (!n->name || strcmp(n->name, base_name(path)) != 0)) n = n->next;
    return n;
}

static node *make(const char *path)
{
    node *n = ft_calloc(1, sizeof *n);
    n->name = path ? ft_strdup(base_name(path)) : NULL;
    n->next = all.nodes;
    return all.nodes = n;
}

static void drop_regions(node *n)
{
    for (size_t i = 0; i < n->regions.len; i++) free(n->regions.data[i]);
    n->regions.len = 0;
}

/* One that is deleted stays while it is open. */
static void release_unused(void)
{
    for (node **at = &all.nodes; *at;) {
        node *n = *at;
        if (n->name || n->handles) {
            at = &n->next;
            continue;
        }
        *at = n->next;
        drop_regions(n);
        ft_vec_release(&n->regions);
        ft_strbuf_release(&n->content);
        free(n);
    }
}

static void unname(node *n)
{
    free(n->name);
    n->name = NULL;
}

void ft_memory_vfs_clear(void)
{
    for (node *n = all.nodes; n; n = n->next) unname(n);
    release_unused();
}

void ft_memory_vfs_put(const char *name, const void *bytes, size_t length)
{
    ft_strbuf_add(&make(name)->content, bytes, length);
}

void ft_memory_vfs_crash(void)
{
    node *before = all.nodes;
    all.nodes = NULL; /* whoever died keeps them, and is not asked again */
    for (const node *n = before; n; n = n->next)
        if (n->name) ft_memory_vfs_put(n->name, ft_strbuf_text(&n->content), n->content.len);
}

/* ---- Files ----------------------------------------------------------------------------------- */

static node *node_of(sqlite3_file *f)
{
    return ((handle *)f)->node;
}

static int x_close(sqlite3_file *f)
{
    handle **at = &node_of(f)->handles;
    while (*at != (handle *)f) at = &(*at)->next;
    *at = (*at)->next;
    release_unused();
    return SQLITE_OK;
}

static int x_read(sqlite3_file *f, void *to, int length, sqlite3_int64 at)
{
    const node *n = node_of(f);
    size_t wanted = (size_t)length, there = 0;
    if ((size_t)at < n->content.len) there = n->content.len - (size_t)at;
    if (there > wanted) there = wanted;
    if (there) memcpy(to, n->content.text + at, there);
    memset((char *)to + there, 0, wanted - there);
    return there == wanted ? SQLITE_OK : SQLITE_IOERR_SHORT_READ;
}

static void grow(ft_strbuf *content, size_t length)
{
    static const char zeros[4096];
    while (content->len < length) {
        size_t more = length - content->len;
        ft_strbuf_add(content, zeros, more < sizeof zeros ? more : sizeof zeros);
    }
}

static int x_write(sqlite3_file *f, const void *bytes, int length, sqlite3_int64 at)
{
    node *n = node_of(f);
    grow(&n->content, (size_t)at + (size_t)length);
    memcpy(n->content.text + at, bytes, (size_t)length);
    return SQLITE_OK;
}

static int x_truncate(sqlite3_file *f, sqlite3_int64 size)
{
    node *n = node_of(f);
    if ((size_t)size < n->content.len) ft_strbuf_cut(&n->content, (size_t)size);
    return SQLITE_OK;
}

static int x_sync(sqlite3_file *f, int flags)
{
    (void)f, (void)flags;
    return SQLITE_OK;
}

static int x_file_size(sqlite3_file *f, sqlite3_int64 *size)
{
    *size = (sqlite3_int64)node_of(f)->content.len;
    return SQLITE_OK;
}

static int highest_other(sqlite3_file *f)
{
    int level = SQLITE_LOCK_NONE;
    for (const handle *h = node_of(f)->handles; h; h = h->next)
        if (h != (handle *)f && h->level > level) level = h->level;
    return level;
}

static int x_lock(sqlite3_file *f, int level)
{
    int other = highest_other(f);
    int most = level >= SQLITE_LOCK_EXCLUSIVE  ? SQLITE_LOCK_NONE
               : level >= SQLITE_LOCK_RESERVED ? SQLITE_LOCK_SHARED
                                               : SQLITE_LOCK_RESERVED;
    if (other > most) return SQLITE_BUSY;
    if (level > ((handle *)f)->level) ((handle *)f)->level = level;
    return SQLITE_OK;
}

static int x_unlock(sqlite3_file *f, int level)
{
    ((handle *)f)->level = level;
    return SQLITE_OK;
}

static int x_check_lock(sqlite3_file *f, int *locked)
{
    *locked = highest_other(f) >= SQLITE_LOCK_RESERVED;
    return SQLITE_OK;
}

static int x_control(sqlite3_file *f, int operation, void *argument)
{
    (void)f, (void)operation, (void)argument;
    return SQLITE_NOTFOUND;
}

static int x_number(sqlite3_file *f) /* of a sector's bytes, of promises: the standard */
{
    (void)f;
    return 0;
}

static int x_shm_map(sqlite3_file *f, int region, int size, int extend, void volatile **to)
{
    node *n = node_of(f);
    *to = NULL;
    while (extend && n->regions.len <= (size_t)region)
        ft_vec_push(&n->regions, ft_calloc(1, (size_t)size));
    if ((size_t)region < n->regions.len) *to = n->regions.data[region];
    return SQLITE_OK;
}

static int x_shm_lock(sqlite3_file *f, int offset, int count, int flags)
{
    handle *mine = (handle *)f;
    unsigned mask = (1u << (offset + count)) - (1u << offset), others = 0;
    if (flags & SQLITE_SHM_UNLOCK) {
        mine->shared &= ~mask;
        mine->exclusive &= ~mask;
        return SQLITE_OK;
    }
    bool exclusive = (flags & SQLITE_SHM_EXCLUSIVE) != 0;
    for (const handle *h = mine->node->handles; h; h = h->next)
        if (h != mine) others |= h->exclusive | (exclusive ? h->shared : 0);
    if (others & mask) return SQLITE_BUSY;
    *(exclusive ? &mine->exclusive : &mine->shared) |= mask;
    return SQLITE_OK;
}

static void x_shm_barrier(sqlite3_file *f)
{
    (void)f;
}

/* The last one to leave takes it along. */
static int x_shm_unmap(sqlite3_file *f, int delete)
{
    handle *mine = (handle *)f;
    (void)delete;
    mine->shared = mine->exclusive = 0;
    if (mine->node->handles == mine && !mine->next) drop_regions(mine->node);
    return SQLITE_OK;
}

static const sqlite3_io_methods METHODS = {
    2,          x_close,       x_read,       x_write,   x_truncate, x_sync,   x_file_size,
    x_lock,     x_unlock,      x_check_lock, x_control, x_number,   x_number, x_shm_map,
    x_shm_lock, x_shm_barrier, x_shm_unmap,  NULL,      NULL,
};

/* ---- The file system ------------------------------------------------------------------------- */

static int x_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *f, int flags, int *out)
{
    (void)vfs;
    handle *mine = (handle *)f;
    *mine = (handle){.node = name ? find(name) : NULL};
    if (!mine->node && !(flags & SQLITE_OPEN_CREATE)) return SQLITE_CANTOPEN;
    if (!mine->node) mine->node = make(name);
    mine->next = mine->node->handles;
    mine->node->handles = mine;
    mine->base.pMethods = &METHODS;
    if (out) *out = flags;
    return SQLITE_OK;
}

static int x_delete(sqlite3_vfs *vfs, const char *name, int sync)
{
    (void)vfs, (void)sync;
    node *n = find(name);
    if (!n) return SQLITE_IOERR_DELETE_NOENT;
    unname(n);
    release_unused();
    return SQLITE_OK;
}

static int x_access(sqlite3_vfs *vfs, const char *name, int flags, int *result)
{
    (void)vfs, (void)flags;
    *result = find(name) != NULL;
    return SQLITE_OK;
}

static int x_full_name(sqlite3_vfs *vfs, const char *name, int size, char *out)
{
    (void)vfs;
    return snprintf(out, (size_t)size, "%s", name) < size ? SQLITE_OK : SQLITE_CANTOPEN;
}

void ft_memory_vfs_install(void)
{
    if (sqlite3_initialize() != SQLITE_OK) abort();
    all.vfs = *sqlite3_vfs_find(NULL); /* for time and chance */
    all.vfs.zName = "memory";
    all.vfs.pNext = NULL;
    all.vfs.szOsFile = sizeof(handle);
    all.vfs.xOpen = x_open;
    all.vfs.xDelete = x_delete;
    all.vfs.xAccess = x_access;
    all.vfs.xFullPathname = x_full_name;
    if (sqlite3_vfs_register(&all.vfs, 1) != SQLITE_OK) abort();
}

void ft_memory_vfs_remove(void)
{
    ft_memory_vfs_clear();
    sqlite3_vfs_unregister(&all.vfs);
}
