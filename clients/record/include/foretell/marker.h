/* Markers: places at which an epoch of a covering schedule set may end (docs/schedules.md).
 * `foretell cover` finds places of its own in loops that synchronise; this is for others:
 *
 *   foretell_marker();
 *
 * A thread that comes to it in a run under a set of schedules (`foretell run`) stops there until
 * every other thread has stopped, too; then all go on. Without a set it does nothing. For
 * `foretell lower` it is an atomic read of foretell_marker_cell. */
#ifndef FORETELL_MARKER_H
#define FORETELL_MARKER_H

#ifdef __cplusplus
extern "C" {
#endif

__attribute__((weak)) int foretell_marker_cell;
void foretell_marker_stop(const volatile int *cell) __attribute__((weak));

#ifdef __cplusplus
}
#endif

/* Macros, so that its place is that of the use. Builds without hooks of atomics call one. */
#ifdef FORETELL_LIGHT
#define foretell_marker()                                                                          \
    (foretell_marker_stop ? foretell_marker_stop(&foretell_marker_cell) : (void)0)
#else
#define foretell_marker() ((void)__atomic_load_n(&foretell_marker_cell, __ATOMIC_SEQ_CST))
#endif

#endif
