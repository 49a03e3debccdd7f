/* The models of the C library (models/), as bitcode in the program. */
#ifndef FT_LOWER_MODELS_H
#define FT_LOWER_MODELS_H

#include <stddef.h>

extern const unsigned char foretell_models[];
extern const size_t foretell_models_size;

#endif
