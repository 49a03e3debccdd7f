/* A program that adapts to a build for a detector of races: it tells an order that is none of the
 * recorder's, what to leave out, and of its locks. One function is its own. Nothing may be found.
 * BARE: it tells nothing; the races are found. */
#include <pthread.h>
#include <unistd.h>

#ifndef __has_feature
#define __has_feature(feature) 0
#endif
#if (defined(__SANITIZE_THREAD__) || __has_feature(thread_sanitizer)) && !defined(BARE)
void __tsan_acquire(void *what);
void __tsan_release(void *what);
void __tsan_mutex_pre_lock(void *mutex, unsigned flags);
void __tsan_mutex_post_lock(void *mutex, unsigned flags, int depth);
int __tsan_mutex_pre_unlock(void *mutex, unsigned flags);
void __tsan_mutex_post_unlock(void *mutex, unsigned flags);
void AnnotateIgnoreWritesBegin(const char *file, int line);
void AnnotateIgnoreWritesEnd(const char *file, int line);
void AnnotateBenignRaceSized(const char *file, int line, const volatile void *memory,
                             unsigned long size, const char *why);
#define TELL(call) call
#else
#define TELL(call) (void)0
#endif

static int data, counted, flag, named;

void AnnotateThreadName(const char *file, int line, const char *name);
void AnnotateThreadName(const char *file, int line, const char *name)
{
    (void)file, (void)name;
    named = line == 7;
}

static void count(void)
{
    TELL(AnnotateIgnoreWritesBegin(__FILE__, __LINE__));
    counted++;
    TELL(AnnotateIgnoreWritesEnd(__FILE__, __LINE__));
}

static void *first(void *unused)
{
    data = 1;
    TELL(__tsan_release(&data));
    flag = 1;
    count();
    return unused;
}

static void *second(void *unused)
{
    usleep(20000); /* the first is done by now */
    TELL(__tsan_mutex_pre_lock(&flag, 0));
    TELL(__tsan_mutex_post_lock(&flag, 0, 0));
    TELL(__tsan_acquire(&data));
    data = 2;
    flag = 2;
    count();
    TELL((void)__tsan_mutex_pre_unlock(&flag, 0));
    TELL(__tsan_mutex_post_unlock(&flag, 0));
    return unused;
}

int main(void)
{
    pthread_t threads[2];
    TELL(AnnotateBenignRaceSized(__FILE__, __LINE__, &flag, sizeof flag, "a flag"));
    AnnotateThreadName(__FILE__, 7, "main");
    pthread_create(&threads[0], NULL, first, NULL);
    pthread_create(&threads[1], NULL, second, NULL);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    return !named;
}
