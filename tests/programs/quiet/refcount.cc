// Copies of a shared_ptr are made, from a weak_ptr too, and dropped under a mutex by one thread and
// without it by another: its count of references is an atomic that both update, and a weak_ptr's
// lock() looks at it once more. -DRESET: one stores to such a count instead, and what the other did
// is lost. -DASKED: the program itself looks at the count behind its own update.
#include <atomic>
#include <memory>
#include <mutex>
#include <thread>

static std::mutex m;
static std::shared_ptr<int> p = std::make_shared<int>(3);
static std::weak_ptr<int> w = p;
static std::atomic<int> users{1};

static void locked()
{
    std::lock_guard<std::mutex> guard(m);
    users.fetch_add(1);
    users.fetch_sub(1);
    std::shared_ptr<int> q = p, r = w.lock();
    if (*q != 3 || *r != 3) __builtin_abort();
#ifdef ASKED
    if (r.use_count() < 3) __builtin_abort();
#endif
}

static void unlocked(std::shared_ptr<int> mine)
{
#ifdef RESET
    users.store(1);
#else
    users.fetch_add(1);
    users.fetch_sub(1);
#endif
    auto x = mine;
    auto y = x;
}

int main()
{
    auto mine = p;
    std::thread a(locked), b(unlocked, mine);
    a.join();
    b.join();
}
