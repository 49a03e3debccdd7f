/* Requests go to a server as a byte through a socket, what they ask for in shared memory; the last
 * one is changed when the server may be at it. Each byte orders what stands before it, the second
 * and the third of a thread too. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static struct {
    int operation;
    char text[32];
} request;
static int ends[2], total;

static void *serve(void *unused)
{
    char c;
    while (read(ends[1], &c, 1) == 1 && c == 'r') {
        total += request.operation + (int)strlen(request.text);
        if (write(ends[1], "k", 1) != 1) break;
    }
    return unused;
}

int main(void)
{
    pthread_t server;
    char c;
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends)) return 1;
    pthread_create(&server, NULL, serve, NULL);
    for (int i = 0; i < 3; i++) {
        request.operation = i;
        snprintf(request.text, sizeof request.text, "job %d", i);
        if (write(ends[0], "r", 1) != 1) return 1;
#ifndef FIXED
        if (i == 2) request.operation = 2;
#endif
        if (read(ends[0], &c, 1) != 1) return 1;
    }
    if (write(ends[0], "q", 1) != 1) return 1;
    pthread_join(server, NULL);
    return total != 18;
}
