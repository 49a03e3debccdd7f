/* Waiting for several descriptors: poll, select and epoll sets, of modelled ones and files.
 *
 * As in the kernel, the descriptors are looked at one after the other, each by an action of its
 * own. Before that the thread waits until one of them is ready (READY of explore/watch.h). */
#include <errno.h>
#include <string.h>

#include "libc/contract.h"
#include "libc/libc.h"
#include "world/inner.h"

enum { MOST = 64 };

/* ---- one descriptor */

static ft_x_operation test_of(const ft_rt_world_channel *c, int64_t bits)
{
    return (ft_x_operation){
        .kind = FT_X_TEST, .object = c->object, .value = bits, .value2 = ft_rt_world_room(c)};
}

enum { READS = POLLIN | POLLRDNORM | POLLRDHUP, WRITES = POLLOUT | POLLWRNORM };

/* The attempts that find out whether the descriptor is ready; returns how many, at most two. */
static uint32_t attempts_of(const ft_rt_world_description *d, short events, ft_x_attempt *list)
{
    uint32_t n = 0;
    int64_t in = (events & READS ? FT_X_READABLE : 0) | (d->kind == FT_RT_WORLD_END) * FT_X_ENDED;
    int64_t out =
        (events & WRITES ? FT_X_WRITABLE : 0) | (d->kind == FT_RT_WORLD_END) * FT_X_BROKEN;
    bool one = d->in == d->out;
    if (d->in && (in || one))
        list[n++] = (ft_x_attempt){.operation = test_of(d->in, one ? in | out : in)};
    if (d->out && !one) list[n++] = (ft_x_attempt){.operation = test_of(d->out, out)};
    return n;
}

static short events_of(const ft_rt_world_description *d, short wanted, uint64_t in, uint64_t out)
{
    short found = 0;
    bool content = d->in && ft_rt_world_state(d->in)->value > 0;
    if (d->socket ? in & FT_X_READABLE : content && (in & FT_X_READABLE))
        found |= POLLIN | POLLRDNORM;
    if (out & FT_X_WRITABLE) found |= POLLOUT | POLLWRNORM;
    if (in & FT_X_ENDED && d->socket) found |= POLLRDHUP;
    found &= wanted;
    if (in & FT_X_ENDED && (!d->socket || out & FT_X_BROKEN)) found |= POLLHUP;
    if (out & FT_X_BROKEN && !d->socket) found |= POLLERR;
    return found;
}

static bool set_is_ready(const ft_rt_world_description *d, bool *first, const void *pc);

/* Of a socket that is not connected, or whose connection was refused. */
static short events_alone(const ft_rt_world_description *d, short wanted)
{
    short found = (short)(POLLHUP | (wanted & (POLLOUT | POLLWRNORM)));
    return (short)(ft_rt_world_has_failed(d) ? found | POLLERR : found);
}

static bool is_alone(int fd)
{
    const ft_rt_world_description *d = fd < 0 ? NULL : ft_rt_world_of(fd);
    return d && d->kind == FT_RT_WORLD_SOCKET_ALONE;
}

/* *first: no action of the call was announced yet. */
static short ready_events(struct pollfd *one, bool *first, const void *pc)
{
    uint64_t in = 0, out = 0;
    ft_x_attempt list[2];
    const ft_rt_world_description *d = ft_rt_world_of(one->fd);
    if (d->kind == FT_RT_WORLD_SOCKET_ALONE) return events_alone(d, one->events);
    if (d->kind == FT_RT_WORLD_EPOLL)
        return set_is_ready(d, first, pc) ? (short)(one->events & (POLLIN | POLLRDNORM)) : 0;
    uint32_t n = attempts_of(d, one->events, list);
    for (uint32_t i = 0; i < n; i++) {
        uint64_t outcome =
            (*first ? ft_rt_explore : ft_rt_explore_more)(&list[i].operation, pc).outcome;
        *first = false;
        if (d->in && list[i].operation.object == d->in->object) in = outcome;
        if (d->out && list[i].operation.object == d->out->object) out = outcome;
    }
    return events_of(d, one->events, in, out);
}

/* ---- epoll sets: each is a channel whose content is the number of its changes */

enum { SETS = 64, MEMBERS = 128 };
#define NEVER UINT64_MAX

typedef struct member {
    int fd; /* -1: free */
    uint32_t events;
    epoll_data_t data;
    /* EPOLLET: what its looks found when it was reported last, and how often room was short then */
    uint64_t found[2];
    uint32_t shortages;
} member;

static struct set {
    member members[MEMBERS];
    uint32_t n;
} sets[SETS];
static uint32_t n_sets;

