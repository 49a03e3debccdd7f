/* Memory that goes from thread to thread through a library without hooks (hidden_table.c), or the C
 * library: what was done with it before it was handed over is over. `late`: the giver writes once
 * more behind that, a race. */
#include <pthread.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void queue_put(void *), *queue_take(void), table_put(int, void *), *table_get(int);
void box_put(void *(*)(void)), box_end(void (*)(void *)), lent_lock(void), lent_unlock(void);

enum { JOBS = 6 };
struct job {
    long in, out;
};
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int late;
static void *root;
static long apart, kept, done;

static struct job *new_job(long i)
{
    struct job *j = malloc(sizeof *j);
    j->in = i;
    j->out = 0;
    return j;
}

static void *give(void *unused)
{
    for (long i = 0; i < JOBS; i++) {
        struct job *j = new_job(i);
        queue_put(j);
        if (late && i == 2) j->in = 7;
        usleep(100);
    }
    return unused;
}

static void *work(void *unused)
{
    for (int i = 0; i < JOBS / 2; i++) {
        struct job *j = queue_take();
        j->out = j->in * 2;
    }
    return unused;
}

static void *insert(void *unused)
{
    for (int i = 0; i < JOBS; i++) {
        struct job *j = new_job(i);
        pthread_mutex_lock(&mutex);
        table_put(i, j);
        pthread_mutex_unlock(&mutex);
        if (late && i == 2) j->in = 7;
    }
    return unused;
}

static void *look_up(void *unused)
{
    usleep(20000);
    for (int i = 0; i < JOBS; i++) {
        pthread_mutex_lock(&mutex);
        struct job *j = table_get(i);
        pthread_mutex_unlock(&mutex);
        if (j) j->out = j->in;
    }
    return unused;
}

static int compare(const void *a, const void *b)
{
    const struct job *x = a, *y = b;
    return (x->in > y->in) - (x->in < y->in);
}

static void *grow(void *number)
{
    struct job *j = new_job((long)number);
    pthread_mutex_lock(&mutex);
    tsearch(j, &root, compare);
    pthread_mutex_unlock(&mutex);
    if (late) j->in++;
    return NULL;
}

static void *make(void)
{
    return new_job(1);
}

static void end(void *what)
{
    struct job *j = what;
    if (j->in) j->out = 1;
    free(j);
}

static void *fill_box(void *unused)
{
    box_put(make);
    return unused;
}

static void *empty_box(void *unused)
{
    usleep(20000);
    box_end(end);
    return unused;
}

/* The library's lock is the program's here: its sections may come the other way round. */
static void *first(void *unused)
{
    if (late) apart = 1;
    lent_lock();
    if (!late) apart = 1;
    kept = 1;
    lent_unlock();
    return unused;
}

static void *second(void *unused)
{
    usleep(20000);
    lent_lock();
    kept = 2;
    if (!late) apart = 2;
    lent_unlock();
    if (late) apart = 2;
    return unused;
}

/* Nothing is under the lock, but it is the program's: its sections may change places too. */
static void pass(void)
{
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
}

static void *enter(void *unused)
{
    if (late) apart = 1;
    pass();
    return unused;
}

static void *leave(void *unused)
{
    usleep(20000);
    pass();
    if (late) apart = 2;
    return unused;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void *(*run[3])(void *);
    } ways[] = {{"queue", {give, work, work}},   {"table", {insert, look_up, NULL}},
                {"tree", {grow, grow, grow}},    {"box", {fill_box, empty_box, NULL}},
                {"lent", {first, second, NULL}}, {"gate", {enter, leave, NULL}}};
    pthread_t threads[3];
    late = argc > 2;
    for (size_t w = 0; w < sizeof ways / sizeof *ways; w++) {
        if (argc < 2 || strcmp(argv[1], ways[w].name)) continue;
        for (long t = 0; t < 3 && ways[w].run[t]; t++)
            pthread_create(&threads[t], NULL, ways[w].run[t], (void *)t);
        for (int t = 0; t < 3 && ways[w].run[t]; t++) pthread_join(threads[t], NULL);
        done = 1;
    }
    return !done;
}
