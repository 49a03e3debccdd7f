/* What functions of the C library access is the program's: each pair races on one buffer. The
 * argument chooses; `locked` beside it: under a mutex, so that there is none. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char buffer[64] = "12 twelve";
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int locked, fds[2];
static const char *how;
static volatile long sink;

static int compare(const void *a, const void *b)
{
    return *(const char *)a - *(const char *)b;
}

static void write_it(void)
{
    if (!strcmp(how, "strcpy")) strcpy(buffer, "13 thirteen");
    if (!strcmp(how, "snprintf")) snprintf(buffer, sizeof buffer, "%d", 14);
    if (!strcmp(how, "strcat")) strcat(buffer, "!");
    if (!strcmp(how, "qsort")) qsort(buffer, 9, 1, compare);
    if (!strcmp(how, "sscanf")) sscanf("15 fifteen", "%*d %s", buffer);
    if (!strcmp(how, "read") && read(fds[0], buffer, 3) != 3) abort();
    if (!strcmp(how, "fgets") && !fgets(buffer, 20, stdin)) abort();
    if (!strcmp(how, "fread") && !fread(buffer, 2, 1, stdin)) abort();
    if (!strncmp(how, "by ", 3)) buffer[0]++;
}

static void read_it(void)
{
    if (!strncmp(how, "by ", 3)) {
        const char *call = how + 3;
        if (!strcmp(call, "strlen")) sink = (long)strlen(buffer);
        if (!strcmp(call, "strcmp")) sink = strcmp(buffer, "12 x");
        if (!strcmp(call, "memcmp")) sink = memcmp(buffer, "12 x", 4);
        if (!strcmp(call, "memchr")) sink = memchr(buffer, 't', 9) != NULL;
        if (!strcmp(call, "strchr")) sink = strchr(buffer, 't') != NULL;
        if (!strcmp(call, "strtol")) sink = strtol(buffer, NULL, 10);
        if (!strcmp(call, "atoi")) sink = atoi(buffer);
        if (!strcmp(call, "strdup")) free(strdup(buffer));
        if (!strcmp(call, "write")) sink = write(fds[1], buffer, 4);
        if (!strcmp(call, "fputs")) sink = fputs(buffer, stderr);
        return;
    }
    sink = buffer[strcmp(how, "strcat") ? 0 : 9];
}

static void *other(void *unused)
{
    if (locked) pthread_mutex_lock(&mutex);
    write_it();
    if (locked) pthread_mutex_unlock(&mutex);
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    how = argc > 1 ? argv[1] : "strcpy";
    locked = argc > 2;
    if (pipe(fds) || write(fds[1], "17", 3) != 3) return 1;
    pthread_create(&thread, NULL, other, NULL);
    if (locked) pthread_mutex_lock(&mutex);
    read_it();
    if (locked) pthread_mutex_unlock(&mutex);
    pthread_join(thread, NULL);
    return 0;
}
