/* Monitors, each one right: a mutex, conditions, and what is waited for. Nobody waits for ever. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST = 8 };
static int rounds;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER, other = PTHREAD_COND_INITIALIZER;

static void run(void *(*const work[])(void *), int n)
{
    pthread_t threads[MOST];
    for (long i = 0; i < n; i++) pthread_create(&threads[i], NULL, work[i], (void *)i);
    for (int i = 0; i < n; i++) pthread_join(threads[i], NULL);
}

/* ---- turns: threads in a ring ---- */

enum { RING = 3 };
static int turn;

static void *take_turns(void *number)
{
    for (int i = 0; i < rounds; i++) {
        pthread_mutex_lock(&lock);
        while (turn != (int)(long)number) pthread_cond_wait(&changed, &lock);
        turn = (turn + 1) % RING;
        pthread_cond_broadcast(&changed);
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

/* ---- a slot: a flag ---- */

static int full;
static long value, sum;

static void *fill(void *unused)
{
    for (int i = 0; i < rounds; i++) {
        pthread_mutex_lock(&lock);
        while (full) pthread_cond_wait(&other, &lock);
        value = i;
        full = 1;
        pthread_cond_signal(&changed);
        pthread_mutex_unlock(&lock);
    }
    return unused;
}

static void *empty(void *unused)
{
    for (int i = 0; i < rounds; i++) {
        pthread_mutex_lock(&lock);
        while (!full) pthread_cond_wait(&changed, &lock);
        sum += value;
        full = 0;
        pthread_cond_signal(&other);
        pthread_mutex_unlock(&lock);
    }
    return unused;
}

/* ---- a bounded buffer: its signals wake one of several ---- */

enum { SIZE = 4 };
static struct buffer {
    pthread_mutex_t lock;
    pthread_cond_t not_full, not_empty;
    int items[SIZE], count, head, tail;
} * buffers[2];

static void put(struct buffer *b, int item)
{
    pthread_mutex_lock(&b->lock);
    while (b->count == SIZE) pthread_cond_wait(&b->not_full, &b->lock);
    b->items[b->tail] = item;
    b->tail = (b->tail + 1) % SIZE;
    b->count++;
    pthread_cond_signal(&b->not_empty);
    pthread_mutex_unlock(&b->lock);
}

static int get(struct buffer *b)
{
    pthread_mutex_lock(&b->lock);
    while (b->count == 0) pthread_cond_wait(&b->not_empty, &b->lock);
    int item = b->items[b->head];
    b->head = (b->head + 1) % SIZE;
    b->count--;
    pthread_cond_signal(&b->not_full);
    pthread_mutex_unlock(&b->lock);
    return item;
}

static void *produce(void *unused)
{
    for (int i = 0; i < rounds; i++) put(buffers[0], i);
    return unused;
}

static void *pass_on(void *unused)
{
    for (int i = 0; i < rounds; i++) put(buffers[1], get(buffers[0]));
    return unused;
}

static void *consume(void *unused)
{
    for (int i = 0; i < rounds; i++) get(buffers[1]);
    return unused;
}

/* ---- units: a semaphore ---- */

static int units = 2;

static void *use(void *unused)
{
    for (int i = 0; i < rounds; i++) {
        pthread_mutex_lock(&lock);
        while (units == 0) pthread_cond_wait(&changed, &lock);
        units--;
        pthread_mutex_unlock(&lock);
        pthread_mutex_lock(&lock);
        units++;
        pthread_mutex_unlock(&lock);
        pthread_cond_signal(&changed);
    }
    return unused;
}

/* ---- philosophers: a condition each, flags of the neighbours ---- */

enum { TABLE = 4 };
static int eating[TABLE];
static pthread_cond_t may_eat[TABLE] = {PTHREAD_COND_INITIALIZER, PTHREAD_COND_INITIALIZER,
                                        PTHREAD_COND_INITIALIZER, PTHREAD_COND_INITIALIZER};

static void *dine(void *number)
{
    long me = (long)number, left = (me + TABLE - 1) % TABLE, right = (me + 1) % TABLE;
    for (int i = 0; i < rounds; i++) {
        pthread_mutex_lock(&lock);
        while (eating[left] || eating[right]) pthread_cond_wait(&may_eat[me], &lock);
        eating[me] = 1;
        pthread_mutex_unlock(&lock);
        pthread_mutex_lock(&lock);
        eating[me] = 0;
        pthread_cond_signal(&may_eat[left]);
        pthread_cond_signal(&may_eat[right]);
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

/* ---- workers: a list, and an end ---- */

static struct job {
    struct job *next;
} * first, **last = &first;
static int over;

static void *work(void *unused)
{
    for (struct job *job = NULL;; free(job)) {
        pthread_mutex_lock(&lock);
        while (!first && !over) pthread_cond_wait(&changed, &lock);
        job = first;
        if (job && !(first = job->next)) last = &first;
        pthread_mutex_unlock(&lock);
        if (!job) return unused;
    }
}

static void *give_jobs(void *unused)
{
    for (int i = 0; i < rounds; i++) {
        struct job *job = calloc(1, sizeof *job);
        pthread_mutex_lock(&lock);
        *last = job;
        last = &job->next;
        pthread_cond_signal(&changed);
        pthread_mutex_unlock(&lock);
    }
    pthread_mutex_lock(&lock);
    over = 1;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    return unused;
}

/* ---- a task for all, again and again: a generation, and how many are not done ---- */

enum { TEAM = 3 };
static int generation, to_do, dismissed, task[TEAM], done[TEAM];

static void *do_tasks(void *number)
{
    for (int seen = 0;; done[(long)number] = 2 * task[(long)number]) {
        pthread_mutex_lock(&lock);
        if (seen && --to_do == 0) pthread_cond_signal(&other);
        while (generation == seen && !dismissed) pthread_cond_wait(&changed, &lock);
        int over = dismissed;
        seen = generation;
        pthread_mutex_unlock(&lock);
        if (over) return NULL;
    }
}

static void *give_tasks(void *unused)
{
    for (int i = 0; i < rounds; i++) {
        for (int k = 0; k < TEAM; k++) task[k] = i + k;
        pthread_mutex_lock(&lock);
        to_do = TEAM;
        generation++;
        pthread_cond_broadcast(&changed);
        while (to_do) pthread_cond_wait(&other, &lock);
        pthread_mutex_unlock(&lock);
        for (int k = 0; k < TEAM; k++) sum += done[k];
    }
    pthread_mutex_lock(&lock);
    dismissed = 1;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(int argc, char **argv)
{
    rounds = argc > 1 ? atoi(argv[1]) : 25;
    for (int i = 0; i < 2; i++) {
        buffers[i] = calloc(1, sizeof *buffers[i]);
        pthread_mutex_init(&buffers[i]->lock, NULL);
        pthread_cond_init(&buffers[i]->not_full, NULL);
        pthread_cond_init(&buffers[i]->not_empty, NULL);
    }
    run((void *(*const[])(void *)){take_turns, take_turns, take_turns}, RING);
    run((void *(*const[])(void *)){fill, empty}, 2);
    run((void *(*const[])(void *)){produce, produce, pass_on, pass_on, consume, consume}, 6);
    run((void *(*const[])(void *)){use, use, use, use}, 4);
    run((void *(*const[])(void *)){dine, dine, dine, dine}, TABLE);
    run((void *(*const[])(void *)){work, work, work, give_jobs}, 4);
    run((void *(*const[])(void *)){do_tasks, do_tasks, do_tasks, give_tasks}, TEAM + 1);
    printf("%ld, %d units\n", sum, units);
    return 0;
}
