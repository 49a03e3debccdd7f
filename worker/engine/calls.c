#include "engine/calls.h"

#include <string.h>

enum { MAX_COMMAND = 4096 };

static json_t *text_or_null(const char *text)
{
    return text ? json_string(text) : json_null();
}

void ft_calls_add(const ft_trace *trace, uint32_t e, json_t *json)
{
    uint32_t at = trace->context ? trace->context[e] : FT_NO_CONTEXT;
    if (at == FT_NO_CONTEXT) return;
    uint32_t depth = trace->contexts[at].depth;
    json_t *stack = json_array();
    for (int i = 0; i < FT_CALLS_MAX && at != FT_NO_CONTEXT; i++, at = trace->contexts[at].parent) {
        uint32_t loc = trace->contexts[at].loc;
        json_array_append_new(
            stack, json_pack("{s:o, s:o}", "function", text_or_null(trace->locations[loc].function),
                             "location", text_or_null(ft_trace_location_text(trace, loc))));
    }
    json_object_set_new(json, "stack", stack);
    if (depth > FT_CALLS_MAX)
        json_object_set_new(json, "more_calls", json_integer((json_int_t)depth - FT_CALLS_MAX));
}

void ft_calls_add_creation(const ft_trace *trace, const ft_order *order, uint32_t e, json_t *json)
{
    uint32_t fork = order->fork_of[trace->thread[e]];
    if (fork == FT_NO_EVENT) return;
    uint32_t loc = trace->loc[fork];
    json_t *created =
        json_pack("{s:s, s:o}", "thread", ft_trace_thread_name(trace, trace->thread[fork]),
                  "location", text_or_null(ft_trace_location_text(trace, loc)));
    if (trace->locations[loc].function)
        json_object_set_new(created, "function", json_string(trace->locations[loc].function));
    ft_calls_add(trace, fork, created);
    json_object_set_new(json, "created", created);
}

static bool is_plain(const char *word)
{
    return *word && !word[strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                       "0123456789_-+=./:,@%")];
}

static void add_quoted(ft_strbuf *out, const char *word)
{
    ft_strbuf_puts(out, " ");
    if (is_plain(word)) {
        ft_strbuf_puts(out, word);
        return;
    }
    ft_strbuf_puts(out, "'");
    for (const char *c = word; *c; c++) {
        if (*c == '\'')
            ft_strbuf_puts(out, "'\\''");
        else
            ft_strbuf_add(out, c, 1);
    }
    ft_strbuf_puts(out, "'");
}

json_t *ft_calls_replay(const ft_trace *trace)
{
    if (!trace->n_command || !trace->hook) return NULL;
    ft_strbuf out = {0};
    ft_strbuf_puts(&out, "foretell replay WITNESS TRACE --");
    for (uint32_t i = 0; i < trace->n_command && out.len <= MAX_COMMAND; i++)
        add_quoted(&out, trace->command[i]);
    json_t *replay = out.len <= MAX_COMMAND ? json_string(ft_strbuf_text(&out)) : NULL;
    ft_strbuf_release(&out);
    return replay;
}
