#include "explore/symbolic.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "explore/running.h"
#include "program/arrivals.h"
#include "symbolic/cutoff_faults.h"

/* Steps between snapshots, behind the prefix of a run. */
enum { STRIDE = 3 };

/* ---- runs and what they share ---- */

static void drop_taken(taken *x)
{
    while (x && --x->refs == 0) {
        taken *before = x->before;
        free(x);
        x = before;
    }
}

static void release(running *r)
{
    ft_sym_free(r->m);
    drop_taken(r->newest);
    ft_vec_release(&r->objects);
    ft_vec_release(&r->lives);
    ft_vec_release(&r->arms);
    ft_running_release_polls(r);
}

#define COPY_VEC(to, from)                                                                         \
    do {                                                                                           \
        (to)->data = NULL;                                                                         \
        (to)->len = (to)->cap = 0;                                                                 \
        ft_vec_reserve((to), (from)->len);                                                         \
        if ((from)->len) memcpy((to)->data, (from)->data, (from)->len * sizeof *(from)->data);     \
        (to)->len = (from)->len;                                                                   \
    } while (0)

static running copy_of(const running *from)
{
    running r = *from;
    r.m = ft_sym_copy(from->m);
    if (r.newest) r.newest->refs++;
    COPY_VEC(&r.objects, &from->objects);
    COPY_VEC(&r.lives, &from->lives);
    COPY_VEC(&r.arms, &from->arms);
    memset(r.pollers, 0, sizeof r.pollers);
    ft_running_copy_polls(&r, from);
    return r;
}

static void add_taken(running *r, const ft_x_action *a, ft_x_pick step, const ft_sym_clock *clock)
{
    uint32_t width = ft_sym_thread_count(r->m);
    FT_REQUIRE(clock->of[a->thread] == r->steps[a->thread] + 1);
    taken *x = ft_calloc(1, sizeof *x + width * sizeof *x->clock);
    *x = (taken){.refs = 1,
                 .before = r->newest,
                 .own = r->last[a->thread],
                 .action = *a,
                 .step = step,
                 .depth = r->newest ? r->newest->depth + 1 : 1,
                 .width = width};
    memcpy(x->clock, clock->of, width * sizeof *x->clock);
    r->newest = r->last[a->thread] = x;
}

/* The causes of the action: of each thread's steps, back from the newest, the first dependent one
 * brings its own. */
static ft_sym_clock causes_of(const running *r, const ft_x_action *a)
{
    ft_sym_clock clock = {{0}};
    const taken *own = r->last[a->thread];
    if (own) memcpy(clock.of, own->clock, own->width * sizeof *own->clock);
    clock.of[a->thread] = r->steps[a->thread] + 1;
    for (uint32_t t = 0; t < FT_X_THREADS; t++) {
        const taken *x = t == a->thread ? NULL : r->last[t];
        while (x && x->clock[t] > clock.of[t] && !ft_x_dependent(&x->action, a)) x = x->own;
        for (uint32_t k = 0; x && k < x->width; k++)
            if (clock.of[k] < x->clock[k]) clock.of[k] = x->clock[k];
    }
    return clock;
}

/* ---- snapshots ---- */

static uint64_t key_with(uint64_t key, ft_x_pick pick)
{
    const uint64_t words[] = {pick.thread, pick.variant};
    return ft_hash_bytes(words, sizeof words, key);
}

static void drop_oldest(ft_symbolic *c)
{
    uint64_t at;
    snapshot *s = c->snapshots.data[c->kept];
    if (ft_map_get(&c->by_key, s->key, &at) && at == c->kept + 1) ft_map_put(&c->by_key, s->key, 0);
    assert(c->kept < c->snapshots.len && c->kept_bytes >= s->bytes);
    c->kept_bytes -= s->bytes;
    release(&s->r);
    free(s);
    c->kept++;
    if (c->kept < 4096) return;
    memmove(c->snapshots.data, c->snapshots.data + c->kept,
            (c->snapshots.len - c->kept) * sizeof(snapshot *));
    c->snapshots.len -= c->kept;
    c->kept = 0;
    ft_map_release(&c->by_key);
    for (size_t i = 0; i < c->snapshots.len; i++)
        ft_map_put(&c->by_key, c->snapshots.data[i]->key, i + 1);
}

