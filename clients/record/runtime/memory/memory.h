/* Memory that begins and ends: the heap, mappings of the system, libraries.
 *
 * A block that begins is logged with its content if that is known (zeros, a file's bytes), and ends
 * when it is freed or unmapped. The synchronisation objects in it end with it.
 *
 * Imports: accesses, exploring, libc, log, raw, scheduling, state, sync, world. */
#ifndef FT_RECORD_MEMORY_H
#define FT_RECORD_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#pragma GCC visibility push(hidden)

/* ---- heap.c: a block begins (and is returned), or is about to end */
void *ft_rt_made(void *memory, size_t size, bool zeroed, const void *pc);
void *ft_rt_given(void *memory, size_t size, const void *pc);  /* by malloc and the like */
void *ft_rt_mapped(void *memory, size_t size, const void *pc); /* with its content, readable */
void ft_rt_gone(void *memory, size_t size, const void *pc);

/* ---- unmapping.c: before a call after which memory may be gone that the thread has written. Its
 * pending write is logged now. */
void ft_rt_memory_may_go(void);

/* ---- map.c: a call writes into a file, which may be mapped into memory of the program. begin logs
 * the file's content, end the content that made it longer: no thread could access that before. */
typedef struct ft_rt_file_write {
    dev_t device;
    ino_t file;
    off64_t at, told; /* told: -1: no memory shares it */
} ft_rt_file_write;
/* at: -1: the current position of fd. */
ft_rt_file_write ft_rt_file_begin(int fd, off64_t at, size_t n, const void *pc);
void ft_rt_file_end(const ft_rt_file_write *w, ssize_t put, const void *pc);
void ft_rt_file_hidden(const void *memory, size_t size); /* it is not readable any more */

/* ---- libraries.c */
void ft_rt_mapping_gone(const void *memory, size_t size); /* called with the baton */
void ft_rt_libraries_begin(const void *pc);               /* some may have been loaded */

/* ---- modules.c: the executable and its libraries in the log */
void ft_rt_log_modules(void);   /* all that are loaded at the start, with their content */
void ft_rt_log_loaded(void);    /* new ones, before their code runs */
void ft_rt_log_arguments(void); /* the words that the program was started with */
/* Before the first thread is created: the content of the program's variables. Code without hooks
 * (getopt, the start of the C++ library) wrote it in the first thread, or no code did. */
void ft_rt_log_variables(void);
/* Calls `gone` once for each logged library that is not loaded any more. */
void ft_rt_log_unloaded(void (*gone)(uintptr_t address, size_t size));

#pragma GCC visibility pop

#endif
