/* Orders between threads by the end of what they take from: who accepts, waits for a connection or
 * for data goes on because another thread shuts the socket down, and who writes is told that nobody
 * reads any more. Nothing races. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

static int listener, connected, ends[2];
static int cells[4];

static void *accept_all(void *unused)
{
    while (accept(listener, NULL, NULL) >= 0) continue;
    return cells[0] ? &cells[0] : unused;
}

static void *wait_for_one(void *unused)
{
    struct pollfd one = {.fd = listener, .events = POLLIN};
    poll(&one, 1, -1);
    return cells[1] ? &cells[1] : unused;
}

static void *receive(void *unused)
{
    char c;
    while (recv(connected, &c, 1, 0) > 0) continue;
    return cells[2] ? &cells[2] : unused;
}

static void *put(void *unused)
{
    while (write(ends[1], "x", 1) == 1) usleep(1000);
    return cells[3] ? &cells[3] : unused;
}

static int connect_both(void)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t n = sizeof a;
    listener = socket(AF_INET, SOCK_STREAM, 0);
    connected = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(listener, (struct sockaddr *)&a, n) || listen(listener, 4)) return -1;
    if (getsockname(listener, (struct sockaddr *)&a, &n)) return -1;
    if (connect(connected, (struct sockaddr *)&a, n)) return -1;
    return accept(listener, NULL, NULL);
}

int main(void)
{
    void *(*const runs[])(void *) = {accept_all, wait_for_one, receive, put};
    pthread_t t[4];
    int missing = 0, peer = connect_both();
    signal(SIGPIPE, SIG_IGN);
    if (peer < 0 || pipe(ends)) return 2;
    for (int i = 0; i < 4; i++) pthread_create(&t[i], NULL, runs[i], NULL);
    usleep(20000);
    cells[0] = cells[1] = 1;
    shutdown(listener, SHUT_RDWR);
    cells[2] = 1;
    shutdown(connected, SHUT_RD);
    cells[3] = 1;
    close(ends[0]);
    for (int i = 0; i < 4; i++) {
        void *saw;
        pthread_join(t[i], &saw);
        missing += !saw;
    }
    close(listener);
    close(connected);
    close(peer);
    return missing;
}
