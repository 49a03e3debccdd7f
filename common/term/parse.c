#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "term/internal.h"

typedef enum token_kind {
    TOKEN_END,
    TOKEN_OPEN,
    TOKEN_CLOSE,
    TOKEN_NAME,
    TOKEN_QUOTED,
    TOKEN_NUMBER,
    TOKEN_HEX,
    TOKEN_BINARY
} token_kind;

typedef struct token {
    token_kind kind;
    const char *text; /* names without their bars, digits without their #x or #b */
    size_t length, column;
} token;

/* A let variable; `outer` is the binding of the same name that it hides, 0: none. */
typedef struct binding {
    ft_term term;
    uint32_t name, outer;
} binding;

typedef struct parser {
    ft_term_pool *pool;
    const ft_scope *scope;
    const char *text;
    size_t length, at;
    token token; /* the one to be looked at next */
    unsigned depth;
    FT_VEC(ft_term) terms; /* arguments of the applications being read, innermost last */
    FT_VEC(size_t) columns;
    FT_VEC(binding) bindings;   /* [0] is "none" */
    ft_intern names;            /* of let variables */
    FT_VEC(uint32_t) innermost; /* by name: its visible binding, 0: none */
    ft_strbuf unescaped;        /* of the last quoted name with a backslash */
    ft_error *err;
} parser;

static ft_status parse_term(parser *p, ft_term *term);

#define FAIL(p, column, ...) ft_error_at((p)->err, FT_INPUT, 1, (column), __VA_ARGS__)

/* ---- tokens ---- */

static bool is_name_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           (c && strchr("~!@$%^&*_-+=<>.?/", c));
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static bool all_digits(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (text[i] < '0' || text[i] > '9') return false;
    return length > 0;
}

static void skip_blanks(parser *p)
{
    while (p->at < p->length) {
        char c = p->text[p->at];
        if (c == ';')
            while (p->at < p->length && p->text[p->at] != '\n') p->at++;
        else if (is_blank(c))
            p->at++;
        else
            break;
    }
}

/* \| and \\ are a bar and a backslash of the name: SMT-LIB has no way to write such names. */
static ft_status lex_quoted(parser *p, token *t)
{
    size_t start = ++p->at;
    bool escaped = false;
    while (p->at < p->length && p->text[p->at] != '|') {
        if (p->text[p->at] == '\\') {
            escaped = true;
            p->at++;
        }
        p->at++;
    }
    if (p->at >= p->length)
        return FAIL(p, t->column, "this quoted name has no end: close it with |");
    *t = (token){TOKEN_QUOTED, p->text + start, p->at++ - start, t->column};
    if (!escaped) return FT_OK;
    ft_strbuf_clear(&p->unescaped);
    for (size_t i = 0; i < t->length; i++) {
        if (t->text[i] == '\\') i++;
        ft_strbuf_add(&p->unescaped, t->text + i, 1);
    }
    t->text = ft_strbuf_text(&p->unescaped);
    t->length = p->unescaped.len;
    return FT_OK;
}

static ft_status lex_hash(parser *p, token *t)
{
    size_t start = p->at;
    while (p->at < p->length && (is_name_char(p->text[p->at]) || p->at == start)) p->at++;
    char radix = p->at - start > 1 ? p->text[start + 1] : 0;
    *t = (token){radix == 'x' ? TOKEN_HEX : TOKEN_BINARY, p->text + start + 2, p->at - start - 2,
                 t->column};
    if ((radix == 'x' || radix == 'b') && p->at - start > 2) return FT_OK;
    return FAIL(p, t->column, "expected #x and hexadecimal digits or #b and binary digits");
}

static ft_status lex_word(parser *p, token *t)
{
    size_t start = p->at;
    while (p->at < p->length && is_name_char(p->text[p->at])) p->at++;
    size_t length = p->at - start;
    const char *text = p->text + start;
    if (length == 0) {
        unsigned char c = (unsigned char)*text;
        if (c > ' ' && c < 127)
            return FAIL(p, t->column,
                        "`%c' is not allowed in a name: write unusual names as |name|", c);
        return FAIL(p, t->column,
                    "byte 0x%02x is not allowed in a name: write unusual names as |name|", c);
    }
    *t = (token){TOKEN_NAME, text, length, t->column};
    if (*text < '0' || *text > '9') return FT_OK;
    t->kind = TOKEN_NUMBER;
    if (all_digits(text, length)) return FT_OK;
    return FAIL(p, t->column,
                "`%.*s' is neither a number nor a name: an Int literal has digits only",
                length < 60 ? (int)length : 60, text);
}

