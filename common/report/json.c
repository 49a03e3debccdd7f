#include "report/internal.h"

void ft_render_json(const ft_report *report, const ft_view *view, ft_strbuf *out)
{
    (void)view;
    json_t *json = json_incref(report->json);
    if (report->several) {
        json_decref(json);
        json = json_copy(report->json);
        json_object_set_new(json, "merged", ft_report_merged_json(report));
    }
    ft_report_dump(json, JSON_INDENT(1), out);
}
