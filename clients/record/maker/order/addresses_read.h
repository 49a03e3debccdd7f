/* Which threads can know of which blocks of the heap. A thread gets the address of what another one
 * made while it ran by reading it, which is an event of the trace, and so the order of the two is
 * explained: the model keeps it where it must be kept. Where no read of the thread gave it such an
 * address, code without hooks has handed it over (tsearch, a library's table): nobody knows when.
 */
#ifndef FT_RECORD_MAKER_ADDRESSES_READ_H
#define FT_RECORD_MAKER_ADDRESSES_READ_H

#include <stdbool.h>
#include <stdint.h>

typedef struct ft_addresses_read ft_addresses_read;

ft_addresses_read *ft_addresses_read_new(void);
void ft_addresses_read_free(ft_addresses_read *known); /* accepts NULL */

/* The thread read that value out of what it shares with others. */
void ft_addresses_read_add(ft_addresses_read *known, uint32_t thread, uint64_t value);
/* It read what nobody looked at: any address may have been there. */
void ft_addresses_read_add_any(ft_addresses_read *known, uint32_t thread);
/* Did it read an address in there, or right behind it? */
bool ft_addresses_read_within(const ft_addresses_read *known, uint32_t thread, uint64_t address,
                              uint64_t size);

#endif
