/* The account benchmark: each thread deposits to, withdraws from and pays out of its own account
 * under that account's lock; the payee's amount is another object's. */
#include "bench/programs/programs.h"
#include "bench/programs/sim.h"

enum { START = 100, DEPOSIT = 300, WITHDRAW = 100, PAYMENT = 99, MAX_ACCOUNTS = 32 };

typedef struct accounts {
    ft_symbol amount[MAX_ACCOUNTS], a;
    uint32_t lock[MAX_ACCOUNTS];
    const ft_program_shape *shape;
} accounts;

static void add(ft_sim *sim, accounts *b, uint32_t account, int64_t amount)
{
    SET(b->a, V(b->amount[account]));
    SET(b->amount[account], ADD(V(b->a), N(amount)));
}

static void add_locked(ft_sim *sim, accounts *b, uint32_t account, int64_t amount)
{
    LOCK(b->lock[account]);
    add(sim, b, account, amount);
    UNLOCK(b->lock[account]);
}

static void pay(ft_sim *sim, accounts *b, uint32_t from, uint32_t to)
{
    uint32_t low = from < to ? from : to, high = from < to ? to : from;
    bool both = b->shape->variant == 0;
    LOCK(b->lock[both ? low : from]);
    if (both) LOCK(b->lock[high]);
    add(sim, b, from, -PAYMENT);
    add(sim, b, to, PAYMENT);
    if (both) UNLOCK(b->lock[high]);
    UNLOCK(b->lock[both ? low : from]);
}

static void manager(ft_sim *sim, void *context, uint32_t number)
{
    accounts *b = context;
    add_locked(sim, b, number - 1, DEPOSIT);
    add_locked(sim, b, number - 1, -WITHDRAW);
    pay(sim, b, number - 1, number % b->shape->threads);
}

static void main_thread(ft_sim *sim, void *context, uint32_t number)
{
    (void)number;
    accounts *b = context;
    uint32_t managers[MAX_ACCOUNTS], n = b->shape->threads;
    for (uint32_t i = 0; i < n; i++) SET(b->amount[i], N(START));
    for (uint32_t i = 0; i < n; i++) managers[i] = FORK(manager, i + 1);
    for (uint32_t i = 0; i < n; i++) JOIN(managers[i]);
    ft_term total = V(b->amount[0]);
    for (uint32_t i = 1; i < n; i++) total = ADD(total, V(b->amount[i]));
    ASSERT(EQ(total, N((int64_t)n * (START + DEPOSIT - WITHDRAW))));
}

ft_trace *ft_program_account(const ft_program_shape *shape)
{
    ft_sim *sim = ft_sim_new("account.c", 0);
    accounts b = {.shape = shape};
    for (uint32_t i = 0; i < shape->threads; i++) {
        b.amount[i] = ft_sim_shared(sim, "amount", i, 0);
        b.lock[i] = ft_sim_mutex(sim, "lock", i);
    }
    b.a = ft_sim_local(sim, "a");
    return ft_sim_run(sim, main_thread, &b);
}
