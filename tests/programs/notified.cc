// usage: notified WHAT: waits on atomics of C++20. With -DFIXED each ends with 0 in every schedule.
//
//   silent   a flag is set without a notification: the waiter may sleep for ever
//   early    the flag is set before the value that it announces
//   latched  a latch is counted down before the work is done
#include <atomic>
#include <cassert>
#include <latch>
#include <string>
#include <thread>

#ifdef FIXED
static constexpr bool fixed = true;
#else
static constexpr bool fixed = false;
#endif

static std::atomic<int> flag{0}, value{0};
static std::latch done(2);

static void silent()
{
    std::thread setter([] {
        flag = 1;
        if (fixed) flag.notify_one();
    });
    flag.wait(0);
    setter.join();
}

static void early()
{
    std::thread setter([] {
        if (fixed) value = 1;
        flag = 1;
        if (!fixed) value = 1;
        flag.notify_one();
    });
    flag.wait(0);
    int seen = value;
    setter.join();
    assert(seen == 1);
}

static void work()
{
    if (fixed) value++;
    done.count_down();
    if (!fixed) value++;
}

static void latched()
{
    std::thread one(work), other(work);
    done.wait();
    int seen = value;
    one.join();
    other.join();
    assert(seen == 2);
}

int main(int n, char **words)
{
    std::string what = n == 2 ? words[1] : "";
    if (what == "silent") silent();
    if (what == "early") early();
    if (what == "latched") latched();
    return 0;
}
