/* The model: states of objects, as common/explore has them, in the runtime under names that no
 * program has. */
#ifndef FT_RECORD_RT_MODEL_H
#define FT_RECORD_RT_MODEL_H

#define ft_x_kind_name   ft_rt_x_kind_name
#define ft_x_kind_class  ft_rt_x_kind_class
#define ft_x_dependent   ft_rt_x_dependent
#define ft_x_may_depend  ft_rt_x_may_depend
#define ft_x_choices     ft_rt_x_choices
#define ft_x_is_choice   ft_rt_x_is_choice
#define ft_x_updated     ft_rt_x_updated
#define ft_x_apply       ft_rt_x_apply
#define ft_x_may_be_late ft_rt_x_may_be_late
#define ft_x_is_late     ft_rt_x_is_late
#define ft_x_watched     ft_rt_x_watched
#define ft_x_watch       ft_rt_x_watch

#pragma GCC visibility push(hidden)
#include "explore/objects.h"
#pragma GCC visibility pop

#endif
