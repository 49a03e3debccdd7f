// Static objects of functions: made by whoever comes first, also behind one that failed, within
// others, under a lock and without; and flags of one byte, which are read as the guards of such
// objects are.
#include <atomic>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

static std::mutex lock;
static std::atomic<int> failures;
static std::atomic<bool> ready, stop;
static std::atomic<unsigned char> stage;
static int handed, passed[4], total;

struct inner {
    std::string text = "a text that is too long to lie in the object itself";
};

static const std::string &text()
{
    static const inner only;
    return only.text;
}

struct outer {
    std::vector<int> lengths;
    outer()
    {
        for (int i = 0; i < 4; i++) lengths.push_back((int)text().size() + i);
    }
};

static const outer &lengths()
{
    static const outer only;
    return only;
}

template <int n> static std::atomic<int> &counter()
{
    static std::atomic<int> only{n + (int)text().size()};
    return only;
}

struct fails {
    fails()
    {
        if (failures++ < 2) throw std::runtime_error("not yet");
    }
};

static void try_hard()
{
    for (;;) try {
            static const fails only;
            return;
        } catch (const std::runtime_error &) {
        }
}

static void work(int n)
{
    while (!ready.load()) std::this_thread::yield();
    int sum = handed + lengths().lengths[(size_t)n] + ++counter<1>() + ++counter<2>();
    try_hard();
    for (int i = 0; i < 20; i++) sum += (int)text().size() + lengths().lengths[0];
    while (stage.load() != n) {
        if (stop.load()) return;
    }
    passed[n] = sum;
    stage.store((unsigned char)(n + 1));
    std::lock_guard<std::mutex> held(lock);
    total += lengths().lengths[1] + counter<3>();
}

int main()
{
    std::vector<std::thread> threads;
    for (int n = 0; n < 4; n++) threads.emplace_back(work, n);
    handed = 5;
    ready.store(true);
    while (stage.load() != 4) std::this_thread::yield();
    int sum = passed[0] + passed[1] + passed[2] + passed[3];
    for (auto &thread : threads) thread.join();
    return sum == 0 || total == 0;
}
