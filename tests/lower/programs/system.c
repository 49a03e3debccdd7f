#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>
/* Further functions of the library: strings, sorting with an argument, the system, attributes. */
static int by_key(const void *a, const void *b, void *keys)
{
    const int *key = keys;
    return key[*(const int *)a] - key[*(const int *)b];
}
static char *format(const char *text, ...)
{
    char *made = NULL;
    va_list list;
    va_start(list, text);
    printf("%d ", vasprintf(&made, text, list));
    va_end(list);
    return made;
}
static void *run(void *a)
{
    int before = -1;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
    pthread_testcancel();
    return before == PTHREAD_CANCEL_ENABLE ? a : NULL;
}
int main(void)
{
    char to[32] = "", *made = NULL;
    const char *s = "The quick Brown fox";
    printf("%s|%s|%s|%s\n", strchrnul(s, 'q'), strchrnul(s, 'z'), index(s, 'B'), rindex(s, 'o'));
    printf("%s|%d\n", strcasestr(s, "bRoWn"), strcasestr(s, "brow!") == NULL);
    printf("%d %s\n", (int)((char *)mempcpy(to, s, 5) - to), to);
    printf("%d %s\n", memccpy(to, s, 'k', 20) == to + 9, to);
    printf("%d\n", memccpy(to, s, 'z', 4) == NULL);
    printf("%s %d\n", (char *)memrchr(s, 'o', strlen(s)), memrchr(s, 'z', 5) == NULL);
    printf("%d %d %d\n", bcmp("ab", "ab", 2), bcmp("ab", "ac", 2) != 0, strcoll("a", "b") < 0);
    int order[] = {0, 1, 2, 3, 4}, keys[] = {5, 3, 9, 1, 3};
    qsort_r(order, 5, sizeof *order, by_key, keys);
    for (int i = 0; i < 5; i++) printf("%d ", order[i]);
    lldiv_t d = lldiv(-17, 5);
    printf("%lld %lld\n", d.quot, d.rem);
    printf("%d ", asprintf(&made, "%s-%05d", "x", 42));
    puts(made);
    free(made);
    made = format("%d/%s", 7, "seven");
    puts(made);
    free(made);
    made = malloc(4);
    printf("%d\n", realloc(made, 0) == NULL);
    printf("%s; %s; %s\n", strerror(EBUSY), strerror(EINVAL), strerror(ETIMEDOUT));
    printf("%ld %d %d\n", sysconf(_SC_PAGESIZE), sysconf(_SC_NPROCESSORS_ONLN) > 0,
           getenv("FORETELL_NONE") == NULL);
    pthread_attr_t a;
    pthread_mutexattr_t ma;
    pthread_mutex_t m;
    pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER;
    pthread_t t;
    void *result;
    int type;
    struct timespec until = {.tv_sec = 1}, none = {0};
    pthread_attr_init(&a);
    pthread_attr_setinheritsched(&a, PTHREAD_INHERIT_SCHED);
    pthread_create(&t, &a, run, &a);
    pthread_join(t, &result);
    pthread_mutexattr_init(&ma);
    pthread_mutexattr_settype(&ma, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutexattr_gettype(&ma, &type);
    pthread_mutex_init(&m, &ma);
    pthread_mutex_lock(&m);
    printf("%d %d %d\n", result == &a, type, pthread_mutex_clocklock(&m, CLOCK_MONOTONIC, &until));
    printf("%d %d\n", pthread_rwlock_timedrdlock(&l, &until), pthread_rwlock_unlock(&l));
    printf("%d\n", clock_nanosleep(CLOCK_MONOTONIC, 0, &none, NULL));
    fflush(stdout);
    _Exit(3);
}
