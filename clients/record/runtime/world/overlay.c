/* Calls on paths, in the overlay. Each is an action on its path first, so that it is done where the
 * paths' state will not change before the call's next action. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "libc/contract.h"
#include "libc/libc.h"
#include "world/overlay.h"

enum { OWNER_MODE = 0600, ALL = 0777 };

#define BY_NUMBER 32

/* ---- actions */

static void act(bool writes, int64_t what, uint32_t object, const void *pc)
{
    ft_x_operation o = {.kind = writes ? FT_X_WRITE : FT_X_READ, .object = object, .value = what};
    if (!ft_rt_x_has_begun()) return;
    ft_rt_explore(&o, pc);
    if (writes) ft_rt_x_edge_at(object, true);
    ft_rt_x_edge_at(object, false);
}

/* Where the path leads once the thread goes on. NULL: nowhere, errno says why. */
static ft_rt_world_place *look_for(int64_t what, int folder, const char *path, bool follows,
                                   bool writes, const void *pc)
{
    ft_rt_world_place *p = ft_rt_world_find(folder, path, follows);
    if (!p->error && !p->special) {
        act(writes, what, p->object, pc);
        p = ft_rt_world_find(folder, path, follows);
    }
    if (!p->error) return p;
    errno = p->error;
    return NULL;
}

static ft_rt_world_place *look(int folder, const char *path, bool follows, bool writes,
                               const void *pc)
{
    return look_for(FT_RT_X_OF_FILE, folder, path, follows, writes, pc);
}

/* The folder that the path lies in exists, and names may be changed in it. */
static bool may_change(const ft_rt_world_place *p)
{
    char folder[PATH_MAX];
    struct stat about;
    memcpy(folder, p->path, strlen(p->path) + 1);
    char *end = strrchr(folder, '/');
    end[end == folder] = 0;
    if (!ft_rt_world_is_folder(folder)) return errno = ENOENT, false;
    bool real = !FT_REAL(stat)(folder, &about);
    if (real && syscall(SYS_faccessat, AT_FDCWD, folder, W_OK)) return errno = EACCES, false;
    return true;
}

static bool exists(const ft_rt_world_place *p, struct stat *about)
{
    return p->named ? !p->gone : ft_rt_world_really(p, about);
}

/* The program's; the kernel's is left as it is. */
static mode_t mask;
static bool knows_mask;

mode_t ft_rt_world_umask(mode_t wanted)
{
    if (!knows_mask) {
        mask = FT_REAL(umask)(0);
        FT_REAL(umask)(mask);
        knows_mask = true;
    }
    mode_t before = mask;
    mask = wanted & ALL;
    return before;
}

static mode_t masked(mode_t mode)
{
    mode_t now = ft_rt_world_umask(0);
    mask = now;
    return mode & ~now;
}

/* The node at the path, made of the real file if there is one; false: errno says why not. */
static bool take_node(const ft_rt_world_place *p, uint32_t *node)
{
    struct stat about;
    if (p->named && p->gone) return errno = ENOENT, false;
    if (p->named) return *node = p->node, true;
    if (!ft_rt_world_really(p, &about)) return errno = ENOENT, false;
    if (S_ISDIR(about.st_mode)) return errno = EISDIR, false;
    if (!S_ISREG(about.st_mode))
        ft_rt_world_refuse(FT_RT_WORLD_CHANGE, "a change of a device, pipe or link", NULL);
    *node = ft_rt_world_import(p, &about);
    ft_rt_world_name(p->path, *node + 1);
    return true;
}

/* ---- opening */

/* A descriptor of its own for the node. */
static int open_node(uint32_t node, int flags)
{
    char path[BY_NUMBER];
    const ft_rt_world_node *n = ft_rt_world_node_at(node);
    if (n->kind == FT_RT_WORLD_NAMED_SOCKET) return ft_rt_world_error(ENXIO);
    if (n->kind != FT_RT_WORLD_FILE) return ft_rt_world_error(EISDIR);
    ft_rt_world_path_of(path, n->fd);
    int kept = flags & ~(O_CREAT | O_EXCL | O_NOFOLLOW | O_DIRECT | (O_TMPFILE & ~O_DIRECTORY));
    int fd = (int)syscall(SYS_openat, AT_FDCWD, path, kept, 0);
    ft_rt_world_opened(fd, node + 1);
    return fd;
}

