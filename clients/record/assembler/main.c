/* foretell-as: the assembler for files that foretell-cc compiles. Compilers run it as `as` (their
 * option -B). It adds the recorder's calls to inline assembly (rewrite.h) and runs the assembler;
 * if that rejects the file, it runs it again on the file as it was.
 *
 * The assembler behind it is the system's `as`, or the clang that FT_ASSEMBLER_VARIABLE names:
 * clang's text has what only clang knows. */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "raw/assembly.h"
#include "rewrite.h"

enum { FAILURE = 1, PATH_ROOM = 64 };

static void die(const char *what) __attribute__((noreturn));
static void die(const char *what)
{
    fprintf(stderr, "foretell-as: %s: %s\n", what, strerror(errno));
    exit(FAILURE);
}

/* ---- the command line */

static bool is_one_of(const char *argument, const char *const *names)
{
    for (; *names; names++)
        if (!strcmp(argument, *names)) return true;
    return false;
}

/* The argument that is the source, argc: it comes on standard input; 0: nothing for us, since there
 * are several, or it is for another processor. */
static int source_of(int argc, char **argv)
{
    static const char *const takes_value[] = {
        "-o", "-I", "-MD", "--MD", "--defsym", "--debug-prefix-map", NULL};
    static const char *const others[] = {"--32", "--x32", "--version", "--help", "-v", NULL};
    int found = argc;
    for (int i = 1; i < argc; i++) {
        if (is_one_of(argv[i], others)) return 0;
        if (is_one_of(argv[i], takes_value)) {
            i++;
        } else if (argv[i][0] != '-' || !argv[i][1]) {
            if (found != argc) return 0;
            found = i;
        }
    }
    return found;
}

static char *joined(const char *before, const char *argument)
{
    char *made;
    if (asprintf(&made, "%s%s", before, argument) < 0) die("cannot build its command line");
    return made;
}

/* What clang writes in another way than the assembler, in one word with its value. It hands its own
 * -fdebug-prefix-map (and -ffile-prefix-map) to an assembler in the first of these ways. */
static const struct clang_name {
    const char *assembler, *clang;
} clang_names[] = {{"--debug-prefix-map", "-fdebug-prefix-map="}};

static const char *clang_name(const char *argument)
{
    for (size_t i = 0; i < sizeof clang_names / sizeof *clang_names; i++)
        if (!strcmp(argument, clang_names[i].assembler)) return clang_names[i].clang;
    return NULL;
}

/* For clang, which takes an assembler's options behind -Wa, and knows by itself for which processor
 * it is. */
static char *clang_argument(char *argument)
{
    if (argument[0] != '-' || !argument[1]) return argument;
    return joined("-Wa,", argument);
}

/* It warns of its own text (checksums of files that headers in one piece do not have): not here. */
static char **clang_arguments(const char *clang, int argc, char **argv)
{
    static const char *const as_they_are[] = {"-o", "-I", NULL};
    static char first[][40] = {"-c", "-Wno-unused-command-line-argument", "-Wa,--no-warn", "-x",
                               "assembler"};
    enum { FIRST = sizeof first / sizeof *first };
    char **made = calloc((size_t)argc + FIRST + 2, sizeof *made);
    int n = 0;
    if (!made || !(made[n++] = strdup(clang))) die("cannot build its command line");
    for (int i = 0; i < FIRST; i++) made[n++] = first[i];
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--64")) continue;
        const char *name = i + 1 < argc ? clang_name(argv[i]) : NULL;
        bool value = is_one_of(argv[i], as_they_are) && i + 1 < argc;
        if (name)
            made[n++] = joined(name, argv[++i]);
        else
            made[n++] = value ? argv[i] : clang_argument(argv[i]);
        if (value) made[n++] = argv[++i];
    }
    return made;
}

