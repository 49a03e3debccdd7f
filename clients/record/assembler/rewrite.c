#include "rewrite.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "instruction.h"
#include "raw/assembly.h"

enum {
    NESTED = 8,    /* functions that are open at once: parts of one in other sections */
    RED_ZONE = 128 /* bytes below the stack pointer that are the function's */
};

typedef struct rewriter {
    ft_asm_buffer *to;
    ft_asm_counts counts;
    ft_asm_text typed;        /* the last name that is said to be a function's */
    ft_asm_text open[NESTED]; /* functions at hand */
    unsigned n_open;
    bool inside; /* of inline assembly */
    bool intel;  /* syntax */
    bool macro;  /* in the definition of one */
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

/* The operand's address, when the stack pointer has gone down by so many bytes. */
static void put_address(ft_asm_buffer *b, ft_asm_text memory, unsigned below)
{
    bool moved = memmem(memory.at, memory.n, "(%rsp", 5) != NULL;
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
    say(b, "\tcall *__foretell_asm_%s%u@GOTPCREL(%%rip)\n", hooks[i->access], i->size);
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
    unsigned shift = (unsigned)__builtin_ctz(8 * i->size);
    say(b, "\tleaq -%d(%%rsp), %%rsp\n", RED_ZONE);
    say(b, "\tpushfq\n\tpushq %%rsi\n\tpushq %%rdi\n\tpushq %%rdi\n");
    put_address(b, i->memory, SAVED);
    say(b, "\txchgq %%rdi, (%%rsp)\n");
    say(b, "\t%s %.*s, %%rsi\n", moves[ft_asm_register_size(i->bit)], (int)i->bit.n, i->bit.at);
    say(b, "\tpopq %%rdi\n\tsarq $%u, %%rsi\n\tleaq (%%rdi,%%rsi,%u), %%rdi\n", shift, i->size);
    put_call(b, i);
    say(b, "\tpopq %%rdi\n\tpopq %%rsi\n\tpopfq\n\tleaq %d(%%rsp), %%rsp\n", RED_ZONE);
}

/* hook: "done", "clock". */
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
        ft_asm_text name = name_of(t);
        if (!name.n || name.n >= t.n || t.at[name.n] != ':') return t;
        t = (ft_asm_text){t.at + name.n + 1, t.n - name.n - 1};
    }
}

static void see_syntax(rewriter *r, ft_asm_text directive)
{
    if (starts(directive, ".intel_syntax")) r->intel = true;
    if (starts(directive, ".att_syntax")) r->intel = false;
    if (starts(directive, ".macro")) r->macro = true;
    if (starts(directive, ".endm")) r->macro = false;
}

static void put_with_calls(rewriter *r, const ft_asm_instruction *i, ft_asm_text whole,
                           const char *from)
{
    put(r->to, whole.at, (size_t)(from - whole.at));
    put(r->to, "\n", 1);
    i->bit.n ? put_before_bit(r->to, i) : put_before(r->to, i);
    put(r->to, from, (size_t)(whole.at + whole.n - from));
    if (i->access != FT_ASM_READ) put_behind(r->to, "done");
}

/* Outside of a compiled function there are definitions of macros, and functions of assembly alone,
 * which may do anything to the stack: these get no calls.
 *
 * whole: from behind the statement before; statement: the part of it without labels, which may be
 * two, a `lock' of its own before an instruction. */
static void instruction(rewriter *r, ft_asm_text whole, ft_asm_text statement)
{
    enum { LONGEST = 512 };
    char joined[LONGEST];
    ft_asm_text t = statement;
    if (t.n < LONGEST) { /* a separator behind `lock' is not part of it */
        for (size_t i = 0; i < t.n; i++) joined[i] = t.at[i] == ';' ? ' ' : t.at[i];
        t.at = joined;
    }
    ft_asm_instruction i = ft_asm_understand(t);
    bool known = r->n_open && !r->macro && !r->intel;
    bool seen = known && (i.access != FT_ASM_NONE || i.clock);
    r->counts.seen += seen;
    r->counts.orders += i.orders;
    r->counts.unseen += !seen && i.orders;
    if (seen && !i.clock)
        put_with_calls(r, &i, whole, statement.at);
    else
        put(r->to, whole.at, whole.n);
    if (seen && i.clock) put_behind(r->to, "clock");
}

/* ---- inline assembly */

/* Up to the end of the statement: its separator, or the text's. */
static size_t statement_end(const char *text, size_t n)
{
    bool quoted = false;
    for (size_t i = 0; i < n; i++) {
        if (text[i] == '"' && (!i || text[i - 1] != '\\')) quoted = !quoted;
        if (text[i] == '\'' && !quoted && i + 1 < n && text[i + 1] != '\n')
            i++; /* 'c is a character's value */
        else if (text[i] == '\n' || (text[i] == ';' && !quoted))
            return i;
    }
    return n;
}

