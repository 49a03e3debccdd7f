// Containers of the C++ library under a mutex: its compiled half has no hooks.  One access is
// without the mutex. FIXED: none.
#include <atomic>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

static std::mutex lock;
static std::map<int, int> table;
static std::atomic<int> done{0};
static std::once_flag first;

static int &factor()
{
    static int value = 7;
    return value;
}

static void work(int i)
{
    std::call_once(first, [] { done = 5; });
    for (int k = 0; k < 6; k++) {
        std::lock_guard<std::mutex> guard(lock);
        table[k] += i;
    }
    done += factor();
#ifndef FIXED
    table[0] += i;
#endif
}

int main()
{
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; i++) threads.emplace_back(work, i);
    for (auto &thread : threads) thread.join();
    return table.size() == 6 ? 0 : 1;
}