static void run(int argc, char **argv) __attribute__((noreturn));
static void run(int argc, char **argv)
{
    const char *clang = getenv(FT_ASSEMBLER_VARIABLE);
    argv[0] = "as";
    if (clang && *clang) argv = clang_arguments(clang, argc, argv);
    execvp(argv[0], argv);
    die(argv[0]);
}

/* ---- its text */

static void read_all(int fd, ft_asm_buffer *b)
{
    for (;;) {
        if (b->n == b->room) {
            b->room = b->room ? 2 * b->room : 1 << 18;
            b->data = realloc(b->data, b->room);
            if (!b->data) die("cannot read the source");
        }
        ssize_t n = read(fd, b->data + b->n, b->room - b->n);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) die("cannot read the source");
        if (!n) return;
        b->n += (size_t)n;
    }
}

/* A file of that content that has no name but this one. */
static char *file_of(const ft_asm_buffer *b)
{
    char *path = malloc(PATH_ROOM);
    int fd = memfd_create("assembly", 0);
    if (!path || fd < 0) die("cannot create a temporary file");
    for (size_t done = 0; done < b->n;) {
        ssize_t n = write(fd, b->data + done, b->n - done);
        if (n < 0 && errno != EINTR) die("cannot write a temporary file");
        if (n > 0) done += (size_t)n;
    }
    snprintf(path, PATH_ROOM, "/proc/self/fd/%d", fd);
    return path;
}

/* Runs the assembler and returns its exit code. Its messages are discarded: the caller tries again.
 */
static int try(int argc, char **argv)
{
    int status, said = memfd_create("said", 0);
    pid_t child = said < 0 ? -1 : fork();
    if (child < 0) die("cannot start the assembler");
    if (!child) {
        dup2(said, STDERR_FILENO);
        run(argc, argv);
    }
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR) die("cannot wait for the assembler");
    int code = WIFEXITED(status) ? WEXITSTATUS(status) : FAILURE;
    ft_asm_buffer text = {0};
    if (!code && lseek(said, 0, SEEK_SET) == 0) read_all(said, &text);
    if (text.n) fwrite(text.data, 1, text.n, stderr);
    free(text.data);
    close(said);
    return code;
}

/* The command line with a source, which is its last argument where it came on standard input. */
static char **copy_of(int argc, char **argv)
{
    char **made = calloc((size_t)argc + 2, sizeof *made);
    if (!made) die("cannot build its command line");
    memcpy(made, argv, (size_t)argc * sizeof *made);
    return made;
}

/* 0: it is assembled; else nothing is done, `text` is what there is to assemble, and argv[at] is
 * for the caller to set. */
static int assemble(int argc, char **argv, int at, ft_asm_buffer *text, bool piped)
{
    ft_asm_buffer made = {0};
    ft_asm_counts counts = ft_asm_rewrite(text->data, text->n, &made);
    if (made.failed) die("out of memory");
    if (counts.unseen) ft_asm_mark(&made, counts.unseen, counts.place);
    int code = FAILURE;
    if (counts.seen || counts.gone || counts.orders || piped) {
        char *file = argv[at] = file_of(&made);
        code = try(argc, argv);
        free(file);
    }
    if (counts.orders) ft_asm_mark(text, counts.orders, counts.place);
    free(made.data);
    return code;
}

int main(int argc, char **argv)
{
    int at = source_of(argc, argv);
    if (!at) run(argc, argv);
    int n = at == argc ? argc + 1 : argc; /* with the source */
    bool piped = at == argc || !strcmp(argv[at], "-");
    int fd = piped ? STDIN_FILENO : open(argv[at], O_RDONLY | O_CLOEXEC);
    if (fd < 0) run(argc, argv); /* which says so */
    ft_asm_buffer text = {0};
    read_all(fd, &text);
    size_t length = text.n;
    char **arguments = copy_of(argc, argv);
    int code = assemble(n, arguments, at, &text, piped);
    if (code) {
        arguments[at] = piped || text.n > length ? file_of(&text) : argv[at];
        run(n, arguments);
    }
    free(text.data);
    free(arguments);
    return 0;
}
