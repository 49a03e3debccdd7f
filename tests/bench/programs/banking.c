/* The banking example of Farchi, Nir and Ur (IPDPS 2003), checked for its functional correctness as
 * Wang et al. §9.1 do. */
#include "bench/programs/programs.h"
#include "bench/programs/sim.h"

enum { BALANCE = 100, MAX_THREADS = 64 };

typedef struct bank {
    ft_symbol account[2], a;
    uint32_t lock[2];
    const ft_program_shape *shape;
} bank;

static void update(ft_sim *sim, bank *b, int which, int64_t amount)
{
    LOCK(b->lock[which]);
    SET(b->a, V(b->account[which]));
    if (b->shape->variant == 1) {
        UNLOCK(b->lock[which]);
        LOCK(b->lock[which]);
    }
    SET(b->account[which], ADD(V(b->a), N(amount)));
    UNLOCK(b->lock[which]);
}

static void teller(ft_sim *sim, void *context, uint32_t number)
{
    bank *b = context;
    for (uint32_t i = 0; i < b->shape->rounds; i++) {
        update(sim, b, 0, -(int64_t)number);
        update(sim, b, 1, number);
    }
}

static void main_thread(ft_sim *sim, void *context, uint32_t number)
{
    (void)number;
    bank *b = context;
    uint32_t tellers[MAX_THREADS];
    for (uint32_t t = 0; t < b->shape->threads; t++) tellers[t] = FORK(teller, t + 1);
    for (uint32_t t = 0; t < b->shape->threads; t++) JOIN(tellers[t]);
    ASSERT(EQ(ADD(V(b->account[0]), V(b->account[1])), N(2 * BALANCE)));
}

ft_trace *ft_program_banking(const ft_program_shape *shape)
{
    ft_sim *sim = ft_sim_new("banking.c", 0);
    bank b = {.shape = shape};
    for (uint32_t i = 0; i < 2; i++) {
        b.account[i] = ft_sim_shared(sim, "account", i, BALANCE);
        b.lock[i] = ft_sim_mutex(sim, "lock", i);
    }
    b.a = ft_sim_local(sim, "a");
    return ft_sim_run(sim, main_thread, &b);
}
