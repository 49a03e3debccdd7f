#include "cover/request.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/contract.h"
#include "cover/certify.h"
#include "cover/prefer.h"
#include "cover/search.h"

enum { DEFAULT_SECONDS = 60 };
/* A search that takes longer is ended, so that its schedules get their certificates. */
#define SHARE_OF_SEARCH (2.0 / 3)

typedef struct asked {
    const ft_program *program;
    cover_world_options world;
    uint64_t entries;
    const char *set, *prefer;
    double until, end;    /* of ft_now_ms: of the search or the certificates at hand; of all */
    const char **dynamic; /* names up to a NULL; NULL: none */
    json_t *answer, *smt; /* smt: NULL: no files are wanted */
    ft_error *err;
} asked;

static bool should_stop(void *context)
{
    const asked *a = context;
    return ft_now_ms() > a->until;
}

/* ---- the question ---- */

static ft_status read_number(const json_t *question, const char *member, uint64_t *number,
                             ft_error *err)
{
    const json_t *value = json_object_get(question, member);
    if (!value || json_is_null(value)) return FT_OK;
    if (!json_is_integer(value) || json_integer_value(value) < 0)
        return ft_error_set(err, FT_USAGE, "\"%s\" is not a number", member);
    *number = (uint64_t)json_integer_value(value);
    return FT_OK;
}

static ft_status read_order(const json_t *question, cover_order *order, ft_error *err)
{
    static const char *const NAMES[] = {
#define FT_ROW(symbol, name, meaning) name,
        COVER_ORDER_TABLE(FT_ROW)
#undef FT_ROW
    };
    const json_t *value = json_object_get(question, "order");
    const char *name = json_string_value(value);
    if (!value || json_is_null(value)) return FT_OK;
    for (int i = 0; name && i < COVER_ORDERS; i++)
        if (strcmp(name, NAMES[i]) == 0) return *order = (cover_order)i, FT_OK;
    return ft_error_set(err, FT_USAGE, "\"order\" is thread, trace or seed");
}

static bool is_input(const ft_program *p, const char *name)
{
    uint32_t text = ft_intern_find(&p->texts, name, strlen(name));
    for (size_t f = 0; f < p->functions.len && text != FT_NO_ID; f++)
        for (size_t i = 0; i < p->functions.data[f].instructions.len; i++) {
            const ft_instruction *in = &p->functions.data[f].instructions.data[i];
            if (in->code == FT_CODE_INPUT && in->extra == text) return true;
        }
    return false;
}

static ft_status read_dynamic(const json_t *question, asked *a)
{
    const json_t *names = json_object_get(question, "dynamic");
    size_t n = json_array_size(names);
    if (!n) return FT_OK;
    a->dynamic = ft_calloc(n + 1, sizeof *a->dynamic);
    for (size_t i = 0; i < n; i++) {
        const char *name = json_string_value(json_array_get(names, i));
        if (!name) return ft_error_set(a->err, FT_USAGE, "\"dynamic\" is not a list of names");
        if (strcmp(name, "*") != 0 && !is_input(a->program, name))
            return ft_error_set(a->err, FT_INPUT, "the program reads no input '%s'", name);
        a->dynamic[i] = name;
    }
    a->world.dynamic = a->dynamic;
    return FT_OK;
}

static ft_status read_time(const json_t *question, double *end, ft_error *err)
{
    const json_t *value = json_object_get(question, "seconds");
    double seconds = DEFAULT_SECONDS;
    if (value && !json_is_null(value))
        seconds = json_is_number(value) ? json_number_value(value) : -1;
    if (seconds < 0) return ft_error_set(err, FT_USAGE, "\"seconds\" is not a number");
    *end = ft_now_ms() + seconds * 1000;
    return FT_OK;
}

