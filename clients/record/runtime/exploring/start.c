/* The start of an explored program, and its first choice. */
#include <fcntl.h>
#include <link.h>
#include <linux/futex.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <unwind.h>

#include "exploring/needs.h"
#include "exploring/run.h"
#include "libc/contract.h"
#include "libc/libc.h"
#include "rewinding/rewinding.h"
#include "rewinding/snapshot.h"

bool ft_rt_exploring;
ft_exploring_header *ft_rt_x_header;
uint32_t ft_rt_x_only_slot;
const ft_rt_x_grade *ft_rt_x_grade_used;

/* ---- the shared memory */

static bool take(ft_exploring_header *h)
{
    uint32_t nobody = 0;
    return !memcmp(h->magic, FT_EXPLORING_MAGIC, sizeof h->magic) &&
           h->layout == ft_exploring_layout() &&
           __atomic_compare_exchange_n(&h->taken, &nobody, 1, false, __ATOMIC_ACQ_REL,
                                       __ATOMIC_RELAXED);
}

static ft_exploring_header *map(const char *path)
{
    struct stat about;
    int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0) return NULL;
    bool known =
        !FT_REAL(fstat)(fd, &about) && (size_t)about.st_size >= sizeof(ft_exploring_header);
    size_t size = known ? (size_t)about.st_size : 0;
    long at =
        known ? syscall(SYS_mmap, ft_rt_away(size), size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0)
              : -1;
    close(fd);
    return at == -1 ? NULL : (ft_exploring_header *)at;
}

/* ---- modules: objects in them are named before the first choice already */

static int add_module(struct dl_phdr_info *info, size_t size, void *unused)
{
    ft_exploring_header *h = ft_rt_x_header;
    (void)size;
    (void)unused;
    if (h->n_modules == FT_EXPLORING_MODULES) return 1;
    for (uint32_t i = 0; i < h->n_modules; i++)
        if (h->modules[i].base == info->dlpi_addr) return 0;
    ft_exploring_module *m = &h->modules[h->n_modules];
    memset(m, 0, sizeof *m);
    m->base = info->dlpi_addr;
    m->from = UINT64_MAX;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        if (info->dlpi_phdr[i].p_type != PT_LOAD) continue;
        uint64_t from = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
        uint64_t to = from + info->dlpi_phdr[i].p_memsz;
        if (from < m->from) m->from = from;
        if (to > m->to) m->to = to;
    }
    if (info->dlpi_name[0])
        ft_rt_x_copy_text(m->path, sizeof m->path, info->dlpi_name);
    else if (readlink("/proc/self/exe", m->path, sizeof m->path - 1) < 0)
        m->path[0] = 0;
    h->n_modules += m->to != 0;
    return 0;
}

static void in_child(void)
{
    ft_rt_exploring = false;
    ft_rt_x_self = NULL;
}

static _Unwind_Reason_Code end_there(struct _Unwind_Context *frame, void *unused)
{
    (void)frame;
    (void)unused;
    return _URC_NORMAL_STOP;
}

/* The unwinder, which pthread_exit and exceptions need, initialises itself once: now, so that it is
 * no action of a run. */
static void start_unwinder(void)
{
    _Unwind_Backtrace(end_there, NULL);
}

bool ft_rt_x_open(void)
{
    const char *path = getenv(FT_EXPLORING_VARIABLE);
    ft_exploring_header *h = path ? map(path) : NULL;
    if (!h || !take(h)) return false;
    if (!h->server) h->server = (uint32_t)getpid(); /* of the first one that was started */
    ft_rt_x_only_slot = h->only_slot;
    ft_rt_x_header = h;
    ft_rt_x.state.objects = ft_rt_x_states();
    ft_rt_snapshot_prepare();
    h->n_modules = 0; /* of another process of the program, which came first */
    dl_iterate_phdr(add_module, NULL);
    ft_rt_x_threads_start();
    pthread_atfork(NULL, NULL, in_child);
    ft_rt_exploring = true;
    start_unwinder();
    return true;
}

