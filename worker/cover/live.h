/* Live locations of a slice, for this folder alone. */
#ifndef FT_COVER_LIVE_H
#define FT_COVER_LIVE_H

#include "cover/trace.h"

typedef struct cover_range {
    uint32_t object;
    uint64_t from, to;
} cover_range;

typedef struct cover_live {
    ft_map registers;          /* frame and register -> 1: live */
    ft_map counters;           /* thread and text -> 1: how often the thread has read the input */
    FT_VEC(cover_range) bytes; /* may overlap */
} cover_live;

/* In place of a register: the result of the thread whose first frame it is. */
#define COVER_RESULT UINT32_MAX

void cover_live_release(cover_live *live);
void cover_live_add(cover_live *live, uint32_t frame, uint32_t reg);
bool cover_live_has(const cover_live *live, uint32_t frame, uint32_t reg);
bool cover_live_kill(cover_live *live, uint32_t frame, uint32_t reg); /* was it live? */
void cover_live_add_bytes(cover_live *live, uint32_t object, uint64_t from, uint64_t to);
bool cover_live_has_bytes(const cover_live *live, uint32_t object, uint64_t from, uint64_t to);
void cover_live_kill_bytes(cover_live *live, uint32_t object, uint64_t from, uint64_t to);
void cover_live_add_counter(cover_live *live, uint32_t thread, uint32_t text);
bool cover_live_has_counter(const cover_live *live, uint32_t thread, uint32_t text);

#endif