static bool is_changing(int flags)
{
    return (flags & O_ACCMODE) != O_RDONLY || flags & (O_CREAT | O_TRUNC);
}

static int open_really(int folder, const char *path, int flags, mode_t mode)
{
    int fd = FT_REAL(openat)(folder, path, flags, mode);
    ft_rt_world_opened(fd, 0);
    return fd;
}

static int access_for(int flags)
{
    int how = flags & O_ACCMODE;
    return how == O_RDONLY ? R_OK : how == O_WRONLY ? W_OK : R_OK | W_OK;
}

static int create(const ft_rt_world_place *p, int flags, mode_t mode)
{
    if (!(flags & O_CREAT)) return ft_rt_world_error(ENOENT);
    if (!may_change(p)) return -1;
    uint32_t node = ft_rt_world_node_new(FT_RT_WORLD_FILE, masked(mode), p->object);
    ft_rt_world_name(p->path, node + 1);
    return open_node(node, flags);
}

static int open_unnamed(int flags, mode_t mode)
{
    return open_node(ft_rt_world_node_new(FT_RT_WORLD_FILE, masked(mode), FT_RT_WORLD_NO_OBJECT),
                     flags & ~(O_TMPFILE | O_CREAT));
}

static bool is_file(const struct stat *about)
{
    return S_ISREG(about->st_mode);
}

int ft_rt_world_open(int folder, const char *path, int flags, mode_t mode, const char *name,
                     const void *pc)
{
    struct stat about;
    uint32_t node;
    bool changes = is_changing(flags);
    if ((flags & O_TMPFILE) == O_TMPFILE) return open_unnamed(flags, mode);
    ft_rt_world_place *p =
        look(folder, path, !(flags & O_NOFOLLOW) && !(flags & O_CREAT && flags & O_EXCL),
             flags & (O_CREAT | O_TRUNC), pc);
    if (!p) return -1;
    if (p->special) return open_really(folder, path, flags, mode);
    bool there = exists(p, &about);
    if (there && flags & O_CREAT && flags & O_EXCL) return ft_rt_world_error(EEXIST);
    if (!there)
        return p->named || changes ? create(p, flags, mode)
                                   : open_really(folder, path, flags, mode);
    if (!p->named && (!changes || S_ISDIR(about.st_mode)))
        return open_really(folder, path, flags, mode);
    if (!p->named && !is_file(&about)) ft_rt_world_refuse(FT_RT_WORLD_CHANGE, name, pc);
    if (!p->named && syscall(SYS_faccessat, AT_FDCWD, p->path, access_for(flags)))
        return ft_rt_world_error(EACCES);
    if (!take_node(p, &node)) return -1;
    if (ft_rt_world_node_at(node)->kind == FT_RT_WORLD_FOLDER && !changes)
        ft_rt_x_refuse("a folder that the program made is opened", pc);
    return open_node(node, flags);
}

/* The flags of fopen's mode. */
static int flags_of(const char *mode)
{
    static const struct {
        char letter;
        int flags;
    } rows[] = {{'r', 0}, {'w', O_CREAT | O_TRUNC}, {'a', O_CREAT | O_APPEND}};
    int flags = strchr(mode, '+') ? O_RDWR : *mode == 'r' ? O_RDONLY : O_WRONLY;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (*mode == rows[i].letter) flags |= rows[i].flags;
    return flags | (strchr(mode, 'x') ? O_EXCL : 0) | (strchr(mode, 'e') ? O_CLOEXEC : 0);
}

FILE *ft_rt_world_fopen(const char *path, const char *mode, const void *pc)
{
    int fd = ft_rt_world_open(AT_FDCWD, path, flags_of(mode), 0666, "fopen", pc);
    FILE *file = fd < 0 ? NULL : fdopen(fd, mode);
    if (!file && fd >= 0) syscall(SYS_close, fd);
    return file;
}

