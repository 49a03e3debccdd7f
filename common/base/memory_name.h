/* Names of heap memory, as recordings have them: "heap(list.c:40).next" by the allocation site, and
 * "heap(list.c:40 for main.c:12).next" where the site is in a helper: main.c:12 called it.
 *
 * The helper's caller is for people. Fingerprints, rules and annotations know the name without it,
 * as names were before they had one. Blocks are "block(list.c:40 for main.c:12)". */
#ifndef FT_BASE_MEMORY_NAME_H
#define FT_BASE_MEMORY_NAME_H

#include "base/strbuf.h"

#define FT_MEMORY_FOR " for "

/* Appends the text without the callers that memory's names in it have. */
void ft_memory_name_add_plain(const char *text, ft_strbuf *out);

#endif
