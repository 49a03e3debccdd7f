/* Processor affinity. The program sees the processors that it was given. Once it sets the affinity
 * of a thread itself, the runtime no longer places threads (scheduling/processor.c). */
#include <sched.h>

#include "inputs/inputs.h"
#include "libc/libc.h"
#include "raw/inputs.h"
#include "scheduling/scheduling.h"
#include "state/thread.h"

static ft_rt_thread *thread_of(pid_t tid)
{
    ft_rt_thread *t = NULL;
    if (!tid) return ft_rt_self;
    for (uint32_t i = 0; (t = ft_rt_thread_at(i)) && t->tid != tid;) i++;
    return t;
}

int sched_getaffinity(pid_t pid, size_t size, cpu_set_t *to)
{
    return FT_RT_INPUT(
        FT_INPUT_SCHED_GETAFFINITY, FT_RT_STAYS,
        (ft_rt_processor_show(thread_of(pid)), FT_REAL(sched_getaffinity)(pid, size, to)), to,
        size);
}

int pthread_getaffinity_np(pthread_t thread, size_t size, cpu_set_t *to)
{
    return FT_RT_INPUT(FT_INPUT_SCHED_GETAFFINITY, FT_RT_STAYS,
                       (ft_rt_processor_show(ft_rt_thread_of(thread)),
                        FT_REAL(pthread_getaffinity_np)(thread, size, to)),
                       to, size);
}

int sched_setaffinity(pid_t pid, size_t size, const cpu_set_t *processors)
{
    ft_rt_processor_give_up();
    return FT_REAL(sched_setaffinity)(ft_rt_task(pid), size, processors);
}

int pthread_setaffinity_np(pthread_t thread, size_t size, const cpu_set_t *processors)
{
    ft_rt_processor_give_up();
    return FT_REAL(pthread_setaffinity_np)(thread, size, processors);
}

int pthread_attr_setaffinity_np(pthread_attr_t *attributes, size_t size,
                                const cpu_set_t *processors)
{
    ft_rt_processor_give_up();
    return FT_REAL(pthread_attr_setaffinity_np)(attributes, size, processors);
}
