/* Inputs of a recorded program (raw/inputs.h) in its trace, kept for replays.
 *
 * One after the other: varints thread, call, errno, module + 1 (0: not known), offset of the call's
 * return address in the module, result (zigzag), length; then as many bytes, which the call wrote
 * into the program's memory. Operations on channels stand between them: the result has the flags
 * (raw.h), the bytes are the channel. Only the last input may be cut short. */
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

/* Ordered by thread, then as they came; `at` is the content's offset in the trace's inputs. */
typedef struct ft_inputs {
    FT_VEC(ft_schedule_input) all;
    FT_VEC(uint32_t) first; /* [threads + 1] */
    FT_VEC(ft_schedule_channel) channels;
    FT_VEC(uint32_t) first_channel; /* [threads + 1] */
} ft_inputs;

/* FT_INPUT: the inputs are damaged. To be released whatever the status. */
ft_status ft_inputs_read(const ft_trace *trace, ft_inputs *inputs, ft_error *err) FT_MUST_CHECK;
void ft_inputs_release(ft_inputs *inputs);

#endif
