#include "trace/reader_ndjson.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_THREADS = 65535, SHOWN = 60 };

/* ---- what header and events share ------------------------------------------------------------ */

bool ft_ndjson_is(const ft_json_value *string, const char *text)
{
    return string->length == strlen(text) && memcmp(string->text, text, string->length) == 0;
}

int ft_ndjson_shown(const ft_json_value *value)
{
    size_t length = value->end - value->begin;
    return length > SHOWN ? SHOWN : (int)length;
}

ft_status ft_ndjson_members(ndjson *s, const ft_json_value *object, const char *const *names,
                            size_t count, ft_json_value *key, ft_json_value *value, ft_error *err)
{
    ft_json_value k, v;
    ft_json_cursor cursor = ft_json_enter(object);
    while (ft_json_next_member(&s->json, &cursor, &k, &v)) {
        size_t i = 0;
        while (i < count && !ft_ndjson_is(&k, names[i])) i++;
        if (i == count)
            return ft_json_fail(&s->json, k.begin, err, "unknown member %.*s", ft_ndjson_shown(&k),
                                s->json.text + k.begin);
        if (value[i].type != FT_JSON_NONE)
            return ft_json_fail(&s->json, k.begin, err, "duplicate member \"%s\"", names[i]);
        key[i] = k;
        value[i] = v;
    }
    return FT_OK;
}

/* C0, DEL and C1 (U+0080 to U+009F); valid UTF-8, so a lead byte has its second. */
static bool is_control(const unsigned char *byte)
{
    return byte[0] < 0x20 || byte[0] == 0x7f || (byte[0] == 0xc2 && byte[1] < 0xa0);
}

ft_status ft_ndjson_name(ndjson *s, const ft_json_value *value, const char *what, ft_error *err)
{
    if (value->type != FT_JSON_STRING || value->length == 0)
        return ft_json_fail(&s->json, value->begin, err, "expected a %s as a non-empty string",
                            what);
    for (size_t i = 0; i < value->length; i++) {
        if (is_control((const unsigned char *)value->text + i))
            return ft_json_fail(&s->json, value->begin, err,
                                "a %s may not contain control characters", what);
    }
    return FT_OK;
}

static ft_status literal_fails(ndjson *s, const ft_json_value *value, ft_sort sort, const char *why,
                               ft_error *err)
{
    ft_strbuf text = {0};
    ft_sort_print(sort, &text);
    ft_status status = ft_json_fail(&s->json, value->begin, err,
                                    "%.*s is not a value of sort %s%s%s", ft_ndjson_shown(value),
                                    s->json.text + value->begin, text.text, *why ? ": " : "", why);
    ft_strbuf_release(&text);
    return status;
}

ft_status ft_ndjson_value(ndjson *s, const ft_json_value *value, ft_sort sort, ft_value *out,
                          ft_error *err)
{
    bool boolean = value->type == FT_JSON_TRUE || value->type == FT_JSON_FALSE;
    if (boolean && sort.kind == FT_SORT_BOOL) {
        *out = (ft_value){.sort = sort, .bits = value->type == FT_JSON_TRUE};
        return FT_OK;
    }
    bool spelled = value->type == FT_JSON_STRING ||
                   (value->type == FT_JSON_INTEGER && sort.kind != FT_SORT_BOOL);
    if (!spelled) return literal_fails(s, value, sort, "", err);
    ft_error inner = FT_ERROR_INIT;
    if (ft_value_parse(value->text, value->length, sort, out, &inner) == FT_OK) return FT_OK;
    return literal_fails(s, value, sort, inner.message, err);
}

/* ---- the header ------------------------------------------------------------------------------ */

enum {
    FORMAT,
    VERSION,
    NAME,
    THREADS,
    VARIABLES,
    LOCALS,
    LOCKS,
    SEMAPHORES,
    CONDITIONS,
    BARRIERS,
    ONCES,
    BLOCKS,
    MODULES,
    SITES,
    CONTEXTS,
    SOURCES,
    ASSERTIONS,
    COMMAND,
    FAILURE,
    INPUTS,
    HEADER_MEMBERS
};
static const char *const HEADER[HEADER_MEMBERS] = {
    "format",     "version",    "name",       "threads", "variables", "locals",  "locks",
    "semaphores", "conditions", "barriers",   "onces",   "blocks",    "modules", "sites",
    "contexts",   "sources",    "assertions", "command", "failure",   "inputs"};

