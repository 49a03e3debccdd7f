/* A process that is forked by a thread while main may write a table; it reads the table under the
 * lock. Corrected, the process makes the lock anew first. */
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

struct table {
    pthread_rwlock_t lock;
    int entries[4];
};

static void *dump(void *shared)
{
    struct table *table = shared;
    pid_t process = fork();
    if (!process) {
#ifdef FIXED
        pthread_rwlock_init(&table->lock, NULL);
#endif
        pthread_rwlock_rdlock(&table->lock);
        int sum = table->entries[0] + table->entries[3];
        pthread_rwlock_unlock(&table->lock);
        _exit(sum > 2);
    }
    waitpid(process, NULL, 0);
    return NULL;
}

int main(void)
{
    pthread_t thread;
    struct table *table = calloc(1, sizeof *table);
    pthread_rwlock_init(&table->lock, NULL);
    pthread_create(&thread, NULL, dump, table);
    pthread_rwlock_wrlock(&table->lock);
    table->entries[0] = table->entries[3] = 1;
    pthread_rwlock_unlock(&table->lock);
    pthread_join(thread, NULL);
    free(table);
    return 0;
}
