#include "request.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_one_of(const char *argument, const char *const *names)
{
    for (; *names; names++)
        if (!strcmp(argument, *names)) return true;
    return false;
}

/* ---- response files: words between spaces, with quotes and backslashes (GCC, @file) */

static char *content_of(const char *name)
{
    FILE *file = fopen(name, "r");
    char *text = NULL;
    size_t n = 0;
    if (!file) return NULL;
    if (getdelim(&text, &n, 0, file) < 0) {
        free(text);
        text = calloc(1, 1);
    }
    fclose(file);
    return text;
}

/* The next word, unquoted in its place; NULL: there is none. */
static char *next_word(char **at)
{
    char *from = *at, quote = 0;
    while (isspace((unsigned char)*from)) from++;
    if (!*from) return NULL;
    char *word = from, *to = from;
    for (; *from && (quote || !isspace((unsigned char)*from)); from++) {
        if (*from == '\\' && from[1]) {
            *to++ = *++from;
        } else if (quote ? *from == quote : *from == '\'' || *from == '"') {
            quote = quote ? 0 : *from;
        } else {
            *to++ = *from;
        }
    }
    *at = *from ? from + 1 : from;
    *to = 0;
    return word;
}

static void expand(ft_command *to, const char *argument, int depth)
{
    enum { DEEPEST = 16 };
    char *text = *argument == '@' && depth < DEEPEST ? content_of(argument + 1) : NULL;
    if (!text) ft_command_add(to, argument); /* gcc too takes it as it is then */
    for (char *at = text, *word; text && (word = next_word(&at));) expand(to, word, depth + 1);
}

ft_command ft_request_expand(int argc, char **argv)
{
    ft_command all = {0};
    for (int i = 1; i < argc; i++) expand(&all, argv[i], 0);
    return all;
}

/* ---- what it says */

static bool is_header(const char *name, const char *language)
{
    static const char *const endings[] = {".h",   ".hh", ".hpp", ".hxx", ".H",
                                          ".h++", ".hp", ".tcc", NULL};
    const char *ending = language ? strrchr(language, '-') : strrchr(name, '.');
    if (language) return ending && !strcmp(ending, "-header");
    return ending && is_one_of(ending, endings);
}

static bool is_assembler(const char *name, const char *language)
{
    static const char *const endings[] = {".s", ".S", ".sx", NULL};
    const char *ending = strrchr(name, '.');
    if (language) return !strncmp(language, "assembler", strlen("assembler"));
    return ending && is_one_of(ending, endings);
}

/* A word for the linker. -z defs has other names, and the last one counts. */
static void see_linker_word(ft_request *r, const char *word)
{
    static const char *const strict[] = {"--no-undefined", "-no-undefined", "defs", "-zdefs", NULL};
    static const char *const relocatable[] = {"-r", "-i", "-Ur", "--relocatable", NULL};
    if (is_one_of(word, strict)) r->strict = true;
    if (is_one_of(word, relocatable)) r->links = false;
}

static void see_linker_words(ft_request *r, const char *words)
{
    char *copy = strdup(words), *rest = copy;
    for (char *word; rest && (word = strsep(&rest, ","));) see_linker_word(r, word);
    free(copy);
}

/* The last one counts, and what is taken back is not there. */
static void see_sanitizer(ft_request *r, const char *argument)
{
    static const char with[] = "-fsanitize=", without[] = "-fno-sanitize=";
    if (!strncmp(argument, with, strlen(with)) && strcmp(argument + strlen(with), "thread") != 0)
        r->sanitizer = argument + strlen(with);
    if (!r->sanitizer || strncmp(argument, without, strlen(without)) != 0) return;
    const char *list = argument + strlen(without);
    if (!strcmp(list, "all") || !strcmp(list, r->sanitizer)) r->sanitizer = NULL;
}

static bool is_startup(const char *name)
{
    const char *slash = strrchr(name, '/'), *base = slash ? slash + 1 : name;
    const char *ending = strrchr(base, '.');
    return ending && !strcmp(ending, ".o") && strstr(base, "crt");
}

