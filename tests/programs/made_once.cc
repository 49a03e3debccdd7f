// The constructor of a function's static object takes a lock that another thread holds when it
// comes to the object. FIXED: that one comes before it takes it.
#include <mutex>
#include <thread>

static std::mutex lock;
static int made, used;

struct limits {
    int most;
    limits()
    {
        std::lock_guard<std::mutex> held(lock);
        most = 9 + ++made;
    }
};

static limits &the_limits()
{
    static limits only;
    return only;
}

static void ask()
{
    the_limits();
}

static void use()
{
#ifdef FIXED
    the_limits();
#endif
    std::lock_guard<std::mutex> held(lock);
    used = the_limits().most;
}

int main()
{
    std::thread first(ask), second(use);
    first.join();
    second.join();
    return used != 10;
}
