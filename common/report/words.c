/* Small words: members of JSON objects, safe text, counts. */
#include <stdlib.h>
#include <string.h>

#include "report/internal.h"

const char *ft_json_text(const json_t *json, const char *member, const char *otherwise)
{
    const char *text = json_string_value(json_object_get(json, member));
    return text ? text : otherwise;
}

size_t ft_json_count(const json_t *json, const char *member)
{
    json_int_t value = json_integer_value(json_object_get(json, member));
    return value > 0 ? (size_t)value : 0;
}

void ft_view_paint(const ft_view *view, ft_paint paint, const char *text, ft_strbuf *out)
{
    static const char *const codes[] = {
        [FT_PAINT_PLAIN] = "",
        [FT_PAINT_BOLD] = "\033[1m",
        [FT_PAINT_RED] = "\033[31m",
        [FT_PAINT_YELLOW] = "\033[33m",
    };
    FT_REQUIRE(paint <= FT_PAINT_YELLOW && text);
    bool painted = view->color && paint != FT_PAINT_PLAIN;
    if (painted) ft_strbuf_puts(out, codes[paint]);
    ft_strbuf_puts(out, text);
    if (painted) ft_strbuf_puts(out, "\033[0m");
}

static bool is_control(const char *text)
{
    unsigned char c = (unsigned char)*text;
    return c < 0x20 || c == 0x7f;
}

void ft_view_safe_text(const char *text, ft_strbuf *out)
{
    for (; *text; text++) ft_strbuf_add(out, is_control(text) ? "?" : text, 1);
}

/* How many digits of an address stand there as a word of their own; 0: none. */
static size_t address_digits(const char *text, const char *at)
{
    enum { LEAST = 13, MOST = 19 };
    size_t n = strspn(at, "0123456789");
    bool begins = at == text || strchr(" (", at[-1]), ends = strchr(" ),;\"", at[n]) != NULL;
    assert(at >= text);
    return begins && ends && n >= LEAST && n <= MOST ? n : 0;
}

void ft_view_event_text(const char *text, ft_strbuf *out)
{
    for (const char *at = text; *at;) {
        size_t n = address_digits(text, at);
        if (n) {
            ft_strbuf_printf(out, "0x%llx", strtoull(at, NULL, 10));
            at += n;
        } else {
            ft_strbuf_add(out, is_control(at) ? "?" : at, 1);
            at++;
        }
    }
}

void ft_xml_text(const char *text, ft_strbuf *out)
{
    static const struct {
        char c;
        const char *reference;
    } REFERENCES[] = {
        {'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&quot;"}, {'\'', "&#39;"}};
    for (; *text; text++) {
        const char *reference = NULL;
        for (size_t i = 0; i < sizeof REFERENCES / sizeof *REFERENCES; i++)
            if (*text == REFERENCES[i].c) reference = REFERENCES[i].reference;
        if (reference)
            ft_strbuf_puts(out, reference);
        else
            ft_strbuf_add(out, is_control(text) && *text != '\n' ? "?" : text, 1);
    }
}

char *ft_view_witness_path(const ft_view *view, const char *file, size_t number)
{
    FT_REQUIRE(view->witness_dir && file);
    const char *slash = strrchr(file, '/');
    const char *base = slash ? slash + 1 : file;
    if (strcmp(base, "<stdin>") == 0) base = "stdin";
    ft_strbuf path = {0};
    ft_strbuf_printf(&path, "%s/", view->witness_dir);
    if (view->file_number) ft_strbuf_printf(&path, "%zu-", view->file_number);
    ft_strbuf_printf(&path, "%s.%zu.json", base, number);
    return ft_strbuf_take(&path);
}

const char *const ft_report_verdicts[5] = {"violation", "safe", "bounded", "unknown", "error"};

size_t ft_report_total(const json_t *checks, const char *member)
{
    size_t sum = 0;
    const char *name;
    json_t *counts;
    json_object_foreach((json_t *)(uintptr_t)checks, name, counts) sum +=
        ft_json_count(counts, member);
    return sum;
}

size_t ft_report_undecided(const json_t *checks)
{
    return ft_report_total(checks, "bounded") + ft_report_total(checks, "unknown") +
           ft_report_total(checks, "error") + ft_report_total(checks, "pending");
}

void ft_report_dump(json_t *json, size_t flags, ft_strbuf *out)
{
    char *text = json_dumps(json, flags);
    ft_strbuf_puts(out, text ? text : "null");
    ft_strbuf_puts(out, "\n");
    free(text);
    json_decref(json);
}

void ft_finding_brief(const ft_finding *finding, ft_strbuf *out)
{
    const char *separator = " at ";
    ft_strbuf_puts(out, finding->title);
    for (size_t i = 0; i < finding->accesses.len; i++) {
        const char *location = finding->accesses.data[i].location;
        if (!location) continue;
        ft_strbuf_puts(out, separator);
        ft_view_safe_text(location, out);
        separator = ", ";
    }
}

const char *ft_standing_name(ft_standing standing)
{
    static const char *const NAMES[] = {[FT_STANDING_NEW] = "new",
                                        [FT_STANDING_KNOWN] = "known",
                                        [FT_STANDING_SUPPRESSED] = "suppressed",
                                        [FT_STANDING_APART] = "apart"};
    FT_REQUIRE(standing <= FT_STANDING_APART);
    return NAMES[standing];
}

bool ft_finding_is_silent(const ft_finding *finding)
{
    return finding->standing == FT_STANDING_SUPPRESSED || finding->standing == FT_STANDING_APART;
}
