/* Making contexts, switching between them, and their end in the C library. */
#include <dlfcn.h>
#include <errno.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "libc/contract.h"
#include "libc/libc.h"
#include "raw/raw.h"
#include "rewinding/contexts.h"
#include "rewinding/signals.h"
#include "rewinding/syscalls.h"

enum {
    RED_ZONE = 128,
    LEAST_SLOT = 8 << 20,
    WIDE_GUARD = 128 << 20,
    FSGSBASE = 2 /* bit of AT_HWCAP2 */
};

/* ---- switching
 *
 * The frame on a context's stack, from its stack pointer up: the control words of SSE and x87, six
 * callee-saved registers, the return address. Everything else is dead at a call. The thread
 * register is written by the instruction where the kernel allows it, else by arch_prctl. */

enum { FRAME_WORDS = 8, SSE_CONTROL = 0x1f80, X87_CONTROL = 0x37f };
enum { USED_AGAIN = 2 /* slots that were given back, in a run */ };

extern int ft_rt_context_fsgsbase;
int ft_rt_context_fsgsbase;

void ft_rt_context_swap(void **save, void *sp, uintptr_t fs);
void ft_rt_context_park(void **save, int *gone);

__asm__(".text\n"
        ".macro ft_rt_save\n"
        "  push %rbp\n  push %rbx\n  push %r12\n  push %r13\n  push %r14\n  push %r15\n"
        "  sub $8, %rsp\n"
        "  stmxcsr (%rsp)\n"
        "  fnstcw 4(%rsp)\n"
        "  mov %rsp, (%rdi)\n"
        ".endm\n"
        ".hidden ft_rt_context_swap\n"
        ".globl ft_rt_context_swap\n"
        ".type ft_rt_context_swap, @function\n"
        "ft_rt_context_swap:\n"
        "  ft_rt_save\n"
        "  mov %rsi, %rbx\n" /* the new stack pointer, over the system call */
        "  cmpl $0, ft_rt_context_fsgsbase(%rip)\n"
        "  je 1f\n"
        "  wrfsbase %rdx\n"
        "  jmp 2f\n"
        "1: mov $158, %eax\n"   /* arch_prctl */
        "  mov $0x1002, %edi\n" /* ARCH_SET_FS */
        "  mov %rdx, %rsi\n"
        "  syscall\n"
        "2: mov %rbx, %rsp\n"
        "  ldmxcsr (%rsp)\n"
        "  fldcw 4(%rsp)\n"
        "  add $8, %rsp\n"
        "  pop %r15\n  pop %r14\n  pop %r13\n  pop %r12\n  pop %rbx\n  pop %rbp\n"
        "  ret\n"
        ".size ft_rt_context_swap, . - ft_rt_context_swap\n"
        /* Behind the save nothing touches the stack: the context may go on as soon as the kernel
         * has cleared *gone. */
        ".hidden ft_rt_context_park\n"
        ".globl ft_rt_context_park\n"
        ".type ft_rt_context_park, @function\n"
        "ft_rt_context_park:\n"
        "  ft_rt_save\n"
        "  mov %rsi, %rdi\n"
        "  mov $218, %eax\n" /* set_tid_address: away from the C library's own word */
        "  syscall\n"
        "  xor %edi, %edi\n"
        "  mov $60, %eax\n" /* exit, of this kernel thread alone */
        "  syscall\n"
        "  hlt\n"
        ".size ft_rt_context_park, . - ft_rt_context_park\n");

/* The mask that the only kernel thread has. It is the running context's. */
static uint64_t mask_now;

void ft_rt_context_masked(uint64_t mask)
{
    mask_now = mask;
}

void ft_rt_context_switch(ft_rt_context *from, const ft_rt_context *to)
{
    FT_REQUIRE(from != to && to->fs && to->sp);
    from->mask = mask_now;
    if (to->mask != mask_now) {
        bool watched = ft_rt_syscalls_watch(false);
        mask_now = to->mask;
        syscall(SYS_rt_sigprocmask, SIG_SETMASK, &mask_now, NULL, FT_RT_MASK_SIZE);
        ft_rt_syscalls_watch(watched);
    }
    ft_rt_context_swap(&from->sp, to->sp, to->fs);
}

