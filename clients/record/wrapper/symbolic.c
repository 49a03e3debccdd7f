#include "symbolic.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "process.h"

/* As with gcc: headers that leave out what a detector does not see (libstdc++ reads two counts at
 * once) do so for it. */
static const char *const to_bitcode[] = {"-D__SANITIZE_THREAD__=1",
                                         "-g",
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
                                         "-gno-split-dwarf",
                                         "-Wno-unused-command-line-argument",
                                         NULL};
static const char *const to_object[] = {"-g", "-gdwarf-aranges", "-O0",
                                        "-Wno-unused-command-line-argument", NULL};
static const char *const unoptimised[] = {"-O0", "-U_FORTIFY_SOURCE",
                                          "-Wno-unused-command-line-argument", NULL};

/* ---- command lines */

static char *path(const char *folder, const char *name)
{
    char *made = malloc(PATH_MAX);
    if (!made || snprintf(made, PATH_MAX, "%s/%s", folder, name) >= PATH_MAX)
        ft_process_die("a path is too long");
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
        "-target", "-mllvm", "-arch",    "--param",  "-MJ",      NULL};
    return is_one_of(argument, names);
}

static bool is_source(const char *name, const char *language)
{
    static const char *const endings[] = {".c",   ".cc", ".cpp", ".cxx",  ".c++", ".C", ".cp",
                                          ".CPP", ".i",  ".ii",  ".cppm", ".pcm", NULL};
    const char *dot = strrchr(name, '.');
    if (language && strcmp(language, "none") != 0)
        return !strncmp(language, "assembler", 9) ? false : true;
    return dot && is_one_of(dot, endings);
}

static bool is_assembler(const char *name, const char *language)
{
    static const char *const endings[] = {".s", ".S", ".sx", NULL};
    const char *dot = strrchr(name, '.');
    if (language && strcmp(language, "none") != 0) return !strncmp(language, "assembler", 9);
    return dot && is_one_of(dot, endings);
}

typedef struct inputs {
    const char **sources;
    const char **languages; /* by source: what -x says there, or NULL */
    unsigned n;
    unsigned assembled; /* sources of assembler, which are not among them */
    const char *output;
    bool compiles, assembly;    /* no link: -c, -S; the latter */
    bool depends, named, filed; /* -MD or -MMD; -MT or -MQ; -MF */
    bool covered;               /* --coverage: notes and data have names of the object's */
    bool other;                 /* nothing that is run comes out */
} inputs;

/* Options that it is of interest whether they are there. */
static void see_option(inputs *in, const char *argument)
{
    static const char *const compiles[] = {"-c", "--compile", "-S", "--assemble", NULL};
    static const char *const depends[] = {"-MD", "-MMD", NULL}, *const named[] = {"-MT", "-MQ",
                                                                                  NULL};
    static const char *const covered[] = {"--coverage", "-coverage", "-fprofile-arcs",
                                          "-ftest-coverage", NULL};
    static const char *const others[] = {"--version", "-dumpversion", "-dumpmachine", "--help",
                                         NULL};
    in->compiles |= is_one_of(argument, compiles);
    in->assembly |= is_one_of(argument, compiles + 2);
    in->depends |= is_one_of(argument, depends);
    in->named |= is_one_of(argument, named);
    in->filed |= !strcmp(argument, "-MF");
    in->covered |= is_one_of(argument, covered);
    in->other |= is_one_of(argument, others) || !strncmp(argument, "-print-", 7);
}

static inputs look_at(const ft_build *b)
{
    inputs in = {.sources = calloc((size_t)b->argc + 1, sizeof(char *)),
                 .languages = calloc((size_t)b->argc + 1, sizeof(char *)),
                 .other = b->other};
    const char *language = NULL;
    if (!in.sources || !in.languages) ft_process_die("out of memory");
    for (int i = 1; i < b->argc; i++) {
        const char *a = b->argv[i];
        see_option(&in, a);
        if (!strcmp(a, "-x") && i + 1 < b->argc) language = b->argv[i + 1];
        if (!strncmp(a, "-x", 2) && a[2]) language = a + 2;
        const char *ending = language ? strrchr(language, '-') : NULL;
        if (ending && !strcmp(ending, "-header")) in.other = true;
        if (!strcmp(a, "-o") && i + 1 < b->argc) in.output = b->argv[i + 1];
        if (!strncmp(a, "-o", 2) && a[2]) in.output = a + 2;
        bool file = a[0] != '-' || !a[1];
        in.assembled += file && is_assembler(a, language);
        if (file && is_source(a, language)) {
            in.languages[in.n] = language;
            in.sources[in.n++] = a;
        }
        if (takes_value(a)) i++;
    }
    return in;
}

