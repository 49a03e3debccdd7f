/* One claim by windows that grow until one decides it (reduce/window.h). */
#include "engine/internal.h"

enum { FIRST_WINDOW = 512, GROWTH = 4 };

/* began: when its making did. To encode a window takes at least as long as to make it. */
static ft_answer decide_window(const ft_window *window, double began, double deadline,
                               ft_witness *witness, ft_decide_stats *stats)
{
    double start = ft_now_ms();
    if (start + (start - began) >= deadline) return FT_ANSWER_UNKNOWN;
    const ft_question question = {
        .claim = &window->claim, .bound = FT_NO_BOUND, .deadline = deadline};
    ft_decider *decider = ft_decider_new(&window->problem, NULL);
    double encoded = ft_now_ms();
    stats->encode_ms += encoded - start;
    if (stats->sliced < window->trace.n_events) stats->sliced = window->trace.n_events;
    ft_answer answer = FT_ANSWER_UNKNOWN;
    if (encoded < deadline) answer = ft_decider_decide(decider, &question, witness, stats);
    ft_decider_free(decider);
    return answer;
}

static ft_answer ask_strict(ft_engine *engine, const ft_claim *claim, uint32_t cut, double deadline,
                            ft_witness *witness, ft_decide_stats *stats)
{
    double began = ft_now_ms();
    ft_window *window = ft_window_new(ft_analyses_windows(engine->analyses), claim, cut,
                                      FT_WINDOW_STRICT, deadline);
    ft_answer answer = FT_ANSWER_UNKNOWN;
    if (window && window->impossible)
        answer = FT_ANSWER_UNSAT;
    else if (window)
        answer = decide_window(window, began, deadline, witness, stats);
    if (answer == FT_ANSWER_SAT) ft_window_restore(window, claim, witness);
    ft_window_free(window);
    if (answer != FT_ANSWER_SAT || ft_windows_exact(ft_analyses_windows(engine->analyses)))
        return answer;
    witness->wakeups = engine->problem.wakeups;
    if (ft_checker_check(ft_analyses_checker(engine->analyses), witness, NULL, NULL) == FT_OK)
        return answer;
    ft_witness_release(witness);
    return FT_ANSWER_UNKNOWN;
}

static bool is_refuted_relaxed(ft_engine *engine, const ft_claim *claim, uint32_t cut,
                               double deadline, ft_decide_stats *stats)
{
    ft_witness none = {0};
    double began = ft_now_ms();
    if (began >= deadline) return false;
    ft_window *window = ft_window_new(ft_analyses_windows(engine->analyses), claim, cut,
                                      FT_WINDOW_RELAXED, deadline);
    ft_answer answer = FT_ANSWER_UNKNOWN;
    if (window && window->impossible)
        answer = FT_ANSWER_UNSAT;
    else if (window)
        answer = decide_window(window, began, deadline, &none, stats);
    ft_witness_release(&none);
    ft_window_free(window);
    return answer == FT_ANSWER_UNSAT;
}

bool ft_engine_has_windows(ft_engine *engine, const ft_claim *claim)
{
    return ft_windows_serve(ft_analyses_windows(engine->analyses), claim);
}

ft_answer ft_engine_decide_in_windows(ft_engine *engine, const ft_question *question,
                                      uint32_t share, ft_witness *witness, ft_decide_stats *stats)
{
    const ft_claim *claim = question->claim;
    double deadline = question->deadline;
    uint32_t all = engine->trace->n_events, size = FIRST_WINDOW;
    for (;;) {
        uint32_t cut = ft_windows_cut(claim, size);
        double now = ft_now_ms();
        /* A window may be the hard one: the next have their share of the time. */
        bool last = cut == 0 && ft_windows_exact(ft_analyses_windows(engine->analyses));
        double until = last ? deadline : now + (deadline - now) * share / 100;
        ft_answer answer = ask_strict(engine, claim, cut, until, witness, stats);
        if (answer == FT_ANSWER_SAT || cut == 0) return answer;
        if (is_refuted_relaxed(engine, claim, cut, until, stats)) return FT_ANSWER_UNSAT;
        if (ft_now_ms() >= deadline) return FT_ANSWER_UNKNOWN;
        size = size > all / GROWTH ? all : size * GROWTH;
    }
}