FILE *ft_rt_world_freopen(const char *path, const char *mode, FILE *stream, const void *pc)
{
    char by_number[BY_NUMBER];
    if (!path) return FT_REAL(freopen)(path, mode, stream);
    int fd = ft_rt_world_open(AT_FDCWD, path, flags_of(mode), 0666, "freopen", pc);
    if (fd < 0) return NULL;
    ft_rt_world_path_of(by_number, fd);
    FILE *file = FT_REAL(freopen)(by_number, *mode == 'r' ? mode : "r+", stream);
    if (file && *mode == 'a') fseek(file, 0, SEEK_END);
    if (file) ft_rt_world_opened(fileno(file), ft_rt_world_node_of(fd));
    syscall(SYS_close, fd);
    return file;
}

FILE *ft_rt_world_tmpfile(void)
{
    int fd = open_unnamed(O_RDWR, OWNER_MODE);
    return fd < 0 ? NULL : fdopen(fd, "w+");
}

/* ---- names that the C library makes up: the same in every run */

static bool make_up(char *path, int ending)
{
    static const char LETTERS[] = "abcdefghijklmnopqrstuvwxyz0123456789";
    enum { PLACES = 6 };
    size_t n = strlen(path);
    if (ending < 0 || n < PLACES + (size_t)ending) return false;
    char *from = path + n - (size_t)ending - PLACES;
    if (strncmp(from, "XXXXXX", PLACES) != 0) return false;
    for (int i = 0; i < PLACES; i++) from[i] = LETTERS[ft_rt_x_random() % (sizeof LETTERS - 1)];
    return true;
}

int ft_rt_world_mkstemp(char *path, int ending, int flags, const void *pc)
{
    if (!make_up(path, ending)) return ft_rt_world_error(EINVAL);
    return ft_rt_world_open(AT_FDCWD, path, flags | O_RDWR | O_CREAT | O_EXCL, OWNER_MODE,
                            "mkstemp", pc);
}

char *ft_rt_world_mkdtemp(char *path, const void *pc)
{
    if (!make_up(path, 0)) return errno = EINVAL, NULL;
    return ft_rt_world_mkdir(AT_FDCWD, path, 0700, pc) ? NULL : path;
}

/* ---- names */

int ft_rt_world_mkdir(int folder, const char *path, mode_t mode, const void *pc)
{
    struct stat about;
    ft_rt_world_place *p = look(folder, path, true, true, pc);
    if (!p) return -1;
    if (p->special) return FT_REAL(mkdirat)(folder, path, mode);
    if (exists(p, &about)) return ft_rt_world_error(EEXIST);
    if (!may_change(p)) return -1;
    ft_rt_world_name(p->path,
                     ft_rt_world_node_new(FT_RT_WORLD_FOLDER, masked(mode), p->object) + 1);
    return 0;
}

int ft_rt_world_make_socket(const char *path, const void *pc)
{
    struct stat about;
    ft_rt_world_place *p = look(AT_FDCWD, path, true, true, pc);
    if (!p) return -1;
    if (p->special) return ft_rt_world_error(EACCES);
    if (exists(p, &about)) return ft_rt_world_error(EEXIST);
    if (!may_change(p)) return -1;
    uint32_t node = ft_rt_world_node_new(FT_RT_WORLD_NAMED_SOCKET, masked(ALL), p->object);
    ft_rt_world_name(p->path, node + 1);
    return 0;
}

bool ft_rt_world_is_there(const char *path)
{
    struct stat about;
    const ft_rt_world_place *p = ft_rt_world_find(AT_FDCWD, path, true);
    return !p->error && !p->special && exists(p, &about);
}

int ft_rt_world_unlink(int folder, const char *path, const void *pc)
{
    struct stat about;
    ft_rt_world_place *p = look(folder, path, false, true, pc);
    if (!p) return -1;
    if (p->special) return ft_rt_world_error(EACCES);
    if (!exists(p, &about)) return ft_rt_world_error(ENOENT);
    bool is_folder = p->named ? ft_rt_world_node_at(p->node)->kind == FT_RT_WORLD_FOLDER
                              : S_ISDIR(about.st_mode);
    if (is_folder) return ft_rt_world_error(EISDIR);
    if (!may_change(p)) return -1;
    ft_rt_world_name(p->path, 0);
    return 0;
}