int ft_rt_world_epoll_create(const void *pc)
{
    if (n_sets == SETS) ft_rt_x_refuse("more epoll sets than one run may have", pc);
    ft_rt_world_description *d = ft_rt_world_description_new(FT_RT_WORLD_EPOLL, pc);
    d->in = d->out = ft_rt_world_channel_new(INT64_C(1) << 40, 1, false, 0, pc);
    d->set = n_sets++;
    return ft_rt_world_number(d, pc);
}

static member *member_of(struct set *s, int fd)
{
    for (uint32_t i = 0; i < s->n; i++)
        if (s->members[i].fd == fd) return &s->members[i];
    return NULL;
}

int ft_rt_world_epoll_ctl(int epoll, int operation, int fd, struct epoll_event *event,
                          const void *pc)
{
    ft_rt_world_description *d = ft_rt_world_of(epoll);
    if (d->kind != FT_RT_WORLD_EPOLL || fd == epoll) return ft_rt_world_error(EINVAL);
    if (!ft_rt_world_of(fd)) return ft_rt_world_error(EPERM); /* as of a regular file */
    struct set *s = &sets[d->set];
    member *m = member_of(s, fd);
    if (operation == EPOLL_CTL_ADD ? m != NULL : m == NULL)
        return ft_rt_world_error(m ? EEXIST : ENOENT);
    ft_rt_world_act(FT_X_SEND, d->in, 1, d->in->capacity, pc);
    if (operation == EPOLL_CTL_DEL) {
        *m = s->members[--s->n];
        return 0;
    }
    if (!m && s->n == MEMBERS) ft_rt_x_refuse("more descriptors in an epoll set", pc);
    if (!m) m = &s->members[s->n++];
    *m = (member){.fd = fd, .events = event->events, .data = event->data, .found = {NEVER, NEVER}};
    return 0;
}

/* Members whose descriptor was closed are out of the set. */
static uint32_t list_members(const struct set *s, struct pollfd *fds, uint32_t *which)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->n && n < MOST; i++) {
        const member *m = &s->members[i];
        bool sleeps = !(m->events & (EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLPRI)) &&
                      (m->events & EPOLLONESHOT);
        if (sleeps || !ft_rt_world_of(m->fd)) continue;
        fds[n] = (struct pollfd){.fd = m->fd, .events = (short)(m->events & 0xFFFF)};
        which[n++] = i;
    }
    return n;
}

static bool set_is_ready(const ft_rt_world_description *d, bool *first, const void *pc)
{
    struct pollfd fds[MOST];
    uint32_t which[MOST], n = list_members(&sets[d->set], fds, which);
    for (uint32_t i = 0; i < n; i++)
        if (ready_events(&fds[i], first, pc)) return true;
    return false;
}

/* ---- waiting */

/* Adds the attempts of all of them. */
static uint32_t all_attempts(const struct pollfd *fds, nfds_t n, ft_x_attempt *list, uint32_t room,
                             const void *pc)
{
    uint32_t all = 0;
    for (nfds_t i = 0; i < n; i++) {
        const ft_rt_world_description *d = ft_rt_world_of(fds[i].fd);
        if (!d) continue;
        if (all + 2 > room) ft_rt_x_refuse("a wait for more than 32 descriptors at once", pc);
        if (d->kind != FT_RT_WORLD_EPOLL) {
            all += attempts_of(d, fds[i].events, list + all);
            continue;
        }
        struct pollfd members[MOST];
        uint32_t which[MOST], m = list_members(&sets[d->set], members, which);
        all += all_attempts(members, m, list + all, room - all, pc);
    }
    return all;
}

/* ---- edges: content or an end has come, or room after a shortage, since the last report */

static bool is_edge(const member *m)
{
    return m->events & EPOLLET;
}

/* A member's attempts, with the results that are no news. */
static uint32_t member_attempts(member *m, const ft_rt_world_description *d, ft_x_attempt *list)
{
    uint32_t n = attempts_of(d, (short)(m->events & 0xFFFF), list);
    bool short_of_room = d->out && d->out->shortages != m->shortages;
    if (short_of_room && m->found[n - 1] != NEVER) m->found[n - 1] &= ~(uint64_t)FT_X_WRITABLE;
    if (d->out) m->shortages = d->out->shortages;
    for (uint32_t i = 0; i < n; i++) {
        list[i].operation.value |= FT_X_ARRIVALS;
        list[i].result = (int64_t)m->found[i];
    }
    return n;
}

