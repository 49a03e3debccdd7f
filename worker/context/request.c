#include "context/request.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "program/flow/pointers.h"

enum { DEFAULT_RUNS = 2000, MOST_STEPS_ASKED = 1000 };

/* ---- places ---- */

static bool ends_with(const char *path, const char *end, size_t n)
{
    size_t length = strlen(path);
    if (n > length || strncmp(path + length - n, end, n) != 0) return false;
    return n == length || path[length - n - 1] == '/' || end[0] == '/';
}

typedef struct wanted {
    const char *file;
    size_t n;
    unsigned long line, column;
} wanted;

static bool is_there(const ft_program *p, const ft_instruction *in, const wanted *w)
{
    return in->position.file != FT_NO_FILE && in->position.line == w->line &&
           (!w->column || in->position.column == w->column) &&
           ends_with(p->files.names[in->position.file], w->file, w->n);
}

static bool blocks(ft_code code)
{
    switch (code) {
    case FT_CODE_LOCK:
    case FT_CODE_TIMED_LOCK:
    case FT_CODE_READ_LOCK:
    case FT_CODE_WRITE_LOCK:
    case FT_CODE_WAIT:
    case FT_CODE_TIMED_WAIT:
    case FT_CODE_BARRIER_WAIT:
    case FT_CODE_SEM_WAIT:
    case FT_CODE_SEM_TIMED:
    case FT_CODE_JOIN:
        return true;
    default:
        return false;
    }
}

static bool can_be_woken(ft_code code)
{
    return code == FT_CODE_WAIT || code == FT_CODE_TIMED_WAIT || code == FT_CODE_BARRIER_WAIT;
}

static bool has_reading(ft_code code, uint8_t reading)
{
    return reading == FT_CONTEXT_BEFORE || (reading == FT_CONTEXT_WAITING && blocks(code)) ||
           can_be_woken(code);
}

static bool is_same(ft_context_point a, ft_context_point b)
{
    return a.function == b.function && a.instruction == b.instruction;
}

static const ft_context_point ANY_CALL = {FT_NO_CALL, 0};

static bool add_point(ft_context_thread *t, uint32_t function, uint32_t instruction,
                      ft_context_point call)
{
    ft_context_point point = {function, instruction};
    for (uint32_t i = 0; i < t->n; i++)
        if (is_same(t->points[i], point) && is_same(t->calls[i], call)) return true;
    if (t->n == FT_CONTEXT_POINTS) return false;
    t->calls[t->n] = call;
    t->points[t->n++] = point;
    return true;
}

/* The blocking instructions that the instruction is, or that the library's functions which it
 * calls have: they have no positions of their own. */
static bool add_blocking(const ft_flow *flow, ft_context_thread *t, uint32_t f, uint32_t i,
                         ft_context_point call, uint32_t depth)
{
    uint32_t n;
    bool good = true;
    const ft_program *p = ft_flow_program(flow);
    const ft_instruction *in = &p->functions.data[f].instructions.data[i];
    if (has_reading((ft_code)in->code, t->reading)) return add_point(t, f, i, call);
    const uint32_t *targets = ft_flow_targets(flow, f, i, &n);
    if (in->code == FT_CODE_CREATE || depth > 4) return true;
    if (!depth) call = (ft_context_point){f, i};
    for (uint32_t k = 0; k < n && good; k++) {
        const ft_function *callee = &p->functions.data[targets[k]];
        for (uint32_t c = 0; c < callee->instructions.len && good; c++)
            if (callee->instructions.data[c].position.file == FT_NO_FILE)
                good = add_blocking(flow, t, targets[k], c, call, depth + 1);
    }
    return good;
}

