/* Shared by the files of common/report. */
#ifndef FT_REPORT_INTERNAL_H
#define FT_REPORT_INTERNAL_H

#include <assert.h>

#include "base/contract.h"
#include "report/report.h"

/* What views rely on: parts hold all findings, one after the other; numbers ascend; only new
 * findings fail; steps have consecutive numbers and threads of the finding. */
bool ft_report_is_sound(const ft_report *report);

/* Fills finding->steps, threads and difference from the record's witness. */
void ft_finding_steps(ft_finding *finding);
void ft_finding_steps_release(ft_finding *finding);
/* "data race on x" with the object, heap. */
char *ft_rule_title(const ft_rule *rule, const char *object, const char *name);
char *ft_rule_danger(const ft_rule *rule, const char *object);

/* The views of FT_REPORT_FORMAT_TABLE. */
typedef void ft_renderer(const ft_report *report, const ft_view *view, ft_strbuf *out);
ft_renderer ft_render_text, ft_render_json, ft_render_sarif, ft_render_junit, ft_render_gitlab,
    ft_render_github, ft_render_html, ft_render_markdown;

/* The interleaving of a finding: a column for each thread where that fits, else indented. */
void ft_text_schedule(const ft_view *view, const ft_finding *finding, ft_strbuf *out);

/* The pass that decided each candidate of REPORT, the cycles that refute, the counts that each pass
 * leaves. */
void ft_text_explanations(const json_t *report, ft_strbuf *out);

/* Steps that a view of at most `most` keeps: the claim's, departing reads and what they read,
 * accesses to the object, locks, switches, then the last ones. keep: one for each step. */
void ft_report_essential(const ft_finding *finding, size_t most, bool *keep);

/* How many of the part's findings have that standing. */
size_t ft_report_standing(const ft_report *report, const ft_report_part *part,
                          ft_standing standing);

/* How many findings of the check are set apart. */
size_t ft_report_apart(const ft_report *report, const ft_report_part *part, const char *check);

/* Sums of the counts in "checks", and words for them. */
size_t ft_report_total(const json_t *checks, const char *member);
size_t ft_report_undecided(const json_t *checks); /* bounded, unknown, error, pending */
extern const char *const ft_report_verdicts[5];

/* Dumps with a newline at the end; steals json. */
void ft_report_dump(json_t *json, size_t flags, ft_strbuf *out);

/* Adds text with &, <, >, " and ' as references; control characters as '?'. */
void ft_xml_text(const char *text, ft_strbuf *out);

/* Sets `elsewhere` of findings that a part before theirs has (merged.c). */
void ft_report_mark_repeated(ft_report *report);

/* Is the note a text for people, not an answer as JSON (cover-answer, context-answer)? */
bool ft_note_is_text(const json_t *note);

/* "race on x at a.c:3": the shortest name of a finding. */
void ft_finding_brief(const ft_finding *finding, ft_strbuf *out);

#endif
