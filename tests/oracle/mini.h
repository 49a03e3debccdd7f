/* A small concurrent language for tests of covering schedules, compiled to programs as data: close
 * to the notation of the notes and of the golden programs, so that a program is a line.
 *
 *   in x:1 n:2; var g q=1; arr A 3; bar 0:2;  T { lock 0; if x { g = x + 1; } unlock 0; }  T { ...
 * }
 *
 * `in NAME:BITS` inputs, which main reads first; `late NAME:BITS` those that a thread reads by
 * `read VARIABLE NAME;`; `var` shared variables of 32 bits; `arr` arrays of
 * them; `bar NUMBER:THREADS` barriers. A thread is T { statements }; main creates all in order and
 * joins them, unless there is an M { statements } for it, in which `create K` and `join K` name
 * threads from 1. Variables that begin with _ belong to the thread.
 *
 * Statements: lock E; unlock E; wait C L; signal C; bcast C; barrier B; if E { } else { };
 * while E { }; ret; abort; marker; assert E; assume E; NAME = E; NAME[E] = E; create K; join K.
 * Expressions: + - * % & | ^ == != < <= > >= && || ! ( ) numbers, names, NAME[E]; 32 bits,
 * unsigned. A lock, condition or barrier is a number, computed ones are below 4.
 *
 * `atom` atomics, each beside a plain variable NAME[1] in the same 8 bytes; `own` variables of
 * which each thread has one; `ptr` shared pointers, and _p... those of a thread; `sem
 * NUMBER:COUNT`; `mutex NUMBER:recursive` or `checking`.
 *
 * F name { } is a function of a number, _arg, which `give E;` leaves with a result, as it does a
 * thread; names that begin with _ are on its stack. O name { } is one for `once NUMBER name;`.
 *
 * Statements: rdlock E; wrlock E; rwun E; take E; post E; (semaphores) detach K; exit E; call f(E);
 * free p; lockp p; unlockp p; *p = E; p = P; with P one of &NAME, &NAME[E], new (40 bytes), a
 * pointer, pick[E] P P.
 *
 * Expressions: got[K] (the result of thread K, which it joins), f(E), p(E), *p, fetch[a,E],
 * swap[a,E,E], count[E]; and, 0 if they have it, locks[E], try[E], timed[E], tryread[E],
 * trywrite[E], trysem[E], timedsem[E], timedwait[E,E]. */
#ifndef FT_TESTS_MINI_H
#define FT_TESTS_MINI_H

#include "base/strbuf.h"
#include "program/program.h"

/* Compiles; a text that is wrong ends the process. The caller frees it. */
ft_program *mini_program(const char *text);
void mini_text(const char *text, ft_strbuf *program); /* the text of the program as data */

#endif
