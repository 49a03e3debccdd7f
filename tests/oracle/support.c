/* Traces as text, in another order, and how to find one. */
#include "oracle/oracle.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "oracle/generate.h"
#include "oracle/state.h"
#include "trace/reader.h"
#include "verdict/checker.h"

static ft_status append(void *context, const void *data, size_t length, ft_error *err)
{
    (void)err;
    ft_strbuf_add(context, data, length);
    return FT_OK;
}

char *ft_oracle_dump(const ft_trace *trace)
{
    ft_strbuf text = {0};
    ft_error err = FT_ERROR_INIT;
    ft_status status = ft_ndjson_write(trace, append, &text, &err);
    if (status != FT_OK) ft_strbuf_printf(&text, "[not written: %s]", err.message);
    return ft_strbuf_take(&text);
}

static const char *line_start(const char *text, uint32_t line)
{
    while (line--) text = strchr(text, '\n') + 1;
    return text;
}

static void add_line(ft_strbuf *out, const char *text, uint32_t line)
{
    const char *start = line_start(text, line);
    ft_strbuf_add(out, start, (size_t)(strchr(start, '\n') - start) + 1);
}

ft_trace *ft_oracle_permute(const ft_trace *trace, const uint32_t *order)
{
    char *text = ft_oracle_dump(trace);
    ft_strbuf out = {0};
    add_line(&out, text, 0);
    for (uint32_t i = 0; i < trace->n_events; i++) add_line(&out, text, order[i] + 1);
    ft_trace *permuted = NULL;
    ft_error err = FT_ERROR_INIT;
    ft_status status = ft_trace_read_memory(out.text, out.len, &permuted, &err);
    if (status != FT_OK) fprintf(stderr, "%s\n%s", err.message, ft_strbuf_text(&out));
    assert(status == FT_OK);
    ft_observe_run(permuted);
    if (permuted->broken != FT_NO_EVENT)
        fprintf(stderr, "%s\n%s", permuted->broken_text, ft_strbuf_text(&out));
    assert(permuted->broken == FT_NO_EVENT);
    ft_strbuf_release(&out);
    free(text);
    return permuted;
}

bool ft_oracle_reads_unborn(const ft_trace *trace)
{
    for (uint32_t e = 0; e < trace->n_events; e++) {
        ft_access scratch;
        uint32_t count;
        const ft_access *accesses = ft_trace_accesses(trace, e, &scratch, &count);
        for (uint32_t i = 0; i < count && ft_trace_is_symbolic_event(trace, e); i++)
            if (trace->shared_info[accesses[i].variable].initial == FT_NO_VALUE) return true;
    }
    return false;
}

#define REORDER_TRIES 60

/* Appends what a thread executed or passed over since it was at `from`. */
static uint32_t append_events(const ft_machine *machine, uint32_t thread, uint32_t from,
                              uint32_t to, uint32_t *order, uint32_t n)
{
    for (uint32_t i = from; i < to; i++) order[n++] = machine->events[thread][i];
    return n;
}

/* One random walk; a dead end gives up. */
static bool walk(const ft_machine *machine, ft_random *random, uint32_t *order)
{
    const ft_monitor none = FT_NO_MONITOR;
    ft_state state, next[FT_MACHINE_BRANCHES];
    ft_machine_start(machine, &state);
    for (uint32_t n = 0; !ft_machine_complete(machine, &state);) {
        uint32_t able[FT_ORACLE_THREADS], count = 0;
        for (uint32_t t = 0; t < machine->n_threads; t++)
            if (ft_machine_step(machine, &none, &state, t, next)) able[count++] = t;
        if (!count) return false;
        uint32_t t = able[ft_random_below(random, count)];
        uint32_t branches = ft_machine_step(machine, &none, &state, t, next), from = state.pos[t];
        state = next[branches > 1 ? ft_random_below(random, branches) : 0];
        if (state.maybe) return false;
        n = append_events(machine, t, from, state.pos[t], order, n);
    }
    return true;
}

static bool is_identity(const uint32_t *order, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (order[i] != i) return false;
    return true;
}

bool ft_oracle_reorder(const ft_trace *trace, ft_model model, uint64_t seed, uint32_t *order)
{
    ft_machine *machine = ft_alloc(sizeof *machine);
    ft_random random;
    bool found = false, sayable = !ft_oracle_reads_unborn(trace);
    ft_machine_init(machine, trace, model, FT_WAKEUPS_ANY);
    ft_random_init(&random, seed);
    for (uint32_t i = 0; sayable && i < REORDER_TRIES && !found; i++)
        found = walk(machine, &random, order) && !is_identity(order, trace->n_events);
    free(machine);
    return found;
}
