// usage: locals [detach]: std::thread, exceptions, thread_local objects whose destructors lock,
// pthread_exit, keys, a thread of a thread. The sections of three threads, of which one has two.
#include <cassert>
#include <mutex>
#include <pthread.h>
#include <stdexcept>
#include <string>
#include <thread>

static std::mutex m;
static int live, caught, unwound, cleaned;

struct counter {
    int n = 0;
    std::string name = "long enough to be on the heap, not inside";
    counter() { live++; }
    ~counter()
    {
        std::lock_guard<std::mutex> hold(m);
        cleaned += n;
        live--;
    }
};
static thread_local counter mine;
static thread_local int number = 7;

struct guard {
    ~guard() { unwound++; }
};

static void work(int own)
{
    number += own;
    try {
        std::lock_guard<std::mutex> hold(m);
        mine.n++;
        throw std::runtime_error("odd");
    } catch (const std::exception &e) {
        assert(std::string(e.what()) == "odd");
        caught++;
    }
    assert(mine.n == 1 && number == 7 + own);
}

static void *leave(void *)
{
    guard here;
    std::thread inner(work, 2);
    inner.join();
    pthread_exit(&m);
}

int main(int argc, char **)
{
    pthread_t p;
    void *result;
    std::thread a(work, 1);
    pthread_create(&p, nullptr, leave, nullptr);
    if (argc > 1) {
        std::thread([] { std::lock_guard<std::mutex> hold(m); }).detach();
    }
    a.join();
    pthread_join(p, &result);
    assert(result == &m && unwound == 1 && number == 7);
    assert(live == 0 && caught == 2 && cleaned == 2);
}
