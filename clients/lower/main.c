#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"
#include "program/binary.h"
#include "program/text.h"

static const char HELP[] =
    "usage: foretell-lower [OPTION]... FILE... -o PROGRAM\n"
    "\n"
    "Compiles C sources (or LLVM 14 bitcode, .bc and .ll) to a program as data, with models of "
    "the\n"
    "C library's functions. What cannot be lowered is an error that names the function and place.\n"
    "\n"
    "  -o PROGRAM      where to; - is standard output\n"
    "  --threads=N     a thread that would start more than N others goes no further\n"
    "  --text          as text, which people can read; else binary\n"
    "  -I, -D, -U ...  are the compiler's\n"
    "  -h, --help      show this help\n"
    "\n"
    "  foretell-lower queue.c -o queue.program\n"
    "  foretell-lower --text queue.c -o - | less\n";

typedef struct request {
    FT_VEC(char *) files;
    FT_VEC(char *) arguments;
    const char *output;
    bool text;
    unsigned threads; /* that one may start; 0: no bound */
} request;

static int refuse(const char *message, const char *what)
{
    fprintf(stderr, "foretell-lower: %s%s; see foretell-lower --help\n", message, what);
    return 2;
}

/* -1: go on. */
static int read_arguments(int argc, char **argv, request *r)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "-h") == 0 || strcmp(argv[i], "--help") == 0)
            return fputs(HELP, stdout), 0;
        if (strcmp(argv[i], "-o") == 0 && i + 1 < argc)
            r->output = argv[++i];
        else if (strncmp(argv[i], "--threads=", 10) == 0)
            r->threads = (unsigned)strtoul(argv[i] + 10, NULL, 10);
        else if (strcmp(argv[i], "--text") == 0)
            r->text = true;
        else if (strncmp(argv[i], "--", 2) == 0)
            return refuse("unknown option ", argv[i]);
        else if (argv[i][0] == '-' && argv[i][1])
            ft_vec_push(&r->arguments, argv[i]);
        else
            ft_vec_push(&r->files, argv[i]);
    }
    if (!r->files.len) return refuse("no file is given", "");
    return r->output ? -1 : refuse("no -o PROGRAM is given", "");
}

static ft_status write_program(const request *r, const ft_program *program, ft_error *err)
{
    ft_strbuf out = {0};
    bool standard = strcmp(r->output, "-") == 0;
    if (r->text)
        ft_program_print(program, &out);
    else
        ft_program_write_binary(program, &out);
    FILE *file = standard ? stdout : fopen(r->output, "we");
    bool good = file && fwrite(out.text, 1, out.len, file) == out.len;
    if (file && (standard ? fflush(file) : fclose(file))) good = false;
    ft_strbuf_release(&out);
    if (good) return FT_OK;
    return ft_error_set(err, ft_status_from_errno(errno), "%s: %s", r->output, strerror(errno));
}

static ft_status lower(const request *r, ft_error *err)
{
    LLVMContextRef context = LLVMContextCreate();
    LLVMModuleRef module = NULL;
    ft_program *program = NULL;
    ft_status status = ft_lower_compile(context, r->files.data, r->files.len, r->arguments.data,
                                        r->arguments.len, &module, err);
    if (status == FT_OK && r->threads) ft_lower_bound_threads(module, r->threads);
    if (status == FT_OK) status = ft_lower_module(module, &program, err);
    if (status == FT_OK) status = write_program(r, program, err);
    ft_program_free(program);
    if (module) LLVMDisposeModule(module);
    LLVMContextDispose(context);
    return status;
}

int main(int argc, char **argv)
{
    request r = {0};
    ft_error err = FT_ERROR_INIT;
    int code = read_arguments(argc, argv, &r);
    if (code < 0) {
        ft_status status = lower(&r, &err);
        if (status != FT_OK) fprintf(stderr, "foretell-lower: %s\n", err.message);
        code = ft_status_exit_code(status);
    }
    ft_vec_release(&r.files);
    ft_vec_release(&r.arguments);
    return code;
}
