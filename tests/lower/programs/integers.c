#include <limits.h>
#include <stdint.h>
#include <stdio.h>
static unsigned hash(const char *s)
{
    unsigned h = 5381;
    while (*s) h = h * 33 ^ (unsigned char)*s++;
    return h;
}
static long power(long b, unsigned e)
{
    return e ? b * power(b, e - 1) : 1;
}
static int collatz(unsigned n)
{
    int steps = 0;
    while (n != 1) {
        n = n & 1 ? 3 * n + 1 : n / 2;
        steps++;
    }
    return steps;
}
int main(void)
{
    signed char c = -128;
    unsigned char u = 200;
    short s = (short)40000;
    int64_t big = INT64_MAX;
    printf("%d %d %d %d\n", c, u, s, -7 / 2);
    printf("%d %d %u\n", -7 % 3, -7 >> 1, (unsigned)-7 >> 28);
    printf("%ld %lx %lu\n", (long)big, (unsigned long)INT64_MIN, (unsigned long)UINT64_MAX);
    printf("%u %ld %d\n", hash("concurrency"), power(-3, 13), collatz(27));
    u += 100;
    c--;
    printf("%d %d\n", u, c);
    for (int i = 0; i < 32; i += 5) printf("%08x ", (1u << i) ^ (0x80000000u >> i));
    unsigned long x = 0x123456789abcdefUL;
    x = x << 13 | x >> 51;
    x *= 0x9e3779b97f4a7c15UL;
    printf("\n%016lx %d %d\n", x, x > 5 && x < 3, !x || ~x);
    int i = 5;
    i += 3;
    i ^= 3;
    printf("%d %d\n", i & 0xff, i ? 1 : 0);
    _Bool b = 17;
    enum { A = 3, B } e = B;
    printf("%d %d %zu\n", b, e, sizeof(long double) + sizeof e);
    return (int)(power(2, 6) & 0x7f);
}
