/* What functions of a library find in memory depends on who wrote there, though no hook sees them
 * look: their results go with what the program reads there itself. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <assert.h>
#include <fnmatch.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <wchar.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char text[16] = "12 ab", address[16] = "1.2.3.4", *allocated;
static wchar_t wide[16] = L"12 ab";
static time_t day = 0;
static int number = 1;

static void *writer(void *unused)
{
    pthread_mutex_lock(&lock);
    memcpy(text, "34 xy", 6);
    memcpy(allocated, "34 xy", 6);
    wmemcpy(wide, L"34 xy", 6);
    address[0] = '2';
    day = 400 * 86400;
    number = 2;
    pthread_mutex_unlock(&lock);
    return unused;
}

/* Whether it is true goes with the number. */
#define GOES_WITH(n, expression)                                                                   \
    do {                                                                                           \
        pthread_mutex_lock(&lock);                                                                 \
        int is = (expression), seen = number;                                                      \
        pthread_mutex_unlock(&lock);                                                               \
        assert((is != 0) == (seen == (n)));                                                        \
    } while (0)

static void *reader(void *unused)
{
    int (*compare)(const wchar_t *, const wchar_t *) = wcscmp;
    struct in_addr in;
    int read;
    GOES_WITH(1, strverscmp(text, "12 ab") == 0);
    GOES_WITH(2, index(text, 'x') != NULL);
    GOES_WITH(2, strcasestr(allocated, "X") != NULL);
    GOES_WITH(1, fnmatch("1*", allocated, 0) == 0);
    GOES_WITH(1, compare(wide, L"12 ab") == 0);
    GOES_WITH(2, swscanf(wide, L"%d", &read) == 1 && read == 34);
    GOES_WITH(1, (inet_addr(address) & 255) == 1);
    GOES_WITH(2, inet_aton(address, &in) && (in.s_addr & 255) == 2);
    GOES_WITH(2, gmtime(&day)->tm_year == 71);
    return unused;
}

int main(void)
{
    pthread_t threads[2];
    allocated = strdup(text);
    pthread_create(&threads[0], NULL, reader, NULL);
    pthread_create(&threads[1], NULL, writer, NULL);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    return 0;
}
