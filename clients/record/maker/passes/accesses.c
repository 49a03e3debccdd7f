/* Events of accesses, one record at a time: values, external writes, cells of several kinds. */
#include "base/contract.h"
#include "maker/passes/passes.h"

void ft_maker_event(ft_maker *m, ft_event_kind kind, const ft_raw_record *r, uint32_t id,
                    uint64_t site, uint32_t value, uint8_t flags)
{
    ft_builder_event(m->builder, kind, ft_names_thread(&m->names, r->thread), id,
                     ft_names_locate(&m->names, site), value, flags);
}

ft_value ft_maker_value(const ft_maker *m, uint32_t c, int64_t value, uint16_t life)
{
    int64_t told = ft_lives_told(value, life);
    if (m->terms) return ft_terms_value(ft_cells_get(m->cells, c)->size, told);
    return (ft_value){.sort = FT_INT_SORT, .bits = (uint64_t)told};
}

static int64_t slice(const ft_raw_record *r, const ft_cell *cell, int64_t value)
{
    assert(cell->address >= r->address && cell->address + cell->size <= r->address + 8);
    uint64_t bits = (uint64_t)value >> (8 * (cell->address - r->address));
    uint32_t shift = 64 - 8 * cell->size;
    return (int64_t)(bits << shift) >> shift;
}

/* The cell's content in the record's text, whose first byte is at `address`. */
static bool text_of(const ft_raw_record *r, uint64_t address, const ft_cell *cell, int64_t *value)
{
    assert(cell->address >= address);
    uint64_t offset = cell->address - address, bits = 0;
    if (offset + cell->size > r->length) return false;
    for (uint32_t i = 0; i < cell->size; i++) bits |= (uint64_t)r->text[offset + i] << (8 * i);
    uint32_t shift = 64 - 8 * cell->size;
    *value = (int64_t)(bits << shift) >> shift;
    return true;
}

bool ft_maker_content_of(const ft_raw_record *r, const ft_cell *cell, bool written, int64_t *value)
{
    if (r->size <= 8 && !r->text) {
        *value = slice(r, cell, written && ft_raw_updates(r->form) ? r->written : r->value);
        return true;
    }
    return text_of(r, r->address, cell, value);
}

static void add_external(ft_maker *m, uint32_t c, uint32_t writer, ft_value value)
{
    assert(writer < m->threads.all.len);
    ft_builder_hook(m->builder, 0);
    ft_builder_event(m->builder, FT_EVENT_WRITE, ft_names_thread(&m->names, writer),
                     m->memory.shadows[c].variable, FT_NO_LOC, ft_builder_value(m->builder, value),
                     FT_FLAG_SYNTHETIC);
    ft_builder_hook(m->builder, m->step);
    m->summary->external++;
}

/* Uninstrumented code wrote the cell since its last access. In a thread's own memory it was the
 * thread itself; else it may have been any thread, so every thread that ran since then is ordered
 * before the read. */
static void external_write(ft_maker *m, uint32_t c, uint32_t reader, ft_value value)
{
    const ft_cell *cell = ft_cells_get(m->cells, c);
    const ft_shadow *s = &m->memory.shadows[c];
    uint64_t since = s->touched;
    bool own = cell->owner == reader && (!s->touched || s->toucher == reader);
    if (cell->allocation != FT_NO_ALLOCATION && m->memory.born.data[cell->allocation] > since)
        since = m->memory.born.data[cell->allocation];
    for (uint32_t t = 0; t < m->threads.all.len && !own; t++)
        if (t != reader && m->threads.all.data[t].ran > since) ft_maker_order_after(m, reader, t);
    add_external(m, c, reader, value);
}

uint16_t ft_maker_life_of(const ft_maker *m, uint32_t c, int64_t value)
{
    return ft_cells_get(m->cells, c)->size >> FT_WORD_SHIFT ? ft_lives_of(&m->memory.lives, value)
                                                            : 0;
}

void ft_maker_touch(ft_maker *m, uint32_t c, uint32_t t, ft_content now, int64_t value,
                    uint16_t life)
{
    ft_shadow *s = &m->memory.shadows[c];
    assert(s->touched <= m->now);
    uint32_t toucher = !s->touched || s->toucher == t ? t : FT_SEVERAL_THREADS;
    s->value = value;
    s->touched = m->now;
    s->id = FT_NO_VALUE;
    s->toucher = toucher;
    s->content = (uint8_t)now;
    s->life = life;
}

void ft_maker_learn(ft_maker *m, uint32_t thread, const ft_cell *cell, bool known, int64_t value)
{
    if (!known)
        ft_addresses_read_add_any(m->memory.addresses_read, thread);
    else if (cell->size >> FT_WORD_SHIFT && ft_shared_memory_reaches_heap(&m->memory, value))
        ft_addresses_read_add(m->memory.addresses_read, thread, (uint64_t)value);
}

/* A read whose value the log does not have. If no write of the cell is known either, the read gets
 * a value that no other access has: a trace in which a read lacks its value is not a valued trace.
 */
