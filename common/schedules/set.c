#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "schedules/schedules.h"

static const ft_node_row ROWS[FT_NODE_KINDS] = {
#define FT_ROW(symbol, name, code, second, object, peer, meaning)                                  \
    {name, meaning, code, second, object, peer},
    FT_NODE_TABLE(FT_ROW)
#undef FT_ROW
};

const ft_node_row *ft_node_row_of(ft_node_kind kind)
{
    FT_REQUIRE(kind < FT_NODE_KINDS);
    return &ROWS[kind];
}

bool ft_node_kind_of(ft_code code, bool second, ft_node_kind *kind)
{
    for (int k = FT_NODE_EXIT; k < FT_NODE_KINDS; k++)
        if (ROWS[k].code == code && ROWS[k].second == second) return *kind = (ft_node_kind)k, true;
    return false;
}

/* ---- sets ---- */

ft_schedule_set *ft_schedule_set_new(void)
{
    ft_schedule_set *set = ft_calloc(1, sizeof *set);
    set->pool = ft_term_pool_new();
    set->program = FT_NO_ID;
    return set;
}

void ft_schedule_release(ft_schedule *s)
{
    ft_vec_release(&s->threads);
    ft_vec_release(&s->objects);
    ft_vec_release(&s->nodes);
    ft_vec_release(&s->edges);
    ft_vec_release(&s->bound);
}

void ft_epoch_release(ft_epoch *e)
{
    for (size_t i = 0; i < e->schedules.len; i++) ft_schedule_release(&e->schedules.data[i]);
    for (size_t i = 0; i < e->stands.len; i++) ft_vec_release(&e->stands.data[i].calls);
    ft_vec_release(&e->schedules);
    ft_vec_release(&e->choices);
    ft_vec_release(&e->stands);
    ft_vec_release(&e->objects);
    ft_vec_release(&e->cells);
    ft_vec_release(&e->syncs);
    ft_vec_release(&e->locals);
}

void ft_schedule_set_free(ft_schedule_set *set)
{
    if (!set) return;
    for (size_t e = 0; e < set->epochs.len; e++) ft_epoch_release(&set->epochs.data[e]);
    ft_vec_release(&set->epochs);
    ft_vec_release(&set->inputs);
    ft_vec_release(&set->markers);
    ft_term_pool_free(set->pool);
    ft_map_release(&set->labels);
    ft_intern_release(&set->texts);
    free(set);
}

uint32_t ft_schedule_text(ft_schedule_set *set, const char *text)
{
    return ft_intern_add(&set->texts, text, strlen(text));
}

const char *ft_schedule_text_of(const ft_schedule_set *set, uint32_t text)
{
    if (text == FT_NO_ID) return "";
    FT_REQUIRE(text < set->texts.len);
    return set->texts.names[text];
}

/* ---- inputs ---- */

/* The text of the label; FT_NO_ID: no input has it. Labels are looked up in a map, since a set of
 * many epochs may have as many unknowns of one name. */
static uint32_t used_label(ft_schedule_set *set, const char *label)
{
    for (; set->labelled < set->inputs.len; set->labelled++)
        ft_map_slot(&set->labels, set->inputs.data[set->labelled].label, 1, NULL);
    uint32_t text = ft_intern_find(&set->texts, label, strlen(label));
    return text != FT_NO_ID && ft_map_get(&set->labels, text, NULL) ? text : FT_NO_ID;
}

/* Puts a number behind the label where an input has it already. */
static void make_unique(ft_schedule_set *set, ft_strbuf *label)
{
    size_t length = label->len;
    uint32_t plain = used_label(set, label->text);
    if (plain == FT_NO_ID) return;
    uint64_t *last = ft_map_slot(&set->labels, plain, 1, NULL);
    do {
        ft_strbuf_cut(label, length);
        ft_strbuf_printf(label, "!%u", (unsigned)++*last);
    } while (used_label(set, label->text) != FT_NO_ID);
}

/* The name with what a symbol of SMT-LIB may have. */
static void plain_label(const char *name, ft_strbuf *label)
{
    for (const char *c = name; *c; c++) {
        bool good = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || *c == '_' ||
                    (*c >= '0' && *c <= '9' && c != name);
        ft_strbuf_add(label, good ? c : "_", 1);
    }
    if (!*name) ft_strbuf_puts(label, "_");
}

ft_symbol ft_schedule_add_symbol(ft_schedule_set *set, uint32_t epoch, const char *name,
                                 const char *thread, uint32_t n, uint8_t width)
{
    FT_REQUIRE(width && width <= 64 && (epoch || n));
    ft_strbuf label = {0};
    plain_label(name, &label);
    if (n && strcmp(thread, "0") != 0) ft_strbuf_printf(&label, "@%s", thread);
    if (n > 1) ft_strbuf_printf(&label, ".%u", n);
    make_unique(set, &label);
    ft_vec_push(&set->inputs,
                (ft_schedule_input){.label = ft_schedule_text(set, label.text),
                                    .name = ft_schedule_text(set, name),
                                    .thread = n ? ft_schedule_text(set, thread) : FT_NO_ID,
                                    .n = n,
                                    .width = width,
                                    .epoch = epoch});
    ft_strbuf_release(&label);
    return (ft_symbol)set->inputs.len - 1;
}

ft_symbol ft_schedule_add_input(ft_schedule_set *set, const char *name, const char *thread,
                                uint32_t n, uint8_t width)
{
    return ft_schedule_add_symbol(set, 0, name, thread, n, width);
}

