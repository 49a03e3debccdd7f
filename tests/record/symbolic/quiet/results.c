/* What a function gives by a pointer was there before by chance: it does not depend on what was
 * read. */
#include <assert.h>
#include <semaphore.h>

#include "read_x.h"

static sem_t unit;

static void *one(void *unused)
{
    (void)unused;
    return (void *)1;
}

static void *reader(void *unused)
{
    pthread_t child;
    pthread_mutexattr_t attributes;
    int units = read_x(), type = read_x();
    void *result = (void *)(long)read_x();
    sem_getvalue(&unit, &units);
    assert(units == 1);
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, 1);
    pthread_mutexattr_gettype(&attributes, &type);
    assert(type == 1);
    pthread_create(&child, NULL, one, NULL);
    pthread_join(child, &result);
    assert(result == (void *)1);
    return unused;
}

int main(void)
{
    sem_init(&unit, 0, 1);
    return run_beside_write(reader);
}
