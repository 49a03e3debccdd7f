/* Where a recording's locations are written: the file's path, and what stands in the line, read
 * while the sources that the program was built from are still there. */
#ifndef FT_RECORD_SOURCE_LINES_H
#define FT_RECORD_SOURCE_LINES_H

#include "maker/symbols/symbols.h"
#include "trace/trace.h"

typedef struct ft_source_lines ft_source_lines;

ft_source_lines *ft_source_lines_new(void);
void ft_source_lines_free(ft_source_lines *lines); /* accepts NULL */

/* Says of the builder's location what is known of the place. module: path of the file that was
 * built from it. A source that was changed after that has another text in its lines: only its path
 * is told. */
void ft_source_lines_tell(ft_source_lines *lines, ft_builder *builder, uint32_t loc,
                          const ft_code_place *place, const char *module);

/* The location's line behind those that go on into it; NULL: what stands there is not known. Valid
 * as long as `lines` is. */
const char *ft_source_lines_statement(ft_source_lines *lines, const ft_trace *trace, uint32_t loc);

#endif
