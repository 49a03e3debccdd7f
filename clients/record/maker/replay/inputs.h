/* The inputs of a recorded program (raw/inputs.h), as a trace keeps them for replays: one after the
 * other, each as varints thread, call, errno, module + 1 (0: not known), offset in it of the
 * call's return address, result (zigzag), and the length of what it wrote into the program's
 * memory, which follows. What threads did on channels stands between them: the flags (raw.h) are
 * the result, the channel the content. Only the last one may be cut short. */
#ifndef FT_RECORD_MAKER_INPUTS_H
#define FT_RECORD_MAKER_INPUTS_H

#include "base/memory.h"
#include "base/status.h"
#include "raw/schedule.h"
#include "trace/trace.h"

/* Appends the INPUT record to the trace; `module`: its index plus 1, 0: not known. */
void ft_inputs_add(ft_builder *builder, uint32_t thread, const uint64_t *operands, uint32_t module,
                   uint64_t offset);
/* The same of a CHANNEL record. */
void ft_inputs_add_channel(ft_builder *builder, uint32_t thread, const uint64_t *operands);

/* By threads, in the order of each; `at` is where the content stands in the trace's inputs. */
typedef struct ft_inputs {
    FT_VEC(ft_schedule_input) all;
    FT_VEC(uint32_t) first; /* [threads + 1] */
    FT_VEC(ft_schedule_channel) channels;
    FT_VEC(uint32_t) first_channel; /* [threads + 1] */
} ft_inputs;

/* FT_INPUT: they are damaged. Released whatever the status. */
ft_status ft_inputs_read(const ft_trace *trace, ft_inputs *inputs, ft_error *err) FT_MUST_CHECK;
void ft_inputs_release(ft_inputs *inputs);

#endif