static void keep(ft_symbolic *c, const running *r, uint64_t key)
{
    uint64_t *at = ft_map_slot(&c->by_key, key, 0, NULL);
    if (*at) return;
    snapshot *s = ft_alloc(sizeof *s);
    *s = (snapshot){.key = key, .r = copy_of(r)};
    s->bytes = ft_sym_bytes(s->r.m) + sizeof *s + r->objects.len * sizeof(tracked);
    *at = c->snapshots.len + 1;
    c->kept_bytes += s->bytes;
    c->counts.state_bytes = s->bytes;
    c->counts.snapshots++;
    ft_vec_push(&c->snapshots, s);
    while (c->kept_bytes > c->options.snapshot_bytes) drop_oldest(c);
}

static bool is_along(const ft_symbolic *c, const running *r, size_t n)
{
    const taken *x = r->newest;
    if (n != (x ? x->depth : 0)) return false;
    for (; x; x = x->before) {
        const ft_x_pick *pick = &c->task.prefix.data[x->depth - 1];
        if (pick->thread != x->action.thread || pick->variant != x->action.variant) return false;
    }
    return true;
}

/* The run as far along the prefix as a snapshot was kept; *n picks. */
static running resume(ft_symbolic *c, size_t *n, uint64_t *key)
{
    FT_VEC(uint64_t) keys = {0};
    ft_vec_push(&keys, 0);
    for (size_t i = 0; i < c->task.prefix.len; i++)
        ft_vec_push(&keys, key_with(keys.data[i], c->task.prefix.data[i]));
    running r = {.c = c};
    for (*n = c->task.prefix.len; !r.m; --*n) {
        uint64_t at;
        *key = keys.data[*n];
        bool found = ft_map_get(&c->by_key, *key, &at) && at &&
                     is_along(c, &c->snapshots.data[at - 1]->r, *n);
        if (found) r = copy_of(&c->snapshots.data[at - 1]->r);
        if (found || !*n) break;
    }
    ft_vec_release(&keys);
    if (!r.m) {
        r.m = ft_sym_new(c->world);
        if (c->options.cutoffs) r.print = ft_running_print(&r);
        *n = 0;
        *key = 0;
    }
    c->counts.resumed += *n > 0;
    c->counts.replayed += c->task.prefix.len - *n;
    return r;
}

/* ---- one step ---- */

static void note_print(running *r)
{
    if (!r->c->options.cutoffs) return;
    uint64_t print = ft_running_print(r);
    r->newest->changed = print ^ r->print;
    r->print = print;
}

/* The state's variant for that of the search, or, by itself, its first. */
static bool variant_of(running *r, uint32_t t, const ft_x_operation *x, const ft_x_pick *pick,
                       uint64_t *variant)
{
    uint64_t variants[FT_SYM_THREADS];
    uint32_t n = ft_sym_choices(r->m, t, variants);
    if (!n) return false;
    *variant = x->kind == FT_X_CREATE ? x->object + 1u : variants[0];
    bool choice = x->kind == FT_X_SIGNAL || x->kind == FT_X_WAKE || x->kind == FT_X_BRANCH;
    if (!pick || !choice) return true;
    for (uint32_t i = 0; i < n; i++)
        if (variants[i] == pick->variant) return *variant = pick->variant, true;
    return false;
}

static arm_count *count_of(running *r, uint32_t t, const ft_sym_place *place, uint64_t arm)
{
    for (size_t i = 0; i < r->arms.len; i++) {
        arm_count *a = &r->arms.data[i];
        if (a->thread == t && a->arm == arm && a->place.function == place->function &&
            a->place.instruction == place->instruction)
            return a;
    }
    ft_vec_push(&r->arms, (arm_count){t, (uint32_t)arm, 0, *place});
    return &r->arms.data[r->arms.len - 1];
}

