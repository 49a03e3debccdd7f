/* The time that deadlines are written in. */
#ifndef FT_BASE_CLOCK_H
#define FT_BASE_CLOCK_H

double ft_now_ms(void); /* monotonic, in milliseconds */

#endif
