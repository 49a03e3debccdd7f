/* Lines of source files under one folder. */
#ifndef FT_REPORT_SOURCE_H
#define FT_REPORT_SOURCE_H

#include <stddef.h>

typedef struct ft_source ft_source;

#define FT_SOURCE_BYTES (16u << 20) /* longer files are not read */

ft_source *ft_source_open(const char *root);
void ft_source_close(ft_source *source); /* accepts NULL */
/* The line (from 1) without its end; NULL: no such file under the root, or no such line. Paths come
 * from traces: those that lead out of the root are not read. Valid until ft_source_close. */
const char *ft_source_line(ft_source *source, const char *path, size_t line);
/* The same without blanks around it, on the heap (NULL as there): UTF-8, with blanks for tabs, '?'
 * for other control characters. */
char *ft_source_text(ft_source *source, const char *path, size_t line);

#endif
