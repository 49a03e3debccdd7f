#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "term/internal.h"

typedef struct printing {
    const ft_term_pool *pool;
    const ft_scope *scope;
    ft_strbuf *out;
    ft_map bound;   /* term -> number of its let variable */
    unsigned marks; /* question marks before that number, so that no variable looks the same */
} printing;

typedef struct frame {
    ft_term term;
    uint32_t next;
} frame;

/* SMT-LIB 2.6, §3.1: simple symbols and reserved words. */
static bool is_simple(const char *name)
{
    static const char *const RESERVED[] = {"_",      "!",     "as",   "let",   "exists",
                                           "forall", "match", "true", "false", "par"};
    if (!*name || isdigit((unsigned char)*name)) return false;
    for (const char *c = name; *c; c++)
        if (!isalnum((unsigned char)*c) && !strchr("~!@$%^&*_-+=<>.?/", *c)) return false;
    for (size_t i = 0; i < sizeof RESERVED / sizeof *RESERVED; i++)
        if (strcmp(name, RESERVED[i]) == 0) return false;
    return true;
}

static void print_name(const char *name, ft_strbuf *out)
{
    if (is_simple(name)) {
        ft_strbuf_puts(out, name);
        return;
    }
    ft_strbuf_puts(out, "|");
    for (const char *c = name; *c; c++) {
        if (*c == '|' || *c == '\\') ft_strbuf_puts(out, "\\");
        ft_strbuf_add(out, c, 1);
    }
    ft_strbuf_puts(out, "|");
}

static void print_head(const printing *p, const ft_term_node *node)
{
    const char *name = ft_op_name(node->op);
    if (node->op == FT_OP_EXTRACT)
        ft_strbuf_printf(p->out, "((_ %s %u %u)", name, node->index[0], node->index[1]);
    else if (node->op == FT_OP_ZERO_EXTEND || node->op == FT_OP_SIGN_EXTEND)
        ft_strbuf_printf(p->out, "((_ %s %u)", name, node->index[0]);
    else
        ft_strbuf_printf(p->out, "(%s", name);
}

static void print_bound(const printing *p, uint64_t number)
{
    for (unsigned i = 0; i < p->marks; i++) ft_strbuf_puts(p->out, "?");
    ft_strbuf_printf(p->out, "%llu", (unsigned long long)number);
}

/* Prints a leaf, a let variable or the head of an application; true: its arguments follow. */
static bool print_start(const printing *p, ft_term term, bool unfold)
{
    ft_term_node node = ft_term_get(p->pool, term);
    uint64_t number;
    if (!unfold && ft_map_get(&p->bound, term, &number)) {
        print_bound(p, number);
    } else if (node.op == FT_OP_LITERAL) {
        ft_value_print((ft_value){node.sort, node.bits}, p->out);
    } else if (node.op == FT_OP_SYMBOL) {
        print_name(p->scope->name(p->scope->context, node.symbol), p->out);
    } else {
        print_head(p, &node);
        return true;
    }
    return false;
}

static void print_tree(const printing *p, ft_term root)
{
    FT_VEC(frame) stack = {0};
    if (print_start(p, root, true)) ft_vec_push(&stack, (frame){.term = root});
    while (stack.len) {
        frame *top = &stack.data[stack.len - 1];
        ft_term_node node = ft_term_get(p->pool, top->term);
        assert(top->next <= node.n_children);
        if (top->next == node.n_children) {
            ft_strbuf_puts(p->out, ")");
            stack.len--;
            continue;
        }
        ft_term child = node.children[top->next++];
        ft_strbuf_puts(p->out, " ");
        if (print_start(p, child, false)) ft_vec_push(&stack, (frame){.term = child});
    }
    ft_vec_release(&stack);
}

/* One question mark more than any variable of the term begins with. */
static unsigned needed_marks(const printing *p, const ft_term_list *list)
{
    size_t most = 0;
    for (size_t i = 0; i < list->len; i++) {
        ft_term_node node = ft_term_get(p->pool, list->data[i]);
        if (node.op != FT_OP_SYMBOL) continue;
        size_t marks = strspn(p->scope->name(p->scope->context, node.symbol), "?");
        if (marks > most) most = marks;
    }
    return (unsigned)most + 1;
}

static void count_uses(const printing *p, const ft_term_list *list, ft_map *uses)
{
    for (size_t i = 0; i < list->len; i++) {
        ft_term_node node = ft_term_get(p->pool, list->data[i]);
        for (uint32_t k = 0; k < node.n_children; k++)
            ++*ft_map_slot(uses, node.children[k], 0, NULL);
    }
}

/* A large term: a let binds each subterm that is used twice or more, so that the text stays linear
 * in the number of distinct subterms. */
static void print_shared(printing *p, ft_term root)
{
    ft_term_list list = {0};
    ft_map uses = {0};
    size_t lets = 0;
    ft_term_reach(p->pool, root, &list);
    count_uses(p, &list, &uses);
    p->marks = needed_marks(p, &list);
    for (size_t i = 0; i < list.len; i++) {
        uint64_t count;
        ft_term term = list.data[i];
        if (!ft_pool_at(p->pool, term)->n_children) continue;
        if (!ft_map_get(&uses, term, &count) || count < 2) continue;
        ft_strbuf_puts(p->out, "(let ((");
        print_bound(p, lets);
        ft_strbuf_puts(p->out, " ");
        print_tree(p, term);
        ft_strbuf_puts(p->out, ")) ");
        ft_map_put(&p->bound, term, lets++);
    }
    print_tree(p, root);
    while (lets-- > 0) ft_strbuf_puts(p->out, ")");
    ft_map_release(&p->bound);
    ft_map_release(&uses);
    ft_vec_release(&list);
}

void ft_term_print(const ft_term_pool *pool, ft_term term, const ft_scope *scope, ft_strbuf *out)
{
    enum { PLAIN = 256 }; /* nodes; people read terms without let */
    FT_REQUIRE(term != FT_NO_TERM && scope && scope->name && out);
    printing p = {.pool = pool, .scope = scope, .out = out};
    if (ft_pool_at(pool, term)->size <= PLAIN)
        print_tree(&p, term);
    else
        print_shared(&p, term);
}
