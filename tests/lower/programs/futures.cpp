// Futures, promises, tasks, and what is modelled of libatomic: one schedule prints what the native
// program prints.
#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

struct pair {
    int x, y;
};

struct triple {
    long x, y, z;
    bool operator==(const triple &o) const { return x == o.x && y == o.y && z == o.z; }
};

template <typename T> static void change(const char *name, T first, T second)
{
    std::atomic<T> a(first);
    T expected = second;
    bool failed = a.compare_exchange_strong(expected, second);
    bool done = a.compare_exchange_strong(expected, second);
    T old = a.exchange(first);
    a.store(old, std::memory_order_release);
    T last = a.load(std::memory_order_relaxed);
    std::printf("%s %d %d %ld %ld\n", name, failed, done, (long)old.x, (long)last.y);
}

static std::shared_ptr<int> shared = std::make_shared<int>(1);

int main()
{
    auto one = std::async(
        std::launch::async, [](int n) { return n + 1; }, 41);
    auto two = std::async(std::launch::deferred, [] { return std::string("deferred"); });
    std::printf("%d\n", two.wait_for(std::chrono::seconds(0)) == std::future_status::deferred);
    std::printf("%d %s\n", one.get(), two.get().c_str());

    std::promise<std::unique_ptr<int>> promise;
    auto kept = promise.get_future();
    std::thread t([&promise] { promise.set_value(std::make_unique<int>(7)); });
    std::printf("%d\n", *kept.get());
    std::printf("%d\n", kept.valid());
    t.join();

    std::vector<std::future<int>> results;
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; i++) {
        std::packaged_task<int(int)> task([](int n) { return n * n; });
        results.push_back(task.get_future());
        threads.emplace_back(std::move(task), i);
    }
    for (auto &r : results) std::printf("%d\n", r.get());
    for (auto &thread : threads) thread.join();

    /* More places of memory, one after the other, than may be waited for at once. */
    std::array<std::promise<int>, 70> questions, answers;
    std::thread answering([&] {
        for (int i = 0; i < 70; i++) answers[i].set_value(questions[i].get_future().get() + 1);
    });
    int sum = 0;
    for (int i = 0; i < 70; i++) {
        questions[i].set_value(i);
        sum += answers[i].get_future().get();
    }
    answering.join();
    std::printf("%d\n", sum);

    std::promise<void> given_up;
    std::shared_future<void> never = given_up.get_future().share();
    given_up = std::promise<void>();
    never.wait(); // get() would throw
    std::printf("%d\n", never.wait_for(std::chrono::seconds(0)) == std::future_status::ready);

    change<pair>("pair", {1, 2}, {3, 4});
    change<triple>("triple", {1, 2, 3}, {4, 5, 6});
    std::atomic_store(&shared, std::make_shared<int>(2));
    std::printf("%d %s\n", *std::atomic_load(&shared), std::to_string(1.5).c_str());
}
