/* One block that a filler and a taker hand back and forth by two semaphores, many times; and three
 * that hand a unit round, of which the first one is posted. Nothing is done to a block by two at
 * once. */
#include <pthread.h>
#include <semaphore.h>

enum { ROUNDS = 1000, CELLS = 4, RING = 3, TURNS = 20 };

static int block[CELLS], ring;
static sem_t filled, taken, turns[RING];
static long sum;

static void *fill(void *unused)
{
    for (int r = 0; r < ROUNDS; r++) {
        sem_wait(&taken);
        for (int i = 0; i < CELLS; i++) block[i] = i + r;
        sem_post(&filled);
    }
    return unused;
}

static void *take(void *unused)
{
    for (int r = 0; r < ROUNDS; r++) {
        sem_wait(&filled);
        for (int i = 0; i < CELLS; i++) sum += block[i];
        for (int i = 0; i < CELLS; i++) block[i] = 0;
        sem_post(&taken);
    }
    return unused;
}

static void *pass_on(void *own)
{
    long n = (sem_t *)own - turns;
    for (int r = 0; r < TURNS; r++) {
        sem_wait(own);
        ring++;
        sem_post(&turns[(n + 1) % RING]);
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[2 + RING];
    sem_init(&filled, 0, 0);
    sem_init(&taken, 0, 1);
    for (int i = 0; i < RING; i++) sem_init(&turns[i], 0, 0);
    pthread_create(&threads[0], NULL, fill, NULL);
    pthread_create(&threads[1], NULL, take, NULL);
    for (int i = 0; i < RING; i++) pthread_create(&threads[2 + i], NULL, pass_on, &turns[i]);
    sem_post(&turns[0]);
    for (int i = 0; i < 2 + RING; i++) pthread_join(threads[i], NULL);
    return ring != TURNS * RING || sum < 0;
}
