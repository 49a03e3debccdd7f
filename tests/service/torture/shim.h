/* What the shim (shim.c) does inside foretelld, as its test sets it at any time: a small file that
 * both map. LD_PRELOAD names the shim, FT_SHIM the file. */
#ifndef FT_TESTS_SHIM_H
#define FT_TESTS_SHIM_H

#include <stdatomic.h>
#include <stdint.h>

#define FT_SHIM_ENVIRONMENT "FT_SHIM"
#define FT_SHIM_SITES       512

typedef struct ft_shim {
    /* System calls by which foretelld changes something outside itself, since its start. */
    _Atomic uint64_t calls;
    /* Place at which it is killed: 2n before its n-th such call, 2n + 1 after it; 0: nowhere. */
    _Atomic uint64_t kill_at;
    /* The n-th allocation from now on fails, and so many after it; 0: none. Likewise writes to
     * files (ENOSPC, EIO, or a short one, by turns). Both count down to 0. */
    _Atomic int64_t fail_alloc, fail_allocs;
    _Atomic int64_t fail_write, fail_writes;
    _Atomic uint32_t disk_full;      /* files cannot grow */
    _Atomic int64_t clock_ms;        /* what the wall clock is ahead by */
    _Atomic uint64_t allocs, writes; /* that could have failed, since its start */
    _Atomic uint64_t failed;         /* that were made to, of every kind, since ever */
    /* Call sites of PostgreSQL's interface: hashes of the texts of statements that were run, in the
     * order in which they were first; those behind the last are 0. */
    _Atomic uint64_t sites[FT_SHIM_SITES];
    /* It is killed at the n-th pass of this site, before (turn 0) or after (1) the call; 0: not. */
    _Atomic uint64_t kill_site;
    _Atomic uint32_t kill_turn;
    _Atomic int64_t kill_pass;
} ft_shim;

#endif
