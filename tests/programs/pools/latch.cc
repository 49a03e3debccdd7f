// Workers start together by one latch and are awaited by another. Arguments: workers, rounds.
#include <condition_variable>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

class Latch
{
  public:
    explicit Latch(int n) : left(n) {}
    void count_down()
    {
        std::lock_guard<std::mutex> held(lock);
        if (--left == 0) zero.notify_all();
    }
    void wait()
    {
        std::unique_lock<std::mutex> held(lock);
        zero.wait(held, [this] { return left == 0; });
    }

  private:
    std::mutex lock;
    std::condition_variable zero;
    int left;
};

int main(int n, char **words)
{
    int workers = n > 1 ? std::atoi(words[1]) : 2, rounds = n > 2 ? std::atoi(words[2]) : 2,
        sum = 0;
    for (int r = 0; r < rounds; r++) {
        Latch start(1), end(workers);
        std::vector<int> results(workers);
        std::vector<std::thread> threads;
        for (int i = 0; i < workers; i++)
            threads.emplace_back([&, i] {
                start.wait();
                results[i] = i + 1;
                end.count_down();
            });
        start.count_down();
        end.wait();
        for (int value : results) sum += value;
        for (auto &t : threads) t.join();
    }
    return sum != rounds * workers * (workers + 1) / 2;
}
