// Recursive mutexes of C++, static and in objects of the heap; memory of new that is aligned.
#include <cassert>
#include <mutex>
#include <thread>
static std::recursive_mutex all;
static int n;
struct alignas(64) counted {
    std::recursive_timed_mutex m;
    int n = 0;
    void add()
    {
        std::lock_guard<std::recursive_timed_mutex> held(m);
        m.lock();
        n++;
        m.unlock();
    }
};
static void add(int more)
{
    std::lock_guard<std::recursive_mutex> held(all);
    n++;
    if (more) add(more - 1);
}
int main()
{
    auto *own = new counted;
    assert((unsigned long)own % 64 == 0);
    std::thread t([&] {
        add(1);
        own->add();
    });
    own->add();
    add(0);
    t.join();
    assert(n == 3 && own->n == 2);
    delete own;
}
