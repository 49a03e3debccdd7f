/* Source lines: the path of each location's file, and the text of its line, read while the sources
 * that the program was built from are still there. */
#ifndef FT_RECORD_SOURCE_LINES_H
#define FT_RECORD_SOURCE_LINES_H

#include "maker/symbols/symbols.h"
#include "trace/trace.h"

typedef struct ft_source_lines ft_source_lines;

ft_source_lines *ft_source_lines_new(void);
void ft_source_lines_free(ft_source_lines *lines); /* accepts NULL */

/* Adds the path and the line's text to the builder's location. module: path of the file that was
 * built from the source. Of a source that is newer than that file only the path is added: its lines
 * may have changed. */
void ft_source_lines_tell(ft_source_lines *lines, ft_builder *builder, uint32_t loc,
                          const ft_code_place *place, const char *module);

/* The statement at the location: its line, with the lines before that it continues; NULL: not
 * known. Valid as long as `lines` is. */
const char *ft_source_lines_statement(ft_source_lines *lines, const ft_trace *trace, uint32_t loc);

#endif
