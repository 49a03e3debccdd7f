/* One question about covering schedules, as JSON, for the command line and the service.
 *
 *   {"order": "thread" | "trace" | "seed", "seed": N, "prefix": BOOL, "entries": N, "seconds": N,
 *    "prefer": TEXT, "dynamic": [NAME],
 *    "loops": "unroll" | "summarise", "set": TEXT, "smt": BOOL}
 *
 * All members may be left out. "prefer" is a witness or a schedule set whose order comes before
 * "order" (prefer.h). "dynamic" names inputs that are not known when the program begins, "*" all
 * (schedules/dynamic.h). "seconds" may be a fraction. With "set" nothing is searched: the set is
 * checked. The answer:
 *
 *   {"set": TEXT, "inputs": [{"label", "name", "thread", "n", "width", "dynamic"}],
 *    "counts": {"paths", "entries", "schedules", "discarded", "open", "questions"},
 *    "leaves": N, "open": TEXT, "taken": TEXT, "proved": BOOL,
 *    "checks": [{"check", "meaning", "answer", "asked", "needed"}],
 *    "failed": [{"check", "epoch", "schedule", "answer", "text", "replayed", "evidence",
 *                "inputs": {LABEL: N}, "run": [{"name", "thread", "n", "value"}], "places",
 *                "witness": WITNESS of the program}],
 *    "smt": {NAME: TEXT}}
 *
 * "checks" has a row for each kind of certificate (certify.h), with how many questions it took;
 * "failed" the questions whose answer is not `proved` (report/certificates.h). An "answer" is
 * `proved`, `refuted` or `unknown`, of "divergence" `diverges` in place of `refuted`. "proved" is
 * true if all six certificates ("needed") hold; without them assertions and divergence are not
 * `proved`. "counts" and "open", the reason why inputs were left, are of a search; "taken" says
 * which epochs it took, and why, where the question left that open (choose.h).
 *
 * The command adds "program", its hash.
 *
 * The service answers it in parts (plan.h): first the set is found, then each subject of it is
 * certified by itself. The certificates come to the same answer. */
#ifndef FT_COVER_REQUEST_H
#define FT_COVER_REQUEST_H

#include <jansson.h>

#include "cover/certify.h"
#include "cover/search.h"
#include "program/program.h"

/* *answer: a new reference. FT_USAGE: the question is at fault; FT_INPUT: the set is. */
ft_status ft_cover_request(const ft_program *program, const json_t *question, json_t **answer,
                           ft_error *err) FT_MUST_CHECK;

/* ---- in parts ---- */

/* A question as it was read. It borrows the program and the question, and stays where it is: the
 * world's options refer to it. */
typedef struct cover_asked {
    const ft_program *program;
    cover_world_options world;
    uint64_t entries;
    cover_epochs epochs;
    const char *set;      /* NULL: to be searched */
    double until, end;    /* of ft_now_ms: of the search or the certificates at hand; of all */
    const char **dynamic; /* names up to a NULL, owned; NULL: none */
    bool smt;
} cover_asked;
/* To be released also where it fails. */
ft_status cover_asked_read(cover_asked *asked, const ft_program *program, const json_t *question,
                           ft_error *err) FT_MUST_CHECK;
void cover_asked_release(cover_asked *asked);
/* The set, which the caller frees, and what the answer says before it is certified: "set",
 * "inputs", "checks" without answers, and of a search "counts", "open" and "taken". *certificates:
 * the set's, if the search has needed them (a new reference, else NULL); of `certificates` NULL,
 * others certify the set. */
ft_status cover_asked_find(cover_asked *asked, ft_schedule_set **set, json_t *answer,
                           json_t **certificates, ft_error *err) FT_MUST_CHECK;
/* CERTIFICATE of report/certificates.h of each certificate: of a subject, or of the whole set (only
 * NULL); a new reference. */
ft_status cover_asked_certify(const cover_asked *asked, ft_schedule_set *set,
                              const cover_subject *only, json_t **certificates,
                              ft_error *err) FT_MUST_CHECK;

#endif