/* By itself a thread takes the arm of the inputs at hand, unless it took that before and there is
 * another one: loops end early. */
static uint64_t arm_of(running *r, uint32_t t, const ft_sym_operation *o)
{
    enum { OFTEN = 2 };
    uint64_t likely = ft_sym_likely_arm(r->m, t), best = likely;
    uint32_t least = count_of(r, t, &o->place, likely)->count;
    for (uint32_t arm = 0; arm < o->arms && least >= OFTEN; arm++) {
        uint32_t times = count_of(r, t, &o->place, arm)->count;
        if (times >= least || !ft_sym_may_take(r->m, t, arm)) continue;
        least = times;
        best = arm;
    }
    return best;
}

/* Can the thread go on, but late? */
static bool can_go_on(const running *r, uint32_t t)
{
    uint64_t variants[FT_SYM_THREADS];
    bool goes = ft_sym_choices(r->m, t, variants);
    return goes && (!ft_running_poll(r, t) || ft_running_differs(r, t));
}

static bool is_late(const running *r, uint32_t t)
{
    const ft_x_operation *poll = ft_running_poll(r, t);
    if (!poll || poll->kind != FT_X_LINGER || ft_sym_end_of(r->m) != FT_SYM_GOING) return false;
    for (uint32_t k = 0; k < ft_sym_thread_count(r->m); k++)
        if (can_go_on(r, k)) return false;
    return true;
}

/* A thread that yields, or goes round, may wait for the others: the run would not end without them.
 * Loops that end by themselves are mostly shorter. */
static bool is_to_give_way(const running *r)
{
    enum { OFTEN = 64 };
    return r->stay.yields || r->stay.times >= OFTEN;
}

/* Places are compared with one of the thread's, taken anew after 2^k steps. */
static void note_stay(running *r, bool same, const ft_sym_operation *o)
{
    stay *s = &r->stay;
    if (!same || is_to_give_way(r)) *s = (stay){.next = 1};
    s->yields = !o->arms && o->code == FT_CODE_YIELD;
    if (s->steps++ == s->next) {
        s->at = o->place;
        s->next *= 2;
        s->times = 0;
    } else {
        s->times += s->at.function == o->place.function &&
                    s->at.instruction == o->place.instruction && !o->arms;
    }
}

/* The poll before which the thread stands; FT_CONFLICT: it cannot be. */
static ft_status step_poll(running *r, uint32_t t, const ft_x_pick *pick)
{
    ft_x_action a = {.operation = *ft_running_poll(r, t), .thread = (uint16_t)t};
    bool late = pick ? pick->variant == FT_X_TIMED_OUT : !ft_running_differs(r, t);
    if (ft_sym_end_of(r->m) != FT_SYM_GOING || (late ? !is_late(r, t) : !can_go_on(r, t)))
        return FT_CONFLICT;
    a.variant = late ? FT_X_TIMED_OUT : FT_X_IN_TIME;
    ft_sym_clock clock = causes_of(r, &a);
    add_taken(r, &a, (ft_x_pick){.thread = UINT16_MAX}, &clock);
    ft_sym_pass(r->m, t, &clock);
    ft_running_polls_on(r, t, late);
    note_print(r);
    r->steps[t]++;
    r->c->counts.steps++;
    return FT_OK;
}

