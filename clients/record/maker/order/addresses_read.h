/* Addresses read: which heap addresses each thread has read out of memory that it shares with
 * others.
 *
 * A thread normally gets the address of another thread's block by a read, which is an event of the
 * trace, so the model keeps the order of the two where it must. If no read of a thread returned an
 * address in the block, uninstrumented code has handed it over (tsearch, a library's table), and
 * the log does not say when. */
#ifndef FT_RECORD_MAKER_ADDRESSES_READ_H
#define FT_RECORD_MAKER_ADDRESSES_READ_H

#include <stdbool.h>
#include <stdint.h>

typedef struct ft_addresses_read ft_addresses_read;

ft_addresses_read *ft_addresses_read_new(void);
void ft_addresses_read_free(ft_addresses_read *known); /* accepts NULL */

/* The thread read that value from shared memory. */
void ft_addresses_read_add(ft_addresses_read *known, uint32_t thread, uint64_t value);
/* The thread read a value that the log does not have: it may be any address. */
void ft_addresses_read_add_any(ft_addresses_read *known, uint32_t thread);
/* Did the thread read an address in that range, or the one right behind it? */
bool ft_addresses_read_within(const ft_addresses_read *known, uint32_t thread, uint64_t address,
                              uint64_t size);

#endif
