/* How this terminal shows reports. The reports themselves are those of report/report.h. */
#ifndef FT_CLI_VIEW_H
#define FT_CLI_VIEW_H

#include <jansson.h>

#include "options/options.h"
#include "report/report.h"

/* What the options say; width and colour for standard output (NO_COLOR, TERM and COLUMNS
 * respected). */
void ft_view_init(const ft_options *options, ft_view *view);

/* 0, 1 or 3 (docs/exit-codes.md): of reports whose jobs ended or were stopped. */
ft_exit ft_view_exit(const ft_report *report);

#endif
