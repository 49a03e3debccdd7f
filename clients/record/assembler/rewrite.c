#include "rewrite.h"

#include <ctype.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "bare.h"
#include "base/contract.h"
#include "frame.h"
#include "raw/assembly.h"

enum {
    NESTED = 8,    /* functions that are open at once: parts of one in other sections */
    RED_ZONE = 128 /* bytes below the stack pointer that are the function's */
};

typedef struct rewriter {
    ft_asm_buffer *to;
    ft_asm_counts counted;
    ft_asm_text whole;        /* the file */
    ft_asm_text line;         /* behind the last ".loc": "1 23 5" */
    ft_asm_text typed;        /* the last name with @function in a .type directive */
    ft_asm_text open[NESTED]; /* functions at hand */
    unsigned n_open;
    ft_asm_bare bare;
    ft_asm_frame frame;
    bool other;    /* another syntax */
    bool macro;    /* in the definition of one */
    bool measured; /* it counts bytes of its own code: a branch over so many (jmp .+4) */
} rewriter;

/* ---- output */

static bool reserve(ft_asm_buffer *b, size_t more)
{
    size_t room = b->room ? b->room : 1 << 16;
    while (room < b->n + more) room *= 2;
    if (room == b->room) return true;
    char *data = realloc(b->data, room);
    if (!data) {
        b->failed = true;
        return false;
    }
    b->data = data;
    b->room = room;
    assert(b->n + more <= b->room);
    return true;
}

static void put(ft_asm_buffer *b, const char *text, size_t n)
{
    if (!n || b->failed || !reserve(b, n)) return;
    memcpy(b->data + b->n, text, n);
    b->n += n;
}