enum { SORT, INIT, TYPE, SPEC_MEMBERS };
static const char *const SPEC[SPEC_MEMBERS] = {"sort", "init", "type"};

static ft_status check_format(ndjson *s, const ft_json_value *object, const ft_json_value *value,
                              ft_error *err)
{
    const ft_json_value *format = &value[FORMAT], *version = &value[VERSION];
    if (format->type == FT_JSON_NONE)
        return ft_json_fail(&s->json, object->begin, err,
                            "the first line must be the header, with \"format\":\"foretell\"");
    if (format->type != FT_JSON_STRING || !ft_ndjson_is(format, "foretell"))
        return ft_json_fail(&s->json, format->begin, err,
                            "unknown format %.*s: expected \"foretell\"", ft_ndjson_shown(format),
                            s->json.text + format->begin);
    if (version->type == FT_JSON_NONE)
        return ft_json_fail(&s->json, object->begin, err, "the header needs \"version\":1");
    if (version->type != FT_JSON_INTEGER || !ft_ndjson_is(version, "1"))
        return ft_json_fail(&s->json, version->begin, err,
                            "unsupported version %.*s: this reader knows version 1",
                            ft_ndjson_shown(version), s->json.text + version->begin);
    if (value[NAME].type != FT_JSON_NONE) return ft_ndjson_name(s, &value[NAME], "name", err);
    return FT_OK;
}

static ft_status declared_twice(ndjson *s, const ft_json_value *name, ft_error *err)
{
    return ft_json_fail(&s->json, name->begin, err, "%.*s is declared twice", ft_ndjson_shown(name),
                        s->json.text + name->begin);
}

static ft_status read_threads(ndjson *s, const ft_json_value *list, ft_error *err)
{
    ft_json_value name;
    if (list->type == FT_JSON_NONE) return FT_OK;
    if (list->type != FT_JSON_ARRAY)
        return ft_json_fail(&s->json, list->begin, err, "\"threads\" must be a list of names");
    ft_json_cursor cursor = ft_json_enter(list);
    while (ft_json_next_element(&s->json, &cursor, &name)) {
        ft_status status = ft_ndjson_name(s, &name, "thread name", err);
        if (status != FT_OK) return status;
        if (s->threads.len == MAX_THREADS)
            return ft_error_at(err, FT_LIMIT, s->json.number, name.begin + 1,
                               "more than %d threads", MAX_THREADS);
        if (ft_builder_thread(s->builder, name.text, name.length) < s->threads.len)
            return declared_twice(s, &name, err);
        ft_vec_push(&s->threads, (thread){0});
    }
    if (!s->threads.len) return ft_json_fail(&s->json, list->begin, err, "\"threads\" is empty");
    return FT_OK;
}

static ft_status read_sort(ndjson *s, const ft_json_value *value, ft_sort *sort, ft_error *err)
{
    if (value->type != FT_JSON_STRING)
        return ft_json_fail(&s->json, value->begin, err,
                            "expected a sort: \"Bool\", \"Int\" or \"(_ BitVec n)\"");
    ft_error inner = FT_ERROR_INIT;
    if (ft_sort_parse(value->text, value->length, sort, &inner) == FT_OK) return FT_OK;
    return ft_json_fail(&s->json, value->begin, err, "%s", inner.message);
}

static ft_status read_type(ndjson *s, const ft_json_value *value, ft_type *type, ft_error *err)
{
    *type = FT_TYPE_NONE;
    if (value->type == FT_JSON_NONE) return FT_OK;
    if (value->type == FT_JSON_STRING && ft_type_parse(value->text, value->length, type))
        return FT_OK;
    return ft_json_fail(&s->json, value->begin, err,
                        "%.*s is not a type: docs/trace-format.md lists them",
                        ft_ndjson_shown(value), s->json.text + value->begin);
}