/* At the entry the stack is as behind a call: 8 modulo 16. */
ft_rt_context ft_rt_context_on(void *stack, size_t size, void (*entry)(void))
{
    enum { ALIGNMENT = 16 };
    FT_REQUIRE(size > 2 * FRAME_WORDS * sizeof(uintptr_t));
    uintptr_t top = ((uintptr_t)stack + size) & ~(uintptr_t)(ALIGNMENT - 1);
    uintptr_t *frame = (uintptr_t *)top - FRAME_WORDS - 1;
    memset(frame, 0, (FRAME_WORDS + 1) * sizeof *frame);
    frame[0] = SSE_CONTROL | (uintptr_t)X87_CONTROL << 32;
    frame[FRAME_WORDS - 1] = (uintptr_t)entry;
    return (ft_rt_context){frame, (uintptr_t)pthread_self(), mask_now};
}

/* ---- the pool */

typedef enum slot_state {
    FREE,   /* nothing is there, or the C library has given it back */
    PARKED, /* in reserve */
    USED,   /* a thread, which has not ended */
    ENDED   /* a thread that has ended and was not joined */
} slot_state;

typedef struct slot {
    ft_rt_context context;
    slot_state state;
    int gone; /* cleared by the kernel when the kernel thread has ended */
    void *(*start)(void *);
    void *argument;
    bool detached;
} slot;

static struct {
    char *stacks;
    size_t size, guard;   /* of a slot with its guard, and of that */
    ptrdiff_t tid_offset; /* of the thread number in the C library's descriptor */
    int first_tid;
    uintptr_t first_fs;
    slot slots[FT_RT_CONTEXTS];
    uint8_t given_back[FT_RT_CONTEXTS]; /* the last one is used first */
    uint32_t n_given_back;
    uint32_t n_used_again; /* of those */
    uint32_t n;            /* slots that were ever used; the others are behind them */
} pool;

static slot *slot_of(const ft_rt_context *context)
{
    slot *s = (slot *)(void *)((char *)(uintptr_t)context - offsetof(slot, context));
    FT_REQUIRE(s >= pool.slots && s < pool.slots + FT_RT_CONTEXTS);
    return s;
}

static size_t index_of(const slot *s)
{
    return (size_t)(s - pool.slots);
}

static char *stack_of(const slot *s)
{
    return pool.stacks + index_of(s) * pool.size;
}

static int *tid_of(uintptr_t fs)
{
    return (int *)(fs + (uintptr_t)pool.tid_offset);
}

int ft_rt_context_number(uintptr_t fs)
{
    return fs == pool.first_fs || !pool.stacks ? 0 : *tid_of(fs);
}

bool ft_rt_context_numbered(int number)
{
    return pool.stacks && number > pool.first_tid && number <= pool.first_tid + FT_RT_CONTEXTS;
}

/* A thread's usual stack, as `ulimit -s` or the program says. */
static size_t usual_stack(void)
{
    size_t size = LEAST_SLOT;
    pthread_attr_t usual;
    if (pthread_attr_init(&usual)) return size;
    pthread_attr_getstacksize(&usual, &size);
    pthread_attr_destroy(&usual);
    if (size < LEAST_SLOT) size = LEAST_SLOT;
    return (size + FT_RAW_PAGE - 1) / FT_RAW_PAGE * FT_RAW_PAGE;
}

/* The guard at each slot's low end also keeps the slots apart in /proc/self/maps. It is wide where
 * addresses are not limited: a large local variable is not to lie in memory beyond it. A huge page
 * would be cleared whole for a stack that needs a few kilobytes. */
