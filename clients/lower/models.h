/* In the program: the models of the C library (models/), as bitcode, and the text that stands
 * before each file of C++ (models/preamble.hpp). */
#ifndef FT_LOWER_MODELS_H
#define FT_LOWER_MODELS_H

#include <stddef.h>

extern const unsigned char foretell_models[];
extern const size_t foretell_models_size;
extern const unsigned char foretell_preamble[];
extern const size_t foretell_preamble_size;

#endif