static uint32_t read_unseen(ft_maker *m, uint32_t c, uint32_t reader)
{
    enum { HIGH = 61 };
    const ft_cell *cell = ft_cells_get(m->cells, c);
    bool begins = cell->has_initial && !cell->left_over;
    if (m->memory.shadows[c].touched || begins || m->terms) return FT_NO_VALUE;
    int64_t value = (int64_t)(UINT64_C(1) << HIGH) + ++m->memory.unseen_values;
    ft_value told = {.sort = FT_INT_SORT, .bits = (uint64_t)value};
    add_external(m, c, reader, told);
    ft_maker_touch(m, c, reader, FT_CONTENT_KNOWN, value, 0);
    return ft_builder_value(m->builder, told);
}

/* The value of a read. Where no write of the trace explains it, an external write goes before it.
 * Memory outside the heap whose first access is a read began with that value. A write whose content
 * is not in the log wrote what the next read sees. */
static uint32_t read_value(ft_maker *m, uint32_t c, const ft_raw_record *r, bool known,
                           int64_t value)
{
    const ft_shadow *s = &m->memory.shadows[c];
    ft_maker_learn(m, r->thread, ft_cells_get(m->cells, c), known, value);
    if (!known) return read_unseen(m, c, r->thread);
    bool same = s->content == FT_CONTENT_KNOWN && s->value == value;
    uint16_t life = same ? s->life : ft_maker_life_of(m, c, value);
    ft_value told = ft_maker_value(m, c, value, life);
    bool heap = ft_cells_get(m->cells, c)->allocation != FT_NO_ALLOCATION;
    bool explained =
        s->content == FT_CONTENT_LOST || (s->content == FT_CONTENT_KNOWN ? same : !heap);
    if (!explained) external_write(m, c, r->thread, told);
    ft_maker_touch(m, c, r->thread, FT_CONTENT_KNOWN, value, life);
    return ft_builder_value(m->builder, told);
}

static uint32_t write_value(ft_maker *m, uint32_t c, const ft_raw_record *r, bool known,
                            int64_t value)
{
    uint16_t life = known ? ft_maker_life_of(m, c, value) : 0;
    ft_maker_touch(m, c, r->thread, known ? FT_CONTENT_KNOWN : FT_CONTENT_LOST, value, life);
    return known ? ft_builder_value(m->builder, ft_maker_value(m, c, value, life)) : FT_NO_VALUE;
}

/* May the thread read the cell in another schedule before it is written? */
static bool may_be_unwritten(ft_maker *m, uint32_t c, uint32_t thread, bool writes)
{
    const ft_cell *cell = ft_cells_get(m->cells, c);
    if (!m->terms || (cell->has_initial && !cell->left_over)) return false;
    ft_first_write *birth = &m->memory.first_writes[c];
    bool unwritten =
        !birth->turn || !ft_cells_is_behind(m->cells, thread, birth->thread, birth->turn);
    if (!birth->turn && writes) *birth = (ft_first_write){thread, *ft_cells_turn_now(m->cells)};
    return unwritten;
}

bool ft_maker_is_target(ft_maker *m, uint32_t thread, uint64_t address, uint64_t size,
                        uint32_t *variable)
{
    uint32_t skip, c = ft_cells_at(m->cells, address, &skip);
    if (c == FT_NO_CELL) return false;
    const ft_cell *cell = ft_cells_get(m->cells, c);
    const ft_shadow *s = &m->memory.shadows[c];
    if (cell->size != size || cell->ordered || cell->left_over || s->life) return false;
    if (s->content != FT_CONTENT_KNOWN || ft_lives_of(&m->memory.lives, (int64_t)address))
        return false;
    *variable = s->variable;
    return ft_pointer_targets_are_free(&m->targets, address, cell->allocation) &&
           ft_maker_is_admitted(m, c, thread) && !may_be_unwritten(m, c, thread, false);
}

static void cell_events(ft_maker *m, const ft_raw_record *r, uint32_t c)
{
    const ft_cell *cell = ft_cells_get(m->cells, c);
    int64_t value = 0, written = 0;
    bool known = ft_maker_content_of(r, cell, false, &value);
    bool update = ft_raw_updates(r->form);
    bool reads = r->form == FT_RAW_FORM_READ || r->form == FT_RAW_FORM_ATOMIC_READ;
    bool atomic = r->form != FT_RAW_FORM_READ && r->form != FT_RAW_FORM_WRITE;
    uint8_t flags = atomic ? FT_FLAG_ATOMIC : 0;
    uint32_t id = m->memory.shadows[c].variable;
    m->summary->kept++;
    ft_terms_content content = {.known = known, .value = value};
    content.unwritten = may_be_unwritten(m, c, r->thread, !reads);
    if (update) {
        ft_maker_content_of(r, cell, true, &written);
        uint32_t old = read_value(m, c, r, known, value);
        content.again = m->memory.shadows[c].life;
        uint32_t made = write_value(m, c, r, known, written);
        content.again |= m->memory.shadows[c].life != 0;
        if (m->terms && ft_terms_cell(m->terms, cell, id, content)) return;
        ft_builder_update(m->builder, ft_names_thread(&m->names, r->thread), id,
                          ft_names_locate(&m->names, r->site), old, made,
                          r->form == FT_RAW_FORM_COMPARE);
        return;
    }
    uint32_t seen = reads ? read_value(m, c, r, known, value) : write_value(m, c, r, known, value);
    content.again = m->memory.shadows[c].life;
    if (m->terms && ft_terms_cell(m->terms, cell, id, content)) return;
    ft_maker_event(m, reads ? FT_EVENT_READ : FT_EVENT_WRITE, r, id, r->site, seen, flags);
}

