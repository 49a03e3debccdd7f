/* Every class of <ctype.h> for every character: by its macros, its functions and its table. */
#include <ctype.h>
#include <stdio.h>

#define ROW(class, bit)                                                                            \
    {                                                                                              \
#class, class, bit                                                                         \
    }
static const struct {
    const char *name;
    int (*function)(int);
    unsigned short bit;
} rows[] = {ROW(isupper, _ISupper), ROW(islower, _ISlower), ROW(isalpha, _ISalpha),
            ROW(isdigit, _ISdigit), ROW(isalnum, _ISalnum), ROW(isxdigit, _ISxdigit),
            ROW(isspace, _ISspace), ROW(isblank, _ISblank), ROW(isprint, _ISprint),
            ROW(isgraph, _ISgraph), ROW(ispunct, _ISpunct), ROW(iscntrl, _IScntrl)};

int main(void)
{
    const unsigned short *table = *__ctype_b_loc();
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
        printf("%s:", rows[i].name);
        for (int c = -1; c < 256; c++)
            printf("%d%d", !!rows[i].function(c), !!(table[c] & rows[i].bit));
        printf("\n");
    }
    for (int c = -1; c < 256; c++)
        printf("%d %d %d%d%d%d\n", tolower(c), toupper(c), !!isalpha(c), !!isdigit(c), !!isspace(c),
               !!ispunct(c));
    return 0;
}
