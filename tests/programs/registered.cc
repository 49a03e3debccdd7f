/* Two threads make a static object each, which is to be destroyed when the program ends, and share a number
 * without a lock. FIXED: with one. Which object is made first orders nothing else. */
#include <mutex>
#include <thread>

static int shared;
static std::mutex lock;

struct part {
    int n = 1;
    ~part() { n = 0; }
};

static part &first()
{
    static part made;
    return made;
}

static part &second()
{
    static part made;
    return made;
}

static void add(int n)
{
#ifdef FIXED
    std::lock_guard<std::mutex> hold(lock);
#endif
    shared += n;
}

int main()
{
    std::thread one([] { add(1), first().n++; }), two([] { second().n++, add(2); });
    one.join();
    two.join();
    return shared != 3;
}