/* FT_CONFLICT: it cannot be. *cut: a bound was passed. */
static ft_status step(running *r, uint32_t t, const ft_x_pick *pick, bool *cut, ft_error *err)
{
    ft_sym_operation o;
    ft_x_action a = {.thread = (uint16_t)t};
    uint64_t variant;
    if (t >= ft_sym_thread_count(r->m) || !ft_sym_stands_before(r->m, t, &o)) return FT_CONFLICT;
    if (ft_running_poll(r, t)) return step_poll(r, t, pick);
    ft_status status = ft_running_operation(r, t, &o, &a.operation, err);
    if (status != FT_OK) return status;
    if (!variant_of(r, t, &a.operation, pick, &variant)) return FT_CONFLICT;
    status = ft_running_check_content(r, &o, &a.operation, err);
    if (status != FT_OK) return status;
    if (o.arms && !pick) variant = arm_of(r, t, &o);
    bool chosen = a.operation.kind == FT_X_SIGNAL || a.operation.kind == FT_X_WAKE || o.arms;
    a.variant = chosen ? variant : 0;
    a.outcome = o.arms ? 0 : ft_running_outcome(r, &o, &a.operation);
    if (o.arms) {
        uint32_t most = r->c->options.max_iterations;
        *cut = ++count_of(r, t, &o.place, variant)->count > most && most;
        r->c->counts.branches++;
    }
    ft_sym_clock clock = causes_of(r, &a);
    ft_x_pick own = {.thread = a.thread, .variant = variant};
    if (o.arms || (o.code == FT_CODE_ATOMIC_END && a.operation.kind == FT_X_UNLOCK))
        own.thread = UINT16_MAX;
    polled tried = ft_running_tries(r, t, &o, &a.operation);
    note_stay(r, r->newest && r->newest->action.thread == t, &o);
    add_taken(r, &a, own, &clock);
    ft_sym_step(r->m, t, variant, &clock);
    ft_running_track(r, t, &o, &a);
    ft_running_tried(r, t, &o, &a, &tried);
    note_print(r);
    r->steps[t]++;
    r->c->counts.steps++;
    return FT_OK;
}

/* ---- a run ---- */

/* Branches first: they are no scheduling points. Then the running thread while it can and is not to
 * be left alone, or to give way. */
static bool choose(const running *r, uint32_t *thread)
{
    ft_sym_operation o;
    uint32_t n = ft_sym_thread_count(r->m), avoided = UINT32_MAX, other = UINT32_MAX;
    uint32_t first = is_to_give_way(r) ? 1 : 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t t = (*thread + first + i) % n;
        if (!can_go_on(r, t)) continue;
        bool avoids = r->c->task.avoid[t] == r->steps[t] + 1;
        bool branches = ft_sym_stands_before(r->m, t, &o) && o.arms;
        if (branches && !avoids) return *thread = t, true;
        if (avoids && avoided == UINT32_MAX) avoided = t;
        if (!avoids && other == UINT32_MAX) other = t;
    }
    *thread = other != UINT32_MAX ? other : avoided;
    for (uint32_t t = 0; t < n && *thread == UINT32_MAX; t++)
        if (is_late(r, t)) *thread = t;
    return *thread != UINT32_MAX;
}

static void note_cut(ft_symbolic *c, const char *format, ...) FT_PRINTF(2, 3);
static void note_cut(ft_symbolic *c, const char *format, ...)
{
    ft_symbolic_cut made = {.runs = 1};
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(made.reason, sizeof made.reason, format, arguments);
    va_end(arguments);
    for (size_t i = 0; i < c->n_cuts; i++) {
        ft_symbolic_cut *known = &c->cuts[i];
        bool last = i + 1 == FT_SYMBOLIC_CUTS;
        if (!last && strcmp(known->reason, made.reason) != 0) continue;
        known->runs++;
        return;
    }
    c->cuts[c->n_cuts++] = made;
}

static bool ends(const running *r, ft_x_end *end)
{
    ft_sym_end state = ft_sym_end_of(r->m);
    if (state == FT_SYM_STOPPED) {
        *end = FT_X_CUT;
        note_cut(r->c, "%s", ft_sym_error_of(r->m)->message);
    }
    if (state == FT_SYM_INFEASIBLE) *end = FT_X_INFEASIBLE;
    return state == FT_SYM_STOPPED || state == FT_SYM_INFEASIBLE;
}

/* With cutoffs: did the run come to its state, as far as fingerprints say, often enough that the
 * search has a cutoff in it? */
