/* A process waits for a lock that it shares with its parent: a thread of the parent gives it back.
 */
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

struct page {
    pthread_mutex_t lock;
    int lines;
};

static struct page *page;

static void *work(void *unused)
{
    pthread_mutex_lock(&page->lock);
    page->lines++;
    pthread_mutex_unlock(&page->lock);
    return unused;
}

int main(void)
{
    pthread_t thread;
    pthread_mutexattr_t shared;
    page = mmap(NULL, sizeof *page, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED) return 1;
    pthread_mutexattr_init(&shared);
    pthread_mutexattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
    pthread_mutex_init(&page->lock, &shared);
    pthread_create(&thread, NULL, work, NULL);
    pid_t process = fork();
    if (!process) _exit(work(page) != page);
    waitpid(process, NULL, 0);
    pthread_join(thread, NULL);
    return 0;
}
