/* The overlay: what the program does to files and folders, for its own runs alone.
 *
 * Nothing that an explored program does to a file leaves it: a file that it opens for writing,
 * creates, renames or removes is a *node*, a memory file with the content of the real one, and the
 * *names* of the overlay say which path stands for which node, or for none. From the program's
 * start on, so that runs that are made anew change nothing either. Reads see the overlay, then the
 * real files.
 *
 *   names.c     canonical paths, names and nodes      overlay.c   the calls
 *
 * A node's content is the kernel's, and would pass from run to run: each run begins with copies of
 * the nodes of the first choice (begin.c). What threads do to one path is dependent: an action
 * READ or WRITE on a model object of the path, as is what they do to the content by calls on
 * descriptors. Streams write when their buffers are full, which is not an action. */
#ifndef FT_RECORD_WORLD_OVERLAY_H
#define FT_RECORD_WORLD_OVERLAY_H

#include <limits.h>
#include <sys/stat.h>

#include "world/inner.h"

#pragma GCC visibility push(hidden)

enum { FT_RT_WORLD_NODES = 512, FT_RT_WORLD_NAMES = 1024, FT_RT_WORLD_ASIDE = 800 };
#define FT_RT_WORLD_NO_OBJECT UINT32_MAX

typedef enum ft_rt_world_node_kind {
    FT_RT_WORLD_FILE,
    FT_RT_WORLD_FOLDER,
    FT_RT_WORLD_LINK,
    FT_RT_WORLD_NAMED_SOCKET
} ft_rt_world_node_kind;

typedef struct ft_rt_world_node {
    ft_rt_world_node_kind kind;
    mode_t mode;     /* permissions */
    int fd;          /* FILE: a memory file, out of the program's way */
    uint32_t object; /* of its content; NO_OBJECT: no other thread has it by a name */
    char *target;    /* LINK */
} ft_rt_world_node;

/* Where a path leads. */
typedef struct ft_rt_world_place {
    char path[PATH_MAX]; /* canonical */
    int error;           /* it leads nowhere: errno; else 0 */
    bool special;        /* under /proc, /dev or /sys: the system's own business */
    bool named, gone;    /* the overlay has the name; for no node */
    uint32_t node;       /* where it is named and not gone */
    uint32_t object;
} ft_rt_world_place;

/* Valid until the next call: one place for all threads, of which one runs at a time. follows: a
 * symbolic link at the end is followed. */
ft_rt_world_place *ft_rt_world_find(int folder, const char *path, bool follows);
ft_rt_world_node *ft_rt_world_node_at(uint32_t node);
uint32_t ft_rt_world_nodes(void); /* how many there are */
/* A new node without a name. Of FILE: an empty one. */
uint32_t ft_rt_world_node_new(ft_rt_world_node_kind kind, mode_t mode, uint32_t object);
/* The path's name stands for the node (node + 1), or 0: for none. */
void ft_rt_world_name(const char *path, uint32_t node);
/* What really lies there; false: nothing, or something that has a name in the overlay. */
bool ft_rt_world_really(const ft_rt_world_place *p, struct stat *about);
bool ft_rt_world_is_folder(const char *path);     /* the canonical path, in overlay or in reality */
bool ft_rt_world_has_children(const char *path);  /* names of the overlay under it: live ones */
bool ft_rt_world_changed_under(const char *path); /* any names right under it */
/* Gives the names under a folder of the overlay another beginning. */
void ft_rt_world_move_names(const char *from, const char *to);

/* The file's content as a new node: a copy, with its permissions. */
uint32_t ft_rt_world_import(const ft_rt_world_place *p, const struct stat *about);
/* A copy of the memory file, out of the program's way. */
int ft_rt_world_copy_content(int from);

/* ---- overlay.c, for sockets.c: makes the name of a socket; is anything there? */
int ft_rt_world_make_socket(const char *path, const void *pc);
bool ft_rt_world_is_there(const char *path);

/* ---- descriptors of nodes: node + 1; 0: of none */
uint32_t ft_rt_world_node_of(int fd);
void ft_rt_world_opened(int fd, uint32_t node);

#pragma GCC visibility pop

#endif
