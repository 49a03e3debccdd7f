#include "trace/builder_internal.h"
#include "trace/reader_ndjson.h"

#include <inttypes.h>
#include <string.h>

enum { AT_LEAST_0 = 0, HASH = 64 };

ft_status ft_ndjson_list(ndjson *s, const char *member, const ft_json_value *list,
                         ft_ndjson_row *read_one, ft_error *err)
{
    ft_json_value row;
    if (list->type == FT_JSON_NONE) return FT_OK;
    if (list->type != FT_JSON_ARRAY)
        return ft_json_fail(&s->json, list->begin, err, "\"%s\" must be a list of objects", member);
    ft_json_cursor cursor = ft_json_enter(list);
    while (ft_json_next_element(&s->json, &cursor, &row)) {
        if (row.type != FT_JSON_OBJECT)
            return ft_json_fail(&s->json, row.begin, err, "\"%s\" must be a list of objects",
                                member);
        ft_status status = read_one(s, &row, err);
        if (status != FT_OK) return status;
    }
    return FT_OK;
}

ft_status ft_ndjson_location(ndjson *s, const ft_json_value *loc, const ft_json_value *function_key,
                             const ft_json_value *function, uint32_t *id, ft_error *err)
{
    *id = FT_NO_LOC;
    if (loc->type == FT_JSON_NONE) {
        if (function->type == FT_JSON_NONE) return FT_OK;
        return ft_json_fail(&s->json, function_key->begin, err,
                            "\"function\" needs \"loc\" beside it");
    }
    ft_status status = ft_ndjson_name(s, loc, "location", err);
    if (status == FT_OK && function->type != FT_JSON_NONE)
        status = ft_ndjson_name(s, function, "function", err);
    if (status != FT_OK) return status;
    *id = ft_builder_location(s->builder, loc->text, loc->length, function->text, function->length);
    return FT_OK;
}

/* A number of something that is declared before. */
static ft_status read_number(ndjson *s, const ft_json_value *value, const char *what, uint32_t end,
                             uint32_t *number, ft_error *err)
{
    ft_status status = ft_ndjson_count(s, value, AT_LEAST_0, what, number, err);
    if (status != FT_OK || *number < end) return status;
    return ft_json_fail(&s->json, value->begin, err, "%s %" PRIu32 " is not declared before", what,
                        *number);
}

static ft_status needs(ndjson *s, const ft_json_value *object, const ft_json_value *value,
                       const char *what, const char *member, ft_error *err)
{
    if (value->type != FT_JSON_NONE) return FT_OK;
    return ft_json_fail(&s->json, object->begin, err, "a %s needs the member \"%s\"", what, member);
}

/* ---- modules and sites ---- */

static bool is_hash(const ft_json_value *value)
{
    if (value->type != FT_JSON_STRING || value->length != HASH) return false;
    for (size_t i = 0; i < HASH; i++) {
        char c = value->text[i];
        if (!(c >= '0' && c <= '9') && !(c >= 'a' && c <= 'f')) return false;
    }
    return true;
}

ft_status ft_ndjson_module(ndjson *s, const ft_json_value *object, ft_error *err)
{
    enum { NAME, SHA256, MEMBERS };
    static const char *const NAMES[MEMBERS] = {"name", "sha256"};
    ft_json_value key[MEMBERS] = {{0}}, value[MEMBERS] = {{0}};
    ft_status status = ft_ndjson_members(s, object, NAMES, MEMBERS, key, value, err);
    if (status == FT_OK) status = needs(s, object, &value[NAME], "module", NAMES[NAME], err);
    if (status == FT_OK) status = ft_ndjson_name(s, &value[NAME], "name", err);
    if (status != FT_OK) return status;
    const ft_json_value *hash = &value[SHA256];
    if (hash->type != FT_JSON_NONE && !is_hash(hash))
        return ft_json_fail(&s->json, hash->begin, err,
                            "a SHA-256 is a string of %d digits, 0 to 9 and a to f", HASH);
    ft_builder_module(s->builder, value[NAME].text, value[NAME].length,
                      hash->text ? hash->text : "", hash->length);
    return FT_OK;
}

static ft_status read_offset(ndjson *s, const ft_json_value *value, uint64_t *offset, ft_error *err)
{
    ft_value number;
    if (value->type != FT_JSON_INTEGER ||
        ft_value_parse(value->text, value->length, FT_INT_SORT, &number, NULL) != FT_OK ||
        (int64_t)number.bits < 0)
        return ft_json_fail(&s->json, value->begin, err,
                            "an offset is an integer from 0 to 2^63-1");
    *offset = number.bits;
    return FT_OK;
}

