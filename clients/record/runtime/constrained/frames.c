/* Frames of the program's functions, by the unwinder of gcc's runtime library. */
#include <dlfcn.h>
#include <unwind.h>

#include "constrained/constrained.h"

/* Looked up, so that programs that need no frames do not load the library. */
static struct {
    _Unwind_Reason_Code (*backtrace)(_Unwind_Trace_Fn each, void *context);
    _Unwind_Ptr (*pc)(struct _Unwind_Context *context);
    _Unwind_Word (*stack)(struct _Unwind_Context *context);
    _Unwind_Word (*value)(struct _Unwind_Context *context, int number);
} unwinder;

static void look_up(void *library)
{
    *(void **)&unwinder.pc = dlsym(library, "_Unwind_GetIP");
    *(void **)&unwinder.stack = dlsym(library, "_Unwind_GetCFA");
    *(void **)&unwinder.value = dlsym(library, "_Unwind_GetGR");
    *(void **)&unwinder.backtrace = dlsym(library, "_Unwind_Backtrace");
}

void ft_rt_c_frames_open(void)
{
    void *library = dlopen("libgcc_s.so.1", RTLD_NOW);
    if (library) look_up(library);
    if (!unwinder.pc || !unwinder.stack || !unwinder.value) unwinder.backtrace = NULL;
}

typedef struct walking {
    ft_rt_frames *frames;
    uintptr_t from; /* the first pc */
    bool begun;
} walking;

/* The unwinder calls the stack pointer behind a frame's call, which is the callee's canonical
 * address, the frame's: its own is that of the next frame. */
static _Unwind_Reason_Code see_frame(struct _Unwind_Context *context, void *walk)
{
    static const int numbers[] = {
#define FT_ROW(symbol, number) number,
        FT_CONSTRAINED_REGISTER_TABLE(FT_ROW)
#undef FT_ROW
    };
    walking *w = walk;
    ft_rt_frames *f = w->frames;
    uintptr_t pc = unwinder.pc(context), stack = unwinder.stack(context);
    w->begun |= pc == w->from;
    if (!w->begun) return _URC_NO_REASON;
    if (f->n) f->at[f->n - 1].registers[FT_CONSTRAINED_CFA] = stack;
    if (f->n == FT_RT_C_FRAMES) return f->cut = true, _URC_END_OF_STACK;
    struct ft_rt_frame *frame = &f->at[f->n++];
    frame->pc = pc;
    frame->registers[FT_CONSTRAINED_RSP] = stack;
    frame->registers[FT_CONSTRAINED_CFA] = 0; /* the outermost function has no variables */
    for (unsigned i = 0; i < sizeof numbers / sizeof *numbers; i++)
        frame->registers[i] = unwinder.value(context, numbers[i]);
    return _URC_NO_REASON;
}

void ft_rt_c_find_frames(const void *pc, ft_rt_frames *frames)
{
    walking w = {.frames = frames, .from = (uintptr_t)pc};
    frames->n = 0;
    frames->cut = false;
    if (unwinder.backtrace && pc) unwinder.backtrace(see_frame, &w);
}

static const ft_constrained_local *place_in(const ft_constrained_term *cell, uintptr_t pc)
{
    uintptr_t at = pc - 1 - ft_rt_c.base;
    for (uint32_t i = 0; i < cell->n_locals; i++) {
        const ft_constrained_local *l = &ft_rt_c.all.locals[cell->first_local + i];
        if (at >= l->from && at < l->to) return l;
    }
    return NULL;
}

/* The function may stand there several times, if it is recursive: the frames have to be as many as
 * the epoch says. */
bool ft_rt_c_local(const ft_rt_frames *frames, const ft_constrained_term *cell,
                   const struct ft_rt_frame **frame, const ft_constrained_local **local)
{
    uint32_t found = 0;
    for (uint32_t i = frames->cut ? 0 : frames->n; i-- > 0;) {
        const ft_constrained_local *l = place_in(cell, frames->at[i].pc);
        if (!l) continue;
        if (found++ != cell->which) continue;
        *frame = &frames->at[i];
        *local = l;
    }
    return found == cell->frames;
}
