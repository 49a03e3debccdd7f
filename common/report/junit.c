/* JUnit XML, as continuous integration systems read it (the schema of Ant's JUnit task): a test
 * suite for each trace, a test case for each finding, each property and each check without
 * findings. */
#include <string.h>

#include "report/internal.h"

typedef struct tally {
    size_t tests, failures, errors;
} tally;

static void open_case(const char *name, const char *class_name, ft_strbuf *out)
{
    ft_strbuf_puts(out, "    <testcase name=\"");
    ft_xml_text(name, out);
    ft_strbuf_puts(out, "\" classname=\"foretell.");
    ft_xml_text(class_name, out);
    ft_strbuf_puts(out, "\" time=\"0\"");
}

static void failed_case(const ft_view *view, const ft_finding *finding, ft_strbuf *out)
{
    ft_view plain = {.columns = view->columns};
    ft_strbuf schedule = {0};
    ft_strbuf_puts(out, ">\n      <failure type=\"");
    ft_xml_text(finding->rule->id, out);
    ft_strbuf_puts(out, "\" message=\"");
    ft_xml_text(finding->message, out);
    ft_strbuf_puts(out, "\">");
    ft_xml_text(finding->danger, out);
    ft_strbuf_puts(out, "\n\n");
    ft_text_schedule(&plain, finding, &schedule);
    ft_xml_text(ft_strbuf_text(&schedule), out);
    if (*finding->difference) ft_strbuf_puts(out, "\nThe observed run differs: ");
    ft_xml_text(finding->difference, out);
    ft_strbuf_puts(out, "</failure>\n    </testcase>\n");
    ft_strbuf_release(&schedule);
}

/* A finding that does not count is a case that passes; its name says why. One schema knows no
 * skipped cases, the other no reason for skipping. */
static void finding_case(const ft_view *view, const ft_finding *finding, tally *counts,
                         ft_strbuf *out)
{
    ft_strbuf name = {0};
    ft_finding_brief(finding, &name);
    if (!finding->fails && finding->why)
        ft_strbuf_printf(&name, " (%s: %s)", ft_standing_name(finding->standing), finding->why);
    open_case(ft_strbuf_text(&name), finding->check, out);
    ft_strbuf_release(&name);
    counts->tests++;
    counts->failures += finding->fails;
    if (finding->fails)
        failed_case(view, finding, out);
    else
        ft_strbuf_puts(out, "/>\n");
}

/* Undecided candidates are an error: neither a failure nor a success. */
static void check_case(const char *check, const json_t *numbers, tally *counts, ft_strbuf *out)
{
    size_t open = ft_json_count(numbers, "unknown") + ft_json_count(numbers, "error") +
                  ft_json_count(numbers, "bounded") + ft_json_count(numbers, "pending");
    if (ft_json_count(numbers, "violation") && !open) return;
    counts->tests++;
    open_case(open ? "everything is decided" : "no findings", check, out);
    if (!open) {
        ft_strbuf_puts(out, "/>\n");
        return;
    }
    counts->errors++;
    ft_strbuf_printf(out,
                     ">\n      <error type=\"undecided\" message=\"%zu of %zu candidates are "
                     "undecided\"/>\n    </testcase>\n",
                     open, ft_json_count(numbers, "candidates"));
}

static void suite(const ft_view *view, const ft_report *report, size_t index, ft_strbuf *out)
{
    const ft_report_part *part = &report->parts.data[index];
    tally counts = {0};
    ft_strbuf cases = {0}, line = {0};
    const char *check;
    json_t *numbers;
    for (size_t i = part->first; i < part->first + part->count; i++)
        finding_case(view, &report->findings.data[i], &counts, &cases);
    json_object_foreach(json_object_get(part->json, "checks"), check, numbers)
        check_case(check, numbers, &counts, &cases);
    ft_strbuf_printf(out, "  <testsuite id=\"%zu\" package=\"foretell\" name=\"", index);
    ft_xml_text(part->file, out);
    ft_strbuf_printf(out,
                     "\" timestamp=\"%.19s\" hostname=\"localhost\" tests=\"%zu\" "
                     "failures=\"%zu\" errors=\"%zu\" time=\"0\">\n"
                     "    <properties>\n      <property name=\"model\" value=\"%s\"/>\n"
                     "    </properties>\n",
                     ft_json_text(part->json, "finished", "1970-01-01T00:00:00"), counts.tests,
                     counts.failures, counts.errors, ft_json_text(part->json, "model", "unknown"));
    ft_strbuf_puts(out, ft_strbuf_text(&cases));
    ft_report_summary(report, index, &(ft_view){.columns = FT_VIEW_COLUMNS}, &line);
    ft_strbuf_puts(out, "    <system-out>");
    ft_xml_text(ft_strbuf_text(&line), out);
    ft_strbuf_puts(out, "</system-out>\n    <system-err></system-err>\n  </testsuite>\n");
    ft_strbuf_release(&cases);
    ft_strbuf_release(&line);
}

void ft_render_junit(const ft_report *report, const ft_view *view, ft_strbuf *out)
{
    ft_strbuf_puts(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n");
    for (size_t i = 0; i < report->parts.len; i++) suite(view, report, i, out);
    ft_strbuf_puts(out, "</testsuites>\n");
}
