// Workers read a configuration under a shared lock while one replaces it; the tasks are shared
// pointers that the last user frees. Arguments: workers, changes.
#include <atomic>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <thread>
#include <vector>

struct Config {
    int version, copy;
};

static std::shared_mutex lock;
static std::shared_ptr<const Config> current = std::make_shared<Config>(Config{0, 0});
static std::once_flag once;
static std::atomic<int> torn{0};

static void work(int looks)
{
    std::call_once(once, [] { torn = 0; });
    for (int i = 0; i < looks; i++) {
        std::shared_ptr<const Config> mine;
        {
            std::shared_lock<std::shared_mutex> held(lock);
            mine = current;
        }
        if (mine->version != mine->copy) torn++;
    }
}

int main(int n, char **words)
{
    int workers = n > 1 ? std::atoi(words[1]) : 2, changes = n > 2 ? std::atoi(words[2]) : 2;
    std::vector<std::thread> threads;
    for (int i = 0; i < workers; i++) threads.emplace_back(work, 2);
    for (int i = 1; i <= changes; i++) {
        auto next = std::make_shared<Config>(Config{i, i});
        std::unique_lock<std::shared_mutex> held(lock);
        current = next;
    }
    for (auto &t : threads) t.join();
    return torn || current->version != changes;
}