/* The beginnings of the line's parts; or its blocking instructions. */
static ft_status find_line(const ft_flow *flow, const char *at, const wanted *w,
                           ft_context_thread *t, ft_error *err)
{
    bool good = true, any = false;
    const ft_program *p = ft_flow_program(flow);
    for (uint32_t f = 0; f < p->functions.len; f++) {
        const ft_function *function = &p->functions.data[f];
        for (uint32_t b = 0; b < function->blocks.len; b++) {
            const ft_block *block = &function->blocks.data[b];
            for (uint32_t k = 0; k < block->n_instructions && good; k++) {
                uint32_t i = block->instructions + k;
                if (!is_there(p, &function->instructions.data[i], w)) continue;
                any = true;
                if (t->reading != FT_CONTEXT_BEFORE)
                    good = add_blocking(flow, t, f, i, ANY_CALL, 0);
                else if (!k || !is_there(p, &function->instructions.data[i - 1], w))
                    good = add_point(t, f, i, ANY_CALL);
            }
        }
    }
    if (!any)
        return ft_error_set(err, FT_USAGE,
                            "no instruction of the program stands at %s; give a line of a file "
                            "that the program was made from, with code that main can reach",
                            at);
    if (!good)
        return ft_error_set(err, FT_LIMIT,
                            "more than %d parts of the program stand at %s; give "
                            "the column too, as FILE:LINE:COLUMN",
                            FT_CONTEXT_POINTS, at);
    if (!t->n)
        return ft_error_set(err, FT_USAGE, "no operation at %s can be read as %s", at,
                            ft_context_reading_name((ft_context_reading)t->reading));
    return FT_OK;
}

static bool parse_number(const char *text, const char *end, unsigned long *n)
{
    char *stop;
    if (text == end || *text < '0' || *text > '9') return false;
    *n = strtoul(text, &stop, 10);
    return stop == end && *n <= UINT32_MAX;
}

static ft_status find_instruction(const ft_program *p, const char *at, const char *colon,
                                  ft_context_thread *t, ft_error *err)
{
    unsigned long i;
    uint32_t name = ft_intern_find(&p->names, at + 1, (uint32_t)(colon - at - 1));
    const ft_function *f = name == FT_NO_ID ? NULL : ft_program_function(p, name);
    if (!f) return ft_error_set(err, FT_USAGE, "the program has no function for %s", at);
    if (!parse_number(colon + 1, at + strlen(at), &i) || i >= f->instructions.len)
        return ft_error_set(err, FT_USAGE, "%s: the function has the instructions 0 to %zu", at,
                            f->instructions.len - 1);
    if (!has_reading((ft_code)f->instructions.data[i].code, t->reading))
        return ft_error_set(err, FT_USAGE, "the operation at %s cannot be read as %s", at,
                            ft_context_reading_name((ft_context_reading)t->reading));
    (void)add_point(t, p->symbols.data[name].index, (uint32_t)i, ANY_CALL);
    return FT_OK;
}

static ft_status find_place(const ft_flow *flow, const char *at, ft_context_thread *t,
                            ft_error *err)
{
    const char *end = at + strlen(at), *colon = strrchr(at, ':');
    wanted w = {.file = at};
    if (colon && at[0] == '@') return find_instruction(ft_flow_program(flow), at, colon, t, err);
    const char *before = colon;
    while (before && before > at && before[-1] != ':') before--;
    bool both = before && before > at + 1;
    if (both && parse_number(before, colon, &w.line) && parse_number(colon + 1, end, &w.column))
        w.n = (size_t)(before - 1 - at);
    else if (colon && colon > at && parse_number(colon + 1, end, &w.line))
        w.n = (size_t)(colon - at);
    else
        return ft_error_set(err, FT_USAGE,
                            "'%s' is not a place; use FILE:LINE, FILE:LINE:COLUMN or @FUNCTION:N",
                            at);
    return find_line(flow, at, &w, t, err);
}

/* ---- the question ---- */

static ft_status read_thread(const ft_flow *flow, const json_t *from, ft_context_options *o,
                             ft_error *err)
{
    const char *name = json_string_value(json_object_get(from, "name"));
    const char *at = json_string_value(json_object_get(from, "at"));
    const char *reading = json_string_value(json_object_get(from, "reading"));
    ft_context_reading read = FT_CONTEXT_BEFORE;
    if (!name || !at)
        return ft_error_set(err, FT_USAGE, "a thread of the context needs a name and a place");
    if (reading && !ft_context_reading_named(reading, &read))
        return ft_error_set(err, FT_USAGE,
                            "'%s' is not a reading of a place; use before, waiting "
                            "or woken",
                            reading);
    if (o->n == FT_CONTEXT_THREADS)
        return ft_error_set(err, FT_LIMIT, "a context has %d threads at most", FT_CONTEXT_THREADS);
    for (uint32_t t = 0; t < o->n; t++)
        if (strcmp(o->threads[t].name, name) == 0)
            return ft_error_set(err, FT_USAGE, "two threads of the context are named %s", name);
    ft_context_thread *t = &o->threads[o->n++];
    *t = (ft_context_thread){.name = name, .reading = (uint8_t)read};
    return find_place(flow, at, t, err);
}