static ft_status advance(parser *p)
{
    skip_blanks(p);
    token *t = &p->token;
    *t = (token){TOKEN_END, NULL, 0, p->at + 1};
    assert(p->at <= p->length);
    if (p->at >= p->length) return FT_OK;
    char c = p->text[p->at];
    if (c == '(' || c == ')') {
        *t = (token){c == '(' ? TOKEN_OPEN : TOKEN_CLOSE, p->text + p->at, 1, p->at + 1};
        p->at++;
        return FT_OK;
    }
    if (c == '|') return lex_quoted(p, t);
    if (c == '#') return lex_hash(p, t);
    return lex_word(p, t);
}

static bool token_is(const parser *p, const char *name)
{
    return p->token.kind == TOKEN_NAME && p->token.length == strlen(name) &&
           memcmp(p->token.text, name, p->token.length) == 0;
}

static ft_status unexpected(parser *p, const char *wanted)
{
    if (p->token.kind == TOKEN_END)
        return FAIL(p, p->token.column, "the term ends here; expected %s", wanted);
    return FAIL(p, p->token.column, "expected %s instead of `%.*s'", wanted,
                p->token.length < 60 ? (int)p->token.length : 60, p->token.text);
}

static ft_status expect(parser *p, token_kind kind, const char *wanted)
{
    return p->token.kind == kind ? advance(p) : unexpected(p, wanted);
}

/* ---- leaves ---- */

static ft_status read_index(parser *p, uint32_t *index)
{
    uint64_t bits;
    if (p->token.kind != TOKEN_NUMBER) return unexpected(p, "a number");
    if (!ft_term_digits(p->token.text, p->token.length, 10, &bits) || bits > UINT32_MAX)
        return FAIL(p, p->token.column, "the index is larger than 2^32 - 1");
    *index = (uint32_t)bits;
    return advance(p);
}

static ft_status int_literal(parser *p, bool negative, ft_term *term)
{
    uint64_t bits;
    if (!ft_term_digits(p->token.text, p->token.length, 10, &bits) ||
        bits > (uint64_t)INT64_MAX + negative)
        return FAIL(p, p->token.column, "the number does not fit into a signed 64-bit integer");
    *term = ft_term_literal(p->pool, (ft_value){FT_INT_SORT, negative ? -bits : bits});
    return advance(p);
}

static ft_status bits_literal(parser *p, ft_term *term)
{
    bool hex = p->token.kind == TOKEN_HEX;
    size_t width = p->token.length * (hex ? 4 : 1);
    uint64_t bits;
    if (width > 64)
        return FAIL(p, p->token.column, "the literal has %zu bits; the limit is 64", width);
    if (!ft_term_digits(p->token.text, p->token.length, hex ? 16 : 2, &bits))
        return FAIL(p, p->token.column, "#%c must be followed by %s digits only", hex ? 'x' : 'b',
                    hex ? "hexadecimal" : "binary");
    ft_sort sort = {FT_SORT_BITVEC, (uint8_t)width};
    *term = ft_term_literal(p->pool, (ft_value){sort, bits});
    return advance(p);
}

/* After `(`: _ bvN width ) */
static ft_status indexed_literal(parser *p, ft_term *term)
{
    uint64_t bits;
    uint32_t width = 0;
    ft_status status = advance(p);
    if (status) return status;
    size_t column = p->token.column;
    if (p->token.kind != TOKEN_NAME || p->token.length < 3 || memcmp(p->token.text, "bv", 2) != 0 ||
        !all_digits(p->token.text + 2, p->token.length - 2))
        return unexpected(p, "a literal such as (_ bv5 8); operators are ((_ extract 7 0) x)");
    bool fits = ft_term_digits(p->token.text + 2, p->token.length - 2, 10, &bits);
    if ((status = advance(p)) || (status = read_index(p, &width))) return status;
    if (width < 1 || width > 64)
        return FAIL(p, column, "BitVec width %u is out of range: use 1 to 64", width);
    if (!fits || bits > ft_bits_mask(width))
        return FAIL(p, column, "the literal does not fit into %u bits", width);
    ft_sort sort = {FT_SORT_BITVEC, (uint8_t)width};
    *term = ft_term_literal(p->pool, (ft_value){sort, bits});
    return expect(p, TOKEN_CLOSE, "`)'");
}

