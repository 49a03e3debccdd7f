/* ThreadSanitizer's interface, for programs that adapt to a build with -fsanitize=thread, as the
 * wrapper's is: the functions of <sanitizer/tsan_interface.h>, and the older annotations that many
 * programs declare themselves. Orders and ignored regions work as in foretell/annotate.h. The
 * functions that describe locks do nothing: the recording has the atomics of such a lock. All names
 * are weak, so a program's own definition replaces them. */
#include "annotations/annotations.h"
#include "raw/raw.h"

#define CODE __builtin_return_address(0)
#define WEAK __attribute__((weak))

typedef const char text;

/* annotate.c */
void foretell_ignore_begin(void);
void foretell_ignore_end(void);
void foretell_benign(const volatile void *memory, unsigned long size);

void __tsan_acquire(void *what) WEAK;
void __tsan_release(void *what) WEAK;
void AnnotateHappensBefore(text *file, int line, const volatile void *what) WEAK;
void AnnotateHappensAfter(text *file, int line, const volatile void *what) WEAK;
void WTFAnnotateHappensBefore(text *file, int line, const volatile void *what) WEAK;
void WTFAnnotateHappensAfter(text *file, int line, const volatile void *what) WEAK;
void AnnotateIgnoreReadsBegin(text *file, int line) WEAK;
void AnnotateIgnoreReadsEnd(text *file, int line) WEAK;
void AnnotateIgnoreWritesBegin(text *file, int line) WEAK;
void AnnotateIgnoreWritesEnd(text *file, int line) WEAK;
void AnnotateBenignRace(text *file, int line, const volatile void *memory, text *why) WEAK;
void AnnotateBenignRaceSized(text *file, int line, const volatile void *memory, unsigned long size,
                             text *why) WEAK;
void WTFAnnotateBenignRaceSized(text *file, int line, const volatile void *memory,
                                unsigned long size, text *why) WEAK;

void __tsan_acquire(void *what)
{
    ft_rt_meet(what, FT_RAW_CHANNEL_IN, CODE);
}

void __tsan_release(void *what)
{
    ft_rt_meet(what, FT_RAW_CHANNEL_OUT, CODE);
}

void AnnotateHappensBefore(text *file, int line, const volatile void *what)
{
    (void)file, (void)line;
    ft_rt_meet(what, FT_RAW_CHANNEL_OUT, CODE);
}

void AnnotateHappensAfter(text *file, int line, const volatile void *what)
{
    (void)file, (void)line;
    ft_rt_meet(what, FT_RAW_CHANNEL_IN, CODE);
}

void WTFAnnotateHappensBefore(text *file, int line, const volatile void *what)
{
    (void)file, (void)line;
    ft_rt_meet(what, FT_RAW_CHANNEL_OUT, CODE);
}

void WTFAnnotateHappensAfter(text *file, int line, const volatile void *what)
{
    (void)file, (void)line;
    ft_rt_meet(what, FT_RAW_CHANNEL_IN, CODE);
}

void AnnotateIgnoreReadsBegin(text *file, int line)
{
    (void)file, (void)line;
    foretell_ignore_begin();
}

void AnnotateIgnoreReadsEnd(text *file, int line)
{
    (void)file, (void)line;
    foretell_ignore_end();
}

void AnnotateIgnoreWritesBegin(text *file, int line)
{
    AnnotateIgnoreReadsBegin(file, line);
}

void AnnotateIgnoreWritesEnd(text *file, int line)
{
    AnnotateIgnoreReadsEnd(file, line);
}

void AnnotateBenignRaceSized(text *file, int line, const volatile void *memory, unsigned long size,
                             text *why)
{
    (void)file, (void)line, (void)why;
    foretell_benign(memory, size);
}

void AnnotateBenignRace(text *file, int line, const volatile void *memory, text *why)
{
    AnnotateBenignRaceSized(file, line, memory, sizeof(int), why);
}

void WTFAnnotateBenignRaceSized(text *file, int line, const volatile void *memory,
                                unsigned long size, text *why)
{
    AnnotateBenignRaceSized(file, line, memory, size, why);
}

/* ---- the rest, whatever it is given: 0 is what those return that return anything */

#define REST_TABLE(X)                                                                              \
    X(__tsan_mutex_create)                                                                         \
    X(__tsan_mutex_destroy)                                                                        \
    X(__tsan_mutex_pre_lock)                                                                       \
    X(__tsan_mutex_post_lock)                                                                      \
    X(__tsan_mutex_pre_unlock)                                                                     \
    X(__tsan_mutex_post_unlock)                                                                    \
    X(__tsan_mutex_pre_signal)                                                                     \
    X(__tsan_mutex_post_signal)                                                                    \
    X(__tsan_mutex_pre_divert)                                                                     \
    X(__tsan_mutex_post_divert)                                                                    \
    X(__tsan_external_register_tag)                                                                \
    X(__tsan_external_register_header)                                                             \
    X(__tsan_external_assign_tag)                                                                  \
    X(__tsan_external_read)                                                                        \
    X(__tsan_external_write)                                                                       \
    X(__tsan_get_current_fiber)                                                                    \
    X(__tsan_create_fiber)                                                                         \
    X(__tsan_destroy_fiber)                                                                        \
    X(__tsan_switch_to_fiber)                                                                      \
    X(__tsan_set_fiber_name)                                                                       \
    X(__tsan_flush_memory)                                                                         \
    X(AnnotateCondVarSignal)                                                                       \
    X(AnnotateCondVarSignalAll)                                                                    \
    X(AnnotateCondVarWait)                                                                         \
    X(AnnotateEnableRaceDetection)                                                                 \
    X(AnnotateExpectRace)                                                                          \
    X(AnnotateFlushExpectedRaces)                                                                  \
    X(AnnotateFlushState)                                                                          \
    X(AnnotateIgnoreSyncBegin)                                                                     \
    X(AnnotateIgnoreSyncEnd)                                                                       \
    X(AnnotateMemoryIsInitialized)                                                                 \
    X(AnnotateMemoryIsUninitialized)                                                               \
    X(AnnotateMutexIsNotPHB)                                                                       \
    X(AnnotateMutexIsUsedAsCondVar)                                                                \
    X(AnnotateNewMemory)                                                                           \
    X(AnnotateNoOp)                                                                                \
    X(AnnotatePCQCreate)                                                                           \
    X(AnnotatePCQDestroy)                                                                          \
    X(AnnotatePCQGet)                                                                              \
    X(AnnotatePCQPut)                                                                              \
    X(AnnotatePublishMemoryRange)                                                                  \
    X(AnnotateRWLockAcquired)                                                                      \
    X(AnnotateRWLockCreate)                                                                        \
    X(AnnotateRWLockCreateStatic)                                                                  \
    X(AnnotateRWLockDestroy)                                                                       \
    X(AnnotateRWLockReleased)                                                                      \
    X(AnnotateThreadName)                                                                          \
    X(AnnotateTraceMemory)                                                                         \
    X(AnnotateUnpublishMemoryRange)                                                                \
    X(RunningOnValgrind)

static long nothing(void)
{
    return 0;
}

#define NOTHING(name) long name(void) __attribute__((weak, alias("nothing")));
REST_TABLE(NOTHING)