static ft_status read_passes(const json_t *all, ft_context_options *o, ft_error *err)
{
    size_t i;
    json_t *name;
    json_array_foreach(all, i, name)
    {
        ft_context_pass pass;
        const char *text = json_string_value(name);
        if (!text || !ft_context_pass_named(text, &pass)) {
            ft_strbuf known = {0};
            for (unsigned k = 0; k < FT_CONTEXT_PASSES; k++)
                ft_strbuf_printf(&known, "%s%s", k ? ", " : "",
                                 ft_context_pass_name((ft_context_pass)k));
            ft_status status =
                ft_error_set(err, FT_USAGE, "'%s' is not a pass of contexts; there are %s",
                             text ? text : "", ft_strbuf_text(&known));
            ft_strbuf_release(&known);
            return status;
        }
        o->without |= 1u << pass;
    }
    return FT_OK;
}

static ft_status read_question(const ft_flow *flow, const json_t *question, ft_context_options *o,
                               ft_error *err)
{
    size_t i;
    json_t *thread, *threads = json_object_get(question, "threads");
    const char *wake = json_string_value(json_object_get(question, "wake"));
    const char *orders = json_string_value(json_object_get(question, "orders"));
    json_int_t steps = json_integer_value(json_object_get(question, "steps"));
    ft_status status = read_passes(json_object_get(question, "without"), o, err);
    if (status == FT_OK && !json_array_size(threads))
        status = ft_error_set(err, FT_USAGE, "a context needs a thread at a place");
    json_array_foreach(threads, i, thread)
    {
        if (status == FT_OK) status = read_thread(flow, thread, o, err);
    }
    if (status == FT_OK && (steps < 0 || steps > MOST_STEPS_ASKED))
        status = ft_error_set(err, FT_USAGE, "paths of a context have %d branches at most",
                              MOST_STEPS_ASKED);
    o->others = !json_is_false(json_object_get(question, "others"));
    o->fixed_only = orders && strcmp(orders, "fixed") == 0;
    o->fifo = wake && strcmp(wake, "fifo") == 0;
    o->steps = (uint32_t)steps;
    return status;
}

/* ---- the answer ---- */

static json_t *place_of(const ft_program *p, ft_context_point at)
{
    const ft_function *f = &p->functions.data[at.function];
    const ft_position *position = &f->instructions.data[at.instruction].position;
    json_t *place = json_pack("{s:s, s:I}", "function", ft_program_symbol_name(p, f->symbol),
                              "instruction", (json_int_t)at.instruction);
    if (position->file == FT_NO_FILE) return place;
    json_object_set_new(place, "file", json_string(p->files.names[position->file]));
    json_object_set_new(place, "line", json_integer(position->line));
    return place;
}

static json_t *threads_of(const ft_program *p, const ft_context_options *o)
{
    json_t *all = json_array();
    for (uint32_t t = 0; t < o->n; t++) {
        const ft_context_thread *thread = &o->threads[t];
        json_t *places = json_array();
        for (uint32_t i = 0; i < thread->n; i++)
            json_array_append_new(places, place_of(p, thread->calls[i].function == FT_NO_CALL
                                                          ? thread->points[i]
                                                          : thread->calls[i]));
        json_array_append_new(
            all, json_pack("{s:s, s:s, s:o}", "name", thread->name, "reading",
                           ft_context_reading_name((ft_context_reading)thread->reading), "places",
                           places));
    }
    return all;
}

static json_t *passes_of(uint32_t bits)
{
    json_t *all = json_array();
    for (unsigned k = 0; k < FT_CONTEXT_PASSES; k++)
        if (bits >> k & 1)
            json_array_append_new(all, json_string(ft_context_pass_name((ft_context_pass)k)));
    return all;
}

