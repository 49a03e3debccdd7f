/* Members at odd addresses, some across two words, copied one by one and as a whole, by two threads
 * under a lock: no finding, and what is recorded of a read is what the write before it left. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

struct __attribute__((packed)) odd {
    uint8_t first;
    uint32_t second;
    uint16_t third;
    uint64_t fourth;
    uint8_t last;
};
struct pair {
    uint32_t left, right;
};

static struct odd sum, parts[4];
static struct pair pairs[3];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void add(uint32_t k, unsigned round)
{
    sum.first += k;
    sum.second += 77777 * k;
    sum.third ^= 0x8123;
    sum.fourth = sum.fourth * 3 + k + ((uint64_t)round << 40);
    sum.last -= k;
    parts[round % 4] = sum;
    parts[(round + 1) % 4].fourth = sum.second;
    parts[(round + 2) % 4].second = parts[round % 4].third;
    pairs[round % 3].left = sum.second;
    pairs[(round + 1) % 3] = pairs[round % 3];
    pairs[2].right = pairs[0].right + (uint32_t)sum.fourth;
}

static void *work(void *argument)
{
    for (unsigned round = 0; round < 50; round++) {
        pthread_mutex_lock(&lock);
        add((uint32_t)(size_t)argument, round);
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[2];
    for (size_t i = 0; i < 2; i++) pthread_create(&threads[i], NULL, work, (void *)(i + 3));
    for (size_t i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    /* Of the sums that do not depend on who came first. */
    return sum.first != (uint8_t)350 || sum.second != 350 * 77777 || sum.third ||
           sum.last != (uint8_t)-350;
}
