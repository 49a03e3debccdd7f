#include "oracle/inputs.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

bool ft_inputs_give(void *context, const char *name, uint8_t width, uint64_t *value)
{
    const inputs_values *v = context;
    (void)width;
    if (name[0] < 'a' || name[0] >= 'a' + INPUTS_MOST || name[1]) return false;
    *value = v->of[name[0] - 'a'];
    return true;
}

bool ft_inputs_combination(const inputs_program *p, uint64_t number, inputs_values *values)
{
    *values = (inputs_values){{0}};
    for (uint32_t k = 0; k < p->n_inputs; k++) {
        values->of[k] = number & ((UINT64_C(1) << p->bits[k]) - 1);
        number >>= p->bits[k];
    }
    return number == 0;
}

void ft_inputs_release_words(inputs_words *words)
{
    ft_intern_release(&words->all);
}

void ft_inputs_memory(const inputs_program *p, const ft_program *program, const ft_interpreter *m,
                      ft_strbuf *word)
{
    static const struct {
        const char *name;
        uint32_t size;
    } GLOBALS[] = {{"in", 8}, {"g0", 8}, {"g1", 8}, {"s", 8}, {"a0", 1}, {"a1", 1}};
    char own[8];
    for (uint32_t i = 0; i < 6 + p->n_threads; i++) {
        const char *name = i < 6 ? GLOBALS[i].name : own;
        unsigned char bytes[8];
        uint32_t size = i < 6 ? GLOBALS[i].size : 8;
        snprintf(own, sizeof own, "own%u", (i - 6) % 100);
        uint32_t symbol = ft_intern_find(&program->names, name, strlen(name));
        if (!ft_interpreter_read(m, ft_interpreter_address(m, symbol), size, bytes)) continue;
        ft_strbuf_printf(word, " %s", name);
        for (uint32_t k = 0; k < size; k++)
            ft_strbuf_printf(word, "%s%02x", k ? "" : "=", bytes[k]);
    }
}

void ft_inputs_word(const inputs_program *p, const ft_program *program, const ft_interpreter *m,
                    ft_strbuf *word)
{
    const ft_interpreter_error *e = ft_interpreter_error_of(m);
    switch (ft_interpreter_state_of(m)) {
    case FT_INTERPRETER_FAILED:
        if (e->kind == FT_ERROR_DEADLOCK)
            ft_strbuf_puts(word, "deadlock");
        else if (e->kind == FT_ERROR_LIVE_LOCK)
            ft_strbuf_puts(word, "live-lock"), ft_inputs_memory(p, program, m, word);
        else if (e->kind != FT_ERROR_RACE)
            ft_strbuf_printf(word, "%s at %u %u", ft_program_error_name(e->kind), e->place.function,
                             e->place.instruction);
        break;
    case FT_INTERPRETER_EXITED:
        ft_strbuf_printf(word, "exit %d", ft_interpreter_exit_code(m));
        if (!ft_interpreter_exit_code(m)) ft_inputs_memory(p, program, m, word);
        break;
    default:
        break;
    }
}

/* ---- brute force ---- */

typedef struct search {
    const inputs_program *p;
    const ft_program *program;
    uint64_t limit;
    inputs_words *words;
    bool bounded;
} search;

static bool end(search *s, const ft_interpreter *m)
{
    ft_strbuf word = {0};
    ft_interpreter_state state = ft_interpreter_state_of(m);
    s->words->schedules++;
    if (state == FT_INTERPRETER_STOPPED) s->bounded = true;
    if (state == FT_INTERPRETER_FAILED && ft_interpreter_error_of(m)->kind == FT_ERROR_RACE)
        s->words->races = true;
    ft_inputs_word(s->p, s->program, m, &word);
    if (word.len) ft_intern_add(&s->words->all, word.text, word.len);
    ft_strbuf_release(&word);
    return s->words->schedules <= s->limit && !s->bounded && !s->words->races;
}

static bool go_on(search *s, ft_interpreter *m)
{
    uint64_t variants[FT_INTERPRETER_THREADS];
    if (ft_interpreter_state_of(m) != FT_INTERPRETER_GOING) return end(s, m);
    for (uint32_t t = 0; t < ft_interpreter_thread_count(m); t++) {
        uint32_t n = ft_interpreter_choices(m, t, variants);
        for (uint32_t i = 0; i < n; i++) {
            ft_interpreter *next = ft_interpreter_copy(m);
            ft_interpreter_step(next, t, variants[i]);
            bool goes = go_on(s, next);
            ft_interpreter_free(next);
            if (!goes) return false;
        }
    }
    return true;
}

bool ft_inputs_enumerate(const inputs_program *p, const ft_program *program, uint64_t limit,
                         inputs_words *words)
{
    inputs_values values;
    search s = {p, program, limit, words, false};
    *words = (inputs_words){0};
    for (uint64_t k = 0; ft_inputs_combination(p, k, &values); k++) {
        ft_interpreter_options options = {
            .races = true, .input = ft_inputs_give, .context = &values};
        ft_interpreter *m = ft_interpreter_new(program, &options);
        bool goes = go_on(&s, m);
        ft_interpreter_free(m);
        if (!goes) return words->races;
    }
    return true;
}
