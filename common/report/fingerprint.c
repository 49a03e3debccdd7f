#include "report/fingerprint.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/digest.h"
#include "base/memory_name.h"
#include "report/internal.h"

enum { MOST_ACCESSES = 32 };

/* ---- content --------------------------------------------------------------------------------- */

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* How many characters at text[0..] are a number: digits, 0x..., #x... and #b... */
static size_t number_length(const char *text)
{
    size_t prefix = 0;
    if ((text[0] == '0' || text[0] == '#') && (text[1] == 'x' || text[1] == 'b')) prefix = 2;
    size_t digits = strspn(text + prefix, prefix ? "0123456789abcdefABCDEF" : "0123456789");
    return digits ? prefix + digits : 0;
}

/* Behind the name of memory that was given out before: which time that was, "#2". */
static size_t again_length(const char *text, const char *at)
{
    size_t digits = *at == '#' ? strspn(at + 1, "0123456789") : 0;
    return digits && at > text && !isspace((unsigned char)at[-1]) ? digits + 1 : 0;
}

/* Blanks are one blank, numbers that are words of their own are '#'. */
static void add_words(const char *text, ft_strbuf *out)
{
    bool blank = false, started = false;
    for (const char *at = text; *at;) {
        if (isspace((unsigned char)*at)) {
            blank = true;
            at++;
            continue;
        }
        size_t again = again_length(text, at);
        if (again) {
            at += again;
            continue;
        }
        if (blank && started) ft_strbuf_puts(out, " ");
        size_t number = at > text && is_word(at[-1]) ? 0 : number_length(at);
        ft_strbuf_add(out, number ? "#" : at, 1);
        at += number ? number : 1;
        blank = false;
        started = true;
    }
}

static void add_normal(const char *text, ft_strbuf *out)
{
    ft_strbuf plain = {0};
    ft_memory_name_add_plain(text, &plain);
    add_words(ft_strbuf_text(&plain), out);
    ft_strbuf_release(&plain);
}

static bool is_read(const char *text)
{
    return strncmp(text, "read ", 5) == 0;
}

static bool is_write(const char *text)
{
    return strncmp(text, "write ", 6) == 0;
}

/* Threads and values are of one run: "fork T1" is "fork", "read x = 5" is "read x"; "x", where it
 * may be the one or the other (`either`). */
static void add_event(const json_t *access, bool either, ft_strbuf *out)
{
    const char *text = ft_json_text(access, "text", ""), *equals = strstr(text, " = ");
    bool plain = is_read(text) || is_write(text);
    bool thread = strncmp(text, "fork ", 5) == 0 || strncmp(text, "join ", 5) == 0;
    size_t length = thread ? 4 : plain && equals ? (size_t)(equals - text) : strlen(text);
    size_t from = either ? strcspn(text, " ") : 0;
    char *kept = ft_strndup(text + from, length - from);
    add_normal(kept, out);
    free(kept);
}

/* Of two places that both read and write, either one may be the reader, as the schedule has it. */
static bool is_either(const json_t *record, const json_t *accesses)
{
    if (json_array_size(accesses) != 2 || strcmp(ft_json_text(record, "check", ""), "race") != 0)
        return false;
    const char *a = ft_json_text(json_array_get(accesses, 0), "text", "");
    const char *b = ft_json_text(json_array_get(accesses, 1), "text", "");
    return (is_read(a) && is_write(b)) || (is_write(a) && is_read(b));
}

