/* assertion: two threads look whether a key is in the table, each in one section, and put it there
 * in another one; where the two keys are equal, it may be loaded twice. */
#include <cassert>
#include <foretell/input.h>
#include <mutex>
#include <thread>

namespace
{
enum { KEYS = 4 };

class table
{
  public:
    void load(unsigned key)
    {
#ifdef FIXED
        std::lock_guard<std::mutex> both(order);
#endif
        if (!has(key)) put(key);
    }
    unsigned loads(unsigned key)
    {
        std::lock_guard<std::mutex> guard(lock);
        return loaded[key];
    }

  private:
    bool has(unsigned key)
    {
        std::lock_guard<std::mutex> guard(lock);
        return loaded[key] > 0;
    }
    void put(unsigned key)
    {
        std::lock_guard<std::mutex> guard(lock);
        loaded[key]++;
    }
    std::mutex lock, order;
    unsigned loaded[KEYS] = {};
};

table all;

void load(unsigned key)
{
    all.load(key);
}
} // namespace

int main()
{
    unsigned char keys[2];
    foretell_input(&keys[0], sizeof keys[0], "first");
    foretell_input(&keys[1], sizeof keys[1], "second");
    if (keys[0] >= KEYS || keys[1] >= KEYS) return 0;
    std::thread other(load, keys[0]);
    load(keys[1]);
    other.join();
    assert(all.loads(keys[0]) == 1);
    return 0;
}
