/* From failing runs of an exploration to traces that a check takes. */
#ifndef FT_CLI_EXPLORED_H
#define FT_CLI_EXPLORED_H

#include "exploring/exploring.h"

/* Records each confirmed failing run under its order of actions, as FOLDER/explored.N.ftb; appends
 * the paths (heap) to `traces`. Returns how many could not be: the program did something else, or
 * did not fail; each is told on standard error. */
size_t ft_explored_record(const ft_options *options, const ft_exploration *exploration,
                          const char *folder, ft_texts *traces);

#endif
