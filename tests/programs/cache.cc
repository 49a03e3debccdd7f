/* A cache fills itself under a lock that lets other readers in: they walk through a tree that is
 * being rebuilt, in code of the C++ library. FIXED: it is filled under the lock that keeps them
 * out. */
#include <map>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <thread>

static std::shared_timed_mutex lock;
static std::map<std::string, int> lengths;

static int length_of(const std::string &word)
{
    {
        std::shared_lock<std::shared_timed_mutex> held(lock);
        auto found = lengths.find(word);
        if (found != lengths.end()) return found->second;
    }
#ifdef FIXED
    std::unique_lock<std::shared_timed_mutex> held(lock);
#else
    std::shared_lock<std::shared_timed_mutex> held(lock);
#endif
    return lengths[word] = static_cast<int>(word.size());
}

int main()
{
    std::thread one([] { length_of("hello"); });
    std::thread two([] { length_of("world"); });
    one.join();
    two.join();
    return lengths.size() == 2 ? 0 : 1;
}