static void say(ft_asm_buffer *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void say(ft_asm_buffer *b, const char *format, ...)
{
    char line[1024];
    va_list arguments;
    va_start(arguments, format);
    int n = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    if (n < 0 || (size_t)n >= sizeof line)
        b->failed = true;
    else
        put(b, line, (size_t)n);
}

/* ---- calls */

static bool is_of_stack(ft_asm_text memory)
{
    static const char base[] = "%rsp";
    const char *end = memory.at + memory.n, *at = memchr(memory.at, '(', memory.n);
    if (!at) return false;
    for (at++; at < end && isspace((unsigned char)*at);) at++;
    return end - at > (ptrdiff_t)strlen(base) && !strncasecmp(at, base, strlen(base));
}

/* The operand's address, when the stack pointer has gone down by so many bytes. */
static void put_address(ft_asm_buffer *b, ft_asm_text memory, unsigned below)
{
    bool moved = is_of_stack(memory);
    say(b, "\tleaq ");
    if (moved) say(b, memory.at[0] == '(' ? "%u" : "%u+", below);
    put(b, memory.at, memory.n);
    say(b, ", %%rdi\n");
}

static void put_call(ft_asm_buffer *b, const ft_asm_instruction *i)
{
    static const char *const hooks[] = {
#define FT_ASM_NAME(symbol, hook) hook,
        FT_ASM_ACCESS_TABLE(FT_ASM_NAME)
#undef FT_ASM_NAME
    };
    assert(i->access != FT_ASM_NONE && i->size && i->size <= 16 && !(i->size & (i->size - 1)));
    say(b, "\tcall *__foretell_asm_%s%s%u@GOTPCREL(%%rip)\n", i->plain ? "plain_" : "",
        hooks[i->access], i->size);
}

static void put_before(ft_asm_buffer *b, const ft_asm_instruction *i)
{
    enum { SAVED = RED_ZONE + 8 };
    say(b, "\tleaq -%d(%%rsp), %%rsp\n\tpushq %%rdi\n", RED_ZONE);
    put_address(b, i->memory, SAVED);
    put_call(b, i);
    say(b, "\tpopq %%rdi\n\tleaq %d(%%rsp), %%rsp\n", RED_ZONE);
}

/* A bit beyond the operand is in what follows it: at the register's count, which has a sign. Any of
 * the registers may be those that the call needs, so the address waits on the stack until the count
 * is read. */
static void put_before_bit(ft_asm_buffer *b, const ft_asm_instruction *i)
{
    enum { SAVED = RED_ZONE + 4 * 8 };
    static const char *const moves[] = {[2] = "movswq", [4] = "movslq", [8] = "movq"};
    unsigned shift = (unsigned)__builtin_ctz(8 * i->size), width = ft_asm_register_size(i->bit);
    assert(width > 1 && width <= 8);
    say(b, "\tleaq -%d(%%rsp), %%rsp\n", RED_ZONE);
    say(b, "\tpushfq\n\tpushq %%rsi\n\tpushq %%rdi\n\tpushq %%rdi\n");
    put_address(b, i->memory, SAVED);
    say(b, "\txchgq %%rdi, (%%rsp)\n");
    say(b, "\t%s %.*s, %%rsi\n", moves[width], (int)i->bit.n, i->bit.at);
    say(b, "\tpopq %%rdi\n\tsarq $%u, %%rsi\n\tleaq (%%rdi,%%rsi,%u), %%rdi\n", shift, i->size);
    put_call(b, i);
    say(b, "\tpopq %%rdi\n\tpopq %%rsi\n\tpopfq\n\tleaq %d(%%rsp), %%rsp\n", RED_ZONE);
}

/* hook: "done", "clock", "moves". */
static void put_behind(ft_asm_buffer *b, const char *hook)
{
    say(b, "\n\tleaq -%d(%%rsp), %%rsp\n", RED_ZONE);
    say(b, "\tcall *__foretell_asm_%s@GOTPCREL(%%rip)\n", hook);
    say(b, "\tleaq %d(%%rsp), %%rsp\n", RED_ZONE);
}

/* ---- statements */

static ft_asm_text trim(ft_asm_text t)
{
    for (; t.n && isspace((unsigned char)*t.at); t.at++) t.n--;
    while (t.n && isspace((unsigned char)t.at[t.n - 1])) t.n--;
    return t;
}

static bool starts(ft_asm_text t, const char *word)
{
    return t.n >= strlen(word) && !memcmp(t.at, word, strlen(word));
}

static bool same(ft_asm_text a, ft_asm_text b)
{
    return a.n == b.n && a.n && !memcmp(a.at, b.at, a.n);
}

static bool is_name(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '.' || c == '$' || c == '@';
}

/* The name at its beginning. */
static ft_asm_text name_of(ft_asm_text t)
{
    size_t n = 0;
    while (n < t.n && is_name(t.at[n])) n++;
    return (ft_asm_text){t.at, n};
}

/* Behind its labels. */
static ft_asm_text unlabelled(ft_asm_text t)
{
    for (t = trim(t);; t = trim(t)) {
        size_t n = name_of(t).n;
        if (!n) return t;
        while (n < t.n && isspace((unsigned char)t.at[n])) n++;
        if (n == t.n || t.at[n] != ':') return t;
        t = (ft_asm_text){t.at + n + 1, t.n - n - 1};
    }
}

static void see_syntax(rewriter *r, ft_asm_text directive)
{
    if (starts(directive, ".intel_syntax")) r->other = true;
    if (starts(directive, ".att_syntax"))
        r->other = memmem(directive.at, directive.n, "noprefix", 8) != NULL;
    if (starts(directive, ".macro")) r->macro = true;
    if (starts(directive, ".endm")) r->macro = false;
}

static void put_with_calls(rewriter *r, const ft_asm_instruction *i, ft_asm_text whole,
                           const char *from)
{
    FT_REQUIRE(from >= whole.at && from <= whole.at + whole.n);
    put(r->to, whole.at, (size_t)(from - whole.at));
    put(r->to, "\n", 1);
    i->bit.n ? put_before_bit(r->to, i) : put_before(r->to, i);
    put(r->to, from, (size_t)(whole.at + whole.n - from));
    if (i->access != FT_ASM_READ) put_behind(r->to, "done");
}

/* A statement of inline assembly, with the prefixes that stand before it as statements of their
 * own, between which nothing may come. */
typedef struct statement {
    ft_asm_text whole; /* from behind the statement before */
    ft_asm_text text;  /* from its first prefix, else behind its labels */
    bool by_bytes;     /* a prefix is written as bytes */
    bool locked;       /* ... which locks */
} statement;

/* ---- places */

/* The text between the last two quotes of the line. */
static ft_asm_text last_quoted(ft_asm_text line)
{
    const char *end = memrchr(line.at, '"', line.n);
    const char *begin = end ? memrchr(line.at, '"', (size_t)(end - line.at)) : NULL;
    return begin ? (ft_asm_text){begin + 1, (size_t)(end - begin - 1)} : (ft_asm_text){line.at, 0};
}

static size_t line_end(const char *text, size_t n)
{
    const char *end = memchr(text, '\n', n);
    return end ? (size_t)(end - text) + 1 : n;
}

/* The name that `.file N` gives, without its folder. */
static ft_asm_text file_named(ft_asm_text whole, unsigned long number)
{
    for (size_t at = 0, end; at < whole.n; at = end) {
        end = at + line_end(whole.at + at, whole.n - at);
        ft_asm_text t = trim((ft_asm_text){whole.at + at, end - at});
        if (!starts(t, ".file") || strtoul(t.at + strlen(".file"), NULL, 10) != number) continue;
        ft_asm_text name = last_quoted(t);
        const char *slash = memrchr(name.at, '/', name.n);
        return slash ? (ft_asm_text){slash + 1, (size_t)(name.at + name.n - slash - 1)} : name;
    }
    return (ft_asm_text){whole.at, 0};
}

/* "list.c:40 in push", as far as the compiler has said where this is. */
static void keep_place(rewriter *r)
{
    char *to = r->counted.place, *next;
    size_t room = sizeof r->counted.place;
    unsigned long file = r->line.n ? strtoul(r->line.at, &next, 10) : 0;
    ft_asm_text name = file ? file_named(r->whole, file) : (ft_asm_text){to, 0};
    ft_asm_text function = r->n_open ? r->open[r->n_open - 1] : (ft_asm_text){to, 0};
    *to = '\0';
    if (name.n) snprintf(to, room, "%.*s:%lu", (int)name.n, name.at, strtoul(next, NULL, 10));
    size_t used = strlen(to);
    if (function.n && used < room)
        snprintf(to + used, room - used, "%sin %.*s", used ? " " : "", (int)function.n,
                 function.at);
}

/* Outside of a compiled function there are definitions of macros, and functions of assembly alone,
 * which may do anything to the stack: these get no calls. */
static void instruction(rewriter *r, const statement *s)
{
    enum { LONGEST = 512 };
    char joined[LONGEST];
    ft_asm_text t = s->text;
    if (t.n < LONGEST) { /* a separator behind a prefix is not part of it */
        for (size_t i = 0; i < t.n; i++) joined[i] = t.at[i] == ';' ? ' ' : t.at[i];
        t.at = joined;
    }
    ft_asm_instruction i = ft_asm_understand(t);
    bool known = r->n_open && !r->macro && !r->other && !r->measured && !s->by_bytes;
    bool seen = known && (i.access != FT_ASM_NONE || i.clock);
    assert(i.access == FT_ASM_NONE || i.memory.n);
    i.orders |= s->locked;
    r->counted.seen += seen;
    bool unseen = !seen && i.orders;
    if (i.orders && (!r->counted.orders || (unseen && !r->counted.unseen))) keep_place(r);
    r->counted.orders += i.orders;
    r->counted.unseen += unseen;
    if (seen && !i.clock)
        put_with_calls(r, &i, s->whole, s->text.at);
    else
        put(r->to, s->whole.at, s->whole.n);
    if (seen && i.clock) put_behind(r->to, "clock");
}

/* ---- inline assembly */

/* Up to the end of the statement: its separator, or the text's. */
static size_t statement_end(const char *text, size_t n)
{
    bool quoted = false;
    for (size_t i = 0; i < n; i++) {
        if (text[i] == '"') quoted = !quoted;
        if (quoted && text[i] == '\\' && i + 1 < n)
            i++; /* it is of the text */
        else if (text[i] == '\'' && !quoted && i + 1 < n && text[i + 1] != '\n')
            i++; /* 'c is a character's value */
        else if (text[i] == '\n' || (text[i] == ';' && !quoted))
            return i;
    }
    return n;
}

/* The byte if it is a prefix where an instruction begins, else 0. */
static unsigned long prefix_byte(unsigned long value)
{
    static const unsigned char prefixes[] = {0xf0, 0xf2, 0xf3, 0x2e, 0x36, 0x3e,
                                             0x26, 0x64, 0x65, 0x66, 0x67};
    enum { REX = 0x40, REX_END = 0x50 };
    bool known = (value >= REX && value < REX_END) ||
                 (value && value <= UCHAR_MAX && memchr(prefixes, (int)value, sizeof prefixes));
    return known ? value : 0;
}

/* Of a directive that puts bytes there: the last one's value, if all of them are prefixes of what
 * follows, else 0. Behind an opcode (rdrand is .byte 0x0f,0xc7,0xf0) such a byte is the rest of its
 * instruction. */
static unsigned long prefix_of(ft_asm_text t)
{
    static const char directive[] = ".byte";
    enum { LONGEST = 128 };
    char list[LONGEST];
    if (!starts(t, directive) || t.n >= LONGEST) return 0;
    memcpy(list, t.at, t.n);
    list[t.n] = 0;
    unsigned long last = 0;
    char *at = list + sizeof directive - 1;
    do {
        last = prefix_byte(strtoul(at, &at, 0));
        at += strspn(at, " \t,");
    } while (last && *at);
    return last;
}

/* One that is a statement of its own; notes what kind. */
static bool take_prefix(statement *s, ft_asm_text bare)
{
    enum { LOCK = 0xf0 };
    unsigned long byte = prefix_of(bare);
    s->by_bytes |= byte != 0;
    s->locked |= byte == LOCK;
    return byte || ft_asm_is_prefix(bare);
}

static void statements(rewriter *r, const char *text, size_t n)
{
    size_t at = 0;
    statement s = {.whole = {text, 0}};
    while (at < n) {
        size_t end = at + statement_end(text + at, n - at);
        ft_asm_text bare = unlabelled((ft_asm_text){text + at, end - at});
        at = end < n ? end + 1 : n;
        assert(end <= n && bare.at + bare.n <= text + end);
        if (!bare.n && s.text.n) continue;
        see_syntax(r, bare);
        bool prefix = take_prefix(&s, bare);
        if (!s.text.n) s.text = bare;
        s.text.n = (size_t)(bare.at + bare.n - s.text.at);
        if (prefix) continue;
        s.whole.n = (size_t)(text + end - s.whole.at);
        instruction(r, &s);
        put(r->to, text + end, at - end);
        s = (statement){.whole = {text + at, 0}};
    }
    put(r->to, s.whole.at, (size_t)(text + n - s.whole.at));
}

/* Does an instruction name the place where it is? */
static bool is_counting(ft_asm_text t)
{
    if (!t.n || *t.at == '.') return false;
    for (size_t i = 1; i < t.n; i++) {
        if (t.at[i] == '=') return false;
        bool sign = i + 1 < t.n && (t.at[i + 1] == '+' || t.at[i + 1] == '-');
        if (t.at[i] == '.' && sign && !is_name(t.at[i - 1])) return true;
    }
    return false;
}

static bool counts_bytes(const char *text, size_t n)
{
    for (size_t at = 0, end; at < n; at = end + 1) {
        end = at + statement_end(text + at, n - at);
        if (is_counting(unlabelled((ft_asm_text){text + at, end - at}))) return true;
    }
    return false;
}

/* Where the comment that begins here ends; 0: none begins. first: of a statement. */
static size_t comment_end(const char *text, size_t n, bool first)
{
    const char *end = NULL;
    bool slash = text[0] == '/', star = slash && n > 1 && text[1] == '*';
    if (text[0] == '#' || (slash && !star && (first || (n > 1 && text[1] == '/'))))
        end = memchr(text, '\n', n);
    else if (star) {
        end = memmem(text + 2, n - 2, "*/", 2);
        end = end ? end + 2 : NULL;
    } else
        return 0;
    return end ? (size_t)(end - text) : n;
}

/* They become spaces; what they say of lines is of use in errors alone. */
static void blank_comments(char *text, size_t n)
{
    bool quoted = false, first = true;
    for (size_t i = 0; i < n; i++) {
        if (text[i] == '"') quoted = !quoted;
        if (text[i] == '\n') quoted = false;
        bool literal = text[i] == (quoted ? '\\' : '\''); /* 'c is a character's value */
        i += literal && i + 1 < n && text[i + 1] != '\n';
        size_t length = quoted || literal ? 0 : comment_end(text + i, n - i, first);
        for (size_t c = i; c < i + length; c++)
            if (text[c] != '\n') text[c] = ' ';
        if (length) i += length - 1;
        bool ends = text[i] == '\n' || (text[i] == ';' && !quoted && !literal);
        first = ends || (first && isspace((unsigned char)text[i]));
    }
}

static void assembly(rewriter *r, const char *text, size_t n)
{
    char *clean = malloc(n + 1);
    if (!clean) {
        r->to->failed = true;
        return;
    }
    memcpy(clean, text, n);
    blank_comments(clean, n);
    r->measured = counts_bytes(clean, n);
    statements(r, clean, n);
    free(clean);
}

/* ---- what the compiler wrote */

static void close_function(rewriter *r, ft_asm_text name)
{
    assert(r->n_open <= NESTED);
    for (unsigned i = r->n_open; i-- > 0;)
        if (same(r->open[i], name)) r->open[i] = r->open[--r->n_open];
}

/* The compiler's own look at the clock. */
static bool is_clock(ft_asm_text line)
{
    ft_asm_text t = trim(line);
    return starts(t, "rdtsc") && ft_asm_understand(t).clock;
}

/* Which functions the text is in: from their labels to their sizes. */
static void see_line(rewriter *r, ft_asm_text line, ft_asm_text rest)
{
    ft_asm_text t = trim(line);
    see_syntax(r, t);
    if (starts(t, ".loc"))
        r->line = trim((ft_asm_text){t.at + strlen(".loc"), t.n - strlen(".loc")});
    if (starts(t, ".type") && memmem(t.at, t.n, "@function", 9))
        r->typed = name_of(trim((ft_asm_text){t.at + 5, t.n - 5}));
    else if (starts(t, ".size"))
        close_function(r, name_of(trim((ft_asm_text){t.at + 5, t.n - 5})));
    ft_asm_text name = name_of(t);
    if (name.n < t.n && t.at[name.n] == ':' && same(name, r->typed) && r->n_open < NESTED) {
        r->open[r->n_open++] = name;
        ft_asm_frame_begin(&r->frame, rest);
    }
}

/* From behind #APP to #NO_APP; compilers write each on a line of its own. */
static size_t assembly_end(const char *text, size_t n)
{
    size_t at = 0;
    while (at < n) {
        size_t end = at + line_end(text + at, n - at);
        if (starts(trim((ft_asm_text){text + at, end - at}), "#NO_APP")) return at;
        at = end;
    }
    return n;
}

/* False: it is like others. */
static bool is_bare(rewriter *r, ft_asm_text line, ft_asm_text rest)
{
    ft_asm_instruction i;
    ft_asm_text t = {line.at, line.n - (line.n && line.at[line.n - 1] == '\n')};
    if (!r->n_open || r->other || !ft_asm_bare_is(&r->bare, t, rest, &i)) return false;
    i.plain = true;
    r->counted.seen++;
    if (i.access != FT_ASM_NONE) {
        put_with_calls(r, &i, t, t.at);
    } else {
        put_behind(r->to, "moves");
        put(r->to, t.at, t.n);
    }
    put(r->to, "\n", 1);
    return true;
}

static void compiled(rewriter *r, ft_asm_text line, ft_asm_text rest)
{
    if (ft_asm_frame_drops(&r->frame, line)) {
        r->counted.gone++;
        return;
    }
    bool bare = is_bare(r, line, rest);
    ft_asm_bare_see(&r->bare, line);
    if (bare) return;
    bool clock = is_clock(line);
    put(r->to, line.at, line.n);
    see_line(r, line, rest);
    if (clock) put_behind(r->to, "clock");
    r->counted.seen += clock;
}

/* Clang marks assembly outside of functions by comments alone; nothing but it has instructions
 * there. */
static bool is_loose(const rewriter *r, ft_asm_text line)
{
    ft_asm_text t = trim(line);
    return !r->n_open && t.n && (r->macro || (*t.at != '.' && *t.at != '#'));
}

/* Some atomics the compiler has no calls for (clang's __atomic_fetch_max): they are what is locked
 * in its own code. So are those of a file that people wrote. */
static bool is_locked(const rewriter *r, ft_asm_text line)
{
    ft_asm_text t = unlabelled(line);
    if (!r->n_open || !t.n) return false;
    ft_asm_text name = name_of(t);
    return (name.n == 4 && starts(name, "lock")) ||
           (starts(t, "xchg") && ft_asm_understand(t).orders);
}

ft_asm_counts ft_asm_rewrite(const char *text, size_t n, ft_asm_buffer *to)
{
    FT_REQUIRE((text || !n) && to);
    rewriter r = {.to = to, .whole = {text, n}};
    for (size_t at = 0; at < n;) {
        ft_asm_text line = {text + at, line_end(text + at, n - at)};
        bool begins = starts(trim(line), "#APP");
        at += line.n;
        ft_asm_text rest = {text + at, n - at};
        if (is_loose(&r, line) || is_locked(&r, line)) {
            assembly(&r, line.at, line.n);
            see_line(&r, line, rest);
        } else {
            compiled(&r, line, rest);
        }
        if (!begins) continue;
        size_t length = assembly_end(text + at, n - at);
        assert(at + length <= n);
        assembly(&r, text + at, length);
        at += length;
    }
    assert(r.counted.unseen <= r.counted.orders);
    return r.counted;
}

void ft_asm_mark(ft_asm_buffer *to, unsigned unseen, const char *place)
{
    say(to, "\n\t.section %s, \"a\", @note\n\t.balign 4\n", FT_ASSEMBLY_SECTION);
    say(to, "\t.long %zu, 4, %d\n\t.asciz \"%s\"\n\t.balign 4\n\t.long %u\n",
        sizeof FT_ASSEMBLY_OWNER, FT_ASSEMBLY_UNSEEN, FT_ASSEMBLY_OWNER, unseen);
    if (!*place || strpbrk(place, "\"\\\n")) return;
    say(to, "\t.long %zu, %zu, %d\n\t.asciz \"%s\"\n\t.balign 4\n\t.asciz \"%s\"\n\t.balign 4\n",
        sizeof FT_ASSEMBLY_OWNER, strlen(place) + 1, FT_ASSEMBLY_PLACE, FT_ASSEMBLY_OWNER, place);
}
