/* foretell-cc and foretell-c++: the system's compiler, with the recorder's hooks.
 *
 * Every option is passed on. The wrapper adds options that make the compiler call the recorder
 * before each access to memory (the compiler's own thread-sanitizer instrumentation), and links the
 * recorder's runtime into executables. Shared libraries get only the calls. What a command line
 * asks for is in request.h, the additions to a link are in link.h; --symbolic is in symbolic.h. */
#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "link.h"
#include "process.h"
#include "raw/assembly.h"
#include "request.h"
#include "symbolic.h"
#include "wrapped.h"

static const char help[] =
    "usage: foretell-cc [--symbolic] [COMPILER OPTION]... FILE...   (foretell-c++ for C++)\n\n"
    "Compiles and links like the system's compiler, and adds the recorder to the program.\n"
    "`foretell test` and `foretell record` can then record its runs. Without them the program\n"
    "behaves as usual.\n\n"
    "  CC=foretell-cc CXX=foretell-c++ make\n"
    "  CC=foretell-cc CXX=foretell-c++ cmake -S . -B build\n"
    "  CC=foretell-cc ./configure && make\n\n"
    "--light leaves out all but the calls of synchronisation, and optimisation is as given: for\n"
    "`foretell run` (such a program cannot be recorded).\n\n"
    "--symbolic also records how values are computed (`foretell record --symbolic`). It needs "
    "clang\n"
    "and compiles with -O0.\n\n"
    "  CC='foretell-cc --symbolic' make\n\n"
    "Not supported: -static, -nostdlib for programs, 32-bit targets, other sanitizers.\n\n"
    "Environment:\n"
    "  FORETELL_CC, FORETELL_CXX  the compiler that is run: gcc, g++ (default), clang, clang++ or "
    "a\n"
    "                             path\n"
    "  FORETELL_OPTIMISE=1        keep -O1, -O2, ... as given; the default is -O0 for every file,\n"
    "                             because optimisation removes accesses, and bugs with them\n";

/* The options that are added to a compilation. */
static const char *const gcc_compile[] = {"-g", "-Wno-tsan", NULL};
static const char *const clang_compile[] = {
    "-g", "-gdwarf-aranges", "-fno-sanitize-link-runtime", "-mllvm",
    "-tsan-instrument-read-before-write=1", "-mllvm", "-tsan-instrument-func-entry-exit=1",
    /* also of parts of locals (assembler/frame.h) */
    "-mllvm", "-capture-tracking-max-uses-to-explore=0", "-fno-omit-frame-pointer",
    "-fno-builtin-memset", "-fno-builtin-memcpy", "-fno-builtin-memmove", NULL};
/* Added after the arguments, because the last option counts. With -fno-sanitize=all a file would be
 * recorded without its accesses. For gcc the calls come from its specs, and -fsanitize=thread in a
 * response file would link another runtime. */
static const char *const gcc_last[] = {"-fno-sanitize=thread", NULL};
/* A register that a call's result is in must not outlive the next call: the runtime reads from the
 * code whether a result is looked at (runtime/exploring/results.c). */
static const char *const gcc_calls[] = {"-fno-ipa-ra", NULL};
static const char *const clang_last[] = {"-fsanitize=thread", "-fsanitize-thread-memory-access",
                                         "-fsanitize-thread-func-entry-exit",
                                         "-fsanitize-thread-atomics", NULL};
/* These stand around options that clang does not need for every step: with -Werror unused options
 * are errors. */
static const char unused_from[] = "--start-no-unused-arguments",
                  unused_to[] = "--end-no-unused-arguments";
/* With _FORTIFY_SOURCE, calls go to other functions (__memcpy_chk), which the runtime does not
 * intercept. */
static const char *const unchecked[] = {"-U_FORTIFY_SOURCE", NULL};
static const char *const unoptimised[] = {"-O0", NULL};
static const char *const no_builtins[] = {
#define FT_ROW(name) "-fno-builtin-" #name,
    FT_WRAPPED_TABLE(FT_ROW)
#undef FT_ROW
        NULL};
static bool is_cxx(const char *name)
{
    size_t length = strlen(name); /* only the end: folders may have such names too */
    return length > 2 && strcmp(name + length - 2, "++") == 0;
}

static bool is_clang(const char *compiler)
{
    const char *base = strrchr(compiler, '/');
    return strstr(base ? base : compiler, "clang") != NULL;
}

