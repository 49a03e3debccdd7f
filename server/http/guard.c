#include "http/guard.h"

#include <string.h>

#define MAX_CHUNK_LINE   256
#define MAX_CHUNK_DIGITS 15

static const struct {
    int status;
    const char *text;
} FAULTS[FT_GUARD_FAULTS] = {
#define FT_ROW(symbol, status, text) {status, text},
    FT_GUARD_FAULT_TABLE(FT_ROW)
#undef FT_ROW
};

int ft_guard_fault_status(ft_guard_fault fault)
{
    return FAULTS[fault].status;
}

const char *ft_guard_fault_text(ft_guard_fault fault)
{
    return FAULTS[fault].text;
}

void ft_guard_init(ft_guard *guard, uint32_t max_target, uint32_t max_header, uint32_t max_count)
{
    *guard = (ft_guard){.state = FT_GUARD_LINE_START,
                        .request_line = true,
                        .max_target = max_target,
                        .max_header = max_header,
                        .max_count = max_count};
}

void ft_guard_body_length(ft_guard *guard, uint64_t length)
{
    guard->left = length;
    guard->state = length ? FT_GUARD_BODY_LENGTH : FT_GUARD_END;
}

static void start_chunk_size(ft_guard *guard)
{
    guard->state = FT_GUARD_CHUNK_SIZE;
    guard->left = 0;
    guard->digits = guard->line_bytes = 0;
}

void ft_guard_body_chunked(ft_guard *guard)
{
    start_chunk_size(guard);
}

/* ---- Bytes ----------------------------------------------------------------------------------- */

enum { TOKEN = 1, TARGET = 2, VALUE = 4 };

#define T  (TOKEN | VALUE)
#define U  (TARGET | VALUE)
#define TU (TOKEN | TARGET | VALUE)
#define V  VALUE

/* Tokens (RFC 9110 §5.6.2), request targets (RFC 3986 §2, without '#'), field values (RFC 9110
 * §5.5). */
static const unsigned char CLASS[256] = {
    ['\t'] = V, [' '] = V,          ['!'] = TU,         ['"'] = V,  ['#'] = T, ['$'] = TU,
    ['%'] = TU, ['&'] = TU,         ['\''] = TU,        ['('] = U,  [')'] = U, ['*'] = TU,
    ['+'] = TU, [','] = U,          ['-'] = TU,         ['.'] = TU, ['/'] = U, ['0' ... '9'] = TU,
    [':'] = U,  [';'] = U,          ['<'] = V,          ['='] = U,  ['>'] = V, ['?'] = U,
    ['@'] = U,  ['A' ... 'Z'] = TU, ['['] = V,          ['\\'] = V, [']'] = V, ['^'] = T,
    ['_'] = TU, ['`'] = T,          ['a' ... 'z'] = TU, ['{'] = V,  ['|'] = T, ['}'] = V,
    ['~'] = TU, [128 ... 255] = V,
};

static bool is_in(char c, unsigned class)
{
    return (CLASS[(unsigned char)c] & class) != 0;
}

/* ---- Lines ----------------------------------------------------------------------------------- */

static ft_guard_fault line_start(ft_guard *guard, char c)
{
    guard->line_bytes = 1;
    if (c == '\r') {
        guard->state = FT_GUARD_LINE_CR;
        guard->line_bytes = 0;
        return FT_GUARD_NONE;
    }
    if (c == '\n') return FT_GUARD_BARE_LF;
    if (guard->request_line) {
        guard->state = FT_GUARD_METHOD;
        return is_in(c, TOKEN) ? FT_GUARD_NONE : FT_GUARD_NO_METHOD;
    }
    if (c == ' ' || c == '\t') return FT_GUARD_FOLDED;
    if (c == ':') return FT_GUARD_EMPTY_NAME;
    if (++guard->count > guard->max_count) return FT_GUARD_COUNT;
    guard->state = FT_GUARD_LINE_NAME;
    return is_in(c, TOKEN) ? FT_GUARD_NONE : FT_GUARD_NAME;
}

