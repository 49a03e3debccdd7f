#include "oracle/notation.h"

#include <stdlib.h>
#include <string.h>

#include "base/contract.h"

/* ---- notation */

static const struct letter {
    char letter;
    uint16_t kind;
    uint32_t base; /* the objects of a class have numbers of their own */
} LETTERS[] = {
    {'L', FT_X_LOCK, 0},         {'U', FT_X_UNLOCK, 0},        {'T', FT_X_TRY_LOCK, 0},
    {'W', FT_X_WAIT, 10},        {'S', FT_X_SIGNAL, 10},       {'B', FT_X_BROADCAST, 10},
    {'P', FT_X_TAKE, 12},        {'V', FT_X_POST, 12},         {'l', FT_X_LOAD, 14},
    {'s', FT_X_STORE, 14},       {'a', FT_X_ADD, 14},          {'t', FT_X_STORE, 14},
    {'c', FT_X_SWAP, 14},        {'r', FT_X_READ_LOCK, 18},    {'q', FT_X_READ_UNLOCK, 18},
    {'w', FT_X_WRITE_LOCK, 18},  {'v', FT_X_WRITE_UNLOCK, 18}, {'A', FT_X_ARRIVE, 19},
    {'E', FT_X_LEAVE, 19},       {'J', FT_X_JOIN, 0},          {'X', FT_X_EXIT, 0},
    {'I', FT_X_CHOOSE, 0},       {'G', LOCAL_SET, 0},          {'<', LOCAL_GET, 0},
    {'>', LOCAL_PUT, 0},         {'=', LOCAL_COPY, 0},         {'n', LOCAL_NEED, 0},
    {'[', LOCAL_SKIP_UNLESS, 0}, {'{', LOCAL_SKIP_IF, 0},      {'^', LOCAL_SKIP_IF, 0}};

typedef struct writer {
    schedule_program *p;
    uint32_t thread, open[8], n_open, mark;
} writer;

static void emit(writer *w, ft_x_operation o)
{
    uint32_t *n = &w->p->length[w->thread];
    FT_REQUIRE(*n < SCHEDULE_CODE);
    w->p->code[w->thread][(*n)++] = o;
}

static void operation(writer *w, const struct letter *l, uint32_t number, int64_t value)
{
    ft_x_operation o = {.kind = l->kind, .object = l->base + number, .value = value};
    switch (l->letter) {
    case 'W':
        emit(w, o);
        o.kind = FT_X_WAKE;
        break;
    case 'A':
    case 'E': /* the number is the barrier's size */
        o = (ft_x_operation){.kind = l->kind,
                             .object = l->base,
                             .value = number,
                             .value2 = l->kind == FT_X_LEAVE}; /* of one round */
        break;
    case 'c':
        for (int i = 0; i < 2; i++)
            emit(w, (ft_x_operation){.kind = LOCAL_USE, .other = 1, .value = i});
        o.value2 = 1;
        break;
    case 'I':
        o = (ft_x_operation){.kind = l->kind, .value = 2};
        break;
    case '<':
    case '>':
    case '=':
        o.other = 1;
        break;
    case 'n':
        o = (ft_x_operation){.kind = l->kind, .other = 1, .value = number};
        break;
    case '[':
    case '{': /* register and value are two digits */
        o = (ft_x_operation){.kind = l->kind, .other = number / 10, .value = number % 10};
        w->open[w->n_open++] = w->p->length[w->thread];
        break;
    case '^': /* register 3 is always 0 */
        o = (ft_x_operation){
            .kind = l->kind, .other = 3, .value2 = (int64_t)w->mark - w->p->length[w->thread] - 1};
        break;
    default:
        break;
    }
    emit(w, o);
}

static void close_branch(writer *w)
{
    uint32_t at = w->open[--w->n_open];
    w->p->code[w->thread][at].value2 = w->p->length[w->thread] - at - 1;
}

