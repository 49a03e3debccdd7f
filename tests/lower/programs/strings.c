#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(void)
{
    char text[64] = "The Quick brown Fox", other[64], *p;
    int up = 0, digits = 0;
    for (p = text; *p; p++) {
        if (isupper((unsigned char)*p)) up++;
        if (isspace((unsigned char)*p)) digits++;
    }
    printf("%zu %d %d %s\n", strlen(text), up, digits, strchr(text, 'Q'));
    strcpy(other, text);
    strcat(other, "!");
    for (p = other; *p; p++) *p = (char)toupper((unsigned char)*p);
    printf("%s %d %d %d\n", other, strcmp("abc", "abd") < 0, strncmp("abcd", "abce", 3),
           memcmp("a", "b", 1) < 0);
    printf("[%5d|%-5d|%05d|%+d|% d]\n", 42, 42, 42, 42, 42);
    printf("[%x|%X|%#x|%o|%8.3x]\n", 255, 255, 255, 8, 5);
    printf("[%#o|%#o|%#.0o|%#.5o|%#08o|%#6.1o|%.0o]\n", 0, 8, 0, 8, 8, 8, 0);
    printf("[%s|%10s|%-10s|%.2s|%c|%%]\n", "abc", "abc", "abc", "abc", 'z');
    printf("[%ld|%lu|%hhd|%hu|%zu]\n", -5L, 5UL, 300, 70000, (size_t)7);
    printf("[%.3f|%8.2f|%-8.1f|%.0f]\n", 3.14159, -2.5, 1.25, 7.0);
    printf("[%*d|%.*s]\n", 6, 12, 2, "xyz");
    char *d = strdup("dup");
    d[0] = 'D';
    printf("%s %s %s\n", d, strstr("hello world", "wor"), strrchr("a/b/c", '/'));
    free(d);
    printf("%d %ld %lu %d\n", atoi(" -12x"), strtol("0x1f", NULL, 0), strtoul("777", NULL, 8),
           abs(-3));
    int n = snprintf(other, 6, "%s-%d", "overflow", 5);
    printf("%d %s\n", n, other);
    sprintf(other, "%c%c", 'o', 'k');
    puts(other);
    void *nothing = NULL;
    char *volatile none = NULL;
    printf("%p %8p|%-8p|%.3s|%.7s|\n", nothing, nothing, nothing, none, none);
    int *v = calloc(4, sizeof *v);
    v[3] = 9;
    v = realloc(v, 8 * sizeof *v);
    printf("%d %d\n", v[3], v[0]);
    free(v);
    fprintf(stdout, "%s", "done\n");
    putchar('.');
    fputs("end\n", stdout);
    return isdigit('7') ? 0 : 1;
}
