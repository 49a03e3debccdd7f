/* foretell-cc and foretell-c++: the system's compiler, with the recorder's hooks.
 *
 * Every option is handed on as it is; what is added makes the compiler call the recorder before
 * each access to memory (its own thread-sanitizer instrumentation) and links the recorder's runtime
 * into executables. Shared libraries only get the calls. */
#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "symbolic.h"

#include "wrapped.h"

static const char help[] =
    "usage: foretell-cc [--symbolic] [COMPILER OPTION]... FILE...   (foretell-c++ for C++)\n\n"
    "Compiles and links like the system's compiler, so that the program can be recorded by\n"
    "`foretell record`. Run by itself the program behaves as always.\n\n"
    "  CC=foretell-cc CXX=foretell-c++ make\n"
    "  CC=foretell-cc CXX=foretell-c++ cmake -S . -B build\n"
    "  CC=foretell-cc ./configure && make\n\n"
    "  CC='foretell-cc --symbolic' make   for `foretell record --symbolic`; clang alone, -O0\n\n"
    "Environment:\n"
    "  FORETELL_CC, FORETELL_CXX  the compiler behind it: gcc, g++ (default), clang, clang++ or a "
    "path\n"
    "  FORETELL_OPTIMISE=1        keep -O1, -O2, ... as given; by default everything is compiled\n"
    "                             with -O0, since optimisation removes accesses, and with them "
    "bugs\n";

/* What is added: always, when something is compiled, when an executable is linked. */
static const char *const gcc_always[] = {"-g", NULL};
static const char *const clang_compile[] = {"-g",
                                            "-gdwarf-aranges",
                                            "-fsanitize=thread",
                                            "--start-no-unused-arguments", /* linking, -Werror */
                                            "-mllvm",
                                            "-tsan-instrument-read-before-write=1",
                                            "-mllvm",
                                            "-tsan-instrument-func-entry-exit=1",
                                            "--end-no-unused-arguments",
                                            "-fno-omit-frame-pointer",
                                            "-fno-builtin-memset",
                                            "-fno-builtin-memcpy",
                                            "-fno-builtin-memmove",
                                            NULL};
static const char *const unoptimised[] = {"-O0", "-U_FORTIFY_SOURCE", NULL};
static const char *const no_builtins[] = {
#define FT_ROW(name) "-fno-builtin-" #name,
    FT_WRAPPED_TABLE(FT_ROW)
#undef FT_ROW
        NULL};
/* The archive itself stands between these. */
static const char *const link_before[] = {"-Wl,--whole-archive", NULL};
static const char *const link_after[] = {"-Wl,--no-whole-archive", "-Wl,--export-dynamic",
#define FT_ROW(name) "-Wl,--wrap=" #name,
                                         FT_WRAPPED_TABLE(FT_ROW)
#undef FT_ROW
                                             "-pthread",
                                         "-ldl", NULL};

typedef ft_command list;
#define add     ft_command_add
#define add_all ft_command_add_all

static bool is_one_of(const char *argument, const char *const *names)
{
    for (; *names; names++)
        if (!strcmp(argument, *names)) return true;
    return false;
}

/* What the command line asks for. */
typedef struct request {
    bool links, shared, fixed, has_input;
} request;

static request understand(int argc, char **argv)
{
    static const char *const no_link[] = {"-c", "-S", "-E", "-M", "-MM", "-fsyntax-only",
                                          "-r", NULL};
    static const char *const takes_value[] = {
        "-o",  "-I", "-L",       "-D",       "-U",       "-MF",         "-MT",
        "-MQ", "-x", "-isystem", "-include", "-Xlinker", "-Xassembler", "-Xpreprocessor",
        "-T",  "-u", "-z",       "--param",  NULL};
    request r = {.links = true};
    for (int i = 1; i < argc; i++) {
        if (is_one_of(argv[i], no_link)) r.links = false;
        if (!strcmp(argv[i], "-shared")) r.shared = true;
        if (!strcmp(argv[i], "-static") || !strcmp(argv[i], "-static-pie")) r.fixed = true;
        if (argv[i][0] != '-' || !argv[i][1]) r.has_input = true;
        if (is_one_of(argv[i], takes_value)) i++;
    }
    return r;
}

