/* What is there already under a name, a file that this very program leaves, decides which way it
 * goes; the thread beside it counts as well, without a lock. */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/stat.h>

static int count;

static void *run(void *unused)
{
    count++;
    return unused;
}

int main(int n, char **words)
{
    pthread_t thread;
    if (n != 2) return 2;
    printf("no end of line");
    pthread_create(&thread, NULL, run, NULL);
    if (mkdir(words[1], 0700) && errno == EEXIST) return 3;
    count++;
    pthread_join(thread, NULL);
    return 0;
}
