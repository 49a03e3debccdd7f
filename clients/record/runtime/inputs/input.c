/* An input's life: asked of the schedule, else of the system, then kept piece by piece. */
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "accesses/accesses.h"
#include "inputs/channels.h"
#include "inputs/inputs.h"
#include "libc/contract.h"
#include "libc/libc.h"
#include "log/log.h"
#include "raw/inputs.h"
#include "raw/raw.h"
#include "raw/schedule.h"
#include "replay/replay.h"
#include "scheduling/needs.h"
#include "scheduling/scheduling.h"
#include "state/thread.h"

/* Most bytes in one record. */
enum { CHUNK = 1 << 16 };

void ft_rt_input_ask(ft_rt_input *in)
{
    in->given = ft_rt_feeding ? ft_rt_feed_input(in->self, in->call, in->pc, &in->content) : NULL;
    in->fed = in->given != NULL;
    if (!in->fed) return;
    in->result = in->given->result;
    in->error = (int)in->given->error;
    in->left = in->given->length;
}

bool ft_rt_input_begin(ft_rt_input *in, ft_input_call call, const void *pc)
{
    ft_rt_thread *self = ft_rt_enter_call(pc);
    in->self = self;
    if (!self) return false;
    in->call = call;
    in->pc = pc;
    in->takes = 0;
    in->through = -1;
    in->n_pieces = 0;
    in->stays = false;
    in->error = errno;
    ft_rt_input_ask(in);
    return true;
}

bool ft_rt_input_passes(ft_rt_input *in, int ms)
{
    enum { PER_MS = 1000000 };
    FT_REQUIRE(in->self);
    int64_t ns = (int64_t)ms * PER_MS;
    if (ms <= 0 || in->fed || !ft_rt_time_passes(in->self, ns)) return false;
    FT_RT_LOG(EXPIRED, ft_rt_site(in->pc), (uint64_t)ns);
    return in->stays = true;
}

void ft_rt_input_outside(ft_rt_input *in, bool sleeps)
{
    if (sleeps)
        ft_rt_outside(in->self);
    else
        in->self->inside = false;
    errno = in->error;
}

void ft_rt_input_did(ft_rt_input *in, int64_t result)
{
    in->error = errno;
    in->result = result;
    in->self->starves = false;
    if (!in->self->inside) ft_rt_enter();
}

/* A recording that is fed comes out the same each time, so real time must not decide which thread
 * wakes first. */
int ft_rt_input_way(ft_rt_input *in, int how)
{
    bool sleep = in->call >= FT_INPUT_SLEEP && in->call <= FT_INPUT_CLOCK_NANOSLEEP;
    if (in->stays) return FT_RT_STAYS;
    if (in->fed || !sleep || !ft_rt_feed_records()) return how;
    ft_rt_yield(in->self);
    return FT_RT_STAYS;
}

bool ft_rt_input_given(ft_rt_input *in, int how)
{
    if (!ft_rt_feed_records() || how == FT_RT_STAYS) return false;
    if (how == FT_RT_SLEEPS) {
        ft_rt_yield(in->self);
        return false;
    }
    ft_rt_input_outside(in, false);
    return true;
}

static void keep_open(ft_rt_thread *self)
{
    if (self->left) self->left--;
    self->inside = false;
}

static void copy(void *to, const unsigned char *from, size_t n)
{
    unsigned char *bytes = to;
    for (size_t i = 0; i < n; i++) bytes[i] = from[i];
}

static void take(ft_rt_input *in, void *memory, size_t size)
{
    assert(in->fed);
    size_t n = size < in->left ? size : in->left;
    copy(memory, in->content, n);
    in->content += n;
    in->left -= n;
}

static void add_piece(ft_rt_input *in, void *memory, size_t size, bool own)
{
    if (in->n_pieces < FT_RT_PIECES) in->pieces[in->n_pieces++] = (ft_rt_piece){memory, size, own};
}

void ft_rt_input_piece(ft_rt_input *in, void *memory, size_t size)
{
    if (!memory || !size) return;
    if (in->fed && ft_rt_header->replay) {
        keep_open(in->self);
        ft_rt_write_range(memory, size, in->pc);
    }
    if (in->fed) take(in, memory, size);
    if (!ft_rt_header->replay || !in->fed) add_piece(in, memory, size, false);
}

void ft_rt_input_own(ft_rt_input *in, void *memory, size_t size)
{
    if (in->fed)
        take(in, memory, size);
    else if (size)
        add_piece(in, memory, size, true);
}

uint64_t ft_rt_input_number(ft_rt_input *in, uint64_t number)
{
    if (in->fed) {
        take(in, &number, sizeof number);
    } else if (in->n_pieces < FT_RT_PIECES) {
        in->numbers[in->n_pieces] = number;
        add_piece(in, &in->numbers[in->n_pieces], sizeof number, true);
    }
    return number;
}

static void keep_bytes(const unsigned char *bytes, size_t size)
{
    for (size_t at = 0, n; at < size; at += n) {
        n = size - at < CHUNK ? size - at : CHUNK;
        ft_rt_log_bytes(FT_RAW_PIECE, 0, bytes + at, n);
    }
}

static void log_input(const ft_rt_input *in, int64_t result, uint32_t error, uint64_t length)
{
    uint64_t site = ft_rt_site(in->pc), value = (uint64_t)result << 1;
    assert((uint64_t)in->call < 1 << 8); /* the error number stands above it */
    if (result < 0) value = ~value;
    FT_RT_LOG(INPUT, (uint64_t)in->call + ((uint64_t)error << 8), site, value, length);
}

/* A fed input is kept unchanged, so that this recording can be fed again. */
static void keep_given(const ft_rt_input *in)
{
    const ft_schedule_input *given = in->given;
    assert(given && in->left <= given->length);
    log_input(in, given->result, given->error, given->length);
    keep_bytes(in->content - (given->length - in->left), given->length);
}

static void keep(const ft_rt_input *in)
{
    uint64_t length = 0;
    assert(!in->fed);
    for (uint32_t i = 0; i < in->n_pieces; i++) length += in->pieces[i].size;
    log_input(in, in->result, (uint32_t)in->error, length);
    for (uint32_t i = 0; i < in->n_pieces; i++)
        keep_bytes(in->pieces[i].memory, in->pieces[i].size);
}

int64_t ft_rt_input_end(ft_rt_input *in)
{
    ft_rt_thread *self = in->self;
    FT_REQUIRE(self == ft_rt_self);
    assert(in->n_pieces <= FT_RT_PIECES);
    if (!ft_rt_header->replay) (in->fed ? keep_given : keep)(in);
    keep_open(self);
    for (uint32_t i = 0; i < in->n_pieces; i++)
        if (!in->pieces[i].own) ft_rt_write_range(in->pieces[i].memory, in->pieces[i].size, in->pc);
    errno = in->error;
    return in->result;
}

bool ft_rt_input_is_silent(int fd)
{
    return ft_rt_feeding && ft_rt_fd_is_virtual(fd) && !ft_rt_fd_is_mirrored(fd);
}

int64_t ft_rt_input_silence(ft_rt_input *in, int ms)
{
    in->self->starves = ms < 0;
    if (ms < 0 && ft_rt_feed_records() && ft_rt_enter()) ft_rt_feed_starve(in->self);
    do FT_REAL(poll)(NULL, 0, ms);
    while (ms < 0);
    return 0;
}
