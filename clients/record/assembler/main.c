/* foretell-as: the system's assembler for what foretell-cc compiles. Compilers run it as `as`
 * (their option -B); it hands everything on, inline assembly with the recorder's calls (rewrite.h).
 * What the assembler does not take with them it gets without. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rewrite.h"

enum { FAILURE = 1, PATH_ROOM = 64 };

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

static int run(char **argv) __attribute__((noreturn));
static int run(char **argv)
{
    argv[0] = "as";
    execvp("as", argv);
    die("as");
    abort();
}

/* ---- its text */

static void read_all(int fd, ft_asm_buffer *b)
{
    for (;;) {
        if (b->n == b->room) {
            b->room = b->room ? 2 * b->room : 1 << 18;
            b->data = realloc(b->data, b->room);
            if (!b->data) die("its source");
        }
        ssize_t n = read(fd, b->data + b->n, b->room - b->n);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) die("its source");
        if (!n) return;
        b->n += (size_t)n;
    }
}

/* A file of that content that has no name but this one. */
static char *file_of(const ft_asm_buffer *b)
{
    char *path = malloc(PATH_ROOM);
    int fd = memfd_create("assembly", 0);
    if (!path || fd < 0) die("no room for a file");
    for (size_t done = 0; done < b->n;) {
        ssize_t n = write(fd, b->data + done, b->n - done);
        if (n < 0 && errno != EINTR) die("no room for a file");
        if (n > 0) done += (size_t)n;
    }
    snprintf(path, PATH_ROOM, "/proc/self/fd/%d", fd);
    return path;
}

/* Its exit code; it says nothing, since it is tried again. */
static int try(char **argv)
{
    int status;
    pid_t child = fork();
    if (child < 0) die("cannot start another program");
    if (!child) {
        int nowhere = open("/dev/null", O_WRONLY);
        if (nowhere >= 0) dup2(nowhere, STDERR_FILENO);
        run(argv);
    }
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR) die("lost its child");
    return WIFEXITED(status) ? WEXITSTATUS(status) : FAILURE;
}

int main(int argc, char **argv)
{
    static char standard_input[] = "-";
    int at = source_of(argc, argv);
    if (!at) run(argv);
    char **arguments = calloc((size_t)argc + 2, sizeof *arguments);
    if (!arguments) die("its arguments");
    for (int i = 0; i < argc; i++) arguments[i] = argv[i];
    bool piped = at == argc || !strcmp(argv[at], standard_input);
    int fd = piped ? STDIN_FILENO : open(argv[at], O_RDONLY | O_CLOEXEC);
    if (fd < 0) run(argv); /* which says so */
    ft_asm_buffer text = {0}, made = {0};
    read_all(fd, &text);
    ft_asm_counts counts = ft_asm_rewrite(text.data, text.n, &made);
    if (made.failed) die("out of memory");
    if (!counts.seen && !counts.orders && !piped) run(argv);
    if (counts.unseen) ft_asm_mark(&made, counts.unseen);
    arguments[at] = file_of(&made);
    int code = try(arguments);
    if (!code) return 0;
    if (counts.seen) ft_asm_mark(&text, counts.orders);
    arguments[at] = counts.orders || piped ? file_of(&text) : argv[at];
    run(arguments);
}
