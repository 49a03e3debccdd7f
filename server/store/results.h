/* Verdict records on their way into the store: texts as their workers wrote them, looked at but
 * never parsed, and their witnesses, which nobody looks at before somebody asks for them. */
#ifndef FT_STORE_RESULTS_H
#define FT_STORE_RESULTS_H

#include <stdint.h>

#include "base/strbuf.h"
#include "verdict/names.h"
#include "wire/scan.h"

#define FT_RECORD_MEMBERS 9

/* The members of a RECORD (docs/records.md) that the server itself needs. */
typedef struct ft_record {
    ft_check check;
    ft_verdict verdict;
    ft_reason reason; /* one that is not known counts as worker-died, which no worker says */
    int64_t property; /* -1: none */
    int64_t count, pairs, sliced, events;
    double solve_ms;
    bool witness; /* it is in the text */
    ft_span key;  /* into the record's text */
} ft_record;

/* The members that a record is read from: found by ft_scan_object in the record itself, or in an
 * object that has it as a member with these inside. */
typedef struct ft_record_members {
    ft_scan_member of[FT_RECORD_MEMBERS], reason[1], stats[3];
} ft_record_members;
void ft_record_members_init(ft_record_members *members);
/* FT_INPUT: no RECORD. */
ft_status ft_record_read(const ft_record_members *members, ft_record *record,
                         ft_error *err) FT_MUST_CHECK;
/* FT_INPUT unless it can be the verdict of a subproblem with this check and key, as the plan has
 * them. */
ft_status ft_record_check_entry(const ft_record *record, ft_span check, ft_span key,
                                ft_error *err) FT_MUST_CHECK;

typedef struct ft_result {
    int64_t task;                                  /* 0: decided by the plan */
    ft_record record;                              /* its key: ft_results_record has it */
    size_t key;                                    /* where that is in the text */
    size_t at, length, witness_at, witness_length; /* in `bytes`; no witness: 0 */
} ft_result;

/* Some of them. Embedded: zero-initialise. */
typedef struct ft_results {
    ft_result *items;
    size_t count, room;
    ft_strbuf bytes;
} ft_results;

void ft_results_release(ft_results *results);
/* Adds a record that was read from this text, with its witness (zstd over WITNESS of
 * docs/records.md; length 0: it has none, or in its text). FT_INPUT, and nothing is added: a
 * witness too many. */
ft_status ft_results_take(ft_results *results, int64_t task, const ft_record *record, ft_span text,
                          const void *witness, size_t witness_length, ft_error *err) FT_MUST_CHECK;
/* The same, reading it first. FT_INPUT: no RECORD. */
ft_status ft_results_add(ft_results *results, int64_t task, const char *text, size_t length,
                         const void *witness, size_t witness_length, ft_error *err) FT_MUST_CHECK;
/* The record as it was read, its key in the results' bytes: valid until more is added. */
ft_record ft_results_record(const ft_results *results, size_t index);

/* Adds the text of a witness that was stored apart. FT_INTERNAL: it is none. */
ft_status ft_witness_read(const void *bytes, size_t length, ft_strbuf *text,
                          ft_error *err) FT_MUST_CHECK;

#endif
