/* A receiver of webhooks for tests: takes requests one after the other, keeps them, and answers as
 * it is told. */
#ifndef FT_TESTS_SERVICE_RECEIVER_H
#define FT_TESTS_SERVICE_RECEIVER_H

#include <stdbool.h>

#include "base/strbuf.h"

typedef struct ft_receiver ft_receiver;

#define FT_RECEIVER_SILENT 0 /* takes the request and says nothing until the other side goes */
#define FT_RECEIVER_LONG   1 /* 200, and a body that does not end */

/* Listens on the loopback address. port 0: any. NULL: it cannot. */
ft_receiver *ft_receiver_open(int port);
int ft_receiver_port(const ft_receiver *receiver);
void ft_receiver_close(ft_receiver *receiver); /* accepts NULL */

/* Answers the n-th request from now on (n = 0, 1, ...) with statuses[n] or one of the above, and
 * 204 past their end. Forgets what came before. */
void ft_receiver_script(ft_receiver *receiver, const int *statuses, int count);
/* How many requests there were. */
int ft_receiver_count(ft_receiver *receiver);
/* Waits for the n-th request (from 0): its text, head and body, which the receiver owns; NULL: it
 * did not come in FT_DAEMON_PATIENCE_MS. */
const char *ft_receiver_request(ft_receiver *receiver, int n);
/* The value of a header of such a text; valid until the next call; "" when it is not there. */
const char *ft_receiver_header(const char *request, const char *name);
const char *ft_receiver_body(const char *request);

#endif
