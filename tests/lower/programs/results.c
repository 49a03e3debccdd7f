/* Structs that functions give back in registers, by pointer too, and comparisons of addresses. */
#include <stdint.h>
#include <stdio.h>

typedef struct pair {
    long first, second;
} pair;
typedef struct mixed {
    int count;
    double sum;
} mixed;
typedef struct floats {
    float x, y, z;
} floats;
typedef struct fields {
    unsigned a : 20, b : 20, c : 30;
    long d : 40;
} fields;
typedef struct chars {
    char text[11];
} chars;
typedef struct nested {
    struct {
        short low, high;
    } part[2];
    struct nested *next;
} nested;
typedef struct large {
    long all[3];
} large;

static pair swapped(pair p)
{
    pair r = {p.second, p.first};
    return r;
}
static pair counted(int n, pair p)
{
    if (n == 0) return p;
    p.first += n;
    return counted(n - 1, swapped(p));
}
static mixed add(mixed m, double d)
{
    m.count++;
    m.sum += d;
    return m;
}
static floats scaled(floats f, float by)
{
    floats r = {f.x * by, f.y * by, f.z * by};
    return r;
}
static fields changed(fields f)
{
    f.a++;
    f.b = f.a + f.c;
    f.d = -f.d;
    return f;
}
static chars spelled(int n)
{
    chars c = {"abcdefghij"};
    c.text[n] = '\0';
    return c;
}
static nested linked(nested *next, short by)
{
    nested n = {{{by, 2}, {3, (short)-by}}, next};
    return n;
}
static large wide(long n)
{
    large l = {{n, n * n, n * n * n}};
    return l;
}
static pair by_pointer(pair (*of)(pair), long n)
{
    pair p = {n, n + 1};
    return of(p);
}

static int numbers[9];
static int *const places[] = {&numbers[6], &numbers[8]};
static char other;

int main(void)
{
    pair p = {1, 2};
    for (int i = 0; i < 1000; i++) p = swapped(swapped(swapped(p)));
    printf("%ld %ld\n", p.first, p.second);
    p = counted(9, p);
    printf("%ld %ld\n", p.first, p.second);
    printf("%ld %ld\n", by_pointer(swapped, 5).first, by_pointer(swapped, 5).second);
    mixed m = {0, 0};
    for (int i = 1; i < 5; i++) m = add(m, i / 4.0);
    printf("%d %.3f\n", m.count, m.sum);
    floats f = scaled(scaled((floats){1, 2, 3}, 2), 0.25f);
    printf("%.2f %.2f %.2f\n", f.x, f.y, f.z);
    fields b = changed((fields){(1 << 20) - 1, 5, 7, 99});
    printf("%u %u %u %ld\n", b.a, b.b, b.c, (long)b.d);
    printf("%s %s\n", spelled(3).text, spelled(10).text);
    nested one = linked(NULL, 4), two = linked(&one, 5);
    printf("%d %d %d\n", two.next->part[0].low, two.part[1].high, two.next->part[1].high);
    printf("%ld\n", wide(7).all[2]);
    printf("%d %d %d %d %d\n", &numbers[6] != &numbers[8], places[0] < places[1],
           (void *)&numbers[1] == (void *)&other, &numbers[2] == NULL,
           (void *)&other != (void *)&numbers[3]);
    return (int)swapped(p).first & 63;
}
