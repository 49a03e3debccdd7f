#include "store/cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/contract.h"
#include "base/digest.h"
#include "base/memory.h"
#include "base/strbuf.h"

struct ft_cache {
    char *folder;
    uint64_t most;
    uint64_t bytes; /* there, about: others may remove files */
    bool known;     /* that was counted */
};

typedef struct file {
    char name[96];
    uint64_t size;
    struct timespec used;
} file;

typedef struct files {
    file *items;
    size_t count, room;
    uint64_t bytes;
} files;

ft_cache *ft_cache_new(const char *folder, uint64_t most)
{
    FT_REQUIRE(folder && most > 0);
    ft_cache *cache = ft_calloc(1, sizeof *cache);
    cache->folder = ft_strdup(folder);
    cache->most = most;
    return cache;
}

void ft_cache_free(ft_cache *cache)
{
    if (!cache) return;
    free(cache->folder);
    free(cache);
}

static void path_of(const ft_cache *cache, const char *name, ft_strbuf *path)
{
    ft_strbuf_printf(path, "%s/%s", cache->folder, name);
}

/* Only that becomes a path. */
static bool is_digest(const char *text)
{
    return strlen(text) == FT_DIGEST_HEX && strspn(text, "0123456789abcdef") == FT_DIGEST_HEX;
}

/* ---- Making room ----------------------------------------------------------------------------- */

static files list_files(const ft_cache *cache)
{
    files all = {.items = NULL};
    DIR *folder = opendir(cache->folder);
    struct stat info;
    for (const struct dirent *entry; folder && (entry = readdir(folder));) {
        if (fstatat(dirfd(folder), entry->d_name, &info, AT_SYMLINK_NOFOLLOW) != 0 ||
            !S_ISREG(info.st_mode) || strlen(entry->d_name) >= sizeof all.items->name)
            continue;
        all.items = ft_vec_grow(all.items, &all.room, all.count + 1, sizeof *all.items);
        file *its = &all.items[all.count++];
        snprintf(its->name, sizeof its->name, "%s", entry->d_name);
        its->size = (uint64_t)info.st_size;
        its->used = info.st_mtim;
        all.bytes += its->size;
    }
    if (folder) closedir(folder);
    return all;
}

static int by_use(const void *a, const void *b)
{
    const struct timespec *x = &((const file *)a)->used, *y = &((const file *)b)->used;
    if (x->tv_sec != y->tv_sec) return (x->tv_sec > y->tv_sec) - (x->tv_sec < y->tv_sec);
    return (x->tv_nsec > y->tv_nsec) - (x->tv_nsec < y->tv_nsec);
}

/* More than is needed, so that this is not done for each file. */
static void make_room(ft_cache *cache, uint64_t wanted)
{
    if (cache->known && cache->bytes + wanted <= cache->most) return;
    files all = list_files(cache);
    uint64_t most = cache->most / 4 * 3 > wanted ? cache->most / 4 * 3 - wanted : 0;
    if (all.bytes + wanted <= cache->most) most = all.bytes;
    if (all.count > 1) qsort(all.items, all.count, sizeof *all.items, by_use);
    for (size_t i = 0; i < all.count && all.bytes > most; i++) {
        ft_strbuf path = {0};
        path_of(cache, all.items[i].name, &path);
        if (unlink(path.text) == 0) all.bytes -= all.items[i].size;
        ft_strbuf_release(&path);
    }
    cache->bytes = all.bytes;
    cache->known = true;
    free(all.items);
}

/* ---- Files ----------------------------------------------------------------------------------- */

static bool transfer(int fd, bool out, void *bytes, size_t length)
{
    for (size_t done = 0; done < length;) {
        char *at = (char *)bytes + done;
        ssize_t some = out ? write(fd, at, length - done) : read(fd, at, length - done);
        if (some < 0 && errno == EINTR) continue;
        if (some <= 0) return false;
        done += (size_t)some;
    }
    return true;
}

static bool has_digest(const void *bytes, size_t length, const char *digest)
{
    char hex[FT_DIGEST_HEX + 1];
    ft_digest_of(bytes, length, hex);
    return strcmp(hex, digest) == 0;
}

/* NULL unless it has this digest. */
static char *read_file(int fd, const char *digest, size_t *length)
{
    struct stat info;
    if (fstat(fd, &info) != 0) return NULL;
    *length = (size_t)info.st_size;
    char *bytes = ft_alloc(*length + 1);
    if (transfer(fd, false, bytes, *length) && has_digest(bytes, *length, digest)) return bytes;
    free(bytes);
    return NULL;
}

void *ft_cache_read(ft_cache *cache, const char *digest, size_t *length, bool *damaged)
{
    FT_REQUIRE(is_digest(digest));
    ft_strbuf path = {0};
    path_of(cache, digest, &path);
    int fd = open(path.text, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    char *bytes = fd >= 0 ? read_file(fd, digest, length) : NULL;
    *damaged = fd >= 0 && !bytes;
    if (bytes) (void)futimens(fd, NULL); /* used now */
    if (fd >= 0) close(fd);
    if (*damaged) unlink(path.text);
    ft_strbuf_release(&path);
    return bytes;
}

static bool write_file(const char *path, const void *bytes, size_t length)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    bool good = fd >= 0 && transfer(fd, true, (void *)(uintptr_t)bytes, length);
    if (fd >= 0) close(fd);
    return good;
}

void ft_cache_write(ft_cache *cache, const char *digest, const void *bytes, size_t length)
{
    FT_REQUIRE(is_digest(digest));
    FT_CHECK(has_digest(bytes, length, digest));
    ft_strbuf path = {0}, part = {0};
    if (length > cache->most) return;
    if (mkdir(cache->folder, 0700) != 0 && errno != EEXIST) return;
    make_room(cache, length);
    path_of(cache, digest, &path);
    path_of(cache, "part", &part);
    if (write_file(part.text, bytes, length) && rename(part.text, path.text) == 0)
        cache->bytes += length;
    else
        unlink(part.text);
    ft_strbuf_release(&path);
    ft_strbuf_release(&part);
}
