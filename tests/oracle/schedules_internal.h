/* The machine of oracle/schedules.h: a program's state, and its steps. Private to the oracle. */
#ifndef FT_TEST_SCHEDULES_INTERNAL_H
#define FT_TEST_SCHEDULES_INTERNAL_H

#include "oracle/schedules.h"

/* Threads of programs that poll, and how many attempts are remembered. */
enum { SCHEDULE_POLLERS = 4, SCHEDULE_VISITS = 24 };

/* What a thread did since it last changed anything: attempts alone, each with the thread as it was
 * before it. */
typedef struct schedule_round {
    struct schedule_visit {
        uint32_t at;
        int64_t registers[SCHEDULE_REGISTERS];
        ft_x_attempt attempt;
    } visits[SCHEDULE_VISITS];
    uint32_t n;
    ft_x_operation poll; /* that it stands before; NONE */
} schedule_round;

typedef struct machine {
    uint32_t at[FT_X_THREADS];
    int64_t registers[FT_X_THREADS][SCHEDULE_REGISTERS], add[FT_X_THREADS][2];
    int64_t globals[SCHEDULE_GLOBALS], value[SCHEDULE_OBJECTS];
    int8_t holder[SCHEDULE_OBJECTS]; /* mutex, rwlock for writing: thread, -1 */
    uint8_t gone[SCHEDULE_OBJECTS], more[SCHEDULE_OBJECTS][2]; /* of a channel's ends; more[0]: a
                                                                 lock's queued writers */
    int64_t arrivals[SCHEDULE_OBJECTS];
    int8_t waiting[FT_X_THREADS];    /* 0 not at a wait, 1 waits, 2 was notified */
    uint8_t condition[FT_X_THREADS]; /* at which it waits */
    bool failed[FT_X_THREADS], created[FT_X_THREADS], over, failure;
    schedule_round rounds[SCHEDULE_POLLERS];
    uint32_t n_events;
    struct {
        ft_x_action action;
        uint32_t name;
    } events[256];
} machine;

void ft_schedules_begin(const schedule_program *p, machine *m);
ft_x_operation ft_schedules_pending(const schedule_program *p, const machine *m, uint32_t t);
/* The variants of a thread that can go on. */
uint32_t ft_schedules_variants(const schedule_program *p, const machine *m, uint32_t t,
                               uint64_t list[FT_X_THREADS]);
ft_x_action ft_schedules_step(const schedule_program *p, machine *m, uint32_t t, uint64_t variant);
/* Of all programs: equal watches have equal numbers in all that is compared. */
ft_x_watches *ft_schedules_watches(void);

#endif
