/* The message for a program with signal handlers in which every thread waits for another one. Only
 * a handler could let one go on, so this is not a certain deadlock, and the user decides. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libc/contract.h"
#include "libc/libc.h"
#include "log/log.h"
#include "scheduling/baton.h"
#include "state/thread.h"
#include "trace/event.h"

enum { LINE = 512, NAME = 64 };

/* The file that is mapped at an address, by /proc/self/maps, and where its first mapping begins. */
typedef struct mapped {
    char file[NAME];
    uintptr_t begin;
} mapped;

static bool look_at(const char *line, uintptr_t at, mapped *m)
{
    char *rest;
    uintptr_t from = strtoul(line, &rest, 16);
    uintptr_t to = *rest == '-' ? strtoul(rest + 1, NULL, 16) : 0;
    const char *slash = strrchr(line, '/'), *file = slash ? slash + 1 : "";
    if (strncmp(file, m->file, sizeof m->file - 1)) {
        snprintf(m->file, sizeof m->file, "%s", file);
        m->begin = from;
    }
    return at >= from && at < to;
}

/* Without the dynamic linker: a waiting thread may hold its lock. */
static bool find(uintptr_t at, mapped *m)
{
    char line[LINE];
    size_t n = 0;
    bool found = false;
    int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    *m = (mapped){.begin = 0};
    for (char byte; fd >= 0 && !found && read(fd, &byte, 1) == 1;) {
        if (byte != '\n' && n < sizeof line - 1) line[n++] = byte;
        if (byte != '\n') continue;
        line[n] = 0;
        n = 0;
        found = look_at(line, at, m);
    }
    if (fd >= 0) close(fd);
    return found && m->file[0];
}

/* As in the trace: main, T1, T1.1. */
static size_t name(const ft_rt_thread *threads, const ft_rt_thread *t, char *to, size_t size)
{
    int n;
    assert(t->id < FT_RT_THREADS);
    if (!t->id) {
        n = snprintf(to, size, "main");
    } else if (!t->parent) {
        n = snprintf(to, size, "T%u", t->number);
    } else {
        size_t at = name(threads, &threads[t->parent], to, size);
        n = (int)at + snprintf(to + at, size - at, ".%u", t->number);
    }
    return (size_t)n < size ? (size_t)n : size - 1;
}

static const char *what_for(uint32_t kind)
{
    static const struct {
        ft_event_kind kind;
        const char *text;
    } reasons[] = {
        {FT_EVENT_ACQUIRE, "a lock"},
        {FT_EVENT_ACQUIRE_SHARED, "a lock (for reading)"},
        {FT_EVENT_WAIT, "a semaphore"},
        {FT_EVENT_COND_WAKE, "a condition variable"},
        {FT_EVENT_BARRIER_LEAVE, "a barrier"},
        {FT_EVENT_ONCE_PASS, "an initialiser that runs once"},
    };
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
        if (reasons[i].kind == kind) return reasons[i].text;
    return "something";
}

static void tell_one(const ft_rt_thread *threads, const ft_rt_thread *t)
{
    char who[NAME], whom[NAME] = "", line[LINE];
    mapped m;
    uintptr_t at = (uintptr_t)ft_rt_site_pc(t->asks.site);
    bool joins = t->asks.kind == FT_EVENT_JOIN;
    name(threads, t, who, sizeof who);
    if (joins) name(threads, &threads[t->asks.target], whom, sizeof whom);
    bool found = find(at, &m);
    snprintf(line, sizeof line, "  %s waits for %s%s (%s+0x%lx)", who,
             joins ? "the end of " : what_for(t->asks.kind), whom, found ? m.file : "unknown",
             (unsigned long)(at - m.begin));
    ft_rt_say(line);
}

void ft_rt_stall_tell(const ft_rt_thread *threads, uint32_t n, uint32_t seconds)
{
    char line[LINE];
    snprintf(
        line, sizeof line,
        "every thread has waited for another thread for %u s; only a signal handler could let one "
        "go on:",
        seconds);
    ft_rt_say(line);
    for (uint32_t i = 0; i < n; i++)
        if (threads[i].state == FT_RT_BLOCKED) tell_one(threads, &threads[i]);
    ft_rt_say("press Ctrl-C (again, if the program catches it) to end the program; the recording "
              "is kept");
}
