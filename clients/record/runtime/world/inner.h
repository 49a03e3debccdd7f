/* The inside of world/: descriptions of open files, and their channels. */
#ifndef FT_RECORD_WORLD_INNER_H
#define FT_RECORD_WORLD_INNER_H

#include "world/world.h"

#pragma GCC visibility push(hidden)

enum {
    FT_RT_WORLD_DESCRIPTORS = 1024, /* numbers are below it, so that they fit into sets */
    FT_RT_WORLD_DESCRIPTIONS = 1024,
    FT_RT_WORLD_PIPE = 65536, /* bytes in a pipe */
    FT_RT_WORLD_PIECE = 4096, /* bytes of a write that stay together */
    FT_RT_WORLD_STREAM = 212992,
    FT_RT_WORLD_MESSAGES = 64 /* in a socket of messages */
};

/* Content of a channel: what one send put in. */
typedef struct ft_rt_world_piece {
    struct ft_rt_world_piece *next;
    size_t size, taken;
    unsigned char bytes[];
} ft_rt_world_piece;

typedef struct ft_rt_world_channel {
    bool exists;
    uint32_t object;
    int64_t capacity, least; /* units; writable if that many fit */
    bool messages;           /* a unit is a message, else a byte */
    uint32_t shortages;      /* sends that did not find room for all */
    ft_rt_world_piece *first, *last;
} ft_rt_world_channel;

typedef enum ft_rt_world_kind {
    FT_RT_WORLD_NONE,
    FT_RT_WORLD_END,          /* of a pipe or socket pair */
    FT_RT_WORLD_EVENT,        /* both channels are one: the count */
    FT_RT_WORLD_EPOLL,        /* both channels are one: the number of changes of the set */
    FT_RT_WORLD_SOCKET_ALONE, /* of streams, neither connected nor listening: no channels */
    FT_RT_WORLD_LISTENER,     /* `in` alone: connections that wait */
    FT_RT_WORLD_MAILBOX       /* a socket of messages with addresses; `in` alone */
} ft_rt_world_kind;

typedef struct ft_rt_world_net ft_rt_world_net; /* sockets.c */

/* The description that copies of a descriptor share. */
typedef struct ft_rt_world_description {
    ft_rt_world_kind kind;
    ft_rt_world_channel *in, *out; /* NULL: none */
    bool waits_not, closes_not;    /* O_NONBLOCK; the socket's own end of reading is shut */
    bool semaphore;                /* of EVENT */
    bool socket;
    uint32_t set;         /* of EPOLL: its number */
    uint32_t copies;      /* descriptors of it */
    ft_rt_world_net *net; /* of a socket that `socket` made, or accept; else NULL */
    bool reset;           /* it has sent to a peer that was gone */
} ft_rt_world_description;

/* NULL: the descriptor is not modelled. */
ft_rt_world_description *ft_rt_world_of(int fd);
/* A new one; ends the run where there are too many. */
ft_rt_world_channel *ft_rt_world_channel_new(int64_t capacity, int64_t least, bool messages,
                                             int64_t fresh, const void *pc);
ft_rt_world_description *ft_rt_world_description_new(ft_rt_world_kind kind, const void *pc);
int ft_rt_world_number(ft_rt_world_description *d, const void *pc); /* a new descriptor */

/* ---- sockets.c */
void ft_rt_world_socket_ends(ft_rt_world_description *d, const void *pc);
int64_t ft_rt_world_limit(const ft_rt_world_description *d, bool sends); /* ms; 0: none */
bool ft_rt_world_has_failed(const ft_rt_world_description *d);
bool ft_rt_world_is_tcp(const ft_rt_world_description *d);

/* ---- channels.c: puts that many bytes in, or takes the first message out; no actions */
void ft_rt_world_put(ft_rt_world_channel *c, const struct iovec *v, size_t n, size_t size);
size_t ft_rt_world_take(ft_rt_world_channel *c, const struct iovec *v, size_t n, size_t size);
/* As ft_rt_world_receive, of a MAILBOX too. */
ssize_t ft_rt_world_receive_plainly(int fd, const struct iovec *v, size_t n, int flags,
                                    const void *pc);

/* Announces it; returns the outcome. */
uint64_t ft_rt_world_act(ft_x_kind kind, const ft_rt_world_channel *c, int64_t value,
                         int64_t value2, const void *pc);
static inline int64_t ft_rt_world_room(const ft_rt_world_channel *c)
{
    return FT_X_ROOM(c->capacity, c->least);
}
/* Its state in the model, of a moment that an action of the thread's has just decided. */
ft_x_object *ft_rt_world_state(const ft_rt_world_channel *c);
bool ft_rt_world_is_outside(int fd);             /* begin.c: it did at the first choice */
void ft_rt_world_first_mask(void);               /* signals.c: at the first choice */
int ft_rt_world_error(int error);                /* sets errno; -1 */
void ft_rt_world_path_of(char path[32], int fd); /* /proc/self/fd/... */

#pragma GCC visibility pop

#endif
