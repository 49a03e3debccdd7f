/* Bank-av, -sav and -nav of Wang et al. table 2: nested locks, known atomicity violations, and two
 * repairs by flags and condition variables that locks and forks alone do not show. Each account of
 * the ring is used by two threads: its owner withdraws, its neighbour deposits. */
#include "bench/programs/programs.h"
#include "bench/programs/sim.h"

enum { BALANCE = 100, LIMIT = 0, MAX_ACCOUNTS = 64 };

typedef struct bank {
    ft_symbol balance[MAX_ACCOUNTS], reserved[MAX_ACCOUNTS], total, a;
    uint32_t lock[MAX_ACCOUNTS], free[MAX_ACCOUNTS], vault;
    const ft_program_shape *shape;
} bank;

static bool is_guarded(const bank *b, uint32_t account)
{
    return b->shape->variant == 2 || (b->shape->variant == 1 && account % 2 == 0);
}

static void reserve(ft_sim *sim, bank *b, uint32_t account)
{
    if (!is_guarded(b, account)) return;
    LOCK(b->lock[account]);
    while (IF(EQ(V(b->reserved[account]), N(1)))) WAIT(b->free[account], b->lock[account]);
    SET(b->reserved[account], N(1));
    UNLOCK(b->lock[account]);
}

static void give_back(ft_sim *sim, bank *b, uint32_t account)
{
    if (!is_guarded(b, account)) return;
    LOCK(b->lock[account]);
    SET(b->reserved[account], N(0));
    SIGNAL(b->free[account]);
    UNLOCK(b->lock[account]);
}

/* Looks at the balance first, then changes it under the account's and the vault's locks. */
static void move(ft_sim *sim, bank *b, uint32_t account, int64_t amount)
{
    reserve(sim, b, account);
    TX_BEGIN();
    SET(b->a, V(b->balance[account]));
    if (IF(LE(N(LIMIT), ADD(V(b->a), N(amount))))) {
        LOCK(b->lock[account]);
        LOCK(b->vault);
        SET(b->a, V(b->balance[account]));
        SET(b->balance[account], ADD(V(b->a), N(amount)));
        SET(b->total, ADD(V(b->total), N(amount)));
        UNLOCK(b->vault);
        UNLOCK(b->lock[account]);
    }
    TX_END();
    give_back(sim, b, account);
}

static void teller(ft_sim *sim, void *context, uint32_t number)
{
    bank *b = context;
    move(sim, b, number - 1, -(int64_t)number);
    move(sim, b, number % b->shape->threads, number);
}

static void main_thread(ft_sim *sim, void *context, uint32_t number)
{
    (void)number;
    bank *b = context;
    uint32_t tellers[MAX_ACCOUNTS], n = b->shape->threads;
    for (uint32_t i = 0; i < n; i++) SET(b->balance[i], N(BALANCE));
    for (uint32_t i = 0; i < n; i++) tellers[i] = FORK(teller, i + 1);
    for (uint32_t i = 0; i < n; i++) JOIN(tellers[i]);
}

ft_trace *ft_program_bank(const ft_program_shape *shape)
{
    ft_sim *sim = ft_sim_new("bank.c", 0);
    bank b = {.shape = shape};
    for (uint32_t i = 0; i < shape->threads; i++) {
        b.balance[i] = ft_sim_shared(sim, "balance", i, 0);
        b.lock[i] = ft_sim_mutex(sim, "lock", i);
        if (!is_guarded(&b, i)) continue;
        b.reserved[i] = ft_sim_shared(sim, "reserved", i, 0);
        b.free[i] = ft_sim_condition(sim, "free", i);
    }
    b.a = ft_sim_local(sim, "a");
    b.total = ft_sim_shared(sim, "total", FT_NO_EVENT, 0);
    b.vault = ft_sim_mutex(sim, "vault", FT_NO_EVENT);
    return ft_sim_run(sim, main_thread, &b);
}
