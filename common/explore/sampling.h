/* Sampling: random schedules of few change points, for programs with too many schedules.
 *
 * Probabilistic concurrency testing (Burckhardt et al., ASPLOS 2010): each thread gets a random
 * priority, the enabled thread of the highest one runs, and at d - 1 random steps the running
 * thread's priority falls below all others. A bug that needs d ordering constraints shows with a
 * probability of at least 1 / (n k^(d-1)) a sample (n threads, k steps). d goes round from 1 to
 * FT_X_SAMPLE_DEPTHS.
 *
 * An executor knows nothing of priorities: a sample is a chain of runs, each along the longest part
 * that did as the priorities say, and with the thread that they want there. Every run of the chain
 * is one more schedule. */
#ifndef FT_EXPLORE_SAMPLING_H
#define FT_EXPLORE_SAMPLING_H

#include "explore/names.h"
#include "explore/search.h"

enum { FT_X_SAMPLE_DEPTHS = 4 };

typedef struct ft_x_samples ft_x_samples;

/* As ft_x_levels_new; the seed decides the samples. */
ft_x_samples *ft_x_samples_new(const ft_x_executor *executor, const ft_x_options *options,
                               ft_x_counts *counts, ft_x_names *classes, uint64_t seed);
void ft_x_samples_free(ft_x_samples *samples);
/* Goes on until a bound stops it, or `most` samples were taken (0: no bound). */
ft_status ft_x_samples_run(ft_x_samples *samples, uint64_t most, ft_error *err) FT_MUST_CHECK;
uint64_t ft_x_samples_taken(const ft_x_samples *samples);

#endif
