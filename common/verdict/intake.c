#include "verdict/intake.h"

#include <stdlib.h>

#include "base/contract.h"
#include "trace/binary_flow.h"
#include "trace/builder_internal.h"
#include "trace/follow.h"
#include "verdict/checker.h"
#include "verdict/observer.h"

struct ft_intake {
    ft_reader *reader;
    ft_sink sink;
    void *context;
    ft_builder *builder; /* while it is the reader's: NULL */
    ft_trace *trace;     /* whole; else NULL */
    ft_follower *follower;
    ft_observer *observer;
    ft_binary_flow *flow;
    ft_observer_facts facts;
    bool again, finished;
    ft_error failure;
};

static void take_block(void *context);

ft_intake *ft_intake_new(uint32_t block, ft_sink sink, void *context)
{
    FT_REQUIRE(block <= FT_INTAKE_BLOCK && sink);
    ft_intake *in = ft_calloc(1, sizeof *in);
    in->reader = ft_reader_new();
    in->sink = sink;
    in->context = context;
    ft_reader_keep_inputs(in->reader); /* only replays need them: they are passed on */
    if (block) ft_reader_flush_to(in->reader, take_block, in, block);
    return in;
}

void ft_intake_free(ft_intake *in)
{
    if (!in) return;
    ft_follower_free(in->follower);
    ft_observer_free(in->observer);
    ft_binary_flow_free(in->flow);
    ft_trace_free(in->trace);
    ft_builder_free(in->builder);
    ft_reader_free(in->reader);
    free(in);
}

/* ---- while the input arrives ----------------------------------------------------------------- */

static ft_builder *builder_of(const ft_intake *in)
{
    return in->builder ? in->builder : ft_reader_builder(in->reader);
}

static void open_flow(ft_intake *in)
{
    ft_builder *builder = builder_of(in);
    assert(!in->follower && !in->observer && !in->flow);
    in->follower = ft_follower_new(builder);
    in->observer = ft_observer_new(builder->trace);
    in->flow = ft_binary_flow_new(builder, in->sink, in->context);
}

static void take_block(void *context)
{
    ft_intake *in = context;
    ft_builder *builder = builder_of(in);
    if (in->again || in->failure.code != FT_OK) return;
    if (!in->flow) open_flow(in);
    in->again = builder->needs_all || !ft_follower_take(in->follower) ||
                !ft_observer_take(in->observer, builder->flushed);
    if (in->again) return;
    ft_status status = ft_binary_flow_put(in->flow, &in->failure);
    assert((status == FT_OK) == (in->failure.code == FT_OK));
}

static ft_status report(ft_intake *in, ft_error *err)
{
    if (err && err->code == FT_OK) *err = in->failure;
    return in->failure.code;
}

/* A trace that needs all its events gets its error from the second reading, which may meet another
 * of two faults first. */
static void note_again(ft_intake *in)
{
    const ft_builder *builder = builder_of(in);
    in->again |= builder && builder->needs_all;
    if (in->again) in->failure = (ft_error)FT_ERROR_INIT;
}

ft_status ft_intake_feed(ft_intake *in, const void *data, size_t length, ft_error *err)
{
    FT_REQUIRE(!in->finished && (data || length == 0));
    if (in->again || in->failure.code != FT_OK) return report(in, err);
    ft_status status = ft_reader_feed(in->reader, data, length, &in->failure);
    (void)status; /* kept there */
    note_again(in);
    return report(in, err);
}

bool ft_intake_again(const ft_intake *in)
{
    return in->again && in->failure.code == FT_OK;
}

/* ---- the end --------------------------------------------------------------------------------- */

static ft_status finish_whole(ft_intake *in)
{
    ft_builder *builder = in->builder;
    in->builder = NULL;
    ft_status status = ft_builder_finish(builder, &in->trace, &in->failure);
    if (status != FT_OK) return status;
    ft_observe_run(in->trace);
    return ft_binary_write(in->trace, in->sink, in->context, &in->failure);
}

static ft_status finish_flow(ft_intake *in)
{
    ft_builder *builder = in->builder;
    ft_builder_flush(builder);
    in->again |= builder->needs_all;
    if (in->again || in->failure.code != FT_OK) return in->failure.code;
    if (builder->failure.code != FT_OK)
        return ft_error_set(&in->failure, builder->failure.code, "%s", builder->failure.message);
    if (!ft_builder_count(builder))
        return ft_error_set(&in->failure, FT_INPUT, "the trace has no events: nothing to analyse");
    ft_builder_clamp_notes(builder);
    ft_status status = ft_follower_end(in->follower, &in->again, &in->failure);
    if (status != FT_OK || in->again) return status;
    in->facts = ft_observer_end(in->observer);
    return ft_binary_flow_end(in->flow, &in->failure);
}

ft_status ft_intake_finish(ft_intake *in, ft_error *err)
{
    FT_REQUIRE(!in->finished && !in->again);
    in->finished = true;
    if (in->failure.code == FT_OK &&
        ft_reader_end(in->reader, &in->builder, &in->failure) == FT_OK) {
        in->again |= in->builder->needs_all;
        ft_status status = in->again              ? FT_OK
                           : in->builder->flowing ? finish_flow(in)
                                                  : finish_whole(in);
        assert((status == FT_OK) == (in->failure.code == FT_OK));
    }
    note_again(in);
    return report(in, err);
}

ft_intake_trace ft_intake_result(const ft_intake *in)
{
    FT_REQUIRE(in->finished && in->failure.code == FT_OK && !in->again);
    assert(in->trace || in->builder);
    if (in->trace)
        return (ft_intake_trace){
            .trace = in->trace, .n_events = in->trace->n_events, .whole = true};
    return (ft_intake_trace){.trace = in->builder->trace,
                             .n_events = ft_builder_count(in->builder),
                             .valued = in->facts.valued,
                             .symbolic = in->facts.symbolic};
}
