/* The outputs of runs that pass: judged by the user's command, and compared with each other. */
#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "exploring/exploring.h"
#include "exploring/oracle.h"

static ft_judged_output *slot_of(ft_outputs *o, uint64_t output)
{
    FT_REQUIRE(output > 0);
    while (o->judged.len < output) ft_vec_push(&o->judged, (ft_judged_output){0});
    return &o->judged.data[output - 1];
}

/* An output that no run that passes had before. */
static void judge(ft_explorer *x, uint64_t output, ft_judged_output *j)
{
    ft_outputs *o = &x->outputs;
    ft_native_text text = ft_native_output(x->native, output);
    j->is_met = true;
    j->is_whole = text.bytes && text.is_whole;
    if (o->oracle && j->is_whole && o->status == FT_OK)
        o->status = ft_oracle_run(o->oracle, (ft_output_text){text.bytes, text.size}, &j->code,
                                  &j->said, &o->error);
    ft_native_forget_output(x->native, output);
}

uint64_t ft_outcome_of(ft_explorer *x, const ft_x_run *run)
{
    ft_outputs *o = &x->outputs;
    if (run->result || run->end != FT_X_DONE || !run->output) return run->result;
    ft_judged_output *j = slot_of(o, run->output);
    if (!j->is_met) judge(x, run->output, j);
    if (j->code) return FT_REFUSED_OUTPUT | (uint64_t)j->code;
    return o->reference && run->output != o->reference ? FT_OTHER_OUTPUT : 0;
}

/* The best runs of different outputs, one each. Those of the best two outputs are never left out,
 * whatever the order in which runs come: fewer than two others were better. */
static void keep_best(ft_explorer *x, const ft_x_run *run)
{
    ft_outputs *o = &x->outputs;
    struct ft_output_run made = {.output = run->output}, *worst = o->best;
    for (size_t i = 0; i < o->n_best; i++) {
        if (o->best[i].output == run->output) {
            ft_kept_note(&o->best[i].run, x, run);
            return;
        }
        if (ft_kept_compare(&o->best[i].run, &worst->run) > 0) worst = &o->best[i];
    }
    if (!ft_kept_note(&made.run, x, run)) return;
    bool has_room = o->n_best < FT_OUTPUT_RUNS;
    if (has_room) worst = &o->best[o->n_best++];
    bool better = has_room || ft_kept_compare(&made.run, &worst->run) < 0;
    if (!has_room) ft_kept_release(better ? &worst->run : &made.run);
    if (better) *worst = made;
}

bool ft_outputs_note(ft_explorer *x, const ft_x_run *run)
{
    ft_outputs *o = &x->outputs;
    if (!run->output || run->end != FT_X_DONE || ft_outcome_of(x, run)) return false;
    ft_judged_output *j = slot_of(o, run->output);
    bool is_new = !j->is_counted;
    o->different += is_new;
    j->is_counted = true;
    o->unjudged += !j->is_whole && (o->oracle || o->deterministic);
    if (o->deterministic && j->is_whole) keep_best(x, run);
    return is_new;
}

static int compare_best(const void *a, const void *b)
{
    const struct ft_output_run *one = a, *other = b;
    return ft_kept_compare(&one->run, &other->run);
}

/* Of a run of the program now. */
static ft_status take_text(ft_explorer *x, const ft_kept_run *kept, ft_strbuf *to, ft_error *err)
{
    ft_x_run run;
    ft_status status =
        ft_kept_run_again(x, kept->points, kept->picks.data, kept->picks.len, &run, err);
    ft_native_text text = ft_native_last_output(x->native);
    if (status == FT_OK) ft_strbuf_add(to, text.bytes, text.size);
    ft_x_run_release(&run);
    return status;
}

ft_status ft_outputs_conclude(ft_explorer *x, ft_failing_list *failing, ft_error *err)
{
    ft_outputs *o = &x->outputs;
    if (o->status != FT_OK) {
        *err = o->error;
        return o->status;
    }
    if (!o->deterministic || o->n_best < 2) return FT_OK;
    qsort(o->best, o->n_best, sizeof *o->best, compare_best);
    o->reference = o->best[0].output;
    ft_vec_push(failing, (ft_failing){.number = FT_OTHER_OUTPUT, .run = o->best[1].run});
    failing->data[failing->len - 1].run.fails = true;
    o->best[1].run = (ft_kept_run){0};
    return take_text(x, &o->best[0].run, &o->other, err);
}

void ft_outputs_explain(ft_explorer *x, ft_failing *f, const ft_x_run *run)
{
    ft_outputs *o = &x->outputs;
    ft_strbuf text = {0};
    bool refused = f->number & FT_REFUSED_OUTPUT;
    const char *said = slot_of(o, run->output)->said;
    ft_native_text own = ft_native_last_output(x->native);
    f->failure = (ft_native_failure){
        .kind = refused ? FT_EXPLORING_FAILED_ORACLE : FT_EXPLORING_FAILED_OUTPUT,
        .code = refused ? (int32_t)(f->number & (FT_REFUSED_OUTPUT - 1)) : 0};
    if (refused)
        ft_strbuf_puts(&text, said ? said : "");
    else
        ft_outputs_compare((ft_output_text){own.bytes, own.size},
                           (ft_output_text){ft_strbuf_text(&o->other), o->other.len}, &text);
    f->text = ft_strdup(ft_strbuf_text(&text));
    f->failure.text = f->text;
    ft_strbuf_release(&text);
}

size_t ft_outputs_names(const ft_explorer *x, ft_native_output_name *names)
{
    size_t n = 0;
    const ft_outputs *o = &x->outputs;
    for (size_t i = 0; i < o->judged.len; i++)
        if (o->judged.data[i].is_counted) names[n++] = ft_native_name_of_output(x->native, i + 1);
    return n;
}

void ft_outputs_resume(ft_explorer *x, const ft_native_output_name *names, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        ft_native_name_output(x->native, names[i]);
        slot_of(&x->outputs, i + 1)->is_counted = true;
    }
    x->outputs.different = n;
}

void ft_outputs_release(ft_outputs *o)
{
    for (size_t i = 0; i < o->judged.len; i++) free(o->judged.data[i].said);
    ft_vec_release(&o->judged);
    for (size_t i = 0; i < o->n_best; i++) ft_kept_release(&o->best[i].run);
    ft_strbuf_release(&o->other);
    *o = (ft_outputs){0};
}
