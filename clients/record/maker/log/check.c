/* Checks of the reader's own state, for builds with FT_CHECKED. */
#include "maker/log/log_internal.h"

/* Stacks grow downwards: each call's frame lies below its caller's. */
static bool is_nested(const ft_raw_actor *actor)
{
    for (size_t i = 1; i < actor->calls.len; i++)
        if (actor->calls.data[i].frame >= actor->calls.data[i - 1].frame) return false;
    return true;
}

bool ft_raw_log_is_sound(const ft_raw_log *log)
{
    const unsigned char *first = log->live ? log->from : log->start;
    if (log->at < first || log->at > log->end) return false;
    if (!log->n_sites || log->n_sites > FT_RAW_SITES) return false;
    if (log->wide_site && log->wide_site >= log->n_sites) return false;
    if (log->thread >= log->actors.len || log->actor != log->actors.data[log->thread]) return false;
    if (log->store && (log->stored > log->limit || log->memory > log->spilled)) return false;
    return is_nested(log->actor);
}

static bool is_same(const ft_raw_event *a, const ft_raw_event *b)
{
    return a->address == b->address && a->site == b->site && a->code == b->code &&
           a->value == b->value && (!ft_raw_updates(a->code / 8) || a->written == b->written);
}

static ft_raw_event event_of(const ft_raw_log *log, const ft_raw_taken *taken, uint32_t i)
{
    uint64_t words[2];
    memcpy(words, taken->words + i * FT_RAW_PLAIN, sizeof words);
    return words[0] ? ft_raw_plain_event(words[0], words[1], log->codes) : taken->others[i];
}

bool ft_raw_log_reads_back(ft_raw_log *log, const unsigned char *at, size_t bytes,
                           const ft_raw_taken *taken, uint32_t n)
{
    ft_raw_event events[FT_RAW_BATCH];
    ft_raw_batch batch;
    ft_raw_sum sum;
    if (!ft_raw_batch_look(at, bytes, &batch) || batch.n != n || batch.whole != bytes) return false;
    if (!ft_raw_batch_get(&log->packer, &batch, log->codes, log->n_sites, events)) return false;
    if (!ft_raw_batch_sum(&batch, log->n_sites, &sum)) return false;
    for (uint32_t i = 0; i < n; i++) {
        ft_raw_event event = event_of(log, taken, i);
        if (!is_same(&events[i], &event)) return false;
    }
    return sum.calls == log->sum.calls && sum.left == log->sum.left &&
           sum.n_entered == log->sum.n_entered &&
           !memcmp(sum.entered, log->sum.entered, sum.n_entered * sizeof *sum.entered);
}