/* RFC 9112 §3: single blanks, and nothing else that a lenient reader would take for one. */
static ft_guard_fault method(ft_guard *guard, char c)
{
    if (c == ' ') guard->state = FT_GUARD_TARGET_REST;
    return c == ' ' || is_in(c, TOKEN) ? FT_GUARD_NONE : FT_GUARD_NO_METHOD;
}

static ft_guard_fault target_rest(ft_guard *guard, char c)
{
    guard->digits = 0;
    if (c == ' ') guard->state = FT_GUARD_VERSION_REST;
    if (c == ' ' || is_in(c, TARGET)) return FT_GUARD_NONE;
    if (c == '\n') return FT_GUARD_BARE_LF;
    return c == '\r' ? FT_GUARD_VERSION : FT_GUARD_TARGET_TEXT;
}

static ft_guard_fault version_rest(ft_guard *guard, char c)
{
    static const char FORM[] = "HTTP/0.0\r";
    char wanted = FORM[guard->digits++];
    bool good = wanted == '0' ? c >= '0' && c <= '9' : c == wanted;
    guard->line_bytes++;
    if (wanted == '\r') guard->state = FT_GUARD_LINE_CR;
    if (c == '\n') return FT_GUARD_BARE_LF;
    return good ? FT_GUARD_NONE : FT_GUARD_VERSION;
}

static ft_guard_fault line_name(ft_guard *guard, char c)
{
    if (c == '\r' || c == '\n') return FT_GUARD_NO_COLON;
    if (c == ':') guard->state = FT_GUARD_LINE_REST;
    return c == ':' || is_in(c, TOKEN) ? FT_GUARD_NONE : FT_GUARD_NAME;
}

static ft_guard_fault line_rest(ft_guard *guard, char c)
{
    if (c == '\n') return FT_GUARD_BARE_LF;
    if (c == '\0') return FT_GUARD_NUL;
    guard->line_bytes++;
    if (c == '\r') guard->state = FT_GUARD_LINE_CR;
    return c == '\r' || is_in(c, VALUE) ? FT_GUARD_NONE : FT_GUARD_CONTROL;
}

