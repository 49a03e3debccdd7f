// A pool that answers by futures. Arguments: workers, tasks.
#include <condition_variable>
#include <cstdlib>
#include <future>
#include <mutex>
#include <queue>
#include <thread>
#include <vector>

class Pool
{
  public:
    explicit Pool(int workers)
    {
        for (int i = 0; i < workers; i++) threads.emplace_back([this] { work(); });
    }
    ~Pool()
    {
        {
            std::lock_guard<std::mutex> held(lock);
            ends = true;
        }
        some.notify_all();
        for (auto &t : threads) t.join();
    }
    std::future<int> add(int value)
    {
        std::packaged_task<int()> task([value] { return value + 1; });
        std::future<int> answer = task.get_future();
        {
            std::lock_guard<std::mutex> held(lock);
            tasks.push(std::move(task));
        }
        some.notify_one();
        return answer;
    }

  private:
    void work()
    {
        for (;;) {
            std::unique_lock<std::mutex> held(lock);
            some.wait(held, [this] { return ends || !tasks.empty(); });
            if (tasks.empty()) return;
            std::packaged_task<int()> task = std::move(tasks.front());
            tasks.pop();
            held.unlock();
            task();
        }
    }
    std::mutex lock;
    std::condition_variable some;
    std::queue<std::packaged_task<int()>> tasks;
    std::vector<std::thread> threads;
    bool ends = false;
};

int main(int n, char **words)
{
    int workers = n > 1 ? std::atoi(words[1]) : 2, count = n > 2 ? std::atoi(words[2]) : 3, sum = 0;
    Pool pool(workers);
    std::vector<std::future<int>> answers;
    for (int i = 0; i < count; i++) answers.push_back(pool.add(i));
    for (auto &a : answers) sum += a.get();
    return sum != count * (count + 1) / 2;
}
