/* From a run of the native executor to the order that a recording follows (raw/follow.h). */
#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "exploring/exploring.h"
#include "raw/follow.h"

typedef struct order {
    FT_VEC(ft_follow_entry) entries;
    FT_VEC(ft_follow_actor) actors;
    FT_VEC(ft_follow_module) modules;
    FT_VEC(ft_follow_range) ranges;
} order;

static uint32_t module_of(order *o, const char *path)
{
    for (size_t i = 0; i < o->modules.len; i++)
        if (strcmp(o->modules.data[i].path, path) == 0) return (uint32_t)i;
    ft_follow_module made = {{0}};
    size_t length = strlen(path);
    if (length >= sizeof made.path) return FT_FOLLOW_NONE;
    memcpy(made.path, path, length + 1);
    ft_vec_push(&o->modules, made);
    return (uint32_t)o->modules.len - 1;
}

/* Of a return address. */
static ft_follow_place find_place(order *o, const ft_native *native, uint64_t pc)
{
    ft_native_place place = ft_native_place_of(native, pc);
    ft_follow_place found = {.module = FT_FOLLOW_NONE};
    if (!pc || !place.module) return found;
    found.module = module_of(o, ft_native_is_program(native, &place) ? "" : place.module);
    found.first = (uint32_t)o->ranges.len;
    found.n = 1;
    /* the place is the call before it */
    for (size_t i = 0; i < o->ranges.len; i++)
        if (o->ranges.data[i].from == place.offset) return found.first = (uint32_t)i, found;
    ft_vec_push(&o->ranges, (ft_follow_range){place.offset, place.offset + 1});
    return found;
}

static bool is_on_descriptor(const ft_x_operation *o)
{
    ft_x_kind kind = (ft_x_kind)o->kind;
    bool of_file = ft_x_kind_class(kind) == FT_X_MEMORY && o->value; /* or of its name */
    return kind == FT_X_READY || of_file || ft_x_kind_class(kind) == FT_X_CHANNEL;
}

/* Actors have the explorer's numbers; those that the run does not have are nobody's children. */
/* Does the thread stand before a lock or a join in a run that ended with threads in a cycle? */
static bool is_left_waiting(const ft_native *native, const ft_x_run *run, size_t thread)
{
    const ft_native_failure *failure = ft_native_failure_of(native, run);
    ft_x_kind kind = (ft_x_kind)run->pending[thread].kind;
    bool waits =
        kind == FT_X_LOCK || kind == FT_X_READ_LOCK || kind == FT_X_WRITE_LOCK || kind == FT_X_JOIN;
    return waits && run->end == FT_X_DONE && failure && failure->kind == FT_EXPLORING_FAILED_STUCK;
}

static void add_actors(order *o, const ft_native *native, const ft_x_run *run)
{
    const ft_exploring_thread *threads;
    size_t n = ft_native_threads(native, &threads);
    for (size_t t = 0; t < n; t++) {
        ft_follow_actor a = {.parent = t ? threads[t].parent : FT_FOLLOW_NONE,
                             .child = threads[t].number,
                             .on_descriptor = is_on_descriptor(&run->pending[t]),
                             .waits = is_left_waiting(native, run, t)};
        a.place = find_place(o, native, ft_native_pending_pc(native, (uint32_t)t));
        ft_vec_push(&o->actors, a);
    }
}

static ft_follow_entry entry_of(order *o, const ft_native *native, const ft_x_run *run, size_t i)
{
    const ft_x_action *a = &run->steps.data[i];
    ft_follow_entry e = {
        .actor = a->thread, .kind = a->operation.kind, .variant = (uint32_t)a->variant};
    ft_native_origin origin = ft_native_step_origin(native, i);
    e.place = find_place(o, native, origin.pc);
    if (origin.in_call || is_on_descriptor(&a->operation)) e.call = origin.call;
    return e;
}

void ft_order_print(const ft_native *native, const ft_x_run *run, ft_strbuf *out)
{
    order o = {0};
    add_actors(&o, native, run);
    for (size_t i = 0; i < run->steps.len; i++) {
        ft_follow_entry e = entry_of(&o, native, run, i);
        assert(e.actor < o.actors.len);
        ft_vec_push(&o.entries, e);
    }
    ft_follow head = {.entries = (uint32_t)o.entries.len,
                      .actors = (uint32_t)o.actors.len,
                      .modules = (uint32_t)o.modules.len,
                      .ranges = (uint32_t)o.ranges.len};
    ft_strbuf_add(out, (const char *)&head, sizeof head);
    ft_strbuf_add(out, (const char *)o.entries.data, o.entries.len * sizeof *o.entries.data);
    ft_strbuf_add(out, (const char *)o.actors.data, o.actors.len * sizeof *o.actors.data);
    ft_strbuf_add(out, (const char *)o.modules.data, o.modules.len * sizeof *o.modules.data);
    ft_strbuf_add(out, (const char *)o.ranges.data, o.ranges.len * sizeof *o.ranges.data);
    ft_vec_release(&o.ranges);
    ft_vec_release(&o.entries);
    ft_vec_release(&o.actors);
    ft_vec_release(&o.modules);
}
