/* Checks JOB of docs/records.md as far as it can be checked without its trace. */
#ifndef FT_API_SPEC_H
#define FT_API_SPEC_H

#include <jansson.h>

#include "base/status.h"
#include "base/strbuf.h"

#define FT_SPEC_PROPERTIES      1000  /* of one job */
#define FT_SPEC_LOCATIONS       10000 /* ignored ones */
#define FT_SPEC_PASSES          32    /* left out */
#define FT_SPEC_CONTEXT_BOUND   100
#define FT_SPEC_PRIORITY        100   /* and as far below 0 */
#define FT_SPEC_CONTEXT_THREADS 16    /* at places */
#define FT_SPEC_INPUTS          1000  /* values of a program's inputs */
#define FT_SPEC_TEXT            4096  /* bytes of a name or location */
#define FT_SPEC_TERM            65536 /* bytes of a term */

/* FT_USAGE with the member in *pointer (RFC 6901; zero-initialised by the caller): unknown members,
 * missing ones, wrong types, words that are no check, model, kind and so on. */
ft_status ft_spec_check(const json_t *spec, ft_strbuf *pointer, ft_error *err) FT_MUST_CHECK;

#endif
