/* Parts of C++ containers that lie in libstdc++, where nothing calls the recorder: the balanced
 * tree of map and set, the links of list, and the growth of unordered containers. This file is
 * compiled with hooks, as the program is, so their accesses are recorded like those of the rest of
 * the container, which is in headers. Names and layouts are part of libstdc++'s binary interface
 * (bits/stl_tree.h, bits/stl_list.h, bits/hashtable_policy.h); the algorithms are Cormen et al.,
 * Introduction to Algorithms, ch. 13. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- map, set: a header whose parent is the root, whose children are the first and the last node
 */

enum { RED, BLACK };
enum { LEFT, RIGHT };

typedef struct node {
    int color;
    struct node *parent;
    struct node *child[2];
} node;

node *ft_tree_next(const node *x) __asm__("_ZSt18_Rb_tree_incrementPKSt18_Rb_tree_node_base");
node *ft_tree_next_changing(node *x) __asm__("_ZSt18_Rb_tree_incrementPSt18_Rb_tree_node_base");
node *ft_tree_before(const node *x) __asm__("_ZSt18_Rb_tree_decrementPKSt18_Rb_tree_node_base");
node *ft_tree_before_changing(node *x) __asm__("_ZSt18_Rb_tree_decrementPSt18_Rb_tree_node_base");
void ft_tree_insert(bool left, node *x, node *parent, node *header) __asm__(
    "_ZSt29_Rb_tree_insert_and_rebalancebPSt18_Rb_tree_node_baseS0_RS_");
node *
ft_tree_erase(node *z,
              node *header) __asm__("_ZSt28_Rb_tree_rebalance_for_erasePSt18_Rb_tree_node_baseRS_");

static node *outermost(node *x, int side)
{
    while (x->child[side]) x = x->child[side];
    return x;
}

/* The neighbour in order. The header stands behind the last node. */
static node *neighbour(const node *at, int side)
{
    node *x = (node *)(uintptr_t)at;
    if (x->child[side]) return outermost(x->child[side], !side);
    node *y = x->parent;
    for (; x == y->child[side]; y = y->parent) x = y;
    return x->child[side] != y || side == LEFT ? y : x;
}

node *ft_tree_next(const node *x)
{
    return neighbour(x, RIGHT);
}

node *ft_tree_next_changing(node *x)
{
    return neighbour(x, RIGHT);
}

node *ft_tree_before(const node *x)
{
    bool is_header = x->color == RED && x->parent && x->parent->parent == x;
    return is_header ? x->child[RIGHT] : neighbour(x, LEFT);
}

node *ft_tree_before_changing(node *x)
{
    return ft_tree_before(x);
}

/* `x` comes to where `old` hangs. */
static void hang(node *header, const node *old, node *parent, node *x)
{
    if (header->parent == old)
        header->parent = x;
    else
        parent->child[parent->child[RIGHT] == old] = x;
}

static void rotate(node *header, node *x, int side)
{
    node *y = x->child[!side];
    x->child[!side] = y->child[side];
    if (y->child[side]) y->child[side]->parent = x;
    y->parent = x->parent;
    hang(header, x, x->parent, y);
    y->child[side] = x;
    x->parent = y;
}

static void link_node(int side, node *x, node *parent, node *header)
{
    x->parent = parent;
    x->child[LEFT] = x->child[RIGHT] = NULL;
    x->color = RED;
    if (parent == header) {
        header->parent = header->child[LEFT] = header->child[RIGHT] = x;
        return;
    }
    parent->child[side] = x;
    if (header->child[side] == parent) header->child[side] = x;
}

void ft_tree_insert(bool left, node *x, node *parent, node *header)
{
    link_node(left ? LEFT : RIGHT, x, parent, header);
    while (x != header->parent && x->parent->color == RED) {
        node *above = x->parent->parent;
        int side = above->child[RIGHT] == x->parent;
        node *uncle = above->child[!side];
        if (uncle && uncle->color == RED) {
            x->parent->color = uncle->color = BLACK;
            above->color = RED;
            x = above;
            continue;
        }
        if (x == x->parent->child[!side]) {
            x = x->parent;
            rotate(header, x, side);
        }
        x->parent->color = BLACK;
        above->color = RED;
        rotate(header, above, !side);
    }
    header->parent->color = BLACK;
}

static bool is_black(const node *x)
{
    return !x || x->color == BLACK;
}

