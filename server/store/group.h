/* Requests that share a transaction: on the store's thread. */
#ifndef FT_STORE_GROUP_H
#define FT_STORE_GROUP_H

#include "store/internal.h"

/* Runs the requests of the list, each of which has its status, error or result afterwards. Whether
 * something was committed. Requests that write and such that only read do not meet in the group of
 * a shared database. */
bool ft_group_run(ft_sql *sql, ft_request *first);

/* The same on a database that other nodes use (node.h): a try that failed because of another
 * transaction or of the connection is made again, for as long as `patient` says that it may. */
bool ft_group_run_shared(ft_sql *sql, ft_request *first, bool (*patient)(void *data, bool writes),
                         void *data);

/* Gives every request of the list that has not failed this error. */
void ft_group_fail(ft_request *first, const ft_error *err);

#endif
