/* The two bug patterns of Lu, Tucek, Qin and Zhou (ASPLOS 2006) that Wang et al. §9.2 mimic: a log
 * rotated while another thread logs, and a string appended to a log buffer in several steps. Every
 * access is locked; what is broken is the atomicity of the whole. */
#include "bench/programs/programs.h"
#include "bench/programs/sim.h"

enum { MAX_CELLS = 64 };

typedef struct logs {
    ft_symbol open, entries, done;
    ft_symbol length, cell[MAX_CELLS];
    ft_symbol a;
    uint32_t lock, ready;
    const ft_program_shape *shape;
} logs;

/* The repair: the second thread starts when the first has said that it is done. */
static void tell(ft_sim *sim, logs *l)
{
    if (l->shape->variant == 0) return;
    LOCK(l->lock);
    SET(l->done, N(1));
    SIGNAL(l->ready);
    UNLOCK(l->lock);
}

static void listen(ft_sim *sim, logs *l)
{
    if (l->shape->variant == 0) return;
    LOCK(l->lock);
    while (IF(EQ(V(l->done), N(0)))) WAIT(l->ready, l->lock);
    UNLOCK(l->lock);
}

static void declare(ft_sim *sim, logs *l)
{
    if (l->shape->variant) {
        l->done = ft_sim_shared(sim, "done", FT_NO_EVENT, 0);
        l->ready = ft_sim_condition(sim, "ready", FT_NO_EVENT);
    }
    l->a = ft_sim_local(sim, "a");
    l->lock = ft_sim_mutex(sim, "lock", FT_NO_EVENT);
}

/* ---- atom001 ---- */

static void rotate(ft_sim *sim, void *context, uint32_t number)
{
    (void)number;
    logs *l = context;
    TX_BEGIN();
    LOCK(l->lock);
    SET(l->open, N(0));
    SET(l->a, V(l->entries));
    UNLOCK(l->lock);
    LOCK(l->lock);
    SET(l->a, SUB(V(l->a), V(l->entries)));
    SET(l->open, N(1));
    UNLOCK(l->lock);
    TX_END();
    tell(sim, l);
}

static void log_entry(ft_sim *sim, void *context, uint32_t number)
{
    (void)number;
    logs *l = context;
    listen(sim, l);
    LOCK(l->lock);
    SET(l->a, V(l->open)); /* what it sees here between the two sections is the bug */
    UNLOCK(l->lock);
    LOCK(l->lock);
    if (IF(EQ(V(l->open), N(1)))) SET(l->entries, ADD(V(l->entries), N(1)));
    UNLOCK(l->lock);
}

static void run_rotation(ft_sim *sim, void *context, uint32_t number)
{
    (void)number;
    logs *l = context;
    SET(l->open, N(1));
    SET(l->entries, N(0));
    uint32_t first = FORK(rotate, 1), second = FORK(log_entry, 2);
    JOIN(first);
    JOIN(second);
    SET(l->a, V(l->entries));
}

ft_trace *ft_program_atom001(const ft_program_shape *shape)
{
    ft_sim *sim = ft_sim_new("atom001.c", 0);
    logs l = {.shape = shape};
    l.open = ft_sim_shared(sim, "open", FT_NO_EVENT, 0);
    l.entries = ft_sim_shared(sim, "entries", FT_NO_EVENT, 0);
    declare(sim, &l);
    return ft_sim_run(sim, run_rotation, &l);
}

/* ---- atom002 ---- */

static void append(ft_sim *sim, logs *l, int64_t letter)
{
    LOCK(l->lock);
    SET(l->a, V(l->length));
    int64_t base = ft_sim_value(sim, l->a);
    UNLOCK(l->lock);
    IF(EQ(V(l->a), N(base))); /* the cells below are those of this length */
    for (uint32_t i = 0; i < l->shape->size; i++) {
        LOCK(l->lock);
        SET(l->a, V(l->length));
        SET(l->cell[(uint32_t)base + i], N(letter));
        UNLOCK(l->lock);
    }
    LOCK(l->lock);
    SET(l->length, ADD(V(l->a), N((int64_t)l->shape->size)));
    UNLOCK(l->lock);
}

static void first_writer(ft_sim *sim, void *context, uint32_t number)
{
    logs *l = context;
    TX_BEGIN();
    append(sim, l, number);
    TX_END();
    tell(sim, l);
}

static void second_writer(ft_sim *sim, void *context, uint32_t number)
{
    logs *l = context;
    listen(sim, l);
    LOCK(l->lock);
    SET(l->length, ADD(V(l->length), N(1)));
    SET(l->cell[l->shape->size], N(number));
    UNLOCK(l->lock);
}

static void run_append(ft_sim *sim, void *context, uint32_t number)
{
    (void)number;
    logs *l = context;
    SET(l->length, N(0));
    uint32_t first = FORK(first_writer, 1), second = FORK(second_writer, 2);
    JOIN(first);
    JOIN(second);
    ASSERT(EQ(V(l->length), N((int64_t)l->shape->size + 1)));
}

ft_trace *ft_program_atom002(const ft_program_shape *shape)
{
    ft_sim *sim = ft_sim_new("atom002.c", 0);
    logs l = {.shape = shape};
    l.length = ft_sim_shared(sim, "length", FT_NO_EVENT, 0);
    for (uint32_t i = 0; i <= shape->size; i++) l.cell[i] = ft_sim_shared(sim, "cell", i, 0);
    declare(sim, &l);
    return ft_sim_run(sim, run_append, &l);
}