static ft_term find_binding(const parser *p)
{
    uint32_t name = ft_intern_find(&p->names, p->token.text, p->token.length);
    return name == FT_NO_ID ? FT_NO_TERM : p->bindings.data[p->innermost.data[name]].term;
}

static ft_status unknown_name(parser *p)
{
    static const char *const UNSUPPORTED[] = {"exists", "forall", "match", "as", "par", "_", "!"};
    for (size_t i = 0; i < sizeof UNSUPPORTED / sizeof *UNSUPPORTED; i++)
        if (token_is(p, UNSUPPORTED[i]))
            return FAIL(p, p->token.column, "`%s' is not supported in terms", UNSUPPORTED[i]);
    int shown = p->token.length < 200 ? (int)p->token.length : 200;
    if (p->token.length > 1 && p->token.text[0] == '-' &&
        all_digits(p->token.text + 1, p->token.length - 1))
        return FAIL(p, p->token.column, "unknown variable `%.*s': write the number as (- %.*s)",
                    shown, p->token.text, shown - 1, p->token.text + 1);
    return FAIL(p, p->token.column, "unknown variable `%.*s'", shown, p->token.text);
}

static ft_status parse_name(parser *p, ft_term *term)
{
    ft_symbol symbol;
    ft_sort sort;
    *term = find_binding(p);
    if (*term != FT_NO_TERM) return advance(p);
    if (token_is(p, "true") || token_is(p, "false"))
        *term = ft_term_literal(p->pool, (ft_value){FT_BOOL_SORT, token_is(p, "true")});
    else if (p->scope->resolve(p->scope->context, p->token.text, p->token.length, &symbol, &sort))
        *term = ft_term_symbol(p->pool, symbol, sort);
    else
        return unknown_name(p);
    return advance(p);
}

static ft_status parse_leaf(parser *p, ft_term *term)
{
    switch (p->token.kind) {
    case TOKEN_NAME:
    case TOKEN_QUOTED:
        return parse_name(p, term);
    case TOKEN_NUMBER:
        return int_literal(p, false, term);
    case TOKEN_HEX:
    case TOKEN_BINARY:
        return bits_literal(p, term);
    case TOKEN_END:
    case TOKEN_OPEN:
    case TOKEN_CLOSE:
        break;
    }
    return unexpected(p, "a term");
}

/* ---- applications ---- */

typedef struct head {
    ft_op op;
    uint32_t index[2];
    size_t column;
} head;

static unsigned index_count(ft_op op)
{
    if (op == FT_OP_EXTRACT) return 2;
    return op == FT_OP_ZERO_EXTEND || op == FT_OP_SIGN_EXTEND ? 1 : 0;
}

static ft_status read_operator(parser *p, bool indexed, head *h)
{
    h->column = p->token.column;
    if (p->token.kind != TOKEN_NAME) return unexpected(p, "an operator");
    for (h->op = FT_OP_NOT; h->op < FT_OP_COUNT; h->op++)
        if (token_is(p, ft_op_name(h->op))) break;
    if (h->op == FT_OP_COUNT)
        return FAIL(p, h->column, "unknown operator `%.*s'",
                    p->token.length < 200 ? (int)p->token.length : 200, p->token.text);
    if (indexed != (index_count(h->op) > 0))
        return FAIL(p, h->column,
                    indexed ? "`%s' takes no index"
                            : "the operator takes an index: use ((_ %s ...) x)",
                    ft_op_name(h->op));
    return advance(p);
}

/* After `(`: ( _ extract 7 0 ) */
static ft_status indexed_head(parser *p, head *h)
{
    ft_status status = advance(p);
    if (status) return status;
    if (!token_is(p, "_")) return unexpected(p, "`_' and an indexed operator");
    if ((status = advance(p)) || (status = read_operator(p, true, h))) return status;
    for (unsigned i = 0; i < index_count(h->op); i++)
        if ((status = read_index(p, &h->index[i]))) return status;
    return expect(p, TOKEN_CLOSE, "`)'");
}

