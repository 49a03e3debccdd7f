#include "models.h"

/* FT_MODELS: the file, which the build makes from models/. */
__asm__(".section .rodata\n"
        ".balign 16\n"
        ".global foretell_models\n"
        "foretell_models:\n"
        ".incbin \"" FT_MODELS "\"\n"
        "foretell_models_end:\n"
        ".balign 8\n"
        ".global foretell_models_size\n"
        "foretell_models_size:\n"
        ".quad foretell_models_end - foretell_models\n"
        ".previous\n");