/* RFC 9112 §2.2: an empty line before the request line is skipped. */
static ft_guard_fault line_cr(ft_guard *guard, char c)
{
    if (c != '\n') return FT_GUARD_BARE_CR;
    bool empty = guard->line_bytes == 0;
    guard->state = FT_GUARD_LINE_START;
    if (guard->request_line)
        guard->request_line = empty;
    else if (empty)
        guard->state = guard->trailers ? FT_GUARD_END : FT_GUARD_HEAD_END;
    return FT_GUARD_NONE;
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

static ft_guard_fault chunk_size(ft_guard *guard, char c)
{
    int digit = hex_digit(c);
    if (digit >= 0) {
        guard->left = guard->left << 4 | (uint64_t)digit;
        return ++guard->digits > MAX_CHUNK_DIGITS ? FT_GUARD_CHUNK : FT_GUARD_NONE;
    }
    if (guard->digits == 0) return FT_GUARD_CHUNK;
    if (c == '\r')
        guard->state = FT_GUARD_CHUNK_SIZE_CR;
    else if (c == ';')
        guard->state = FT_GUARD_CHUNK_EXTENSION;
    else
        return FT_GUARD_CHUNK;
    return FT_GUARD_NONE;
}

static ft_guard_fault chunk_extension(ft_guard *guard, char c)
{
    if (c == '\n') return FT_GUARD_BARE_LF;
    if (c == '\0') return FT_GUARD_NUL;
    if (c == '\r') guard->state = FT_GUARD_CHUNK_SIZE_CR;
    if (c != '\r' && !is_in(c, VALUE)) return FT_GUARD_CONTROL;
    return ++guard->line_bytes > MAX_CHUNK_LINE ? FT_GUARD_CHUNK : FT_GUARD_NONE;
}

static ft_guard_fault chunk_size_cr(ft_guard *guard, char c)
{
    if (c != '\n') return FT_GUARD_BARE_CR;
    guard->trailers = guard->left == 0;
    guard->state = guard->trailers ? FT_GUARD_LINE_START : FT_GUARD_CHUNK_DATA;
    return FT_GUARD_NONE;
}

static ft_guard_fault chunk_data_cr(ft_guard *guard, char c)
{
    guard->state = FT_GUARD_CHUNK_DATA_LF;
    return c == '\r' ? FT_GUARD_NONE : FT_GUARD_CHUNK;
}

static ft_guard_fault chunk_data_lf(ft_guard *guard, char c)
{
    start_chunk_size(guard);
    return c == '\n' ? FT_GUARD_NONE : FT_GUARD_BARE_CR;
}

static ft_guard_fault (*const STEPS[])(ft_guard *guard, char c) = {
    [FT_GUARD_LINE_START] = line_start,
    [FT_GUARD_METHOD] = method,
    [FT_GUARD_TARGET_REST] = target_rest,
    [FT_GUARD_VERSION_REST] = version_rest,
    [FT_GUARD_LINE_NAME] = line_name,
    [FT_GUARD_LINE_REST] = line_rest,
    [FT_GUARD_LINE_CR] = line_cr,
    [FT_GUARD_CHUNK_SIZE] = chunk_size,
    [FT_GUARD_CHUNK_EXTENSION] = chunk_extension,
    [FT_GUARD_CHUNK_SIZE_CR] = chunk_size_cr,
    [FT_GUARD_CHUNK_DATA_CR] = chunk_data_cr,
    [FT_GUARD_CHUNK_DATA_LF] = chunk_data_lf,
};

/* The classes of most bytes of a head: no step changes anything at them. */
static const unsigned char RUNS[FT_GUARD_END + 1] = {[FT_GUARD_METHOD] = TOKEN,
                                                     [FT_GUARD_TARGET_REST] = TARGET,
                                                     [FT_GUARD_LINE_NAME] = TOKEN,
                                                     [FT_GUARD_LINE_REST] = VALUE};

/* Passes over them up to the limit; the byte that breaks it goes through the step. */
static size_t run(ft_guard *guard, const char *data, size_t length)
{
    unsigned class = RUNS[guard->state];
    uint32_t most = guard->max_header;
    if (guard->request_line && guard->max_target < most) most = guard->max_target;
    size_t room = guard->header_bytes < most ? most - guard->header_bytes : 0, count = 0;
    if (length > room) length = room;
    while (class && count < length && is_in(data[count], class)) count++;
    guard->header_bytes += (uint32_t)count;
    guard->line_bytes += (uint32_t)count;
    return count;
}

static ft_guard_fault over_limit(ft_guard *guard)
{
    if (guard->state > FT_GUARD_LINE_CR) return FT_GUARD_NONE;
    guard->header_bytes++;
    if (guard->request_line && guard->header_bytes > guard->max_target) return FT_GUARD_TARGET;
    if (guard->header_bytes > guard->max_header)
        return guard->request_line ? FT_GUARD_TARGET : FT_GUARD_HEADERS;
    return FT_GUARD_NONE;
}

ft_guard_fault ft_guard_scan(ft_guard *guard, const char *data, size_t length, size_t *used)
{
    size_t at = 0;
    ft_guard_fault fault = FT_GUARD_NONE;
    while (at < length && guard->state != FT_GUARD_HEAD_END && guard->state != FT_GUARD_END) {
        bool counted = guard->state == FT_GUARD_BODY_LENGTH || guard->state == FT_GUARD_CHUNK_DATA;
        if (counted) {
            size_t run = guard->left < length - at ? (size_t)guard->left : length - at;
            at += run;
            guard->left -= run;
            if (guard->left) break;
            guard->state =
                guard->state == FT_GUARD_CHUNK_DATA ? FT_GUARD_CHUNK_DATA_CR : FT_GUARD_END;
            continue;
        }
        at += run(guard, data + at, length - at);
        if (at == length) break;
        fault = over_limit(guard);
        if (fault == FT_GUARD_NONE) fault = STEPS[guard->state](guard, data[at]);
        if (fault != FT_GUARD_NONE) break;
        at++;
    }
    *used = at;
    return fault;
}
