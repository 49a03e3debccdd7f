#include "maker/inventory/inventory.h"

#include <stdlib.h>
#include <string.h>

#include "base/contract.h"

void ft_inventory_init(ft_inventory *inventory)
{
    *inventory = (ft_inventory){0};
    ft_vec_push(&inventory->parents, 0);
    ft_vec_push(&inventory->sites, 0);
}

void ft_inventory_release(ft_inventory *inventory)
{
    for (size_t i = 0; i < inventory->modules.len; i++) free(inventory->modules.data[i].path);
    for (size_t i = 0; i < inventory->words.len; i++) free(inventory->words.data[i]);
    ft_vec_release(&inventory->modules);
    ft_vec_release(&inventory->words);
    ft_vec_release(&inventory->sites);
    ft_vec_release(&inventory->frames);
    ft_vec_release(&inventory->objects);
    ft_vec_release(&inventory->parents);
    ft_vec_release(&inventory->allocations);
}

static void add_thread(ft_inventory *inventory, const ft_raw_record *r)
{
    assert(r->operands[1] == inventory->parents.len && r->thread < inventory->parents.len);
    ft_vec_push(&inventory->parents, r->thread);
}

static void add_module(ft_inventory *inventory, const ft_raw_record *r)
{
    char *path = ft_strndup((const char *)r->text, r->length);
    ft_vec_push(&inventory->modules, (ft_inventory_module){.path = path, .base = r->operands[0]});
}

/* A replay runs with this process's LD_LIBRARY_PATH: the recording's needs to be kept only where it
 * differs. */
static bool is_own_setting(const char *word)
{
    static const char name[] = "LD_LIBRARY_PATH";
    const char *own = getenv(name);
    size_t n = sizeof name - 1;
    return own && !strncmp(word, name, n) && word[n] == '=' && !strcmp(word + n + 1, own);
}

static void add_words(ft_inventory *inventory, const ft_raw_record *r)
{
    const char *at = (const char *)r->text, *end = at + r->length, *zero = memchr(at, 0, r->length);
    if (zero && is_own_setting(at)) at = zero + 1;
    for (; at < end && (zero = memchr(at, 0, (size_t)(end - at))); at = zero + 1)
        ft_vec_push(&inventory->words, ft_strndup(at, (size_t)(zero - at)));
}

static void add_site(ft_inventory *inventory, const ft_raw_record *r)
{
    assert(inventory->sites.len < FT_RAW_SITES); /* the reader takes no more */
    ft_vec_push(&inventory->sites, r->operands[0]);
    inventory->instrumented |= r->operands[1] == FT_RAW_ENTER;
}

static void (*const adders[FT_RAW_OPERATIONS])(ft_inventory *, const ft_raw_record *) = {
    [FT_RAW_FORK] = add_thread,
    [FT_RAW_MODULE] = add_module,
    [FT_RAW_ARGUMENTS] = add_words,
    [FT_RAW_SITE] = add_site,
};

void ft_inventory_add(ft_inventory *inventory, const ft_raw_record *record)
{
    FT_REQUIRE(!record->access && record->operation < FT_RAW_OPERATIONS);
    if (adders[record->operation]) adders[record->operation](inventory, record);
}

bool ft_inventory_is_sound(const ft_inventory *inventory)
{
    for (size_t t = 1; t < inventory->parents.len; t++)
        if (inventory->parents.data[t] >= t) return false;
    for (size_t i = 0; i < inventory->objects.len; i++) {
        const ft_inventory_object *o = &inventory->objects.data[i];
        bool in_block = o->allocation < inventory->allocations.len;
        if (o->class >= FT_RAW_CLASSES || o->frame > inventory->frames.len) return false;
        if (!in_block && o->allocation != UINT32_MAX) return false;
    }
    for (size_t i = 0; i < inventory->frames.len; i++)
        if (inventory->frames.data[i].site >= inventory->sites.len) return false;
    return inventory->parents.len && inventory->sites.len;
}

const ft_inventory_module *ft_inventory_module_at(const ft_inventory *inventory, uint64_t pc)
{
    const ft_inventory_module *best = NULL;
    for (size_t i = 0; i < inventory->modules.len; i++) {
        const ft_inventory_module *one = &inventory->modules.data[i];
        if (one->base <= pc && (!best || one->base > best->base)) best = one;
    }
    return best;
}
