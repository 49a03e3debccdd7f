/* Threads that live in globals: whoever looks whether one can be joined has that of its owner
 * alone, by what it was made and by what it was joined. The count is under no lock; with FIXED it
 * is. */
#include <chrono>
#include <mutex>
#include <thread>

static std::thread first, second;
static std::mutex lock;
static int count;

static void add()
{
#ifdef FIXED
    std::lock_guard<std::mutex> held(lock);
#endif
    count++;
}

int main()
{
    first = std::thread(add);
    second = std::thread([] {});
    second.join();
    static std::thread third([] {});
    third.detach();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    if (first.joinable() && !second.joinable() && !third.joinable()) add();
    first.join();
    return first.joinable();
}
