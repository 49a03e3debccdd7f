/* usage: files FOLDER: two threads read the halves of one file, and write to another one. What a
 * run reads and writes is its own. */
#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int in, out;
static FILE *stream;
static char got[2][4];

static void *half(void *to)
{
    pthread_mutex_lock(&lock);
    assert(read(in, to, 3) == 3);
    assert(write(out, to, 3) == 3);
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[2];
    struct stat about;
    char path[300], line[16];
    if (argc < 2) return 2;
    snprintf(path, sizeof path, "%s/in", argv[1]);
    in = open(path, O_RDONLY);
    stream = fopen(path, "r");
    assert(stream && fgets(line, 3, stream) && !strcmp(line, "ab"));
    snprintf(path, sizeof path, "%s/log", argv[1]);
    out = open(path, O_WRONLY | O_APPEND);
    assert(in >= 0 && out >= 0);
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, half, got[i]);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    assert(!strcmp(got[0], "abc") ? !strcmp(got[1], "def") : !strcmp(got[0], "def"));
    assert(fgets(line, sizeof line, stream) && !strcmp(line, "cdef"));
    assert(!fstat(out, &about) && about.st_size == 10);
    assert(read(in, line, 1) == 0);
    printf("%s%s\n", got[0], got[1]);
    return 0;
}
