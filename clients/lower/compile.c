#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <llvm-c/BitReader.h>
#include <llvm-c/IRReader.h>
#include <llvm-c/Linker.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "internal.h"
#include "models.h"

extern char **environ;

#define COMPILER "clang-14"

static bool ends_in(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

/* ---- the compiler, which prints its own messages ---- */

static ft_status run(char *const *command, ft_error *err)
{
    pid_t pid;
    int status = 0;
    int error = posix_spawnp(&pid, command[0], NULL, NULL, command, environ);
    if (error)
        return ft_error_set(err, FT_IO, "%s cannot be started (%s): install it (Debian: clang-14)",
                            command[0], strerror(error));
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
    if (status)
        return ft_error_set(err, FT_INPUT, "%s did not compile '%s'", command[0],
                            command[1] ? command[2] : "");
    return FT_OK;
}

static bool is_cplusplus(const char *file)
{
    static const char *const ENDINGS[] = {".cc", ".cp", ".cpp", ".cxx", ".c++", ".C", ".ii"};
    for (size_t i = 0; i < sizeof ENDINGS / sizeof *ENDINGS; i++)
        if (ends_in(file, ENDINGS[i])) return true;
    return false;
}

/* foretell/input.h is there, beside this program or where Foretell is installed. */
static char *recorder_headers(void)
{
    static char path[PATH_MAX];
    static const char *const PLACES[] = {"../share/foretell/record/include", "record/include"};
    char self[PATH_MAX] = {0};
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    char *slash = length > 0 ? strrchr(self, '/') : NULL;
    if (slash) *slash = '\0';
    for (size_t i = 0; slash && i < sizeof PLACES / sizeof *PLACES; i++) {
        int n = snprintf(path, sizeof path, "%s/%s", self, PLACES[i]);
        if (n > 0 && (size_t)n < sizeof path && access(path, R_OK) == 0) return path;
    }
    return "/";
}

/* The name of the text before a file of C++, or NULL. */
static char *preamble(void)
{
    static char path[32];
    if (path[0]) return path;
    FILE *file = tmpfile(); /* the compiler inherits it; it is there until this process ends */
    bool written = file && fwrite(foretell_preamble, foretell_preamble_size, 1, file) == 1;
    if (!written || fflush(file)) return NULL;
    snprintf(path, sizeof path, "/proc/self/fd/%d", fileno(file));
    return path;
}

static const char *const CPLUSPLUS[] = {"-std=gnu++17", "-fno-exceptions", "-fno-rtti"};

/* Without a pass of optimisation, which would merge reads of shared variables, but without the
 * attribute that keeps locals from being promoted, and with the bodies of C99's inline functions.
 */
static ft_status compile(const char *file, char *const *arguments, size_t n, const char *to,
                         ft_error *err)
{
    static const char *const FIXED[] = {"-O1",
                                        "-g",
                                        "-Xclang",
                                        "-disable-llvm-passes",
                                        "-emit-llvm",
                                        "-fno-builtin",
                                        "-U__OPTIMIZE__",
                                        "-D__NO_CTYPE",
                                        "-ffp-contract=off",
                                        "-o"};
    FT_VEC(char *) command = {0};
    ft_vec_push(&command, COMPILER);
    ft_vec_push(&command, "-c");
    ft_vec_push(&command, (char *)(uintptr_t)file);
    if (is_cplusplus(file)) {
        for (size_t i = 0; i < sizeof CPLUSPLUS / sizeof CPLUSPLUS[0]; i++)
            ft_vec_push(&command, (char *)(uintptr_t)CPLUSPLUS[i]);
        char *before = preamble();
        if (before) ft_vec_push(&command, "-include");
        if (before) ft_vec_push(&command, before);
    }
    for (size_t i = 0; i < n; i++) ft_vec_push(&command, arguments[i]);
    for (size_t i = 0; i < sizeof FIXED / sizeof FIXED[0]; i++)
        ft_vec_push(&command, (char *)(uintptr_t)FIXED[i]);
    ft_vec_push(&command, (char *)(uintptr_t)to);
    /* Behind the system's headers: only those of the recorder that no system has are found. */
    ft_vec_push(&command, "-idirafter");
    ft_vec_push(&command, recorder_headers());
    ft_vec_push(&command, NULL);
    ft_status status = run(command.data, err);
    ft_vec_release(&command);
    return status;
}

/* ---- modules ---- */

static ft_status parse(LLVMContextRef context, LLVMMemoryBufferRef buffer, const char *name,
                       LLVMModuleRef *module, ft_error *err)
{
    char *message = NULL;
    if (!LLVMParseIRInContext(context, buffer, module, &message))
        return FT_OK; /* takes the buffer */
    ft_error_set(err, FT_INPUT, "%s: %.300s", name, message ? message : "not LLVM 14's bitcode");
    LLVMDisposeMessage(message);
    return FT_INPUT;
}

static ft_status read_module(LLVMContextRef context, const char *file, const char *name,
                             LLVMModuleRef *module, ft_error *err)
{
    LLVMMemoryBufferRef buffer;
    char *message = NULL;
    if (LLVMCreateMemoryBufferWithContentsOfFile(file, &buffer, &message)) {
        ft_error_set(err, FT_IO, "%s: %.300s", name, message ? message : "cannot be read");
        LLVMDisposeMessage(message);
        return FT_IO;
    }
    return parse(context, buffer, name, module, err);
}

static ft_status read_source(LLVMContextRef context, const char *file, char *const *arguments,
                             size_t n, LLVMModuleRef *module, ft_error *err)
{
    char path[] = "/tmp/foretell-lower-XXXXXX";
    int made = mkstemp(path);
    if (made < 0) return ft_error_set(err, FT_IO, "/tmp: %s", strerror(errno));
    close(made);
    ft_status status = compile(file, arguments, n, path, err);
    if (status == FT_OK) status = read_module(context, path, file, module, err);
    unlink(path);
    return status;
}

static ft_status read_file(LLVMContextRef context, const char *file, char *const *arguments,
                           size_t n, LLVMModuleRef *module, ft_error *err)
{
    bool lowered = ends_in(file, ".bc") || ends_in(file, ".ll");
    if (access(file, R_OK)) return ft_error_set(err, FT_IO, "%s: %s", file, strerror(errno));
    return lowered ? read_module(context, file, file, module, err)
                   : read_source(context, file, arguments, n, module, err);
}

/* The program's own function of a name wins over the model, unless the model says that it takes the
 * place of one that C++ headers define. */
static void weaken(LLVMModuleRef models)
{
    for (LLVMValueRef f = LLVMGetFirstFunction(models); f; f = LLVMGetNextFunction(f)) {
        const char *section = LLVMGetSection(f);
        bool instead = section && strcmp(section, ".foretell.instead") == 0;
        if (!LLVMIsDeclaration(f) && !instead && LLVMGetLinkage(f) == LLVMExternalLinkage)
            LLVMSetLinkage(f, LLVMWeakAnyLinkage);
    }
    for (LLVMValueRef g = LLVMGetFirstGlobal(models); g; g = LLVMGetNextGlobal(g))
        if (LLVMGetInitializer(g) && LLVMGetLinkage(g) == LLVMExternalLinkage)
            LLVMSetLinkage(g, LLVMWeakAnyLinkage);
}

static ft_status read_models(LLVMContextRef context, LLVMModuleRef *module, ft_error *err)
{
    LLVMMemoryBufferRef buffer = LLVMCreateMemoryBufferWithMemoryRange(
        (const char *)foretell_models, foretell_models_size, "models", false);
    LOWER_TRY(parse(context, buffer, "the models", module, err));
    weaken(*module);
    return FT_OK;
}

static ft_status link_into(LLVMModuleRef *all, LLVMModuleRef added, const char *name, ft_error *err)
{
    if (!*all) return *all = added, FT_OK;
    if (LLVMLinkModules2(*all, added)) /* disposes of `added` */
        return ft_error_set(err, FT_INPUT,
                            "'%s' cannot be linked with the other files: both "
                            "define a name",
                            name);
    return FT_OK;
}

static ft_status promote_locals(LLVMModuleRef module, ft_error *err)
{
    LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
    LLVMErrorRef error = LLVMRunPasses(module, "function(mem2reg)", NULL, options);
    LLVMDisposePassBuilderOptions(options);
    if (!error) return FT_OK;
    char *message = LLVMGetErrorMessage(error);
    ft_error_set(err, FT_INTERNAL, "locals cannot be promoted: %.300s", message);
    LLVMDisposeErrorMessage(message);
    return FT_INTERNAL;
}

static ft_status link_all(LLVMContextRef context, char *const *files, size_t n_files,
                          char *const *arguments, size_t n, LLVMModuleRef *all, ft_error *err)
{
    LLVMModuleRef module = NULL;
    for (size_t i = 0; i < n_files; i++) {
        LOWER_TRY(read_file(context, files[i], arguments, n, &module, err));
        LOWER_TRY(link_into(all, module, files[i], err));
    }
    bool thread_ends = lower_has_thread_ends(*all);
    LOWER_TRY(read_models(context, &module, err));
    LOWER_TRY(link_into(all, module, "the models", err));
    if (thread_ends) lower_run_thread_ends(*all);
    lower_frame_main(*all);
    lower_make_mutexes(*all);
    return promote_locals(*all, err);
}

ft_status ft_lower_compile(LLVMContextRef context, char *const *files, size_t n_files,
                           char *const *arguments, size_t n_arguments, LLVMModuleRef *module,
                           ft_error *err)
{
    FT_REQUIRE(context && files && n_files && module);
    LLVMModuleRef all = NULL;
    ft_status status = link_all(context, files, n_files, arguments, n_arguments, &all, err);
    if (status == FT_OK)
        *module = all;
    else if (all)
        LLVMDisposeModule(all);
    return status;
}
