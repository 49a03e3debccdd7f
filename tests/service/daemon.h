/* A real foretelld for tests: port 0, its state in a temporary folder, and a client. Everything
 * waits for events; whatever takes longer than FT_DAEMON_PATIENCE_MS fails the test. */
#ifndef FT_TESTS_SERVICE_DAEMON_H
#define FT_TESTS_SERVICE_DAEMON_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/strbuf.h"

#define FT_DAEMON_PATIENCE_MS 60000

typedef struct ft_daemon {
    pid_t pid; /* 0: does not run */
    int port;
    char folder[64]; /* "" before the first start */
    char socket[96];
    const char *const *options; /* NULL, or a NULL-ended list of further arguments */
    bool may_die;               /* a daemon that ends of itself, or badly, is no news */
    int ended;                  /* wait status of the last one that has ended */
} ft_daemon;

/* Starts foretelld (from the folder of the test program) over the daemon's folder, which is made at
 * the first start, and waits until it is ready. False, with a message on standard error: it is not.
 */
bool ft_daemon_start(ft_daemon *daemon);
/* SIGTERM; true if it ended with exit code 0. */
bool ft_daemon_stop(ft_daemon *daemon);
void ft_daemon_kill(ft_daemon *daemon);   /* SIGKILL */
void ft_daemon_remove(ft_daemon *daemon); /* kills it and deletes its folder */

/* The address of its store; false: it is in the state folder. */
bool ft_daemon_address(const ft_daemon *daemon, char address[512]);
/* Makes the store of a folder that the caller has made and set; where it is in the state folder,
 * the first start does. */
bool ft_daemon_make_store(const ft_daemon *daemon);
/* The options with which a command of foretelld finds its store, quoted for a shell. */
#define FT_DAEMON_PLACE 700
void ft_daemon_place(const ft_daemon *daemon, char options[FT_DAEMON_PLACE]);
/* The file or address of its database, as foretelld --check-database and programs open it. */
void ft_daemon_database(const ft_daemon *daemon, char database[512]);

typedef struct ft_answer {
    long status; /* 0: no answer */
    ft_strbuf head, body;
    json_t *json; /* the body, if it is JSON */
} ft_answer;
void ft_answer_release(ft_answer *answer);
/* The value of a header, NULL when it is not there. Valid until the next call. */
const char *ft_answer_header(const ft_answer *answer, const char *name);
/* A text member of the JSON body; "" when it is not there. */
const char *ft_answer_text(const ft_answer *answer, const char *member);

/* One request. With FT_EXCHANGES in the environment it and its answer are added to the file of that
 * name, as tests/service/openapi.py reads them. headers: NULL-ended list of lines, or NULL. body
 * NULL: none. */
ft_answer ft_daemon_call(const ft_daemon *daemon, const char *method, const char *path,
                         const char *const *headers, const void *body, size_t length);
ft_answer ft_daemon_get(const ft_daemon *daemon, const char *path);
ft_answer ft_daemon_post(const ft_daemon *daemon, const char *path, const char *body);

/* Raw bytes over TCP; everything that comes back until the daemon closes. */
ft_strbuf ft_daemon_raw(const ft_daemon *daemon, const void *bytes, size_t length);

/* Follows a job with Prefer: wait until it has ended: its snapshot (new reference), or NULL with a
 * message on standard error. `each` (may be NULL) is called with every snapshot on the way. */
json_t *ft_daemon_finish(const ft_daemon *daemon, const char *job,
                         void (*each)(void *data, const json_t *snapshot), void *data);

#endif
