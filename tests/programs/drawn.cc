/* Two threads draw numbers from the system's random device, which go by other ways than calls of
 * the C library, and what they draw says which way they go. They count the rounds without a lock.
 * FIXED: with one. */
#include <cstdio>
#include <mutex>
#include <random>
#include <thread>

enum { DRAWS = 16 };

static std::mutex lock;
static unsigned heads, tails, rounds;

static void play()
{
    std::random_device device;
    for (int i = 0; i < DRAWS; i++) {
        bool head = device() % 2;
        std::lock_guard<std::mutex> held(lock);
        if (head)
            heads++;
        else
            tails++;
    }
#ifdef FIXED
    std::lock_guard<std::mutex> held(lock);
#endif
    rounds++;
}

int main()
{
    std::thread other(play);
    play();
    other.join();
    std::printf("%u of %u\n", heads + tails, rounds * DRAWS);
    return 0;
}