static ft_status read_question(const json_t *question, asked *a)
{
    const json_t *prefix = json_object_get(question, "prefix");
    ft_status status = read_order(question, &a->world.order, a->err);
    if (status == FT_OK) status = read_number(question, "seed", &a->world.seed, a->err);
    if (status == FT_OK) status = read_number(question, "entries", &a->entries, a->err);
    if (status == FT_OK) status = read_time(question, &a->end, a->err);
    if (status == FT_OK) status = read_dynamic(question, a);
    a->world.prefix = !json_is_false(prefix);
    a->world.should_stop = should_stop;
    a->world.context = a;
    a->prefer = json_string_value(json_object_get(question, "prefer"));
    a->set = json_string_value(json_object_get(question, "set"));
    if (json_is_true(json_object_get(question, "smt"))) a->smt = json_object();
    return status;
}

/* ---- the answer ---- */

static void put(json_t *to, const char *member, uint64_t number)
{
    json_object_set_new(to, member, json_integer((json_int_t)number));
}

static void add_inputs(const ft_schedule_set *set, json_t *answer)
{
    json_t *inputs = json_array();
    for (size_t i = 0; i < set->inputs.len; i++) {
        const ft_schedule_input *in = &set->inputs.data[i];
        json_array_append_new(inputs, json_pack("{s:s, s:s, s:s, s:I, s:I, s:b}", "label",
                                                ft_schedule_text_of(set, in->label), "name",
                                                ft_schedule_text_of(set, in->name), "thread",
                                                ft_schedule_text_of(set, in->thread), "n",
                                                (json_int_t)in->n, "width", (json_int_t)in->width,
                                                "dynamic", (int)in->dynamic));
    }
    json_object_set_new(answer, "inputs", inputs);
}

static void add_counts(const cover_search_counts *counts, json_t *answer)
{
    json_t *to = json_object();
    put(to, "paths", counts->paths);
    put(to, "entries", counts->entries);
    put(to, "schedules", counts->schedules);
    put(to, "discarded", counts->discarded);
    put(to, "open", counts->open);
    put(to, "questions", counts->questions);
    json_object_set_new(answer, "counts", to);
    if (counts->open) json_object_set_new(answer, "open", json_string(counts->reason));
}

static json_t *failed_of(const ft_schedule_set *set, const cover_certificate *c)
{
    json_t *failed = json_pack("{s:s, s:s, s:s, s:b}", "check", cover_certificate_name(c->kind),
                               "answer", cover_certificate_word(c->kind, c->answer), "text",
                               c->text ? c->text : "", "replayed", c->replayed);
    if (c->schedule != FT_NO_SCHEDULE) {
        uint32_t name = set->epochs.data[0].schedules.data[c->schedule].name;
        json_object_set_new(failed, "schedule", json_string(ft_schedule_text_of(set, name)));
    }
    json_t *inputs = json_object();
    for (uint32_t i = 0; c->inputs && i < c->n_inputs; i++)
        put(inputs, ft_schedule_text_of(set, set->inputs.data[i].label), c->inputs[i]);
    if (json_object_size(inputs)) json_object_set(failed, "inputs", inputs);
    json_decref(inputs);
    return failed;
}

/* What is proved under the set is not, where one of the six certificates is missing. */
static bool rests_on_nothing(const cover_certificates *found, cover_certificate_kind kind)
{
    return kind >= COVER_CHECK_FAILURE && cover_certificates_answer(found, kind) == COVER_PROVED &&
           !cover_certificates_hold(found);
}

static void add_certificates(const ft_schedule_set *set, const cover_certificates *found,
                             json_t *answer)
{
    json_t *checks = json_array(), *failed = json_array();
    for (int k = 0; k < COVER_CERTIFICATES; k++) {
        json_int_t n = 0;
        for (size_t i = 0; i < found->all.len; i++) n += (int)found->all.data[i].kind == k;
        cover_answer state = cover_certificates_answer(found, (cover_certificate_kind)k);
        if (rests_on_nothing(found, (cover_certificate_kind)k)) state = COVER_UNKNOWN;
        json_array_append_new(
            checks,
            json_pack("{s:s, s:s, s:s, s:I}", "check",
                      cover_certificate_name((cover_certificate_kind)k), "meaning",
                      cover_certificate_meaning((cover_certificate_kind)k), "answer",
                      cover_certificate_word((cover_certificate_kind)k, state), "asked", n));
    }
    for (size_t i = 0; i < found->all.len; i++)
        if (found->all.data[i].answer != COVER_PROVED)
            json_array_append_new(failed, failed_of(set, &found->all.data[i]));
    for (int k = COVER_CHECK_FAILURE; k < COVER_CERTIFICATES; k++)
        if (rests_on_nothing(found, (cover_certificate_kind)k))
            json_array_append_new(
                failed, json_pack("{s:s, s:s, s:s, s:b}", "check",
                                  cover_certificate_name((cover_certificate_kind)k), "answer",
                                  cover_answer_name(COVER_UNKNOWN), "text",
                                  "not every other certificate is proved", "replayed", false));
    json_object_set_new(answer, "checks", checks);
    json_object_set_new(answer, "failed", failed);
    json_object_set_new(answer, "proved", json_boolean(cover_certificates_hold(found)));
}

