/* Two workers take orders from a stream, a file, a socket pair, an event descriptor and message
 * queues: the first one says to use what the second one says to free. Who is first to take is first
 * to do it only while it holds the lock. */
#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/socket.h>
#include <unistd.h>

enum { STREAM, PLACE, PAIR, EVENT, QUEUE, MESSAGES, WAYS, USE = 1, END };

typedef struct message {
    long type;
    char order;
} message;

static pthread_mutex_t locks[WAYS];
static int *objects[WAYS];
static FILE *stream;
static int place, pair[2], event, messages;
static mqd_t queue = (mqd_t)-1;

static char take(int way)
{
    char order = 0;
    message m = {.order = 0};
    uint64_t count;
    switch (way) {
    case STREAM:
        order = (char)fgetc(stream);
        break;
    case PLACE:
        order = (char)(read(place, &order, 1) == 1 ? order : 0);
        break;
    case PAIR:
        order = (char)(recv(pair[1], &order, 1, 0) == 1 ? order : 0);
        break;
    case EVENT:
        order = read(event, &count, sizeof count) == sizeof count ? USE : END;
        break;
    case QUEUE:
        order = (char)(mq_receive(queue, &order, 1, NULL) == 1 ? order : 0);
        break;
    default:
        order = (char)(msgrcv(messages, &m, sizeof m.order, 0, 0) > 0 ? m.order : 0);
        break;
    }
    return order;
}

static void obey(int way, char order)
{
    if (order == USE) *objects[way] = way;
    if (order == END) free(objects[way]);
}

static void *work(void *unused)
{
    (void)unused;
    for (int way = 0; way < WAYS; way++) {
        if (way == QUEUE && queue == (mqd_t)-1) continue;
        pthread_mutex_lock(&locks[way]);
        char order = take(way);
#ifdef FIXED
        obey(way, order);
        pthread_mutex_unlock(&locks[way]);
#else
        pthread_mutex_unlock(&locks[way]);
        obey(way, order);
#endif
    }
    return NULL;
}

static void open_all(void)
{
    static const char orders[] = {USE, END};
    char path[] = "/tmp/taken.XXXXXX", name[64];
    struct mq_attr sizes = {.mq_maxmsg = 2, .mq_msgsize = 1};
    int fd = mkstemp(path);
    if (fd < 0 || write(fd, orders, sizeof orders) != sizeof orders || close(fd)) exit(2);
    stream = fopen(path, "r");
    place = open(path, O_RDONLY);
    unlink(path);
    event = eventfd(1, EFD_NONBLOCK);
    messages = msgget(IPC_PRIVATE, 0600);
    if (socketpair(AF_UNIX, SOCK_DGRAM, 0, pair)) exit(2);
    snprintf(name, sizeof name, "/taken.%d", (int)getpid());
    queue = mq_open(name, O_RDWR | O_CREAT, 0600, &sizes); /* not every machine has them */
    mq_unlink(name);
    for (size_t i = 0; i < sizeof orders; i++) {
        message m = {1, orders[i]};
        if (send(pair[0], &orders[i], 1, 0) != 1) exit(2);
        if (msgsnd(messages, &m, sizeof m.order, 0)) exit(2);
        if (queue != (mqd_t)-1 && mq_send(queue, &orders[i], 1, 0)) exit(2);
    }
}

int main(void)
{
    pthread_t first, second;
    for (int way = 0; way < WAYS; way++) {
        pthread_mutex_init(&locks[way], NULL);
        objects[way] = malloc(sizeof *objects[way]);
    }
    open_all();
    pthread_create(&first, NULL, work, NULL);
    pthread_create(&second, NULL, work, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    msgctl(messages, IPC_RMID, NULL);
    return 0;
}
