/* Canonical paths as realpath has them, but for what the overlay says. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "libc/contract.h"
#include "libc/libc.h"
#include "world/overlay.h"

enum {
    LINKS = 40,
    FILES_MAKER = 0x2000, /* of model objects */
    NUMBERS = 512,        /* of paths: some share one, which makes them dependent */
    DESCRIPTORS = 1024,
    LARGEST = 64 << 20,
    PIECE = 1 << 14
};

typedef struct name {
    char *path;
    uint32_t node; /* + 1; 0: gone */
} name;

static ft_rt_world_node nodes[FT_RT_WORLD_NODES];
static name names[FT_RT_WORLD_NAMES];
static uint32_t n_nodes, n_names;
static uint16_t by_fd[DESCRIPTORS]; /* node + 1 */
static ft_rt_world_place place;
static char rest[2 * PATH_MAX], next_rest[2 * PATH_MAX];

/* ---- nodes */

ft_rt_world_node *ft_rt_world_node_at(uint32_t node)
{
    FT_REQUIRE(node < n_nodes);
    return &nodes[node];
}

uint32_t ft_rt_world_nodes(void)
{
    return n_nodes;
}

static int memory_file(void)
{
    int low = (int)syscall(SYS_memfd_create, "foretell-file", 0);
    int fd = low < 0 ? -1 : (int)syscall(SYS_fcntl, low, F_DUPFD_CLOEXEC, FT_RT_WORLD_ASIDE);
    if (low >= 0) syscall(SYS_close, low);
    if (fd < 0) ft_rt_x_refuse("more written files than there are descriptors for", NULL);
    return fd;
}

uint32_t ft_rt_world_node_new(ft_rt_world_node_kind kind, mode_t mode, uint32_t object)
{
    if (n_nodes == FT_RT_WORLD_NODES)
        ft_rt_x_refuse("more written files than one run may have", NULL);
    nodes[n_nodes] =
        (ft_rt_world_node){.kind = kind, .mode = mode & 07777, .fd = -1, .object = object};
    if (kind == FT_RT_WORLD_FILE) nodes[n_nodes].fd = memory_file();
    return n_nodes++;
}

int ft_rt_world_copy_content(int from)
{
    char bytes[PIECE];
    int to = memory_file();
    off_t at = 0;
    for (ssize_t n; (n = syscall(SYS_pread64, from, bytes, sizeof bytes, at)) > 0; at += n)
        if (syscall(SYS_pwrite64, to, bytes, n, at) != n)
            ft_rt_x_refuse("memory for the content of a file", NULL);
    return to;
}

uint32_t ft_rt_world_import(const ft_rt_world_place *p, const struct stat *about)
{
    if (about->st_size > LARGEST) ft_rt_x_refuse("a file of more than 64 MiB is written", NULL);
    int from = (int)syscall(SYS_openat, AT_FDCWD, p->path, O_RDONLY | O_CLOEXEC);
    if (from < 0) ft_rt_x_refuse("a file that is written, and may not be read", NULL);
    uint32_t node = ft_rt_world_node_new(FT_RT_WORLD_FILE, about->st_mode, p->object);
    syscall(SYS_close, nodes[node].fd);
    nodes[node].fd = ft_rt_world_copy_content(from);
    syscall(SYS_close, from);
    return node;
}

/* ---- descriptors */

uint32_t ft_rt_world_node_of(int fd)
{
    return fd >= 0 && fd < DESCRIPTORS ? by_fd[fd] : 0;
}

void ft_rt_world_opened(int fd, uint32_t node)
{
    if (fd >= 0 && fd < DESCRIPTORS) by_fd[fd] = (uint16_t)node;
}

/* ---- names */

static name *named(const char *path)
{
    for (uint32_t i = 0; i < n_names; i++)
        if (!strcmp(names[i].path, path)) return &names[i];
    return NULL;
}

static char *copy_of(const char *text)
{
    size_t n = strlen(text) + 1;
    char *made = ft_rt_libc()->malloc(n);
    if (!made) ft_rt_x_refuse("memory for the name of a file", NULL);
    return memcpy(made, text, n);
}

void ft_rt_world_name(const char *path, uint32_t node)
{
    name *known = named(path);
    if (!known && n_names == FT_RT_WORLD_NAMES)
        ft_rt_x_refuse("more names of files than one run may change", NULL);
    if (!known) {
        known = &names[n_names++];
        known->path = copy_of(path);
    }
    known->node = node;
}

static bool is_under(const char *path, const char *folder)
{
    size_t n = strlen(folder);
    return !strncmp(path, folder, n) && path[n] == '/';
}

bool ft_rt_world_has_children(const char *path)
{
    for (uint32_t i = 0; i < n_names; i++)
        if (names[i].node && is_under(names[i].path, path)) return true;
    return false;
}

bool ft_rt_world_changed_under(const char *path)
{
    size_t n = strcmp(path, "/") ? strlen(path) : 0;
    for (uint32_t i = 0; i < n_names; i++)
        if (!strncmp(names[i].path, path, n) && names[i].path[n] == '/' &&
            !strchr(names[i].path + n + 1, '/'))
            return true;
    return false;
}

void ft_rt_world_move_names(const char *from, const char *to)
{
    char path[PATH_MAX];
    uint32_t before = n_names;
    for (uint32_t i = 0; i < before; i++) {
        if (!is_under(names[i].path, from) || !names[i].node) continue;
        const char *end = names[i].path + strlen(from);
        size_t n = strlen(to), more = strlen(end) + 1;
        if (n + more > sizeof path) ft_rt_x_refuse("a very long path", NULL);
        memcpy(path, to, n);
        memcpy(path + n, end, more);
        uint32_t node = names[i].node;
        names[i].node = 0;
        ft_rt_world_name(path, node);
    }
}

