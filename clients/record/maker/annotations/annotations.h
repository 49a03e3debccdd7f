/* Annotations: the user's file `foretell record --annotations FILE`, which names accesses that no
 * finding may use, and orders that the recorder cannot see.
 *
 * One rule a line, "#" begins a comment; a NAME may end in "*", which matches anything:
 *
 *   ignore function NAME    accesses in the function
 *   ignore file NAME        accesses in the source file
 *   ignore variable NAME    accesses of the variable, its members and elements included
 *   order NAME NAME         events of a thread in the first function come before later events of
 *                           other threads in the second
 *
 * An ignored access stays in the trace with its value: without it schedules could be predicted in
 * which a read returns a value that it never could. An order only takes schedules away. So neither
 * makes a finding false; but an order that the program does not keep can hide a bug.
 *
 * Imports: common/base, common/trace. */
#ifndef FT_RECORD_ANNOTATIONS_H
#define FT_RECORD_ANNOTATIONS_H

#include "base/status.h"
#include "trace/trace.h"

typedef struct ft_annotations ft_annotations;

/* FT_USAGE, with the line: the file is not readable, or has a line that is not a rule. */
ft_status ft_annotations_read(const char *path, ft_annotations **annotations,
                              ft_error *err) FT_MUST_CHECK;
void ft_annotations_free(ft_annotations *annotations); /* accepts NULL */

/* Does a rule name code at that location? Such a location keeps its own place (names/call_sites.c).
 */
bool ft_annotations_concern(const ft_annotations *annotations, const ft_location *at);
/* Marks accesses, and adds edges, in a trace that was just recorded. */
void ft_annotations_apply(ft_annotations *annotations, ft_trace *trace);

/* Is it in a standard library header whose accesses are marked as benign in every trace? */
bool ft_annotations_is_known(const ft_location *at);
/* Are accesses in a call from `caller`, which was called from `outer`, marked likewise? */
bool ft_annotations_is_idle(const ft_location *caller, const ft_location *outer);

/* The line of the first rule from line `after` + 1 on that matched no event; 0: none. */
uint32_t ft_annotations_unused(const ft_annotations *annotations, uint32_t after);

#endif
