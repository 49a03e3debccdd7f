/* The log of the recording (raw/raw.h): the only place that writes records.
 *
 * The log is a file that the program maps; `foretell record` reads it. Only the thread with the
 * baton writes, so the log has no lock. Each record follows a TURN that names its thread. Records
 * that name a place in the program do so by a *site*, a number that the log explains before its
 * first use (ft_rt_site). hot.h has the inline short way that most accesses take. needs.h lists the
 * functions that the folders above provide for this one.
 *
 * Imports: libc, raw, state, common/trace. */
#ifndef FT_RECORD_LOG_H
#define FT_RECORD_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "raw/raw.h"

#pragma GCC visibility push(hidden)

typedef struct ft_rt_thread ft_rt_thread;

/* ---- log.c */
/* Maps the log file; false: nothing is to be recorded or replayed. */
bool ft_rt_log_open(void);
void ft_rt_log_begin(void);         /* the recording begins */
void ft_rt_log_end(ft_raw_end why); /* the first reason stays */
void ft_rt_log(ft_raw_operation operation, const uint64_t *operands, uint32_t n);
void ft_rt_log_bytes(ft_raw_operation operation, uint64_t operand, const void *bytes, size_t n);

#define FT_RT_LOG(operation, ...)                                                                  \
    ft_rt_log(FT_RAW_##operation, (const uint64_t[]){__VA_ARGS__},                                 \
              sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))

/* Notes in the log's header whether the program's output ends with a line's end. */
void ft_rt_log_open_line(void);

/* ---- polls: while it is set, each record goes through ft_rt_polls_meet (log/needs.h) */
extern bool ft_rt_polling;

/* ---- events.c */
/* An access of 1, 2, 4 or 8 bytes from the code at `pc`; written: of an update. */
void ft_rt_log_access(ft_raw_form form, const void *pc, uintptr_t address, uint32_t size,
                      int64_t value, int64_t written);
/* The site of the code at `pc`, for records that name a place. It may write a record itself, so it
 * is called before that record is begun. */
uint32_t ft_rt_site(const void *pc);
const void *ft_rt_site_pc(uint32_t site);
#define FT_RT_SITE ft_rt_site(__builtin_return_address(0))

void ft_rt_flush(ft_rt_thread *self);    /* logs its pending write or look (state/writes.h) */
void ft_rt_end_look(ft_rt_thread *self); /* its look was a read: logs it */

#pragma GCC visibility pop

#endif
