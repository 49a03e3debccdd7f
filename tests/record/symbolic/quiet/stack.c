/* Arrays of a variable size held what was read; later arguments on the stack lie where they were.
 */
#include <assert.h>
#include <stdarg.h>

#include "read_x.h"

static int sum(int n, ...)
{
    va_list all;
    int total = 0;
    va_start(all, n);
    while (n--) total += va_arg(all, int);
    va_end(all);
    return total;
}

static int array(int n)
{
    int seen = read_x(), all[n];
    for (int i = 0; i < n; i++) all[i] = seen;
    return all[n - 1];
}

static int block(int n)
{
    int seen = read_x(), *all = __builtin_alloca((unsigned)n * sizeof *all);
    for (int i = 0; i < n; i++) all[i] = seen;
    return all[n - 1];
}

static void *reader(void *unused)
{
    for (int n = 1; n < 40; n++) {
        array(n);
        assert(sum(8, 1, 1, 1, 1, 1, 1, 1, 1) == 8);
        block(n);
        assert(sum(8, 1, 1, 1, 1, 1, 1, 1, 1) == 8);
    }
    return unused;
}

int main(void)
{
    return run_beside_write(reader);
}