/* {"sort": "Int", "init": 0}, or short: "Int" (a sort), 0 (an Int), true (a Bool). */
static ft_status read_declaration(ndjson *s, const ft_json_value *spec, variable *info,
                                  ft_value *initial, ft_error *err)
{
    ft_json_value key[SPEC_MEMBERS] = {{0}}, value[SPEC_MEMBERS] = {{0}};
    *info = (variable){.sort = FT_INT_SORT, .has_initial = true};
    switch (spec->type) {
    case FT_JSON_INTEGER:
        return ft_ndjson_value(s, spec, info->sort, initial, err);
    case FT_JSON_TRUE:
    case FT_JSON_FALSE:
        info->sort = FT_BOOL_SORT;
        return ft_ndjson_value(s, spec, info->sort, initial, err);
    case FT_JSON_STRING:
        info->has_initial = false;
        return read_sort(s, spec, &info->sort, err);
    case FT_JSON_OBJECT:
        break;
    case FT_JSON_NONE:
    case FT_JSON_NULL:
    case FT_JSON_ARRAY:
        return ft_json_fail(&s->json, spec->begin, err,
                            "expected {\"sort\":...,\"init\":...}, a sort or an initial value");
    }
    ft_status status = ft_ndjson_members(s, spec, SPEC, SPEC_MEMBERS, key, value, err);
    if (status == FT_OK && value[SORT].type == FT_JSON_NONE)
        status = ft_json_fail(&s->json, spec->begin, err, "a declaration needs \"sort\"");
    if (status == FT_OK) status = read_sort(s, &value[SORT], &info->sort, err);
    if (status == FT_OK) status = read_type(s, &value[TYPE], &info->type, err);
    info->unknown = value[INIT].type == FT_JSON_NULL;
    info->has_initial = value[INIT].type != FT_JSON_NONE && !info->unknown;
    if (status == FT_OK && info->has_initial)
        status = ft_ndjson_value(s, &value[INIT], info->sort, initial, err);
    return status;
}

static bool is_declared(const ndjson *s, const ft_json_value *name)
{
    const ft_trace *tables = ft_builder_peek(s->builder);
    return ft_intern_find(&tables->shared, name->text, name->length) != FT_NO_ID ||
           ft_intern_find(&tables->locals, name->text, name->length) != FT_NO_ID;
}

static void declare(ndjson *s, bool shared, const ft_json_value *name, variable info,
                    ft_value initial)
{
    ft_builder *b = s->builder;
    uint32_t value = info.has_initial ? ft_builder_value(b, initial) : FT_NO_VALUE;
    if (shared) {
        uint32_t id = ft_builder_shared(b, name->text, name->length, info.sort);
        if (info.has_initial) ft_builder_shared_initial(b, id, value);
        ft_builder_shared_type(b, id, info.type);
        ft_vec_push(&s->shared, info);
    } else {
        uint32_t id = ft_builder_local(b, name->text, name->length, info.sort);
        if (info.has_initial) ft_builder_local_initial(b, id, value);
        ft_vec_push(&s->locals, info);
    }
}

typedef ft_status declare_row(ndjson *s, const ft_json_value *name, const ft_json_value *spec,
                              ft_error *err);

static ft_status read_variable(ndjson *s, bool shared, const ft_json_value *name,
                               const ft_json_value *spec, ft_error *err)
{
    variable info;
    ft_value initial = {0};
    if (is_declared(s, name)) return declared_twice(s, name, err);
    ft_status status = read_declaration(s, spec, &info, &initial, err);
    if (status == FT_OK) declare(s, shared, name, info, initial);
    return status;
}

static ft_status read_shared(ndjson *s, const ft_json_value *name, const ft_json_value *spec,
                             ft_error *err)
{
    return read_variable(s, true, name, spec, err);
}

static ft_status read_local(ndjson *s, const ft_json_value *name, const ft_json_value *spec,
                            ft_error *err)
{
    return read_variable(s, false, name, spec, err);
}

static bool is_name_of(const ft_intern *table, const ft_json_value *name)
{
    return ft_intern_find(table, name->text, name->length) != FT_NO_ID;
}

static ft_status read_lock(ndjson *s, const ft_json_value *name, const ft_json_value *spec,
                           ft_error *err)
{
    if (is_name_of(&ft_builder_peek(s->builder)->locks, name)) return declared_twice(s, name, err);
    for (int kind = 0; kind < FT_LOCK_KINDS; kind++) {
        if (spec->type != FT_JSON_STRING ||
            !ft_ndjson_is(spec, ft_lock_kind_name((ft_lock_kind)kind)))
            continue;
        ft_builder_lock(s->builder, name->text, name->length, (ft_lock_kind)kind);
        return FT_OK;
    }
    return ft_json_fail(&s->json, spec->begin, err,
                        "a lock's kind is \"mutex\", \"recursive\", \"error-checking\", "
                        "\"read-write\" or \"writer-preferring\"");
}