/* The path of a file that belongs to the recorder; never freed. */
static char *ours(const char *folder, const char *name)
{
    char *path = malloc(PATH_MAX);
    if (!path ||
        snprintf(path, PATH_MAX, "%s/../share/foretell/record/%s", folder, name) >= PATH_MAX) {
        fputs("foretell-cc: the path of foretell-cc is too long\n", stderr);
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
    bool cxx = is_cxx(name);
    const char *chosen = getenv(cxx ? "FORETELL_CXX" : "FORETELL_CC");
    if (chosen && *chosen) return chosen;
    return cxx ? "g++" : "gcc";
}

/* Inline assembly gets its calls after the compiler, from the recorder's assembler
 * (assembler/main.c). Sources of assembler stay with clang's own assembler, for which they were
 * written. */
static void add_assembler(ft_command *command, const ft_request *r, bool clang, const char *folder)
{
    if (clang && r->assembles) return;
    if (clang) ft_command_add(command, "-fno-integrated-as");
    ft_command_add(command, "-B");
    ft_command_add(command, ours(folder, "bin"));
}

/* Names the assembler that the recorder's assembler runs: only clang understands all of clang's
 * output. FORETELL_CC may have words before the compiler (ccache) and options after it. */
static void name_assembler(const char *compiler, bool clang)
{
    char *copy = strdup(compiler), *rest = copy;
    unsetenv(FT_ASSEMBLER_VARIABLE);
    for (char *word; clang && rest && (word = strsep(&rest, " "));)
        if (*word && *word != '-') setenv(FT_ASSEMBLER_VARIABLE, word, 1);
    free(copy);
}

static void add_compile(ft_command *command, const ft_request *r, bool clang, const char *folder)
{
    if (clang) {
        ft_command_add(command, unused_from);
        ft_command_add_all(command, clang_compile);
    } else {
        ft_command_add(command, "-specs");
        ft_command_add(command, ours(folder, "foretell.specs"));
        ft_command_add_all(command, gcc_compile);
    }
    add_assembler(command, r, clang, folder);
    ft_command_add_all(command, no_builtins);
    ft_command_add(command, "-isystem");
    ft_command_add(command, ours(folder, "include"));
    if (clang) ft_command_add(command, unused_to);
}

static void add_last(ft_command *command, bool clang)
{
    if (clang) ft_command_add(command, unused_from);
    ft_command_add_all(command, clang ? clang_last : gcc_last);
    if (!clang) ft_command_add_all(command, gcc_calls);
    ft_command_add_all(command, unchecked);
    if (!getenv("FORETELL_OPTIMISE")) ft_command_add_all(command, unoptimised);
    if (clang) ft_command_add(command, unused_to);
}

/* Takes that option of the wrapper's own out of the arguments. */
static bool takes_out(int *argc, char **argv, const char *option)
{
    int kept = 1;
    for (int i = 1; i < *argc; i++)
        if (strcmp(argv[i], option) != 0) argv[kept++] = argv[i];
    bool found = kept < *argc;
    argv[ *argc = kept] = NULL;
    return found;
}

/* Arguments that are not passed on: the hooks of the thread sanitizer are there already, and its
 * runtime would be another one; the recorder intercepts the shared C++ library. */
static bool is_left_out(const char *argument)
{
    return !strcmp(argument, "-fsanitize=thread") || !strcmp(argument, "-static-libstdc++");
}

/* With -masm=intel clang would write its own output in Intel's syntax too: mixed with inline
 * assembly that is text that no assembler takes, and names of variables are taken for registers.
 * So the option is applied to inline assembly only. */
static void add_argument(ft_command *command, const char *argument, bool clang)
{
    static const struct {
        const char *whole, *inlined;
    } dialects[] = {{"-masm=intel", "-inline-asm=intel"}, {"-masm=att", "-inline-asm=att"}};
    if (is_left_out(argument)) return;
    for (size_t i = 0; clang && i < sizeof dialects / sizeof *dialects; i++) {
        if (strcmp(argument, dialects[i].whole) != 0) continue;
        ft_command_add_all(command, (const char *const[]){unused_from, "-Xclang",
                                                          dialects[i].inlined, unused_to, NULL});
        return;
    }
    ft_command_add(command, argument);
}

static ft_link link_of(const ft_request *r, const char *folder)
{
    return (ft_link){.runtime = ours(folder, "libforetell-record.a"),
                     .libc = ours(folder, "libforetell-libc.a"),
                     .shared = r->shared,
                     .language = r->language,
                     .chosen_libraries = r->chosen_libraries};
}

static int build_with_terms(const char *name, const ft_command *arguments, const ft_request *r,
                            const char *folder)
{
    const char *compiler = compiler_of(name);
    ft_link link = link_of(r, folder);
    ft_command all = {0};
    link.language = false; /* objects alone are linked */
    ft_command_add(&all, name);
    for (unsigned long i = 0; i < arguments->n; i++) add_argument(&all, arguments->data[i], true);
    ft_build build = {.compiler = is_clang(compiler) ? compiler
                                  : is_cxx(name)     ? "clang++"
                                                     : "clang",
                      .folder = folder,
                      .include = ours(folder, "include"),
                      .assembler = ours(folder, "bin"),
                      .link = &link,
                      .links = r->links && r->has_input,
                      .other = r->other,
                      .strict = r->strict,
                      .argc = (int)all.n,
                      .argv = all.data};
    name_assembler(build.compiler, true);
    return ft_symbolic_build(&build);
}

/* FORETELL_CC may be several words: ccache gcc. */
static void add_words(ft_command *command, const char *words)
{
    char *copy = strdup(words), *rest = copy;
    for (char *word; rest && (word = strsep(&rest, " "));)
        if (*word) ft_command_add(command, word);
}

/* Reads the request of the command line; options in FORETELL_CC count too. */
static ft_request understand(const char *compiler, const ft_command *arguments)
{
    ft_command words = {0}, all = {0};
    add_words(&words, compiler);
    for (unsigned long i = 0; i < words.n; i++)
        if (words.data[i][0] == '-') ft_command_add(&all, words.data[i]);
    for (unsigned long i = 0; i < arguments->n; i++) ft_command_add(&all, arguments->data[i]);
    return ft_request_understand(&all);
}

/* Why this cannot be built; NULL: it can. */
static const char *refusal(const ft_request *r)
{
    if (!r->has_input) return NULL;
    if (r->links && r->fixed)
        return "-static is not supported, because the recorder intercepts calls of the shared C "
               "library: link without it";
    if (r->links && !r->shared && r->starts_itself)
        return "-nostdlib and -nostartfiles are not supported, because the C library's startup "
               "files "
               "start the recorder: link without them";
    if (r->narrow)
        return "-m32, -mx32 and -m16 are not supported, because the recorder is for 64-bit "
               "programs: "
               "leave them out";
    if (r->sanitizer)
        return "another sanitizer and the recorder cannot be in one program: leave -fsanitize=... "
               "out";
    return NULL;
}

/* Response files are passed on unread, unless one has an argument that must be changed. */
static void add_arguments(ft_command *command, const ft_request *r, bool clang,
                          const ft_command *expanded, int argc, char **argv)
{
    bool whole = r->own_library || (clang && r->dialect);
    for (int i = 1; i < argc && !whole; i++) add_argument(command, argv[i], clang);
    for (unsigned long i = 0; i < expanded->n && whole; i++)
        add_argument(command, expanded->data[i], clang);
    /* the hooks are in the program */
    if (r->links && r->shared && r->strict) ft_command_add(command, "-Wl,-z,undefs");
}

/* The equivalent of -gdwarf-aranges for the compiler inside the linker: without it only the code of
 * the first file has line numbers. */
static void add_plugin(ft_command *command, const ft_request *r, bool clang)
{
    if (clang && r->lto && r->links && r->has_input)
        ft_command_add(command, "-Wl,-plugin-opt=-generate-arange-section");
}

/* How it is compiled and linked; the link's options are still to come. */
static ft_command prepare(const char *compiler, const ft_request *r, const char *folder,
                          const ft_command *expanded, int argc, char **argv, bool light)
{
    bool clang = is_clang(compiler);
    ft_command command = {0};
    if (!light) name_assembler(compiler, clang);
    add_words(&command, compiler);
    if (light)
        ft_command_add_all(&command, (const char *const[]){"-g", "-fno-optimize-sibling-calls",
                                                           "-DFORETELL_LIGHT", "-idirafter",
                                                           ours(folder, "include"), NULL});
    else
        add_compile(&command, r, clang, folder);
    add_arguments(&command, r, clang, expanded, argc, argv);
    if (light && !clang) ft_command_add_all(&command, gcc_calls);
    if (light) return command;
    add_last(&command, clang);
    add_plugin(&command, r, clang);
    return command;
}

/* Once more, where the program turns out to define functions with the C library's names. */
static int build_and_link(const ft_command *prepared, ft_link *link, const char *output)
{
    ft_command command = ft_command_copy(prepared);
    ft_link_add(link, &command);
    int code = ft_process_run(&command);
    if (code || !ft_link_see(link, output)) return code;
    command = ft_command_copy(prepared);
    ft_link_add(link, &command);
    return ft_process_run(&command);
}

static _Noreturn void become(const ft_command *command)
{
    execvp(command->data[0], (char **)command->data);
    fprintf(stderr, "foretell-cc: %s: %s (set FORETELL_CC and FORETELL_CXX)\n", command->data[0],
            strerror(errno));
    exit(2);
}

int main(int argc, char **argv)
{
    bool terms = takes_out(&argc, argv, "--symbolic");
    bool light = takes_out(&argc, argv, "--light");
    if (argc > 1 && !strcmp(argv[1], "--foretell-help")) {
        fputs(help, stdout);
        return 0;
    }
    const char *compiler = compiler_of(argv[0]), *folder = own_folder();
    ft_command arguments = ft_request_expand(argc, argv);
    ft_request r = understand(compiler, &arguments);
    const char *why_not = refusal(&r);
    if (why_not) {
        fprintf(stderr, "foretell-cc: %s\n", why_not);
        return 2;
    }
    if (terms) return build_with_terms(argv[0], &arguments, &r, folder);
    ft_command command = prepare(compiler, &r, folder, &arguments, argc, argv, light);
    if (!r.links || !r.has_input) become(&command);
    ft_link link = link_of(&r, folder);
    ft_process_catch();
    int code = build_and_link(&command, &link, r.output ? r.output : "a.out");
    ft_process_reraise();
    /* The commands' words last as long as the process, which became the compiler before: nothing is
     * released one by one. */
    fflush(NULL);
    _exit(code);
}
