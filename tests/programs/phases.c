/* Threads copy structures from the stack of the one that creates them, phase by phase; in their
 * gaps lies what code without calls left on that stack in between, which is no word from any
 * thread. In the second phase a flag is written under no lock; with FIXED it is under one. In the
 * third the structures are found by a pointer. */
#include <pthread.h>
#include <stdio.h>

typedef struct order {
    char kind;
    long id;
    int phase;
} order;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const order *all;
static long sum;
static int finished;

__attribute__((noinline, no_sanitize_thread)) static void use_stack(char with)
{
    volatile char some[600];
    for (unsigned i = 0; i < sizeof some; i++) some[i] = with;
}

static void finish(const order *o)
{
#ifdef FIXED
    pthread_mutex_lock(&lock);
#endif
    if (o->phase == 1) finished++;
#ifdef FIXED
    pthread_mutex_unlock(&lock);
#endif
}

static void *work(void *argument)
{
    const order *from = argument;
    if (from->phase == 2) from = &all[from->id];
    order mine = *from;
    pthread_mutex_lock(&lock);
    sum += mine.id;
    pthread_mutex_unlock(&lock);
    finish(&mine);
    return NULL;
}

static order *fill(order *o, long id, int phase)
{
    o->kind = 1;
    o->id = id;
    o->phase = phase;
    return o;
}

static void run(int phase)
{
    static order told[2];
    order orders[2];
    pthread_t threads[2];
    all = orders;
    for (int i = 0; i < 2; i++) fill(&orders[i], i, phase);
    for (int i = 0; i < 2; i++) {
        order *handed = phase == 2 ? fill(&told[i], i, phase) : &orders[i];
        pthread_create(&threads[i], NULL, work, handed);
    }
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
}

int main(void)
{
    for (int phase = 0; phase < 3; phase++) {
        use_stack((char)(phase + 3));
        run(phase);
    }
    printf("%ld %d\n", sum, finished);
    return 0;
}
