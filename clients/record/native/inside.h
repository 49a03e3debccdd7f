/* The inside of the native executor. */
#ifndef FT_RECORD_NATIVE_INSIDE_H
#define FT_RECORD_NATIVE_INSIDE_H

#include <sched.h>
#include <sys/types.h>
#include <time.h>

#include "base/map.h"
#include "base/memory.h"
#include "native/native.h"

enum { FT_NATIVE_SAMPLE = 5 };

/* A slot, as the explorer sees it. */
typedef struct ft_native_slot {
    bool busy;
    pid_t child; /* ANEW: its process; 0: none */
    uint32_t steps;
    struct timespec since; /* of its last step, since one looks; 0: nobody did */
    bool hangs;            /* it was ended for that */
} ft_native_slot;

typedef struct ft_native_kept_output {
    ft_native_output_name name;
    char *bytes; /* NULL: not kept */
    size_t size;
    bool is_whole, is_forgotten;
} ft_native_kept_output;

typedef struct ft_native_server {
    uint32_t given; /* tasks of which it was not told */
    uint32_t unused[15];
} ft_native_server;

struct ft_native {
    ft_native_options options;
    int fd; /* of the memory file */
    char path[64];
    ft_exploring_header *shared;
    size_t bytes;
    pid_t child;   /* the program that was started; 0: none */
    bool has_died; /* it was reaped */
    ft_native_slot *slots;
    uint32_t n_slots;
    ft_native_server *servers; /* one for each worker */
    bool by_threads;           /* one for each server waits for runs */
    cpu_set_t processors;      /* that there are */
    /* names: the explorer's numbers */
    FT_VEC(ft_exploring_thread) threads;
    FT_VEC(ft_exploring_name) objects;
    ft_map by_name;           /* hash of a name -> number */
    FT_VEC(uint32_t) numbers; /* of the last run's objects */
    ft_x_operation first;
    /* facts */
    FT_VEC(ft_native_failure) failures;
    FT_VEC(ft_native_race) races;
    ft_map by_race;
    bool wide_points;           /* since the points were set */
    FT_VEC(uint32_t) run_races; /* of the last run: numbers in `races`, ascending */
    /* Sets of races that runs had, each once: a run's `races` is where it begins, + 1. How many
     * there are, and their numbers. */
    FT_VEC(uint32_t) race_sets;
    ft_map by_race_set; /* hash -> a run's `races` */
    char refused[FT_EXPLORING_TEXT], strayed[FT_EXPLORING_TEXT];
    uint64_t refused_pc;
    FT_VEC(uint64_t) lingering; /* return addresses of calls at which threads lingered */
    ft_x_watches *watches;
    FT_VEC(ft_native_kept_output) outputs; /* each once */
    ft_map by_output;                      /* a name's first half -> number */
    ft_native_text last_output;
    FT_VEC(ft_native_origin) origins; /* of the last run's steps */
    FT_VEC(ft_native_delay) delays;   /* the same */
    struct {
        uint64_t met, random;
        ft_x_run runs[FT_NATIVE_SAMPLE];
    } sample; /* of the runs so far */
    uint64_t pending_pcs[FT_X_THREADS];
};

/* ---- native.c: waits until the slot's run is over */
ft_status ft_native_await(ft_native *n, uint32_t slot, ft_error *err) FT_MUST_CHECK;

/* ---- anew.c */
/* Starts the program for the slot's task, which is there, up to its first choice. */
ft_status ft_native_start_anew(ft_native *n, uint32_t slot, ft_error *err) FT_MUST_CHECK;
void ft_native_reap(ft_native *n, uint32_t slot); /* the run is over if its process is */
void ft_native_sample_run(ft_native *n, const ft_x_run *run);
void ft_native_sample_release(ft_native *n);

/* ---- start.c */
uint32_t ft_native_slots_each(const ft_exploring_options *options); /* of a server */
/* The calling thread is on the server's processor until it leaves, or ends. */
void ft_native_share_processor(ft_native *n, uint32_t server);
ft_status ft_native_share(ft_native *n, ft_error *err) FT_MUST_CHECK; /* makes the memory file */
ft_status ft_native_start(ft_native *n, ft_error *err) FT_MUST_CHECK; /* to its first choice */
/* Starts another process of it; -1: errno says why not. */
pid_t ft_native_launch(const ft_native *n);
void ft_native_end(pid_t child); /* kills and reaps */

/* ---- tasks.c */
void ft_native_task(ft_native *n, uint32_t slot, const ft_x_task *task);
void ft_native_run(ft_native *n, uint32_t slot, ft_x_run *run); /* run: cleared */
/* The explorer's number of the run's object. */
uint32_t ft_native_object(ft_native *n, const ft_exploring_name *name);
ft_x_operation ft_native_operation(ft_native *n, const ft_exploring_slot *s,
                                   const ft_x_operation *o);

/* ---- facts.c: of the slot's run; the number of its failure, 0: it passed */
/* The number of the run's output, from 1: equal ones have one. */
uint64_t ft_native_note_output(ft_native *n, const ft_exploring_slot *s, bool passed);
uint64_t ft_native_note_races(ft_native *n, const ft_exploring_slot *s); /* ft_x_run.races */
uint64_t ft_native_note(ft_native *n, const ft_exploring_slot *s, bool hangs);

#endif
