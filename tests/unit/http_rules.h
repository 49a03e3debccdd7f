/* Rules of RFC 9110 and RFC 9112 as rows: the bytes of a request, and what a daemon must answer.
 *
 * Each row's bytes are sent with a probe behind them, in one piece. Where the connection must go on
 * the probe has to be answered, and nothing else; where it must end the probe must not be answered:
 * so a row about framing is a row about smuggling. */
#ifndef FT_TESTS_HTTP_RULES_H
#define FT_TESTS_HTTP_RULES_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <cmocka.h>

#include "service/steps.h"

#define RULE_HOST  "Host: localhost\r\n"
#define RULE_PROBE "GET /live HTTP/1.1\r\n" RULE_HOST "Connection: close\r\n\r\n"
#define RULE_NEEDS 3

typedef enum rule_end { GOES_ON, ENDS } rule_end;

typedef struct rule {
    const char *section; /* "9112 3.2" */
    const char *bytes;
    size_t length; /* of bytes; 0: to its NUL */
    int status;
    rule_end end;
    /* Parts of the answer, "!..." for what must not be in it. Heads are compared as sent. */
    const char *needs[RULE_NEEDS];
} rule;

/* A row's bytes: requests with NULs in them say how long they are. */
#define RULE_BYTES(text) (text), sizeof(text) - 1

typedef struct rule_answer {
    int status;
    const char *head, *body; /* into what was received */
    size_t head_length, body_length;
} rule_answer;

static const char *rule_header(const rule_answer *answer, const char *name, char value[256])
{
    size_t wanted = strlen(name);
    const char *line = answer->head, *end = answer->head + answer->head_length;
    while (line < end) {
        const char *stop = strstr(line, "\r\n");
        if (strncasecmp(line, name, wanted) == 0 && line[wanted] == ':') {
            const char *from = line + wanted + 1 + strspn(line + wanted + 1, " ");
            snprintf(value, 256, "%.*s", (int)(stop - from), from);
            return value;
        }
        line = stop + 2;
    }
    return NULL;
}

static size_t rule_chunks(const char *body, size_t left)
{
    size_t at = 0;
    for (;;) {
        char *end;
        size_t length = strtoul(body + at, &end, 16);
        if (end == body + at) return left;
        at = (size_t)(end - body) + 2 + length + 2;
        if (length == 0 || at >= left) return at < left ? at : left;
    }
}

/* Takes the next answer off *from; false: there is none. bodiless: it answers HEAD. */
static bool rule_next(const char **from, const char *end, bool bodiless, rule_answer *answer)
{
    char value[256];
    const char *head = *from, *stop = head < end ? strstr(head, "\r\n\r\n") : NULL;
    if (!stop) return false;
    if (strncmp(head, "HTTP/1.1 ", 9) != 0) fail_msg("not an answer: %.200s", head);
    *answer = (rule_answer){.status = (int)strtol(head + 9, NULL, 10),
                            .head = head,
                            .head_length = (size_t)(stop + 2 - head),
                            .body = stop + 4};
    size_t left = (size_t)(end - answer->body);
    bool none = bodiless || answer->status < 200 || answer->status == 204 || answer->status == 304;
    if (!none && rule_header(answer, "Content-Length", value))
        answer->body_length = strtoul(value, NULL, 10);
    else if (!none && rule_header(answer, "Transfer-Encoding", value))
        answer->body_length = rule_chunks(answer->body, left);
    else if (!none)
        answer->body_length = left;
    if (answer->body_length > left) fail_msg("a cut answer: %.400s", head);
    *from = answer->body + answer->body_length;
    return true;
}

static bool rule_broken(const rule *r, const char *why, const ft_strbuf *out)
{
    print_error("RFC %s\nsent %.300s\n%s; got\n%.600s\n", r->section, r->bytes, why,
                ft_strbuf_text(out));
    return false;
}

static bool rule_has(const rule_answer *answer, const char *text)
{
    size_t length = answer->head_length + 2 + answer->body_length;
    return memmem(answer->head, length, text, strlen(text)) != NULL;
}

static bool rule_answers(const rule *r, const rule_answer *answer, const ft_strbuf *out)
{
    char why[256], value[256];
    snprintf(why, sizeof why, "status %d wanted", r->status);
    if (answer->status != r->status) return rule_broken(r, why, out);
    for (size_t i = 0; i < RULE_NEEDS && r->needs[i]; i++) {
        bool absent = *r->needs[i] == '!';
        snprintf(why, sizeof why, "wanted: %s", r->needs[i]);
        if (rule_has(answer, r->needs[i] + absent) == absent) return rule_broken(r, why, out);
    }
    if (!rule_header(answer, "Date", value)) return rule_broken(r, "no Date", out);
    bool says_close = rule_header(answer, "Connection", value) && strcasecmp(value, "close") == 0;
    return (r->end == ENDS) == says_close || rule_broken(r, "Connection: close is wrong", out);
}

static bool rule_holds_in(const rule *r, const ft_strbuf *out)
{
    rule_answer answer, probe, more;
    const char *at = ft_strbuf_text(out), *end = at + out->len;
    if (!rule_next(&at, end, strncmp(r->bytes, "HEAD ", 5) == 0, &answer))
        return rule_broken(r, "no answer", out);
    if (!rule_answers(r, &answer, out)) return false;
    bool probed = rule_next(&at, end, false, &probe);
    if (probed != (r->end == GOES_ON)) return rule_broken(r, "the next request", out);
    if (probed && (probe.status != 200 || !rule_has(&probe, "live\n")))
        return rule_broken(r, "the next request was read wrongly", out);
    return !rule_next(&at, end, false, &more) || rule_broken(r, "one answer too many", out);
}

static bool rule_holds(const rule *r)
{
    ft_strbuf sent = {0};
    ft_strbuf_add(&sent, r->bytes, r->length ? r->length : strlen(r->bytes));
    ft_strbuf_puts(&sent, RULE_PROBE);
    ft_strbuf out = ft_daemon_raw(&ft_steps_server, sent.text, sent.len);
    bool holds = rule_holds_in(r, &out);
    ft_strbuf_release(&out);
    ft_strbuf_release(&sent);
    return holds;
}

static void rules_run(const rule *rules, size_t count)
{
    size_t broken = 0;
    for (size_t i = 0; i < count; i++) broken += !rule_holds(&rules[i]);
    if (broken) fail_msg("%zu of %zu rules are broken", broken, count);
}

#endif
