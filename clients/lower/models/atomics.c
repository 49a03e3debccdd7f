/* Atomics that the compiler hands to libatomic: of structs, whose alignment it does not trust, and
 * of more than 8 bytes. Objects of 1, 2, 4 and 8 bytes are accessed by the instructions, in the
 * order that is given. Larger ones are copied in an atomic section, which orders as seq_cst does.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "foretell.h"

/* The names are the compiler's own, so that C cannot define functions of them. */
void load(size_t, const void *, void *, int) __asm__("__atomic_load");
void store(size_t, void *, const void *, int) __asm__("__atomic_store");
void exchange(size_t, void *, const void *, void *, int) __asm__("__atomic_exchange");
bool compare_exchange(size_t, void *, void *, const void *, int,
                      int) __asm__("__atomic_compare_exchange");

static bool is_word(size_t size, const void *at)
{
    return (size == 1 || size == 2 || size == 4 || size == 8) && (uintptr_t)at % size == 0;
}

/* clang-format off */
#define OF_SIZE(size, DO) \
    switch (size) { \
    case 1: DO(uint8_t) \
    case 2: DO(uint16_t) \
    case 4: DO(uint32_t) \
    default: DO(uint64_t) \
    }
/* clang-format on */

void load(size_t size, const void *at, void *to, int order)
{
#define LOAD(type)                                                                                 \
    *(type *)to = __atomic_load_n((const type *)at, order);                                        \
    return;
    if (is_word(size, at)) OF_SIZE(size, LOAD)
    __foretell_atomic_begin();
    memcpy(to, at, size);
    __foretell_atomic_end();
}

void store(size_t size, void *at, const void *value, int order)
{
#define STORE(type)                                                                                \
    __atomic_store_n((type *)at, *(const type *)value, order);                                     \
    return;
    if (is_word(size, at)) OF_SIZE(size, STORE)
    __foretell_atomic_begin();
    memcpy(at, value, size);
    __foretell_atomic_end();
}

void exchange(size_t size, void *at, const void *value, void *old, int order)
{
#define EXCHANGE(type)                                                                             \
    *(type *)old = __atomic_exchange_n((type *)at, *(const type *)value, order);                   \
    return;
    if (is_word(size, at)) OF_SIZE(size, EXCHANGE)
    char before[size];
    __foretell_atomic_begin();
    memcpy(before, at, size);
    memcpy(at, value, size);
    __foretell_atomic_end();
    memcpy(old, before, size);
}

/* The bytes are compared, padding too. */
bool compare_exchange(size_t size, void *at, void *expected, const void *value, int done,
                      int failed)
{
#define COMPARE(type)                                                                              \
    return __atomic_compare_exchange_n((type *)at, (type *)expected, *(const type *)value, false,  \
                                       done, failed);
    if (is_word(size, at)) OF_SIZE(size, COMPARE)
    char before[size];
    __foretell_atomic_begin();
    memcpy(before, at, size);
    bool equal = memcmp(before, expected, size) == 0;
    if (equal) memcpy(at, value, size);
    __foretell_atomic_end();
    if (!equal) memcpy(expected, before, size);
    return equal;
}
