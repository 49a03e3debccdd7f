/* The text of a plan (docs/records.md) as it comes in, in pieces of any size: its records and
 * subproblems are handed on one by one, the rest of it is kept. */
#ifndef FT_STORE_PLAN_TEXT_H
#define FT_STORE_PLAN_TEXT_H

#include "base/status.h"
#include "base/strbuf.h"
#include "wire/scan.h"

typedef enum ft_plan_list { FT_PLAN_RECORDS, FT_PLAN_SUBPROBLEMS, FT_PLAN_LISTS } ft_plan_list;

typedef enum ft_plan_place {
    FT_PLAN_OUTSIDE, /* of both lists */
    FT_PLAN_FIRST,   /* in one, before its first element or its end */
    FT_PLAN_ELEMENT, /* in one of its elements */
    FT_PLAN_AFTER,   /* behind one */
    FT_PLAN_NEXT     /* behind a comma */
} ft_plan_place;

/* Embedded: zero-initialise. */
typedef struct ft_plan_text {
    ft_strbuf head;  /* the plan, with both lists empty */
    ft_strbuf begun; /* what has come of an element that is not whole */
    ft_plan_place place;
    ft_plan_list list; /* the one that it is in */
    unsigned depth;    /* open brackets */
    bool in_string, escaped;
    size_t name, name_end; /* in head: the last string of the outermost object */
} ft_plan_text;
void ft_plan_text_release(ft_plan_text *text);

/* An element of a list: an object by its brackets, otherwise not looked at. */
typedef ft_status (*ft_plan_take)(void *data, ft_plan_list list, ft_span element, ft_error *err);

/* FT_INPUT: an element is no object, or a comma is missing; or what `take` returned. */
ft_status ft_plan_text_feed(ft_plan_text *text, const char *bytes, size_t length, ft_plan_take take,
                            void *data, ft_error *err) FT_MUST_CHECK;

#endif