static bool map_pool(void)
{
    size_t stack = usual_stack();
    for (pool.guard = WIDE_GUARD; pool.guard >= FT_RAW_PAGE;
         pool.guard /= WIDE_GUARD / FT_RAW_PAGE) {
        pool.size = pool.guard + stack;
        size_t all = pool.size * FT_RT_CONTEXTS + FT_RAW_PAGE;
        long at = syscall(SYS_mmap, ft_rt_away(all), all, PROT_NONE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (at == -1) continue;
        pool.stacks = (char *)at;
        syscall(SYS_madvise, at, all, MADV_NOHUGEPAGE);
        return true;
    }
    return false;
}

/* A stack becomes accessible when it is first needed, and stays so. */
static bool open_stack(const slot *s)
{
    bool watched = ft_rt_syscalls_watch(false);
    long failed = syscall(SYS_mprotect, stack_of(s) + pool.guard, pool.size - pool.guard,
                          PROT_READ | PROT_WRITE);
    ft_rt_syscalls_watch(watched);
    return !failed;
}

void ft_rt_contexts_pool(uintptr_t *from, uintptr_t *to)
{
    *from = (uintptr_t)pool.stacks;
    *to = *from ? *from + pool.size * FT_RT_CONTEXTS + FT_RAW_PAGE : 0;
}

/* The C library keeps the descriptor and thread-local memory at the stack's upper end. A stack of
 * the program's own is memory of the program. */
bool ft_rt_contexts_used(uint32_t i, uintptr_t *from, uintptr_t *to)
{
    FT_REQUIRE(i < FT_RT_CONTEXTS);
    const slot *s = &pool.slots[i];
    uintptr_t low = (uintptr_t)stack_of(s), high = low + pool.size;
    uintptr_t sp = (uintptr_t)s->context.sp;
    if (s->state == FREE || sp < low || sp >= high) return false;
    *from = sp - RED_ZONE;
    *to = high;
    return true;
}

/* ---- the C library's side */

/* Since glibc 2.35; older ones do not register. */
extern const ptrdiff_t __rseq_offset __attribute__((weak));
extern const unsigned int __rseq_size __attribute__((weak));

void ft_rt_context_quiet(void)
{
    enum { UNREGISTER = 1, SIZE = 32, SIGNATURE = 0x53053053 };
    int error = errno;
    if (!&__rseq_size || !__rseq_size) return;
    char *area = (char *)__builtin_thread_pointer() + __rseq_offset;
    syscall(SYS_rseq, area, SIZE, UNREGISTER, SIGNATURE); /* in vain where it is not registered */
    errno = error;
}

/* glibc registers the head of its list of robust mutexes, which stands right behind the thread
 * number and the list's own links. (A search for the number itself finds others by chance.) */
static bool find_tid(void)
{
    enum { BEFORE = 16 };
    void *head = NULL;
    size_t size;
    uintptr_t fs = (uintptr_t)pthread_self();
    if (syscall(SYS_get_robust_list, 0, &head, &size) || !head) return false;
    pool.tid_offset = (ptrdiff_t)((uintptr_t)head - BEFORE - fs);
    pool.first_tid = (int)syscall(SYS_gettid);
    pool.first_fs = fs;
    bool near = pool.tid_offset > 0 && pool.tid_offset < FT_RAW_PAGE;
    return near && *tid_of(fs) == pool.first_tid;
}

/* Contexts on a processor with shadow stacks would need one each. */
static bool has_shadow_stack(void)
{
    enum { SHADOW_STATUS = 0x5005 };
    unsigned long status = 0;
    return !syscall(SYS_arch_prctl, SHADOW_STATUS, &status) && status;
}

const char *ft_rt_contexts_check(void)
{
    if (pool.tid_offset) return NULL;
    if (has_shadow_stack()) return "the processor keeps shadow stacks";
    if (find_tid()) return NULL;
    pool.tid_offset = 0;
    return "the C library's thread descriptor has another layout than glibc's";
}

const char *ft_rt_contexts_start(void)
{
    const char *why = ft_rt_contexts_check();
    if (why || pool.stacks) return why;
    if (!map_pool()) return "there is no memory for stacks (ulimit -v)";
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, NULL, &mask_now, FT_RT_MASK_SIZE);
    ft_rt_context_fsgsbase = (int)(getauxval(AT_HWCAP2) & FSGSBASE);
    ft_rt_context_quiet();
    dlopen("libgcc_s.so.1", RTLD_NOW); /* pthread_exit needs it, and would load it in a run */
    return NULL;
}