ft_status ft_ndjson_site(ndjson *s, const ft_json_value *object, ft_error *err)
{
    enum { MODULE, OFFSET, LOC, FUNCTION, MEMBERS };
    static const char *const NAMES[MEMBERS] = {"module", "offset", "loc", "function"};
    ft_json_value key[MEMBERS] = {{0}}, value[MEMBERS] = {{0}};
    ft_code_site site = {0};
    ft_status status = ft_ndjson_members(s, object, NAMES, MEMBERS, key, value, err);
    for (int i = 0; status == FT_OK && i < LOC; i++)
        status = needs(s, object, &value[i], "site", NAMES[i], err);
    if (status == FT_OK)
        status = read_number(s, &value[MODULE], "module", ft_builder_peek(s->builder)->n_modules,
                             &site.module, err);
    if (status == FT_OK) status = read_offset(s, &value[OFFSET], &site.offset, err);
    if (status == FT_OK)
        status =
            ft_ndjson_location(s, &value[LOC], &key[FUNCTION], &value[FUNCTION], &site.loc, err);
    if (status == FT_OK) ft_builder_site(s->builder, site);
    return status;
}

/* ---- sources ---- */

ft_status ft_ndjson_source(ndjson *s, const ft_json_value *object, ft_error *err)
{
    enum { LOC, FUNCTION, PATH, LINE, MEMBERS };
    static const char *const NAMES[MEMBERS] = {"loc", "function", "path", "line"};
    ft_json_value key[MEMBERS] = {{0}}, value[MEMBERS] = {{0}};
    uint32_t loc = FT_NO_LOC;
    ft_status status = ft_ndjson_members(s, object, NAMES, MEMBERS, key, value, err);
    if (status == FT_OK) status = needs(s, object, &value[LOC], "source", NAMES[LOC], err);
    if (status == FT_OK) status = needs(s, object, &value[PATH], "source", NAMES[PATH], err);
    if (status == FT_OK) status = ft_ndjson_name(s, &value[PATH], "path", err);
    if (status == FT_OK && value[LINE].type != FT_JSON_NONE)
        status = ft_ndjson_name(s, &value[LINE], "line", err);
    if (status == FT_OK)
        status = ft_ndjson_location(s, &value[LOC], &key[FUNCTION], &value[FUNCTION], &loc, err);
    if (status == FT_OK && ft_builder_peek(s->builder)->locations[loc].path)
        status = ft_json_fail(&s->json, object->begin, err, "the location has a source already");
    if (status == FT_OK)
        ft_builder_source(s->builder, loc, value[PATH].text, value[PATH].length, value[LINE].text,
                          value[LINE].length);
    return status;
}

ft_status ft_ndjson_assertion(ndjson *s, const ft_json_value *object, ft_error *err)
{
    enum { LOC, FUNCTION, EXPRESSION, MEMBERS };
    static const char *const NAMES[MEMBERS] = {"loc", "function", "expression"};
    ft_json_value key[MEMBERS] = {{0}}, value[MEMBERS] = {{0}};
    uint32_t loc = FT_NO_LOC;
    ft_status status = ft_ndjson_members(s, object, NAMES, MEMBERS, key, value, err);
    if (status == FT_OK) status = needs(s, object, &value[LOC], "assertion", NAMES[LOC], err);
    if (status == FT_OK)
        status = needs(s, object, &value[EXPRESSION], "assertion", NAMES[EXPRESSION], err);
    if (status == FT_OK) status = ft_ndjson_name(s, &value[EXPRESSION], NAMES[EXPRESSION], err);
    if (status == FT_OK)
        status = ft_ndjson_location(s, &value[LOC], &key[FUNCTION], &value[FUNCTION], &loc, err);
    if (status == FT_OK && ft_builder_peek(s->builder)->locations[loc].asserts)
        status =
            ft_json_fail(&s->json, object->begin, err, "the location has an assertion already");
    if (status == FT_OK)
        ft_builder_assertion(s->builder, loc, value[EXPRESSION].text, value[EXPRESSION].length);
    return status;
}

/* ---- contexts and steps ---- */

static uint32_t count_contexts(const ndjson *s)
{
    uint32_t count = ft_builder_peek(s->builder)->n_contexts;
    return count ? count : 1;
}

ft_status ft_ndjson_context(ndjson *s, const ft_json_value *object, ft_error *err)
{
    enum { PARENT, LOC, FUNCTION, MEMBERS };
    static const char *const NAMES[MEMBERS] = {"parent", "loc", "function"};
    ft_json_value key[MEMBERS] = {{0}}, value[MEMBERS] = {{0}};
    uint32_t parent = FT_NO_CONTEXT, loc, count = count_contexts(s);
    ft_status status = ft_ndjson_members(s, object, NAMES, MEMBERS, key, value, err);
    if (status == FT_OK && value[PARENT].type != FT_JSON_NONE)
        status = read_number(s, &value[PARENT], "context", count, &parent, err);
    if (status == FT_OK)
        status = ft_ndjson_location(s, &value[LOC], &key[FUNCTION], &value[FUNCTION], &loc, err);
    if (status != FT_OK) return status;
    if (parent && ft_builder_peek(s->builder)->contexts[parent].depth == FT_CONTEXT_MAX_DEPTH)
        return ft_error_at(err, FT_LIMIT, s->json.number, object->begin + 1,
                           "calls are nested more than %u deep", FT_CONTEXT_MAX_DEPTH);
    if (ft_builder_context(s->builder, parent, loc) != count)
        return ft_json_fail(&s->json, object->begin, err, "the context is declared twice");
    return FT_OK;
}

