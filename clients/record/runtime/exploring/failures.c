/* Failures: a thread that crashed, or that an assertion or abort() stopped, stands before the end
 * of the process. Others may go on before. */
#include <signal.h>
#include <string.h>
#include <ucontext.h>
#include <unwind.h>

#include "exploring/run.h"
#include "libc/contract.h"
#include "libc/libc.h"
#include "rewinding/kept.h"
#include "rewinding/rewinding.h"

enum { STACK = 1 << 15 };

/* A crash may be an overflow of the thread's own stack. A rewind leaves these as they are; NULL:
 * there is no memory for them. */
static char (*stacks)[STACK];

uint32_t ft_rt_x_crashed;

static const int SIGNALS[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS};

/* ---- places: of a failure in a library, the program's call into it */

typedef struct place {
    uintptr_t pc, found;
    bool is_behind; /* the frames behind that of pc */
} place;

static bool is_in_program(uintptr_t pc)
{
    const ft_exploring_module *program = &ft_rt_x_header->modules[0];
    return ft_rt_x_header->n_modules && pc >= program->from && pc < program->to;
}

static _Unwind_Reason_Code look_at(struct _Unwind_Context *frame, void *context)
{
    place *p = context;
    uintptr_t ip = _Unwind_GetIP(frame);
    if (p->is_behind && is_in_program(ip)) p->found = ip;
    p->is_behind = p->is_behind || ip == p->pc || ip + 1 == p->pc; /* of a signal: not behind it */
    return p->found ? _URC_NORMAL_STOP : _URC_NO_REASON;
}

/* The unwinder's own locks are nobody's concern. */
static const void *in_program(const void *pc)
{
    ft_rt_x_thread *self = ft_rt_x_self;
    place p = {.pc = (uintptr_t)pc};
    if (!pc || is_in_program(p.pc)) return pc;
    ft_rt_x_self = NULL;
    _Unwind_Backtrace(look_at, &p);
    ft_rt_x_self = self;
    return p.found ? (const void *)p.found : pc;
}

void ft_rt_x_fail(uint32_t failure, int code, const char *text, const void *pc)
{
    ft_rt_x_thread *self = ft_rt_x_self;
    FT_REQUIRE(self && failure < FT_EXPLORING_FAILURES);
    pc = in_program(pc);
    self->failure = (ft_exploring_result){
        .failure = failure, .thread = self->number, .code = code, .pc = (uintptr_t)pc};
    ft_rt_x_copy_text(self->failure.text, sizeof self->failure.text, text);
    ft_rt_explore(&(ft_x_operation){.kind = FT_X_EXIT, .value = failure, .value2 = code}, pc);
    __builtin_unreachable();
}

void ft_rt_x_assert(const char *expression, const void *pc)
{
    ft_rt_x_fail(FT_EXPLORING_FAILED_ASSERT, SIGABRT, expression, pc);
}

static const void *place_of(const ucontext_t *context)
{
#if defined __x86_64__
    return (const char *)context->uc_mcontext.gregs[REG_RIP] + 1; /* as behind a call */
#elif defined __aarch64__
    return (const char *)context->uc_mcontext.pc + 1;
#else
    (void)context;
    return NULL;
#endif
}

static void crash(int number, siginfo_t *info, void *context)
{
    (void)info;
    bool explored = ft_rt_x_self && (!ft_rt_rewinds() || ft_rt_rewinding_in_run());
    if (explored && ft_rt_x_crashed < FT_X_THREADS - 1) {
        ft_rt_x_crashed++;
        ft_rt_x_fail(FT_EXPLORING_FAILED_SIGNAL, number, "", place_of(context));
    }
    struct sigaction usual = {.sa_handler = SIG_DFL};
    FT_REAL(sigaction)(number, &usual, NULL); /* it happens again */
}

void ft_rt_x_failures_thread(uint32_t number)
{
    if (!stacks) return;
    stack_t stack = {.ss_sp = stacks[number], .ss_size = STACK};
    sigaltstack(&stack, NULL);
}

/* Handlers of the program's own stay. */
void ft_rt_x_failures_start(void)
{
    for (size_t i = 0; i < sizeof SIGNALS / sizeof *SIGNALS; i++) {
        struct sigaction now;
        struct sigaction ours = {.sa_sigaction = crash,
                                 .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
        if (FT_REAL(sigaction)(SIGNALS[i], NULL, &now) || now.sa_handler != SIG_DFL) continue;
        FT_REAL(sigaction)(SIGNALS[i], &ours, NULL);
    }
    if (!stacks) stacks = ft_rt_kept((size_t)FT_X_THREADS * STACK);
    ft_rt_x_failures_thread(0);
}
