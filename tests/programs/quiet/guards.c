/* What keeps threads apart outside of the lock that guards it: a flag, counts of readers and of
 * references, slots of a pool; the same made of atomics. -DWRONG: readers do not look whether
 * somebody writes. -DLATE: what a spin lock guards is changed behind it. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST = 8 };
static int rounds;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

static void run(void *(*const work[])(void *), int n, void *what)
{
    pthread_t threads[MOST];
    for (int i = 0; i < n; i++) pthread_create(&threads[i], NULL, work[i], what);
    for (int i = 0; i < n; i++) pthread_join(threads[i], NULL);
}

/* ---- a flag ---- */

static int busy;
static long total;

static void *take_in_turns(void *unused)
{
    for (int i = 0; i < rounds; i++) {
        pthread_mutex_lock(&lock);
        while (busy) pthread_cond_wait(&changed, &lock);
        busy = 1;
        pthread_mutex_unlock(&lock);
        total += i;
        pthread_mutex_lock(&lock);
        busy = 0;
        pthread_cond_signal(&changed);
        pthread_mutex_unlock(&lock);
    }
    return unused;
}

/* ---- readers and writers ---- */

static int readers, writes;
static long table[4];

static void *read_all(void *unused)
{
    long sum = 0;
    for (int i = 0; i < rounds; i++) {
        pthread_mutex_lock(&lock);
#ifndef WRONG
        while (writes) pthread_cond_wait(&changed, &lock);
#endif
        readers++;
        pthread_mutex_unlock(&lock);
        for (int k = 0; k < 4; k++) sum += table[k];
        pthread_mutex_lock(&lock);
        if (--readers == 0) pthread_cond_broadcast(&changed);
        pthread_mutex_unlock(&lock);
    }
    return sum < 0 ? unused : NULL;
}

static void *write_all(void *unused)
{
    for (int i = 0; i < rounds; i++) {
        pthread_mutex_lock(&lock);
        while (writes || readers) pthread_cond_wait(&changed, &lock);
        writes = 1;
        pthread_mutex_unlock(&lock);
        for (int k = 0; k < 4; k++) table[k]++;
        pthread_mutex_lock(&lock);
        writes = 0;
        pthread_cond_broadcast(&changed);
        pthread_mutex_unlock(&lock);
    }
    return unused;
}

/* ---- slots ---- */

enum { SLOTS = 3 };
static char used[SLOTS];
static long slots[SLOTS][2];

static int take_slot(void)
{
    pthread_mutex_lock(&lock);
    for (int i = 0;; i = (i + 1) % SLOTS) {
        if (!used[i]) {
            used[i] = 1;
            pthread_mutex_unlock(&lock);
            return i;
        }
        if (i == SLOTS - 1) pthread_cond_wait(&changed, &lock);
    }
}

static void *use_slots(void *unused)
{
    for (int i = 0; i < rounds; i++) {
        int slot = take_slot();
        slots[slot][i % 2]++;
        pthread_mutex_lock(&lock);
        used[slot] = 0;
        pthread_cond_signal(&changed);
        pthread_mutex_unlock(&lock);
    }
    return unused;
}

/* ---- references ---- */

static struct thing {
    pthread_mutex_t lock;
    int references;
    long sum, name;
} * thing;

static void hold(struct thing *t)
{
    pthread_mutex_lock(&t->lock);
    t->references++;
    pthread_mutex_unlock(&t->lock);
}

static void let_go(struct thing *t)
{
    pthread_mutex_lock(&t->lock);
    int left = --t->references;
    pthread_mutex_unlock(&t->lock);
    if (left) return;
    pthread_mutex_destroy(&t->lock);
    free(t);
}

static void *use_thing(void *what)
{
    struct thing *t = what;
    long names = 0;
    for (int i = 0; i < rounds; i++) {
        hold(t);
        names += t->name;
        pthread_mutex_lock(&t->lock);
        t->sum += i;
        pthread_mutex_unlock(&t->lock);
        let_go(t);
    }
    let_go(t);
    return names < 0 ? what : NULL;
}

static void share_thing(void)
{
    pthread_t threads[3];
    thing = calloc(1, sizeof *thing);
    pthread_mutex_init(&thing->lock, NULL);
    thing->references = thing->name = 1;
    for (int i = 0; i < 3; i++) {
        hold(thing);
        pthread_create(&threads[i], NULL, use_thing, thing);
    }
    let_go(thing);
    for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
}

/* ---- of atomics ---- */

static atomic_flag taken = ATOMIC_FLAG_INIT;
static atomic_int owner;
static long guarded[2];

static void *spin(void *unused)
{
    for (int i = 0; i < rounds; i++) {
        while (atomic_flag_test_and_set(&taken)) sched_yield();
#ifndef LATE
        guarded[0]++;
#endif
        atomic_flag_clear(&taken);
#ifdef LATE
        guarded[0]++;
#endif
        for (int nobody = 0; !atomic_compare_exchange_weak(&owner, &nobody, 1); nobody = 0)
            sched_yield();
        guarded[1]++;
        atomic_store(&owner, 0);
    }
    return unused;
}

static struct shared {
    atomic_int references;
    long name;
} * shared;

static void drop(struct shared *s)
{
    if (atomic_fetch_sub(&s->references, 1) == 1) free(s);
}

static void *use_shared(void *what)
{
    struct shared *s = what;
    long names = 0;
    for (int i = 0; i < rounds; i++) {
        atomic_fetch_add(&s->references, 1);
        names += s->name;
        drop(s);
    }
    names += s->name;
    drop(s);
    return names < 0 ? what : NULL;
}

static void share_by_atomics(void)
{
    pthread_t threads[4];
    shared = calloc(1, sizeof *shared);
    shared->name = 1;
    atomic_init(&shared->references, 5);
    for (int i = 0; i < 4; i++) pthread_create(&threads[i], NULL, use_shared, shared);
    drop(shared);
    for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
}

int main(int argc, char **argv)
{
    rounds = argc > 1 ? atoi(argv[1]) : 40;
    run((void *(*const[])(void *)){take_in_turns, take_in_turns, take_in_turns}, 3, NULL);
    run((void *(*const[])(void *)){read_all, read_all, write_all, write_all}, 4, NULL);
    run((void *(*const[])(void *)){use_slots, use_slots, use_slots, use_slots}, 4, NULL);
    share_thing();
    run((void *(*const[])(void *)){spin, spin, spin}, 3, NULL);
    share_by_atomics();
    printf("%ld %ld %ld %ld\n", total, table[0], slots[0][0] + slots[0][1],
           guarded[0] + guarded[1]);
    return 0;
}
