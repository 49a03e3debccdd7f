/* A server makes its socket under a name of its own, gives it its mode, and only then the name that
 * clients know; the thread that serves them counts without a lock. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int served;

static void count(void)
{
#ifdef FIXED
    pthread_mutex_lock(&lock);
    served++;
    pthread_mutex_unlock(&lock);
#else
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
    served++;
#endif
}

static void *serve(void *listener)
{
    char c;
    int peer = accept(*(int *)listener, NULL, NULL);
    if (peer >= 0 && read(peer, &c, 1) == 1) count();
    close(peer);
    return NULL;
}

static int listen_at(const char *first, const char *name)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    snprintf(a.sun_path, sizeof a.sun_path, "%s", first);
    if (bind(fd, (struct sockaddr *)&a, sizeof a) || listen(fd, 1)) exit(2);
    if (chmod(first, 0600) || rename(first, name)) exit(3);
    return fd;
}

static void ask(const char *name)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    snprintf(a.sun_path, sizeof a.sun_path, "%s", name);
    if (connect(fd, (struct sockaddr *)&a, sizeof a) || write(fd, "?", 1) != 1) exit(4);
    close(fd);
}

int main(void)
{
    char folder[] = "/tmp/named_socket.XXXXXX", first[64], name[64];
    pthread_t thread;
    if (!mkdtemp(folder)) return 2;
    snprintf(first, sizeof first, "%s/first", folder);
    snprintf(name, sizeof name, "%s/name", folder);
    int listener = listen_at(first, name);
    pthread_create(&thread, NULL, serve, &listener);
    ask(name);
    count();
    pthread_join(thread, NULL);
    return unlink(name) || rmdir(folder) || served != 2;
}
