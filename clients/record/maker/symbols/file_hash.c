#include "maker/symbols/file_hash.h"

#include <stdio.h>

enum { CHUNK = 1 << 16 };

bool ft_record_hash(const char *path, char hash[FT_DIGEST_HEX + 1])
{
    unsigned char bytes[CHUNK];
    FILE *file = fopen(path, "rb");
    if (!file) return false;
    ft_digest digest;
    ft_digest_init(&digest);
    for (size_t n; (n = fread(bytes, 1, sizeof bytes, file)) > 0;)
        ft_digest_update(&digest, bytes, n);
    bool whole = !ferror(file);
    fclose(file);
    ft_digest_hex(&digest, hash);
    return whole;
}
