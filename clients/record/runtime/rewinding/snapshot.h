/* The snapshot of the process's memory at the first choice, and rewinding to it.
 *
 * It holds the content of every writable private mapping but the kept ones (kept.h); of stacks the
 * part in use, with the red zone below the stack pointer. Of everything but the stacks only pages
 * that a run wrote are copied back where the kernel names them (userfaultfd's asynchronous write
 * protection with PAGEMAP_SCAN, Linux 6.7); else all of it. Of mappings from FT_RT_SPARSE bytes the
 * pages that were not there are not saved, and cleared.
 *
 * The state of mappings is the kernel's and not in memory. The break is put back. Mappings that a
 * run makes or removes are not: ft_rt_snapshot_audit sees them. So malloc must use the break alone
 * (ft_rt_snapshot_prepare). */
#ifndef FT_RECORD_SNAPSHOT_H
#define FT_RECORD_SNAPSHOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

enum { FT_RT_TRACKED = 48 << 10, FT_RT_SPARSE = 256 << 10 };

typedef struct ft_rt_snapshot_size {
    uint64_t saved;  /* bytes in the snapshot */
    uint64_t whole;  /* bytes that each rewind copies whatever a run wrote */
    bool tracks;     /* written pages of the others are known */
    uint64_t copied; /* bytes that the last rewind copied or cleared */
    uint32_t regions;
} ft_rt_snapshot_size;

/* Has malloc take all memory from the break. Before the program's first thread: later parts of the
 * heap may lie elsewhere. */
void ft_rt_snapshot_prepare(void);
/* Called while no context runs but the caller's own, on a kept stack. sp: the stack pointer of the
 * first thread, whose stack is not in the pool. NULL, or why there is no snapshot. */
const char *ft_rt_snapshot_take(uintptr_t sp, bool track);
void ft_rt_snapshot_rewind(void); /* called as take is */
/* Right after a rewind: are the mappings as they were? Reads /proc/self/maps, some 50 microseconds.
 */
bool ft_rt_snapshot_audit(void);
ft_rt_snapshot_size ft_rt_snapshot_sizes(void);

#pragma GCC visibility pop

#endif
