/* News of other nodes: a thread with a connection of its own that waits for notifications. */
#include <errno.h>
#include <libpq-fe.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include <uv.h>

#include "base/memory.h"
#include "base/spread.h"
#include "store/postgres/link.h"

#define NAP_MS 500 /* between two tries to connect */

struct ft_listener {
    char *address;
    PGconn *conn;
    int stop; /* eventfd */
    void (*heard)(void *data, const char *text);
    void *data;
    uv_thread_t thread;
};

/* Whether it is to go on. */
static bool wait_for(const ft_listener *l, int fd, int timeout_ms)
{
    struct pollfd waits[2] = {{.fd = l->stop, .events = POLLIN}, {.fd = fd, .events = POLLIN}};
    int got = poll(waits, fd >= 0 ? 2 : 1, timeout_ms);
    return (got >= 0 || errno == EINTR) && !waits[0].revents;
}

static bool begin(ft_listener *l)
{
    l->conn = ft_postgres_dial(l->address);
    PGresult *result = PQexec(l->conn, "LISTEN foretell");
    bool good = PQresultStatus(result) == PGRES_COMMAND_OK;
    PQclear(result);
    if (good) l->heard(l->data, NULL); /* what was said before was missed */
    return good;
}

static bool hear(ft_listener *l)
{
    PGnotify *said;
    if (!PQconsumeInput(l->conn)) return false;
    while ((said = PQnotifies(l->conn)) != NULL) {
        l->heard(l->data, said->extra);
        PQfreemem(said);
    }
    return PQstatus(l->conn) == CONNECTION_OK;
}

static void thread_main(void *data)
{
    ft_listener *l = data;
    for (bool on = true; on;) {
        bool good = begin(l);
        while (good && (on = wait_for(l, PQsocket(l->conn), -1))) good = hear(l);
        PQfinish(l->conn);
        l->conn = NULL;
        if (on) on = wait_for(l, -1, (int)ft_spread(NAP_MS));
    }
}

ft_status ft_postgres_listen(const char *address, void (*heard)(void *data, const char *text),
                             void *data, ft_listener **listener, ft_error *err)
{
    ft_listener *l = ft_calloc(1, sizeof *l);
    l->address = ft_strdup(address);
    l->heard = heard;
    l->data = data;
    l->stop = eventfd(0, EFD_CLOEXEC);
    if (l->stop >= 0 && uv_thread_create(&l->thread, thread_main, l) == 0) {
        *listener = l;
        return FT_OK;
    }
    if (l->stop >= 0) close(l->stop);
    free(l->address);
    free(l);
    return ft_error_set(err, FT_IO, "cannot start the thread that listens to other nodes");
}

void ft_postgres_unlisten(ft_listener *listener)
{
    const uint64_t one = 1;
    if (!listener) return;
    (void)!write(listener->stop, &one, sizeof one);
    uv_thread_join(&listener->thread);
    close(listener->stop);
    free(listener->address);
    free(listener);
}
