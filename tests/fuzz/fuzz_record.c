/* What a worker says of a verdict is scanned, never parsed, and stored as it came: what the scanner
 * takes, a parser must take and read the same. The first byte says what the rest is: a record, or
 * the packed witness of one. */
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "store/results.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { WITNESS = 1, LARGEST = 1 << 16 };

static void expect(bool good)
{
    if (!good) abort();
}

static void same_text(ft_span found, const json_t *value)
{
    if (!found.at) return;
    json_t *read = json_loadb(found.at, found.length, JSON_DECODE_ANY, NULL);
    expect(read != NULL && json_equal(read, value));
    json_decref(read);
}

static void same_number(ft_span found, const json_t *value)
{
    int64_t integer = 0;
    double real = 0;
    if (ft_scan_integer(found, &integer))
        expect(json_is_integer(value) && json_integer_value(value) == integer);
    if (ft_scan_number(found, &real))
        expect(json_is_number(value) && json_number_value(value) == real);
}

static void walk_list(ft_span found, const json_t *value)
{
    ft_span element;
    size_t count = 0;
    if (!ft_scan_list(found)) return;
    while (ft_scan_next(&found, &element)) same_text(element, json_array_get(value, count++));
    expect(json_is_array(value) && json_array_size(value) == count);
}

static void check_members(const ft_scan_member *members, size_t count, const json_t *object)
{
    for (size_t i = 0; i < count; i++) {
        const ft_scan_member *m = &members[i];
        const json_t *value = json_object_get(object, m->name);
        expect((m->value.at != NULL) == (value != NULL));
        if (!value) continue;
        same_text(m->value, value);
        same_number(m->value, value);
        walk_list(m->value, value);
        if (json_is_object(value)) check_members(m->inner, m->inner_count, value);
    }
}

static void scan(const char *text, size_t length)
{
    ft_record_members members;
    ft_record_members_init(&members);
    if (ft_scan_object(text, length, members.of, FT_RECORD_MEMBERS, NULL) != FT_OK) return;
    json_t *parsed = json_loadb(text, length, 0, NULL);
    expect(json_is_object(parsed));
    check_members(members.of, FT_RECORD_MEMBERS, parsed);
    json_decref(parsed);
}

static void add(const char *text, size_t length)
{
    ft_results results = {.items = NULL};
    ft_error err = FT_ERROR_INIT;
    if (ft_results_add(&results, 1, text, length, NULL, 0, &err) == FT_OK) {
        ft_record record = ft_results_record(&results, 0);
        json_t *parsed = json_loadb(text, length, 0, NULL);
        expect(json_is_object(parsed));
        expect(strcmp(ft_check_name(record.check),
                      json_string_value(json_object_get(parsed, "check"))) == 0);
        expect(strcmp(ft_verdict_name(record.verdict),
                      json_string_value(json_object_get(parsed, "verdict"))) == 0);
        expect(record.count == json_integer_value(json_object_get(parsed, "count")));
        json_decref(parsed);
    } else {
        expect(err.code == FT_INPUT && *err.message);
    }
    ft_results_release(&results);
}

/* Names may be there twice, in a witness as in any text that nobody looks into. */
static void unpack(const uint8_t *data, size_t size)
{
    ft_strbuf text = {0};
    ft_error err = FT_ERROR_INIT;
    if (ft_witness_read(data, size, &text, &err) == FT_OK) {
        json_t *parsed = json_loadb(text.text, text.len, 0, NULL);
        expect(json_is_object(parsed));
        json_decref(parsed);
    } else {
        expect(err.code == FT_INTERNAL && *err.message && text.len == 0);
    }
    ft_strbuf_release(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2 || size > LARGEST) return 0;
    if (data[0] == WITNESS) {
        unpack(data + 1, size - 1);
        return 0;
    }
    scan((const char *)data + 1, size - 1);
    add((const char *)data + 1, size - 1);
    return 0;
}
