// usage: library: two threads with a section each in a shared library, which is this file built
// with -DLIBRARY -shared. The library has a lock and thread-local objects of its own.
#include <cassert>
#include <mutex>
#include <string>
#include <thread>

extern "C" int enter(int by);

#ifdef LIBRARY
static std::mutex m;
static thread_local std::string mine = "library";
static int sum;

int enter(int by)
{
    std::lock_guard<std::mutex> hold(m);
    mine += "x";
    sum += by;
    return static_cast<int>(mine.size()) * 1000 + sum;
}
#else
int main()
{
    int results[2];
    std::thread a([&] { results[0] = enter(1); }), b([&] { results[1] = enter(2); });
    a.join();
    b.join();
    assert(results[0] / 1000 == 8 && results[1] / 1000 == 8 && enter(0) == 8003);
}
#endif
