/* This process among those that share a database: a node. Each has a row, which every transaction
 * that writes marks with a number of its own: after a connection was lost while a commit was on its
 * way, the row tells what became of it. The epoch of a node is the upper half of its fencing
 * tokens, so no two nodes ever give out the same. */
#ifndef FT_STORE_NODE_H
#define FT_STORE_NODE_H

#include <jansson.h>

#include "store/sql.h"

/* A new epoch and row. */
ft_status ft_node_register(ft_sql *sql, ft_error *err) FT_MUST_CHECK;
/* It ends: its leases and deliveries go back, what it was uploading and its row are removed. */
ft_status ft_node_leave(ft_sql *sql, ft_error *err) FT_MUST_CHECK;
/* First in each transaction that writes: sets the mark, and the clock of ft_sql_now. Where a newer
 * program has changed the schema, the database is as good as away (FT_IO). */
ft_status ft_node_mark(ft_sql *sql, int64_t mark, ft_error *err) FT_MUST_CHECK;
/* The same of the schema for one that reads, while it is refused. */
ft_status ft_node_look(ft_sql *sql, ft_error *err) FT_MUST_CHECK;
/* Whether the transaction with that mark, this node's last, was committed. */
ft_status ft_node_marked(ft_sql *sql, int64_t mark, bool *committed, ft_error *err) FT_MUST_CHECK;
/* Locks the rows of these jobs: two JSON arrays, of their ids and of their numbers. */
ft_status ft_node_lock_jobs(ft_sql *sql, const json_t *ids, const json_t *numbers,
                            ft_error *err) FT_MUST_CHECK;
/* Tells the other nodes of a job's CHANGE (store.h), once the transaction is committed; nothing
 * where there are none. */
ft_status ft_node_tell(ft_sql *sql, const json_t *change, ft_error *err) FT_MUST_CHECK;

#endif
