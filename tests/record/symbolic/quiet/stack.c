/* Arrays of a variable size held what was read; later arguments on the stack lie where they were.
 */
#include <assert.h>
#include <pthread.h>
#include <stdarg.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int x = 1;

static int read_x(void)
{
    pthread_mutex_lock(&lock);
    int seen = x;
    pthread_mutex_unlock(&lock);
    return seen;
}

static void *write_x(void *unused)
{
    pthread_mutex_lock(&lock);
    x = 5;
    pthread_mutex_unlock(&lock);
    return unused;
}

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
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, reader, NULL);
    pthread_create(&threads[1], NULL, write_x, NULL);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    return 0;
}
