/* Mirrored descriptors: virtual ones that a replay really makes, as the recording did, since only
 * threads of the program use them (pipes, socket pairs, event descriptors, timers, epoll sets).
 *
 * Up to the schedule's end the recording still answers; the content that it gives is taken from the
 * real descriptor too. After the schedule's end the real descriptor answers alone. */
#ifndef FT_RECORD_MIRROR_H
#define FT_RECORD_MIRROR_H

#include <stdbool.h>

#pragma GCC visibility push(hidden)

struct pollfd;
typedef struct ft_rt_input ft_rt_input;

/* Is a descriptor that the call makes to be made here too? After the schedule's end it is made here
 * alone, with the number that the system gives. */
bool ft_rt_mirrors(ft_rt_input *in);
bool ft_rt_mirror_is_live(const ft_rt_input *in); /* a replay makes it here alone */
/* Before the recording's answer from a descriptor, or from a set with it: the real one gives the
 * same content. Past the schedule's end the answer is the real one's. */
void ft_rt_mirror_asked(ft_rt_input *in, int fd, int ms);
/* Is a call that puts content in to be done here too? Then begin and end stand around it, so that
 * it does not sleep. */
bool ft_rt_mirror_tells(ft_rt_input *in, int fd);
int ft_rt_mirror_begin(int fd); /* returns the flags that end restores */
void ft_rt_mirror_end(int fd, int flags);
void ft_rt_mirror_answers(ft_rt_input *in); /* the answer is the real one's, not the recording's */
void ft_rt_mirror_watches(int epoll, int fd);                       /* fd was added to the set */
int ft_rt_mirror_poll(struct pollfd *fds, unsigned long n, int ms); /* of the real ones alone */

#pragma GCC visibility pop

#endif
