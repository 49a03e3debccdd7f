/* A count without its lock, behind sockets that were shut down and closed: one that listened, and
 * one that had an address and no peer. FIXED takes the lock. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int count;

static void add(void)
{
#ifdef FIXED
    pthread_mutex_lock(&lock);
#endif
    count++;
#ifdef FIXED
    pthread_mutex_unlock(&lock);
#endif
}

static int bound(int type)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, type, 0);
    return bind(fd, (struct sockaddr *)&a, sizeof a) ? -1 : fd;
}

static void *serve(void *unused)
{
    int listener = bound(SOCK_STREAM), messages = bound(SOCK_DGRAM);
    if (listen(listener, 4)) return unused;
    shutdown(listener, SHUT_RDWR);
    close(listener);
    close(messages);
    add();
    return unused;
}

int main(void)
{
    pthread_t t[2];
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
    for (int i = 0; i < 2; i++) pthread_create(&t[i], NULL, serve, NULL);
    for (int i = 0; i < 2; i++) pthread_join(t[i], NULL);
    return count != 2;
}
