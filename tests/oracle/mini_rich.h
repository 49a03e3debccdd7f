/* Random programs of the small language (mini.h) with what mini_random.h leaves out: read-write
 * locks, semaphores, attempts at locks, timed waits, mutexes that count or check, functions
 * (nested, through pointers, leaving the process), pointers, objects of the heap and the stack,
 * computed objects, barriers with more threads than places, `once`, atomics beside plain data,
 * variables that each thread has, threads that are detached.
 *
 * The programs are free of races, but for a few: each shared variable has its guard (the table in
 * mini_rich.c). They may deadlock, fail, and leave locks taken. */
#ifndef FT_TESTS_MINI_RICH_H
#define FT_TESTS_MINI_RICH_H

#include "base/strbuf.h"

/* Inputs have four bits in all. */
void mini_rich(uint64_t seed, ft_strbuf *text);

#endif
