/* usage: messages WHAT: threads that send each other content through descriptors. With -DFIXED each
 * ends with 0 in every schedule.
 *
 *   early    a command is written to a pipe before the state that it is about is set
 *   mixed    two clients share a connection, and one takes the other's answer
 *   counted  two events add up, and the reader waits for a second one: stuck in some schedules
 *   looked   a poll finds the first message, and the second is taken without waiting
 *   large    a write of several parts, and a reader that takes what is there (always correct) */
#include <assert.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#ifdef FIXED
enum { FIXED_FORM = 1 };
#else
enum { FIXED_FORM = 0 };
#endif

static int ends[2];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int state;

static char take(int fd)
{
    char one = 0;
    assert(read(fd, &one, 1) == 1);
    return one;
}

static void put(int fd, char one)
{
    assert(write(fd, &one, 1) == 1);
}

static void set_state(int to)
{
    pthread_mutex_lock(&lock);
    state = to;
    pthread_mutex_unlock(&lock);
}

static void *obey(void *unused)
{
    (void)unused;
    take(ends[0]);
    pthread_mutex_lock(&lock);
    int now = state;
    pthread_mutex_unlock(&lock);
    assert(now == 1);
    return NULL;
}

static void early(void)
{
    pthread_t worker;
    assert(!pipe(ends));
    assert(!pthread_create(&worker, NULL, obey, NULL));
    if (FIXED_FORM) set_state(1);
    put(ends[1], 'a');
    if (!FIXED_FORM) set_state(1);
    pthread_join(worker, NULL);
}

static void *ask(void *question)
{
    char mine = *(char *)question;
    if (FIXED_FORM) pthread_mutex_lock(&lock);
    put(ends[0], mine);
    char answer = take(ends[0]);
    if (FIXED_FORM) pthread_mutex_unlock(&lock);
    assert(answer == mine + 1);
    return NULL;
}

static void mixed(void)
{
    static char questions[] = {10, 20};
    pthread_t clients[2];
    assert(!socketpair(AF_UNIX, SOCK_STREAM, 0, ends));
    for (int i = 0; i < 2; i++) assert(!pthread_create(&clients[i], NULL, ask, &questions[i]));
    for (int i = 0; i < 2; i++) put(ends[1], (char)(take(ends[1]) + 1));
    for (int i = 0; i < 2; i++) pthread_join(clients[i], NULL);
}

static void *count(void *unused)
{
    (void)unused;
    for (uint64_t done = 0; done < 2;) {
        uint64_t events;
        assert(read(ends[0], &events, sizeof events) == sizeof events);
        done += FIXED_FORM ? events : 1;
    }
    return NULL;
}

static void counted(void)
{
    pthread_t counter;
    uint64_t one = 1;
    ends[0] = eventfd(0, 0);
    assert(!pthread_create(&counter, NULL, count, NULL));
    for (int i = 0; i < 2; i++) assert(write(ends[0], &one, sizeof one) == sizeof one);
    pthread_join(counter, NULL);
}

static void *look(void *unused)
{
    struct pollfd one = {.fd = ends[0], .events = POLLIN};
    (void)unused;
    assert(!fcntl(ends[0], F_SETFL, O_NONBLOCK));
    for (int i = 0; i < 2; i++) {
        char got;
        if (!i || FIXED_FORM) assert(poll(&one, 1, -1) == 1);
        assert(read(ends[0], &got, 1) == 1);
    }
    return NULL;
}

static void looked(void)
{
    pthread_t reader;
    assert(!pipe(ends));
    assert(!pthread_create(&reader, NULL, look, NULL));
    put(ends[1], 'a');
    put(ends[1], 'b');
    pthread_join(reader, NULL);
}

enum { LARGE = 5 << 12 };

static void *fill(void *unused)
{
    static char content[LARGE];
    (void)unused;
    assert(write(ends[1], content, sizeof content) == sizeof content);
    set_state(1);
    return NULL;
}

static void large(void)
{
    static char content[LARGE];
    pthread_t writer;
    assert(!pipe(ends));
    assert(!pthread_create(&writer, NULL, fill, NULL));
    for (size_t got = 0; got < sizeof content;) {
        ssize_t n = read(ends[0], content, sizeof content);
        assert(n > 0);
        got += (size_t)n;
    }
    pthread_join(writer, NULL);
}

int main(int n, char **words)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } forms[] = {{"early", early},
                 {"mixed", mixed},
                 {"counted", counted},
                 {"looked", looked},
                 {"large", large}};
    for (size_t i = 0; n == 2 && i < sizeof forms / sizeof *forms; i++)
        if (!strcmp(forms[i].name, words[1])) return forms[i].run(), 0;
    return 2;
}
