#include "symbolic.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "command.h"

static const char *const to_bitcode[] = {"-g",
                                         "-gdwarf-aranges",
                                         "-O0",
                                         "-U_FORTIFY_SOURCE",
                                         "-Xclang",
                                         "-disable-O0-optnone",
                                         "-emit-llvm",
                                         "-fno-builtin-memset",
                                         "-fno-builtin-memcpy",
                                         "-fno-builtin-memmove",
                                         "-fno-lto",
                                         "-Wno-unused-command-line-argument",
                                         NULL};
static const char *const to_object[] = {
    "-g", "-gdwarf-aranges", "-O0", "-c", "-Wno-unused-command-line-argument", NULL};
static const char *const unoptimised[] = {"-O0", "-U_FORTIFY_SOURCE",
                                          "-Wno-unused-command-line-argument", NULL};

/* ---- command lines */

static void die(const char *what)
{
    fprintf(stderr, "foretell-cc: %s\n", what);
    exit(2);
}

static int run(const ft_command *command)
{
    int status;
    pid_t child = fork();
    if (child < 0) die("cannot start another program");
    if (!child) {
        execvp(command->data[0], (char **)command->data);
        fprintf(stderr, "foretell-cc: %s: %s%s\n", command->data[0], strerror(errno),
                strstr(command->data[0], "instrument")
                    ? " (--symbolic was not built: it needs llvm-14-dev)"
                    : " (set FORETELL_CC and FORETELL_CXX)");
        _exit(2);
    }
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR) die("lost its child");
    return WIFEXITED(status) ? WEXITSTATUS(status) : 2;
}

static char *path(const char *folder, const char *name)
{
    char *made = malloc(PATH_MAX);
    if (!made || snprintf(made, PATH_MAX, "%s/%s", folder, name) >= PATH_MAX)
        die("a path is too long");
    return made;
}

/* ---- what the command line says */

static bool is_one_of(const char *argument, const char *const *names)
{
    for (; *names; names++)
        if (!strcmp(argument, *names)) return true;
    return false;
}

static bool takes_value(const char *argument)
{
    static const char *const names[] = {
        "-o",      "-I",     "-L",       "-D",       "-U",       "-MF",         "-MT",
        "-MQ",     "-x",     "-isystem", "-include", "-Xlinker", "-Xassembler", "-Xpreprocessor",
        "-Xclang", "-T",     "-u",       "-z",       "-iquote",  "-idirafter",  "-imacros",
        "-target", "-mllvm", "-arch",    "--param",  NULL};
    return is_one_of(argument, names);
}

static bool is_source(const char *name, const char *language)
{
    static const char *const endings[] = {".c",  ".cc",  ".cpp", ".cxx", ".c++", ".C",
                                          ".cp", ".CPP", ".i",   ".ii",  NULL};
    const char *dot = strrchr(name, '.');
    if (language && strcmp(language, "none") != 0)
        return !strncmp(language, "assembler", 9) ? false : true;
    return dot && is_one_of(dot, endings);
}

typedef struct inputs {
    const char **sources;
    const char **languages; /* by source: what -x says there, or NULL */
    unsigned n;
    const char *output;
    bool compiles, depends, named, filed; /* -c; -MD or -MMD; -MT or -MQ; -MF */
    bool other;                           /* -E, -S, ...: nothing that is run comes out */
} inputs;

