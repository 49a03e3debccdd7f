/* Where a large block was that is freed, a shared segment and a library come to lie: who uses these
 * does not use the block. Exit code 77: they came to lie elsewhere. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/shm.h>

enum { SIZE = 1 << 20 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int stage;
static int *block, *now;

static void wait_for(int wanted)
{
    pthread_mutex_lock(&lock);
    while (stage != wanted) pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
}

static void go_on(void)
{
    pthread_mutex_lock(&lock);
    stage++;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

static void *use(void *unused)
{
    wait_for(1);
    for (int i = 0; i < SIZE / (int)sizeof *block; i += 1024) block[i]++;
    go_on();
    wait_for(3);
    now[1024]++;
    go_on();
    return unused;
}

static int *get(void)
{
#ifdef LIBRARY
    void *handle = dlopen(LIBRARY, RTLD_NOW);
    return handle ? dlsym(handle, "place") : NULL;
#else
    int id = shmget(IPC_PRIVATE, SIZE, 0600);
    void *memory = shmat(id, block, SHM_RND);
    shmctl(id, IPC_RMID, NULL);
    return memory == (void *)-1 ? NULL : memory;
#endif
}

int main(void)
{
    pthread_t user;
    pthread_create(&user, NULL, use, NULL);
    block = malloc(SIZE);
    if (!block) return 2;
    memset(block, 0, SIZE);
    go_on();
    wait_for(2);
    block[1024]++;
    uintptr_t was = (uintptr_t)block;
    free(block);
    now = get();
    if (!now || (uintptr_t)(now + 1024) - was > SIZE) return 77;
    now[1024] = 0;
    go_on();
    wait_for(4);
    now[1024]++;
    pthread_join(user, NULL);
    return 0;
}