/* Lists of options; one with a star is of all that begin so. */
static const char *const never[] = {"-c",  "-S",  "--compile",         "--assemble", "-flto*",
                                    "-o*", "-x*", "-fsanitize=thread", NULL};
/* The bitcode has it by then: counters of what was executed would be there twice. */
static const char *const for_bitcode[] = {
    "-M*",          "--coverage",           "-coverage", "-ftest-coverage", "-fprofile-*",
    "-fcoverage-*", "-fsanitize-coverage*", NULL};
static const char *const for_make[] = {"-M*", NULL};
static const char *const nothing[] = {NULL};

static bool is_in(const char *argument, const char *const *names)
{
    for (; *names; names++) {
        size_t n = strlen(*names) - 1;
        if ((*names)[n] == '*' ? !strncmp(argument, *names, n) : !strcmp(argument, *names))
            return true;
    }
    return false;
}

/* Adds the options; not inputs, outputs, languages. */
static void add_options(ft_command *to, const ft_build *b, const char *const *without)
{
    for (int i = 1; i < b->argc; i++) {
        const char *a = b->argv[i];
        bool value = takes_value(a) && i + 1 < b->argc;
        bool option = a[0] == '-' && a[1] && !is_in(a, never) && !is_in(a, without);
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
    if (!base) ft_process_die("out of memory");
    char *dot = strrchr(base, '.');
    if (dot) *dot = 0;
    return base;
}

static char *with_ending(const char *name, const char *ending)
{
    size_t n = strlen(name) + strlen(ending) + 1;
    char *made = malloc(n);
    if (!made) ft_process_die("out of memory");
    snprintf(made, n, "%s%s", name, ending);
    return made;
}

static char *without_ending(const char *name)
{
    char *stem = strdup(name);
    if (!stem) ft_process_die("out of memory");
    char *dot = strrchr(stem, '.');
    if (dot && !strchr(dot, '/')) *dot = 0;
    return stem;
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
    ft_command_add(to, "-MF");
    ft_command_add(to, with_ending(without_ending(object), ".d"));
}

/* So are the files of --coverage, beside it; those of a link are named after the source. */
static void add_coverage(ft_command *to, const char *stem)
{
    static const struct {
        const char *option, *ending;
    } files[] = {{"-coverage-notes-file", ".gcno"}, {"-coverage-data-file", ".gcda"}};
    char folder[PATH_MAX];
    if (!getcwd(folder, sizeof folder)) ft_process_die("the working directory has no name");
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        const char *name = with_ending(stem, files[i].ending);
        if (name[0] != '/') name = path(folder, name); /* the program may run elsewhere */
        ft_command_add_all(
            to, (const char *const[]){"-Xclang", files[i].option, "-Xclang", name, NULL});
    }
}

static int make_bitcode(const ft_build *b, const inputs *in, unsigned i, const char *object,
                        const char *bitcode)
{
    ft_command c = {0};
    ft_command_add(&c, b->compiler);
    add_options(&c, b, in->compiles ? nothing : for_make);
    ft_command_add(&c, "-isystem");
    ft_command_add(&c, b->include);
    ft_command_add_all(&c, to_bitcode);
    add_dependencies(&c, in, object);
    if (in->covered)
        add_coverage(&c, in->compiles ? without_ending(object) : base_of(in->sources[i]));
    if (in->languages[i]) {
        ft_command_add(&c, "-x");
        ft_command_add(&c, in->languages[i]);
    }
    ft_command_add(&c, "-c");
    ft_command_add(&c, in->sources[i]);
    ft_command_add(&c, "-o");
    ft_command_add(&c, bitcode);
    int code = ft_process_run(&c);
    free(c.data);
    return code;
}