static bool is_lock(ft_asm_text t)
{
    return t.n == 4 && starts(t, "lock");
}

static void statements(rewriter *r, const char *text, size_t n)
{
    size_t from = 0, at = 0;
    ft_asm_text locked = {NULL, 0};
    while (at < n) {
        size_t end = at + statement_end(text + at, n - at);
        ft_asm_text bare = unlabelled((ft_asm_text){text + at, end - at});
        at = end < n ? end + 1 : n;
        if (!bare.n && locked.n) continue;
        if (is_lock(bare) && !locked.n) {
            locked = bare;
            continue;
        }
        if (locked.n) bare = (ft_asm_text){locked.at, (size_t)(bare.at + bare.n - locked.at)};
        locked.n = 0;
        see_syntax(r, bare);
        instruction(r, (ft_asm_text){text + from, end - from}, bare);
        put(r->to, text + end, at - end);
        from = at;
    }
    put(r->to, text + from, n - from);
}

/* Where the comment that begins here ends; 0: none begins. */
static size_t comment_end(const char *text, size_t n)
{
    const char *end = NULL;
    if (text[0] == '#')
        end = memchr(text, '\n', n);
    else if (n > 1 && text[0] == '/' && text[1] == '*') {
        end = memmem(text + 2, n - 2, "*/", 2);
        end = end ? end + 2 : NULL;
    } else
        return 0;
    return end ? (size_t)(end - text) : n;
}

/* They become spaces; what they say of lines is of use in errors alone. */
static void blank_comments(char *text, size_t n)
{
    bool quoted = false;
    for (size_t i = 0; i < n; i++) {
        if (text[i] == '"' && (!i || text[i - 1] != '\\')) quoted = !quoted;
        if (text[i] == '\n') quoted = false;
        bool literal = text[i] == '\'' && !quoted; /* 'c is a character's value */
        i += literal;
        size_t length = quoted || literal || i >= n ? 0 : comment_end(text + i, n - i);
        for (size_t c = i; c < i + length; c++)
            if (text[c] != '\n') text[c] = ' ';
        if (length) i += length - 1;
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
    statements(r, clean, n);
    free(clean);
}

/* ---- what the compiler wrote */

static void close_function(rewriter *r, ft_asm_text name)
{
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
static void see_line(rewriter *r, ft_asm_text line)
{
    ft_asm_text t = trim(line);
    see_syntax(r, t);
    if (starts(t, ".type") && memmem(t.at, t.n, "@function", 9))
        r->typed = name_of(trim((ft_asm_text){t.at + 5, t.n - 5}));
    else if (starts(t, ".size"))
        close_function(r, name_of(trim((ft_asm_text){t.at + 5, t.n - 5})));
    ft_asm_text name = name_of(t);
    if (name.n < t.n && t.at[name.n] == ':' && same(name, r->typed) && r->n_open < NESTED)
        r->open[r->n_open++] = name;
}

static size_t line_end(const char *text, size_t n)
{
    const char *end = memchr(text, '\n', n);
    return end ? (size_t)(end - text) + 1 : n;
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

static void compiled(rewriter *r, ft_asm_text line)
{
    bool clock = is_clock(line);
    put(r->to, line.at, line.n);
    see_line(r, line);
    if (clock) put_behind(r->to, "clock");
    r->counts.seen += clock;
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
    return is_lock(name_of(t)) || (starts(t, "xchg") && ft_asm_understand(t).orders);
}

ft_asm_counts ft_asm_rewrite(const char *text, size_t n, ft_asm_buffer *to)
{
    rewriter r = {.to = to};
    for (size_t at = 0; at < n;) {
        ft_asm_text line = {text + at, line_end(text + at, n - at)};
        bool begins = starts(trim(line), "#APP");
        at += line.n;
        if (is_loose(&r, line) || is_locked(&r, line)) {
            assembly(&r, line.at, line.n);
            see_line(&r, line);
        } else {
            compiled(&r, line);
        }
        if (!begins) continue;
        size_t length = assembly_end(text + at, n - at);
        assembly(&r, text + at, length);
        at += length;
    }
    return r.counts;
}

void ft_asm_mark(ft_asm_buffer *to, unsigned unseen)
{
    say(to, "\n\t.section %s, \"a\", @note\n\t.balign 4\n", FT_ASSEMBLY_SECTION);
    say(to, "\t.long %zu, 4, %d\n\t.asciz \"%s\"\n\t.balign 4\n\t.long %u\n",
        sizeof FT_ASSEMBLY_OWNER, FT_ASSEMBLY_UNSEEN, FT_ASSEMBLY_OWNER, unseen);
}