/* Looks at the member; its events if there is news among them. */
static short new_events(member *m, const void *pc)
{
    ft_x_attempt list[2];
    const ft_rt_world_description *d = ft_rt_world_of(m->fd);
    uint64_t found[2] = {0, 0}, in = 0, out = 0;
    bool news = false;
    uint32_t n = member_attempts(m, d, list);
    for (uint32_t i = 0; i < n; i++) {
        found[i] = ft_rt_explore_more(&list[i].operation, pc).outcome;
        news = news || found[i] != m->found[i];
        if (d->in && list[i].operation.object == d->in->object) in = found[i];
        if (d->out && list[i].operation.object == d->out->object) out = found[i];
    }
    short events = events_of(d, (short)(m->events & 0xFFFF), in, out);
    if (!news) return 0;
    for (uint32_t i = 0; i < n; i++) m->found[i] = found[i];
    return events;
}

static bool has_edges(const member *m)
{
    const ft_rt_world_description *d = ft_rt_world_of(m->fd);
    return is_edge(m) && d->kind != FT_RT_WORLD_EPOLL && d->kind != FT_RT_WORLD_SOCKET_ALONE;
}

static uint32_t attempts_of_members(struct set *s, const struct pollfd *fds, const uint32_t *which,
                                    uint32_t n, ft_x_attempt *list, uint32_t room, const void *pc)
{
    uint32_t all = 0;
    for (uint32_t i = 0; i < n; i++) {
        member *m = &s->members[which[i]];
        if (all + 2 > room) ft_rt_x_refuse("a wait for more than 32 descriptors at once", pc);
        all += has_edges(m) ? member_attempts(m, ft_rt_world_of(m->fd), list + all)
                            : all_attempts(&fds[i], 1, list + all, room - all, pc);
    }
    return all;
}

/* At most `most` are looked at until that many are found: the others' news stay. */
static void look_at_members(struct set *s, struct pollfd *fds, const uint32_t *which, uint32_t n,
                            int most, const void *pc)
{
    bool first = false;
    for (uint32_t i = 0; i < n; i++) {
        member *m = &s->members[which[i]];
        fds[i].revents = 0;
        if (most <= 0 || m->fd != fds[i].fd || !ft_rt_world_of(m->fd)) continue;
        fds[i].revents = has_edges(m) ? new_events(m, pc) : ready_events(&fds[i], &first, pc);
        most -= fds[i].revents != 0;
    }
}

/* Files are always ready; what else the system has is not waited for. */
static int look_at_files(struct pollfd *fds, nfds_t n)
{
    int found = 0;
    for (nfds_t i = 0; i < n; i++) {
        fds[i].revents = 0;
        if (fds[i].fd < 0 || ft_rt_world_of(fds[i].fd)) continue;
        if (FT_REAL(poll)(&fds[i], 1, 0) > 0) found++;
    }
    return found;
}

static int look_at_all(struct pollfd *fds, nfds_t n, bool *first, const void *pc)
{
    int found = look_at_files(fds, n);
    for (nfds_t i = 0; i < n; i++) {
        if (fds[i].fd < 0 || !ft_rt_world_of(fds[i].fd)) continue;
        fds[i].revents = ready_events(&fds[i], first, pc);
        found += fds[i].revents != 0;
    }
    return found;
}

static bool any_alone(const struct pollfd *fds, nfds_t n)
{
    for (nfds_t i = 0; i < n; i++)
        if (is_alone(fds[i].fd)) return true;
    return false;
}

static int wait_for_all(struct pollfd *fds, nfds_t n, int ms, const void *pc)
{
    ft_x_attempt list[MOST];
    const ft_rt_x_limit limit = {.is_set = ms > 0, .ms = ms > 0 ? (uint32_t)ms : 0};
    bool early = ft_rt_x_limit_is_early(limit, pc);
    uint32_t since = ft_rt_x_now();
    for (bool first = true;;) {
        bool at_once = !ms || early || look_at_files(fds, n) || any_alone(fds, n);
        uint32_t m = at_once ? 0 : all_attempts(fds, n, list, MOST, pc);
        bool in_time = at_once || ft_rt_x_wait_for(list, m, ms > 0 ? ms : -1, pc);
        int found = look_at_all(fds, n, &first, pc);
        if (!found && !at_once && in_time) continue;
        ft_rt_x_limit_passed(limit, !found, pc);
        if (!found && early) ft_rt_x_looked_in_vain(since, limit.ms, pc);
        return found;
    }
}

bool ft_rt_world_has_any(struct pollfd *fds, nfds_t n)
{
    if (!ft_rt_world_runs()) return false;
    for (nfds_t i = 0; i < n; i++)
        if (ft_rt_world_has(fds[i].fd)) return true;
    return false;
}

