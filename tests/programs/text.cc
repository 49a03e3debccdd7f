/* A thread appends to a std::string while another one asks for its length. FIXED: under a lock. */
#include <iostream>
#include <list>
#include <mutex>
#include <string>
#include <thread>

static std::mutex lock;
static std::string text = "start";
static std::list<size_t> seen;

static void append(const char *more)
{
#ifdef FIXED
    std::lock_guard<std::mutex> held(lock);
#endif
    text += more;
}

static void look()
{
    std::lock_guard<std::mutex> held(lock);
    seen.push_back(text.size());
}

int main()
{
    std::thread writer([] { append(" and a text that needs memory of the heap"); });
    std::thread reader(look);
    writer.join();
    reader.join();
    std::cout << text << ' ' << seen.size() << '\n';
    return 0;
}
