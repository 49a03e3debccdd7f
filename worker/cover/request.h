/* One question about covering schedules, as JSON, for the command line and the service.
 *
 *   {"order": "thread" | "trace" | "seed", "seed": N, "prefix": BOOL, "entries": N, "seconds": N,
 *    "prefer": TEXT, "dynamic": [NAME], "set": TEXT, "smt": BOOL}
 *
 * All members may be left out. "prefer" is a witness or a schedule set whose order comes before
 * "order" (prefer.h). "dynamic" names
 * inputs that are not known when the program begins, "*" all (schedules/dynamic.h). "seconds" may
 * be a fraction. With "set" nothing is searched: the set is checked. The answer:
 *
 *   {"set": TEXT, "inputs": [{"label", "name", "thread", "n", "width", "dynamic"}],
 *    "counts": {"paths", "entries", "schedules", "discarded", "open", "questions"},
 *    "leaves": N, "open": TEXT, "proved": BOOL,
 *    "checks": [{"check", "meaning", "answer", "asked"}],
 *    "failed": [{"check", "schedule", "answer", "text", "replayed", "inputs": {LABEL: N}}],
 *    "smt": {NAME: TEXT}}
 *
 * "checks" has a row for each kind of certificate (certify.h), with how many questions it took;
 * "failed" the questions whose answer is not `proved`. An "answer" is `proved`, `refuted` or
 * `unknown`, of "divergence" `diverges` in place of `refuted`. "proved" is true if all six
 * certificates hold; without them assertions and divergence are not `proved`. "counts" and "open",
 * the reason why inputs were left, are of a search. */
#ifndef FT_COVER_REQUEST_H
#define FT_COVER_REQUEST_H

#include <jansson.h>

#include "program/program.h"

/* *answer: a new reference. FT_USAGE: the question is at fault; FT_INPUT: the set is. */
ft_status ft_cover_request(const ft_program *program, const json_t *question, json_t **answer,
                           ft_error *err) FT_MUST_CHECK;

#endif
