/* The parts of std::map, std::set and std::list that are in the library of libstdc++. A tree is not
 * balanced: the order of its elements, and what points at them, are the same. */
#include <stddef.h>

#include "foretell.h"

/* The header is no element: its parent is the root (or NULL), left and right are the first and the
 * last element. It is red, and elements are black: that tells it from the root, whose parent it is.
 */
typedef struct node node;
struct node {
    int black;
    node *parent, *left, *right;
};

static node *leftmost(node *x)
{
    while (x->left) x = x->left;
    return x;
}

static node *rightmost(node *x)
{
    while (x->right) x = x->right;
    return x;
}

static node *next(node *x)
{
    if (x->right) return leftmost(x->right);
    node *up = x->parent;
    while (x == up->right) x = up, up = up->parent;
    return x->right == up ? x : up; /* of a root without a right side: the header */
}

static node *previous(node *x)
{
    if (!x->black && x->parent->parent == x) return x->right;
    if (x->left) return rightmost(x->left);
    node *up = x->parent;
    while (x == up->left) x = up, up = up->parent;
    return up;
}

static void link(_Bool left, node *x, node *up, node *header)
{
    x->black = 1;
    x->parent = up;
    x->left = x->right = NULL;
    if (up == header) header->parent = header->left = header->right = x;
    if (left) {
        up->left = x;
        if (up == header->left) header->left = x;
    } else {
        up->right = x;
        if (up == header->right) header->right = x;
    }
}

/* The child takes the node's place. */
static void replace(node *x, node *by, node *header)
{
    if (header->parent == x)
        header->parent = by;
    else if (x->parent->left == x)
        x->parent->left = by;
    else
        x->parent->right = by;
    if (by) by->parent = x->parent;
}

static node *take_out(node *x, node *header)
{
    if (header->left == x) header->left = x->right ? leftmost(x->right) : x->parent;
    if (header->right == x) header->right = x->left ? rightmost(x->left) : x->parent;
    if (!x->left || !x->right) {
        replace(x, x->left ? x->left : x->right, header);
        return x;
    }
    node *heir = leftmost(x->right);
    if (heir->parent != x) {
        replace(heir, heir->right, header);
        heir->right = x->right;
        heir->right->parent = heir;
    }
    replace(x, heir, header);
    heir->left = x->left;
    heir->left->parent = heir;
    return x;
}

/* ---- std::list: a ring of nodes */

typedef struct item item;
struct item {
    item *next, *before;
};

static void hook(item *x, item *at)
{
    x->next = at;
    x->before = at->before;
    at->before->next = x;
    at->before = x;
}

static void unhook(item *x)
{
    x->before->next = x->next;
    x->next->before = x->before;
}

/* Those from `first` up to `last` go before `at`. */
static void transfer(item *at, item *first, item *last)
{
    if (at == last || first == last) return;
    item *end = last->before;
    first->before->next = last;
    last->before = first->before;
    item *before = at->before;
    before->next = first;
    first->before = before;
    end->next = at;
    at->before = end;
}

static void reverse(item *x)
{
    item *at = x;
    do {
        item *next = at->next;
        at->next = at->before;
        at->before = next;
        at = next;
    } while (at != x);
}

/* Each ring keeps its place in memory, and gets the other one's items. */
static void exchange(item *a, item *b)
{
    item mark;
    hook(&mark, a);
    transfer(a, b->next, b);
    transfer(b, a->next, &mark);
    unhook(&mark);
}

/* clang-format off */

/* ---- under the names that the compiler gives to functions of C++ */
node *_ZSt18_Rb_tree_incrementPSt18_Rb_tree_node_base(node *x) { return next(x); }
node *_ZSt18_Rb_tree_incrementPKSt18_Rb_tree_node_base(node *x) { return next(x); }
node *_ZSt18_Rb_tree_decrementPSt18_Rb_tree_node_base(node *x) { return previous(x); }
node *_ZSt18_Rb_tree_decrementPKSt18_Rb_tree_node_base(node *x) { return previous(x); }
void _ZSt29_Rb_tree_insert_and_rebalancebPSt18_Rb_tree_node_baseS0_RS_(_Bool left, node *x, node *up, node *header) { link(left, x, up, header); }
node *_ZSt28_Rb_tree_rebalance_for_erasePSt18_Rb_tree_node_baseRS_(node *x, node *header) { return take_out(x, header); }
void _ZNSt8__detail15_List_node_base7_M_hookEPS0_(item *x, item *at) { hook(x, at); }
void _ZNSt8__detail15_List_node_base9_M_unhookEv(item *x) { unhook(x); }
void _ZNSt8__detail15_List_node_base11_M_transferEPS0_S1_(item *at, item *first, item *last) { transfer(at, first, last); }
void _ZNSt8__detail15_List_node_base10_M_reverseEv(item *x) { reverse(x); }
void _ZNSt8__detail15_List_node_base4swapERS0_S1_(item *a, item *b) { exchange(a, b); }
