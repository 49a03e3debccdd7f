#include "models.h"

/* The bytes of a file, and their number. */
#define FILE_OF_BYTES(name, file)                                                                  \
    __asm__(".section .rodata\n"                                                                   \
            ".balign 16\n"                                                                         \
            ".global " #name "\n" #name ":\n"                                                      \
            ".incbin \"" file "\"\n" #name "_end:\n"                                               \
            ".balign 8\n"                                                                          \
            ".global " #name "_size\n" #name "_size:\n"                                            \
            ".quad " #name "_end - " #name "\n"                                                    \
            ".previous\n")

FILE_OF_BYTES(foretell_models, FT_MODELS); /* which the build makes from models/ */
FILE_OF_BYTES(foretell_preamble, FT_PREAMBLE);
