/* Events of the raw log: from the ring's words into batches, and which calls each thread is in. */
#include "base/contract.h"
#include "maker/log/log_internal.h"

typedef enum called { GAVE_NOTHING, GAVE_ONE, GIVES_MORE } called;

/* A call or a return. Calls whose frames are gone (longjmp) are left first, one event each;
 * GIVES_MORE: the record is to be read again. */
static called call(ft_raw_log *log, uint64_t address, uint32_t site, ft_raw_event *out)
{
    ft_raw_actor *a = log->actor;
    bool enters = site != FT_RAW_LEAVE_SITE;
    ft_raw_call *around = a->calls.len ? &a->calls.data[a->calls.len - 1] : NULL;
    uint64_t last = around ? around->frame : UINT64_MAX;
    if (last <= address) {
        a->calls.len--;
        *out = (ft_raw_event){.site = FT_RAW_LEAVE_SITE, .code = FT_RAW_LEAVE};
        return !enters && last == address ? GAVE_ONE : GIVES_MORE;
    }
    if (!enters) return GAVE_NOTHING;
    if (around) around->inside = site;
    uint32_t since = log->taker ? *log->taker->turn : 0;
    ft_vec_push(&a->calls, (ft_raw_call){.frame = address, .since = since});
    *out = (ft_raw_event){.site = site, .code = FT_RAW_ENTER};
    return GAVE_ONE;
}

static void add_call(ft_raw_sum *sum, const ft_raw_event *e)
{
    assert(sum->n_entered < FT_RAW_BATCH && sum->left + sum->n_entered <= sum->calls);
    if (e->code == FT_RAW_ENTER)
        sum->entered[sum->n_entered++] = e->site;
    else if (sum->n_entered)
        sum->n_entered--;
    else
        sum->left++;
    sum->calls++;
}

/* An access of up to eight bytes. */
static inline void get_access(const ft_raw_word *at, uint64_t address, ft_raw_event *out)
{
    uint64_t value = at[1];
    out->address = address;
    out->value = (int64_t)value;
    out->written = (int64_t)(ft_raw_updates(out->code / 8) ? at[2] : value);
}

static void get_range(ft_raw_log *log, uint64_t address, const ft_raw_event *event,
                      ft_raw_record *record)
{
    const ft_raw_word *at = (const ft_raw_word *)(const void *)log->at;
    size_t left = (size_t)(log->end - log->at);
    uint64_t size = left >= 2 * FT_RAW_WORD ? at[1] : 0;
    record->access = true;
    record->form = (ft_raw_form)(event->code / 8);
    record->site = event->site;
    record->address = address;
    log->range_size = size;
    record->size = size & ~FT_RAW_BLIND;
    record->text = log->at + 2 * FT_RAW_WORD;
    record->length = size & FT_RAW_BLIND ? 0 : ft_raw_content(size);
    uint64_t bytes =
        2 * FT_RAW_WORD + (record->length + FT_RAW_WORD - 1) / FT_RAW_WORD * FT_RAW_WORD;
    if (bytes > left || record->form > FT_RAW_FORM_WRITE)
        log->damaged = true;
    else
        log->at += bytes;
}

/* The address, site and code of the next event; false: the next record is not an event, or the log
 * is damaged. */
static inline bool look(ft_raw_log *log, uint64_t *address, ft_raw_event *out)
{
    const uint64_t low = (UINT64_C(1) << FT_RAW_ADDRESS_BITS) - 1;
    if (log->at == log->end || !(*log->at & 1)) return false;
    uint64_t first = *(const ft_raw_word *)(const void *)log->at;
    uint32_t site = (uint32_t)(first >> FT_RAW_SITE_SHIFT);
    *address = first >> 1 & low;
    if (!site) {
        site = log->wide_site;
        *address |= log->wide_address;
    }
    if (!site || site >= log->n_sites) {
        log->damaged = true;
        return false;
    }
    out->site = site;
    out->code = log->codes[site];
    return true;
}

/* An event that is not usual, at the run's end. */
static void put_other(ft_raw_log *log, ft_raw_run *run, const ft_raw_event *e)
{
    bool plain = ft_raw_is_plain(e);
    size_t i = (size_t)(run->plain - log->words) / FT_RAW_PLAIN;
    assert(i < FT_RAW_BATCH);
    log->plain &= plain;
    log->events[i] = *e;
    log->counts[e->site]++;
    ft_raw_put_plain(run->plain, plain ? ft_raw_first_word(e) : 0, (uint64_t)e->value);
    run->plain += FT_RAW_PLAIN;
}

void ft_raw_log_decode(ft_raw_log *log, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        uint64_t words[2];
        memcpy(words, log->words + i * FT_RAW_PLAIN, sizeof words);
        if (words[0]) log->events[i] = ft_raw_plain_event(words[0], words[1], log->codes);
    }
}

