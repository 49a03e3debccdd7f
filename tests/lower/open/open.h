/* What the programs here share. */
#ifndef FT_TESTS_OPEN_H
#define FT_TESTS_OPEN_H

#include <assert.h>
#include <pthread.h>
#include <stddef.h>

void foretell_input(void *to, size_t size, const char *name);

#endif
