/* Annotations by which a program informs the recorder. Without `foretell record` all of it does
 * nothing; without the compiler wrapper it is not even called (the functions are weak). */
#ifndef FORETELL_ANNOTATE_H
#define FORETELL_ANNOTATE_H

#ifdef __cplusplus
extern "C" {
#endif

void foretell_atomic_begin(void) __attribute__((weak));
void foretell_atomic_end(void) __attribute__((weak));
void foretell_happens_before(const volatile void *what) __attribute__((weak));
void foretell_happens_after(const volatile void *what) __attribute__((weak));
void foretell_ignore_begin(void) __attribute__((weak));
void foretell_ignore_end(void) __attribute__((weak));
void foretell_benign(const volatile void *memory, unsigned long size) __attribute__((weak));

#ifdef __cplusplus
}
#endif

/* The code in between is meant to be atomic: check `atomicity` looks for accesses that break it. */
#define FORETELL_ATOMIC_BEGIN() (foretell_atomic_begin ? foretell_atomic_begin() : (void)0)
#define FORETELL_ATOMIC_END()   (foretell_atomic_end ? foretell_atomic_end() : (void)0)

/* Synchronisation that the recorder cannot see (assembly, a device, another process): what stands
 * before a HAPPENS_BEFORE comes before what stands behind each later HAPPENS_AFTER of that address,
 * in every schedule. `address` is a name, no more: nothing is read there. */
#define FORETELL_HAPPENS_BEFORE(address)                                                           \
    (foretell_happens_before ? foretell_happens_before(address) : (void)0)
#define FORETELL_HAPPENS_AFTER(address)                                                            \
    (foretell_happens_after ? foretell_happens_after(address) : (void)0)

/* The thread's accesses between are in the trace, with their values, but are part of no finding.
 * May be nested. */
#define FORETELL_IGNORE_BEGIN() (foretell_ignore_begin ? foretell_ignore_begin() : (void)0)
#define FORETELL_IGNORE_END()   (foretell_ignore_end ? foretell_ignore_end() : (void)0)

/* The same for all accesses of all threads to that memory, from here on until it is freed. */
#define FORETELL_BENIGN(address, size)                                                             \
    (foretell_benign ? foretell_benign((address), (size)) : (void)0)

#endif