ft_status ft_ndjson_count(ndjson *s, const ft_json_value *spec, uint32_t least, const char *what,
                          uint32_t *count, ft_error *err)
{
    ft_value value;
    if (spec->type != FT_JSON_INTEGER ||
        ft_value_parse(spec->text, spec->length, FT_INT_SORT, &value, NULL) != FT_OK ||
        (int64_t)value.bits < (int64_t)least || value.bits > UINT32_MAX)
        return ft_json_fail(&s->json, spec->begin, err,
                            "%s is an integer from %" PRIu32 " to %" PRIu32, what, least,
                            UINT32_MAX);
    *count = (uint32_t)value.bits;
    return FT_OK;
}

static ft_status read_semaphore(ndjson *s, const ft_json_value *name, const ft_json_value *spec,
                                ft_error *err)
{
    uint32_t count = 0;
    if (is_name_of(&ft_builder_peek(s->builder)->semaphores, name))
        return declared_twice(s, name, err);
    ft_status status = ft_ndjson_count(s, spec, 0, "a semaphore's initial count", &count, err);
    if (status == FT_OK) ft_builder_semaphore(s->builder, name->text, name->length, count);
    return status;
}

static ft_status read_barrier(ndjson *s, const ft_json_value *name, const ft_json_value *spec,
                              ft_error *err)
{
    uint32_t count = 0;
    if (is_name_of(&ft_builder_peek(s->builder)->barriers, name))
        return declared_twice(s, name, err);
    ft_status status = ft_ndjson_count(s, spec, 1, "a barrier's count", &count, err);
    if (status == FT_OK) ft_builder_barrier(s->builder, name->text, name->length, count);
    return status;
}

static ft_status read_block(ndjson *s, const ft_json_value *name, const ft_json_value *spec,
                            ft_error *err)
{
    const ft_trace *tables = ft_builder_peek(s->builder);
    FT_VEC(uint32_t) cells = {0};
    ft_json_value cell;
    ft_status status = FT_OK;
    uint32_t known = ft_intern_find(&tables->blocks, name->text, name->length);
    if (known != FT_NO_ID && !s->header) return declared_twice(s, name, err);
    if (spec->type != FT_JSON_ARRAY)
        return ft_json_fail(&s->json, spec->begin, err,
                            "a block is the list of the variables in it");
    ft_json_cursor cursor = ft_json_enter(spec);
    while (status == FT_OK && ft_json_next_element(&s->json, &cursor, &cell)) {
        status = ft_ndjson_name(s, &cell, "variable", err);
        if (status != FT_OK) break;
        uint32_t id = ft_intern_find(&tables->shared, cell.text, cell.length);
        if (id == FT_NO_ID)
            status = ft_json_fail(&s->json, cell.begin, err,
                                  "undeclared variable %.*s: add it to \"variables\"",
                                  ft_ndjson_shown(&cell), s->json.text + cell.begin);
        ft_vec_push(&cells, id);
    }
    uint32_t count = (uint32_t)cells.len;
    if (status == FT_OK && known != FT_NO_ID)
        ft_builder_block_cells(s->builder, known, cells.data, count);
    else if (status == FT_OK)
        ft_builder_block(s->builder, name->text, name->length, cells.data, count);
    ft_vec_release(&cells);
    return status;
}

static ft_status read_table(ndjson *s, const char *member, const ft_json_value *table,
                            declare_row *declare_one, ft_error *err)
{
    ft_json_value name, spec;
    if (table->type == FT_JSON_NONE) return FT_OK;
    if (table->type != FT_JSON_OBJECT)
        return ft_json_fail(&s->json, table->begin, err,
                            "\"%s\" must be an object from names to declarations", member);
    ft_json_cursor cursor = ft_json_enter(table);
    while (ft_json_next_member(&s->json, &cursor, &name, &spec)) {
        ft_status status = ft_ndjson_name(s, &name, "name", err);
        if (status == FT_OK) status = declare_one(s, &name, &spec, err);
        if (status != FT_OK) return status;
    }
    return FT_OK;
}

typedef uint32_t declare_name(ft_builder *builder, const char *name, size_t length);