void ft_schedules_add_thread(schedule_program *p, const char *text)
{
    writer w = {.p = p, .thread = p->n_threads++};
    while (*text) {
        char letter = *text++, *end = NULL;
        if (letter == ' ') continue;
        if (letter == '(') {
            w.mark = p->length[w.thread];
            continue;
        }
        if (letter == ']' || letter == '}') {
            close_branch(&w);
            continue;
        }
        size_t i = 0;
        while (i < sizeof LETTERS / sizeof *LETTERS && LETTERS[i].letter != letter) i++;
        FT_REQUIRE(i < sizeof LETTERS / sizeof *LETTERS);
        uint32_t number = (uint32_t)strtoul(text, &end, 10);
        int64_t value = 0;
        if (*end == '=' && end != text) value = strtoll(end + 1, &end, 10);
        text = end;
        operation(&w, &LETTERS[i], number, value);
    }
}

/* ---- the table */

enum { MOST_THREADS = 5 };

/* Turns at a buffer of one place, which variable 0 counts: with `while` around the wait, and with
 * `if` and a look at the count. */
#define PUT(notify)  "L0 ( <0 [11 W0 ^ ] >0=1 " notify " U0 "
#define TAKE(notify) "L0 ( <0 [10 W0 ^ ] >0=-1 " notify " U0 "
#define PUT_ONCE     "L0 <0 [11 W0 ] <0 >0=1 <0 n1 S0 U0 "
#define TAKE_ONCE    "L0 <0 [10 W0 ] <0 >0=-1 <0 n0 S0 U0 "

/* The programs of the table's rows, in its order. In those where a thread fails while others can go
 * on, the end of the process is an action that depends on all others here, so that there are more
 * classes than in the table; whether there is a failure must be the same. */
static const struct row {
    const char *threads[MOST_THREADS];
    int semaphore; /* its initial value */
    bool fails_early;
} ROWS[] = {
    {{"L0 U0", "L0 U0", "L0 U0"}, 0, false},
    {{"L0 U0", "L0 U0", "L0 U0", "L0 U0"}, 0, false},
    {{"L0 U0 L0 U0 L0 U0", "L0 U0 L0 U0 L0 U0"}, 0, false},
    {{"L0 U0 L0 U0 L0 U0", "L0 U0 L0 U0 L0 U0", "L0 U0 L0 U0 L0 U0"}, 0, false},
    {{"L0 U0 L1 U1 L2 U2", "L0 U0 L1 U1 L2 U2", "L0 U0 L1 U1 L2 U2"}, 0, false},
    {{"L0 U0 L0 U0 L0 U0", "L1 U1 L1 U1 L1 U1", "L2 U2 L2 U2 L2 U2"}, 0, false},
    {{"L0 L1 U1 U0", "L1 L0 U0 U1"}, 0, false},
    {{"L2 L0 L1 U1 U0 U2", "L2 L1 L0 U0 U1 U2"}, 0, false},
    {{"L0 L1 U1 U0", "L1 L0 U0 U1"}, 0, false},
    {{"L0 L1 U1 U0", "L1 L2 U2 U1", "L2 L0 U0 U2"}, 0, false},
    {{"L0 L1 U1 U0", "L1 L2 U2 U1", "L2 L3 U3 U2", "L3 L0 U0 U3"}, 0, false},
    {{"L0 L1 U1 U0", "L1 L2 U2 U1", "L0 L2 U2 U0"}, 0, false},
    {{"L0 W0 U0", "S0"}, 0, false},
    {{"L0 W0 U0", "L0 S0 U0"}, 0, false},
    {{"L0 <0 [10 W0 ] U0", "L0 G0=1 U0 S0"}, 0, false},
    {{"L0 <0 [10 W0 ] U0", "L0 <0 [10 W0 ] U0", "L0 G0=1 U0 S0"}, 0, false},
    {{"L0 <0 [10 W0 ] U0", "L0 <0 [10 W0 ] U0", "L0 G0=1 B0 U0"}, 0, false},
    /* A buffer of one place: variable 0 counts; a turn goes on where the place is as it needs it.
     */
    {{PUT("S0") PUT("S0"), TAKE("S0") TAKE("S0")}, 0, false},
    {{PUT("S0") PUT("S0"), TAKE("S0"), TAKE("S0")}, 0, false},
    {{PUT_ONCE PUT_ONCE, TAKE_ONCE, TAKE_ONCE}, 0, true},
    {{PUT("S0"), PUT("S0"), TAKE("S0"), TAKE("S0")}, 0, false},
    {{PUT("B0"), PUT("B0"), TAKE("B0"), TAKE("B0")}, 0, false},
    {{"L0 <0 U0 L0 >0=1 U0", "L0 <0 U0 L0 >0=1 U0", "J0 J1 <0 n2"}, 0, false},
    {{"L0 <0 U0 L0 >0=1 U0", "L0 <0 U0 L0 >0=1 U0", "L0 <0 U0 L0 >0=1 U0", "J0 J1 J2 <0 n3"},
     0,
     false},
    {{"P0 V0", "P0 V0", "P0 V0"}, 1, false},
    {{"P0 V0", "P0 V0", "P0 V0"}, 2, false},
    {{"V0", "V0", "V0", "P0", "P0"}, 0, false},
    {{"V0", "P0", "P0"}, 0, false},
    {{"l0", "l0", "s0=1"}, 0, false},
    {{"l0", "l0", "l0", "s0=1"}, 0, false},
    {{"l0", "l0", "l0", "l0", "s0=1"}, 0, false},
    {{"s0=1", "s0=2", "s0=3"}, 0, false},
    {{"l0 = t0=1", "l0 = t0=1"}, 0, false},
    {{"l0 = t0=1", "l0 = t0=1", "l0 = t0=1"}, 0, false},
    {{"a0=1", "a0=1", "a0=1", "a0=1"}, 0, false},
    {{"l0 = c0 [00 ^ ]", "l0 = c0 [00 ^ ]"}, 0, false},
    {{"l0 = c0 [00 ^ ]", "l0 = c0 [00 ^ ]", "l0 = c0 [00 ^ ]"}, 0, false},
    {{"s0=1 l1", "s1=1 l0"}, 0, false},
    {{"r0 q0", "r0 q0", "w0 v0"}, 0, false},
    {{"r0 q0", "r0 q0", "r0 q0"}, 0, false},
    {{"w0 v0", "w0 v0", "r0 q0"}, 0, false},
    {{"T0 [01 U0 ]", "T0 [01 U0 ]"}, 0, false},
    {{"L0 U0", "T0 [01 U0 ]", "T0 [01 U0 ]"}, 0, false},
    {{"A3 E3", "A3 E3", "A3 E3"}, 0, false},
    {{"A3 E3", "A3 E3"}, 0, false},
    {{"X", "s0=0 s1=1 s2=2"}, 0, false},
    {{"X", "s0=1", "s1=1"}, 0, false},
    {{"L0 I [01 W0 ] U0", "L0 S0 U0"}, 0, false},
    {{"I [01 L0 U0 ]", "I [01 L0 U0 ]"}, 0, false},
    {{"I [01 L0 U0 ]", "I [01 L0 U0 ]", "I [01 L0 U0 ]"}, 0, false},
};

