#include "native/program_text.h"

#include "base/strbuf.h"

char *program_text(const schedule_program *p)
{
    ft_strbuf text = {0};
    ft_strbuf_printf(&text, "%u", p->n_threads);
    for (uint32_t i = 0; i < SCHEDULE_OBJECTS; i++)
        ft_strbuf_printf(&text, " %lld", (long long)p->initial[i]);
    for (uint32_t t = 0; t < p->n_threads; t++) {
        ft_strbuf_printf(&text, " %u", p->length[t]);
        for (uint32_t i = 0; i < p->length[t]; i++) {
            const ft_x_operation *o = &p->code[t][i];
            ft_strbuf_printf(&text, " %u %u %u %lld %lld", o->kind, o->object, o->other,
                             (long long)o->value, (long long)o->value2);
        }
    }
    return ft_strbuf_take(&text);
}