static char *element(const json_t *access, bool either, const char *line)
{
    ft_strbuf out = {0};
    const char *word = either ? "either" : ft_json_text(access, "access", "");
    bool thread = strcmp(word, "fork") == 0 || strcmp(word, "join") == 0;
    ft_strbuf_printf(&out, "%s|%s|", ft_json_text(access, "function", ""), word);
    add_normal(thread ? "" : ft_json_text(access, "object", ""), &out);
    if (json_object_get(access, "asked_by"))
        ft_strbuf_printf(&out, "|%s", ft_json_text(access, "asked_by", ""));
    ft_strbuf_puts(&out, "|");
    if (line)
        add_normal(line, &out);
    else
        add_event(access, either, &out);
    return ft_strbuf_take(&out);
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void digest_text(const char *text, char out[FT_FINGERPRINT + 1])
{
    char hex[FT_DIGEST_HEX + 1];
    ft_digest digest;
    ft_digest_init(&digest);
    ft_digest_update(&digest, text, strlen(text));
    ft_digest_hex(&digest, hex);
    memcpy(out, hex, FT_FINGERPRINT);
    out[FT_FINGERPRINT] = '\0';
    assert(strlen(out) == FT_FINGERPRINT);
}

void ft_fingerprint(const json_t *record, const char *const *lines, char out[FT_FINGERPRINT + 1])
{
    FT_REQUIRE(record && out);
    const json_t *accesses = json_object_get(record, "accesses");
    bool either = is_either(record, accesses);
    size_t count = json_array_size(accesses);
    char *elements[MOST_ACCESSES];
    if (count > MOST_ACCESSES) count = MOST_ACCESSES;
    for (size_t i = 0; i < count; i++)
        elements[i] = element(json_array_get(accesses, i), either, lines ? lines[i] : NULL);
    qsort(elements, count, sizeof *elements, by_text);
    ft_strbuf text = {0};
    ft_strbuf_printf(&text, "%s|%s|%s", ft_json_text(record, "check", ""),
                     ft_json_text(record, "kind", ""), ft_json_text(record, "name", ""));
    for (size_t i = 0; i < count; i++) {
        ft_strbuf_printf(&text, "\n%s", elements[i]);
        free(elements[i]);
    }
    digest_text(text.text, out);
    ft_strbuf_release(&text);
}

/* ---- numbering ------------------------------------------------------------------------------- */

typedef struct entry {
    json_t *record;
    const char *print;
    char *place; /* its locations, sorted, with numbers that sort as text */
} entry;

static char *sortable(const char *location)
{
    ft_place place;
    ft_strbuf out = {0};
    if (ft_place_parse(location, &place))
        ft_strbuf_printf(&out, "%s:%09zu:%09zu", place.file, place.line, place.column);
    else
        ft_strbuf_puts(&out, location);
    free(place.file);
    return ft_strbuf_take(&out);
}

static char *place_of_access(const json_t *access)
{
    const char *asked = ft_json_text(access, "asked_at", NULL);
    char *place = sortable(ft_json_text(access, "location", ""));
    if (!asked) return place;
    char *from = sortable(asked);
    ft_strbuf out = {0};
    ft_strbuf_printf(&out, "%s from %s", place, from);
    free(place);
    free(from);
    return ft_strbuf_take(&out);
}

static char *place_of(const json_t *record)
{
    const json_t *accesses = json_object_get(record, "accesses");
    size_t count = json_array_size(accesses);
    char *places[MOST_ACCESSES];
    if (count > MOST_ACCESSES) count = MOST_ACCESSES;
    for (size_t i = 0; i < count; i++) places[i] = place_of_access(json_array_get(accesses, i));
    qsort(places, count, sizeof *places, by_text);
    ft_strbuf out = {0};
    for (size_t i = 0; i < count; i++) {
        ft_strbuf_printf(&out, "%s|", places[i]);
        free(places[i]);
    }
    return out.text ? ft_strbuf_take(&out) : ft_strdup("");
}

static int by_print_and_place(const void *a, const void *b)
{
    const entry *x = a, *y = b;
    int prints = strcmp(x->print, y->print);
    return prints ? prints : strcmp(x->place, y->place);
}

static void number_entry(entry *of, const char *member, const char *base, size_t number)
{
    char print[FT_FINGERPRINT + 1];
    ft_strbuf text = {0};
    ft_strbuf_printf(&text, "%s|%zu", base, number);
    digest_text(text.text, print);
    json_object_set_new(of->record, member, json_string(print));
    ft_strbuf_release(&text);
}

static void number_entries(entry *entries, size_t count, const char *member)
{
    for (size_t from = 0, to; from < count; from = to) {
        size_t number = 1;
        char *base = ft_strdup(entries[from].print);
        for (to = from + 1; to < count && strcmp(entries[to].print, base) == 0; to++) {
            if (strcmp(entries[to].place, entries[to - 1].place) != 0) number++;
            if (number > 1) number_entry(&entries[to], member, base, number);
            /* The text compared above may just have been replaced. */
            entries[to].print = number > 1 ? "" : entries[to].print;
        }
        free(base);
    }
}

void ft_fingerprints_settle(json_t *records, const char *member)
{
    size_t index, count = 0;
    json_t *record;
    entry *entries = ft_calloc(json_array_size(records) + 1, sizeof *entries);
    json_array_foreach(records, index, record)
    {
        const char *print = ft_json_text(record, member, NULL);
        if (print) entries[count++] = (entry){record, print, place_of(record)};
    }
    qsort(entries, count, sizeof *entries, by_print_and_place);
    number_entries(entries, count, member);
    for (size_t i = 0; i < count; i++) free(entries[i].place);
    free(entries);
}
