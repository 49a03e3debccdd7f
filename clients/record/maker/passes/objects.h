/* Lifetimes of synchronisation objects: which ones threads initialise, destroy or free while others
 * may use them. Owner: objects.c. */
#ifndef FT_RECORD_MAKER_OBJECTS_H
#define FT_RECORD_MAKER_OBJECTS_H

#include "base/memory.h"

typedef struct ft_object_life {
    bool used, initialised, ends; /* the latter two: where others can tell */
    bool hooked;                  /* instrumented code initialises, uses or ends it */
    uint32_t user, maker;         /* threads; FT_SEVERAL_THREADS */
    uint32_t variable, block;     /* in the builder */
} ft_object_life;

typedef struct ft_object_lives {
    FT_VEC(ft_object_life) all; /* by object */
    uint32_t unjoined;          /* first pass: threads that were created and not joined */
} ft_object_lives;

#endif
