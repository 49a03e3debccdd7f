#include <stdio.h>
#include <stdlib.h>
static int depth(int n)
{
    static int calls;
    calls++;
    return n ? 1 + depth(n - 1) : calls;
}
static int state(const char *s)
{
    int n = 0;
    for (;; s++) switch (*s) {
        case 'a':
            n += 1; /* falls through */
        case 'b':
            n *= 2;
            break;
        case 'c':
            if (n > 10) goto out;
            continue;
        case '\0':
            return n;
        default:
            n--;
        }
out:
    return -n;
}
static int add(int a, int b)
{
    return a + b;
}
static int sub(int a, int b)
{
    return a - b;
}
static int (*const ops[])(int, int) = {add, sub};
static int fold(int (*f)(int, int), const int *v, int n)
{
    int r = v[0];
    for (int i = 1; i < n; i++) r = f(r, v[i]);
    return r;
}
static int sum_to(int n)
{
    int v[n + 1], s = 0;
    for (int i = 0; i <= n; i++) v[i] = i * i;
    for (int i = n; i >= 0; i--) s += v[i];
    return s;
}
static int compare(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}
int main(int argc, char **argv)
{
    int v[] = {9, 2, 7, 7, -4, 0}, key = 7;
    (void)argv;
    printf("%d %d %d %d\n", depth(6), state("abxxab"), state("aabbbc"), argc > 50);
    printf("%d %d %d\n", fold(ops[0], v, 6), fold(ops[1], v, 6), sum_to(10));
    qsort(v, 6, sizeof *v, compare);
    for (int i = 0; i < 6; i++) printf("%d,", v[i]);
    int *found = bsearch(&key, v, 6, sizeof *v, compare);
    printf(" %d\n", found ? *found : -1);
    unsigned n = 0;
    do {
        if (n == 4) continue;
        if (n > 12) break;
        n += 2;
    } while (++n < 20);
    printf("%u\n", n);
    for (int i = 0, j = 10; i < j; i += 3, j--) printf("%d%d ", i, j);
    puts("");
    exit(argc > 50 ? 1 : 42);
}