static ft_status read_names(ndjson *s, const char *member, const ft_json_value *list,
                            const ft_intern *table, declare_name *declare_one, ft_error *err)
{
    ft_json_value name;
    if (list->type == FT_JSON_NONE) return FT_OK;
    if (list->type != FT_JSON_ARRAY)
        return ft_json_fail(&s->json, list->begin, err, "\"%s\" must be a list of names", member);
    ft_json_cursor cursor = ft_json_enter(list);
    while (ft_json_next_element(&s->json, &cursor, &name)) {
        ft_status status = ft_ndjson_name(s, &name, "name", err);
        if (status != FT_OK) return status;
        if (is_name_of(table, &name)) return declared_twice(s, &name, err);
        declare_one(s->builder, name.text, name.length);
    }
    return FT_OK;
}

static ft_status read_tables(ndjson *s, const ft_json_value value[HEADER_MEMBERS], ft_error *err)
{
    static const struct {
        int member;
        declare_row *declare_one;
    } TABLES[] = {{VARIABLES, read_shared},     {LOCALS, read_local},     {LOCKS, read_lock},
                  {SEMAPHORES, read_semaphore}, {BARRIERS, read_barrier}, {BLOCKS, read_block}};
    static const struct {
        int member;
        ft_ndjson_row *read_one;
    } LISTS[] = {{MODULES, ft_ndjson_module},
                 {SITES, ft_ndjson_site},
                 {CONTEXTS, ft_ndjson_context},
                 {SOURCES, ft_ndjson_source},
                 {ASSERTIONS, ft_ndjson_assertion}};
    const ft_trace *tables = ft_builder_peek(s->builder);
    ft_status status = read_threads(s, &value[THREADS], err);
    for (size_t i = 0; status == FT_OK && i < sizeof TABLES / sizeof *TABLES; i++)
        status = read_table(s, HEADER[TABLES[i].member], &value[TABLES[i].member],
                            TABLES[i].declare_one, err);
    if (status == FT_OK)
        status = read_names(s, HEADER[CONDITIONS], &value[CONDITIONS], &tables->conditions,
                            ft_builder_condition, err);
    if (status == FT_OK)
        status = read_names(s, HEADER[ONCES], &value[ONCES], &tables->onces, ft_builder_once, err);
    for (size_t i = 0; status == FT_OK && i < sizeof LISTS / sizeof *LISTS; i++)
        status = ft_ndjson_list(s, HEADER[LISTS[i].member], &value[LISTS[i].member],
                                LISTS[i].read_one, err);
    if (status == FT_OK) status = ft_ndjson_command(s, &value[COMMAND], err);
    if (status == FT_OK) status = ft_ndjson_failure(s, &value[FAILURE], err);
    return status == FT_OK ? ft_ndjson_inputs(s, &value[INPUTS], err) : status;
}

ft_status ft_ndjson_header(ndjson *s, const ft_json_value *object, ft_error *err)
{
    ft_json_value key[HEADER_MEMBERS] = {{0}}, value[HEADER_MEMBERS] = {{0}};
    ft_status status = ft_ndjson_members(s, object, HEADER, HEADER_MEMBERS, key, value, err);
    if (status == FT_OK) status = check_format(s, object, value, err);
    if (status == FT_OK && value[THREADS].type == FT_JSON_NONE)
        status = ft_json_fail(&s->json, object->begin, err,
                              "the header needs \"threads\": the list of their names");
    if (status == FT_OK) status = read_tables(s, value, err);
    s->header = status == FT_OK;
    return status;
}

bool ft_ndjson_is_declaration(const ndjson *s, const ft_json_value *object)
{
    const char *text = s->json.text;
    size_t at = object->begin + 1;
    while (ft_json_blank(text + at, 1)) at++;
    if (text[at++] != '"') return false;
    for (int i = THREADS; i < HEADER_MEMBERS; i++) {
        size_t length = strlen(HEADER[i]);
        if (object->end - at > length && memcmp(text + at, HEADER[i], length) == 0 &&
            text[at + length] == '"')
            return true;
    }
    return false;
}

ft_status ft_ndjson_declarations(ndjson *s, const ft_json_value *object, ft_error *err)
{
    ft_json_value key[HEADER_MEMBERS] = {{0}}, value[HEADER_MEMBERS] = {{0}};
    ft_status status = ft_ndjson_members(s, object, HEADER, HEADER_MEMBERS, key, value, err);
    for (int i = 0; status == FT_OK && i < THREADS; i++)
        if (value[i].type != FT_JSON_NONE)
            status = ft_json_fail(&s->json, key[i].begin, err,
                                  "\"%s\" belongs to the first line, the header", HEADER[i]);
    return status == FT_OK ? read_tables(s, value, err) : status;
}
