#include <limits.h>
#include <stdio.h>
int main(void)
{
    unsigned v[] = {0u + 1, 6, 0x80000000u, 0xffffffffu, 12345};
    for (int i = 0; i < 5; i++)
        printf("%d %d %d %x %d %d\n", __builtin_clz(v[i]), __builtin_ctz(v[i]),
               __builtin_popcount(v[i]), __builtin_bswap32(v[i]), __builtin_ffs((int)v[i]),
               __builtin_parity(v[i]));
    for (int i = 0; i < 5; i++) {
        unsigned long w = (unsigned long)v[i] << 20 | 1;
        printf("%d %d %d %lx\n", __builtin_clzl(w), __builtin_ctzl(w), __builtin_popcountl(w),
               __builtin_bswap64(w));
    }
    int a[] = {INT_MAX, INT_MIN, -1, 0, 1, 2, 46341, -46341, 65536};
    long b[] = {LONG_MAX, LONG_MIN, -1, 0, 1, 2, 3037000500L, -3037000500L, 1L << 32};
    for (int i = 0; i < 9; i++)
        for (int j = 0; j < 9; j++) {
            int r;
            unsigned u;
            long s;
            unsigned long t;
            short h;
            printf("%d", __builtin_add_overflow(a[i], a[j], &r));
            printf("%d ", r);
            printf("%d", __builtin_sub_overflow(a[i], a[j], &r));
            printf("%d ", r);
            printf("%d", __builtin_mul_overflow(a[i], a[j], &r));
            printf("%d ", r);
            printf("%d", __builtin_add_overflow((unsigned)a[i], (unsigned)a[j], &u));
            printf("%u ", u);
            printf("%d", __builtin_sub_overflow((unsigned)a[i], (unsigned)a[j], &u));
            printf("%u ", u);
            printf("%d", __builtin_mul_overflow((unsigned)a[i], (unsigned)a[j], &u));
            printf("%u ", u);
            printf("%d", __builtin_add_overflow(b[i], b[j], &s));
            printf("%ld ", s);
            printf("%d", __builtin_sub_overflow(b[i], b[j], &s));
            printf("%ld ", s);
            printf("%d", __builtin_mul_overflow(b[i], b[j], &s));
            printf("%ld ", s);
            printf("%d", __builtin_add_overflow((unsigned long)b[i], (unsigned long)b[j], &t));
            printf("%lu ", t);
            printf("%d", __builtin_sub_overflow((unsigned long)b[i], (unsigned long)b[j], &t));
            printf("%lu ", t);
            printf("%d", __builtin_mul_overflow((unsigned long)b[i], (unsigned long)b[j], &t));
            printf("%lu ", t);
            printf("%d", __builtin_add_overflow((short)a[i], (short)a[j], &h));
            printf("%d\n", h);
        }
    return 0;
}