/* All that really lies there has a name in the overlay, and is gone. */
static bool is_really_empty(const char *path)
{
    bool empty = true;
    char child[PATH_MAX];
    DIR *all = FT_REAL(opendir)(path);
    if (!all) return true;
    for (const struct dirent *d; empty && (d = readdir(all));) {
        if (!strcmp(d->d_name, ".") || !strcmp(d->d_name, "..")) continue;
        if (snprintf(child, sizeof child, "%s/%s", path, d->d_name) >= (int)sizeof child) continue;
        const ft_rt_world_place *p = ft_rt_world_find(AT_FDCWD, child, false);
        empty = p->named && p->gone;
    }
    FT_REAL(closedir)(all);
    return empty;
}

int ft_rt_world_rmdir(int folder, const char *path, const void *pc)
{
    char own[PATH_MAX];
    ft_rt_world_place *p = look(folder, path, false, true, pc);
    if (!p) return -1;
    if (p->special) return ft_rt_world_error(EACCES);
    memcpy(own, p->path, strlen(p->path) + 1);
    struct stat about;
    if (!exists(p, &about)) return ft_rt_world_error(ENOENT);
    if (!ft_rt_world_is_folder(own)) return ft_rt_world_error(ENOTDIR);
    if (!may_change(p)) return -1;
    if (ft_rt_world_has_children(own) || (!p->named && !is_really_empty(own)))
        return ft_rt_world_error(ENOTEMPTY);
    ft_rt_world_name(own, 0);
    return 0;
}

int ft_rt_world_remove(const char *path, const void *pc)
{
    int result = ft_rt_world_unlink(AT_FDCWD, path, pc);
    return result && errno == EISDIR ? ft_rt_world_rmdir(AT_FDCWD, path, pc) : result;
}

/* The node that lies there, for another name of it. */
static bool take_named(int folder, const char *path, bool follows, bool goes, char *own,
                       uint32_t *node, const void *pc)
{
    struct stat about;
    ft_rt_world_place *p = look(folder, path, follows, goes, pc);
    if (!p) return false;
    if (p->special) return errno = EXDEV, false;
    memcpy(own, p->path, strlen(p->path) + 1);
    if (!p->named && ft_rt_world_really(p, &about) && S_ISDIR(about.st_mode))
        ft_rt_x_refuse("a folder from before the program's start is renamed", pc);
    if (goes && exists(p, &about) && !may_change(p)) return false;
    return take_node(p, node);
}

static bool is_folder_node(uint32_t node)
{
    return ft_rt_world_node_at(node)->kind == FT_RT_WORLD_FOLDER;
}

/* connect() finds a socket by the name that it was bound to. */
static void keep_socket(uint32_t node, const void *pc)
{
    if (ft_rt_world_node_at(node)->kind == FT_RT_WORLD_NAMED_SOCKET)
        ft_rt_x_refuse("the name of a socket is changed", pc);
}

int ft_rt_world_rename(int folder, const char *from, int to_folder, const char *to, const void *pc)
{
    char own[PATH_MAX];
    uint32_t node;
    if (!take_named(folder, from, false, true, own, &node, pc)) return -1;
    keep_socket(node, pc);
    ft_rt_world_place *p = look(to_folder, to, false, true, pc);
    if (!p) return -1;
    if (p->special) return ft_rt_world_error(EXDEV);
    if (!may_change(p)) return -1;
    if (!strcmp(own, p->path)) return 0;
    bool onto_folder = ft_rt_world_is_folder(p->path);
    if (onto_folder != is_folder_node(node) && (onto_folder || p->named))
        return ft_rt_world_error(onto_folder ? EISDIR : ENOTDIR);
    if (onto_folder && (ft_rt_world_has_children(p->path) || !p->named))
        return ft_rt_world_error(ENOTEMPTY);
    ft_rt_world_name(p->path, node + 1);
    ft_rt_world_name(own, 0);
    if (is_folder_node(node)) ft_rt_world_move_names(own, p->path);
    return 0;
}

