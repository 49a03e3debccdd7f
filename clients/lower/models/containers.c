/* The parts of std::map, std::set, std::list and of the hash tables that are in the library of
 * libstdc++. A tree is not balanced: the order of its elements, and what points at them, are the
 * same. A hash table has other numbers of buckets, and so another order of its elements. */
#include <stddef.h>
#include <string.h>

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

/* ---- hash tables: when to have how many buckets */

typedef struct policy {
    float most;  /* elements of a bucket, on average */
    size_t next; /* so many elements want more buckets */
} policy;

typedef struct answer {
    unsigned char more;
    size_t buckets;
} answer;

enum { FIRST = 11 };

/* How many of `count` there are to a bucket, or back; exact for the usual average of 1. */
static size_t times(size_t count, float by)
{
    return by == 1 ? count : (size_t)((double)count * by);
}

/* An odd number, which need not be a prime. */
static size_t buckets_for(policy *p, size_t least)
{
    size_t n = least < 2 ? 2 : least | 1;
    p->next = times(n, p->most);
    return n;
}

static answer rehash(policy *p, size_t buckets, size_t elements, size_t added)
{
    size_t all = elements + added;
    if (all <= p->next) return (answer){0, 0};
    size_t wanted = !p->next && all < FIRST ? FIRST : all;
    size_t least = times(wanted, 1 / p->most);
    if (least < buckets) {
        p->next = times(buckets, p->most);
        return (answer){0, 0};
    }
    return (answer){1, buckets_for(p, least + 1 > 2 * buckets ? least + 1 : 2 * buckets)};
}

/* MurmurHash64A, as std::hash of a std::string gives it. */
static size_t hash(const unsigned char *bytes, size_t n, size_t seed)
{
    static const size_t FACTOR = 0xc6a4a7935bd1e995;
    enum { SHIFT = 47, WORD = 8 };
    size_t h = seed ^ n * FACTOR, left = n % WORD, word;
    for (size_t at = 0; at + WORD <= n; at += WORD) {
        memcpy(&word, bytes + at, WORD);
        word *= FACTOR;
        word ^= word >> SHIFT;
        h = (h ^ word * FACTOR) * FACTOR;
    }
    if (left) {
        word = 0;
        for (size_t i = 0; i < left; i++) word |= (size_t)bytes[n - left + i] << 8 * i;
        h = (h ^ word) * FACTOR;
    }
    h = (h ^ h >> SHIFT) * FACTOR;
    return h ^ h >> SHIFT;
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
size_t _ZNKSt8__detail20_Prime_rehash_policy11_M_next_bktEm(policy *p, size_t least) { return buckets_for(p, least); }
answer _ZNKSt8__detail20_Prime_rehash_policy14_M_need_rehashEmmm(policy *p, size_t buckets, size_t elements, size_t added) { return rehash(p, buckets, elements, added); }
size_t _ZSt11_Hash_bytesPKvmm(const void *bytes, size_t n, size_t seed) { return hash(bytes, n, seed); }
