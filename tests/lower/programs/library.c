/* Functions of the C library whose results do not depend on where the program runs. */
#define _GNU_SOURCE
#include <errno.h>
#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <threads.h>
#include <unistd.h>

static const double values[] = {0.0,
                                -0.0,
                                0.3,
                                -0.5,
                                0.5,
                                1.0,
                                -1.5,
                                2.5,
                                3.0,
                                1e-310,
                                5e-324,
                                1e15,
                                1e16,
                                -1e300,
                                7.25,
                                1234.5678,
                                2e-16,
                                0x1p52,
                                0.49999999999999994,
                                0x1.fffffffffffffp1023};
enum { VALUES = sizeof values / sizeof *values };

/* A user's function wins over the model of that name. */
long random(void)
{
    return 4;
}

static void print_bits(double x)
{
    unsigned long b;
    memcpy(&b, &x, sizeof b);
    printf(" %lx", b);
}

static void of_math(void)
{
    for (int i = 0; i < VALUES; i++) {
        double x = values[i];
        print_bits(trunc(x));
        print_bits(floor(x));
        print_bits(ceil(x));
        print_bits(round(x));
        print_bits(fabs(x));
        print_bits(sqrt(fabs(x)));
        print_bits((double)sqrtf((float)fabs(x)));
        for (int k = 0; k < VALUES; k++) {
            if (values[k] != 0) print_bits(fmod(x, values[k]));
            print_bits(copysign(x, values[k]));
            if (x != values[k]) print_bits(fmin(x, values[k]) + fmax(x, values[k]));
        }
        puts("");
    }
    printf("%d %d\n", isnan(sqrt(-1.0)) != 0, isnan(fmod(1.0, values[0])) != 0);
}

static tss_t key;
static atomic_int flag;
static int seen;

static int worker(void *p)
{
    tss_set(key, p);
    seen = *(int *)tss_get(key);
    atomic_thread_fence(memory_order_release);
    atomic_signal_fence(memory_order_seq_cst);
    atomic_store_explicit(&flag, 1, memory_order_relaxed);
    __sync_synchronize();
    return 0;
}

static void show_scans(void)
{
    unsigned long most = 1;
    int a = 1, b = 2;
    char padded[8];
    printf("%d\n", sscanf("18446744073709551615", "%lu", &most));
    printf("%d\n", sscanf("5 %6", "%d%%%d", &a, &b));
    printf("%lu %d %d\n", most, a, b);
    printf("%d %d %d\n", sscanf("", "a%d", &a), sscanf("b", "a%d", &a), sscanf("a", "a%d", &a));
    printf("%d\n", snprintf(padded, sizeof padded, "%3c%-2c", 0, 'x'));
    printf("%d\n", fputc(300, stdout));
    printf("%zu\n", fwrite(padded, 0, 3, stdout));
}

static void show_numbers(void)
{
    static const char *const TEXTS[] = {
        "18446744073709551615", "18446744073709551616",  "-18446744073709551616",
        "9223372036854775807",  "9223372036854775808",   "-9223372036854775808",
        "-9223372036854775809", "99999999999999999999x", "-0x1ffffffffffffffff"};
    for (size_t i = 0; i < sizeof TEXTS / sizeof *TEXTS; i++)
        for (int base = 0; base < 40; base += base ? 6 : 10) {
            char *end;
            if (base > 36) continue;
            errno = 0;
            long number = strtol(TEXTS[i], &end, base);
            printf("%ld %d %d ", number, errno, *end);
            errno = 0;
            printf("%lu ", strtoul(TEXTS[i], NULL, base));
            printf("%d\n", errno);
        }
}

int main(void)
{
    show_scans();
    show_numbers();
    of_math();
    char list[] = "a,bc;;d", *at = list, *token;
    while ((token = strsep(&at, ",;"))) printf("[%s]", token);
    char *copy = strndup("abcdef", 4);
    printf("%s %zu\n", copy, strlen(copy));
    bcopy(copy, copy + 1, 3);
    bzero(copy + 3, 1);
    int *more = reallocarray(NULL, 3, sizeof *more);
    more[2] = 5;
    printf("%s %d %d %ld\n", copy, more[2], reallocarray(NULL, 1ul << 63, 4) == NULL, random());
    printf("%d\n", calloc(1ul << 63, 4) == NULL);
    pthread_attr_t a;
    pthread_condattr_t c;
    printf("%d%d%d\n", pthread_attr_init(&a), pthread_attr_setstacksize(&a, 1 << 20),
           pthread_condattr_init(&c));
    thrd_t t;
    int n = 7;
    printf("%d\n", tss_create(&key, NULL) == thrd_success);
    thrd_create(&t, worker, &n);
    thrd_join(t, NULL);
    printf("%d %d\n", seen, atomic_load(&flag));
    printf("%s %s %d\n", setlocale(LC_ALL, NULL), setlocale(LC_ALL, "C"),
           setlocale(LC_ALL, "no such locale") == NULL);
    fflush(stdout);
    return (int)write(1, "written\n", 8);
}