/* One black node is missing on the way to `x`. */
static void mend(node *header, node *x, node *parent)
{
    while (x != header->parent && is_black(x)) {
        int side = x != parent->child[LEFT];
        node *sibling = parent->child[!side];
        if (sibling->color == RED) {
            sibling->color = BLACK;
            parent->color = RED;
            rotate(header, parent, side);
            sibling = parent->child[!side];
        }
        if (is_black(sibling->child[LEFT]) && is_black(sibling->child[RIGHT])) {
            sibling->color = RED;
            x = parent;
            parent = parent->parent;
            continue;
        }
        if (is_black(sibling->child[!side])) {
            sibling->child[side]->color = BLACK;
            sibling->color = RED;
            rotate(header, sibling, !side);
            sibling = parent->child[!side];
        }
        sibling->color = parent->color;
        parent->color = BLACK;
        if (sibling->child[!side]) sibling->child[!side]->color = BLACK;
        rotate(header, parent, side);
        break;
    }
    if (x) x->color = BLACK;
}

/* `z`, with one child at most, goes; that child comes to its place. */
static void unlink_node(node *header, node *z, node *x)
{
    if (x) x->parent = z->parent;
    hang(header, z, z->parent, x);
    for (int side = LEFT; side <= RIGHT; side++)
        if (header->child[side] == z) header->child[side] = x ? outermost(x, side) : z->parent;
}

/* `y`, the node behind `z` in order, comes to the place of `z`; the parent of what hung below `y`.
 */
static node *replace(node *header, node *z, node *y, node *x)
{
    node *parent = y;
    z->child[LEFT]->parent = y;
    y->child[LEFT] = z->child[LEFT];
    if (y != z->child[RIGHT]) {
        parent = y->parent;
        if (x) x->parent = parent;
        parent->child[LEFT] = x;
        y->child[RIGHT] = z->child[RIGHT];
        z->child[RIGHT]->parent = y;
    }
    hang(header, z, z->parent, y);
    y->parent = z->parent;
    return parent;
}

node *ft_tree_erase(node *z, node *header)
{
    bool both = z->child[LEFT] && z->child[RIGHT];
    node *y = both ? outermost(z->child[RIGHT], LEFT) : z;
    node *x = both ? y->child[RIGHT] : z->child[z->child[LEFT] ? LEFT : RIGHT];
    node *parent = z->parent;
    int gone = y->color;
    if (both) {
        parent = replace(header, z, y, x);
        y->color = z->color;
        z->color = gone;
    } else {
        unlink_node(header, z, x);
    }
    if (gone == BLACK) mend(header, x, parent);
    return z;
}

/* ---- list */

typedef struct links {
    struct links *next, *before;
} links;

void ft_list_hook(links *x,
                  links *position) __asm__("_ZNSt8__detail15_List_node_base7_M_hookEPS0_");
void ft_list_unhook(links *x) __asm__("_ZNSt8__detail15_List_node_base9_M_unhookEv");
void ft_list_transfer(links *to, links *first,
                      links *last) __asm__("_ZNSt8__detail15_List_node_base11_M_transferEPS0_S1_");
void ft_list_reverse(links *all) __asm__("_ZNSt8__detail15_List_node_base10_M_reverseEv");
void ft_list_swap(links *x, links *y) __asm__("_ZNSt8__detail15_List_node_base4swapERS0_S1_");

void ft_list_hook(links *x, links *position)
{
    x->next = position;
    x->before = position->before;
    position->before->next = x;
    position->before = x;
}

void ft_list_unhook(links *x)
{
    links *next = x->next, *before = x->before;
    before->next = next;
    next->before = before;
}

void ft_list_transfer(links *to, links *first, links *last)
{
    if (to == last) return;
    last->before->next = to;
    first->before->next = last;
    to->before->next = first;
    links *before = to->before;
    to->before = last->before;
    last->before = first->before;
    first->before = before;
}

void ft_list_reverse(links *all)
{
    links *at = all;
    do {
        links *next = at->next;
        at->next = at->before;
        at->before = next;
        at = next;
    } while (at != all);
}

/* The ring of `x` gets `y` as its head, which has none. */
static void give(links *x, links *y)
{
    y->next = x->next;
    y->before = x->before;
    y->next->before = y->before->next = y;
    x->next = x->before = x;
}

void ft_list_swap(links *x, links *y)
{
    if (x == y || (x->next == x && y->next == y)) return;
    if (y->next == y) {
        give(x, y);
    } else if (x->next == x) {
        give(y, x);
    } else {
        links old = *x;
        *x = *y;
        *y = old;
        x->next->before = x->before->next = x;
        y->next->before = y->before->next = y;
    }
}