static json_t *paths_of(const ft_program *p, const ft_context_options *o,
                        const ft_context_paths *paths)
{
    json_t *moves = json_array();
    for (uint32_t t = 0; t < o->n; t++)
        if (paths->moves[t]) json_array_append_new(moves, json_string(o->threads[t].name));
    json_t *all =
        json_pack("{s:I, s:I, s:I, s:I, s:b, s:o}", "paths", (json_int_t)paths->paths, "stuck",
                  (json_int_t)paths->deadlocks, "failing", (json_int_t)paths->failures, "cut",
                  (json_int_t)paths->cut, "complete", paths->complete, "moving", moves);
    if (!paths->failures) return all;
    json_t *failure = place_of(p, paths->failed);
    json_object_set_new(failure, "message", json_string(paths->failure));
    json_object_set_new(all, "failure", failure);
    return all;
}

static json_t *replay_of(const ft_context_replay *r)
{
    json_t *steps = json_array(), *inputs = json_array();
    for (size_t i = 0; i + 1 < r->steps.len; i += 2)
        json_array_append_new(steps, json_pack("[I, I]", (json_int_t)r->steps.data[i],
                                               (json_int_t)r->steps.data[i + 1]));
    for (size_t i = 0; i < r->inputs.len; i++)
        json_array_append_new(inputs, json_pack("{s:s, s:I}", "name", r->names.data[i], "value",
                                                (json_int_t)r->inputs.data[i]));
    return json_pack("{s:o, s:o}", "inputs", inputs, "steps", steps);
}

static void add_replay(const ft_program *p, const ft_context_options *o, const json_t *question,
                       json_t *to)
{
    json_t *asked = json_object_get(question, "replay_runs");
    uint64_t runs = asked ? (uint64_t)json_integer_value(asked) : DEFAULT_RUNS;
    ft_context_replay found;
    bool there = ft_context_find(p, o, runs, &found);
    json_object_set_new(to, "together", json_string(there ? "reached" : "not refuted"));
    if (there) json_object_set_new(to, "replay", replay_of(&found));
    json_object_set_new(to, "replay_runs", json_integer((json_int_t)found.runs));
    ft_context_replay_release(&found);
}

static json_t *answer_of(const ft_program *p, const ft_context_options *o,
                         const ft_context_answer *a)
{
    json_t *made = json_pack("{s:o, s:b, s:o, s:I, s:I}", "threads", threads_of(p, o), "others",
                             o->others, "without", passes_of(o->without), "ways",
                             (json_int_t)a->ways, "refuted", (json_int_t)a->refuted);
    if (a->never) {
        json_object_set_new(made, "together", json_string("never"));
        json_object_set_new(made, "reason", json_string(a->reason));
        json_object_set_new(made, "passes", passes_of(a->passes));
        json_object_set_new(made, "assuming", json_string("the program has no data race"));
    }
    if (a->too_many)
        json_object_set_new(made, "note",
                            json_string("more calls lead there than were looked at, or the time "
                                        "was up"));
    if (!o->steps || a->never) return made;
    json_object_set_new(made, "steps", json_integer(o->steps));
    json_object_set_new(made, "fixed_order", paths_of(p, o, &a->fixed));
    if (!o->fixed_only) json_object_set_new(made, "every_order", paths_of(p, o, &a->all));
    return made;
}

ft_status ft_context_request(const ft_program *program, const json_t *question,
                             bool (*should_stop)(void *context), void *context, json_t **answer,
                             ft_error *err)
{
    ft_context_options o = {.should_stop = should_stop, .context = context};
    ft_flow *flow = ft_flow_new(program);
    ft_status status = read_question(flow, question, &o, err);
    ft_flow_free(flow);
    if (status != FT_OK) return status;
    ft_context_answer a;
    ft_context *c = ft_context_new(program, &o);
    ft_context_answer_all(c, &a);
    ft_context_free(c);
    *answer = answer_of(program, &o, &a);
    if (!a.never) add_replay(program, &o, question, *answer);
    return FT_OK;
}
