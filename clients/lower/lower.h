/* From LLVM's intermediate representation to programs as data (common/program): `foretell-lower`
 * compiles C with clang, links the models of the C library (models/), promotes locals, and lowers
 * what @main can reach. The only part of Foretell that knows LLVM beside the wrapper's pass.
 *
 *   main.c       the command            module.c    symbols: what is reached, globals, texts
 *   compile.c    clang, linking         function.c  blocks, phis, operands
 *   instruction.c, call.c, float.c      each of LLVM's instructions
 *
 * Nothing is left out silently: what cannot be lowered (unknown functions, inline assembly,
 * exceptions, vectors, integers of more than 64 bits) is an error that names function and place.
 *
 * Imports: common/base, common/program. */
#ifndef FT_LOWER_LOWER_H
#define FT_LOWER_LOWER_H

#include <llvm-c/Core.h>
#include <llvm-c/DebugInfo.h>
#include <llvm-c/Target.h>

#include "base/status.h"
#include "program/program.h"

/* Compiles and links the files (C sources, .bc, .ll) with the models; the caller disposes of it.
 * arguments: of the compiler (-I, -D, ...). */
ft_status ft_lower_compile(LLVMContextRef context, char *const *files, size_t n_files,
                           char *const *arguments, size_t n_arguments, LLVMModuleRef *module,
                           ft_error *err) FT_MUST_CHECK;
/* No thread starts more than so many others. */
void ft_lower_bound_threads(LLVMModuleRef module, unsigned most);
/* The program of the module, validated; the caller frees it. */
ft_status ft_lower_module(LLVMModuleRef module, ft_program **program, ft_error *err) FT_MUST_CHECK;

#endif
