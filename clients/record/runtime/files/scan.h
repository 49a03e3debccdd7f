/* Results of scanf: where a format has them written.
 *
 * ft_scan_next walks the format and the arguments of a call side by side. */
#ifndef FT_RECORD_SCAN_H
#define FT_RECORD_SCAN_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct ft_scan {
    const char *at; /* in the format */
    va_list arguments;
} ft_scan;

/* One result. size 0: a text that ends with a NUL; allocated: *memory is a text on the heap. */
typedef struct ft_scanned {
    void *memory;
    size_t size;
    bool wide, allocated;
    bool counts; /* in the number that the call returns */
} ft_scanned;

/* The next one; false: there is none, or the format is not understood (numbered arguments). */
bool ft_scan_next(ft_scan *scan, ft_scanned *result);

#endif
