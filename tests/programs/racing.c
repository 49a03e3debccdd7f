/* Data races, each of which changes what the program does: `racing lost` loses an update, `racing
 * seen` sees a flag before the data, `racing spin` waits for a plain flag and then reads the data.
 * With -DFIXED: correct, by atomics. */
#include <assert.h>
#include <pthread.h>
#include <string.h>

#ifdef FIXED
#define SHARED _Atomic int
#else
#define SHARED int
#endif

static SHARED counter, flag;
static int data;

static void *count(void *unused)
{
#ifdef FIXED
    counter++;
#else
    int seen = counter;
    counter = seen + 1;
#endif
    return unused;
}

/* The flag first, where it is wrong. */
static void *publish(void *unused)
{
#ifdef FIXED
    data = 1;
#endif
    flag = 1;
#ifndef FIXED
    data = 1;
#endif
    return unused;
}

static void *look(void *unused)
{
    if (flag) assert(data == 1);
    return unused;
}

static void *spin(void *unused)
{
    while (!flag) continue;
    assert(data == 1);
    return unused;
}

static void run(void *(*first)(void *), void *(*second)(void *))
{
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, first, NULL);
    pthread_create(&threads[1], NULL, second, NULL);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "lost";
    if (!strcmp(what, "lost")) {
        run(count, count);
        assert(counter == 2);
    }
    if (!strcmp(what, "seen")) run(publish, look);
    if (!strcmp(what, "spin")) run(publish, spin);
    return 0;
}
