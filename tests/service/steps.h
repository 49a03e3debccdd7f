/* Steps that the service tests share: one daemon, uploads, jobs, reports. A step that fails ends
 * the test (cmocka). */
#ifndef FT_TESTS_SERVICE_STEPS_H
#define FT_TESTS_SERVICE_STEPS_H

#include "base/digest.h"
#include "service/daemon.h"

extern ft_daemon ft_steps_server;
int ft_steps_start(void **state); /* group set-up and tear-down */
int ft_steps_stop(void **state);

/* Two unlocked writes of x and two locked ones of y: one race. 8 events, 2 threads. */
#define FT_STEPS_RACY                                                                              \
    "T1|w(x)|a.c:1\n"                                                                              \
    "T2|w(x)|b.c:1\n"                                                                              \
    "T1|acq(l)|a.c:2\n"                                                                            \
    "T1|w(y)|a.c:3\n"                                                                              \
    "T1|rel(l)|a.c:4\n"                                                                            \
    "T2|acq(l)|b.c:2\n"                                                                            \
    "T2|w(y)|b.c:3\n"                                                                              \
    "T2|rel(l)|b.c:4\n"

/* Lines of NDJSON traces: x = y = 0, a semaphore l at 1. */
#define FT_STEPS_HEADER                                                                            \
    "{\"format\":\"foretell\",\"version\":1,\"threads\":[\"T1\",\"T2\"],"                          \
    "\"variables\":{\"x\":0,\"y\":0},\"locals\":{\"a\":\"Int\",\"b\":\"Int\"},"                    \
    "\"semaphores\":{\"l\":1}}\n"
#define FT_STEPS_ASSIGN(thread, target, term)                                                      \
    "{\"thread\":\"" thread "\",\"kind\":\"assign\",\"set\":{\"" target "\":\"" term "\"}}\n"
#define FT_STEPS_EVENT(thread, kind)                                                               \
    "{\"thread\":\"" thread "\",\"kind\":\"" kind "\",\"semaphore\":\"l\"}\n"
#define FT_STEPS_TERM(thread, kind, term)                                                          \
    "{\"thread\":\"" thread "\",\"kind\":\"" kind "\",\"term\":\"" term "\"}\n"

void ft_steps_hash(const void *data, size_t length, char hex[FT_DIGEST_HEX + 1]);
void ft_steps_expect(const ft_answer *answer, long status, const char *what);
/* Uploads a text, whether known or new; its name must be the text's own hash. */
void ft_steps_upload(const char *text, char hash[FT_DIGEST_HEX + 1]);
/* members: those of the job beside its trace. */
void ft_steps_create(const char *trace, const char *members, char job[64]);
/* Runs a job to its end, which must be `state`; its report (new reference). */
json_t *ft_steps_report(const char *trace, const char *members, const char *state);
long long ft_steps_count(const json_t *report, const char *check, const char *member);
/* Of each check: violation, safe, bounded, unknown and error make up candidates. */
void ft_steps_counts_add_up(const json_t *report);

#endif
