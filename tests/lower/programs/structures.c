#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct flags {
    unsigned a : 3, b : 7;
    int c : 5;
    unsigned d : 1;
};
union number {
    unsigned u;
    float f;
    unsigned char bytes[4];
};
struct node {
    struct node *next;
    int value;
    char name[6];
};
struct point {
    int x, y;
    double weight;
};
static struct node *push(struct node *list, int value)
{
    struct node *n = malloc(sizeof *n);
    n->next = list;
    n->value = value;
    snprintf(n->name, sizeof n->name, "n%d", value);
    return n;
}
static struct node *reverse(struct node *l)
{
    struct node *r = NULL;
    while (l) {
        struct node *n = l->next;
        l->next = r;
        r = l;
        l = n;
    }
    return r;
}
static void move(struct point *p, struct point by)
{
    p->x += by.x;
    p->y += by.y;
    p->weight *= by.weight;
}
static int table[2][3][2] = {{{1, 2}, {3, 4}, {5, 6}}, {{7, 8}, {9, 10}, {11, 12}}};
static const char *const names[] = {"zero", "one", "two"};
static struct {
    const char *name;
    int (*call)(const char *, const char *);
} calls[] = {{"equal", strcmp}};
int main(void)
{
    struct flags f = {5, 100, -9, 1};
    f.b += 30;
    f.c++;
    printf("%u %u %d %u %zu\n", f.a, f.b, f.c, f.d, sizeof f);
    union number n = {.f = 1.5f};
    printf("%08x %02x\n", n.u, n.bytes[3]);
    struct node *l = NULL;
    for (int i = 0; i < 5; i++) l = push(l, i * i);
    for (struct node *p = reverse(l); p;) {
        struct node *next = p->next;
        printf("%s=%d ", p->name, p->value);
        free(p);
        p = next;
    }
    struct point p = {1, 2, 0.5}, q = p;
    move(&q, (struct point){10, 20, 4});
    printf("\n%d %d %.2f %d\n", q.x, q.y, q.weight, p.x);
    int sum = 0;
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 3; j++)
            for (int k = 0; k < 2; k++) sum = sum * 3 + table[i][j][k];
    printf("%d %s %d %zu\n", sum, names[2], calls[0].call("a", "b") < 0,
           offsetof(struct node, name));
    struct point copies[3];
    memset(copies, 0, sizeof copies);
    copies[1] = q;
    memcpy(&copies[2], &copies[1], sizeof q);
    printf("%d\n", copies[2].y + copies[0].y);
    return 3;
}