/* ---- the first choice */

/* "." and "..", and one for each thread. */
static bool is_alone(void)
{
    struct stat about;
    return FT_REAL(stat)("/proc/self/task", &about) || about.st_nlink <= 3;
}

/* Which grade the program is fit for, and in `why` what keeps it from those before. */
static ft_exploring_grade fit_for(ft_exploring_grade wanted, const char **why)
{
    if (wanted == FT_EXPLORING_ANEW) return wanted;
    if (!is_alone()) {
        *why = "the program has threads that the recorder did not see created";
        return FT_EXPLORING_ANEW;
    }
    if (wanted == FT_EXPLORING_REWIND) *why = ft_rt_rewinding_test();
    return *why ? FT_EXPLORING_FORK : wanted;
}

static void choose_grade(void)
{
    static const ft_rt_x_grade *const grades[] = {[FT_EXPLORING_REWIND] = &ft_rt_x_grade_rewind,
                                                  [FT_EXPLORING_FORK] = &ft_rt_x_grade_fork,
                                                  [FT_EXPLORING_ANEW] = &ft_rt_x_grade_anew};
    ft_exploring_header *h = ft_rt_x_header;
    const char *why = NULL;
    if (ft_rt_x_only_slot) { /* whatever the others' grade is */
        ft_rt_x_grade_used = &ft_rt_x_grade_anew;
        return;
    }
    ft_exploring_grade grade = fit_for((ft_exploring_grade)h->options.grade, &why);
    if (why) ft_rt_x_copy_text(h->why, sizeof h->why, why);
    h->grade = grade;
    ft_rt_x_grade_used = grades[grade];
}

static void say_ready(ft_rt_x_thread *self)
{
    ft_exploring_header *h = ft_rt_x_header;
    ft_exploring_slot *s = ft_exploring_slot_at(h, ft_rt_x_only_slot ? ft_rt_x_only_slot - 1 : 0);
    h->first = self->pending;
    dl_iterate_phdr(add_module, NULL);
    ft_rt_x_names_begin();
    ft_rt_x.slot = s;
    ft_rt_x_names_to_slot();
    s->n_objects = ft_rt_x.n_objects;
    choose_grade();
    __atomic_store_n(&h->ready, 1, __ATOMIC_RELEASE);
    syscall(SYS_futex, &h->ready, FUTEX_WAKE, 1, NULL, NULL, 0);
}

void ft_rt_x_first_choice(ft_rt_x_thread *self)
{
    assert(!ft_rt_x.begun);
    say_ready(self);
    ft_rt_x_failures_start();
    ft_rt_world_look();
    if (ft_rt_x_clocks_begin()) ft_rt_x_races_begin();
    ft_rt_x_inputs_begin();
    ft_rt_x.begun = true;
    ft_exploring_slot *s = ft_rt_x_grade_used->serve();
    ft_rt_x.slot = s;
    ft_rt_x.prefix = ft_exploring_prefix(s);
    ft_rt_x.steps = ft_exploring_steps(s, ft_rt_x_header->options.max_steps);
    ft_rt_x_names_to_slot();
    ft_rt_x_clocks_new_run();
    ft_rt_x_races_new_run();
    ft_rt_world_begins();
}

/* ---- the input */

void ft_rt_x_asks_input(void)
{
    ft_rt_x_header->asks_input = 1;
    if (!ft_rt_x.begun) syscall(SYS_exit_group, 0);
}

/* ---- the output */

bool ft_rt_x_keeps_output(void)
{
    return ft_rt_x_header->options.keeps_output;
}

char *ft_rt_x_output(size_t *room)
{
    *room = sizeof ft_rt_x.slot->output;
    return ft_rt_x.slot->output;
}

void ft_rt_x_output_is(size_t size)
{
    ft_rt_x.slot->output_size = size < UINT32_MAX ? (uint32_t)size : UINT32_MAX;
}
