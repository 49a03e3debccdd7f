/* Parts of a SARIF log that two files need. */
#ifndef FT_REPORT_SARIF_H
#define FT_REPORT_SARIF_H

#include "report/internal.h"

/* The limits of code scanning sites (GitHub's published ones); the rest is cut here, so that
 * what is essential stays. */
#define FT_SARIF_RESULTS        25000
#define FT_SARIF_FLOW_LOCATIONS 1000        /* threadFlow locations of a result */
#define FT_SARIF_LOCATIONS      100         /* locations of a result */
#define FT_SARIF_BYTES          (10u << 20) /* gzipped */

/* {"text": ...}; new reference, like all below. */
json_t *ft_sarif_message(const char *text);
/* What a SARIF location has. finding: whose it is, for the file's path; place->file NULL: a logical
 * location alone; NULL: none of the others. line: what stands there. */
typedef struct ft_sarif_spot {
    const ft_finding *finding;
    const ft_place *place;
    const char *function, *thread, *text, *line;
} ft_sarif_spot;
json_t *ft_sarif_location(const ft_sarif_spot *spot);
/* codeFlows: one flow, with one threadFlow a thread; executionOrder is the place in the schedule.
 * NULL: the finding has no schedule. */
json_t *ft_sarif_flows(const ft_finding *finding, size_t most);

/* The limits, for tests that cannot make logs of that size. */
typedef struct ft_sarif_limits {
    size_t results, flow_locations, locations, bytes;
} ft_sarif_limits;
json_t *ft_sarif_log(const ft_report *report, const ft_sarif_limits *limits);
/* The log as text, with less in it until its gzipped size is within limits->bytes. */
void ft_sarif_write(const ft_report *report, ft_sarif_limits limits, ft_strbuf *out);

#endif
