/* Reports: one model, built from stored JSON records, and many views of it.
 *
 * A verdict record has all that a report needs (docs/records.md): the trace, the solver and the
 * store are not needed here. The views are a table (FT_REPORT_FORMAT_TABLE): adding one is adding a
 * row and a file.
 *
 * Imports: common/base, common/verdict. */
#ifndef FT_REPORT_REPORT_H
#define FT_REPORT_REPORT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/map.h"
#include "base/memory.h"
#include "base/status.h"
#include "base/strbuf.h"

/* ---- Formats --------------------------------------------------------------------------------- */

/*  symbol    name        media type              ending   description */
#define FT_REPORT_FORMAT_TABLE(X)                                                                  \
    X(TEXT, "text", "text/plain", "txt", "for people, as on a terminal")                           \
    X(JSON, "json", "application/json", "json", "the report of docs/records.md")                   \
    X(SARIF, "sarif", "application/sarif+json", "sarif", "SARIF 2.1.0, for code scanning sites")   \
    X(JUNIT, "junit", "application/xml", "xml", "JUnit XML, a test case for each check")           \
    X(GITLAB, "gitlab", "application/vnd.foretell.codequality+json", "json",                       \
      "GitLab code quality")                                                                       \
    X(GITHUB, "github", "text/vnd.foretell.annotations", "txt", "GitHub workflow annotations")     \
    X(HTML, "html", "text/html", "html", "one page that needs no other file")                      \
    X(MARKDOWN, "markdown", "text/markdown", "md", "a job summary")

typedef enum ft_report_format {
#define FT_ROW(symbol, name, media, ending, doc) FT_REPORT_##symbol,
    FT_REPORT_FORMAT_TABLE(FT_ROW)
#undef FT_ROW
        FT_REPORT_FORMATS
} ft_report_format;

const char *ft_report_format_name(ft_report_format format);
const char *ft_report_format_media(ft_report_format format); /* "text/html" */
const char *ft_report_format_ending(ft_report_format format);
bool ft_report_format_parse(const char *name, ft_report_format *format);
/* The format that an Accept header likes best (RFC 9110 §12.5.1); `initial` where it is NULL, empty
 * or takes anything. False: none of ours would do. */
bool ft_report_format_accept(const char *accept, ft_report_format initial,
                             ft_report_format *format);

/* REPORT of docs/records.md of an answer that no job has ("program" is its program's hash): of
 * records (an array) of one check, which has `candidates` candidates; those that have no record are
 * safe. New reference. */
json_t *ft_report_of_records(const json_t *answer, const char *check, size_t candidates,
                             const json_t *records, const json_t *notes);

/* ---- The model ------------------------------------------------------------------------------- */

/* "file:line[:column]"; file NULL: unknown. */
typedef struct ft_place {
    char *file; /* heap */
    size_t line, column;
} ft_place;

typedef struct ft_report_access {
    const json_t *json; /* ACCESS of the record */
    const char *thread, *word;
    char *text;                      /* like that of a step */
    const char *function, *location; /* NULL: unknown */
    ft_place place;
    char *locks;         /* "holding l, m" or "holding no lock" */
    const json_t *stack; /* [{"function", "location"}...], innermost first; NULL: unknown */
    char *created;       /* "created by main at a.c:3"; NULL: unknown */
    ft_place created_at;
    char *line; /* the source line, trimmed; NULL: no source */
} ft_report_access;

/* A step of the schedule, or a run of steps that the record does not describe one by one. */
typedef struct ft_report_step {
    const json_t *json; /* STEP */
    size_t thread;      /* index of the finding's threads */
    size_t number;      /* of the first one, from 1 */
    size_t count;       /* steps in the run; 1: a single step */
    const char *label;  /* of an event that comes after the last step: "race"; else NULL */
    bool marked;        /* one of the claim's events */
    bool departs;       /* reads another value or write than in the observed run */
    bool brief;         /* a run */
    bool source;        /* a departing read reads from it */
    char *text;         /* the event with its values; control characters are '?' */
    char *where;        /* its location or "event N" */
    ft_place place;
} ft_report_step;

/* Whether a finding counts for the exit code. */
typedef enum ft_standing {
    FT_STANDING_NEW,        /* not known before: it counts */
    FT_STANDING_KNOWN,      /* in the baseline, or (--fail-on-new) seen before: it does not count */
    FT_STANDING_SUPPRESSED, /* declared harmless, with a reason: it does not count */
    FT_STANDING_APART       /* the program allows it, or another finding stands for it: it is
                               counted in one line */
} ft_standing;
const char *ft_standing_name(ft_standing standing);

/* The kind of bug. One row for each check and kind of record (rules.c). */
typedef struct ft_rule {
    const char *id; /* "race/write-write" */
    const char *check, *kind;
    const char *title;  /* "Data race" */
    const char *danger; /* the consequence; "%s" is the object */
    const char *advice; /* the usual repair */
} ft_rule;
const ft_rule *ft_rule_find(const char *check, const char *kind); /* never NULL */
const ft_rule *ft_rule_at(size_t index);                          /* NULL: past the end */