/* The bytes of four digits, 0: they are none. *n: how many. */
static bool decode(const char *text, unsigned char bytes[3], size_t *n)
{
    static const char digits[] = FT_NDJSON_BASE64;
    uint32_t three = 0;
    size_t pads = text[3] == '=' ? 1 + (text[2] == '=') : 0;
    for (size_t i = 0; i < 4; i++) {
        const char *digit = i < 4 - pads ? memchr(digits, text[i], sizeof digits - 1) : digits;
        if (!digit) return false;
        three = three << 6 | (uint32_t)(digit - digits);
    }
    for (size_t i = 0; i < 3; i++) bytes[i] = (unsigned char)(three >> (16 - 8 * i));
    *n = 3 - pads;
    return true;
}

ft_status ft_ndjson_inputs(ndjson *s, const ft_json_value *text, ft_error *err)
{
    unsigned char bytes[3];
    size_t n = 0;
    if (text->type == FT_JSON_NONE) return FT_OK;
    bool good = text->type == FT_JSON_STRING && text->length % 4 == 0;
    for (size_t i = 0; good && i < text->length; i += 4) {
        good = decode(text->text + i, bytes, &n) && (n == 3 || i + 4 == text->length);
        if (good && s->builder->keep_inputs) ft_builder_inputs(s->builder, bytes, n);
    }
    if (good) return FT_OK;
    return ft_json_fail(&s->json, text->begin, err, "\"inputs\" are bytes in base64");
}

ft_status ft_ndjson_command(ndjson *s, const ft_json_value *list, ft_error *err)
{
    ft_json_value word;
    if (list->type == FT_JSON_NONE) return FT_OK;
    if (list->type != FT_JSON_ARRAY)
        return ft_json_fail(&s->json, list->begin, err, "\"command\" must be a list of words");
    ft_json_cursor cursor = ft_json_enter(list);
    while (ft_json_next_element(&s->json, &cursor, &word)) {
        bool empty = word.type == FT_JSON_STRING && !word.length;
        ft_status status = empty ? FT_OK : ft_ndjson_name(s, &word, "word of a command", err);
        if (status != FT_OK) return status;
        ft_builder_command(s->builder, empty ? "" : word.text, word.length);
    }
    return FT_OK;
}

ft_status ft_ndjson_failure(ndjson *s, const ft_json_value *object, ft_error *err)
{
    enum { KIND, TEXT, EVENT, MEMBERS };
    static const char *const NAMES[MEMBERS] = {"kind", "text", "event"};
    ft_json_value key[MEMBERS] = {{0}}, value[MEMBERS] = {{0}};
    uint32_t event = 0;
    if (object->type == FT_JSON_NONE) return FT_OK;
    ft_status status = ft_ndjson_members(s, object, NAMES, MEMBERS, key, value, err);
    for (int i = KIND; status == FT_OK && i <= TEXT; i++) {
        status = needs(s, object, &value[i], "failure", NAMES[i], err);
        if (status == FT_OK) status = ft_ndjson_name(s, &value[i], NAMES[i], err);
    }
    if (status == FT_OK && value[EVENT].type != FT_JSON_NONE)
        status = ft_ndjson_count(s, &value[EVENT], 1, NAMES[EVENT], &event, err);
    if (status != FT_OK) return status;
    ft_strbuf code = {0};
    ft_strbuf_printf(&code, FT_NOTE_FAILURE "%.*s", (int)value[KIND].length, value[KIND].text);
    ft_builder_note(s->builder, ft_strbuf_text(&code), event ? event - 1 : FT_NO_EVENT, "%.*s",
                    (int)value[TEXT].length, value[TEXT].text);
    ft_strbuf_release(&code);
    return FT_OK;
}

ft_status ft_ndjson_step(ndjson *s, const ft_json_value *at, const ft_json_value *context,
                         ft_error *err)
{
    uint32_t step = 0, where = FT_NO_CONTEXT;
    ft_status status = FT_OK;
    if (at->type != FT_JSON_NONE)
        status = ft_ndjson_count(s, at, AT_LEAST_0, "the number of a step", &step, err);
    if (status == FT_OK && context->type != FT_JSON_NONE)
        status = read_number(s, context, "context", count_contexts(s), &where, err);
    if (status != FT_OK) return status;
    ft_builder_hook(s->builder, step);
    ft_builder_in_context(s->builder, where);
    return FT_OK;
}