static bool comes_again(running *r)
{
    enum { OFTEN = 3 };
    if (!r->c->options.cutoffs) return false;
    return ++*ft_map_slot(&r->c->met, r->print, 0, NULL) >= OFTEN;
}

static bool is_late_now(const ft_symbolic *c, size_t step)
{
    enum { EVERY = 64 };
    return step % EVERY == EVERY - 1 && c->options.should_stop &&
           c->options.should_stop(c->options.context);
}

static ft_status go(running *r, size_t at, uint64_t key, ft_x_end *end, ft_error *err)
{
    ft_symbolic *c = r->c;
    uint32_t thread = r->newest ? r->newest->action.thread : 0, since = 0;
    *end = FT_X_DONE;
    for (size_t i = at; !ends(r, end); i++) {
        bool cut = false;
        const ft_x_pick *pick = i < c->task.prefix.len ? &c->task.prefix.data[i] : NULL;
        if (i >= c->options.max_steps) {
            note_cut(c, "more than %" PRIu64 " steps (--steps)", c->options.max_steps);
            return *end = FT_X_CUT, FT_OK;
        }
        if (is_late_now(c, i)) {
            note_cut(c, "the time is over");
            return *end = FT_X_CUT, FT_OK;
        }
        if (pick)
            thread = pick->thread;
        else if (!choose(r, &thread))
            break;
        ft_status status = step(r, thread, pick, &cut, err);
        if (status == FT_CONFLICT) return *end = FT_X_STRAYED, FT_OK;
        if (status != FT_OK) return status;
        if (cut) {
            note_cut(c,
                     "a thread takes a way of a condition on inputs more than %" PRIu32
                     " times (--iterations)",
                     c->options.max_iterations);
            return *end = FT_X_CUT, FT_OK;
        }
        if (i >= c->task.prefix.len && comes_again(r)) {
            note_cut(c, "threads come to the same state again and again");
            return *end = FT_X_CUT, FT_OK;
        }
        key = key_with(key, (ft_x_pick){r->newest->action.thread, r->newest->action.variant});
        bool wanted = i + 1 >= c->task.prefix.len && since++ % STRIDE == 0;
        if (wanted && ft_sym_end_of(r->m) == FT_SYM_GOING) keep(c, r, key);
    }
    return FT_OK;
}

static bool has_ended(const running *r)
{
    ft_sym_operation o;
    if (ft_sym_end_of(r->m) != FT_SYM_GOING) return true;
    for (uint32_t t = 0; t < ft_sym_thread_count(r->m); t++)
        if (ft_sym_stands_before(r->m, t, &o)) return false;
    return true;
}

static void report_prints(const running *r, ft_x_run *run)
{
    size_t n = run->steps.len;
    ft_vec_reserve(&run->prints, n);
    run->prints.len = n;
    for (const taken *x = r->newest; x; x = x->before) run->prints.data[x->depth - 1] = x->changed;
}

static ft_status report(running *r, ft_x_run *run, ft_error *err)
{
    size_t n = r->newest ? r->newest->depth : 0;
    ft_vec_reserve(&run->steps, n);
    run->steps.len = n;
    for (const taken *x = r->newest; x; x = x->before) run->steps.data[x->depth - 1] = x->action;
    if (r->c->options.cutoffs) report_prints(r, run);
    for (uint32_t t = 0; t < ft_sym_thread_count(r->m); t++) {
        ft_sym_operation o;
        if (!ft_sym_stands_before(r->m, t, &o)) continue;
        ft_status status = ft_running_operation(r, t, &o, &run->pending[t], err);
        uint32_t object = run->pending[t].object;
        bool met = object < r->objects.len && r->objects.data[object].met;
        if (status == FT_OK && !met) /* what it would meet is part of the beginning too */
            status = ft_running_check_content(r, &o, &run->pending[t], err);
        if (status != FT_OK) return status;
    }
    for (uint32_t i = 0; i < r->objects.len; i++)
        if (r->objects.data[i].first)
            ft_vec_push(&run->initial, (ft_x_initial){i, {.value = r->objects.data[i].first}});
    return FT_OK;
}

