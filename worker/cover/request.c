#include "cover/request.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/contract.h"
#include "cover/choose.h"
#include "cover/prefer.h"
#include "report/certificates.h"

enum { DEFAULT_SECONDS = 60 };

static bool should_stop(void *context)
{
    const cover_asked *a = context;
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

static ft_status read_loops(const json_t *question, cover_asked *a, ft_error *err)
{
    const json_t *value = json_object_get(question, "loops");
    const char *word = json_string_value(value);
    if (!value || json_is_null(value)) return FT_OK;
    a->world.loops = word && strcmp(word, "summarise") == 0;
    if (a->world.loops || (word && strcmp(word, "unroll") == 0)) return FT_OK;
    return ft_error_set(err, FT_USAGE, "\"loops\" is unroll or summarise");
}

static ft_status read_dynamic(const json_t *question, cover_asked *a, ft_error *err)
{
    const json_t *names = json_object_get(question, "dynamic");
    size_t n = json_array_size(names);
    if (!n) return FT_OK;
    a->dynamic = ft_calloc(n + 1, sizeof *a->dynamic);
    for (size_t i = 0; i < n; i++) {
        const char *name = json_string_value(json_array_get(names, i));
        if (!name) return ft_error_set(err, FT_USAGE, "\"dynamic\" is not a list of names");
        if (strcmp(name, "*") != 0 && !is_input(a->program, name))
            return ft_error_set(err, FT_INPUT, "the program reads no input '%s'", name);
        a->dynamic[i] = name;
    }
    a->world.dynamic = a->dynamic;
    return FT_OK;
}

static ft_status read_epochs(const json_t *question, cover_asked *a, ft_error *err)
{
    static const char *const NAMES[] = {
#define FT_ROW(symbol, name, meaning) name,
        COVER_EPOCHS_TABLE(FT_ROW)
#undef FT_ROW
    };
    const json_t *value = json_object_get(question, "epochs");
    const char *name = json_string_value(value);
    if (!value || json_is_null(value)) return FT_OK;
    for (int i = 0; name && i < COVER_EPOCHS_KINDS; i++)
        if (strcmp(name, NAMES[i]) == 0) return a->epochs = (cover_epochs)i, FT_OK;
    return ft_error_set(err, FT_USAGE, "\"epochs\" is auto, one or markers");
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

static ft_status blame(ft_error *err, ft_status status, const char *what, const ft_error *own)
{
    if (status == FT_OK) return FT_OK;
    if (!own->line) return ft_error_set(err, status, "%s: %.400s", what, own->message);
    return ft_error_set(err, status, "%s, line %llu, column %llu: %.300s", what,
                        (unsigned long long)own->line, (unsigned long long)own->column,
                        own->message);
}

static ft_status read_preference(const json_t *question, cover_asked *a, ft_error *err)
{
    ft_error own = FT_ERROR_INIT;
    const char *text = json_string_value(json_object_get(question, "prefer"));
    if (!text) return FT_OK;
    ft_status status =
        cover_preference_read(a->program, text, strlen(text), &a->world.preference, &own);
    return blame(err, status, "the preferred order", &own);
}

ft_status cover_asked_read(cover_asked *a, const ft_program *program, const json_t *question,
                           ft_error *err)
{
    FT_REQUIRE(program && question);
    *a = (cover_asked){.program = program};
    ft_status status = read_order(question, &a->world.order, err);
    if (status == FT_OK) status = read_number(question, "seed", &a->world.seed, err);
    if (status == FT_OK) status = read_number(question, "entries", &a->entries, err);
    if (status == FT_OK) status = read_epochs(question, a, err);
    if (status == FT_OK) status = read_time(question, &a->end, err);
    if (status == FT_OK) status = read_loops(question, a, err);
    if (status == FT_OK) status = read_dynamic(question, a, err);
    a->world.prefix = !json_is_false(json_object_get(question, "prefix"));
    a->world.should_stop = should_stop;
    a->world.context = a;
    a->until = a->end;
    a->set = json_string_value(json_object_get(question, "set"));
    a->smt = json_is_true(json_object_get(question, "smt"));
    return status == FT_OK ? read_preference(question, a, err) : status;
}

void cover_asked_release(cover_asked *a)
{
    cover_preference_free(a->world.preference);
    free(a->dynamic);
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
    put(to, "epochs", counts->epochs);
    put(to, "searches", counts->searches);
    put(to, "entries", counts->entries);
    put(to, "schedules", counts->schedules);
    put(to, "discarded", counts->discarded);
    put(to, "open", counts->open);
    put(to, "questions", counts->questions);
    json_object_set_new(answer, "counts", to);
    if (counts->open) json_object_set_new(answer, "open", json_string(counts->reason));
}

/* A row for each kind, with how many questions of it the set takes. */
static json_t *rows_of(const ft_schedule_set *set)
{
    uint64_t asked[COVER_CERTIFICATES] = {0};
    json_t *rows = json_array();
    for (uint32_t e = 0; e < set->epochs.len; e++) {
        cover_certificate_kind own[COVER_CERTIFICATES], of_each[COVER_CERTIFICATES];
        uint32_t n = cover_subject_kinds((cover_subject){e, FT_NO_SCHEDULE}, own),
                 m = cover_subject_kinds((cover_subject){e, 0}, of_each);
        for (uint32_t i = 0; i < n; i++) asked[own[i]]++;
        for (uint32_t i = 0; i < m; i++) asked[of_each[i]] += set->epochs.data[e].schedules.len;
    }
    for (int k = 0; k < COVER_CERTIFICATES; k++)
        json_array_append_new(
            rows, json_pack("{s:s, s:s, s:I, s:b}", "check",
                            cover_certificate_name((cover_certificate_kind)k), "meaning",
                            cover_certificate_meaning((cover_certificate_kind)k), "asked",
                            (json_int_t)asked[k], "needed", k < COVER_CHECK_FAILURE));
    return rows;
}

/* ---- certificates ---- */

static json_t *place_of(const ft_program *p, const ft_sym_place *place)
{
    if (place->function == FT_NO_SYMBOL) return NULL;
    const ft_function *f = ft_program_function(p, place->function);
    const ft_position *at = &f->instructions.data[place->instruction].position;
    ft_strbuf text = {0};
    if (at->file == FT_NO_FILE)
        ft_strbuf_printf(&text, "@%s:%u", ft_program_symbol_name(p, place->function),
                         place->instruction);
    else
        ft_strbuf_printf(&text, "%s:%u", p->files.names[at->file], at->line);
    json_t *made = json_pack("{s:s, s:s}", "location", text.text, "function",
                             ft_program_symbol_name(p, place->function));
    ft_strbuf_release(&text);
    return made;
}

static void add_places(const ft_program *p, const cover_certificate *c, json_t *to)
{
    json_t *places = json_array();
    for (uint32_t i = 0; i < c->n_places; i++) {
        json_t *place = place_of(p, &c->places[i]);
        if (place) json_array_append_new(places, place);
    }
    if (json_array_size(places)) json_object_set(to, "places", places);
    json_decref(places);
}

/* Of the certificate's epoch. */
static void add_model(const ft_schedule_set *set, const cover_certificate *c, json_t *to)
{
    json_t *inputs = json_object();
    for (uint32_t i = 0; c->inputs && i < c->n_inputs; i++)
        if (set->inputs.data[i].epoch == c->epoch)
            put(inputs, ft_schedule_text_of(set, set->inputs.data[i].label), c->inputs[i]);
    if (json_object_size(inputs)) json_object_set(to, "inputs", inputs);
    json_decref(inputs);
}

/* The inputs in the order in which the run reads them; of many the first ones. */
static void add_run(const cover_certificate *c, json_t *to)
{
    enum { MOST = 1000 };
    json_t *run = json_array();
    for (size_t i = 0; c->shown && i < c->shown->reads.len && i < MOST; i++) {
        const cover_read *r = &c->shown->reads.data[i];
        json_array_append_new(run, json_pack("{s:s, s:s, s:I, s:I}", "name", r->name, "thread",
                                             r->thread, "n", (json_int_t)r->n + 1, "value",
                                             (json_int_t)r->bits));
    }
    if (c->shown) json_object_set(to, "run", run);
    json_decref(run);
}

/* The run as a witness of the program, which `foretell verify` judges. */
static void add_witness(const ft_program *p, const cover_certificate *c, json_t *to)
{
    ft_error err = FT_ERROR_INIT;
    ft_story story;
    if (!c->shown || !c->shown->witness) return;
    ft_program *numbered = ft_program_numbered(p);
    if (ft_execution_tell(numbered, &c->shown->execution, &story, &err) == FT_OK) {
        json_object_set(to, "witness", story.witness);
        ft_story_release(&story);
    }
    ft_program_free(numbered);
}

static json_t *certificate_of(const ft_program *p, const ft_schedule_set *set,
                              const cover_certificate *c)
{
    const ft_epoch *epoch = &set->epochs.data[c->epoch];
    json_t *made = json_pack(
        "{s:s, s:s, s:s, s:s, s:b, s:s}", "check", cover_certificate_name(c->kind), "epoch",
        ft_schedule_text_of(set, epoch->name), "answer", cover_certificate_word(c->kind, c->answer),
        "text", c->text ? c->text : "", "replayed", c->shown != NULL, "evidence",
        cover_evidence_name(cover_certificate_evidence(c)));
    if (c->schedule != FT_NO_SCHEDULE) {
        const char *name = ft_schedule_text_of(set, epoch->schedules.data[c->schedule].name);
        json_object_set_new(made, "schedule", json_string(name));
    }
    add_model(set, c, made);
    add_run(c, made);
    add_witness(p, c, made);
    add_places(p, c, made);
    return made;
}

/* Texts for solvers while they are made; certificates are found one after the other. */
typedef struct questions {
    json_t *texts;
    FT_VEC(size_t) at; /* of each text: how many certificates there were before it */
    const cover_certificates *found;
} questions;

static void add_smt(void *context, const char *name, const char *text, size_t length)
{
    questions *q = context;
    json_array_append_new(q->texts, json_pack("{s:s%}", name, text, length));
    ft_vec_push(&q->at, q->found->all.len);
}

static void hand_out(const questions *q, json_t *certificates)
{
    for (size_t i = 0; i < q->at.len; i++) {
        json_t *of = json_array_get(certificates, q->at.data[i]);
        json_object_set(of, "smt", json_array_get(q->texts, i));
    }
}

ft_status cover_asked_certify(const cover_asked *a, ft_schedule_set *set, const cover_subject *only,
                              json_t **certificates, ft_error *err)
{
    FT_REQUIRE(set && certificates);
    cover_certificates found = {0};
    questions q = {.texts = json_array(), .found = &found};
    cover_certify_options options = {.world = a->world,
                                     .only = only,
                                     .deadline = a->until,
                                     .smt = a->smt ? add_smt : NULL,
                                     .smt_context = &q};
    ft_status status = cover_certify(a->program, set, &options, &found, err);
    json_t *all = json_array();
    for (size_t i = 0; status == FT_OK && i < found.all.len; i++)
        json_array_append_new(all, certificate_of(a->program, set, &found.all.data[i]));
    if (status == FT_OK) {
        hand_out(&q, all);
        if (found.leaves) put(json_array_get(all, 0), "leaves", found.leaves);
        *certificates = json_incref(all);
    }
    json_decref(all);
    json_decref(q.texts);
    ft_vec_release(&q.at);
    cover_certificates_release(&found);
    return status;
}

/* ---- the whole ---- */

static ft_status read_set(const cover_asked *a, ft_schedule_set **set, ft_error *err)
{
    ft_error own = FT_ERROR_INIT;
    ft_status status = ft_schedule_set_read(a->set, strlen(a->set), set, &own);
    return blame(err, status, "the schedule set", &own);
}

static ft_status search_set(cover_asked *a, ft_schedule_set **set, json_t *answer,
                            json_t **certificates, ft_error *err)
{
    cover_choice c;
    ft_status status = cover_choose(a, certificates != NULL, &c, err);
    if (status != FT_OK) return status;
    add_counts(&c.counts, answer);
    if (c.taken[0]) json_object_set_new(answer, "taken", json_string(c.taken));
    *set = c.set;
    c.set = NULL;
    if (certificates) *certificates = json_incref(c.certificates);
    cover_choice_release(&c);
    return FT_OK;
}

ft_status cover_asked_find(cover_asked *a, ft_schedule_set **set, json_t *answer,
                           json_t **certificates, ft_error *err)
{
    FT_REQUIRE(set && answer);
    ft_strbuf text = {0};
    ft_status status =
        a->set ? read_set(a, set, err) : search_set(a, set, answer, certificates, err);
    if (status == FT_OK) status = cover_fits(a->program, *set, err);
    if (status != FT_OK) return status;
    ft_schedule_set_print(*set, &text);
    json_object_set_new(answer, "set", json_stringn(text.text, text.len));
    ft_strbuf_release(&text);
    add_inputs(*set, answer);
    json_object_set_new(answer, "checks", rows_of(*set));
    return FT_OK;
}

ft_status ft_cover_request(const ft_program *program, const json_t *question, json_t **answer,
                           ft_error *err)
{
    FT_REQUIRE(answer);
    cover_asked a;
    ft_schedule_set *set = NULL;
    json_t *made = json_object(), *certificates = NULL;
    ft_status status = cover_asked_read(&a, program, question, err);
    if (status == FT_OK) status = cover_asked_find(&a, &set, made, &certificates, err);
    if (status == FT_OK && !certificates)
        status = cover_asked_certify(&a, set, NULL, &certificates, err);
    if (status == FT_OK) {
        ft_certificates_conclude(made, certificates);
        *answer = json_incref(made);
    }
    cover_asked_release(&a);
    ft_schedule_set_free(set);
    json_decref(certificates);
    json_decref(made);
    return status;
}
