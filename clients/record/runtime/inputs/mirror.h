/* Mirrored descriptors: those that a replay really makes, as the recording did, since only threads
 * of the program use them (pipes, socket pairs, event descriptors). */
#ifndef FT_RECORD_MIRROR_H
#define FT_RECORD_MIRROR_H

#include <stdbool.h>

#pragma GCC visibility push(hidden)

struct pollfd;
typedef struct ft_rt_input ft_rt_input;

/* What it makes is made here too. Behind the schedule's end it is made here alone, with the numbers
 * that there are. */
bool ft_rt_mirrors(ft_rt_input *in);
bool ft_rt_mirror_is_live(const ft_rt_input *in); /* in a replay, and made here alone */
/* Before an answer from the descriptor, or from a set in which it is: taken from it here too.
 * Behind the schedule's end the answer is the descriptor's own. */
void ft_rt_mirror_asked(ft_rt_input *in, int fd, int ms);
/* Whether the call is to be done here too, which is not to wait: between these two. */
bool ft_rt_mirror_tells(ft_rt_input *in, int fd);
int ft_rt_mirror_begin(int fd); /* what end wants to know */
void ft_rt_mirror_end(int fd, int flags);
void ft_rt_mirror_answers(ft_rt_input *in);   /* what is there now, whatever the recording says */
void ft_rt_mirror_watches(int epoll, int fd); /* the one is in the other's set from here on */
int ft_rt_mirror_poll(struct pollfd *fds, unsigned long n, int ms); /* of what is there really */

#pragma GCC visibility pop

#endif
