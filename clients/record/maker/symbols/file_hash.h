/* The hash by which a trace knows the files of its program. */
#ifndef FT_RECORD_FILE_HASH_H
#define FT_RECORD_FILE_HASH_H

#include <stdbool.h>

#include "base/digest.h"

/* SHA-256 of the file at `path`; false: it cannot be read. */
bool ft_record_hash(const char *path, char hash[FT_DIGEST_HEX + 1]);

#endif
