#include "serve/pulse.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/contract.h"
#include "base/memory.h"
#include "wire/wire.h"

enum { TEXT = 96, STACK = 256 << 10 };

struct ft_pulse {
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    int out;
    bool busy, ended;
    char text[TEXT];
    struct timespec since; /* of text */
};

static int64_t ms_between(const struct timespec *from, const struct timespec *to)
{
    return (int64_t)(to->tv_sec - from->tv_sec) * 1000 + (to->tv_nsec - from->tv_nsec) / 1000000;
}

/* Processor time distinguishes work from waiting. Nothing is allocated, as malloc would give this
 * thread an arena of its own. The text has no characters that JSON escapes. */
static void beat(const ft_pulse *pulse)
{
    char text[2 * TEXT];
    struct timespec now, cpu;
    clock_gettime(CLOCK_MONOTONIC, &now);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu);
    int length =
        snprintf(text, sizeof text, "{\"text\":\"%s for %lld s, %lld s of CPU\"}", pulse->text,
                 (long long)ms_between(&pulse->since, &now) / 1000, (long long)cpu.tv_sec);
    assert(length > 0 && (size_t)length < sizeof text);
    ft_error err = FT_ERROR_INIT;
    /* The loop that reads requests reports a closed connection. */
    if (ft_wire_write(pulse->out, FT_WIRE_PROGRESS, text, (size_t)length, &err) != FT_OK) return;
}

static void *run(void *argument)
{
    ft_pulse *pulse = argument;
    pthread_mutex_lock(&pulse->mutex);
    while (!pulse->ended) {
        struct timespec next;
        clock_gettime(CLOCK_MONOTONIC, &next);
        next.tv_sec++;
        bool was_busy = pulse->busy;
        if (was_busy)
            pthread_cond_timedwait(&pulse->changed, &pulse->mutex, &next);
        else
            pthread_cond_wait(&pulse->changed, &pulse->mutex);
        struct timespec now;
        clock_gettime(CLOCK_MONOTONIC, &now);
        if (was_busy && pulse->busy && ms_between(&next, &now) >= 0) beat(pulse);
    }
    pthread_mutex_unlock(&pulse->mutex);
    return NULL;
}

static bool start(ft_pulse *pulse)
{
    pthread_condattr_t clock;
    pthread_attr_t small;
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_mutex_init(&pulse->mutex, NULL);
    pthread_cond_init(&pulse->changed, &clock);
    pthread_condattr_destroy(&clock);
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, STACK);
    bool made = pthread_create(&pulse->thread, &small, run, pulse) == 0;
    pthread_attr_destroy(&small);
    return made;
}

ft_pulse *ft_pulse_new(int out)
{
    ft_pulse *pulse = ft_calloc(1, sizeof *pulse);
    pulse->out = out;
    if (start(pulse)) return pulse;
    pthread_cond_destroy(&pulse->changed);
    pthread_mutex_destroy(&pulse->mutex);
    free(pulse);
    return NULL;
}

void ft_pulse_free(ft_pulse *pulse)
{
    if (!pulse) return;
    pthread_mutex_lock(&pulse->mutex);
    pulse->ended = true;
    pthread_cond_signal(&pulse->changed);
    pthread_mutex_unlock(&pulse->mutex);
    pthread_join(pulse->thread, NULL);
    pthread_cond_destroy(&pulse->changed);
    pthread_mutex_destroy(&pulse->mutex);
    free(pulse);
}

void ft_pulse_lock(ft_pulse *pulse, bool ends)
{
    if (!pulse) return;
    pthread_mutex_lock(&pulse->mutex);
    if (ends) pulse->busy = false;
}

void ft_pulse_unlock(ft_pulse *pulse)
{
    if (pulse) pthread_mutex_unlock(&pulse->mutex);
}

static void set_text(ft_pulse *pulse, const char *format, va_list args)
{
    vsnprintf(pulse->text, sizeof pulse->text, format, args);
    assert(!strpbrk(pulse->text, "\"\\\n")); /* it becomes a JSON string as it is */
    clock_gettime(CLOCK_MONOTONIC, &pulse->since);
}

void ft_pulse_say(ft_pulse *pulse, const char *format, ...)
{
    va_list args;
    if (!pulse) return;
    va_start(args, format);
    pthread_mutex_lock(&pulse->mutex);
    set_text(pulse, format, args);
    pthread_mutex_unlock(&pulse->mutex);
    va_end(args);
}

void ft_pulse_begin(ft_pulse *pulse, const char *what)
{
    if (!pulse) return;
    ft_pulse_say(pulse, "%s", what);
    pthread_mutex_lock(&pulse->mutex);
    assert(!pulse->busy && !pulse->ended); /* one request at a time */
    pulse->busy = true;
    pthread_cond_signal(&pulse->changed);
    pthread_mutex_unlock(&pulse->mutex);
}

void ft_pulse_end(ft_pulse *pulse)
{
    if (!pulse) return;
    pthread_mutex_lock(&pulse->mutex);
    pulse->busy = false;
    pthread_mutex_unlock(&pulse->mutex);
}
