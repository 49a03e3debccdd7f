// The limit of a wait for a future is taken for success. With FIXED the program looks at the
// result.
#include <chrono>
#include <cstdio>
#include <future>
#include <thread>

static int level;

int main()
{
    std::promise<void> ready;
    std::future<void> known = ready.get_future();
    std::thread worker([&] {
        level = 5;
        ready.set_value();
    });
    auto status = known.wait_for(std::chrono::seconds(2));
#ifdef FIXED
    if (status != std::future_status::ready) known.wait();
#else
    (void)status;
#endif
    std::printf("%d\n", level);
    worker.join();
    return 0;
}
