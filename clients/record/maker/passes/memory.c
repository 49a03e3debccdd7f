/* Declares shared cells and their blocks in the trace, before the second pass. */
#include "maker/passes/memory.h"

#include <stdlib.h>

#include "base/contract.h"
#include "maker/passes/passes.h"

void ft_shared_memory_release(ft_shared_memory *memory)
{
    free(memory->shadows);
    free(memory->first_writes);
    ft_vec_release(&memory->blocks);
    ft_vec_release(&memory->uses);
    ft_vec_release(&memory->born);
    ft_map_release(&memory->live);
    ft_addresses_read_free(memory->addresses_read);
    ft_lives_release(&memory->lives);
}

static void declare_cell(ft_maker *m, uint32_t c, ft_strbuf *name)
{
    const ft_cell *cell = ft_cells_get(m->cells, c);
    ft_shadow *shadow = &m->memory.shadows[c];
    ft_strbuf_clear(name);
    ft_type type = ft_names_add_cell(&m->names, cell, name);
    ft_value initial = ft_maker_value(m, c, cell->initial, 0);
    uint32_t id = ft_builder_shared(m->builder, name->text, name->len, initial.sort);
    assert(id + 1 == ft_builder_peek(m->builder)->shared.len); /* no other has the name */
    ft_builder_shared_type(m->builder, id, type);
    if (cell->has_initial && !cell->left_over)
        ft_builder_shared_initial(m->builder, id, ft_builder_value(m->builder, initial));
    if (cell->has_initial)
        *shadow = (ft_shadow){.content = FT_CONTENT_KNOWN, .value = cell->initial};
    shadow->variable = id;
    bool heap = cell->allocation != FT_NO_ALLOCATION && !cell->ordered;
    shadow->guarded = heap && !ft_cells_extent_of(m->cells, cell->allocation).stack;
    if (shadow->guarded && cell->owner < m->threads.all.len)
        m->threads.all.data[cell->owner].gives = true;
}

void ft_maker_declare_cell(ft_maker *m, uint32_t c)
{
    ft_strbuf name = {0};
    declare_cell(m, c, &name);
    ft_strbuf_release(&name);
}

static void declare_cells(ft_maker *m)
{
    uint32_t n = ft_cells_count_of(m->cells);
    m->memory.shadows = ft_calloc(n + 1, sizeof *m->memory.shadows);
    m->memory.heap_size = ft_cells_heap(m->cells, &m->memory.heap);
    ft_strbuf name = {0};
    for (uint32_t c = 0; c < n; c++)
        if (!ft_cells_get(m->cells, c)->ordered) declare_cell(m, c, &name);
    ft_strbuf_release(&name);
}

static uint32_t declare_block(ft_maker *m, uint32_t allocation, const ft_cell_list *members)
{
    ft_strbuf name = {0};
    ft_names_add_block(&m->names, allocation, &name);
    uint32_t id =
        ft_builder_block(m->builder, name.text, name.len, members->data, (uint32_t)members->len);
    ft_strbuf_release(&name);
    assert(id == m->memory.uses.len);
    ft_vec_push(&m->memory.uses, (ft_block_use){0});
    return id;
}

/* Cells are numbered by first access: those of one allocation need not lie together. */
static void declare_blocks(ft_maker *m)
{
    uint32_t n = ft_cells_count_of(m->cells), blocks = (uint32_t)m->inventory.allocations.len;
    ft_cell_list *members = ft_calloc(blocks + 1, sizeof *members);
    for (uint32_t c = 0; c < n; c++) {
        const ft_cell *cell = ft_cells_get(m->cells, c);
        uint32_t a = cell->ordered ? FT_NO_ALLOCATION : cell->allocation;
        assert(a == FT_NO_ALLOCATION || a < blocks);
        if (a != FT_NO_ALLOCATION) ft_vec_push(&members[a], m->memory.shadows[c].variable);
    }
    for (uint32_t a = 0; a < blocks; a++) {
        ft_vec_push(&m->memory.blocks,
                    members[a].len ? declare_block(m, a, &members[a]) : FT_NO_ID);
        ft_vec_release(&members[a]);
    }
    free(members);
}

/* Where the trace has something that a pointer may lead to. */
static void add_lives(ft_maker *m)
{
    size_t n = m->inventory.allocations.len;
    bool *known = ft_calloc(n + 1, sizeof *known);
    for (size_t a = 0; a < n; a++) known[a] = m->memory.blocks.data[a] != FT_NO_ID;
    for (size_t o = 0; o < m->inventory.objects.len; o++) {
        uint32_t a = m->inventory.objects.data[o].allocation;
        if (a < n) known[a] = true;
    }
    for (uint32_t a = 0; a < n; a++) {
        ft_cells_extent at = ft_cells_extent_of(m->cells, a);
        if (known[a] || (at.stack && at.size)) ft_lives_add(&m->memory.lives, at.address, at.size);
    }
    ft_lives_settle(&m->memory.lives);
    free(known);
}

void ft_maker_declare_memory(ft_maker *m)
{
    FT_REQUIRE(m->builder && !m->memory.shadows);
    declare_cells(m);
    if (m->terms) {
        uint32_t n = ft_cells_count_of(m->cells);
        m->ordered.all = ft_calloc(n + 1, sizeof *m->ordered.all);
        m->memory.first_writes = ft_calloc(n + 1, sizeof *m->memory.first_writes);
    }
    declare_blocks(m);
    add_lives(m);
}
