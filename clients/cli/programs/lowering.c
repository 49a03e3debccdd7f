#include "programs/programs.h"

#include <errno.h>
#include <limits.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/contract.h"
#include "program/binary.h"

extern char **environ;

#define PROGRAM "foretell-lower"

bool ft_lowering_takes(const char *path)
{
    static const char *const ENDINGS[] = {".c",   ".i",   ".C",  ".cc", ".cp", ".cpp",
                                          ".cxx", ".c++", ".ii", ".bc", ".ll"};
    const char *slash = strrchr(path, '/'), *dot = strrchr(slash ? slash : path, '.');
    for (size_t i = 0; dot && i < sizeof ENDINGS / sizeof *ENDINGS; i++)
        if (strcmp(dot, ENDINGS[i]) == 0) return true;
    return false;
}

bool ft_lowering_made(const char *path)
{
    static const char TEXT[] = "program 1";
    char head[64] = {0};
    FILE *file = fopen(path, "re");
    size_t n = file ? fread(head, 1, sizeof head - 1, file) : 0;
    if (file) fclose(file);
    return ft_program_is_binary(head, n) || strncmp(head, TEXT, sizeof TEXT - 1) == 0;
}

/* ---- where it is ---- */

/* NULL: not in that folder, which is relative to this program's. */
static char *in_folder(const char *folder)
{
    char self[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    ft_strbuf path = {0};
    if (length <= 0) return NULL;
    self[length] = '\0';
    char *slash = strrchr(self, '/');
    if (slash) *slash = '\0';
    ft_strbuf_printf(&path, "%s/%s" PROGRAM, self, folder);
    if (access(ft_strbuf_text(&path), X_OK) == 0) return ft_strbuf_take(&path);
    ft_strbuf_release(&path);
    return NULL;
}

static char *find_program(void)
{
    char *path = in_folder("");
    if (!path) path = in_folder("../lib/foretell/");
    return path ? path : ft_strdup(PROGRAM);
}

/* ---- its words ---- */

typedef FT_VEC(char *) words;

static void add(words *w, const char *letter, const char *text)
{
    ft_strbuf word = {0};
    ft_strbuf_printf(&word, "%s%s", letter, text);
    ft_vec_push(w, ft_strbuf_take(&word));
}

static void add_each(words *w, const char *letter, const ft_texts *texts)
{
    for (size_t i = 0; i < texts->len; i++) add(w, letter, texts->data[i]);
}

/* A name that begins with a dash is not an option. */
static void add_files(words *w, const ft_texts *files)
{
    for (size_t i = 0; i < files->len; i++)
        add(w, files->data[i][0] == '-' ? "./" : "", files->data[i]);
}

static words words_of(const ft_options *o, const char *path)
{
    words w = {0};
    ft_vec_push(&w, find_program());
    add_each(&w, "-I", &o->includes);
    add_each(&w, "-D", &o->defines);
    add_each(&w, "-U", &o->undefines);
    if (o->standard) add(&w, "-std=", o->standard);
    if (o->threads) {
        char most[32];
        snprintf(most, sizeof most, "--threads=%u", o->threads);
        add(&w, most, "");
    }
    if (o->text) add(&w, "--text", "");
    add(&w, "-o", "");
    add(&w, "", path ? path : "-");
    add_files(&w, &o->arguments);
    ft_vec_push(&w, NULL);
    return w;
}

/* ---- running it ---- */

static ft_status missing(int error, ft_error *err)
{
    if (error != ENOENT)
        return ft_error_set(err, FT_IO, PROGRAM " cannot be started: %s", strerror(error));
    return ft_error_set(err, FT_USAGE,
                        PROGRAM " is not installed: it compiles sources, and needs LLVM 14; "
                                "install clang-14 and llvm-14-dev, and build Foretell again");
}

static ft_status await(pid_t pid, ft_error *err)
{
    int status = 0;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
    if (WIFSIGNALED(status))
        return ft_error_set(err, FT_INTERNAL, PROGRAM " was ended by signal %d", WTERMSIG(status));
    return WEXITSTATUS(status) ? ft_error_set(err, FT_INPUT, "%s", "") : FT_OK;
}

ft_status ft_lowering_run(const ft_options *options, const char *path, FILE *to, ft_error *err)
{
    FT_REQUIRE(!path != !to);
    pid_t pid;
    words w = words_of(options, path);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    if (to) posix_spawn_file_actions_adddup2(&actions, fileno(to), STDOUT_FILENO);
    int error = posix_spawnp(&pid, w.data[0], &actions, NULL, w.data, environ);
    posix_spawn_file_actions_destroy(&actions);
    for (size_t i = 0; i < w.len; i++) free(w.data[i]);
    ft_vec_release(&w);
    ft_status status = error ? missing(error, err) : await(pid, err);
    if (status == FT_OK && to) rewind(to);
    return status;
}

/* ---- programs */

static ft_status open_program(const ft_options *options, FILE **file, ft_error *err)
{
    const char *path = options->arguments.data[0];
    bool source = ft_lowering_takes(path);
    *file = source ? tmpfile() : fopen(path, "re");
    if (!*file) return ft_error_set(err, FT_USAGE, "cannot be read: %s", strerror(errno));
    return source ? ft_lowering_run(options, NULL, *file, err) : FT_OK;
}

ft_status ft_lowering_read(const ft_options *options, ft_program **program, ft_error *err)
{
    FT_REQUIRE(options->arguments.len && program);
    FILE *file = NULL;
    char part[65536];
    ft_strbuf bytes = {0};
    ft_status status = open_program(options, &file, err);
    for (size_t n; status == FT_OK && (n = fread(part, 1, sizeof part, file)) > 0;)
        ft_strbuf_add(&bytes, part, n);
    if (status == FT_OK) status = ft_program_read(ft_strbuf_text(&bytes), bytes.len, program, err);
    ft_strbuf_release(&bytes);
    if (file) fclose(file);
    return status;
}
