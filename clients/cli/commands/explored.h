/* From failing runs of an exploration to traces that a check takes. */
#ifndef FT_CLI_EXPLORED_H
#define FT_CLI_EXPLORED_H

#include "exploring/exploring.h"

/* Records each confirmed failing run under its order of actions, as FOLDER/explored.N.ftb, and runs
 * that have all data races between them; appends the paths (heap) to `traces`. Returns how many
 * failing runs could not be recorded, because the program did not follow the order; each is
 * reported on standard error. A recording that followed the order and in
 * which the program ended otherwise (another thread ended the process right behind) is not noticed
 * here: the check of its trace finds nothing. */
size_t ft_explored_record(const ft_options *options, const ft_exploration *exploration,
                          const char *folder, ft_texts *traces);

#endif
