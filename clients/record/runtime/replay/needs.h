/* Functions that a replay calls and that folders above it define. */
#ifndef FT_RECORD_REPLAY_NEEDS_H
#define FT_RECORD_REPLAY_NEEDS_H

#pragma GCC visibility push(hidden)

/* inputs/: before the program opens anything. */
void ft_rt_fd_start(void);
/* inputs/: the replay went another way: prints the environment variables that differ, if any. */
void ft_rt_environment_tell(void);
/* process/: the place of the handler's step, NULL: that signal has no handler. */
const void *ft_rt_signals_handler(int number);

#pragma GCC visibility pop

#endif
