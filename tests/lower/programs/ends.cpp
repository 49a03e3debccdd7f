// Destructors of thread-local objects and of thread-specific values, in the order in which they
// run.
#include <pthread.h>
#include <stdio.h>

struct named {
    const char *name;
    explicit named(const char *n) : name(n) { printf("made %s\n", name); }
    ~named() { printf("destroyed %s\n", name); }
};

static thread_local named first("first");
static pthread_key_t key, other, plain;
static int again;

static void destroy(void *value)
{
    printf("value %s\n", (char *)value);
    if (again++) return;
    pthread_setspecific(key, "set again");
    thread_local named late("late"); // destroyed with the thread's objects, which were before
}

static void *run(void *argument)
{
    puts(first.name);
    thread_local named second("second");
    pthread_setspecific(other, "other");
    pthread_setspecific(key, "key");
    pthread_setspecific(plain, "never destroyed");
    if (argument) pthread_exit(argument);
    return nullptr;
}

int main()
{
    pthread_t t;
    pthread_key_create(&key, nullptr);
    pthread_key_delete(key);
    pthread_key_create(&key, destroy);
    pthread_key_create(&other, destroy);
    pthread_key_create(&plain, nullptr);
    for (int i = 0; i < 2; i++) {
        pthread_create(&t, nullptr, run, i ? &again : nullptr);
        void *result = nullptr;
        pthread_join(t, &result);
        printf("joined %d\n", result == &again);
    }
    puts(first.name);
    pthread_setspecific(key, "not where the process ends");
}
