// One promise may be given up, so get() may throw; the corrected program keeps it.
#include <cassert>
#include <future>
#include <mutex>
#include <thread>

static std::mutex lock;
static bool ready;

int main()
{
    std::promise<int> promise;
    auto result = promise.get_future();
    std::thread t([promise = std::move(promise)]() mutable {
        std::lock_guard<std::mutex> guard(lock);
#ifdef FIXED
        promise.set_value(ready);
#else
        if (ready) promise.set_value(1);
#endif
    });
    {
        std::lock_guard<std::mutex> guard(lock);
        ready = true;
    }
    assert(result.get() <= 1);
    t.join();
}
