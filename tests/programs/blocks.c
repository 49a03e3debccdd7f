/* Blocks of the heap whose lines say what is in them, and some whose lines do not (tests/record/run
 * knows which name each of these cells has). */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct message {
    int length;
    char text[];
};
struct buffer {
    char *bytes;
    size_t n;
};
typedef struct connection {
    struct connection *next;
    int number;
    struct {
        int state;
        long seen;
    } in;
    struct buffer *buffers[4];
} connection;
struct pool {
    connection **all;
    struct connection *free;
    pthread_mutex_t lock;
    int counts[3];
};

static struct pool *pool;
static struct message *message;
static void *raw;
static long *numbers;
static connection *many, *given, *first;

static void *xmalloc(size_t size)
{
    void *got = malloc(size);
    if (!got) abort();
    return memset(got, 0, size);
}

static connection *connection_alloc(void)
{
    return xmalloc(sizeof(struct connection));
}

static connection *make(void)
{
    connection *made = xmalloc(sizeof *made); /* made.number */
    return made;
}

/* "*out" is assigned: the line does not say whether that is what out points to. */
static void give(connection **out)
{
    *out = xmalloc(96); /* given+8 */
}

static void *work(void *unused)
{
    pthread_mutex_lock(&pool->lock);
    pool->counts[1]++;
    pthread_mutex_unlock(&pool->lock);
    pool->counts[2]++;
    pool->free->in.seen++;
    pool->all[2]->number++;
    message->text[6]++;
    message->length++;
    ((char *)raw)[3]++;
    numbers[1]++;
    numbers[0]++;
    many[1].in.state++;
    many[1].buffers[2]->n++;
    given->number++;
    first->buffers[0]->bytes[5]++;
    return unused;
}

int main(void)
{
    pthread_t thread;
    pool = xmalloc(sizeof(*pool)); /* pool.counts[1], pool.counts[2], pool.lock */
    pthread_mutex_init(&pool->lock, 0);
    pool->free = connection_alloc(); /* free.in.seen */
    pool->all = calloc(5, sizeof(struct connection *));
    pool->all[2] = make();
    message = xmalloc(sizeof(struct message) + 12); /* message.length, message+10 */
    raw = malloc(16);                               /* raw+3 */
    memset(raw, 0, 16);
    numbers = calloc(2, sizeof(long));                    /* numbers, numbers[1] */
    many = (struct connection *)calloc(2, sizeof(*many)); /* many[1].in.state */
    if (!(many[1].buffers[2] = calloc(1, sizeof(struct buffer)))) return 1; /* buffer.n */
    give(&given);
    first = make();
    first->buffers[0] = &(struct buffer){0};
    for (connection *at = first; at; at = at->next)
        at->buffers[0]->bytes = malloc(80); /* bytes+5 */
    memset(first->buffers[0]->bytes, 0, 80);
    pthread_create(&thread, 0, work, 0);
    work(0);
    pthread_join(thread, 0);
    return 0;
}
