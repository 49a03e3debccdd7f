// -std=c++20
// Two threads wait for one atomic, and one is notified.
#include <atomic>
#include <cassert>
#include <latch>
#include <thread>

static std::atomic<int> flag;
static int data;

int main()
{
    std::latch done(2);
    auto run = [&done] {
        flag.wait(0);
        assert(data == 1);
        done.count_down();
    };
    std::thread a(run), b(run);
    data = 1;
    flag.store(1);
#ifdef FIXED
    flag.notify_all();
#else
    flag.notify_one();
#endif
    done.wait();
    a.join();
    b.join();
}
