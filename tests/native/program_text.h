/* Random and golden programs as `interpret` reads them. */
#ifndef FT_NATIVE_PROGRAM_TEXT_H
#define FT_NATIVE_PROGRAM_TEXT_H

#include "oracle/schedules.h"

/* A line of numbers (interpret.c); the caller frees it. */
char *program_text(const schedule_program *p);

#endif
