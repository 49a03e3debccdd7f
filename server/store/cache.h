/* Parts of traces and programs that a node has fetched from a shared database, on its own disk: a
 * file each, named by the SHA-256 of its content, which is checked whenever it is read. The least
 * recently used go when there are more bytes than there may be. It may be lost, or damaged, at any
 * time: then the database is asked again. On the store's thread. */
#ifndef FT_STORE_CACHE_H
#define FT_STORE_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct ft_cache ft_cache;

/* most: bytes of content. The folder is made when something is kept in it. */
ft_cache *ft_cache_new(const char *folder, uint64_t most);
void ft_cache_free(ft_cache *cache); /* accepts NULL; the files stay */

/* digest: FT_DIGEST_HEX hex digits, the name of a part. New bytes; NULL: it is not there, or
 * (*damaged) it was damaged, and is removed. */
void *ft_cache_read(ft_cache *cache, const char *digest, size_t *length, bool *damaged);
/* Keeps a copy of the bytes that have this digest, as far as that can be done. */
void ft_cache_write(ft_cache *cache, const char *digest, const void *bytes, size_t length);

#endif
