#include <stdio.h>
static double newton(double x)
{
    double r = x;
    for (int i = 0; i < 30; i++) r = (r + x / r) / 2;
    return r;
}
static float mix(float a, int n)
{
    for (int i = 1; i <= n; i++) a = a * 0.75f + (float)i;
    return a;
}
int main(void)
{
    double z = 0.0, inf = 1.0 / z, nan = z / z;
    float f = 16777217.0f;
    printf("%.6f %.6f %.1f\n", newton(2), newton(1e6), (double)f);
    printf("%.5f %d %d %u\n", (double)mix(1.5f, 12), (int)-3.99, (long)2.5e9f == 2500000000L,
           (unsigned)3e9);
    printf("%d%d%d%d%d%d\n", nan == nan, nan != nan, inf > 1e308, -inf < z, 1.0 <= 1.0, !(nan < 1));
    long big = 1L << 60;
    printf("%d %d\n", (double)big == 1152921504606846976.0, (long)(double)(big + 1) == big);
    double sum = 0;
    for (int i = 1; i <= 1000; i++) sum += 1.0 / i / i;
    printf("%.9f %.3f\n", sum, -sum);
    unsigned char c = (unsigned char)200.7;
    printf("%d %.2f\n", c, (double)((float)c / 3));
    static const double all[] = {0.0,
                                 -0.0,
                                 0.5,
                                 1.5,
                                 2.5,
                                 9.995,
                                 1e5,
                                 999999.5,
                                 1e-4,
                                 1e22,
                                 1e23,
                                 5e-324,
                                 1.0 / 3,
                                 -123456.5,
                                 9e15,
                                 9.9995e-5,
                                 1.7976931348623157e308,
                                 2.2250738585072014e-308,
                                 0.1,
                                 1e-300};
    for (unsigned i = 0; i < sizeof all / sizeof *all; i++)
        printf("%f %.0f %.17f|%e %.0e %+.3E|%g %.3g %.17g %-12.9G|%012.2f|% 9.1e|%#.0f %#.0e\n",
               all[i], all[i], all[i], all[i], all[i], all[i], all[i], all[i], all[i], all[i],
               all[i], all[i], all[i], all[i]);
    printf("%f %5.1F %08e %-6g| %G %E\n", inf, -inf, inf, -inf, inf, inf);
    return (int)(newton(81) + 0.5);
}