static bool is_clang(const char *compiler)
{
    const char *base = strrchr(compiler, '/');
    return strstr(base ? base : compiler, "clang") != NULL;
}

/* The path of a file of ours; for ever. */
static char *ours(const char *folder, const char *name)
{
    char *path = malloc(PATH_MAX);
    if (!path ||
        snprintf(path, PATH_MAX, "%s/../share/foretell/record/%s", folder, name) >= PATH_MAX) {
        fputs("foretell-cc: its own path is too long\n", stderr);
        exit(2);
    }
    return path;
}

static const char *own_folder(void)
{
    static char self[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    if (n <= 0) {
        perror("foretell-cc: /proc/self/exe");
        exit(2);
    }
    self[n] = 0;
    return dirname(self);
}

static const char *compiler_of(const char *name)
{
    size_t length = strlen(name); /* only the end: folders may have such names too */
    bool cxx = length > 2 && strcmp(name + length - 2, "++") == 0;
    const char *chosen = getenv(cxx ? "FORETELL_CXX" : "FORETELL_CC");
    if (chosen && *chosen) return chosen;
    return cxx ? "g++" : "gcc";
}

static void add_compile(list *command, bool clang, const char *folder)
{
    if (clang) {
        add_all(command, clang_compile);
    } else {
        add(command, "-specs");
        add(command, ours(folder, "foretell.specs"));
        add_all(command, gcc_always);
    }
    add_all(command, no_builtins);
    add(command, "-isystem");
    add(command, ours(folder, "include"));
}

/* Takes --symbolic out of the arguments. */
static bool wants_terms(int *argc, char **argv)
{
    int kept = 1;
    for (int i = 1; i < *argc; i++)
        if (strcmp(argv[i], "--symbolic") != 0) argv[kept++] = argv[i];
    bool found = kept < *argc;
    argv[ *argc = kept] = NULL;
    return found;
}

static int build_with_terms(int argc, char **argv, const request *r, const char *folder)
{
    const char *compiler = compiler_of(argv[0]);
    size_t length = strlen(argv[0]);
    bool cxx = length > 2 && strcmp(argv[0] + length - 2, "++") == 0;
    ft_build build = {.compiler = is_clang(compiler) ? compiler
                                  : cxx              ? "clang++"
                                                     : "clang",
                      .folder = folder,
                      .include = ours(folder, "include"),
                      .runtime = ours(folder, "libforetell-record.a"),
                      .before = link_before,
                      .after = link_after,
                      .links = r->links && r->has_input,
                      .shared = r->shared,
                      .argc = argc,
                      .argv = argv};
    return ft_symbolic_build(&build);
}

int main(int argc, char **argv)
{
    bool terms = wants_terms(&argc, argv);
    if (argc > 1 && !strcmp(argv[1], "--foretell-help")) {
        fputs(help, stdout);
        return 0;
    }
    const char *compiler = compiler_of(argv[0]), *folder = own_folder();
    bool clang = is_clang(compiler);
    request r = understand(argc, argv);
    list command = {0};
    if (r.links && r.fixed && r.has_input) {
        fputs("foretell-cc: -static is not supported: the recorder stands in front of the shared C "
              "library; link without it\n",
              stderr);
        return 2;
    }
    if (terms) return build_with_terms(argc, argv, &r, folder);
    add(&command, compiler);
    add_compile(&command, clang, folder);
    for (int i = 1; i < argc; i++) add(&command, argv[i]);
    if (!getenv("FORETELL_OPTIMISE")) add_all(&command, unoptimised);
    if (r.links && r.has_input && !r.shared) {
        if (clang) add(&command, "-fno-sanitize-link-runtime");
        add_all(&command, link_before);
        add(&command, ours(folder, "libforetell-record.a"));
        add_all(&command, link_after);
    }
    execvp(compiler, (char **)command.data);
    fprintf(stderr, "foretell-cc: %s: %s (set FORETELL_CC and FORETELL_CXX)\n", compiler,
            strerror(errno));
    return 2;
}
