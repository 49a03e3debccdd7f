#include "report/internal.h"

void ft_render_json(const ft_report *report, const ft_view *view, ft_strbuf *out)
{
    (void)view;
    ft_report_dump(json_incref(report->json), JSON_INDENT(1), out);
}
