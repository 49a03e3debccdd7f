/* A timer's handler runs again and again while threads hand data to each other by a word that
 * inline assembly reads and writes. None runs between the recorder's look at the word and the read:
 * what the log says that it returned is what the thread went on with. */
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <sys/time.h>

enum { ROUNDS = 100, LONG = 12 };

static uint32_t turn;
static int data;
static uint64_t ticks;

/* Long enough for others to go on meanwhile. */
static void on_tick(int number)
{
    (void)number;
    for (int i = 0; i < LONG; i++) __asm__ volatile("lock incq %0" : "+m"(ticks) : : "cc");
}

static void await(uint32_t mine)
{
    __asm__ volatile("1: movl %0, %%ecx; cmpl %1, %%ecx; jne 1b"
                     :
                     : "m"(turn), "r"(mine)
                     : "memory", "cc", "ecx");
}

static void give(uint32_t to)
{
    __asm__ volatile("movl %1, %0" : "=m"(turn) : "r"(to) : "memory");
}

static void *work(void *number)
{
    uint32_t mine = (uint32_t)(uintptr_t)number;
    for (int i = 0; i < ROUNDS; i++) {
        await(mine);
        data++;
        give(!mine);
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[2];
    struct sigaction action = {.sa_handler = on_tick, .sa_flags = SA_RESTART};
    struct itimerval often = {{0, 50}, {0, 50}}, never = {{0, 0}, {0, 0}};
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
    for (uintptr_t i = 0; i < 2; i++) pthread_create(&threads[i], NULL, work, (void *)i);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    setitimer(ITIMER_REAL, &never, NULL);
    return data != 2 * ROUNDS;
}
