// goes.c loads it, several times. What its last functions write is written when it is unmapped:
// plainly, as a range, and behind a last call. Each time it is loaded its objects are made anew.
#include <cstdlib>
#include <cstring>
#include <mutex>

static int counter;
static char text[100];
static std::once_flag once;
static int called;

static struct last {
    ~last() { std::memset(text, counter, sizeof text); }
} at_end;

struct made {
    int one;
    made() : one(std::getenv("PATH") != nullptr) {}
};

static int count_made()
{
    static made object;
    std::call_once(once, [] { called++; });
    return object.one + called;
}

extern "C" int count()
{
    return ++counter + text[0] + 10 * count_made();
}

__attribute__((destructor)) static void end()
{
    counter = count();
    counter++;
}
