#include "store/plan_text.h"

#include <string.h>

#define HEAD_MOST (16u << 20) /* bytes of what no list has */

/* The bytes not consumed yet, and the consumer of the elements. */
typedef struct feed {
    ft_plan_text *text;
    const char *at, *end;
    ft_plan_take take;
    void *data;
} feed;

void ft_plan_text_release(ft_plan_text *text)
{
    ft_strbuf_release(&text->head);
    ft_strbuf_release(&text->begun);
}

/* Brackets in strings are none. */
static void follow(ft_plan_text *t, char c)
{
    if (t->escaped) {
        t->escaped = false;
    } else if (t->in_string) {
        t->escaped = c == '\\';
        t->in_string = c != '"';
    } else if (c == '"') {
        t->in_string = true;
    } else if (c == '{' || c == '[') {
        t->depth++;
    } else if ((c == '}' || c == ']') && t->depth > 0) {
        t->depth--;
    }
}

/* The list that opens behind the string before; FT_PLAN_LISTS: another one. */
static ft_plan_list list_of(const ft_plan_text *t)
{
    static const char *const NAMES[FT_PLAN_LISTS] = {"\"records\"", "\"subproblems\""};
    ft_plan_list list = FT_PLAN_RECORDS;
    for (; list < FT_PLAN_LISTS; list++) {
        size_t length = strlen(NAMES[list]);
        if (t->name_end - t->name == length &&
            memcmp(t->head.text + t->name, NAMES[list], length) == 0)
            break;
    }
    return list;
}

static bool is_space(char c)
{
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

/* Of white space one is enough to tell what stands on both sides of it apart. */
static void keep(ft_plan_text *t, char c)
{
    bool again =
        !t->in_string && is_space(c) && t->head.len > 0 && is_space(t->head.text[t->head.len - 1]);
    if (again) return;
    bool was_in = t->in_string, outermost = t->depth == 1;
    follow(t, c);
    if (outermost && t->in_string && !was_in) t->name = t->head.len;
    ft_strbuf_add(&t->head, &c, 1);
    if (outermost && was_in && !t->in_string) t->name_end = t->head.len;
}

static ft_status outside(feed *f, ft_error *err)
{
    ft_plan_text *t = f->text;
    while (f->at < f->end) {
        char c = *f->at++;
        if (t->depth == 0 && c != '{' && !is_space(c) && t->head.len == 0)
            return ft_error_set(err, FT_INPUT, "the plan is not an object");
        if (t->head.len == HEAD_MOST)
            return ft_error_set(err, FT_INPUT,
                                "the plan has more than %u MiB besides its records and subproblems",
                                HEAD_MOST >> 20);
        bool opens = c == '[' && t->depth == 1 && !t->in_string;
        keep(t, c);
        if (!opens || (t->list = list_of(t)) == FT_PLAN_LISTS) continue;
        t->place = FT_PLAN_FIRST;
        break;
    }
    return FT_OK;
}

static bool skip_space(feed *f)
{
    while (f->at < f->end && is_space(*f->at)) f->at++;
    return f->at < f->end;
}

static void close_list(feed *f)
{
    keep(f->text, *f->at++);
    f->text->place = FT_PLAN_OUTSIDE;
}

static ft_status element_begins(feed *f, ft_error *err)
{
    if (!skip_space(f)) return FT_OK;
    if (*f->at != '{')
        return ft_error_set(err, FT_INPUT,
                            "the plan lists something other than records and subproblems");
    f->text->place = FT_PLAN_ELEMENT;
    return FT_OK;
}

static ft_status first(feed *f, ft_error *err)
{
    if (!skip_space(f) || *f->at != ']') return element_begins(f, err);
    close_list(f);
    return FT_OK;
}

static ft_status after(feed *f, ft_error *err)
{
    if (!skip_space(f)) return FT_OK;
    if (*f->at == ']') {
        close_list(f);
        return FT_OK;
    }
    if (*f->at++ != ',') return ft_error_set(err, FT_INPUT, "the plan lacks a comma");
    f->text->place = FT_PLAN_NEXT;
    return FT_OK;
}

/* Lists open in the outermost object: their elements end where two brackets are open. */
static ft_status element(feed *f, ft_error *err)
{
    ft_plan_text *t = f->text;
    const char *from = f->at;
    do follow(t, *f->at++);
    while (f->at < f->end && t->depth > 2);
    bool whole = t->depth == 2;
    ft_span span = {from, (size_t)(f->at - from)};
    if (!whole || t->begun.len > 0) {
        ft_strbuf_add(&t->begun, span.at, span.length);
        span = (ft_span){t->begun.text, t->begun.len};
    }
    if (!whole) return FT_OK;
    t->place = FT_PLAN_AFTER;
    ft_status status = f->take(f->data, t->list, span, err);
    ft_strbuf_clear(&t->begun);
    return status;
}

ft_status ft_plan_text_feed(ft_plan_text *text, const char *bytes, size_t length, ft_plan_take take,
                            void *data, ft_error *err)
{
    static ft_status (*const STEPS[])(feed *, ft_error *) = {
        [FT_PLAN_OUTSIDE] = outside, [FT_PLAN_FIRST] = first,         [FT_PLAN_ELEMENT] = element,
        [FT_PLAN_AFTER] = after,     [FT_PLAN_NEXT] = element_begins,
    };
    feed f = {text, bytes, bytes + length, take, data};
    ft_status status = FT_OK;
    while (f.at < f.end && status == FT_OK) status = STEPS[text->place](&f, err);
    return status;
}
