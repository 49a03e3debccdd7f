#include "store/results.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "base/contract.h"
#include "base/memory.h"

#define WITNESS_MOST (256u << 20) /* bytes of its text */

/* ---- Reading --------------------------------------------------------------------------------- */

enum { CHECK, VERDICT, COUNT, PAIRS, PROPERTY, KEY, REASON, STATS, WITNESS, MEMBER_COUNT };
_Static_assert(MEMBER_COUNT == FT_RECORD_MEMBERS, "a name for each");

void ft_record_members_init(ft_record_members *members)
{
    static const char *const NAMES[] = {"check", "verdict", "count", "pairs",  "property",
                                        "key",   "reason",  "stats", "witness"};
    static const char *const STAT_NAMES[] = {"sliced", "events", "solve_ms"};
    for (size_t i = 0; i < FT_RECORD_MEMBERS; i++)
        members->of[i] = (ft_scan_member){.name = NAMES[i]};
    for (size_t i = 0; i < 3; i++) members->stats[i] = (ft_scan_member){.name = STAT_NAMES[i]};
    members->reason[0] = (ft_scan_member){.name = "pass"};
    members->of[REASON].inner = members->reason;
    members->of[REASON].inner_count = 1;
    members->of[STATS].inner = members->stats;
    members->of[STATS].inner_count = 3;
}

static ft_status lacks(const char *what, ft_error *err)
{
    return ft_error_set(err, FT_INPUT, "a record's %s", what);
}

static int64_t stat_of(ft_span value)
{
    int64_t number = 0;
    if (!ft_scan_integer(value, &number)) return 0;
    return number >= 0 && number <= (int64_t)UINT32_MAX ? number : 0;
}

static ft_status read_numbers(const ft_scan_member *of, ft_record *record, ft_error *err)
{
    if (!ft_scan_integer(of[COUNT].value, &record->count) || record->count < 1)
        return lacks("count is missing or below 1", err);
    if (!ft_scan_integer(of[PAIRS].value, &record->pairs) || record->pairs < 0)
        return lacks("pairs are missing or below 0", err);
    if (!ft_scan_integer(of[PROPERTY].value, &record->property)) record->property = -1;
    return FT_OK;
}

ft_status ft_record_read(const ft_record_members *members, ft_record *record, ft_error *err)
{
    char word[32];
    const ft_scan_member *of = members->of;
    ft_record its = {.reason = FT_REASON_WORKER_DIED};
    if (!ft_scan_word(of[CHECK].value, word, sizeof word) || !ft_check_parse(word, &its.check))
        return lacks("check is missing or unknown", err);
    if (!ft_scan_word(of[VERDICT].value, word, sizeof word) ||
        !ft_verdict_parse(word, &its.verdict))
        return lacks("verdict is missing or unknown", err);
    ft_status status = read_numbers(of, &its, err);
    if (status != FT_OK) return status;
    if (!ft_scan_word(members->reason[0].value, word, sizeof word) ||
        !ft_reason_parse(word, &its.reason))
        its.reason = FT_REASON_WORKER_DIED;
    its.sliced = stat_of(members->stats[0].value);
    its.events = stat_of(members->stats[1].value);
    if (!ft_scan_number(members->stats[2].value, &its.solve_ms)) its.solve_ms = 0;
    its.key = of[KEY].value;
    its.witness = of[WITNESS].value.at != NULL;
    *record = its;
    return FT_OK;
}

ft_status ft_record_check_entry(const ft_record *record, ft_span check, ft_span key, ft_error *err)
{
    bool same =
        ft_scan_equals(check, ft_check_name(record->check)) && ft_scan_same(key, record->key);
    if (record->count != 1) return lacks("count is not 1, though it is a subproblem's", err);
    return same ? FT_OK : lacks("check and key are not its task's", err);
}

/* ---- Collecting ------------------------------------------------------------------------------ */

void ft_results_release(ft_results *results)
{
    free(results->items);
    ft_strbuf_release(&results->bytes);
    *results = (ft_results){.items = NULL};
}

static ft_status check_witness(const ft_record *record, ft_error *err)
{
    if (record->verdict != FT_VERDICT_VIOLATION)
        return ft_error_set(err, FT_INPUT, "a witness for a verdict other than a violation");
    return record->witness ? ft_error_set(err, FT_INPUT, "a record with two witnesses") : FT_OK;
}

ft_status ft_results_take(ft_results *results, int64_t task, const ft_record *record, ft_span text,
                          const void *witness, size_t witness_length, ft_error *err)
{
    ft_result result = {
        .task = task, .record = *record, .length = text.length, .witness_length = witness_length};
    ft_status status = witness_length > 0 ? check_witness(record, err) : FT_OK;
    if (status != FT_OK) return status;
    FT_REQUIRE(record->check < FT_CHECKS && record->verdict < FT_VERDICTS && text.length > 0);
    assert(!record->key.at || (record->key.at >= text.at &&
                               record->key.at + record->key.length <= text.at + text.length));
    if (record->key.at) result.key = (size_t)(record->key.at - text.at);
    results->items =
        ft_vec_grow(results->items, &results->room, results->count + 1, sizeof *results->items);
    result.at = results->bytes.len;
    ft_strbuf_add(&results->bytes, text.at, text.length);
    result.witness_at = results->bytes.len;
    if (witness_length > 0) ft_strbuf_add(&results->bytes, witness, witness_length);
    results->items[results->count++] = result;
    return FT_OK;
}

ft_status ft_results_add(ft_results *results, int64_t task, const char *text, size_t length,
                         const void *witness, size_t witness_length, ft_error *err)
{
    ft_record record;
    ft_record_members members;
    ft_record_members_init(&members);
    ft_status status = ft_scan_object(text, length, members.of, FT_RECORD_MEMBERS, err);
    if (status == FT_OK) status = ft_record_read(&members, &record, err);
    if (status != FT_OK) return status;
    return ft_results_take(results, task, &record, (ft_span){text, length}, witness, witness_length,
                           err);
}

ft_record ft_results_record(const ft_results *results, size_t index)
{
    const ft_result *result = &results->items[index];
    ft_record record = result->record;
    if (record.key.at) record.key.at = results->bytes.text + result->at + result->key;
    return record;
}

/* ---- Witnesses ------------------------------------------------------------------------------- */

static ft_status damaged(const char *why, ft_error *err)
{
    return ft_error_set(err, FT_INTERNAL, "a stored witness is damaged: %s", why);
}

ft_status ft_witness_read(const void *bytes, size_t length, ft_strbuf *text, ft_error *err)
{
    ft_error why = FT_ERROR_INIT;
    unsigned long long size = ZSTD_getFrameContentSize(bytes, length);
    if (size == ZSTD_CONTENTSIZE_UNKNOWN || size == ZSTD_CONTENTSIZE_ERROR || size > WITNESS_MOST)
        return damaged("its size is unknown or too large", err);
    char *plain = ft_alloc(size + 1);
    size_t got = ZSTD_decompress(plain, size, bytes, length);
    ft_status status = FT_OK;
    if (ZSTD_isError(got))
        status = damaged(ZSTD_getErrorName(got), err);
    else if (ft_scan_object(plain, got, NULL, 0, &why) != FT_OK)
        status = damaged(why.message, err);
    else
        ft_strbuf_add(text, plain, got);
    free(plain);
    return status;
}
