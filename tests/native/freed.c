/* The count is lowered in one section and looked at in another: both threads may free the object,
 * or one may look at it when the other has freed it. */
#include <pthread.h>
#include <stdlib.h>

struct object {
    int users;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct object *object;

static void *leave(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&lock);
    object->users--;
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&lock);
    int last = object->users == 0;
    pthread_mutex_unlock(&lock);
    if (last) free(object);
    return NULL;
}

int main(void)
{
    pthread_t thread;
    object = malloc(sizeof *object);
    object->users = 2;
    pthread_create(&thread, NULL, leave, NULL);
    leave(NULL);
    pthread_join(thread, NULL);
    return 0;
}
