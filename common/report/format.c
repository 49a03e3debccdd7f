#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "report/internal.h"

static const struct {
    const char *name, *media, *ending;
} FORMATS[] = {
#define FT_ROW(symbol, name, media, ending, doc) {name, media, ending},
    FT_REPORT_FORMAT_TABLE(FT_ROW)
#undef FT_ROW
};

static ft_renderer *const RENDERERS[FT_REPORT_FORMATS] = {
    [FT_REPORT_TEXT] = ft_render_text,     [FT_REPORT_JSON] = ft_render_json,
    [FT_REPORT_SARIF] = ft_render_sarif,   [FT_REPORT_JUNIT] = ft_render_junit,
    [FT_REPORT_GITLAB] = ft_render_gitlab, [FT_REPORT_GITHUB] = ft_render_github,
    [FT_REPORT_HTML] = ft_render_html,     [FT_REPORT_MARKDOWN] = ft_render_markdown,
};

const char *ft_report_format_name(ft_report_format format)
{
    FT_REQUIRE(format < FT_REPORT_FORMATS);
    return FORMATS[format].name;
}

const char *ft_report_format_media(ft_report_format format)
{
    FT_REQUIRE(format < FT_REPORT_FORMATS);
    return FORMATS[format].media;
}

const char *ft_report_format_ending(ft_report_format format)
{
    FT_REQUIRE(format < FT_REPORT_FORMATS);
    return FORMATS[format].ending;
}

bool ft_report_format_parse(const char *name, ft_report_format *format)
{
    for (unsigned i = 0; i < FT_REPORT_FORMATS; i++) {
        if (strcmp(FORMATS[i].name, name) != 0) continue;
        *format = (ft_report_format)i;
        return true;
    }
    return false;
}

void ft_report_render(const ft_report *report, ft_report_format format, const ft_view *view,
                      ft_strbuf *out)
{
    FT_REQUIRE(format < FT_REPORT_FORMATS && report && view && out);
    FT_CHECK(ft_report_is_sound(report));
    assert(RENDERERS[format]);
    RENDERERS[format](report, view, out);
}

/* ---- Accept (RFC 9110 §12.5.1) --------------------------------------------------------------- */

/* 3: the type itself, 2: its main type, 1: any type, 0: it does not match. */
static int specificity(const char *range, size_t length, const char *media)
{
    size_t slash = strcspn(media, "/") + 1;
    if (length == strlen(media) && strncasecmp(range, media, length) == 0) return 3;
    if (length == slash + 1 && range[slash] == '*' && strncasecmp(range, media, slash) == 0)
        return 2;
    return length == 3 && strncmp(range, "*/*", 3) == 0;
}

static double quality(const char *parameters, size_t length)
{
    for (size_t i = 0; i + 2 < length; i++)
        if ((parameters[i] == ';' || parameters[i] == ' ') && (parameters[i + 1] | 32) == 'q' &&
            parameters[i + 2] == '=')
            return strtod(parameters + i + 3, NULL);
    return 1;
}

/* The quality that the most specific matching range gives the type; 0: not acceptable. */
static double wanted(const char *accept, const char *media, int *how)
{
    double best = 0;
    *how = 0;
    for (const char *at = accept; *at; at += *at == ',') {
        at += strspn(at, " \t");
        size_t whole = strcspn(at, ","), type = strcspn(at, ",; \t");
        int match = specificity(at, type, media);
        assert(type <= whole && match >= 0 && match <= 3);
        if (match > *how) {
            *how = match;
            best = quality(at + type, whole - type);
        }
        at += whole;
    }
    return best;
}

bool ft_report_format_accept(const char *accept, ft_report_format initial, ft_report_format *format)
{
    int how = 0, best_how = 0;
    if (!accept || !*accept) {
        *format = initial;
        return true;
    }
    double best = wanted(accept, FORMATS[initial].media, &best_how);
    ft_report_format chosen = initial;
    for (unsigned i = 0; i < FT_REPORT_FORMATS; i++) {
        double q = wanted(accept, FORMATS[i].media, &how);
        if (q < best || (q <= best && how <= best_how)) continue;
        best = q;
        best_how = how;
        chosen = (ft_report_format)i;
    }
    if (best <= 0) return false;
    assert(chosen < FT_REPORT_FORMATS);
    *format = chosen;
    return true;
}
