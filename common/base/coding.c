/* Apart from decompress.c, so that programs that only name codings load no library for them. */
#include <string.h>

#include "base/contract.h"
#include "base/decompress.h"

static const struct {
    const char *name;
    const char *magic;
    size_t length;
} CODINGS[FT_CODINGS] = {
#define CODING_ROW(symbol, name, magic) [FT_CODING_##symbol] = {name, magic, sizeof magic - 1},
    FT_CODING_TABLE(CODING_ROW)
#undef CODING_ROW
};

const char *ft_coding_name(ft_coding coding)
{
    FT_REQUIRE(coding < FT_CODINGS);
    return CODINGS[coding].name;
}

bool ft_coding_is(ft_coding coding, const void *head, size_t length)
{
    FT_REQUIRE(coding < FT_CODINGS && (head || !length));
    return length >= CODINGS[coding].length &&
           memcmp(head, CODINGS[coding].magic, CODINGS[coding].length) == 0;
}

ft_coding ft_coding_of(const void *head, size_t length)
{
    int coding = 0;
    while (coding < FT_CODINGS && !ft_coding_is((ft_coding)coding, head, length)) coding++;
    return (ft_coding)coding;
}