static void see_bareness(ft_request *r, const char *argument)
{
    static const char *const starts[] = {"-nostdlib", "--no-standard-libraries", "-nostartfiles",
                                         NULL};
    static const char *const libraries[] = {"-nostdlib", "--no-standard-libraries",
                                            "-nodefaultlibs", "-nolibc", NULL};
    if (is_one_of(argument, starts)) r->starts_itself = true;
    if (is_one_of(argument, libraries)) r->chosen_libraries = true;
}

static void see_option(ft_request *r, const char *argument)
{
    static const char *const others[] = {
        "-E",           "-M",        "-MM",       "--preprocess",          "-fsyntax-only", "-###",
        "--precompile", "--analyze", "-emit-ast", "-emit-interface-stubs", "-verify-pch",   NULL};
    static const char *const no_link[] = {"-c", "-S", "-r", "--compile", "--assemble", NULL};
    static const char *const narrow[] = {"-m32", "-mx32", "-m16", NULL};
    static const char *const fixed[] = {"-static", "--static", "-static-pie", NULL};
    if (is_one_of(argument, others)) r->other = true;
    if (r->other || is_one_of(argument, no_link)) r->links = false;
    if (!strcmp(argument, "-shared") || !strcmp(argument, "--shared")) r->shared = true;
    if (is_one_of(argument, fixed)) r->fixed = true;
    if (!strcmp(argument, "-static-libstdc++")) r->own_library = true;
    if (!strncmp(argument, "-masm=", 6)) r->dialect = true;
    if (!strncmp(argument, "-flto", 5)) r->lto = true;
    if (!strcmp(argument, "-fno-lto")) r->lto = false;
    if (is_one_of(argument, narrow)) r->narrow = true;
    if (!strcmp(argument, "-m64")) r->narrow = false;
    see_sanitizer(r, argument);
    see_bareness(r, argument);
    if (!strncmp(argument, "-Wl,", 4)) see_linker_words(r, argument + 4);
    if (!strcmp(argument, "--no-undefined")) r->strict = true;
}

ft_request ft_request_understand(const ft_command *arguments)
{
    static const char *const takes_value[] = {
        "-o",      "-I",         "-L",          "-D",       "-U",       "-MF",
        "-MT",     "-MQ",        "-isystem",    "-include", "-imacros", "-iquote",
        "-Xclang", "-idirafter", "-Xassembler", "-T",       "-u",       "-Xpreprocessor",
        "--param", "-MJ",        "-target",     "-mllvm",   "-arch",    "-aux-info",
        NULL};
    static const char *const to_linker[] = {"-Xlinker", "-z", NULL};
    ft_request r = {.links = true};
    const char *language = NULL;
    bool headers = false, others = false, startup = false;
    for (unsigned long i = 0; i < arguments->n; i++) {
        const char *a = arguments->data[i];
        if (!strcmp(a, "-x") && i + 1 < arguments->n)
            language = arguments->data[++i];
        else if (!strncmp(a, "-x", 2))
            language = a + 2;
        else if (is_one_of(a, to_linker) && i + 1 < arguments->n)
            see_linker_word(&r, arguments->data[++i]);
        else if (a[0] != '-' || !a[1]) {
            *(is_header(a, language) ? &headers : &others) = true;
            r.assembles |= is_assembler(a, language);
            startup |= is_startup(a);
        } else
            see_option(&r, a);
        if (language && !strcmp(language, "none")) language = NULL;
        if (!strcmp(a, "-o") && i + 1 < arguments->n) r.output = arguments->data[i + 1];
        if (!strncmp(a, "-o", 2) && a[2]) r.output = a + 2;
        if (is_one_of(a, takes_value)) i++;
    }
    r.starts_itself &= !startup;
    r.has_input = headers || others;
    if (headers && !others) r.links = false;
    r.language = language != NULL;
    return r;
}
