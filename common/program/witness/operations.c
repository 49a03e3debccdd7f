/* The schedule's steps as operations: what a program that was built natively from the same source
 * is driven by. One without a place is left out there. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "program/witness/internal.h"

enum { STACK = 64 };

static json_int_t place_number(ft_operations *o, const char *path, uint32_t line)
{
    json_t *place = json_sprintf("%s:%" PRIu32, path, line);
    size_t n = json_array_size(o->places), i = 0;
    while (i < n && !json_equal(json_array_get(o->places, i), place)) i++;
    if (i == n) json_array_append(o->places, place);
    json_decref(place);
    return (json_int_t)i + 1;
}

/* An object of a model of the library (clients/lower/models/foretell.h), of which a native program
 * has none. */
static bool is_of_models(const ft_followed *f, uint64_t address)
{
    static const char PREFIX[] = "__foretell_";
    ft_interpreter_location l;
    if (!address || !ft_interpreter_locate(f->m, address, &l) || l.symbol == FT_NO_SYMBOL)
        return false;
    return strncmp(ft_program_symbol_name(f->program, l.symbol), PREFIX, sizeof PREFIX - 1) == 0;
}

/* The innermost place that has a line: models of the C library have none. 0: no place has. */
static json_int_t place_of(ft_operations *o, const ft_followed *f, uint32_t t)
{
    ft_interpreter_place all[STACK];
    uint32_t n = ft_interpreter_stack(f->m, t, all, STACK);
    for (uint32_t i = 0; i < n && i < STACK; i++) {
        const ft_function *in = ft_program_function(f->program, all[i].function);
        ft_position at = in->instructions.data[all[i].instruction].position;
        if (at.file == FT_NO_FILE) continue;
        return place_number(o, f->program->files.names[at.file], at.line);
    }
    return 0;
}

static json_int_t object_number(ft_operations *o, uint64_t address)
{
    bool fresh;
    if (!address) return 0;
    return (json_int_t)*ft_map_slot(&o->objects, address, o->objects.len + 1, &fresh);
}

static bool is_of_thread(ft_code code)
{
    return code == FT_CODE_CREATE || code == FT_CODE_JOIN || code == FT_CODE_DETACH;
}

static json_int_t object_of(ft_operations *o, const ft_followed *f,
                            const ft_interpreter_operation *op, uint64_t variant)
{
    if (op->code == FT_CODE_CREATE)
        return (json_int_t)(variant ? variant - 1 : ft_interpreter_thread_count(f->m));
    return is_of_thread(op->code) ? (json_int_t)op->object : object_number(o, op->object);
}

/* Points are plain accesses of the program; one that is a section begins with that. */
static ft_code code_of(const ft_followed *f, const ft_interpreter_operation *op)
{
    const ft_points *points = &f->execution->points;
    ft_interpreter_place place = op->place;
    const ft_instruction *all = ft_program_function(f->program, place.function)->instructions.data;
    if (op->code == FT_CODE_ATOMIC_BEGIN && !ft_points_original(points, &place))
        return (ft_code)all[op->place.instruction + 1].code;
    place = op->place;
    if (op->code != FT_CODE_ATOMIC_LOAD && op->code != FT_CODE_ATOMIC_STORE) return op->code;
    if (!ft_points_original(points, &place)) return op->code;
    for (size_t i = 0; i < points->len; i++)
        if (points->data[i].place.function == place.function &&
            points->data[i].place.instruction == place.instruction)
            return op->code == FT_CODE_ATOMIC_LOAD ? FT_CODE_LOAD : FT_CODE_STORE;
    return op->code;
}

static const char *name_of(const ft_followed *f, const ft_interpreter_operation *op)
{
    return op->code == FT_CODES ? "begin" : ft_instruction_row_of(code_of(f, op))->name;
}

static json_t *operation(ft_operations *o, const ft_followed *f, uint32_t t, uint64_t variant)
{
    ft_interpreter_operation op;
    if (t >= ft_interpreter_thread_count(f->m) || !ft_interpreter_stands_before(f->m, t, &op))
        return NULL;
    bool left_out = !is_of_thread(op.code) && is_of_models(f, op.object);
    return json_pack("[s, i, I, I]", name_of(f, &op), op.second ? 1 : 0,
                     object_of(o, f, &op, variant), left_out ? 0 : place_of(o, f, t));
}

void ft_operations_begin(ft_operations *o)
{
    *o = (ft_operations){.steps = json_array(), .places = json_array(), .standing = json_array()};
}

void ft_operations_add(ft_operations *o, const ft_followed *f, uint32_t t, uint64_t variant)
{
    json_t *step = operation(o, f, t, variant);
    json_array_append_new(o->steps, step ? step : json_null());
}

void ft_operations_end(ft_operations *o, const ft_followed *f)
{
    for (uint32_t t = 0; t < ft_interpreter_thread_count(f->m); t++) {
        json_t *one = operation(o, f, t, 0);
        if (one) json_array_insert_new(one, 0, json_integer((json_int_t)t));
        if (one) json_array_append_new(o->standing, one);
    }
}

void ft_operations_release(ft_operations *o)
{
    ft_map_release(&o->objects);
    json_decref(o->steps);
    json_decref(o->places);
    json_decref(o->standing);
}
