/* Random programs of the product's language with inputs of a few bits, and all that they can do, by
 * brute force: the interpreter under every interleaving of visible instructions and every input.
 * What explores inputs symbolically and schedules by classes is held against it.
 *
 * What an execution ends in is a word: an error with its place, a deadlock, an exit with its code
 * and, where @main came to its end, the inputs and the memory of all globals. */
#ifndef FT_TEST_INPUTS_H
#define FT_TEST_INPUTS_H

#include "base/map.h"
#include "base/strbuf.h"
#include "program/interpret/interpreter.h"

enum { INPUTS_MOST = 4 };

typedef struct inputs_program {
    ft_strbuf text;
    uint32_t n_inputs, bits[INPUTS_MOST]; /* their names are a, b, c, d */
    uint32_t n_threads;
} inputs_program;

/* Every instruction of the table occurs in some. Few have races, and few more than 64 inputs. */
void ft_inputs_random(uint64_t seed, inputs_program *p);
/* The n-th program by hand, and which rule decides in it; false: there are no more. */
bool ft_inputs_directed(size_t n, inputs_program *p, const char **what);
/* The objects and functions that both kinds have. */
void ft_inputs_start(inputs_program *p);
void ft_inputs_release(inputs_program *p);

/* Values of the inputs: for ft_interpreter_options.input. */
typedef struct inputs_values {
    uint64_t of[INPUTS_MOST];
} inputs_values;
bool ft_inputs_give(void *values, const char *name, uint8_t width, uint64_t *value);
/* The number-th combination of values; false: there are no more. */
bool ft_inputs_combination(const inputs_program *p, uint64_t number, inputs_values *values);

typedef struct inputs_words {
    ft_intern all;      /* of executions that end */
    bool races;         /* some execution has one; it ends there */
    uint64_t schedules; /* executions, over all inputs */
} inputs_words;

/* The word of an execution that ended; empty: it does not count (discarded, a race, a bound). */
void ft_inputs_word(const inputs_program *p, const ft_program *program, const ft_interpreter *m,
                    ft_strbuf *word);
/* The memory of all globals. */
void ft_inputs_memory(const inputs_program *p, const ft_program *program, const ft_interpreter *m,
                      ft_strbuf *word);
/* False: more than so many executions, or a bound of the interpreter. */
bool ft_inputs_enumerate(const inputs_program *p, const ft_program *program, uint64_t limit,
                         inputs_words *words);
/* The same over states, each once, without races: threads may spin for ever. Where threads go round
 * for ever on memory that stays as it is, the word is "live-lock" with that memory. `schedules`
 * counts states. False: more than so many states, a bound, or memory that changes for ever. */
bool ft_inputs_states(const inputs_program *p, const ft_program *program, uint64_t limit,
                      inputs_words *words);
/* Programs whose threads poll: spin on atomics, try locks, count their rounds. No races. */
void ft_inputs_random_polls(uint64_t seed, inputs_program *p);
/* Programs that come to equal states in many ways: what threads do commutes, undoes itself and goes
 * round, `endless`: without end. Only careless ones have races, by orders of several kinds. */
/* The objects and @main of such a program around functions @t1 to the last of p->n_threads. At each
 * `place` the objects have other addresses. */
void ft_inputs_cycles(inputs_program *p, uint32_t place, const char *functions);
void ft_inputs_random_cycles(uint64_t seed, bool endless, bool careless, inputs_program *p);
void ft_inputs_release_words(inputs_words *words);

#endif
