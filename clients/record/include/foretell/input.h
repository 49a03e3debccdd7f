/* Inputs of a program by name. `foretell explore FILE.c` leaves them open: every value counts. A
 * program that was built with foretell-cc gets the values that its command line gives:
 *
 *   foretell test --input amount=51 ./program
 *
 * also of `record`, `explore` and `replay`, or, without these commands, of the environment:
 * FORETELL_INPUTS=amount=51 ./program. A replay of a witness gives those of the witness. An input
 * without a value is 0, which is reported. */
#ifndef FORETELL_INPUT_H
#define FORETELL_INPUT_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Writes the value of the input with that name to the `size` bytes (1 to 8) at `to`. For
 * `foretell lower` size and name are constants. */
void foretell_input(void *to, size_t size, const char *name);

#ifdef __cplusplus
}
#endif

#endif