int ft_rt_world_link(int folder, const char *from, int to_folder, const char *to, const void *pc)
{
    char own[PATH_MAX];
    uint32_t node;
    struct stat about;
    if (!take_named(folder, from, false, false, own, &node, pc)) return -1;
    if (is_folder_node(node)) return ft_rt_world_error(EPERM);
    keep_socket(node, pc);
    ft_rt_world_place *p = look(to_folder, to, false, true, pc);
    if (!p) return -1;
    if (p->special) return ft_rt_world_error(EXDEV);
    if (exists(p, &about)) return ft_rt_world_error(EEXIST);
    if (!may_change(p)) return -1;
    ft_rt_world_name(p->path, node + 1);
    return 0;
}

int ft_rt_world_symlink(const char *target, int folder, const char *path, const void *pc)
{
    struct stat about;
    ft_rt_world_place *p = look(folder, path, false, true, pc);
    if (!p) return -1;
    if (p->special) return ft_rt_world_error(EACCES);
    if (exists(p, &about)) return ft_rt_world_error(EEXIST);
    if (!may_change(p)) return -1;
    uint32_t node = ft_rt_world_node_new(FT_RT_WORLD_LINK, ALL, p->object);
    size_t n = strlen(target) + 1;
    ft_rt_world_node_at(node)->target = ft_rt_libc()->malloc(n);
    if (!ft_rt_world_node_at(node)->target) return ft_rt_world_error(ENOMEM);
    memcpy(ft_rt_world_node_at(node)->target, target, n);
    ft_rt_world_name(p->path, node + 1);
    return 0;
}

ssize_t ft_rt_world_readlink(int folder, const char *path, char *to, size_t n, const void *pc)
{
    ft_rt_world_place *p = look_for(FT_RT_X_OF_NAME, folder, path, false, false, pc);
    if (!p) return -1;
    if (p->special || !p->named) return syscall(SYS_readlinkat, folder, path, to, n);
    if (p->gone) return ft_rt_world_error(ENOENT);
    const ft_rt_world_node *node = ft_rt_world_node_at(p->node);
    if (node->kind != FT_RT_WORLD_LINK) return ft_rt_world_error(EINVAL);
    size_t length = strlen(node->target);
    if (length < n) n = length;
    memcpy(to, node->target, n);
    return (ssize_t)n;
}

bool ft_rt_world_lists(const char *path, const void *pc)
{
    ft_rt_world_place *p = look(AT_FDCWD, path, true, false, pc);
    if (!p) return false;
    if (p->special) return true;
    if (p->named && p->gone) return errno = ENOENT, false;
    if (p->named || ft_rt_world_changed_under(p->path))
        ft_rt_x_refuse("a folder is listed in which the program has changed names", pc);
    return true;
}

/* ---- what lies there */

static void describe(uint32_t number, struct stat *to)
{
    static const mode_t TYPES[] = {[FT_RT_WORLD_FILE] = S_IFREG,
                                   [FT_RT_WORLD_FOLDER] = S_IFDIR,
                                   [FT_RT_WORLD_LINK] = S_IFLNK,
                                   [FT_RT_WORLD_NAMED_SOCKET] = S_IFSOCK};
    const ft_rt_world_node *node = ft_rt_world_node_at(number);
    memset(to, 0, sizeof *to);
    if (node->kind == FT_RT_WORLD_FILE) FT_REAL(fstat)(node->fd, to);
    if (node->kind == FT_RT_WORLD_LINK) to->st_size = (off_t)strlen(node->target);
    to->st_mode = TYPES[node->kind] | node->mode;
    to->st_nlink = 1 + (node->kind == FT_RT_WORLD_FOLDER);
    to->st_ino = number + 1;
    to->st_uid = getuid();
    to->st_gid = getgid();
    if (!to->st_blksize) to->st_blksize = 4096;
    ft_rt_x_time(CLOCK_REALTIME_COARSE, &to->st_mtim);
    to->st_ctim = to->st_atim = to->st_mtim;
}

