/* From failing runs of an exploration to traces that a check takes. */
#ifndef FT_CLI_EXPLORED_H
#define FT_CLI_EXPLORED_H

#include "exploring/exploring.h"

/* Records each confirmed failing run under its order of actions, as FOLDER/explored.N.ftb, and runs
 * that have all data races between them; appends the paths (heap) to `traces`. Returns how many
 * failing runs have no recording that fails too: the program did not follow the order, or ended
 * otherwise (then the failure is `unshown`). Each is reported on standard error. A failure that
 * does not end the program (a lock's error, a use after free, threads that main left behind) is
 * looked for by the check of the trace alone. */
size_t ft_explored_record(const ft_options *options, ft_exploration *exploration,
                          const char *folder, ft_texts *traces);

#endif
