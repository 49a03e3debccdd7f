/* Reports of any shape: every format makes something of them, and what is JSON is JSON. */
#include <stdlib.h>
#include <string.h>

#include "report/ledger.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void render(const ft_report *report, ft_report_format format)
{
    ft_strbuf out = {0};
    const ft_view view = {.columns = 80, .explain = true, .show_safe = true, .full = true};
    bool is_json = strstr(ft_report_format_media(format), "json") != NULL;
    ft_report_render(report, format, &view, &out);
    json_t *back = is_json ? json_loads(ft_strbuf_text(&out), JSON_DECODE_ANY, NULL) : NULL;
    if (is_json && !back) abort();
    json_decref(back);
    ft_strbuf_release(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    json_t *json = json_loadb((const char *)data, size, 0, NULL);
    if (!json) return 0;
    ft_ledger *ledger = ft_ledger_new("2026-01-31");
    ft_ledger_only_new(ledger);
    ft_report *report = ft_report_new(json, NULL);
    ft_ledger_apply(ledger, report);
    for (unsigned i = 0; i < FT_REPORT_FORMATS; i++) render(report, (ft_report_format)i);
    ft_report_free(report);
    ft_ledger_free(ledger);
    json_decref(json);
    return 0;
}
