// What a library's functions find in strings, and in an array that is initialised in part.
#include <cassert>
#include <cstring>
#include <mutex>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>

static std::mutex lock;
static std::string text = "12", longer(40, 'a');
static char raw[16] = "12";
static int number = 1;

static void write()
{
    std::lock_guard<std::mutex> held(lock);
    text = "34";
    longer[0] = 'b';
    raw[0] = '3';
    number = 2;
}

// Whether it is true goes with the number.
template <class Ask> static void goes_with(int n, Ask ask)
{
    lock.lock();
    bool is = ask();
    int seen = number;
    lock.unlock();
    assert(is == (seen == n));
}

static void read()
{
    goes_with(2, [] { return std::istringstream(text).get() == '3'; });
    goes_with(1, [] { return std::runtime_error(text).what()[0] == '1'; });
    goes_with(2, [] { return std::runtime_error(longer).what()[0] == 'b'; });
    goes_with(1, [] { return strverscmp(raw, "12") == 0; });
}

int main()
{
    std::thread reader(read), writer(write);
    reader.join();
    writer.join();
}
