#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "base/digest.h"
#include "base/memory.h"
#include "base/strbuf.h"
#include "store/internal.h"

ft_status ft_store_random_hex(char *text, size_t digits, ft_error *err)
{
    static const char DIGITS[] = "0123456789abcdef";
    unsigned char bytes[64];
    size_t count = digits / 2;
    assert(count <= sizeof bytes);
    if (getrandom(bytes, count, 0) != (ssize_t)count)
        return ft_error_set(err, FT_IO, "the system returned no random bytes");
    for (size_t i = 0; i < count; i++) {
        text[2 * i] = DIGITS[bytes[i] >> 4];
        text[2 * i + 1] = DIGITS[bytes[i] & 15];
    }
    text[digits] = '\0';
    return FT_OK;
}

json_t *ft_store_time(int64_t milliseconds)
{
    time_t seconds = (time_t)(milliseconds / 1000);
    struct tm parts;
    char text[32];
    gmtime_r(&seconds, &parts);
    strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &parts);
    return json_sprintf("%s.%03dZ", text, (int)(milliseconds % 1000));
}

ft_status ft_store_parse(ft_statement *statement, int column, json_t **json, ft_error *err)
{
    json_error_t where;
    const char *text = ft_sql_text(statement, column);
    if (!*text && statement->sql->lost)
        return ft_error_set(err, FT_IO, "the store failed: out of memory");
    json_t *parsed = json_loads(text, JSON_DECODE_ANY, &where);
    if (!parsed)
        return ft_error_set(err, FT_INTERNAL, "the store holds malformed JSON: %s", where.text);
    *json = parsed;
    return FT_OK;
}

char *ft_store_dump(const json_t *json)
{
    char *text = json_dumps(json, JSON_COMPACT | JSON_ENCODE_ANY);
    return text ? text : ft_strdup("null");
}

ft_status ft_store_cursor(const char *text, int64_t first, int64_t *cursor, ft_error *err)
{
    *cursor = first;
    if (!text) return FT_OK;
    char *end;
    long long value = strtoll(text, &end, 10);
    /* Digits alone, and no zeros before them: what has a number has one name. */
    bool plain = *text >= '0' && *text <= '9' && (*text != '0' || text[1] == '\0');
    if (!plain || *end != '\0')
        return ft_error_set(err, FT_USAGE, "the cursor was not issued by this server");
    *cursor = value;
    return FT_OK;
}

ft_status ft_store_results_add(ft_results *results, int64_t task, const json_t *record,
                               ft_error *err)
{
    char *text = ft_store_dump(record);
    ft_status status = ft_results_add(results, task, text, strlen(text), NULL, 0, err);
    free(text);
    return status;
}

/* Keys of properties are "property|kind|index|name". */
static void add_property(json_t *record, const char *key)
{
    const char *check = json_string_value(json_object_get(record, "check"));
    if (!check || strcmp(check, ft_check_name(FT_CHECK_PROPERTY)) != 0) return;
    const char *kind = strchr(key, '|'), *index = kind ? strchr(kind + 1, '|') : NULL;
    if (!index) return;
    char *end;
    long number = strtol(index + 1, &end, 10);
    if (end == index + 1 || number < 0) return;
    if (!json_object_get(record, "property"))
        json_object_set_new(record, "property", json_integer(number));
    if (*end == '|' && !json_object_get(record, "name"))
        json_object_set_new(record, "name", json_string(end + 1));
}

/* Keys are "check|kind|...". */
static json_t *kind_of(const json_t *entry, const char *key)
{
    json_t *kind = json_object_get(entry, "kind");
    if (json_is_string(kind)) return json_incref(kind);
    const char *from = strchr(key, '|');
    if (!from) return json_string("unknown");
    size_t length = strcspn(from + 1, "|");
    return json_stringn(from + 1, length);
}

static json_t *fingerprint_of(const char *key)
{
    char hex[FT_DIGEST_HEX + 1];
    ft_digest digest;
    ft_digest_init(&digest);
    ft_digest_update(&digest, key, strlen(key));
    ft_digest_hex(&digest, hex);
    return json_stringn(hex, 16);
}

/* Copies the members of the plan's entry that a record repeats. */
static void copy_members(json_t *record, const json_t *entry)
{
    static const char *const NAMES[] = {"check", "key", "pairs", "property", "name", "object"};
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++) {
        json_t *value = json_object_get(entry, NAMES[i]);
        if (value) json_object_set_new(record, NAMES[i], json_deep_copy(value));
    }
}

json_t *ft_store_record_given_up(const json_t *entry, const char *model, ft_verdict verdict,
                                 ft_reason reason, const char *text)
{
    const char *key = json_string_value(json_object_get(entry, "key"));
    json_t *record = json_object();
    copy_members(record, entry);
    add_property(record, key ? key : "");
    json_object_set_new(record, "kind", kind_of(entry, key ? key : ""));
    json_object_set_new(record, "verdict", json_string(ft_verdict_name(verdict)));
    json_object_set_new(record, "count", json_integer(1));
    json_object_set_new(record, "model", json_string(model));
    json_object_set_new(record, "memory", json_string("sc"));
    json_object_set_new(record, "bound", json_null());
    json_object_set_new(record, "scope", json_string("trace"));
    json_object_set_new(record, "fingerprint", fingerprint_of(key ? key : ""));
    json_object_set_new(record, "message",
                        json_sprintf("%s is undecided: %s", key ? key : "", text));
    json_object_set_new(record, "accesses", json_array());
    json_object_set_new(record, "reason",
                        json_pack("{s:s, s:s}", "pass", ft_reason_name(reason), "text", text));
    return record;
}

ft_status ft_store_plan_read(ft_sql *sql, const char *job, json_t **plan, ft_error *err)
{
    ft_statement *statement;
    bool row;
    ft_status status = ft_sql_start(
        sql, &statement, err, "SELECT coalesce(plan, '{}') FROM jobs WHERE id = ?1", "t", job);
    if (status == FT_OK) status = ft_sql_next(sql, statement, &row, err);
    if (status == FT_OK) status = ft_store_parse(statement, 0, plan, err);
    return status == FT_OK ? ft_sql_next(sql, statement, &row, err) : status;
}

ft_status ft_store_plan_write(ft_sql *sql, const char *job, const json_t *plan, ft_error *err)
{
    char *text = ft_store_dump(plan);
    ft_status status = ft_sql_run(sql, NULL, err, "UPDATE jobs SET plan = ?2 WHERE id = ?1", "tt",
                                  job, (const char *)text);
    free(text);
    return status;
}
