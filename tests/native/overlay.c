/* usage: overlay calls|streams|lock FOLDER: changes files of the folder, in main before the threads
 * and in two threads. Each run has to find what it did itself, and nothing of another one. */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int first, out;

static void expect(const char *path, const char *content)
{
    char text[64] = "";
    int fd = open(path, O_RDONLY);
    assert(fd >= 0);
    ssize_t n = read(fd, text, sizeof text - 1);
    close(fd);
    assert(n == (ssize_t)strlen(content) && !strcmp(text, content));
}

static void put(const char *path, int flags, const char *text)
{
    int fd = open(path, O_WRONLY | flags, 0644);
    assert(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
    close(fd);
}

static int is_there(const char *path)
{
    struct stat about;
    int found = !stat(path, &about);
    assert(found || errno == ENOENT);
    assert(found == !access(path, F_OK));
    return found;
}

/* Everything that has a call: the result of one is what the next one sees. */
static void calls(void)
{
    struct stat about;
    char text[64], made[] = "made-XXXXXX", folder[] = "folder/XXXXXX";
    put("old", O_APPEND, "more\n");
    expect("old", "one\nmore\n");
    expect("link", "one\nmore\n");
    put("link", O_TRUNC, "new\n");
    expect("old", "new\n");
    assert(open("old", O_CREAT | O_EXCL | O_RDWR, 0600) < 0 && errno == EEXIST);
    assert(open("missing", O_RDWR) < 0 && errno == ENOENT);
    assert(open("nowhere/missing", O_RDWR | O_CREAT, 0600) < 0 && errno == ENOENT);
    assert(!truncate("old", 2));
    expect("old", "ne");
    assert(!rename("old", "folder/new") && !is_there("old") && !is_there("link"));
    assert(!lstat("link", &about) && S_ISLNK(about.st_mode));
    expect("folder/../folder/./new", "ne");
    assert(!link("folder/new", "again") && !unlink("folder/new"));
    expect("again", "ne");
    assert(!symlink("again", "to") && readlink("to", text, sizeof text) == 5);
    expect("to", "ne");
    assert(!unlink("other") && unlink("other") && errno == ENOENT);
    assert(!mkdir("sub", 0700) && mkdir("sub", 0700) && errno == EEXIST);
    put("sub/file", O_CREAT, "x");
    assert(rmdir("sub") && errno == ENOTEMPTY);
    assert(!rename("sub", "moved") && !is_there("sub/file"));
    expect("moved/file", "x");
    assert(!remove("moved/file") && !remove("moved") && !is_there("moved"));
    assert(!rmdir("folder") && !is_there("folder") && !mkdir("folder", 0755));
    int fd = mkstemp(made), unnamed = open(".", O_TMPFILE | O_RDWR, 0600), copy;
    assert(fd >= 0 && unnamed >= 0 && is_there(made) && write(fd, "abc", 3) == 3);
    assert((copy = dup(fd)) >= 0 && !lseek(copy, 0, SEEK_SET) && read(fd, text, 3) == 3);
    assert(!fstat(fd, &about) && about.st_size == 3 && (about.st_mode & 0777) == 0600);
    assert(!chmod(made, 0640) && !stat(made, &about) && (about.st_mode & 0777) == 0640);
    assert(mkdtemp(folder) && !stat(folder, &about) && S_ISDIR(about.st_mode));
    assert(write(unnamed, "xy", 2) == 2 && !close(unnamed) && !close(fd) && !close(copy));
}

static void streams(void)
{
    char line[64];
    FILE *file = fopen("old", "a+"), *temporary = tmpfile();
    assert(file && temporary && fputs("more\n", file) >= 0 && !fflush(file));
    rewind(file);
    assert(fgets(line, sizeof line, file) && !strcmp(line, "one\n"));
    assert(fgets(line, sizeof line, file) && !strcmp(line, "more\n") && !fclose(file));
    assert(!fopen("old", "wx") && errno == EEXIST);
    file = fopen("made", "wx");
    assert(file && fputs("abc", file) >= 0);
    file = freopen("old", "w", file);
    assert(file && fputs("def", file) >= 0 && !fclose(file));
    expect("made", "abc");
    expect("old", "def");
    assert(fputs("t", temporary) >= 0 && !fclose(temporary));
}

/* The one that creates the file is first. */
static void *create(void *unused)
{
    int fd = open("lock", O_CREAT | O_EXCL | O_WRONLY, 0600);
    if (fd >= 0) __atomic_fetch_add(&first, 1, __ATOMIC_RELAXED);
    return unused;
}

static void *append(void *line)
{
    pthread_mutex_lock(&lock);
    assert(write(out, line, 2) == 2);
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void check_log(void)
{
    char text[16] = "";
    int fd = open("log", O_RDONLY);
    assert(fd >= 0 && read(fd, text, sizeof text) == 6);
    assert(!strcmp(text, "0\na\nb\n") || !strcmp(text, "0\nb\na\n"));
}

int main(int argc, char **argv)
{
    pthread_t threads[2];
    if (argc < 3 || chdir(argv[2])) return 2;
    int locks = !strcmp(argv[1], "lock");
    put("log", O_CREAT | O_APPEND, "0\n"); /* comes once in each run, however runs are made */
    out = open("log", O_WRONLY | O_APPEND);
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, locks ? create : append, i ? "b\n" : "a\n");
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    if (locks)
        assert(first == 1);
    else
        check_log();
    if (!strcmp(argv[1], "calls")) calls();
    if (!strcmp(argv[1], "streams")) streams();
    return 0;
}