static bool judge_once(running *r, ft_x_run *run, bool *races)
{
    if (run->end == FT_X_CUT) return ft_running_races_along(r, &run->result, races);
    if (run->end == FT_X_DISCARDED) return *races = ft_running_races_before(r, &run->result), true;
    bool good = ft_running_judge(r, run->end == FT_X_STUCK, &run->result);
    *races = ft_judgement_of(run->result).error == FT_ERROR_RACE;
    return good;
}

/* The interpreter's judgement of a run; then of accesses at unknown places, until one races. False:
 * something could not be confirmed. */
static bool judge(running *r, ft_x_run *run)
{
    ft_sym_doubts doubts = {0};
    bool discarded = run->end == FT_X_DISCARDED, all = true, good, races;
    do {
        good = judge_once(r, run, &races);
    } while (good && !races && r->c->options.races &&
             ft_judgement_of(run->result).state != FT_INTERPRETER_FAILED &&
             ft_sym_next_doubt(r->m, &doubts, &all));
    ft_sym_doubts_release(&doubts);
    if (discarded && races) run->end = FT_X_DONE;
    return good && (all || races);
}

/* With cutoffs an execution that comes to no end may be all that there is: races are looked for in
 * it as far as it is, and it stays a cut one. */
static bool goes_round(const running *r, const ft_x_run *run)
{
    const ft_symbolic_options *o = &r->c->options;
    return run->end == FT_X_CUT && o->cutoffs && o->races && ft_sym_end_of(r->m) == FT_SYM_GOING &&
           !ft_sym_fault_is(FT_SYM_FAULT_CUT_UNJUDGED);
}

/* A run that cannot be confirmed is reported as cut, so that nothing counts as complete. */
static void conclude(running *r, ft_x_run *run)
{
    ft_symbolic *c = r->c;
    bool ended = run->end == FT_X_DONE || run->end == FT_X_STUCK;
    bool discarded = run->end == FT_X_DISCARDED && c->options.races;
    bool cut = goes_round(r, run);
    c->counts.bounded += run->end == FT_X_CUT && !ft_sym_is_unknown(r->m);
    c->counts.unknown += run->end == FT_X_CUT && ft_sym_is_unknown(r->m);
    run->result = FT_INTERPRETER_STOPPED | (uint64_t)FT_ERROR_LIMIT << 8;
    if (!ended && !discarded && !cut) return;
    if (ft_sym_is_unknown(r->m)) (void)ft_sym_settle(r->m);
    if (!ft_sym_is_unknown(r->m) && judge(r, run)) return;
    if ((discarded || cut) && ft_sym_is_unknown(r->m)) return;
    c->counts.unknown++;
    run->end = FT_X_CUT;
    run->result = FT_INTERPRETER_STOPPED | (uint64_t)FT_ERROR_LIMIT << 8;
}

/* ---- the executor ---- */

static ft_status start(void *context, uint32_t slot, const ft_x_task *task, ft_error *err)
{
    (void)err;
    ft_symbolic *c = context;
    FT_REQUIRE(slot == 0 && !c->task.is);
    c->task.is = true;
    c->task.prefix.len = 0;
    for (size_t i = 0; i < task->n; i++) ft_vec_push(&c->task.prefix, task->prefix[i]);
    memcpy(c->task.avoid, task->avoid, sizeof c->task.avoid);
    return FT_OK;
}

static ft_status finish(void *context, uint32_t *slot, ft_x_run *run, ft_error *err)
{
    ft_symbolic *c = context;
    size_t n;
    uint64_t key;
    FT_REQUIRE(c->task.is);
    c->task.is = false;
    *slot = 0;
    ft_map_release(&c->met);
    running r = resume(c, &n, &key);
    ft_status status = go(&r, n, key, &run->end, err);
    if (status == FT_OK) status = report(&r, run, err);
    if (status == FT_OK && run->end == FT_X_DONE) {
        if (!has_ended(&r)) run->end = FT_X_STUCK;
        bool redundant = run->end == FT_X_STUCK && ft_running_may_poll_on(&r) &&
                         !ft_sym_is_unknown(r.m) && !ft_running_is_stuck(&r);
        if (redundant || ft_sym_is_discarded(r.m)) run->end = FT_X_DISCARDED;
    }
    if (status == FT_OK) conclude(&r, run);
    release(&r);
    return status;
}

