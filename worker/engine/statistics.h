/* The plan's statistics (docs/records.md, PLAN): what each pass before the solver leaves of a
 * check's claims, and how much of the trace can matter. */
#ifndef FT_ENGINE_STATISTICS_H
#define FT_ENGINE_STATISTICS_H

#include "engine/internal.h"

/* Claims that lockset and must-happen-before leave are asked of the causality graph one by one, as
 * far as they are no more than this for a check, and their graphs have no more nodes. */
#define FT_MAX_COUNTED_CLAIMS 20000u
#define FT_MAX_COUNTED_NODES  500000u

/* After ft_engine_prepare. New reference. */
json_t *ft_engine_statistics(ft_engine *engine);

#endif