uint32_t ft_schedule_epoch_named(const ft_schedule_set *set, uint32_t name)
{
    for (uint32_t e = 0; e < set->epochs.len; e++)
        if (set->epochs.data[e].name == name) return e;
    return FT_NO_ID;
}

/* ---- places of the state ---- */

/* Decimal without leading zeros, below 2^32 - 1. */
static bool small_number(const char **text, uint32_t *number)
{
    uint64_t value = 0;
    const char *c = *text;
    if (*c < '0' || *c > '9' || (*c == '0' && c[1] >= '0' && c[1] <= '9')) return false;
    for (; *c >= '0' && *c <= '9'; c++) {
        value = value * 10 + (uint64_t)(*c - '0');
        if (value >= UINT32_MAX) return false;
    }
    *number = (uint32_t)value;
    *text = c;
    return true;
}

/* NAME+8; `end` is where the name ends. */
static bool offset_at(const char *text, const char **end, uint64_t *offset)
{
    const char *plus = strrchr(text, '+'), *digits = plus ? plus + 1 : NULL;
    uint32_t small;
    if (!plus || plus == text || !small_number(&digits, &small) || *digits) return false;
    *end = plus;
    *offset = small;
    return true;
}

static bool frame_at(const char **text, ft_state_place *p)
{
    if (!small_number(text, &p->thread) || *(*text)++ != '/') return false;
    return small_number(text, &p->frame) && *(*text)++ == '%';
}

static bool named_place(const char *text, ft_state_place *p)
{
    const char *end;
    p->name = text;
    if (!offset_at(text, &end, &p->offset)) return false;
    p->length = (size_t)(end - text);
    return true;
}

/* 1/0%a+8, 1/0%a#2+8 */
static bool stack_place(const char *text, ft_state_place *p)
{
    p->number = 1;
    if (!frame_at(&text, p) || !named_place(text, p)) return false;
    const char *hash = memchr(p->name, '#', p->length), *digits = hash ? hash + 1 : NULL;
    if (!hash) return true;
    const char *end = p->name + p->length;
    p->length = (size_t)(hash - p->name);
    return p->length && small_number(&digits, &p->number) && digits == end && p->number > 1;
}

static bool heap_place(const char *text, ft_state_place *p)
{
    uint32_t offset;
    if (!small_number(&text, &p->number) || !p->number || *text++ != '+') return false;
    if (!small_number(&text, &offset)) return false;
    p->offset = offset;
    return !*text;
}

bool ft_state_handle_read(const char *text, uint32_t *thread)
{
    if (strncmp(text, "thread:", 7) != 0) return false;
    text += 7;
    return small_number(&text, thread) && !*text && *thread < FT_SCHEDULE_THREADS;
}

bool ft_state_place_read(const char *text, ft_state_place *place)
{
    *place = (ft_state_place){.kind = FT_STATE_GLOBAL};
    for (const unsigned char *c = (const unsigned char *)text; *c; c++)
        if (*c <= ' ') return false;
    if (*text == '@') return named_place(text + 1, place);
    if (strncmp(text, "heap:#", 6) == 0) {
        place->kind = FT_STATE_HEAP;
        return heap_place(text + 6, place);
    }
    if (strncmp(text, "stack:", 6) == 0) {
        place->kind = FT_STATE_STACK;
        return stack_place(text + 6, place);
    }
    const char *rest = text;
    if (!small_number(&rest, &place->thread)) return false;
    if (*rest == '@') {
        place->kind = FT_STATE_OWN;
        return named_place(rest + 1, place);
    }
    if (strcmp(rest, "/result") == 0) return place->kind = FT_STATE_RESULT, true;
    place->kind = FT_STATE_REGISTER;
    rest = text;
    if (!frame_at(&rest, place)) return false;
    place->name = rest;
    place->length = strlen(rest);
    return place->length > 0;
}

/* ---- order ---- */

void ft_schedule_order_init(ft_schedule_order *o, const ft_schedule *s)
{
    *o = (ft_schedule_order){.n = (uint32_t)s->nodes.len, .threads = (uint32_t)s->threads.len};
    o->number = ft_calloc(o->n + 1, sizeof *o->number);
    o->clocks = ft_calloc((size_t)o->n * o->threads + 1, sizeof *o->clocks);
    uint32_t *last = ft_calloc(o->threads + 1, sizeof *last); /* by thread: its last node + 1 */
    for (uint32_t i = 0; i < o->n; i++) {
        const ft_node *node = &s->nodes.data[i];
        uint32_t *own = o->clocks + (size_t)i * o->threads;
        uint32_t before = last[node->thread];
        if (before)
            memcpy(own, own - (i + 1 - before) * (size_t)o->threads, o->threads * sizeof *own);
        for (uint32_t k = 0; k < node->n_edges; k++) {
            const uint32_t *other = o->clocks + (size_t)s->edges.data[node->edges + k] * o->threads;
            for (uint32_t t = 0; t < o->threads; t++)
                if (own[t] < other[t]) own[t] = other[t];
        }
        o->number[i] = before ? o->number[before - 1] + 1 : 1;
        own[node->thread] = o->number[i];
        last[node->thread] = i + 1;
    }
    free(last);
}

void ft_schedule_order_release(ft_schedule_order *order)
{
    free(order->number);
    free(order->clocks);
}

bool ft_schedule_is_before(const ft_schedule_order *o, const ft_schedule *s, uint32_t a, uint32_t b)
{
    FT_REQUIRE(a < o->n && b < o->n);
    return a != b && o->clocks[(size_t)b * o->threads + s->nodes.data[a].thread] >= o->number[a];
}
