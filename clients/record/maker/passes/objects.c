/* Lifetime of synchronisation objects: locking, signalling or waiting on an object that another
 * thread may initialise, destroy or free at the same time is reported as use outside its lifetime.
 *
 * Such an object is a variable of its own in a block of its own. Each use is a read of it, its
 * initialisation the first write, its end a free. All values are 0 and all accesses atomic, so that
 * the variable itself orders and forbids nothing. POSIX lets the thread that unlocked a mutex last
 * destroy it, a condition once nobody is blocked on it, and a barrier by the first thread that
 * leaves it: so leaving a condition's or a barrier's wait is not a use.
 *
 * A lock that uninstrumented code alone initialises, uses and ends has no such variable: what keeps
 * a library from using it too late, such as a count of references, is not in the log. */
#include "base/contract.h"
#include "maker/passes/passes.h"

enum { ZERO_SIZE = 4 };

static bool is_use(ft_event_kind kind)
{
    return kind != FT_EVENT_COND_WAKE && kind != FT_EVENT_BARRIER_LEAVE;
}

/* ---- first pass */

static void meet_use(ft_object_life *o, uint32_t thread)
{
    if (!o->used)
        o->user = thread;
    else if (o->user != thread)
        o->user = FT_SEVERAL_THREADS;
    o->used = true;
}

static bool is_lock(const ft_inventory_object *o)
{
    return o->class == FT_RAW_CLASS_MUTEX || o->class == FT_RAW_CLASS_RWLOCK;
}

static void meet_code(ft_maker *m, const ft_raw_record *r)
{
    const uint64_t *operands = r->operands;
    if (r->operation == FT_RAW_SYNC)
        m->objects.all.data[operands[2]].hooked |=
            ft_names_site_is(&m->names, operands[3], FT_SITE_INSTRUMENTED);
    if (r->operation == FT_RAW_INITIALISED || r->operation == FT_RAW_DESTROYED ||
        r->operation == FT_RAW_RECLAIMED)
        m->objects.all.data[operands[1]].hooked |=
            ft_names_site_is(&m->names, operands[0], FT_SITE_INSTRUMENTED);
}

/* Has another thread used it, while there were several? */
static bool is_shared(const ft_maker *m, const ft_object_life *o, uint32_t thread)
{
    return m->objects.unjoined && o->used && o->user != thread;
}

void ft_maker_meet_object(ft_maker *m, const ft_raw_record *r)
{
    const uint64_t *operands = r->operands;
    if (r->operation == FT_RAW_OBJECT) ft_vec_push(&m->objects.all, (ft_object_life){0});
    assert(m->objects.all.len == m->inventory.objects.len);
    meet_code(m, r);
    m->objects.unjoined += r->operation == FT_RAW_FORK;
    m->objects.unjoined -= r->operation == FT_RAW_JOIN && m->objects.unjoined;
    if (r->operation == FT_RAW_SYNC && is_use((ft_event_kind)operands[0]))
        meet_use(&m->objects.all.data[operands[2]], r->thread);
    if (r->operation == FT_RAW_INITIALISED) {
        ft_object_life *o = &m->objects.all.data[operands[1]];
        o->initialised = m->objects.unjoined;
        o->maker = r->thread;
    }
    if (r->operation == FT_RAW_DESTROYED || r->operation == FT_RAW_RECLAIMED) {
        ft_object_life *o = &m->objects.all.data[operands[1]];
        o->ends = is_shared(m, o, r->thread);
    }
}

/* ---- between the passes */

static ft_value zero(const ft_maker *m)
{
    if (m->terms) return ft_terms_value(ZERO_SIZE, 0);
    return (ft_value){.sort = FT_INT_SORT, .bits = 0};
}

static const char *object_name(const ft_maker *m, ft_raw_class class, uint32_t id)
{
    const ft_trace *trace = ft_builder_peek(m->builder);
    const ft_intern *const names[FT_RAW_CLASSES] = {[FT_RAW_CLASS_MUTEX] = &trace->locks,
                                                    [FT_RAW_CLASS_RWLOCK] = &trace->locks,
                                                    [FT_RAW_CLASS_CONDITION] = &trace->conditions,
                                                    [FT_RAW_CLASS_SEMAPHORE] = &trace->semaphores,
                                                    [FT_RAW_CLASS_BARRIER] = &trace->barriers,
                                                    [FT_RAW_CLASS_ONCE] = &trace->onces};
    return names[class]->names[id];
}

void ft_maker_declare_objects(ft_maker *m)
{
    for (uint64_t i = 0; i < m->objects.all.len; i++) {
        ft_object_life *o = &m->objects.all.data[i];
        ft_strbuf name = {0};
        ft_value value = zero(m);
        const ft_inventory_object *object = &m->inventory.objects.data[i];
        bool told = o->hooked || !is_lock(object);
        o->initialised &= told && o->used && o->user != o->maker;
        o->ends &= told;
        if (!o->ends && !o->initialised) continue;
        assert(o->used || !o->initialised);
        uint32_t id = ft_names_object(&m->names, i);
        ft_strbuf_printf(&name, "%s %s", ft_names_class(object->class),
                         object_name(m, object->class, id));
        o->variable = ft_builder_shared(m->builder, name.text, name.len, value.sort);
        uint32_t none = ft_builder_value(m->builder, value);
        if (!o->initialised) ft_builder_shared_initial(m->builder, o->variable, none);
        if (o->ends) o->block = ft_builder_block(m->builder, name.text, name.len, &o->variable, 1);
        ft_strbuf_release(&name);
    }
}

/* ---- second pass */

static void access_object(ft_maker *m, const ft_raw_record *r, ft_event_kind kind,
                          const ft_object_life *o, uint64_t site)
{
    assert(o->ends || o->initialised); /* only these have a variable */
    uint32_t value = ft_builder_value(m->builder, zero(m));
    ft_maker_event(m, kind, r, o->variable, site, value, FT_FLAG_ATOMIC);
}

void ft_maker_use_object(ft_maker *m, const ft_raw_record *r)
{
    const ft_object_life *o = &m->objects.all.data[r->operands[2]];
    if (!is_use((ft_event_kind)r->operands[0]) || (!o->ends && !o->initialised)) return;
    access_object(m, r, FT_EVENT_READ, o, r->operands[3]);
}

void ft_maker_initialise_object(ft_maker *m, const ft_raw_record *r)
{
    const ft_object_life *o = &m->objects.all.data[r->operands[1]];
    if (o->initialised) access_object(m, r, FT_EVENT_WRITE, o, r->operands[0]);
}

void ft_maker_destroy_object(ft_maker *m, const ft_raw_record *r)
{
    const ft_object_life *o = &m->objects.all.data[r->operands[1]];
    if (o->ends) ft_maker_event(m, FT_EVENT_FREE, r, o->block, r->operands[0], FT_NO_VALUE, 0);
}

/* In the step of the free. */
void ft_maker_reclaim_object(ft_maker *m, const ft_raw_record *r)
{
    ft_builder_hook(m->builder, m->threads.all.data[r->thread].steps);
    ft_maker_destroy_object(m, r);
    ft_builder_hook(m->builder, m->step);
}
