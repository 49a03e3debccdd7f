/* Functions of other checkers, and assert without its header: the assertion fails. */
#include <pthread.h>

int nondet_int();
void assume(int condition);
void __CPROVER_assume(_Bool condition);
void __CPROVER_assert(_Bool condition, const char *text);
void __ESBMC_assume(_Bool condition);
void __ESBMC_assert(_Bool condition, const char *text);
void __ESBMC_atomic_begin(void);
void __ESBMC_atomic_end(void);
void __CPROVER_atomic_begin(void);
void __CPROVER_atomic_end(void);

int n;

/* The program's own: not an input. */
_Bool nondet_bool(void)
{
    return 1;
}

void *add(void *unused)
{
    __ESBMC_atomic_begin();
    n = n + 1;
    __ESBMC_atomic_end();
    return unused;
}

int main(void)
{
    pthread_t t;
    int x = nondet_int();
    __ESBMC_assume(x >= 0);
    __CPROVER_assume(x <= 1);
    assume(x != 1);
    pthread_create(&t, 0, add, 0);
    __CPROVER_atomic_begin();
    n = n + 1;
    __CPROVER_atomic_end();
    pthread_join(t, 0);
    assert(n == 1);
    __ESBMC_assert(nondet_bool(), "its own");
    __CPROVER_assert(x == 0, "assumed");
    return 0;
}
