/* Each thread makes a folder and a file in it under names that the C library makes up, keeps the
 * file's name in it, reads it back, and leaves nothing. What they count has no lock. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int count;

static int keep_name(int fd, const char *name)
{
    char read_back[64] = {0};
    size_t size = strlen(name) + 1;
    if (fd < 0 || write(fd, name, size) != (ssize_t)size) return 1;
    if (pread(fd, read_back, sizeof read_back, 0) != (ssize_t)size) return 1;
    return close(fd) || strcmp(read_back, name);
}

static void *run(void *failed)
{
    char folder[] = "/tmp/folderXXXXXX", name[64];
    struct stat file;
    if (!mkdtemp(folder)) return failed;
    count++;
    snprintf(name, sizeof name, "%s/keptXXXXXX.txt", folder);
    int bad = keep_name(mkstemps(name, 4), name) || stat(name, &file) || unlink(name);
    return bad || rmdir(folder) ? failed : NULL;
}

int main(void)
{
    pthread_t threads[2];
    void *failed, *any = NULL;
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, run, threads);
    for (int i = 0; i < 2; i++) {
        pthread_join(threads[i], &failed);
        if (failed) any = failed;
    }
    return any != NULL;
}