static inputs look_at(const ft_build *b)
{
    static const char *const others[] = {
        "-S",           "-E",           "-M",     "-MM", "-fsyntax-only", "--version", "-v",
        "-dumpversion", "-dumpmachine", "--help", NULL};
    inputs in = {.sources = calloc((size_t)b->argc + 1, sizeof(char *)),
                 .languages = calloc((size_t)b->argc + 1, sizeof(char *))};
    const char *language = NULL;
    if (!in.sources || !in.languages) die("out of memory");
    for (int i = 1; i < b->argc; i++) {
        const char *a = b->argv[i];
        if (!strcmp(a, "-c")) in.compiles = true;
        if (!strcmp(a, "-MD") || !strcmp(a, "-MMD")) in.depends = true;
        if (!strcmp(a, "-MT") || !strcmp(a, "-MQ")) in.named = true;
        if (!strcmp(a, "-MF")) in.filed = true;
        if (is_one_of(a, others) || !strncmp(a, "-print-", 7)) in.other = true;
        if (!strcmp(a, "-x") && i + 1 < b->argc) language = b->argv[i + 1];
        if (!strncmp(a, "-x", 2) && a[2]) language = a + 2;
        const char *ending = language ? strrchr(language, '-') : NULL;
        if (ending && !strcmp(ending, "-header")) in.other = true;
        if (!strcmp(a, "-o") && i + 1 < b->argc) in.output = b->argv[i + 1];
        if (!strncmp(a, "-o", 2) && a[2]) in.output = a + 2;
        if ((a[0] != '-' || !a[1]) && is_source(a, language)) {
            in.languages[in.n] = language;
            in.sources[in.n++] = a;
        }
        if (takes_value(a)) i++;
    }
    return in;
}

/* Adds the options; not inputs, outputs, languages, and make's dependencies only where asked for.
 */
static void add_options(ft_command *to, const ft_build *b, bool dependencies)
{
    static const char *const dropped[] = {"-c", "-flto", "-fsanitize=thread", NULL};
    for (int i = 1; i < b->argc; i++) {
        const char *a = b->argv[i];
        bool value = takes_value(a) && i + 1 < b->argc;
        bool option = a[0] == '-' && a[1] && strncmp(a, "-o", 2) != 0 && strncmp(a, "-x", 2) != 0 &&
                      !is_one_of(a, dropped) && (dependencies || strncmp(a, "-M", 2) != 0);
        if (option) ft_command_add(to, a);
        if (option && value) ft_command_add(to, b->argv[i + 1]);
        if (value) i++;
    }
}

/* ---- one source */

static char *base_of(const char *source)
{
    const char *slash = strrchr(source, '/');
    char *base = strdup(strcmp(source, "-") != 0 ? (slash ? slash + 1 : source) : "stdin");
    if (!base) die("out of memory");
    char *dot = strrchr(base, '.');
    if (dot) *dot = 0;
    return base;
}

static char *with_ending(const char *name, const char *ending)
{
    size_t n = strlen(name) + strlen(ending) + 1;
    char *made = malloc(n);
    if (!made) die("out of memory");
    snprintf(made, n, "%s%s", name, ending);
    return made;
}

/* Make's dependencies are of the object, not of the bitcode. */
static void add_dependencies(ft_command *to, const inputs *in, const char *object)
{
    if (!in->depends || !in->compiles) return;
    if (!in->named) {
        ft_command_add(to, "-MT");
        ft_command_add(to, object);
    }
    if (in->filed) return;
    char *name = strdup(object);
    if (!name) die("out of memory");
    char *dot = strrchr(name, '.');
    if (dot && !strchr(dot, '/')) *dot = 0;
    ft_command_add(to, "-MF");
    ft_command_add(to, with_ending(name, ".d"));
}

static int make_bitcode(const ft_build *b, const inputs *in, unsigned i, const char *object,
                        const char *bitcode)
{
    ft_command c = {0};
    ft_command_add(&c, b->compiler);
    add_options(&c, b, in->compiles);
    ft_command_add(&c, "-isystem");
    ft_command_add(&c, b->include);
    ft_command_add_all(&c, to_bitcode);
    add_dependencies(&c, in, object);
    if (in->languages[i]) {
        ft_command_add(&c, "-x");
        ft_command_add(&c, in->languages[i]);
    }
    ft_command_add(&c, "-c");
    ft_command_add(&c, in->sources[i]);
    ft_command_add(&c, "-o");
    ft_command_add(&c, bitcode);
    int code = run(&c);
    free(c.data);
    return code;
}

static int make_object(const ft_build *b, const char *bitcode, const char *object)
{
    ft_command c = {0};
    ft_command_add(&c, b->compiler);
    add_options(&c, b, false);
    ft_command_add_all(&c, to_object);
    ft_command_add_all(&c, (const char *const[]){"-fno-integrated-as", "-B", b->assembler, NULL});
    ft_command_add(&c, bitcode);
    ft_command_add(&c, "-o");
    ft_command_add(&c, object);
    int code = run(&c);
    free(c.data);
    return code;
}

