/* Functions with a variable number of arguments, of the program's own. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static double sum(const char *kinds, ...)
{
    va_list all;
    double s = 0;
    va_start(all, kinds);
    for (; *kinds; kinds++) switch (*kinds) {
        case 'i':
            s += va_arg(all, int);
            break;
        case 'l':
            s += (double)va_arg(all, long);
            break;
        case 'd':
            s += va_arg(all, double);
            break;
        case 's':
            s += (double)strlen(va_arg(all, const char *));
            break;
        default:
            s += *va_arg(all, int *);
        }
    va_end(all);
    return s;
}

static int twice(char *to, size_t most, const char *format, ...)
{
    va_list all, again;
    va_start(all, format);
    va_copy(again, all);
    int n = vsnprintf(to, most, format, all);
    vprintf(format, again);
    va_end(again);
    va_end(all);
    return n;
}

typedef struct pair {
    int a, b;
    long c;
} pair;

static long pairs(int n, ...)
{
    va_list all;
    long s = 0;
    va_start(all, n);
    for (int i = 0; i < n; i++) {
        pair p = va_arg(all, pair);
        s = s * 10 + p.a + p.b + p.c;
    }
    va_end(all);
    return s;
}

int main(void)
{
    char text[32];
    int there = 40;
    double (*by_address)(const char *, ...) = sum;
    printf("%.2f\n", sum("ildspiiiiiiii", 1, 2L, 0.5, "four", &there, 1, 2, 3, 4, 5, 6, 7, 8));
    printf("%.2f %.2f\n", by_address(""),
           by_address("dddddddddd", 1., 2., 3., 4., 5., 6., 7., 8., 9., 10.));
    printf(" %d %s\n", twice(text, sizeof text, "%d-%s-%c|", 7, "seven", 'c'), text);
    printf("%ld\n", pairs(2, (pair){1, 2, 3}, (pair){4, 5, 6}));
    return 0;
}
