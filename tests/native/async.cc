// usage: async: std::async and its exceptions, a condition variable, shared pointers.
#include <cassert>
#include <condition_variable>
#include <future>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <thread>

static std::mutex m;
static std::condition_variable condition;
static bool ready;

static int twice(int x)
{
    return 2 * x;
}

static int refuse()
{
    throw std::runtime_error("no");
}

int main()
{
    auto product = std::async(std::launch::async, twice, 21);
    std::thread waiter([] {
        std::unique_lock<std::mutex> hold(m);
        condition.wait(hold, [] { return ready; });
    });
    {
        std::lock_guard<std::mutex> hold(m);
        ready = true;
    }
    condition.notify_one();
    assert(product.get() == 42);
    auto refused = std::async(std::launch::async, refuse);
    bool caught = false;
    try {
        refused.get();
    } catch (const std::runtime_error &) {
        caught = true;
    }
    assert(caught);
    waiter.join();
    auto owner = std::make_shared<int>(3);
    std::weak_ptr<int> seen = owner;
    std::thread user([owner] { assert(*owner == 3); });
    owner.reset();
    user.join();
    assert(seen.expired());
}
