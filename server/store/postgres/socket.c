/* The socket of the connection, for a thread that cuts it while another one waits for an answer. */
#include <stdlib.h>
#include <sys/socket.h>
#include <uv.h>

#include "base/memory.h"
#include "store/postgres/link.h"

struct ft_socket {
    uv_mutex_t mutex;
    int fd; /* under the mutex; -1: none */
};

ft_socket *ft_socket_new(void)
{
    ft_socket *its = ft_calloc(1, sizeof *its);
    its->fd = -1;
    if (uv_mutex_init(&its->mutex) != 0) abort(); /* for want of memory alone */
    return its;
}

void ft_socket_free(ft_socket *its)
{
    uv_mutex_destroy(&its->mutex);
    free(its);
}

void ft_socket_set(ft_socket *its, int fd)
{
    uv_mutex_lock(&its->mutex);
    its->fd = fd;
    uv_mutex_unlock(&its->mutex);
}

void ft_socket_cut(ft_socket *its)
{
    uv_mutex_lock(&its->mutex);
    if (its->fd >= 0) (void)shutdown(its->fd, SHUT_RDWR);
    uv_mutex_unlock(&its->mutex);
}