/* First in the short-lived kernel thread; behind the park as a context. */
static void *begin(void *argument)
{
    slot *s = argument;
    s->context.fs = (uintptr_t)pthread_self();
    ft_rt_context_quiet();
    ft_rt_context_park(&s->context.sp, &s->gone);
    assert(s->state == USED);
    return s->start(s->argument);
}

/* The kernel's wake at a thread's end is of the shared kind. */
static void await_gone(slot *s)
{
    for (int gone; (gone = __atomic_load_n(&s->gone, __ATOMIC_ACQUIRE));)
        syscall(SYS_futex, &s->gone, FUTEX_WAIT, gone, NULL, NULL, 0);
}

/* All signals are blocked meanwhile, so that none is handled by the short-lived kernel thread. */
static int park_thread(slot *s, const pthread_attr_t *attributes)
{
    pthread_t handle;
    sigset_t all, before;
    bool watched = ft_rt_syscalls_watch(false);
    s->gone = 1;
    sigfillset(&all);
    FT_REAL(pthread_sigmask)(SIG_SETMASK, &all, &before);
    int error = FT_REAL(pthread_create)(&handle, attributes, begin, s);
    if (!error) await_gone(s);
    FT_REAL(pthread_sigmask)(SIG_SETMASK, &before, NULL);
    ft_rt_syscalls_watch(watched);
    if (error) return error;
    s->state = PARKED;
    *tid_of(s->context.fs) = pool.first_tid + 1 + (int)index_of(s);
    return 0;
}

/* A shallow copy of the program's attributes, which both must not be destroyed. */
static int park_on_slot(slot *s, const pthread_attr_t *attributes)
{
    pthread_attr_t own;
    if (!open_stack(s)) return EAGAIN;
    if (attributes)
        own = *attributes;
    else
        pthread_attr_init(&own);
    pthread_attr_setstack(&own, stack_of(s) + pool.guard, pool.size - pool.guard);
    pthread_attr_setdetachstate(&own, PTHREAD_CREATE_JOINABLE);
    int error = park_thread(s, &own);
    if (!attributes) pthread_attr_destroy(&own);
    return error;
}

static void give_back(slot *s)
{
    assert(s->state != FREE && pool.n_given_back < FT_RT_CONTEXTS);
    *s = (slot){.state = FREE};
    pool.given_back[pool.n_given_back++] = (uint8_t)index_of(s);
}

/* The real join finds the thread ended as the kernel would have said it, and frees all. */
static int reap(slot *s, void **result)
{
    uintptr_t fs = s->context.fs;
    FT_REQUIRE(s->state == ENDED);
    __atomic_store_n(tid_of(fs), 0, __ATOMIC_RELEASE);
    int error = FT_REAL(pthread_join)((pthread_t)fs, result);
    assert(!error);
    give_back(s);
    return error;
}

static void reap_detached(void)
{
    for (uint32_t i = 0; i < pool.n; i++)
        if (pool.slots[i].state == ENDED && pool.slots[i].detached) reap(&pool.slots[i], NULL);
}

static slot *free_slot(void)
{
    if (pool.n_given_back) {
        pool.n_used_again++;
        return &pool.slots[pool.given_back[--pool.n_given_back]];
    }
    return pool.n < FT_RT_CONTEXTS ? &pool.slots[pool.n++] : NULL;
}

/* A few handles are used again first, each for a kernel thread; then come those in reserve. */
static slot *parked_slot(void)
{
    if (pool.n_given_back && pool.n_used_again < USED_AGAIN) return NULL;
    for (uint32_t i = 0; i < pool.n; i++)
        if (pool.slots[i].state == PARKED) return &pool.slots[i];
    return NULL;
}

