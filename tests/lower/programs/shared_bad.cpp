// Names that two threads add: one looks for its name without the lock.
#include <cassert>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

static std::mutex lock;
static auto names = std::make_shared<std::map<std::string, int>>();

static void add(const char *name)
{
    auto mine = names;
    if (mine->count(name)) return;
    std::lock_guard<std::mutex> held(lock);
    mine->emplace(name, (int)mine->size());
}

int main()
{
    std::thread first(add, "one"), second(add, "two");
    first.join();
    second.join();
    assert(names->size() == 2 && names->at("one") + names->at("two") == 1);
}
