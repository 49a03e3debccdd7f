/* Assertions by proof: for any number of threads, and however often loops go round. */
#include <stdlib.h>

#include "explore/internal.h"
#include "modular/modular.h"

/* Exploring never ends a program that was lowered with a bound on threads, so that more of the time
 * goes to the proof there. */
static double time_to_prove(const ft_exploring *x)
{
    static const double SHARE = 0.1, SHARE_BOUNDED = 0.65;
    bool bounded = x->few_threads || ft_exploring_bounds_threads(x->program);
    double share = x->hard_seconds * (bounded ? SHARE_BOUNDED : SHARE);
    return share - (ft_exploring_now() - x->began);
}

bool ft_exploring_prove(ft_exploring *x)
{
    ft_strbuf why = {0};
    ft_modular_options options = {.seconds = time_to_prove(x)};
    for (int c = 0; c < FT_CHECKS; c++)
        if (x->checks[c] != (c == FT_CHECK_ASSERTION)) return false;
    if (ft_modular_prove(x->program, &options, &why) == FT_MODULAR_PROVED)
        x->proof = ft_strdup(ft_strbuf_text(&why));
    ft_strbuf_release(&why);
    return x->proof != NULL;
}
