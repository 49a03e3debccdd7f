/* Places in the program as FILE:LINE. */
#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "exploring/exploring.h"

enum { APART = 40 /* bits: modules lie so far from each other here */ };

static uint64_t base_of(ft_places *p, const char *module)
{
    size_t i = 0;
    while (i < p->modules.len && strcmp(p->modules.data[i], module) != 0) i++;
    uint64_t base = (uint64_t)(i + 1) << APART;
    if (i == p->modules.len) {
        if (!p->symbols) p->symbols = ft_symbols_new();
        ft_vec_push(&p->modules, module);
        ft_symbols_module(p->symbols, module, base);
    }
    return base;
}

void ft_places_print(ft_places *p, const ft_native_place *place, ft_strbuf *out)
{
    ft_code_place at;
    ft_strbuf text = {0};
    if (!place->module) {
        ft_strbuf_puts(out, "?");
        return;
    }
    uint64_t pc = base_of(p, place->module) + place->offset + 1;
    if (ft_symbols_place(p->symbols, pc, &text, &at))
        ft_strbuf_puts(out, ft_strbuf_text(&text));
    else
        ft_strbuf_printf(out, "%s+0x%llx", place->module, (unsigned long long)place->offset);
    ft_strbuf_release(&text);
}

char *ft_places_text(ft_places *p, const ft_native_place *place)
{
    ft_strbuf text = {0};
    ft_places_print(p, place, &text);
    return ft_strbuf_take(&text);
}

void ft_places_release(ft_places *p)
{
    ft_symbols_free(p->symbols);
    ft_vec_release(&p->modules);
    *p = (ft_places){0};
}
