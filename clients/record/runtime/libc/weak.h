/* Weak names: functions that some C libraries lack, so that programs may define their own.
 *
 * A program's own definition replaces the runtime's hook: the function is then code of the program
 * like any other. Every file that defines a hook gets these lines through libc/libc.h. */
#ifndef FT_RECORD_WEAK_H
#define FT_RECORD_WEAK_H

#pragma weak mtx_init
#pragma weak mtx_destroy
#pragma weak mtx_lock
#pragma weak mtx_trylock
#pragma weak mtx_timedlock
#pragma weak mtx_unlock
#pragma weak cnd_init
#pragma weak cnd_destroy
#pragma weak cnd_wait
#pragma weak cnd_timedwait
#pragma weak cnd_signal
#pragma weak cnd_broadcast
#pragma weak thrd_create
#pragma weak thrd_join
#pragma weak thrd_detach
#pragma weak thrd_sleep
#pragma weak thrd_yield
#pragma weak call_once
#pragma weak tss_create
#pragma weak open_memstream
#pragma weak getline
#pragma weak getdelim
#pragma weak reallocarray
#pragma weak malloc_usable_size
#pragma weak arc4random
#pragma weak arc4random_buf
#pragma weak arc4random_uniform
#pragma weak pwrite64
#pragma weak pwritev
#pragma weak pwritev64
#pragma weak unlink
#pragma weak unlinkat
#pragma weak remove
#pragma weak rename
#pragma weak renameat
#pragma weak link
#pragma weak symlink
#pragma weak mkdir
#pragma weak mkdirat
#pragma weak rmdir
#pragma weak mkdtemp
#pragma weak mkstemp
#pragma weak mkstemp64
#pragma weak mkostemp
#pragma weak mkostemp64
#pragma weak mkstemps
#pragma weak mkstemps64
#pragma weak mkostemps
#pragma weak mkostemps64
#pragma weak lockf
#pragma weak lockf64
#pragma weak mprotect
#pragma weak pkey_mprotect
#pragma weak pkey_set
#pragma weak madvise
#pragma weak posix_madvise
#pragma weak brk
#pragma weak ftruncate
#pragma weak ftruncate64
#pragma weak truncate
#pragma weak truncate64
#pragma weak fallocate
#pragma weak fallocate64
#pragma weak dlclose
#pragma weak _Fork
#pragma weak clone

#endif