void ft_rt_contexts_reserve(uint32_t n)
{
    assert(pool.stacks && !pool.n_given_back);
    for (uint32_t i = 0; i < n && pool.n < FT_RT_CONTEXTS; i++)
        if (park_on_slot(&pool.slots[pool.n], NULL))
            return;
        else
            pool.n++;
}

/* ---- as the program sees it */

static bool has_own_stack(const pthread_attr_t *attributes)
{
    void *stack = NULL;
    size_t size = 0;
    return attributes && !pthread_attr_getstack(attributes, &stack, &size) &&
           (uintptr_t)stack + size;
}

static bool is_too_large(const pthread_attr_t *attributes)
{
    size_t size = 0;
    return attributes && !pthread_attr_getstacksize(attributes, &size) &&
           size > pool.size - pool.guard;
}

/* Could the system refuse such a thread? Then it is asked. */
static bool is_special(const pthread_attr_t *attributes)
{
    int inherits = PTHREAD_INHERIT_SCHED;
    return attributes && !pthread_attr_getinheritsched(attributes, &inherits) &&
           inherits != PTHREAD_INHERIT_SCHED;
}

/* On a stack of the program's, or of the C library's. */
static int park_elsewhere(slot *s, const pthread_attr_t *attributes)
{
    pthread_attr_t own = *attributes;
    pthread_attr_setdetachstate(&own, PTHREAD_CREATE_JOINABLE);
    return park_thread(s, &own);
}

int ft_rt_context_make(ft_rt_context **made, pthread_t *handle, const pthread_attr_t *attributes,
                       void *(*start)(void *), void *argument, bool *foreign)
{
    bool own = has_own_stack(attributes), large = !own && is_too_large(attributes);
    int error = 0, detached = PTHREAD_CREATE_JOINABLE;
    FT_REQUIRE(start && pool.stacks);
    reap_detached();
    slot *s = own || large || is_special(attributes) ? NULL : parked_slot();
    if (!s) {
        s = free_slot();
        if (!s) return EAGAIN;
        error = own || large ? park_elsewhere(s, attributes) : park_on_slot(s, attributes);
    }
    if (error) {
        pool.given_back[pool.n_given_back++] = (uint8_t)index_of(s);
        return error;
    }
    if (attributes) pthread_attr_getdetachstate(attributes, &detached);
    s->state = USED;
    s->context.mask = mask_now;
    s->start = start;
    s->argument = argument;
    s->detached = detached == PTHREAD_CREATE_DETACHED;
    *made = &s->context;
    *handle = (pthread_t)s->context.fs;
    *foreign = large;
    return 0;
}

void ft_rt_context_ends(ft_rt_context *self)
{
    slot *s = slot_of(self);
    FT_REQUIRE(s->state == USED);
    s->state = ENDED;
}

static slot *find(pthread_t handle)
{
    for (uint32_t i = 0; i < pool.n; i++) {
        slot *s = &pool.slots[i];
        bool lives = s->state == USED || s->state == ENDED;
        if (lives && pthread_equal((pthread_t)s->context.fs, handle)) return s;
    }
    return NULL;
}

/* The first thread may be joined once it has left by pthread_exit. */
static int join_first(pthread_t handle, void **result)
{
    __atomic_store_n(tid_of((uintptr_t)handle), 0, __ATOMIC_RELEASE);
    return FT_REAL(pthread_join)(handle, result);
}

int ft_rt_context_join(pthread_t handle, void **result)
{
    slot *s = find(handle);
    if ((uintptr_t)handle == pool.first_fs) return join_first(handle, result);
    if (!s) return ESRCH;
    if (s->detached) return EINVAL;
    return s->state == ENDED ? reap(s, result) : EBUSY;
}

int ft_rt_context_detach(pthread_t handle)
{
    slot *s = find(handle);
    if (!s) return ESRCH;
    if (s->detached) return EINVAL;
    s->detached = true;
    return 0;
}
