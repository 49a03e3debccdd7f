/* Code without instrumentation keeps a pointer, and looks there when it is called without one. */
#include <assert.h>

#include "read_x.h"

#define PLAIN __attribute__((disable_sanitizer_instrumentation, noinline))

static int *kept;

PLAIN static void keep(int *memory)
{
    kept = memory;
}

PLAIN static int get(void)
{
    return *kept;
}

PLAIN static void set(int value)
{
    *kept = value;
}

static void *reader(void *unused)
{
    int mine = 0;
    keep(&mine);
    mine = read_x();
    assert(get() == mine);
    mine = read_x();
    set(1);
    assert(mine == 1);
    return unused;
}

int main(void)
{
    return run_beside_write(reader);
}
