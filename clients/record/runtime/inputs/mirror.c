/* Mirrored descriptors of a replay: pipes, socket pairs, event descriptors, timers and epoll sets
 * that only threads of the program use. The replay really makes them and passes the recorded
 * content through them. After the schedule's end they go on working: threads still send each other
 * content, and a pipe that is used as a lock still is one. */
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "inputs/channels.h"
#include "inputs/inputs.h"
#include "inputs/mirror.h"
#include "libc/contract.h"
#include "libc/libc.h"
#include "raw/inputs.h"
#include "replay/replay.h"
#include "state/state.h"

enum { ONCE = 1 << 14, PATIENCE = 1000 /* ms */ };

void ft_rt_mirror_answers(ft_rt_input *in)
{
    FT_REQUIRE(ft_rt_header->replay);
    in->fed = false;
    in->given = NULL;
}

bool ft_rt_mirrors(ft_rt_input *in)
{
    if (ft_rt_feed_is_behind()) ft_rt_mirror_answers(in);
    return in->fed && in->result >= 0 && ft_rt_header->replay;
}

bool ft_rt_mirror_is_live(const ft_rt_input *in)
{
    return !in->fed && ft_rt_feeding && ft_rt_header->replay;
}

/* For a set with descriptors from outside the recording has more answers, as long as they fit. */
static bool goes_on(ft_rt_input *in, int fd)
{
    if (!ft_rt_feed_is_behind() || !ft_rt_fd_is_mirrored(fd)) return false;
    if (!in->fed || !ft_rt_fd_is_mixed(fd)) ft_rt_mirror_answers(in);
    return !in->fed;
}

/* Every schedule orders the steps so that content to take is there and content to put has room. A
 * child process is real and takes its time; if its content does not come, the descriptor is not
 * mirrored any more. */
static bool is_ready(int fd, short events)
{
    struct pollfd one = {.fd = fd, .events = events};
    int ms = ft_rt_processes ? PATIENCE : 0, found = FT_REAL(poll)(&one, 1, ms);
    if (!found && ms) ft_rt_fd_mirror(fd, false);
    return found > 0 && (one.revents & events) && !(one.revents & (POLLERR | POLLNVAL));
}

static bool takes(ft_input_call call)
{
    return call == FT_INPUT_READ || (call >= FT_INPUT_READV && call <= FT_INPUT_RECVMSG) ||
           call == FT_INPUT_EVENTFD_READ;
}

static bool puts_in(ft_input_call call)
{
    return (call >= FT_INPUT_WRITE && call <= FT_INPUT_SENDMSG) || call == FT_INPUT_EVENTFD_WRITE;
}

/* Takes as much as the program got. */
static void drain(int fd, size_t left)
{
    char bytes[ONCE];
    while (left && is_ready(fd, POLLIN)) {
        ssize_t n = FT_REAL(read)(fd, bytes, left < sizeof bytes ? left : sizeof bytes);
        if (n <= 0) break;
        left -= (size_t)n;
    }
}

/* A read takes the whole count, which may be larger by now than in the recording. */
static void drain_count(const ft_rt_input *in, int fd)
{
    uint64_t there, given;
    assert(in->fed && in->result >= 0);
    if (!is_ready(fd, POLLIN) || FT_REAL(read)(fd, &there, sizeof there) != sizeof there) return;
    if (in->left < sizeof given) return;
    memcpy(&given, in->content, sizeof given);
    uint64_t more = there > given ? there - given : 0;
    ssize_t ignored = more ? FT_REAL(write)(fd, &more, sizeof more) : 0; /* a timer refuses it */
    (void)ignored;
}

void ft_rt_mirror_asked(ft_rt_input *in, int fd, int ms)
{
    if (!ft_rt_header->replay) return;
    if (ft_rt_feed_is_behind() && ft_rt_input_is_silent(fd)) ft_rt_feed_outside();
    in->self->starves = goes_on(in, fd) && ms < 0;
    if (!in->fed || in->result < 0 || !takes(in->call) || !ft_rt_fd_is_mirrored(fd)) return;
    if (ft_rt_fd_kind(fd) == FT_RT_FD_EVENT)
        drain_count(in, fd);
    else
        drain(fd, (size_t)in->result);
}

bool ft_rt_mirror_tells(ft_rt_input *in, int fd)
{
    if (!ft_rt_header->replay) return false;
    if (!ft_rt_fd_is_mirrored(fd)) {
        if (ft_rt_feed_is_behind() && ft_rt_input_is_silent(fd)) ft_rt_feed_outside();
        return false;
    }
    if (goes_on(in, fd) || !in->fed || in->result < 0) return false;
    return !puts_in(in->call) || is_ready(fd, POLLOUT);
}

int ft_rt_mirror_begin(int fd)
{
    int flags = FT_REAL(fcntl)(fd, F_GETFL);
    if (!(flags & O_NONBLOCK)) FT_REAL(fcntl)(fd, F_SETFL, flags | O_NONBLOCK);
    return flags;
}

void ft_rt_mirror_end(int fd, int flags)
{
    if (!(flags & O_NONBLOCK)) FT_REAL(fcntl)(fd, F_SETFL, flags);
}

void ft_rt_mirror_watches(int epoll, int fd)
{
    if (ft_rt_fd_is_mirrored(epoll) && ft_rt_input_is_silent(fd)) ft_rt_fd_mix(epoll);
}

/* Virtual descriptors without a real one are left out: /dev/null would always be ready. */
int ft_rt_mirror_poll(struct pollfd *fds, nfds_t n, int ms)
{
    enum { MOST = 1024 };
    struct pollfd own[MOST];
    nfds_t some = n < MOST ? n : MOST;
    for (nfds_t i = 0; i < some; i++) {
        own[i] = fds[i];
        if (ft_rt_input_is_silent(fds[i].fd)) own[i].fd = -1;
    }
    int result = FT_REAL(poll)(own, some, ms);
    for (nfds_t i = 0; i < n; i++) fds[i].revents = i < some ? own[i].revents : 0;
    return result;
}