static ft_status check_limits(parser *p, size_t column, ft_term term)
{
    assert(term != FT_NO_TERM);
    const ft_pool_node *node = ft_pool_at(p->pool, term);
    if (node->depth > FT_TERM_MAX_DEPTH)
        return ft_error_at(p->err, FT_LIMIT, 1, column,
                           "the term is nested more than %d deep: split it", FT_TERM_MAX_DEPTH);
    if (node->size > FT_TERM_MAX_SIZE)
        return ft_error_at(p->err, FT_LIMIT, 1, column,
                           "the term has more than %u operators and operands: split it",
                           FT_TERM_MAX_SIZE);
    return FT_OK;
}

static ft_status apply(parser *p, const head *h, size_t base, ft_term *term)
{
    assert(base <= p->terms.len && p->terms.len == p->columns.len);
    uint32_t culprit = 0, n = (uint32_t)(p->terms.len - base);
    const ft_term none = FT_NO_TERM, *args = n ? p->terms.data + base : &none;
    ft_error problem = FT_ERROR_INIT;
    ft_status status =
        ft_term_apply_at(p->pool, h->op, args, n, h->index, term, &culprit, &problem);
    assert(culprit <= n);
    size_t column = culprit ? p->columns.data[base + culprit - 1] : h->column;
    if (status) return ft_error_at(p->err, status, 1, column, "%s", problem.message);
    return check_limits(p, h->column, *term);
}

static ft_status read_arguments(parser *p)
{
    while (p->token.kind != TOKEN_CLOSE) {
        ft_term term;
        if (p->token.kind == TOKEN_END) return unexpected(p, "`)'");
        size_t column = p->token.column;
        ft_status status = parse_term(p, &term);
        if (status) return status;
        ft_vec_push(&p->terms, term);
        ft_vec_push(&p->columns, column);
    }
    return advance(p);
}

/* After `(`: whether `- 5 )` follows, which is read as a literal. */
static bool at_negative_literal(parser *p)
{
    if (!token_is(p, "-")) return false;
    size_t at = p->at;
    while (at < p->length && is_blank(p->text[at])) at++;
    size_t digits = at;
    while (at < p->length && p->text[at] >= '0' && p->text[at] <= '9') at++;
    if (at == digits) return false;
    while (at < p->length && is_blank(p->text[at])) at++;
    return at < p->length && p->text[at] == ')';
}

/* After `(`, which was at `column`. */
static ft_status parse_application(parser *p, size_t column, ft_term *term)
{
    head h = {0};
    ft_status status;
    if (token_is(p, "_")) return indexed_literal(p, term);
    if (at_negative_literal(p)) {
        if ((status = advance(p)) || (status = int_literal(p, true, term))) return status;
        return expect(p, TOKEN_CLOSE, "`)'");
    }
    if (p->depth == FT_TERM_MAX_DEPTH)
        return ft_error_at(p->err, FT_LIMIT, 1, column,
                           "the term is nested more than %d deep: split it", FT_TERM_MAX_DEPTH);
    p->depth++;
    size_t base = p->terms.len;
    status = p->token.kind == TOKEN_OPEN ? indexed_head(p, &h) : read_operator(p, false, &h);
    if (!status) status = read_arguments(p);
    if (!status) status = apply(p, &h, base, term);
    p->terms.len = p->columns.len = base;
    p->depth--;
    return status;
}

/* ---- let ---- */

/* One (name term); the binding is not visible yet. */
static ft_status read_binding(parser *p, size_t base)
{
    ft_status status = expect(p, TOKEN_OPEN, "`(' and a binding");
    if (status) return status;
    if (p->token.kind != TOKEN_NAME && p->token.kind != TOKEN_QUOTED)
        return unexpected(p, "a name to bind");
    uint32_t name = ft_intern_add(&p->names, p->token.text, p->token.length);
    assert(name <= p->innermost.len); /* ids are dense */
    if (name == p->innermost.len) ft_vec_push(&p->innermost, 0);
    for (size_t i = p->bindings.len; i-- > base;)
        if (p->bindings.data[i].name == name)
            return FAIL(p, p->token.column, "`%s' is bound twice in one let", p->names.names[name]);
    if ((status = advance(p))) return status;
    binding fresh = {.name = name};
    if ((status = parse_term(p, &fresh.term))) return status;
    ft_vec_push(&p->bindings, fresh);
    return expect(p, TOKEN_CLOSE, "`)'");
}