/* ---- where a path leads */

static bool begin(int folder, const char *path)
{
    char by_number[32];
    ssize_t n = 0;
    place.path[0] = 0;
    if (*path == '/') return true;
    if (folder == AT_FDCWD) {
        n = syscall(SYS_getcwd, place.path, sizeof place.path);
    } else {
        ft_rt_world_path_of(by_number, folder);
        n = syscall(SYS_readlinkat, AT_FDCWD, by_number, place.path, sizeof place.path - 1);
        if (n > 0) place.path[n] = 0;
    }
    if (n <= 0 || place.path[0] != '/') return place.error = EBADF, false;
    if (!strcmp(place.path, "/")) place.path[0] = 0;
    return true;
}

static void drop_last(void)
{
    char *end = strrchr(place.path, '/');
    if (end) *end = 0;
}

/* The next part of the path goes over; false: there is none. */
static bool add_part(bool *last)
{
    char *from = rest + strspn(rest, "/");
    size_t n = strcspn(from, "/"), at = strlen(place.path);
    if (!n) return false;
    bool up = n == 2 && from[0] == '.' && from[1] == '.', here = n == 1 && *from == '.';
    if (at + n + 2 > sizeof place.path) return place.error = ENAMETOOLONG, false;
    if (up) drop_last();
    if (!up && !here) {
        place.path[at] = '/';
        memcpy(place.path + at + 1, from, n);
        place.path[at + 1 + n] = 0;
    }
    from += n + strspn(from + n, "/");
    *last = !*from;
    memmove(rest, from, strlen(from) + 1);
    return true;
}

/* The path goes on with the link's target. */
static void follow(const char *target)
{
    size_t n = strlen(target);
    if (n + strlen(rest) + 2 > sizeof next_rest) {
        place.error = ENAMETOOLONG;
        return;
    }
    memcpy(next_rest, target, n);
    next_rest[n] = '/';
    memmove(next_rest + n + 1, rest, strlen(rest) + 1);
    memcpy(rest, next_rest, sizeof rest);
    if (*target == '/')
        place.path[0] = 0;
    else
        drop_last();
}

/* The target of the link that lies at the path now; NULL: there is none. */
static const char *link_at(void)
{
    static char target[PATH_MAX];
    const name *known = named(place.path);
    if (known)
        return known->node && nodes[known->node - 1].kind == FT_RT_WORLD_LINK
                   ? nodes[known->node - 1].target
                   : NULL;
    ssize_t n = syscall(SYS_readlinkat, AT_FDCWD, place.path, target, sizeof target - 1);
    if (n <= 0) return NULL;
    target[n] = 0;
    return target;
}

static bool is_special(void)
{
    static const char *const ROOTS[] = {"/proc/", "/dev/", "/sys/"};
    if (!strncmp(place.path, "/dev/shm/", 9)) return false;
    for (size_t i = 0; i < sizeof ROOTS / sizeof *ROOTS; i++)
        if (!strncmp(place.path, ROOTS[i], strlen(ROOTS[i]))) return true;
    return false;
}

/* A part of the path that leads on: a folder. */
static void check_part(void)
{
    const name *known = named(place.path);
    if (known && !known->node) place.error = ENOENT;
    if (known && known->node && nodes[known->node - 1].kind == FT_RT_WORLD_FILE)
        place.error = ENOTDIR;
}

static void walk(bool follows)
{
    bool last = false;
    uint32_t links = 0;
    while (!place.error && !place.special && add_part(&last)) {
        place.special = is_special();
        const char *target = place.special || (last && !follows) ? NULL : link_at();
        if (target && ++links > LINKS) place.error = ELOOP;
        if (target)
            follow(target);
        else if (!last)
            check_part();
    }
}

static uint32_t object_of(const char *path)
{
    uint64_t h = UINT64_C(0xCBF29CE484222325);
    for (; *path; path++) h = (h ^ (unsigned char)*path) * UINT64_C(0x100000001B3);
    return ft_rt_x_model_object(FT_X_MEMORY, FILES_MAKER, (uint32_t)(h >> 32) % NUMBERS, 0);
}

ft_rt_world_place *ft_rt_world_find(int folder, const char *path, bool follows)
{
    place.error = !path ? EFAULT : !*path ? ENOENT : strlen(path) >= PATH_MAX ? ENAMETOOLONG : 0;
    place.special = place.named = place.gone = false;
    if (place.error || !begin(folder, path)) return &place;
    memcpy(rest, path, strlen(path) + 1);
    walk(follows);
    if (!*place.path) memcpy(place.path, "/", 2);
    if (place.special || place.error) return &place;
    const name *known = named(place.path);
    place.named = known != NULL;
    place.gone = known && !known->node;
    if (known && known->node) place.node = known->node - 1;
    place.object = object_of(place.path);
    return &place;
}

bool ft_rt_world_really(const ft_rt_world_place *p, struct stat *about)
{
    return !p->named && !FT_REAL(lstat)(p->path, about);
}

bool ft_rt_world_is_folder(const char *path)
{
    struct stat about;
    const name *known = named(path);
    if (known) return known->node && nodes[known->node - 1].kind == FT_RT_WORLD_FOLDER;
    return !FT_REAL(stat)(path, &about) && S_ISDIR(about.st_mode);
}
