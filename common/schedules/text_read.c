#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "schedules/schedules.h"

/* A line, and how far it is read. */
typedef struct line {
    const char *text;
    size_t length, at;
} line;

/* A selector's choice that is read: which of its sides comes next. */
typedef struct pending {
    uint32_t choice;
    bool yes_read;
} pending;

/* A leaf whose schedule comes later. */
typedef struct named_leaf {
    uint32_t choice, name;
    uint64_t line, column;
} named_leaf;

typedef struct reader {
    const char *text;
    size_t length, next; /* where the next line begins */
    uint64_t number;     /* of the line at hand */
    line line;
    ft_schedule_set *set;
    ft_schedule *schedule;   /* being read; NULL: none */
    ft_map threads;          /* text -> thread of the schedule, + 1 */
    ft_map objects;          /* likewise */
    ft_map nodes;            /* thread and number -> node */
    FT_VEC(uint32_t) counts; /* by thread of the schedule: its nodes so far */
    FT_VEC(named_leaf) leaves;
    bool bound;     /* the schedule's last line is read */
    ft_strbuf word; /* the last one */
    size_t column;  /* where it began, from 1 */
    ft_error *err;
} reader;

#define FAIL(r, ...) ft_error_at((r)->err, FT_INPUT, (r)->number, (r)->column, __VA_ARGS__)
#define TRY(expression)                                                                            \
    do {                                                                                           \
        ft_status try_status = (expression);                                                       \
        if (try_status != FT_OK) return try_status;                                                \
    } while (0)

/* ---- lines and words ---- */

/* The next line that holds something; false: the end. */
static bool next_line(reader *r)
{
    while (r->next < r->length) {
        const char *from = r->text + r->next;
        const char *end = memchr(from, '\n', r->length - r->next);
        size_t length = end ? (size_t)(end - from) : r->length - r->next;
        r->next += length + 1;
        r->number++;
        if (length && from[length - 1] == '\r') length--;
        r->line = (line){from, length, 0};
        while (r->line.at < length && (from[r->line.at] == ' ' || from[r->line.at] == '\t'))
            r->line.at++;
        r->column = r->line.at + 1;
        if (r->line.at < length && from[r->line.at] != ';') return true;
    }
    r->line = (line){"", 0, 0};
    r->number++;
    r->column = 1;
    return false;
}

static void skip_blanks(reader *r)
{
    line *l = &r->line;
    while (l->at < l->length && (l->text[l->at] == ' ' || l->text[l->at] == '\t')) l->at++;
    r->column = l->at + 1;
}