/* ---- states ---- */

/* Goes along the prefix and no further. FT_CONFLICT: it cannot be. */
static ft_status go_along(running *r, size_t at, ft_error *err)
{
    ft_status status = FT_OK;
    const ft_symbolic *c = r->c;
    for (size_t i = at; i < c->task.prefix.len && status == FT_OK; i++) {
        bool cut = false;
        const ft_x_pick *pick = &c->task.prefix.data[i];
        status = step(r, pick->thread, pick, &cut, err);
    }
    return status;
}

static ft_status name_state(void *context, const ft_x_pick *picks, size_t n, ft_x_name *name,
                            bool *known, ft_error *err)
{
    ft_symbolic *c = context;
    size_t at;
    uint64_t key;
    ft_symbolic_counts counts = c->counts;
    wanted_run task = c->task;
    c->task = c->naming;
    c->task.prefix.len = 0;
    for (size_t i = 0; i < n; i++) ft_vec_push(&c->task.prefix, picks[i]);
    running r = resume(c, &at, &key);
    ft_status status = go_along(&r, at, err);
    *known = status == FT_OK && ft_running_name(&r, name);
    if (status == FT_CONFLICT) status = FT_OK;
    release(&r);
    c->naming = c->task;
    c->task = task;
    c->counts = counts;
    return status;
}

static uint64_t label(void *context, const ft_x_action *action)
{
    return ft_running_label(context, action);
}

static bool tries_locks(const ft_program *p)
{
    static const bool TRIES[FT_CODES] = {
        [FT_CODE_TRY_LOCK] = true,
        [FT_CODE_TIMED_LOCK] = true,
        [FT_CODE_TRY_READ_LOCK] = true,
        [FT_CODE_TRY_WRITE_LOCK] = true,
    };
    for (size_t i = 0; i < p->functions.len; i++) {
        const ft_function *f = &p->functions.data[i];
        for (size_t k = 0; k < f->instructions.len; k++)
            if (TRIES[f->instructions.data[k].code]) return true;
    }
    return false;
}

ft_symbolic *ft_symbolic_new(const ft_program *program, const ft_symbolic_options *options)
{
    FT_REQUIRE(program);
    ft_symbolic *c = ft_calloc(1, sizeof *c);
    c->program = program;
    if (options) c->options = *options;
    if (!c->options.max_steps) c->options.max_steps = 100000;
    if (!c->options.polls) c->options.polls = 3;
    if (!c->options.snapshot_bytes) c->options.snapshot_bytes = (size_t)256 << 20;
    ft_sym_options own = {.max_instructions = c->options.max_instructions,
                          .max_bytes = c->options.max_bytes,
                          .max_threads = c->options.max_threads,
                          .max_inputs = c->options.max_inputs,
                          .solver_ms = c->options.solver_ms,
                          .expect_exit = c->options.expect_exit,
                          .input = c->options.input,
                          .should_stop = c->options.should_stop,
                          .context = c->options.context};
    c->world = ft_sym_world_new(program, &own);
    c->counts_atomics = ft_sym_world_has_inputs(c->world) && !c->options.values;
    c->tries_locks = tries_locks(program);
    c->orders_arrivals = ft_program_orders_arrivals(program);
    c->n_objects = FIRST_OBJECT;
    c->n_threads = 1;
    c->watches = ft_x_watches_new();
    c->lingers = c->overlap = (ft_sym_place){FT_NO_SYMBOL, 0};
    c->first = (ft_x_operation){.kind = FT_X_STEP};
    return c;
}

