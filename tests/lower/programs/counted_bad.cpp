#include <cassert>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
std::mutex m;
std::condition_variable c;
std::deque<int> q;
int n;
int main()
{
    std::thread a([] {
        std::lock_guard<std::mutex> l(m);
        q.push_back(1);
        c.notify_one();
    });
    std::thread b([] {
        std::unique_lock<std::mutex> l(m);
        c.wait(l, [] { return !q.empty(); });
        q.pop_front();
    });
    a.join();
    b.join();
    std::thread x([] {
        std::lock_guard<std::mutex> l(m);
        n++;
    }),
        y([] {
            int k;
            {
                std::lock_guard<std::mutex> l(m);
                k = n;
            }
            std::lock_guard<std::mutex> l(m);
            n = k + 1;
        });
    x.join();
    y.join();
    assert(n == 2);
}
