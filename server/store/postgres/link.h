/* PostgreSQL by libpq. A node has two connections: one for all that the store asks, and one that
 * waits for what other nodes say.
 *
 * Imports: store, common/base. */
#ifndef FT_STORE_POSTGRES_LINK_H
#define FT_STORE_POSTGRES_LINK_H

#include <libpq-fe.h>

#include "store/sql.h"

/* Connects, with times that tell a partition from a slow database; check PQstatus. */
PGconn *ft_postgres_dial(const char *address);

/* A connection's socket, which another thread may cut: what waits for an answer fails then. It is
 * unset (-1) before the connection is closed, as its number may be anybody's afterwards. */
typedef struct ft_socket ft_socket;
ft_socket *ft_socket_new(void);
void ft_socket_free(ft_socket *its);
void ft_socket_set(ft_socket *its, int fd);
void ft_socket_cut(ft_socket *its); /* from any thread */

/* listen and unlisten of the driver. */
ft_status ft_postgres_listen(const char *address, void (*heard)(void *data, const char *text),
                             void *data, ft_listener **listener, ft_error *err) FT_MUST_CHECK;
void ft_postgres_unlisten(ft_listener *listener);

#endif
