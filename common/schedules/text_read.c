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

static ft_status read_input(reader *r)
{
    ft_schedule_input in = {0};
    uint32_t width;
    TRY(word(r, "the input's label"));
    in.label = text_here(r);
    for (size_t i = 0; i < r->set->inputs.len; i++)
        if (r->set->inputs.data[i].label == in.label)
            return FAIL(r, "another input has the label '%s'", ft_strbuf_text(&r->word));
    TRY(number(r, "the input's width", &width));
    if (!width || width > 64) return FAIL(r, "an input has 1 to 64 bits, not %u", width);
    in.width = (uint8_t)width;
    TRY(word(r, "the input's name"));
    in.name = text_here(r);
    TRY(word(r, "the input's thread"));
    in.thread = text_here(r);
    TRY(number(r, "which of the thread's values it is", &in.n));
    if (!in.n) return FAIL(r, "values are numbered from 1");
    ft_vec_push(&r->set->inputs, in);
    return FT_OK;
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

static ft_status read_place(reader *r, ft_node *node)
{
    TRY(word(r, "the function"));
    if (is(r, "@")) TRY(word(r, "the function")); /* @ and a name in quotes */
    const char *name = ft_strbuf_text(&r->word);
    node->function = ft_schedule_text(r->set, *name == '@' ? name + 1 : name);
    TRY(number(r, "the instruction's number", &node->instruction));
    skip_blanks(r);
    if (at_end(r) || r->line.text[r->line.at] != '"') return FT_OK;
    TRY(word(r, "the file"));
    node->file = text_here(r);
    TRY(number(r, "the line", &node->line));
    return number(r, "the column", &node->column);
}

static ft_status read_kind(reader *r, ft_node *node)
{
    TRY(word(r, "the operation"));
    for (node->kind = 0; node->kind < FT_NODE_KINDS; node->kind++)
        if (is(r, ft_node_row_of((ft_node_kind)node->kind)->name)) return FT_OK;
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
    TRY(read_kind(r, &node));
    TRY(read_subject(r, &node));
    while (!at_end(r)) {
        TRY(word(r, "a word"));
        if (is(r, "timed-out"))
            node.timed_out = true;
        else if (is(r, "at"))
            TRY(read_place(r, &node));
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

/* ---- epochs ---- */

static ft_status begin_epoch(reader *r)
{
    TRY(word(r, "the epoch's name"));
    ft_epoch e = {.name = text_here(r)};
    ft_vec_push(&r->set->epochs, e);
    r->schedule = NULL;
    return line_ends(r);
}

static ft_status read_standing(reader *r, ft_epoch *e)
{
    ft_standing at = {0};
    ft_node place = {0};
    TRY(word(r, "the thread"));
    at.thread = text_here(r);
    TRY(word(r, "at"));
    if (!is(r, "at")) return FAIL(r, "at must stand here");
    TRY(read_place(r, &place));
    at.function = place.function;
    at.instruction = place.instruction;
    ft_vec_push(&e->places, at);
    return line_ends(r);
}

static ft_status read_prefix(reader *r)
{
    TRY(word(r, "yes or no"));
    if (!is(r, "yes") && !is(r, "no")) return FAIL(r, "yes or no must stand here");
    r->set->prefix = is(r, "yes");
    return line_ends(r);
}

/* A line outside of epochs. */
static ft_status read_fact(reader *r)
{
    if (is(r, "prefix")) return read_prefix(r);
    if (is(r, "input")) {
        TRY(read_input(r));
        return line_ends(r);
    }
    if (!is(r, "program"))
        return FAIL(r, "'%s' is not an item of schedule sets", ft_strbuf_text(&r->word));
    TRY(word(r, "the program's hash"));
    r->set->program = text_here(r);
    return line_ends(r);
}

static ft_status read_in_epoch(reader *r, ft_epoch *e)
{
    if (is(r, "schedule")) {
        if (!e->choices.len) return FAIL(r, "the epoch's selector is missing");
        return begin_schedule(r, e);
    }
    if (r->schedule) return read_node(r);
    if (is(r, "stands")) return read_standing(r, e);
    if (is(r, "init")) return term(r, &e->init);
    if (e->choices.len) return FAIL(r, "a schedule must begin here");
    return read_selector(r, e);
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
