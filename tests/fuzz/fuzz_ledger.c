/* Baselines and suppressions: what was taken must apply to any finding, what was refused has a
 * place. */
#include <stdlib.h>
#include <string.h>

#include "report/ledger.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char REPORT[] =
    "{\"findings\": [{\"check\": \"race\", \"kind\": \"write-write\", \"fingerprint\": "
    "\"0123456789abcdef\", \"object\": \"x\", \"accesses\": [{\"thread\": \"T1\", \"access\": "
    "\"write\", \"location\": \"a.c:3\", \"function\": \"f\", \"text\": \"write x\"}]}]}";

/* The first byte chooses the kind of file. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0) return 0;
    ft_error err = FT_ERROR_INIT;
    ft_ledger *ledger = ft_ledger_new("2026-01-31");
    const char *text = (const char *)data + 1;
    bool baseline = data[0] & 1;
    ft_status status = baseline ? ft_ledger_add_baseline(ledger, text, size - 1, "in b", &err)
                                : ft_ledger_add_suppressions(ledger, text, size - 1, "s", &err);
    if (status && err.code != status) abort();
    if (status && !baseline && (!err.line || !err.column)) abort();
    json_t *json = json_loads(REPORT, 0, NULL);
    ft_report *report = ft_report_new(json, "t");
    ft_ledger_apply(ledger, report);
    if (report->findings.data[0].fails != (report->findings.data[0].why == NULL)) abort();
    ft_report_free(report);
    ft_ledger_free(ledger);
    json_decref(json);
    return 0;
}
