/* What the programs here share. */
#ifndef FT_TESTS_OPEN_H
#define FT_TESTS_OPEN_H

#include <assert.h>
#include <foretell/input.h>
#include <pthread.h>

#endif
