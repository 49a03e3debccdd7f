#include "input.h"

#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "schedule.h"

/* A record's content is at most this. */
enum { CHUNK = 1 << 16 };

bool ft_rt_input_begin(ft_rt_input *in, ft_input_call call, const void *pc)
{
    ft_rt_thread *self = ft_rt_enter();
    in->self = self;
    if (!self) return false;
    in->call = call;
    in->pc = pc;
    in->fed = false;
    in->n_pieces = 0;
    in->error = errno;
    const ft_schedule_input *given =
        ft_rt_header->replay ? ft_rt_replay_input(self, call, pc, &in->content) : NULL;
    if (!given) return true;
    in->fed = true;
    in->result = given->result;
    in->error = (int)given->error;
    in->left = given->length;
    return true;
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
    if (!in->self->inside) ft_rt_enter();
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
    if (!in->fed) {
        add_piece(in, memory, size, false);
        return;
    }
    keep_open(in->self);
    ft_rt_write_range(memory, size, in->pc);
    take(in, memory, size);
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

static void keep_piece(const ft_rt_piece *piece)
{
    const unsigned char *bytes = piece->memory;
    for (size_t at = 0, n; at < piece->size; at += n) {
        n = piece->size - at < CHUNK ? piece->size - at : CHUNK;
        ft_rt_log_bytes(FT_RAW_PIECE, 0, bytes + at, n);
    }
}

static void keep(const ft_rt_input *in)
{
    uint64_t length = 0, site = ft_rt_site(in->pc);
    uint64_t result = ((uint64_t)in->result << 1) ^ (in->result < 0 ? UINT64_MAX : 0);
    for (uint32_t i = 0; i < in->n_pieces; i++) length += in->pieces[i].size;
    FT_RT_LOG(INPUT, (uint64_t)in->call + ((uint64_t)in->error << 8), site, result, length);
    for (uint32_t i = 0; i < in->n_pieces; i++) keep_piece(&in->pieces[i]);
}

int64_t ft_rt_input_end(ft_rt_input *in)
{
    ft_rt_thread *self = in->self;
    if (!in->fed && !ft_rt_header->replay) keep(in);
    keep_open(self);
    for (uint32_t i = 0; i < in->n_pieces && !in->fed; i++)
        if (!in->pieces[i].own) ft_rt_write_range(in->pieces[i].memory, in->pieces[i].size, in->pc);
    errno = in->error;
    return in->result;
}

bool ft_rt_input_is_silent(int fd)
{
    return ft_rt_header->replay && ft_rt_replay_feeds() && ft_rt_fd_is_virtual(fd);
}

int64_t ft_rt_input_silence(int ms)
{
    do FT_REAL(poll)(NULL, 0, ms);
    while (ms < 0);
    return 0;
}