static schedule_program program_of(const struct row *row)
{
    schedule_program p = {0};
    for (int t = 0; t < MOST_THREADS && row->threads[t]; t++)
        ft_schedules_add_thread(&p, row->threads[t]);
    p.initial[12] = row->semaphore;
    return p;
}

/* "| name | schedules | classes | stuck | failing | ends |": false: another line. */
static bool parse_row(char *line, golden_row *want)
{
    uint64_t numbers[5];
    char *bar = strrchr(line, '|');
    if (line[0] != '|' || !bar) return false;
    for (int i = 4; i >= 0; i--) {
        char *end;
        *bar = 0;
        bar = strrchr(line, '|');
        if (!bar) return false;
        numbers[i] = strtoull(bar + 1 + strspn(bar + 1, " >"), &end, 10);
        if (i > 0 && end == bar + 2) return false;
    }
    want->classes = numbers[1];
    want->stuck = numbers[2];
    want->failing = numbers[3];
    return numbers[1] > 0;
}

bool ft_golden_next(FILE *table, size_t *row, golden_row *to)
{
    char line[1000];
    while (fgets(line, sizeof line, table)) {
        if (!parse_row(line, to)) continue;
        FT_REQUIRE(*row < ft_golden_rows());
        const struct row *r = &ROWS[(*row)++];
        snprintf(to->name, sizeof to->name, "row %zu of the table", *row);
        to->program = program_of(r);
        to->fails_early = r->fails_early;
        return true;
    }
    return false;
}

size_t ft_golden_rows(void)
{
    return sizeof ROWS / sizeof *ROWS;
}
