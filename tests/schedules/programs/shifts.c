/* Threads that are made and joined for as long as the input says, two in each epoch; they meet at a
 * barrier with main, within which every other epoch begins. */
#include <assert.h>
#include <foretell/input.h>
#include <foretell/marker.h>
#include <pthread.h>

static pthread_barrier_t gate;
static unsigned short shifts;
static unsigned made, last;
static int sum[2];

static void *work(void *place)
{
    int number = *(int *)place;
    if (pthread_barrier_wait(&gate)) last++;
    sum[number]++;
    return place;
}

int main(void)
{
    int numbers[2] = {0, 1};
    pthread_t one, other;
    foretell_input(&shifts, sizeof shifts, "shifts");
    pthread_barrier_init(&gate, 0, 3);
    while (made < shifts) {
        made++;
        foretell_marker();
        pthread_create(&one, 0, work, &numbers[0]);
        pthread_create(&other, 0, work, &numbers[1]);
        if (pthread_barrier_wait(&gate)) last++;
        pthread_join(one, 0);
        pthread_join(other, 0);
    }
    assert(sum[0] == made && sum[1] == made && last == made);
    return 0;
}