static bool at_end(reader *r)
{
    skip_blanks(r);
    return r->line.at >= r->line.length || r->line.text[r->line.at] == ';';
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9') return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static ft_status quoted(reader *r)
{
    line *l = &r->line;
    for (l->at++; l->at < l->length && l->text[l->at] != '"'; l->at++) {
        char c = l->text[l->at];
        if (c == '\\') {
            int high = l->at + 2 < l->length ? hex_digit(l->text[l->at + 1]) : -1;
            int low = high >= 0 ? hex_digit(l->text[l->at + 2]) : -1;
            if (low < 0) return FAIL(r, "two hexadecimal digits must follow a \\ in quotes");
            c = (char)(high * 16 + low);
            l->at += 2;
        }
        if (!c) return FAIL(r, "a name must not hold a zero byte");
        ft_strbuf_add(&r->word, &c, 1);
    }
    if (l->at >= l->length) return FAIL(r, "the quotes are not closed");
    l->at++;
    return FT_OK;
}

/* The next word: up to a blank, or in quotes. */
static ft_status word(reader *r, const char *what)
{
    line *l = &r->line;
    ft_strbuf_clear(&r->word);
    if (at_end(r)) return FAIL(r, "%s is missing", what);
    if (l->text[l->at] == '"') return quoted(r);
    size_t from = l->at;
    while (l->at < l->length && !strchr(" \t;\"", l->text[l->at])) {
        if (!l->text[l->at]) return FAIL(r, "a zero byte");
        l->at++;
    }
    ft_strbuf_add(&r->word, l->text + from, l->at - from);
    return FT_OK;
}

static bool is(const reader *r, const char *text)
{
    return strcmp(ft_strbuf_text(&r->word), text) == 0;
}

static uint32_t text_here(reader *r)
{
    return ft_schedule_text(r->set, ft_strbuf_text(&r->word));
}

static ft_status number_in(reader *r, const char *digits, const char *what, uint32_t *number)
{
    uint64_t value = 0;
    if (!*digits) return FAIL(r, "%s is missing: a number", what);
    for (const char *c = digits; *c; c++) {
        if (*c < '0' || *c > '9') return FAIL(r, "%s is not a number: %s", what, digits);
        value = value * 10 + (uint64_t)(*c - '0');
        if (value >= UINT32_MAX) return FAIL(r, "%s is too large: %s", what, digits);
    }
    *number = (uint32_t)value;
    return FT_OK;
}

static ft_status number(reader *r, const char *what, uint32_t *value)
{
    TRY(word(r, what));
    return number_in(r, ft_strbuf_text(&r->word), what, value);
}

/* The word at hand: decimal, or hexadecimal behind 0x. */
static ft_status bits_here(reader *r, const char *what, uint64_t *bits)
{
    const char *text = ft_strbuf_text(&r->word);
    bool hex = strncmp(text, "0x", 2) == 0;
    uint64_t base = hex ? 16 : 10, value = 0;
    const char *digits = hex ? text + 2 : text;
    if (!*digits) return FAIL(r, "%s is missing: a number", what);
    for (const char *c = digits; *c; c++) {
        int digit = hex_digit(*c);
        if (digit < 0 || (uint64_t)digit >= base)
            return FAIL(r, "%s is not a number: %s", what, text);
        if (value > (UINT64_MAX - (uint64_t)digit) / base)
            return FAIL(r, "%s is too large: %s", what, text);
        value = value * base + (uint64_t)digit;
    }
    *bits = value;
    return FT_OK;
}

static ft_status line_ends(reader *r)
{
    return at_end(r) ? FT_OK : FAIL(r, "the line goes on where it should end");
}

/* ---- terms ---- */

static bool resolve(void *context, const char *name, size_t length, ft_symbol *symbol,
                    ft_sort *sort)
{
    const ft_schedule_set *set = context;
    uint32_t text = ft_intern_find(&set->texts, name, length);
    for (size_t i = 0; i < set->inputs.len && text != FT_NO_ID; i++) {
        if (set->inputs.data[i].label != text) continue;
        uint8_t width = set->inputs.data[i].width;
        *symbol = (ft_symbol)i;
        *sort = width == 1 ? FT_BOOL_SORT : (ft_sort){FT_SORT_BITVEC, width};
        return true;
    }
    return false;
}

/* The rest of the line. */
static ft_status term(reader *r, ft_term *made)
{
    ft_error own = FT_ERROR_INIT;
    ft_scope scope = {resolve, NULL, r->set};
    if (at_end(r)) return FAIL(r, "a condition is missing");
    ft_status status = ft_term_parse(r->set->pool, r->line.text + r->line.at,
                                     r->line.length - r->line.at, &scope, made, &own);
    if (status != FT_OK)
        return ft_error_at(r->err, status, r->number, r->line.at + (own.column ? own.column : 1),
                           "%s", own.message);
    if (!ft_sort_equal(ft_term_sort(r->set->pool, *made), FT_BOOL_SORT))
        return FAIL(r, "a condition must be a Bool");
    return FT_OK;
}

/* ---- the head ---- */

static ft_status read_label(reader *r, const char *what, ft_schedule_input *in)
{
    uint32_t width;
    TRY(word(r, what));
    in->label = text_here(r);
    for (size_t i = 0; i < r->set->inputs.len; i++)
        if (r->set->inputs.data[i].label == in->label)
            return FAIL(r, "another input has the label '%s'", ft_strbuf_text(&r->word));
    TRY(number(r, "the input's width", &width));
    if (!width || width > 64) return FAIL(r, "an input has 1 to 64 bits, not %u", width);
    in->width = (uint8_t)width;
    return FT_OK;
}

static ft_status read_input(reader *r, uint32_t epoch)
{
    bool loop = is(r, "loop");
    ft_schedule_input in = {.epoch = epoch, .loop = loop, .dynamic = loop};
    TRY(read_label(r, "the input's label", &in));
    TRY(word(r, "the input's name"));
    in.name = text_here(r);
    TRY(word(r, "the input's thread"));
    in.thread = text_here(r);
    TRY(number(r, "which of the thread's values it is", &in.n));
    if (!in.n) return FAIL(r, "values are numbered from 1");
    if (!at_end(r) && !loop) {
        TRY(word(r, "dynamic"));
        in.dynamic = is(r, "dynamic");
        if (!in.dynamic)
            return FAIL(r, "an input is dynamic or nothing, not '%s'", ft_strbuf_text(&r->word));
    }
    ft_vec_push(&r->set->inputs, in);
    return line_ends(r);
}

static ft_status state_place(reader *r, uint32_t *text)
{
    ft_state_place place;
    TRY(word(r, "a place of the state"));
    if (!ft_state_place_read(ft_strbuf_text(&r->word), &place))
        return FAIL(r,
                    "'%s' is not a place: @OBJECT+N, THREAD@OBJECT+N, heap:#N+N, "
                    "stack:THREAD/FRAME%%REGISTER+N, THREAD/FRAME%%REGISTER or THREAD/result",
                    ft_strbuf_text(&r->word));
    *text = text_here(r);
    return FT_OK;
}

static ft_status read_unknown(reader *r, uint32_t epoch)
{
    ft_schedule_input in = {.thread = FT_NO_ID, .epoch = epoch};
    TRY(read_label(r, "the unknown's label", &in));
    TRY(state_place(r, &in.name));
    ft_vec_push(&r->set->inputs, in);
    return line_ends(r);
}

static ft_status read_head(reader *r)
{
    bool any = next_line(r);
    if (any) TRY(word(r, "the first line"));
    if (!any || !is(r, "schedules")) return FAIL(r, "a schedule set begins with: schedules 1");
    TRY(word(r, "the version"));
    if (!is(r, "1"))
        return ft_error_at(r->err, FT_UNSUPPORTED, r->number, r->column,
                           "version %s of schedule sets: this Foretell reads version 1",
                           ft_strbuf_text(&r->word));
    return line_ends(r);
}

/* ---- selectors ---- */

static uint32_t add_choice(ft_epoch *e, pending *open)
{
    uint32_t own = (uint32_t)e->choices.len;
    ft_vec_push(&e->choices, (ft_choice){.term = FT_NO_TERM, .schedule = FT_NO_SCHEDULE});
    if (!open) return own;
    if (open->yes_read)
        e->choices.data[open->choice].no = own;
    else
        e->choices.data[open->choice].yes = own;
    return own;
}

static ft_status read_leaf(reader *r, uint32_t choice)
{
    if (is(r, "none")) return line_ends(r);
    if (!is(r, "take")) return FAIL(r, "if, take or none must stand here");
    TRY(word(r, "the schedule's name"));
    ft_vec_push(&r->leaves, (named_leaf){choice, text_here(r), r->number, r->column});
    return line_ends(r);
}

/* The line at hand is the selector's first, its first word is read. */
static ft_status read_selector(reader *r, ft_epoch *e)
{
    FT_VEC(pending) open = {0};
    ft_status status = FT_OK;
    r->leaves.len = 0;
    do {
        if (e->choices.len && !next_line(r)) {
            status = FAIL(r, "the selector is not complete");
            break;
        }
        if (e->choices.len && (status = word(r, "a word")) != FT_OK) break;
        pending *last = open.len ? &open.data[open.len - 1] : NULL;
        if (last && last->yes_read && e->choices.data[last->choice].no == 0 && is(r, "else")) {
            status = line_ends(r);
            if (status == FT_OK && !next_line(r)) status = FAIL(r, "the selector is not complete");
            if (status == FT_OK) status = word(r, "a word");
            if (status != FT_OK) break;
        } else if (last && last->yes_read) {
            status = FAIL(r, "else is missing");
            break;
        }
        uint32_t own = add_choice(e, last);
        if (is(r, "if")) {
            ft_term condition = FT_NO_TERM;
            status = term(r, &condition);
            e->choices.data[own].term = condition;
            ft_vec_push(&open, (pending){own, false});
            continue;
        }
        status = read_leaf(r, own);
        while (open.len && open.data[open.len - 1].yes_read) open.len--;
        if (open.len) open.data[open.len - 1].yes_read = true;
    } while (status == FT_OK && open.len);
    ft_vec_release(&open);
    return status;
}

static ft_status find_leaves(reader *r, ft_epoch *e)
{
    for (size_t i = 0; i < r->leaves.len; i++) {
        const named_leaf *leaf = &r->leaves.data[i];
        uint32_t k = 0;
        while (k < e->schedules.len && e->schedules.data[k].name != leaf->name) k++;
        if (k == e->schedules.len)
            return ft_error_at(r->err, FT_INPUT, leaf->line, leaf->column,
                               "the epoch has no schedule '%s'",
                               ft_schedule_text_of(r->set, leaf->name));
        e->choices.data[leaf->choice].schedule = k;
    }
    r->leaves.len = 0;
    return FT_OK;
}

/* ---- schedules ---- */

static const char *const ENDS[] = {
#define FT_ROW(symbol, name, meaning) name,
    FT_SCHEDULE_END_TABLE(FT_ROW)
#undef FT_ROW
};

static ft_status begin_schedule(reader *r, ft_epoch *e)
{
    ft_schedule s = {.next = FT_NO_ID, .end = FT_SCHEDULE_ENDS};
    TRY(word(r, "the schedule's name"));
    s.name = text_here(r);
    TRY(word(r, "how the schedule ends"));
    for (uint8_t i = 0; i < FT_SCHEDULE_ENDS; i++)
        if (is(r, ENDS[i])) s.end = i;
    if (s.end == FT_SCHEDULE_ENDS)
        return FAIL(r,
                    "'%s' is not an end of schedules: ended, exited, failed, blocked, epoch or "
                    "discarded",
                    ft_strbuf_text(&r->word));
    if (s.end == FT_SCHEDULE_EPOCH) {
        TRY(word(r, "the next epoch's name"));
        s.next = text_here(r);
    }
    ft_vec_push(&e->schedules, s);
    r->schedule = &e->schedules.data[e->schedules.len - 1];
    ft_map_release(&r->threads);
    ft_map_release(&r->objects);
    ft_map_release(&r->nodes);
    r->counts.len = 0;
    r->bound = false;
    return line_ends(r);
}

/* The number of the text in the schedule's threads. */
static ft_status thread_number(reader *r, const char *name, size_t length, uint32_t *thread)
{
    uint32_t text = ft_intern_add(&r->set->texts, name, length);
    bool fresh;
    ft_schedule *s = r->schedule;
    uint64_t *slot = ft_map_slot(&r->threads, text, s->threads.len, &fresh);
    *thread = (uint32_t)*slot;
    if (!fresh) return FT_OK;
    if (s->threads.len >= FT_SCHEDULE_THREADS)
        return FAIL(r, "a schedule has at most %d threads", FT_SCHEDULE_THREADS);
    ft_vec_push(&s->threads, text);
    ft_vec_push(&r->counts, 0);
    return FT_OK;
}

static ft_status object_number(reader *r, uint32_t *object)
{
    bool fresh;
    TRY(word(r, "an object"));
    uint32_t text = text_here(r);
    uint64_t *slot = ft_map_slot(&r->objects, text, r->schedule->objects.len, &fresh);
    *object = (uint32_t)*slot;
    if (fresh) ft_vec_push(&r->schedule->objects, text);
    return FT_OK;
}

/* next 0 0.2 0.1: the first word is read. */
static ft_status read_bound(reader *r)
{
    if (r->schedule->end != FT_SCHEDULE_EPOCH)
        return FAIL(r, "only a schedule that ends at an epoch has threads of the next one");
    r->bound = true;
    while (!at_end(r)) {
        uint32_t thread;
        TRY(word(r, "a thread"));
        TRY(thread_number(r, r->word.text, r->word.len, &thread));
        ft_vec_push(&r->schedule->bound, thread);
    }
    return FT_OK;
}

/* 0.1:3 in the word at hand. */
static ft_status node_name(reader *r, uint32_t *thread, uint32_t *n)
{
    const char *text = ft_strbuf_text(&r->word), *colon = strchr(text, ':');
    if (!colon) return FAIL(r, "'%s' is not a node: THREAD:NUMBER", text);
    TRY(number_in(r, colon + 1, "the node's number", n));
    return thread_number(r, text, (size_t)(colon - text), thread);
}

static uint64_t node_key(uint32_t thread, uint32_t n)
{
    return (uint64_t)thread << 32 | n;
}

static ft_status read_edges(reader *r, ft_node *node)
{
    while (!at_end(r)) {
        uint32_t thread, n;
        uint64_t other;
        TRY(word(r, "a node"));
        TRY(node_name(r, &thread, &n));
        if (!ft_map_get(&r->nodes, node_key(thread, n), &other))
            return FAIL(r, "there is no node '%s' before this line", ft_strbuf_text(&r->word));
        if (thread == node->thread) return FAIL(r, "an edge must come from another thread's node");
        ft_vec_push(&r->schedule->edges, (uint32_t)other);
        node->n_edges++;
    }
    return FT_OK;
}

static ft_status read_place(reader *r, ft_schedule_place *place)
{
    TRY(word(r, "the function"));
    if (is(r, "@")) TRY(word(r, "the function")); /* @ and a name in quotes */
    const char *name = ft_strbuf_text(&r->word);
    *place = (ft_schedule_place){
        .function = ft_schedule_text(r->set, *name == '@' ? name + 1 : name), .file = FT_NO_ID};
    TRY(number(r, "the instruction's number", &place->instruction));
    skip_blanks(r);
    if (at_end(r) || r->line.text[r->line.at] != '"') return FT_OK;
    TRY(word(r, "the file"));
    place->file = text_here(r);
    TRY(number(r, "the line", &place->line));
    return number(r, "the column", &place->column);
}

static ft_status read_node_place(reader *r, ft_node *node)
{
    ft_schedule_place place;
    TRY(read_place(r, &place));
    node->function = place.function;
    node->instruction = place.instruction;
    node->file = place.file;
    node->line = place.line;
    node->column = place.column;
    return FT_OK;
}

static ft_status kind_here(reader *r, uint8_t *kind)
{
    for (*kind = 0; *kind < FT_NODE_KINDS; ++*kind)
        if (is(r, ft_node_row_of((ft_node_kind)*kind)->name)) return FT_OK;
    return FAIL(r, "'%s' is not an operation of schedules", ft_strbuf_text(&r->word));
}

/* What follows the kind: objects, the peer. */
static ft_status read_subject(reader *r, ft_node *node)
{
    const ft_node_row *row = ft_node_row_of((ft_node_kind)node->kind);
    bool waits = row->code == FT_CODE_WAIT || row->code == FT_CODE_TIMED_WAIT;
    if (row->object) TRY(object_number(r, &node->object));
    if (waits) TRY(object_number(r, &node->other));
    if (node->kind == FT_NODE_SIGNAL) {
        TRY(word(r, "wakes"));
        if (!is(r, "wakes")) return FAIL(r, "wakes THREAD, or wakes nobody, must stand here");
    }
    if (!row->peer) return FT_OK;
    TRY(word(r, "the other thread"));
    if (node->kind == FT_NODE_SIGNAL && is(r, "nobody")) return FT_OK;
    return thread_number(r, r->word.text, r->word.len, &node->peer);
}

/* The first word of the line is read. */
static ft_status read_node(reader *r)
{
    ft_node node = {.object = FT_NO_ID,
                    .other = FT_NO_ID,
                    .peer = FT_NO_ID,
                    .function = FT_NO_ID,
                    .file = FT_NO_ID,
                    .edges = (uint32_t)r->schedule->edges.len};
    uint32_t n;
    TRY(node_name(r, &node.thread, &n));
    if (n != r->counts.data[node.thread] + 1)
        return FAIL(r, "node %s: the thread's next node has the number %u",
                    ft_strbuf_text(&r->word), r->counts.data[node.thread] + 1);
    TRY(word(r, "the operation"));
    TRY(kind_here(r, &node.kind));
    TRY(read_subject(r, &node));
    while (!at_end(r)) {
        TRY(word(r, "a word"));
        if (is(r, "timed-out"))
            node.timed_out = true;
        else if (is(r, "at"))
            TRY(read_node_place(r, &node));
        else if (is(r, "after"))
            TRY(read_edges(r, &node));
        else
            return FAIL(r, "at, after or timed-out must stand here, not '%s'",
                        ft_strbuf_text(&r->word));
    }
    r->counts.data[node.thread] = n;
    ft_map_put(&r->nodes, node_key(node.thread, n), r->schedule->nodes.len);
    ft_vec_push(&r->schedule->nodes, node);
    return FT_OK;
}

/* ---- the state at an epoch's begin ---- */

static ft_status begin_epoch(reader *r)
{
    TRY(word(r, "the epoch's name"));
    ft_epoch e = {.name = text_here(r), .init = FT_NO_TERM};
    ft_vec_push(&r->set->epochs, e);
    r->schedule = NULL;
    r->bound = false;
    return line_ends(r);
}

static ft_status read_standing_word(reader *r, ft_standing *at)
{
    ft_schedule_place place;
    TRY(word(r, "a word"));
    if (is(r, "detached")) return at->detached = true, FT_OK;
    if (is(r, "last")) return at->last = true, FT_OK;
    if (!is(r, "at")) return FAIL(r, "at, detached or last must stand here");
    TRY(read_place(r, &place));
    ft_vec_push(&at->calls, place);
    return FT_OK;
}

static ft_status read_standing(reader *r, ft_epoch *e)
{
    ft_standing at = {0};
    uint32_t thread;
    TRY(number(r, "the thread's number", &thread));
    if (thread != e->stands.len)
        return FAIL(r, "the next thread has the number %zu", e->stands.len);
    if (thread >= FT_SCHEDULE_THREADS)
        return FAIL(r, "an epoch has at most %d threads", FT_SCHEDULE_THREADS);
    skip_blanks(r);
    ft_status status = word(r, "the operation");
    if (status == FT_OK && is(r, "ended"))
        at.kind = FT_STANDING_ENDED;
    else if (status == FT_OK)
        status = kind_here(r, &at.kind);
    while (status == FT_OK && !at_end(r)) status = read_standing_word(r, &at);
    if (status == FT_OK)
        ft_vec_push(&e->stands, at);
    else
        ft_vec_release(&at.calls);
    return status;
}

static ft_status read_object(reader *r, ft_epoch *e)
{
    ft_epoch_object o = {0};
    TRY(word(r, "the object's name"));
    o.name = text_here(r);
    TRY(word(r, "its size"));
    TRY(bits_here(r, "its size", &o.size));
    if (!at_end(r)) {
        TRY(word(r, "freed"));
        if (!is(r, "freed")) return FAIL(r, "freed must stand here, or nothing");
        o.freed = true;
    }
    ft_vec_push(&e->objects, o);
    return line_ends(r);
}

static ft_status read_cell(reader *r, ft_epoch *e)
{
    ft_epoch_cell cell = {.address = FT_NO_ID};
    uint32_t width;
    TRY(state_place(r, &cell.place));
    TRY(number(r, "the width", &width));
    if (!width || width > 64) return FAIL(r, "a cell has 1 to 64 bits, not %u", width);
    cell.width = (uint8_t)width;
    TRY(word(r, "the content"));
    ft_state_place place;
    bool handle = strncmp(ft_strbuf_text(&r->word), "thread:", 7) == 0;
    if (handle || ft_state_place_read(ft_strbuf_text(&r->word), &place))
        cell.address = text_here(r);
    else
        TRY(bits_here(r, "the content", &cell.bits));
    ft_vec_push(&e->cells, cell);
    return line_ends(r);
}

static const char *const SYNCS[] = {
#define FT_ROW(symbol, name) name,
    FT_EPOCH_SYNC_TABLE(FT_ROW)
#undef FT_ROW
};

/* Numbers of threads, as far as they go. */
static ft_status sync_threads(reader *r, ft_epoch_sync *s, uint64_t *bits)
{
    while (!at_end(r) && r->line.text[r->line.at] >= '0' && r->line.text[r->line.at] <= '9') {
        uint32_t thread = 0;
        TRY(number(r, "a thread's number", &thread));
        if (thread >= FT_SCHEDULE_THREADS) return FAIL(r, "the epoch has no thread %u", thread);
        if (bits)
            *bits |= UINT64_C(1) << thread;
        else if (++s->reads[thread] == UINT8_MAX)
            return FAIL(r, "a thread reads it too often");
    }
    return FT_OK;
}

static ft_status read_sync_word(reader *r, ft_epoch_sync *s)
{
    ft_mutex_kind kind;
    TRY(word(r, "a word"));
    if (is(r, "destroyed")) return s->destroyed = true, FT_OK;
    if (ft_mutex_kind_named(ft_strbuf_text(&r->word), &kind))
        return s->mutex = (uint8_t)kind, FT_OK;
    if (is(r, "owner")) return number(r, "a thread's number", &s->owner);
    if (is(r, "waiters")) return sync_threads(r, s, &s->waiters);
    if (is(r, "notified")) return sync_threads(r, s, &s->notified);
    if (is(r, "arrived")) return sync_threads(r, s, &s->arrived);
    if (is(r, "readers")) return sync_threads(r, s, NULL);
    if (!is(r, "count") && !is(r, "total"))
        return FAIL(r, "'%s' says nothing of a synchronisation object", ft_strbuf_text(&r->word));
    uint64_t *of = is(r, "count") ? &s->count : &s->total;
    TRY(word(r, "a number"));
    return bits_here(r, "a number", of);
}

static ft_status read_sync(reader *r, ft_epoch *e)
{
    ft_epoch_sync s = {.owner = FT_NO_ID, .kind = FT_EPOCH_SYNC_KINDS};
    TRY(state_place(r, &s.place));
    TRY(word(r, "the kind"));
    for (uint8_t k = 0; k < FT_EPOCH_SYNC_KINDS; k++)
        if (is(r, SYNCS[k])) s.kind = k;
    if (s.kind == FT_EPOCH_SYNC_KINDS)
        return FAIL(r, "'%s' is not a kind of synchronisation object", ft_strbuf_text(&r->word));
    while (!at_end(r)) TRY(read_sync_word(r, &s));
    ft_vec_push(&e->syncs, s);
    return FT_OK;
}

static ft_status read_local(reader *r, ft_epoch *e)
{
    ft_epoch_local local;
    TRY(state_place(r, &local.place));
    TRY(word(r, "the variable's name"));
    local.name = text_here(r);
    TRY(word(r, "the file"));
    local.file = text_here(r);
    TRY(number(r, "the line", &local.line));
    ft_vec_push(&e->locals, local);
    return line_ends(r);
}

/* ---- epochs ---- */

static ft_status read_prefix(reader *r)
{
    TRY(word(r, "yes or no"));
    if (!is(r, "yes") && !is(r, "no")) return FAIL(r, "yes or no must stand here");
    r->set->prefix = is(r, "yes");
    return line_ends(r);
}

static ft_status read_marker(reader *r)
{
    ft_schedule_place place;
    TRY(read_place(r, &place));
    ft_vec_push(&r->set->markers, place);
    return line_ends(r);
}

/* A line outside of epochs. */
static ft_status read_fact(reader *r)
{
    if (is(r, "prefix")) return read_prefix(r);
    if (is(r, "marker")) return read_marker(r);
    if (is(r, "input") || is(r, "loop")) return read_input(r, 0);
    if (!is(r, "program"))
        return FAIL(r, "'%s' is not an item of schedule sets", ft_strbuf_text(&r->word));
    TRY(word(r, "the program's hash"));
    r->set->program = text_here(r);
    return line_ends(r);
}

/* A line of the state of a later epoch. */
static ft_status read_state(reader *r, ft_epoch *e, bool *read)
{
    uint32_t epoch = (uint32_t)(e - r->set->epochs.data);
    *read = true;
    if (is(r, "stands")) return read_standing(r, e);
    if (is(r, "object")) return read_object(r, e);
    if (is(r, "cell")) return read_cell(r, e);
    if (is(r, "sync")) return read_sync(r, e);
    if (is(r, "local")) return read_local(r, e);
    if (is(r, "input") || is(r, "loop")) return read_input(r, epoch);
    if (is(r, "unknown")) return read_unknown(r, epoch);
    return *read = false, FT_OK;
}

static ft_status read_in_epoch(reader *r, ft_epoch *e)
{
    bool read = false;
    if (is(r, "schedule")) {
        if (!e->choices.len) return FAIL(r, "the epoch's selector is missing");
        return begin_schedule(r, e);
    }
    if (r->bound) return FAIL(r, "a schedule must begin here");
    if (r->schedule) return is(r, "next") ? read_bound(r) : read_node(r);
    if (e->choices.len) return FAIL(r, "a schedule must begin here");
    if (is(r, "init")) return term(r, &e->init);
    ft_status status = read_state(r, e, &read);
    return read || status != FT_OK ? status : read_selector(r, e);
}

static ft_status read_all(reader *r)
{
    TRY(read_head(r));
    while (next_line(r)) {
        ft_schedule_set *set = r->set;
        ft_epoch *e = set->epochs.len ? &set->epochs.data[set->epochs.len - 1] : NULL;
        TRY(word(r, "a word"));
        if (is(r, "epoch")) {
            if (e) TRY(find_leaves(r, e));
            TRY(begin_epoch(r));
        } else if (e) {
            TRY(read_in_epoch(r, e));
        } else {
            TRY(read_fact(r));
        }
    }
    if (!r->set->epochs.len) return FAIL(r, "the set has no epoch");
    TRY(find_leaves(r, &r->set->epochs.data[r->set->epochs.len - 1]));
    return ft_schedule_set_validate(r->set, r->err);
}

ft_status ft_schedule_set_read(const char *text, size_t length, ft_schedule_set **set,
                               ft_error *err)
{
    FT_REQUIRE(set && (text || !length));
    ft_error own = FT_ERROR_INIT;
    reader r = {
        .text = text, .length = length, .set = ft_schedule_set_new(), .err = err ? err : &own};
    ft_status status = read_all(&r);
    ft_map_release(&r.threads);
    ft_map_release(&r.objects);
    ft_map_release(&r.nodes);
    ft_vec_release(&r.counts);
    ft_vec_release(&r.leaves);
    ft_strbuf_release(&r.word);
    if (status == FT_OK)
        *set = r.set;
    else
        ft_schedule_set_free(r.set);
    return status;
}
