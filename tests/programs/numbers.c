/* One thread opens a folder (STREAM: a file), the other one a pipe: who comes first has the lower
 * number, and who comes when the other one has closed it has the same. LAST: the pipe comes first,
 * and stays open. What they count has no lock of its own. */
#include <dirent.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int count;

static void *look(void *unused)
{
#ifdef STREAM
    FILE *file = fopen("/dev/null", "r");
#else
    DIR *folder = opendir("/");
#endif
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
    count++;
#ifdef STREAM
    if (file) fclose(file);
#else
    if (folder) closedir(folder);
#endif
    count++;
    return unused;
}

static void *pass(void *unused)
{
    int ends[2];
    pthread_mutex_lock(&lock);
    if (pipe(ends)) return NULL;
    count++;
    pthread_mutex_unlock(&lock);
#ifndef LAST
    close(ends[0]);
    close(ends[1]);
#endif
    return unused;
}

int main(void)
{
    pthread_t t[2];
#ifdef LAST
    pthread_create(&t[0], NULL, pass, NULL);
    pthread_create(&t[1], NULL, look, NULL);
#else
    pthread_create(&t[0], NULL, look, NULL);
    pthread_create(&t[1], NULL, pass, NULL);
#endif
    for (int i = 0; i < 2; i++) pthread_join(t[i], NULL);
    return count != 3;
}
