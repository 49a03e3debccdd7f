#include "explore/subtree.h"

#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "base/map.h"

static const char LETTERS[] = {
    [FT_X_TAKEN] = '+', [FT_X_KNOWN] = '=', [FT_X_AVOIDED] = '-', [FT_X_ALONG] = '>'};

void ft_x_subtrees_release(ft_x_subtrees *all)
{
    for (size_t i = 0; i < all->len; i++) ft_vec_release(&all->data[i]);
    ft_vec_release(all);
}

ft_x_name ft_x_subtree_key(const ft_x_subtree *s)
{
    uint64_t a = 1, b = 2;
    for (size_t i = 0; i < s->len; i++) {
        const ft_x_mark *m = &s->data[i];
        if (m->kind == FT_X_ALONG) continue;
        uint64_t word =
            (uint64_t)m->thread << 16 | (uint64_t)m->variant << 8 | (m->kind == FT_X_AVOIDED);
        a = ft_hash_u64(a * UINT64_C(0x9E3779B97F4A7C15) + word);
        b = ft_hash_u64(b * UINT64_C(0xD1B54A32D192ED03) ^ word);
    }
    return (ft_x_name){a, b};
}

void ft_x_subtree_print(const ft_x_subtree *s, ft_strbuf *out)
{
    for (size_t i = 0; i < s->len; i++) {
        const ft_x_mark *m = &s->data[i];
        assert(m->kind < sizeof LETTERS);
        ft_strbuf_printf(out, "%c%u", LETTERS[m->kind], m->thread);
        if (m->variant) ft_strbuf_printf(out, ".%u", m->variant);
    }
}

/* At most 255; false: there is no such number. */
static bool parse_number(const char **text, uint8_t *number)
{
    unsigned value = 0;
    const char *at = *text;
    for (; *at >= '0' && *at <= '9' && value <= UINT8_MAX; at++)
        value = value * 10 + (unsigned)(*at - '0');
    if (at == *text || value > UINT8_MAX) return false;
    *text = at;
    *number = (uint8_t)value;
    return true;
}

static bool parse_mark(const char **text, ft_x_mark *m)
{
    const char *letter = memchr(LETTERS, **text, sizeof LETTERS);
    if (!letter) return false;
    *m = (ft_x_mark){.kind = (uint8_t)(letter - LETTERS)};
    ++*text;
    if (!parse_number(text, &m->thread) || m->thread >= FT_X_THREADS) return false;
    if (**text != '.') return true;
    ++*text;
    return parse_number(text, &m->variant);
}

ft_status ft_x_subtree_parse(const char *text, ft_x_subtree *s, ft_error *err)
{
    FT_REQUIRE(!s->len);
    const char *at = text;
    bool along = false;
    while (*at) {
        ft_x_mark m;
        if (!parse_mark(&at, &m) || (along && m.kind != FT_X_ALONG)) {
            s->len = 0;
            return ft_error_set(err, FT_INPUT, "'%.200s' is not the name of a subtree: column %zu",
                                text, (size_t)(at - text) + 1);
        }
        along = m.kind == FT_X_ALONG;
        ft_vec_push(s, m);
    }
    return FT_OK;
}