typedef struct ft_finding {
    const json_t *record; /* RECORD, borrowed */
    json_t *paths;        /* file of a place -> its path from the root; NULL: no root is known */
    size_t group;         /* number of the first finding of its part with this fingerprint */
    size_t part;          /* index of the report's parts */
    size_t number;        /* from 1, in its part; 0: set apart, and not counted */
    const ft_rule *rule;
    const char *check, *kind, *status, *message;
    const char *object, *name, *id; /* NULL: none */
    const char *fingerprint;
    const char *source_fingerprint; /* with the source lines; NULL: unknown */
    char *title;                    /* "Data race on x" */
    char *danger;                   /* one sentence */
    char *difference;               /* how the observed run differed, one sentence; "" : unknown */
    FT_VEC(ft_report_access) accesses;
    FT_VEC(ft_report_step) steps;
    FT_VEC(const char *) threads; /* in order of appearance */
    ft_standing standing;
    char *elsewhere; /* "[2] of run.1.ftb": an earlier trace has it; else NULL */
    char *why;       /* why it is not new: the source of that, and its reason; else NULL */
    bool in_source;  /* suppressed by an annotation */
    bool fails;      /* it counts for the exit code */
} ft_finding;

/* One trace's report. */
typedef struct ft_report_part {
    const json_t *json;  /* REPORT, borrowed */
    const char *file;    /* how the user names the trace; borrowed, like json */
    size_t first, count; /* of the findings */
} ft_report_part;

typedef struct ft_report {
    json_t *json; /* a reference: REPORT or {"reports": [...]} */
    bool several;
    bool compared; /* with a baseline: findings are new or known */
    FT_VEC(ft_report_part) parts;
    FT_VEC(ft_finding) findings;
    FT_VEC(char *) notes; /* of the report as a whole: an expired suppression, ... */
} ft_report;

/* Builds the model of REPORT or {"reports": [REPORT...]}; takes a reference of its own. `file`
 * names a trace whose report does not (may be NULL). The report may be incomplete: views
 * leave out the missing members. */
ft_report *ft_report_new(json_t *json, const char *file);
void ft_report_free(ft_report *report); /* accepts NULL */
/* Numbers and groups the findings anew: with `apart` those that are set apart as well. */
void ft_report_number(ft_report *report, bool apart);
bool ft_finding_is_apart(const json_t *record);

/* Files that are under this folder (absolute) have their path from there in views that lead to
 * them: a place has a file's name alone, the record its path. */
void ft_report_set_root(ft_report *report, const char *root);
/* The path from the root, or `file` itself; valid as long as the finding and it are. */
const char *ft_finding_path(const ft_finding *finding, const char *file);

bool ft_finding_is_silent(const ft_finding *finding);       /* suppressed or apart */
bool ft_place_parse(const char *location, ft_place *place); /* place->file is heap; false: none */

/* ---- Views ----------------------------------------------------------------------------------- */

/* How a report is shown. Zero is fine for every member but columns. */
typedef struct ft_view {
    size_t columns;          /* width that schedules may take */
    bool color;              /* with terminal escapes */
    bool full;               /* fold nothing */
    bool show_safe;          /* list safe blocks */
    bool explain;            /* add the pass that decided each candidate */
    bool quiet;              /* the summary line only */
    bool private_server;     /* findings cannot be fetched later */
    bool only_new;           /* known findings are counted, not shown */
    const char *server;      /* where findings can be looked at, NULL: nowhere */
    const char *witness_dir; /* where witness files were written, NULL: nowhere */
    bool apart;              /* of findings that are set apart as well */
    bool listed;             /* findings were shown already: the rest only */
    bool folds;              /* several runs of one test: runs and findings that say nothing new
                                have no line of their own (ft_report_merged counts them) */
    bool repeats;            /* folds, and each finding of this run was shown for an earlier one */
    size_t file_number;      /* where several files are checked, from 1; 0: only one */
    ft_intern *notes; /* texts of notes that were printed before, for earlier traces: they are
                         not printed again, and new ones are added; NULL: all are printed */
} ft_view;
#define FT_VIEW_COLUMNS 100

void ft_report_render(const ft_report *report, ft_report_format format, const ft_view *view,
                      ft_strbuf *out);
/* Format TEXT: the findings alone; ft_report_render with view->listed shows the rest. */
void ft_report_list(const ft_report *report, const ft_view *view, ft_strbuf *out);
/* Where there are several traces: every finding once, and how many traces have it. */
void ft_report_merged(const ft_report *report, const ft_view *view, ft_strbuf *out);
json_t *ft_report_merged_json(const ft_report *report); /* a new reference: an array */
void ft_report_summary(const ft_report *report, size_t part, const ft_view *view, ft_strbuf *out);

/* The file for the number-th (from 1) finding's witness: DIR/BASE.N.json, or DIR/F-BASE.N.json for
 * the F-th of several files; heap text. */
char *ft_view_witness_path(const ft_view *view, const char *file, size_t number);

typedef enum ft_paint { FT_PAINT_PLAIN, FT_PAINT_BOLD, FT_PAINT_RED, FT_PAINT_YELLOW } ft_paint;
/* Adds text in a colour; PLAIN or without colours: as it is. */
void ft_view_paint(const ft_view *view, ft_paint paint, const char *text, ft_strbuf *out);
/* Adds text with control characters as '?': names come from traces that strangers made. */
void ft_view_safe_text(const char *text, ft_strbuf *out);
/* The text of one finding, as FT_REPORT_TEXT has it. */
void ft_report_finding_text(const ft_report *report, const ft_finding *finding, const ft_view *view,
                            ft_strbuf *out);
/* The same for the text or value of an event without a `display`: numbers as large as addresses are
 * written in hexadecimal. */
void ft_view_event_text(const char *text, ft_strbuf *out);

/* ---- Members of JSON objects, with a value for missing ones ---------------------------------- */

const char *ft_json_text(const json_t *json, const char *member, const char *otherwise);
size_t ft_json_count(const json_t *json, const char *member); /* 0 when missing or negative */

#endif
