/* The process's mappings, read without stdio and malloc (/proc/self/maps, /proc/self/pagemap). */
#ifndef FT_RECORD_MAPPINGS_H
#define FT_RECORD_MAPPINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

typedef struct ft_rt_mapping {
    uintptr_t from, to;
    bool writable, shared;
    bool file; /* pages that are not there yet come from a file, and are not zeros */
} ft_rt_mapping;

enum { FT_RT_MAPS_TEXT = 16384 };

typedef struct ft_rt_maps {
    int fd;
    size_t n, at;
    bool over;
    char text[FT_RT_MAPS_TEXT];
} ft_rt_maps;

bool ft_rt_maps_open(ft_rt_maps *maps);
bool ft_rt_maps_next(ft_rt_maps *maps, ft_rt_mapping *mapping); /* false: there are no more */
void ft_rt_maps_close(ft_rt_maps *maps);

#pragma GCC visibility pop

#endif