void ft_symbolic_free(ft_symbolic *c)
{
    if (!c) return;
    for (size_t i = c->kept; i < c->snapshots.len; i++) {
        release(&c->snapshots.data[i]->r);
        free(c->snapshots.data[i]);
    }
    ft_vec_release(&c->snapshots);
    ft_map_release(&c->by_key);
    ft_map_release(&c->objects);
    ft_map_release(&c->children);
    ft_vec_release(&c->makers);
    ft_vec_release(&c->task.prefix);
    ft_vec_release(&c->naming.prefix);
    ft_map_release(&c->met);
    ft_vec_release(&c->names);
    ft_vec_release(&c->inputs);
    ft_vec_release(&c->picks);
    ft_x_watches_free(c->watches);
    ft_sym_world_free(c->world);
    free(c);
}

const ft_symbolic_maker *ft_symbolic_makers(const ft_symbolic *c, size_t *n)
{
    *n = c->makers.len;
    return c->makers.data;
}

void ft_symbolic_number(ft_symbolic *c, const ft_symbolic_maker *makers, size_t n)
{
    FT_REQUIRE(!c->makers.len);
    for (size_t i = 0; i < n; i++) (void)ft_running_child(c, makers[i].thread, makers[i].child);
}

ft_x_executor ft_symbolic_executor(ft_symbolic *c)
{
    FT_REQUIRE(c);
    bool names = c->options.cutoffs;
    return (ft_x_executor){.context = c,
                           .world = {.n_threads = 1, .first = &c->first, .watches = c->watches},
                           .width = 1,
                           .start = start,
                           .finish = finish,
                           .lanes = names ? 1 : 0,
                           .state = names ? name_state : NULL,
                           .label = names ? label : NULL};
}

bool ft_symbolic_races(const ft_x_run *run)
{
    ft_judgement j = ft_judgement_of(run->result);
    return j.state == FT_INTERPRETER_FAILED && j.error == FT_ERROR_RACE;
}

ft_symbolic_judged ft_symbolic_judged_of(const ft_symbolic *c)
{
    return (ft_symbolic_judged){&c->error, c->inputs.data, c->inputs.len, c->picks.data,
                                c->picks.len};
}

ft_symbolic_counts ft_symbolic_counts_of(const ft_symbolic *c)
{
    ft_symbolic_counts counts = c->counts;
    ft_sym_counts own = ft_sym_world_counts(c->world);
    counts.concretised = own.concretised;
    counts.questions = own.questions;
    counts.cached = own.cached;
    counts.solved = own.solved;
    counts.solver_unknown = own.unknown;
    counts.snapshot_bytes = c->kept_bytes;
    return counts;
}

/* FILE:LINE; false: there is no place. */
static bool put_place(const ft_symbolic *c, const ft_sym_place *place, ft_strbuf *text)
{
    if (place->function == FT_NO_SYMBOL) return false;
    const ft_function *f = ft_program_function(c->program, place->function);
    ft_position at = f->instructions.data[place->instruction].position;
    if (at.file == FT_NO_FILE)
        ft_strbuf_puts(text, ft_program_symbol_name(c->program, place->function));
    else
        ft_strbuf_printf(text, "%s:%" PRIu32, c->program->files.names[at.file], at.line);
    return true;
}

bool ft_symbolic_overlaps(const ft_symbolic *c, ft_strbuf *place)
{
    return put_place(c, &c->overlap, place);
}

bool ft_symbolic_has_too_many_threads(const ft_symbolic *c)
{
    return c->too_many_threads;
}

bool ft_symbolic_lingers(const ft_symbolic *c, ft_strbuf *place)
{
    return put_place(c, &c->lingers, place);
}

const ft_symbolic_cut *ft_symbolic_cuts(const ft_symbolic *c, size_t *n)
{
    *n = c->n_cuts;
    return c->cuts;
}

bool ft_symbolic_open(const ft_symbolic *c, size_t n, ft_strbuf *text)
{
    return ft_sym_world_open(c->world, n, text);
}