int ft_rt_world_poll(struct pollfd *fds, nfds_t n, int ms, const void *pc)
{
    return wait_for_all(fds, n, ms, pc);
}

/* ---- select */

bool ft_rt_world_has_sets(int n, const fd_set *r, const fd_set *w, const fd_set *e)
{
    const fd_set *all[] = {r, w, e};
    if (!ft_rt_world_runs()) return false;
    for (int fd = 0; fd < n && fd < FD_SETSIZE; fd++)
        for (int i = 0; i < 3; i++)
            if (all[i] && FD_ISSET(fd, all[i]) && ft_rt_world_has(fd)) return true;
    return false;
}

int ft_rt_world_select(int n, fd_set *r, fd_set *w, fd_set *e, int ms, const void *pc)
{
    struct pollfd fds[MOST];
    nfds_t many = 0;
    int found = 0;
    for (int fd = 0; fd < n && fd < FD_SETSIZE; fd++) {
        short events =
            (short)((r && FD_ISSET(fd, r) ? POLLIN : 0) | (w && FD_ISSET(fd, w) ? POLLOUT : 0));
        if (!events) continue;
        if (many == MOST) ft_rt_x_refuse("select on more than 64 descriptors", pc);
        fds[many++] = (struct pollfd){.fd = fd, .events = events};
    }
    wait_for_all(fds, many, ms, pc);
    if (e) FD_ZERO(e);
    for (nfds_t i = 0; i < many; i++) {
        bool in = fds[i].revents & (POLLIN | POLLHUP | POLLERR),
             out = fds[i].revents & (POLLOUT | POLLERR);
        if (fds[i].events & POLLIN && !in) FD_CLR(fds[i].fd, r);
        if (fds[i].events & POLLOUT && !out) FD_CLR(fds[i].fd, w);
        found += (fds[i].events & POLLIN && in) + (fds[i].events & POLLOUT && out);
    }
    return found;
}

/* ---- epoll_wait */

/* Reports what was found; one that is to be reported once sleeps then. */
static int report(struct set *s, const struct pollfd *fds, const uint32_t *which, uint32_t n,
                  struct epoll_event *events, int most)
{
    int found = 0;
    for (uint32_t i = 0; i < n && found < most; i++) {
        if (!fds[i].revents) continue;
        member *m = &s->members[which[i]];
        if (m->fd != fds[i].fd) continue; /* it was taken out meanwhile */
        events[found++] = (struct epoll_event){.events = (uint32_t)(unsigned short)fds[i].revents,
                                               .data = m->data};
        if (m->events & EPOLLONESHOT) m->events &= EPOLLONESHOT;
    }
    return found;
}

int ft_rt_world_epoll_wait(int epoll, struct epoll_event *events, int n, int ms, const void *pc)
{
    struct pollfd fds[MOST];
    uint32_t which[MOST];
    ft_rt_world_description *d = ft_rt_world_of(epoll);
    if (d->kind != FT_RT_WORLD_EPOLL || n <= 0) return ft_rt_world_error(EINVAL);
    const ft_rt_x_limit limit = {.is_set = ms > 0, .ms = ms > 0 ? (uint32_t)ms : 0};
    bool early = ft_rt_x_limit_is_early(limit, pc), waits = ms && !early;
    uint32_t since = ft_rt_x_now();
    for (;;) {
        /* Looks at the set, so that later changes of it come later. */
        ft_rt_world_act(FT_X_TEST, d->in, FT_X_READABLE, ft_rt_world_room(d->in), pc);
        ft_x_attempt changes = {
            .operation = {.kind = FT_X_TRY_RECEIVE, .object = d->in->object, .value = INT64_MAX}};
        int64_t count = ft_rt_world_state(d->in)->value;
        changes.result = count ? count : (int64_t)FT_X_WOULD_WAIT;
        uint32_t many = list_members(&sets[d->set], fds, which);
        ft_x_attempt list[MOST];
        bool at_once = !waits || any_alone(fds, many);
        uint32_t m =
            at_once ? 0 : attempts_of_members(&sets[d->set], fds, which, many, list, MOST - 1, pc);
        if (!at_once) list[m++] = changes;
        bool in_time = at_once || ft_rt_x_wait_for(list, m, ms > 0 ? ms : -1, pc);
        look_at_members(&sets[d->set], fds, which, many, n, pc);
        int found = report(&sets[d->set], fds, which, many, events, n);
        if (!found && !at_once && in_time) continue;
        ft_rt_x_limit_passed(limit, !found, pc);
        if (!found && early) ft_rt_x_looked_in_vain(since, limit.ms, pc);
        return found;
    }
}