static int make_object(const ft_build *b, const inputs *in, const char *bitcode, const char *object)
{
    ft_command c = {0};
    ft_command_add(&c, b->compiler);
    add_options(&c, b, for_bitcode);
    ft_command_add_all(&c, to_object);
    ft_command_add(&c, in->assembly ? "-S" : "-c");
    if (!in->compiles) ft_command_add(&c, "-gno-split-dwarf"); /* it would lie beside the object */
    ft_command_add_all(&c, (const char *const[]){"-fno-integrated-as", "-B", b->assembler, NULL});
    ft_command_add(&c, bitcode);
    ft_command_add(&c, "-o");
    ft_command_add(&c, object);
    int code = ft_process_run(&c);
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
    const char *base = base_of(in->sources[i]); /* -save-temps: files of that name */
    char *plain = path(work, "plain"), *full = path(work, with_ending(base, ".bc"));
    char *tool = instrument_path(b->folder);
    ft_command instrument = {0};
    ft_command_add(&instrument, tool);
    ft_command_add(&instrument, plain);
    ft_command_add(&instrument, full);
    int code = make_bitcode(b, in, i, object, plain);
    if (!code) code = ft_process_run(&instrument);
    if (!code) code = make_object(b, in, full, object);
    unlink(plain);
    unlink(full);
    free(instrument.data);
    free(plain);
    free(full);
    free(tool);
    return code;
}

/* ---- all of it */

/* The command line as it is, without those sources. */
static int hand_on(const ft_build *b, const char *const *sources, unsigned n)
{
    ft_command c = {0};
    unsigned next = 0;
    ft_command_add(&c, b->compiler);
    for (int i = 1; i < b->argc; i++) {
        if (next < n && b->argv[i] == sources[next])
            next++;
        else
            ft_command_add(&c, b->argv[i]);
    }
    ft_command_add_all(&c, unoptimised); /* a precompiled header fits no other */
    ft_command_add(&c, "-isystem");
    ft_command_add(&c, b->include);
    return ft_process_run(&c);
}

/* One name for several files: which of them would be lost, nobody could tell. To assembler nothing
 * comes of a source that is assembler. */
static bool has_names(const inputs *in)
{
    unsigned n = in->n + (in->assembly ? 0 : in->assembled);
    return !in->output || n < 2;
}

static int compile_only(const ft_build *b, const inputs *in, const char *work)
{
    int code = 0;
    if (!has_names(in)) {
        fputs("foretell-cc: cannot specify -o when generating multiple output files\n", stderr);
        return 1;
    }
    for (unsigned i = 0; i < in->n && !code; i++) {
        const char *object = in->output;
        if (!object) object = with_ending(base_of(in->sources[i]), in->assembly ? ".s" : ".o");
        code = compile(b, in, i, object, work);
    }
    if (!code && in->assembled && !in->assembly) code = hand_on(b, in->sources, in->n);
    return code;
}

/* The command line, with objects in the place of sources. */
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
    if (b->link->shared && b->strict) ft_command_add(c, "-Wl,-z,undefs");
    ft_link_add(b->link, c);
}

static int link_objects(const ft_build *b, const inputs *in, char **objects)
{
    ft_command c = {0};
    add_link(&c, b, in, objects);
    int code = ft_process_run(&c);
    free(c.data);
    return code;
}

static int compile_and_link(const ft_build *b, const inputs *in, const char *work)
{
    int code = 0;
    char **objects = calloc(in->n + 1u, sizeof *objects);
    if (!objects) ft_process_die("out of memory");
    for (unsigned i = 0; i < in->n && !code; i++) {
        char name[32];
        snprintf(name, sizeof name, "%u.o", i);
        objects[i] = path(work, name);
        code = compile(b, in, i, objects[i], work);
    }
    if (!code) code = link_objects(b, in, objects);
    if (!code && b->links && ft_link_see(b->link, in->output ? in->output : "a.out"))
        code = link_objects(b, in, objects);
    for (unsigned i = 0; i < in->n; i++) {
        if (!objects[i]) continue;
        unlink(objects[i]);
        free(objects[i]);
    }
    free(objects);
    return code;
}

/* Also removes files that the compiler left there (-save-temps=obj). */
static void remove_folder(const char *work)
{
    DIR *folder = opendir(work);
    for (struct dirent *entry; folder && (entry = readdir(folder));)
        if (entry->d_type != DT_DIR) unlinkat(dirfd(folder), entry->d_name, 0);
    if (folder) closedir(folder);
    rmdir(work);
}

int ft_symbolic_build(const ft_build *b)
{
    const char *folder = getenv("TMPDIR");
    inputs in = look_at(b);
    if (in.other || (!in.n && !b->links)) return hand_on(b, NULL, 0);
    char *work = path(folder && *folder ? folder : "/tmp", "foretell-cc-XXXXXX");
    ft_process_catch();
    if (!mkdtemp(work)) ft_process_die("no folder for temporary files");
    int code = in.compiles ? compile_only(b, &in, work) : compile_and_link(b, &in, work);
    remove_folder(work);
    free(work);
    ft_process_reraise();
    return code;
}