/* After `let`: the bindings of one let, visible when all of them are read (SMT-LIB 2.6, §3.6.1). */
static ft_status read_bindings(parser *p)
{
    enum { MOST = 256 }; /* in one let: the search for a name bound twice is quadratic */
    size_t base = p->bindings.len;
    ft_status status = expect(p, TOKEN_OPEN, "`(' and bindings");
    if (status) return status;
    while (p->token.kind != TOKEN_CLOSE) {
        if (p->bindings.len - base == MOST)
            return ft_error_at(p->err, FT_LIMIT, 1, p->token.column,
                               "one let binds more than %d names: use nested lets", MOST);
        if ((status = read_binding(p, base))) return status;
    }
    for (size_t i = base; i < p->bindings.len; i++) {
        binding *b = &p->bindings.data[i];
        assert(b->name < p->innermost.len && p->innermost.data[b->name] < i);
        b->outer = p->innermost.data[b->name];
        p->innermost.data[b->name] = (uint32_t)i;
    }
    return advance(p);
}

static void forget_bindings(parser *p, size_t base)
{
    assert(base >= 1 && base <= p->bindings.len); /* [0] stays */
    while (p->bindings.len > base) {
        binding b = p->bindings.data[--p->bindings.len];
        assert(b.outer < p->bindings.len);
        p->innermost.data[b.name] = b.outer;
    }
}

/* Bodies of lets are read in a loop, so that only arguments and bound terms nest. */
static ft_status parse_nested(parser *p, ft_term *term, size_t *lets)
{
    for (;;) {
        size_t column = p->token.column;
        if (p->token.kind != TOKEN_OPEN) return parse_leaf(p, term);
        ft_status status = advance(p);
        if (status) return status;
        if (!token_is(p, "let")) return parse_application(p, column, term);
        if (p->depth == FT_TERM_MAX_DEPTH)
            return ft_error_at(p->err, FT_LIMIT, 1, column,
                               "the term is nested more than %d deep: split it", FT_TERM_MAX_DEPTH);
        p->depth++;
        if (!(status = advance(p))) status = read_bindings(p);
        p->depth--;
        if (status) return status;
        ++*lets;
    }
}

static ft_status parse_term(parser *p, ft_term *term)
{
    size_t base = p->bindings.len, lets = 0;
    ft_status status = parse_nested(p, term, &lets);
    for (; !status && lets > 0; lets--) status = expect(p, TOKEN_CLOSE, "`)'");
    if (!status) forget_bindings(p, base);
    return status;
}

static ft_status parse_all(parser *p, ft_term *term)
{
    ft_term found;
    ft_status status = advance(p);
    if (status) return status;
    if (p->token.kind == TOKEN_END) return FAIL(p, 1, "the term is empty");
    if ((status = parse_term(p, &found))) return status;
    if (p->token.kind != TOKEN_END) return unexpected(p, "the end of the term");
    *term = found;
    return FT_OK;
}

ft_status ft_term_parse(ft_term_pool *pool, const char *text, size_t length, const ft_scope *scope,
                        ft_term *term, ft_error *err)
{
    FT_REQUIRE(pool && scope && scope->resolve && term && (text || length == 0));
    parser p = {.pool = pool, .scope = scope, .text = text, .length = length, .err = err};
    ft_vec_push(&p.bindings, (binding){0});
    ft_status status = parse_all(&p, term);
    assert(status || (p.depth == 0 && p.terms.len == 0 && p.bindings.len == 1));
    ft_vec_release(&p.terms);
    ft_vec_release(&p.columns);
    ft_vec_release(&p.bindings);
    ft_vec_release(&p.innermost);
    ft_intern_release(&p.names);
    ft_strbuf_release(&p.unescaped);
    return status;
}