static void pass_run(ft_raw_run *run)
{
    ft_raw_event e;
    ft_raw_run r = *run;
    while (ft_raw_run_take(&r, &e)) {
    }
    *run = r;
}

static void get_usual(ft_raw_log *log, ft_raw_run *run)
{
    size_t most = (size_t)(log->end - log->at) / FT_RAW_PLAIN * FT_RAW_PLAIN,
           room = (size_t)(log->words + FT_RAW_BATCH * FT_RAW_PLAIN - run->plain);
    run->at = (const ft_raw_word *)(const void *)log->at;
    run->stop = run->plain + (room < most ? room : most);
    if (log->taker)
        log->taker->run(log->taker->of, run);
    else
        pass_run(run);
    assert(run->plain <= run->stop && (const unsigned char *)run->at <= log->end);
    log->at = (const unsigned char *)run->at;
}

static bool is_access(unsigned code)
{
    return code < FT_RAW_ENTER && code % 8 < FT_RAW_RANGE;
}

/* An access that is not usual. */
static void get_other(ft_raw_log *log, uint64_t address, ft_raw_event *e, ft_raw_run *run)
{
    size_t room = (size_t)(log->end - log->at) / FT_RAW_WORD;
    unsigned words = ft_raw_updates(e->code / 8) ? 3 : 2;
    log->damaged = words > room;
    if (log->damaged) return;
    get_access((const ft_raw_word *)(const void *)log->at, address, e);
    if (log->taker) log->taker->other(log->taker->of, log->thread, e);
    put_other(log, run, e);
    log->at += words * FT_RAW_WORD;
}

/* True: the record is to be read again. */
static bool get_call(ft_raw_log *log, uint64_t address, ft_raw_event *e, ft_raw_run *run)
{
    called gave = call(log, address, e->site, e);
    if (gave != GAVE_NOTHING) {
        add_call(&log->sum, e);
        put_other(log, run, e);
    }
    if (gave != GIVES_MORE) log->at += FT_RAW_WORD;
    return gave == GIVES_MORE;
}

/* A call's first event is a site inside its function: it has called nothing yet. */
static void note_first(ft_raw_log *log)
{
    ft_raw_actor *a = log->actor;
    ft_raw_call *last = a->calls.len ? &a->calls.data[a->calls.len - 1] : NULL;
    uint64_t address;
    ft_raw_event e;
    if (last && !last->inside && look(log, &address, &e) && e.code < FT_RAW_ENTER)
        last->inside = e.site;
}

const unsigned char *ft_raw_log_events(ft_raw_log *log, ft_raw_record *record)
{
    uint64_t address;
    ft_raw_event e;
    const unsigned char *range = NULL;
    bool again = false;
    if (log->opened && log->stored + FT_RAW_BATCH_MOST > log->opened) ft_raw_log_open_store(log);
    log->words =
        ft_raw_log_keeps_plain(log) ? ft_raw_batch_plain(log->store + log->stored) : log->passing;
    ft_raw_run run = {
        .thread = log->thread, .codes = log->codes, .counts = log->counts, .plain = log->words};
    const unsigned char *full = log->words + FT_RAW_BATCH * FT_RAW_PLAIN;
    log->sum.calls = log->sum.left = log->sum.n_entered = 0;
    log->plain = true;
    while (!range && !log->damaged) {
        note_first(log);
        if (!log->wide_site && !again) get_usual(log, &run);
        if (run.plain == full || !look(log, &address, &e)) break;
        again =
            (e.code == FT_RAW_ENTER || e.code == FT_RAW_LEAVE) && get_call(log, address, &e, &run);
        if (again) continue;
        if (is_access(e.code)) {
            get_other(log, address, &e, &run);
        } else if (e.code != FT_RAW_ENTER && e.code != FT_RAW_LEAVE) {
            range = log->at;
            get_range(log, address, &e, record);
        }
        if (!log->damaged) log->wide_site = 0;
    }
    record->n_events = (uint32_t)(run.plain - log->words) / FT_RAW_PLAIN;
    assert(record->n_events <= FT_RAW_BATCH && log->sum.calls <= record->n_events);
    assert(!range || record->access);
    if (!log->taker) ft_raw_log_decode(log, record->n_events);
    return range;
}

void ft_raw_record_of(const ft_raw_event *event, uint32_t thread, ft_raw_record *record)
{
    FT_REQUIRE(event->code < FT_RAW_ENTER && event->code % 8 < FT_RAW_RANGE);
    *record = (ft_raw_record){.thread = thread,
                              .access = true,
                              .form = (ft_raw_form)(event->code / 8),
                              .site = event->site,
                              .address = event->address,
                              .size = UINT64_C(1) << event->code % 8,
                              .value = event->value,
                              .written = event->written};
}
