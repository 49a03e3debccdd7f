#include "base/closest.h"

#include <stdbool.h>
#include <string.h>

#include "base/contract.h"

enum { LONGEST = 40 }; /* letters of a word or name that are compared */

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/* Damerau and Levenshtein's distance, with swaps of neighbours. */
static unsigned distance(const char *a, const char *b)
{
    unsigned rows[3][LONGEST + 1];
    size_t n = strnlen(a, LONGEST), m = strnlen(b, LONGEST);
    for (size_t j = 0; j <= m; j++) rows[0][j] = (unsigned)j;
    for (size_t i = 1; i <= n; i++) {
        unsigned *row = rows[i % 3], *above = rows[(i + 2) % 3], *second = rows[(i + 1) % 3];
        row[0] = (unsigned)i;
        for (size_t j = 1; j <= m; j++) {
            row[j] = least(least(above[j], row[j - 1]) + 1, above[j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = least(row[j], second[j - 2] + 1);
        }
    }
    return rows[n % 3][m];
}

void ft_closest_offer(ft_closest *closest, const char *name)
{
    FT_REQUIRE(closest->word && name);
    size_t length = strlen(closest->word);
    unsigned most = length / 3 > 2 ? (unsigned)(length / 3) : 2;
    unsigned changes = distance(closest->word, name);
    bool begins = length >= 3 && strncmp(closest->word, name, length) == 0;
    if (begins) changes = 1;
    if (changes > most || changes >= length) return;
    if (closest->name && changes >= closest->distance) return;
    closest->name = name;
    closest->distance = changes;
}
