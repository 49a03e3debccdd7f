#include "base/memory_name.h"

#include <string.h>

/* How long the part of the name at text is that comes before its caller; 0: it has none. */
static size_t site_length(const char *text)
{
    static const char *const kinds[] = {"heap(", "block("};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        size_t n = strlen(kinds[i]);
        if (strncmp(text, kinds[i], n) != 0) continue;
        size_t end = strcspn(text, ")");
        const char *caller = strstr(text, FT_MEMORY_FOR);
        return caller && caller < text + end ? (size_t)(caller - text) : 0;
    }
    return 0;
}

void ft_memory_name_add_plain(const char *text, ft_strbuf *out)
{
    while (*text) {
        size_t n = site_length(text);
        ft_strbuf_add(out, text, n ? n : 1);
        text += n ? strcspn(text, ")") : 1;
    }
}