ft_terms_place ft_maker_place(ft_maker *m, const ft_raw_record *r, uint64_t site)
{
    return (ft_terms_place){r->thread, ft_names_thread(&m->names, r->thread),
                            ft_names_locate(&m->names, site), m->step};
}

enum { UNIT = 16 }; /* bytes: no processor's atomic has more */

/* An atomic access to several cells is several events. So that no thread sees it done in part,
 * atomics of such memory keep the order of the run: each is ordered after those before it. */
static void keep_whole(ft_maker *m, const ft_raw_record *r, uint64_t direction)
{
    uint64_t last = (r->address + r->size - 1) / UNIT;
    for (uint64_t unit = r->address / UNIT; unit <= last; unit++) {
        uint64_t from = unit * UNIT, to = from + UNIT;
        if (from < r->address) from = r->address;
        if (to > r->address + r->size) to = r->address + r->size;
        if (!ft_cells_is_parted(m->cells, from, to - from)) continue;
        const uint64_t operands[] = {direction, FT_RAW_CHANNEL_UNITS | unit};
        ft_channels_meet(m->channels, r->thread, operands, FT_NO_ALLOCATION);
        ft_builder_hook(m->builder, 0);
        ft_channels_follow(m->channels, m->builder, ft_names_thread(&m->names, r->thread), operands,
                           FT_NO_LOC);
        ft_builder_hook(m->builder, m->step);
    }
}

static void keep_cell(ft_maker *m, const ft_raw_record *r, uint32_t c)
{
    ft_maker_admit(m, c, r->thread);
    cell_events(m, r, c);
}

void ft_maker_access(ft_maker *m, const ft_raw_record *r)
{
    bool atomic = r->form != FT_RAW_FORM_READ && r->form != FT_RAW_FORM_WRITE;
    bool parted = atomic && ft_cells_is_parted(m->cells, r->address, r->size);
    if (parted) keep_whole(m, r, FT_RAW_CHANNEL_IN);
    if (m->terms) ft_terms_begin(m->terms, ft_maker_place(m, r, r->site), r);
    for (uint64_t at = r->address, end = r->address + r->size; at < end;) {
        uint32_t skip, c = ft_cells_at(m->cells, at, &skip);
        if (c != FT_NO_CELL) {
            if (ft_cells_get(m->cells, c)->ordered)
                ft_maker_ordered_access(m, r, c);
            else
                keep_cell(m, r, c);
            skip = ft_cells_get(m->cells, c)->size;
            assert(at + skip <= end); /* accesses end where cells do */
        }
        at += skip;
    }
    if (m->terms) ft_terms_end(m->terms);
    if (parted) keep_whole(m, r, FT_RAW_CHANNEL_OUT);
}

static void show_cell(ft_maker *m, const ft_raw_record *r, uint32_t c)
{
    const ft_cell *cell = ft_cells_get(m->cells, c);
    const ft_shadow *s = &m->memory.shadows[c];
    int64_t value;
    if (s->content != FT_CONTENT_KNOWN || !text_of(r, r->operands[0], cell, &value)) return;
    if (value == s->value) return;
    uint16_t life = ft_maker_life_of(m, c, value);
    add_external(m, c, r->thread, ft_maker_value(m, c, value, life));
    ft_maker_touch(m, c, r->thread, FT_CONTENT_KNOWN, value, life);
}

void ft_maker_show(ft_maker *m, const ft_raw_record *r)
{
    for (uint64_t at = r->operands[0], end = at + r->length; at < end;) {
        uint32_t skip, c = ft_cells_at(m->cells, at, &skip);
        if (c != FT_NO_CELL) {
            if (!ft_cells_get(m->cells, c)->ordered) show_cell(m, r, c);
            skip = ft_cells_get(m->cells, c)->size;
        }
        at += skip;
    }
}

void ft_maker_benign(ft_maker *m, uint64_t address, uint64_t size)
{
    uint64_t end = size < UINT64_MAX - address ? address + size : UINT64_MAX;
    for (uint64_t at = address; at < end;) {
        uint32_t skip, c = ft_cells_at(m->cells, at, &skip);
        if (c != FT_NO_CELL) {
            if (!ft_cells_get(m->cells, c)->ordered)
                ft_builder_benign(m->builder, m->memory.shadows[c].variable);
            skip = ft_cells_get(m->cells, c)->size;
        }
        at += skip;
    }
}
