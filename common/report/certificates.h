/* Certificates of schedule sets (docs/schedules.md) as records of reports, and what they come to.
 *
 * CERTIFICATE: one question about a set, as `foretell cover` and jobs of the kind `cover` answer
 * it:
 *
 *   {"check": "check-race", "epoch": "entry", "schedule"?: "s1", "answer": "proved" | "refuted" |
 *    "diverges" | "unknown", "text": TEXT, "replayed": BOOL, "evidence"?: WORD, "inputs"?: {LABEL:
 * N}, "run"?: [{"name", "thread", "n", "value"}], "witness"?: WITNESS, "places"?: [{"location":
 * "a.c:3", "function": "f"}], "smt"?: {NAME: TEXT}, "leaves"?: N}
 *
 * "witness": that run as one of the program (program/witness/witness.h); in a record it is the
 * record's own. "evidence": how the answer is known, a word of cover/certify.h. "run": inputs of a
 * run from the program's entry that shows it, as it reads them. Without "inputs" the run begins in
 * an earlier epoch than the certificate's. "leaves": the paths that were followed for this one and
 * those after it, which have no number of their own. Without "schedule" it is about the epoch as a
 * whole. The answer of a command or job (CHECKS) has a row for each kind of certificate, which the
 * worker writes before the first of them is known:
 *
 *   {"check", "meaning", "answer", "asked": N, "needed": BOOL}
 *
 * "needed": without its proof nothing is concluded from the set. */
#ifndef FT_REPORT_CERTIFICATES_H
#define FT_REPORT_CERTIFICATES_H

#include <jansson.h>
#include <stdbool.h>

#include "base/strbuf.h"

/* Appends ", with x = 1, ...": the inputs that the certificate names, those of its run from the
 * entry, or none. */
void ft_certificate_inputs(const json_t *certificate, ft_strbuf *out);
/* The identity of a certificate in its job; schedule NULL: the epoch's own. Heap. */
char *ft_certificate_key(const char *check, const char *epoch, const char *schedule);
/* {"check", "epoch", "schedule"?} of such a key; new reference. */
json_t *ft_certificate_named(const char *key);
/* RECORD of docs/records.md with the CERTIFICATE as a member; new references. And back: also from a
 * record of a task that was given up, which has the key and the reason alone. */
json_t *ft_certificate_record(const json_t *certificate);
json_t *ft_certificate_of(const json_t *record);

/* Completes the answer, which has "checks": their answers by the certificates (an array of
 * CERTIFICATE), "failed", "leaves", "proved" and, where they have texts for solvers, "smt". A kind
 * that is not needed, and is proved, is `unknown` if a needed one is not proved. */
void ft_certificates_conclude(json_t *answer, const json_t *certificates);
/* REPORT of the answer, as that of the job would be (report/report.h); new reference. */
json_t *ft_certificates_report(const json_t *answer);
/* The answer in words, as notes of a report (new reference): the conclusion, a line for each kind,
 * and the answer itself as JSON under the code cover-answer. */
json_t *ft_certificates_notes(const json_t *answer);

#endif
