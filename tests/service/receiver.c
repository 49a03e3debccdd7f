#include "service/receiver.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/memory.h"
#include "service/daemon.h"

enum { MOST = 64 };

struct ft_receiver {
    int listener, stop[2], port;
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t came;
    int script[MOST], scripted;
    ft_strbuf requests[MOST];
    int count;
};

/* Readable, or false: the receiver is being closed. */
static bool await(const ft_receiver *r, int fd)
{
    struct pollfd wait[2] = {{.fd = fd, .events = POLLIN}, {.fd = r->stop[0], .events = POLLIN}};
    return poll(wait, 2, -1) > 0 && !wait[1].revents;
}

static bool is_whole(const ft_strbuf *text)
{
    const char *end = text->text ? strstr(text->text, "\r\n\r\n") : NULL;
    if (!end) return false;
    size_t body = strtoul(ft_receiver_header(text->text, "content-length"), NULL, 10);
    return text->len >= (size_t)(end + 4 - text->text) + body;
}

static bool take(const ft_receiver *r, int fd, ft_strbuf *text)
{
    char piece[4096];
    while (!is_whole(text)) {
        if (!await(r, fd)) return false;
        ssize_t got = recv(fd, piece, sizeof piece, 0);
        if (got <= 0) return false;
        ft_strbuf_add(text, piece, (size_t)got);
    }
    return true;
}

/* Its number; the text is the receiver's from now on. */
static int keep(ft_receiver *r, const ft_strbuf *text)
{
    pthread_mutex_lock(&r->mutex);
    int n = r->count;
    if (n < MOST) r->requests[r->count++] = *text;
    int answer = n < r->scripted ? r->script[n] : 204;
    pthread_cond_broadcast(&r->came);
    pthread_mutex_unlock(&r->mutex);
    return answer;
}

static void await_gone(const ft_receiver *r, int fd)
{
    char piece[256];
    while (await(r, fd) && recv(fd, piece, sizeof piece, 0) > 0) {
    }
}

static void answer(const ft_receiver *r, int fd, int status)
{
    char text[256];
    static const char FOREVER[] = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n";
    if (status == FT_RECEIVER_SILENT) {
        await_gone(r, fd);
    } else if (status == FT_RECEIVER_LONG) {
        bool going = send(fd, FOREVER, sizeof FOREVER - 1, MSG_NOSIGNAL) > 0;
        memset(text, 'x', sizeof text);
        while (going) going = send(fd, text, sizeof text, MSG_NOSIGNAL) > 0;
    } else {
        int length = snprintf(text, sizeof text,
                              "HTTP/1.1 %d Told\r\nContent-Length: 0\r\nConnection: close\r\n"
                              "Location: http://127.0.0.1:%d/elsewhere\r\n\r\n",
                              status, r->port);
        (void)!send(fd, text, (size_t)length, MSG_NOSIGNAL);
    }
}

static void *serve(void *argument)
{
    ft_receiver *r = argument;
    while (await(r, r->listener)) {
        ft_strbuf text = {0};
        int fd = accept4(r->listener, NULL, NULL, SOCK_CLOEXEC);
        if (fd < 0) continue;
        if (take(r, fd, &text))
            answer(r, fd, keep(r, &text));
        else
            ft_strbuf_release(&text);
        close(fd);
    }
    return NULL;
}

ft_receiver *ft_receiver_open(int port)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    socklen_t length = sizeof at;
    int one = 1;
    ft_receiver *r = ft_calloc(1, sizeof *r);
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    r->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    setsockopt(r->listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    bool good = bind(r->listener, (struct sockaddr *)&at, sizeof at) == 0 &&
                listen(r->listener, 16) == 0 &&
                getsockname(r->listener, (struct sockaddr *)&at, &length) == 0 &&
                pipe2(r->stop, O_CLOEXEC) == 0;
    r->port = ntohs(at.sin_port);
    pthread_mutex_init(&r->mutex, NULL);
    pthread_cond_init(&r->came, NULL);
    if (good && pthread_create(&r->thread, NULL, serve, r) == 0) return r;
    close(r->listener);
    free(r);
    return NULL;
}

int ft_receiver_port(const ft_receiver *r)
{
    return r->port;
}

static void forget(ft_receiver *r)
{
    for (int i = 0; i < r->count; i++) ft_strbuf_release(&r->requests[i]);
    r->count = 0;
}

void ft_receiver_close(ft_receiver *r)
{
    if (!r) return;
    close(r->stop[1]);
    pthread_join(r->thread, NULL);
    close(r->stop[0]);
    close(r->listener);
    forget(r);
    pthread_mutex_destroy(&r->mutex);
    pthread_cond_destroy(&r->came);
    free(r);
}

void ft_receiver_script(ft_receiver *r, const int *statuses, int count)
{
    pthread_mutex_lock(&r->mutex);
    forget(r);
    r->scripted = count < MOST ? count : MOST;
    for (int i = 0; i < r->scripted; i++) r->script[i] = statuses[i];
    pthread_mutex_unlock(&r->mutex);
}

int ft_receiver_count(ft_receiver *r)
{
    pthread_mutex_lock(&r->mutex);
    int count = r->count;
    pthread_mutex_unlock(&r->mutex);
    return count;
}

const char *ft_receiver_request(ft_receiver *r, int n)
{
    struct timespec until;
    int waited = 0;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += FT_DAEMON_PATIENCE_MS / 1000;
    pthread_mutex_lock(&r->mutex);
    while (r->count <= n && waited == 0)
        waited = pthread_cond_timedwait(&r->came, &r->mutex, &until);
    const char *text = r->count > n ? r->requests[n].text : NULL;
    pthread_mutex_unlock(&r->mutex);
    return text;
}

const char *ft_receiver_header(const char *request, const char *name)
{
    static _Thread_local char value[512];
    size_t length = strlen(name);
    value[0] = '\0';
    for (const char *line = strstr(request, "\r\n"); line && strncmp(line, "\r\n\r\n", 4) != 0;
         line = strstr(line + 2, "\r\n")) {
        if (strncasecmp(line + 2, name, length) != 0 || line[2 + length] != ':') continue;
        const char *from = line + 3 + length;
        from += strspn(from, " ");
        snprintf(value, sizeof value, "%.*s", (int)strcspn(from, "\r"), from);
    }
    return value;
}

const char *ft_receiver_body(const char *request)
{
    const char *end = strstr(request, "\r\n\r\n");
    return end ? end + 4 : "";
}
