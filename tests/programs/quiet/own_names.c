/* Functions of the program's own that have names of the C library: locks and threads after C11 made
 * of pthread's, a getline of another kind. The C library's are not meant. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

typedef struct {
    pthread_mutex_t mutex;
    int taken;
} mtx_t;
typedef struct {
    int (*function)(void *);
    void *argument;
    pthread_t handle;
} thrd_t;

void mtx_init(mtx_t *m);
void mtx_lock(mtx_t *m);
void mtx_unlock(mtx_t *m);
int thrd_create(thrd_t *t, int (*function)(void *), void *argument);
int thrd_join(thrd_t *t);

void mtx_init(mtx_t *m)
{
    pthread_mutex_init(&m->mutex, NULL);
    m->taken = 0;
}

void mtx_lock(mtx_t *m)
{
    pthread_mutex_lock(&m->mutex);
    m->taken++;
}

void mtx_unlock(mtx_t *m)
{
    pthread_mutex_unlock(&m->mutex);
}

static void *begin(void *thread)
{
    thrd_t *t = thread;
    t->function(t->argument);
    return NULL;
}

int thrd_create(thrd_t *t, int (*function)(void *), void *argument)
{
    t->function = function;
    t->argument = argument;
    return pthread_create(&t->handle, NULL, begin, t);
}

int thrd_join(thrd_t *t)
{
    return pthread_join(t->handle, NULL);
}

/* Of a list: as names of files are linked, removed and made. */
void link_to(int *from, int to) __asm__("link");
int take_out(int *from) __asm__("remove");
int unlink_all(int *from) __asm__("unlink");
double name_again(double value) __asm__("rename");
int place(int value) __asm__("mkdir");

void link_to(int *from, int to)
{
    *from = to;
}

int take_out(int *from)
{
    int was = *from;
    *from = 0;
    return was;
}

int unlink_all(int *from)
{
    return take_out(from) + 1;
}

double name_again(double value)
{
    return value * 2;
}

int place(int value)
{
    return value + 1;
}

static int is_ours(void)
{
    int list = 0;
    link_to(&list, 5);
    return take_out(&list) == 5 && unlink_all(&list) == 1 && name_again(2) == 4 && place(1) == 2;
}

int line(char *to, int limit) __asm__("getline");

int line(char *to, int limit)
{
    memset(to, 'x', (size_t)limit);
    return limit;
}

static mtx_t lock;
static int sum;

static int work(void *unused)
{
    char own[8];
    (void)unused;
    for (int i = 0; i < 3; i++) {
        mtx_lock(&lock);
        sum += line(own, sizeof own);
        mtx_unlock(&lock);
    }
    return 0;
}

int main(void)
{
    thrd_t threads[2];
    mtx_init(&lock);
    for (int i = 0; i < 2; i++) thrd_create(&threads[i], work, NULL);
    for (int i = 0; i < 2; i++) thrd_join(&threads[i]);
    return sum != 48 || lock.taken != 6 || !is_ours();
}