int ft_rt_world_stat(int folder, const char *path, struct stat *to, int flags, const void *pc)
{
    if (flags & AT_EMPTY_PATH && !*path) return ft_rt_world_fstat(folder, to);
    ft_rt_world_place *p =
        look_for(FT_RT_X_OF_NAME, folder, path, !(flags & AT_SYMLINK_NOFOLLOW), false, pc);
    if (!p) return -1;
    if (p->special || !p->named) return FT_REAL(fstatat)(folder, path, to, flags);
    if (p->gone) return ft_rt_world_error(ENOENT);
    describe(p->node, to);
    return 0;
}

int ft_rt_world_fstat(int fd, struct stat *to)
{
    uint32_t node = ft_rt_world_node_of(fd);
    if (!node) return FT_REAL(fstat)(fd, to);
    describe(node - 1, to);
    return 0;
}

int ft_rt_world_access(int folder, const char *path, int mode, int flags, const void *pc)
{
    enum { SHIFT = 6 };
    ft_rt_world_place *p =
        look_for(FT_RT_X_OF_NAME, folder, path, !(flags & AT_SYMLINK_NOFOLLOW), false, pc);
    if (!p) return -1;
    if (p->special || !p->named) return (int)syscall(SYS_faccessat, folder, path, mode);
    if (p->gone) return ft_rt_world_error(ENOENT);
    mode_t given = ft_rt_world_node_at(p->node)->mode >> SHIFT;
    bool may = !getuid() ? !(mode & X_OK) || given & 1 : !((mode_t)mode & ~given);
    return may ? 0 : ft_rt_world_error(EACCES);
}

/* ---- content and permissions */

int ft_rt_world_truncate(const char *path, off_t size, const void *pc)
{
    int fd = ft_rt_world_open(AT_FDCWD, path, O_WRONLY, 0, "truncate", pc);
    if (fd < 0) return -1;
    ft_rt_world_writes(fd, pc);
    int result = (int)syscall(SYS_ftruncate, fd, size);
    ft_rt_world_opened(fd, 0);
    syscall(SYS_close, fd);
    return result;
}

int ft_rt_world_chmod(int folder, const char *path, mode_t mode, const void *pc)
{
    uint32_t node;
    ft_rt_world_place *p = look(folder, path, true, true, pc);
    struct stat about;
    if (!p) return -1;
    if (p->special) return ft_rt_world_error(EPERM);
    if (!p->named && ft_rt_world_really(p, &about) && !is_file(&about)) return 0;
    if (!take_node(p, &node)) return -1;
    ft_rt_world_node_at(node)->mode = mode & 07777;
    return 0;
}

int ft_rt_world_fchmod(int fd, mode_t mode)
{
    uint32_t node = ft_rt_world_node_of(fd);
    if (node) ft_rt_world_node_at(node - 1)->mode = mode & 07777;
    return 0;
}

/* Owners and times are left as they are. */
int ft_rt_world_changes_nothing(int folder, const char *path, const void *pc)
{
    struct stat about;
    return path ? ft_rt_world_stat(folder, path, &about, 0, pc) : 0;
}

static void act_on_content(int fd, bool writes, const void *pc)
{
    uint32_t node = ft_rt_world_node_of(fd);
    uint32_t object = node ? ft_rt_world_node_at(node - 1)->object : FT_RT_WORLD_NO_OBJECT;
    ft_rt_x_call_begins();
    if (object != FT_RT_WORLD_NO_OBJECT) act(writes, FT_RT_X_OF_FILE, object, pc);
}

void ft_rt_world_writes(int fd, const void *pc)
{
    act_on_content(fd, true, pc);
}

void ft_rt_world_reads_file(int fd, const void *pc)
{
    act_on_content(fd, false, pc);
}

void ft_rt_world_closes(int fd)
{
    if (ft_rt_world_runs()) ft_rt_world_opened(fd, 0);
}

int ft_rt_world_copied(int from, int to)
{
    ft_rt_world_opened(to, ft_rt_world_node_of(from));
    return to;
}
