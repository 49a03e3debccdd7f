/* Shared by ledger.c and ignore.c. */
#ifndef FT_REPORT_LEDGER_INTERNAL_H
#define FT_REPORT_LEDGER_INTERNAL_H

#include "report/fingerprint.h"
#include "report/internal.h"
#include "report/ledger.h"
#include "report/source.h"

#define FT_DATE 10 /* "YYYY-MM-DD" */

typedef struct ft_known {
    char print[FT_FINGERPRINT + 1], source[FT_FINGERPRINT + 1]; /* "": unknown */
    char *name;                                                 /* where it is known from */
} ft_known;

/* A line of a suppressions file, or an annotation. */
typedef struct ft_ignore {
    bool checks[FT_CHECKS];
    char *at, *function, *thread, *object, *fingerprint; /* globs; NULL: anything */
    char until[FT_DATE + 1];                             /* "": never */
    char *reason;
    char *where; /* "file:line" */
} ft_ignore;
void ft_ignore_release(ft_ignore *ignore);

struct ft_ledger {
    char today[FT_DATE + 1];
    bool fails[FT_CHECKS];
    bool only_new, compares, counts_apart;
    FT_VEC(ft_known) known;
    FT_VEC(ft_ignore) rules;
    ft_source *source; /* or NULL */
    char *root;        /* likewise */
    ft_source *nearby; /* what is under it: asked where a line is the one that the trace has */
};

/* The first suppression that holds today and matches, or NULL. */
const ft_ignore *ft_ignore_find(const ft_ledger *ledger, const ft_finding *finding);
/* Whether an access's source line is annotated. Both texts are heap. An
 * annotation that cannot be taken becomes a note of the report. */
bool ft_annotation_find(const ft_ledger *ledger, ft_report *report, const ft_finding *finding,
                        char **where, char **reason);
/* Notes of the suppressions that have expired. */
void ft_ledger_expired(const ft_ledger *ledger, ft_report *report);

#endif
