/* goes.c loads it. What its last functions write is written when it is unmapped: plainly, as a
 * range, and behind a last call. */
#include <cstring>

static int counter;
static char text[100];

static struct last {
    ~last() { std::memset(text, counter, sizeof text); }
} at_end;

extern "C" int count()
{
    return ++counter + text[0];
}

__attribute__((destructor)) static void end()
{
    counter = count();
    counter++;
}