static void add_smt(void *context, const char *name, const char *text, size_t length)
{
    json_object_set_new(context, name, json_stringn(text, length));
}

/* ---- the whole ---- */

static ft_status blame(const asked *a, ft_status status, const char *what, const ft_error *own)
{
    if (status == FT_OK) return FT_OK;
    if (!own->line) return ft_error_set(a->err, status, "%s: %.400s", what, own->message);
    return ft_error_set(a->err, status, "%s, line %llu, column %llu: %.300s", what,
                        (unsigned long long)own->line, (unsigned long long)own->column,
                        own->message);
}

static ft_status read_set(const asked *a, ft_schedule_set **set)
{
    ft_error own = FT_ERROR_INIT;
    ft_status status = ft_schedule_set_read(a->set, strlen(a->set), set, &own);
    return blame(a, status, "the schedule set", &own);
}

static ft_status read_preference(asked *a)
{
    ft_error own = FT_ERROR_INIT;
    if (!a->prefer) return FT_OK;
    ft_status status =
        cover_preference_read(a->program, a->prefer, strlen(a->prefer), &a->world.preference, &own);
    return blame(a, status, "the preferred order", &own);
}

static ft_status find_set(asked *a, ft_schedule_set **set)
{
    cover_search_options options = {.world = a->world, .max_entries = a->entries};
    cover_search_counts counts;
    if (a->set) return read_set(a, set);
    double now = ft_now_ms();
    a->until = now + (a->end - now) * SHARE_OF_SEARCH;
    ft_status status = cover_search(a->program, &options, set, &counts, a->err);
    if (status == FT_OK) add_counts(&counts, a->answer);
    return status;
}

static ft_status answer_to(asked *a)
{
    ft_schedule_set *set = NULL;
    cover_certificates found = {0};
    ft_strbuf text = {0};
    cover_certify_options options = {
        .world = a->world, .smt = a->smt ? add_smt : NULL, .smt_context = a->smt};
    ft_status status = find_set(a, &set);
    a->until = a->end;
    if (status == FT_OK) {
        ft_schedule_set_print(set, &text);
        status = cover_certify(a->program, set, &options, &found, a->err);
    }
    if (status == FT_OK) {
        json_object_set_new(a->answer, "set", json_stringn(text.text, text.len));
        put(a->answer, "leaves", found.leaves);
        add_inputs(set, a->answer);
        add_certificates(set, &found, a->answer);
        if (a->smt) json_object_set(a->answer, "smt", a->smt);
    }
    cover_certificates_release(&found);
    ft_schedule_set_free(set);
    ft_strbuf_release(&text);
    return status;
}

ft_status ft_cover_request(const ft_program *program, const json_t *question, json_t **answer,
                           ft_error *err)
{
    FT_REQUIRE(program && question && answer);
    asked a = {.program = program, .answer = json_object(), .err = err};
    ft_status status = read_question(question, &a);
    if (status == FT_OK) status = read_preference(&a);
    if (status == FT_OK) status = answer_to(&a);
    cover_preference_free(a.world.preference);
    free(a.dynamic);
    json_decref(a.smt);
    if (status == FT_OK)
        *answer = a.answer;
    else
        json_decref(a.answer);
    return status;
}