/* Beside the wrapper in a build folder, in lib/foretell of an installation. */
static char *instrument_path(const char *folder)
{
    char *beside = path(folder, "foretell-instrument");
    if (access(beside, X_OK) == 0) return beside;
    free(beside);
    return path(folder, "../lib/foretell/foretell-instrument");
}

static int compile(const ft_build *b, const inputs *in, unsigned i, const char *object,
                   const char *work)
{
    char *plain = path(work, "plain.bc"), *full = path(work, "full.bc");
    char *tool = instrument_path(b->folder);
    ft_command instrument = {0};
    ft_command_add(&instrument, tool);
    ft_command_add(&instrument, plain);
    ft_command_add(&instrument, full);
    int code = make_bitcode(b, in, i, object, plain);
    if (!code) code = run(&instrument);
    if (!code) code = make_object(b, full, object);
    unlink(plain);
    unlink(full);
    free(instrument.data);
    free(plain);
    free(full);
    free(tool);
    return code;
}

/* ---- all of it */

static int compile_only(const ft_build *b, const inputs *in, const char *work)
{
    int code = 0;
    for (unsigned i = 0; i < in->n && !code; i++) {
        const char *object = in->output;
        if (!object) object = with_ending(base_of(in->sources[i]), ".o");
        code = compile(b, in, i, object, work);
    }
    return code;
}

/* The command line as it is, with objects in the place of sources. */
static void add_link(ft_command *c, const ft_build *b, const inputs *in, char **objects)
{
    unsigned next = 0;
    ft_command_add(c, b->compiler);
    for (int i = 1; i < b->argc; i++) {
        const char *a = b->argv[i];
        bool value = takes_value(a) && i + 1 < b->argc;
        if (next < in->n && a == in->sources[next])
            ft_command_add(c, objects[next++]);
        else if (strncmp(a, "-x", 2) != 0 && strncmp(a, "-M", 2) != 0 &&
                 strcmp(a, "-fsanitize=thread") != 0)
            ft_command_add(c, a), value ? ft_command_add(c, b->argv[i + 1]) : (void)0;
        if (value) i++;
    }
    ft_command_add(c, "-Wno-unused-command-line-argument");
    if (!b->links) return; /* another object (-r) */
    if (b->shared && b->strict) ft_command_add(c, "-Wl,-z,undefs");
    ft_command_add_all(c, b->all);
    if (b->shared) return;
    ft_command_add_all(c, b->before);
    ft_command_add(c, b->runtime);
    ft_command_add_all(c, b->after);
}

static int compile_and_link(const ft_build *b, const inputs *in, const char *work)
{
    int code = 0;
    char **objects = calloc(in->n + 1u, sizeof *objects);
    if (!objects) die("out of memory");
    for (unsigned i = 0; i < in->n && !code; i++) {
        char name[32];
        snprintf(name, sizeof name, "%u.o", i);
        objects[i] = path(work, name);
        code = compile(b, in, i, objects[i], work);
    }
    ft_command link = {0};
    add_link(&link, b, in, objects);
    if (!code) code = run(&link);
    for (unsigned i = 0; i < in->n; i++) {
        if (!objects[i]) continue;
        unlink(objects[i]);
        free(objects[i]);
    }
    free(objects);
    free(link.data);
    return code;
}

static int as_it_is(const ft_build *b)
{
    ft_command c = {0};
    ft_command_add(&c, b->compiler);
    for (int i = 1; i < b->argc; i++) ft_command_add(&c, b->argv[i]);
    ft_command_add_all(&c, unoptimised); /* a precompiled header fits no other */
    ft_command_add(&c, "-isystem");
    ft_command_add(&c, b->include);
    return run(&c);
}

int ft_symbolic_build(const ft_build *b)
{
    const char *folder = getenv("TMPDIR");
    inputs in = look_at(b);
    if (in.other || (!in.n && !b->links)) return as_it_is(b);
    char *work = path(folder && *folder ? folder : "/tmp", "foretell-cc-XXXXXX");
    if (!mkdtemp(work)) die("no folder for temporary files");
    int code = in.compiles ? compile_only(b, &in, work) : compile_and_link(b, &in, work);
    rmdir(work);
    free(work);
    return code;
}
