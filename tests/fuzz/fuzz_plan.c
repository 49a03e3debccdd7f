/* A plan's text as it comes from a worker: the first byte seeds how the rest is cut into pieces.
 * What is handed on, kept and refused must not depend on the cuts, and where a parser takes the
 * whole text, its records and subproblems are those of the parser. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "base/memory.h"
#include "store/plan_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define LARGEST 65536

/* What became of a text. */
typedef struct outcome {
    ft_plan_text text;
    ft_strbuf lists[FT_PLAN_LISTS]; /* what was handed on, with commas between */
    ft_strbuf order;                /* of which list each was */
    ft_status status;
    ft_error err;
} outcome;

static void require(bool condition, const char *what)
{
    if (condition) return;
    fprintf(stderr, "fuzz: %s\n", what);
    abort();
}

static ft_status take(void *data, ft_plan_list list, ft_span element, ft_error *err)
{
    outcome *o = data;
    (void)err;
    ft_strbuf *to = &o->lists[list];
    if (to->len > 0) ft_strbuf_puts(to, ",");
    ft_strbuf_add(to, element.at, element.length);
    ft_strbuf_puts(&o->order, list == FT_PLAN_RECORDS ? "r" : "s");
    return FT_OK;
}

/* seed 0: in one piece; 1: byte by byte. */
static void feed(outcome *o, const uint8_t *data, size_t size, uint32_t seed)
{
    *o = (outcome){.err = FT_ERROR_INIT};
    for (size_t at = 0, length; at < size && o->status == FT_OK; at += length) {
        seed = seed > 1 ? seed * 1103515245u + 12345u : seed;
        length = seed > 1 ? 1 + (seed >> 17) % (seed & 0x10000 ? 3 : 64) : seed == 1 ? 1 : size;
        if (length > size - at) length = size - at;
        char *piece = ft_strndup((const char *)data + at, length); /* ASan sees its end */
        o->status = ft_plan_text_feed(&o->text, piece, length, take, o, &o->err);
        free(piece);
    }
}

static void release(outcome *o)
{
    ft_plan_text_release(&o->text);
    for (int i = 0; i < FT_PLAN_LISTS; i++) ft_strbuf_release(&o->lists[i]);
    ft_strbuf_release(&o->order);
}

static bool same_text(const ft_strbuf *a, const ft_strbuf *b)
{
    return a->len == b->len && memcmp(ft_strbuf_text(a), ft_strbuf_text(b), a->len) == 0;
}

static bool same(const outcome *a, const outcome *b)
{
    return a->status == b->status && strcmp(a->err.message, b->err.message) == 0 &&
           a->text.place == b->text.place && same_text(&a->text.head, &b->text.head) &&
           same_text(&a->order, &b->order) && same_text(&a->lists[0], &b->lists[0]) &&
           same_text(&a->lists[1], &b->lists[1]);
}

static bool all_objects(const json_t *list)
{
    size_t i;
    const json_t *element;
    json_array_foreach(list, i, element) if (!json_is_object(element)) return false;
    return true;
}

/* Puts what was handed on back into the head; what the head has there itself (behind a name with
 * escapes, or no list) was not the list's. */
static void put_back(const outcome *o, ft_plan_list list, const char *name, json_t *head)
{
    ft_strbuf text = {0};
    ft_strbuf_printf(&text, "[%s]", ft_strbuf_text(&o->lists[list]));
    json_t *elements = json_loadb(text.text, text.len, JSON_REJECT_DUPLICATES, NULL);
    require(elements != NULL, "what was handed on is no JSON");
    if (json_array_size(elements) > 0)
        require(json_array_extend(json_object_get(head, name), elements) == 0,
                "what was handed on is of no list");
    json_decref(elements);
    ft_strbuf_release(&text);
}

static void compare_parsed(const outcome *o, const uint8_t *data, size_t size)
{
    json_t *plan = json_loadb((const char *)data, size, JSON_REJECT_DUPLICATES, NULL);
    if (json_is_object(plan) && o->status != FT_OK) {
        require(!all_objects(json_object_get(plan, "records")) ||
                    !all_objects(json_object_get(plan, "subproblems")),
                "a plan is refused");
    } else if (json_is_object(plan)) {
        const ft_strbuf *text = &o->text.head;
        json_t *head = json_loadb(text->text, text->len, JSON_REJECT_DUPLICATES, NULL);
        require(o->text.place == FT_PLAN_OUTSIDE && head, "what is left of a plan is no JSON");
        put_back(o, FT_PLAN_RECORDS, "records", head);
        put_back(o, FT_PLAN_SUBPROBLEMS, "subproblems", head);
        require(json_equal(head, plan), "a plan is not what was handed on and kept");
        json_decref(head);
    }
    json_decref(plan);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    outcome whole, bytes, parts;
    if (size < 1 || size > LARGEST) return 0;
    feed(&whole, data + 1, size - 1, 0);
    feed(&bytes, data + 1, size - 1, 1);
    feed(&parts, data + 1, size - 1, data[0] + 2u);
    require(same(&whole, &bytes) && same(&whole, &parts), "the cuts make a difference");
    compare_parsed(&whole, data + 1, size - 1);
    release(&whole);
    release(&bytes);
    release(&parts);
    return 0;
}
