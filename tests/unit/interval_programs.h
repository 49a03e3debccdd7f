/* Small random programs that switch much: two to four threads of reads, writes and updates of two
 * or three variables, nested sections of up to two mutexes that may deadlock, and now and then a
 * semaphore, an edge, a read-write lock or an if. Values are Ints, or bit-vectors of which some
 * programs only compute what Ints have too. In the language of tiny_trace.h. */
#ifndef INTERVAL_PROGRAMS_H
#define INTERVAL_PROGRAMS_H

#include "interval_classes.h"
#include "interval_subject.h"
#include "tiny_trace.h"
#include "verdict/checker.h"

/* Shapes of programs, and the first that has arms with sections. */
enum { PROGRAM_THREADS = 4, PROGRAM_SHAPES = 15, PROGRAM_ARMS = 8 };

typedef struct program_shape {
    uint32_t threads, accesses, locks;
    bool sync;      /* semaphores, edges, read-write locks, ifs */
    bool arms;      /* ifs with sections in their arms */
    uint32_t width; /* of BitVecs; 0: Ints */
    bool is_signed; /* comparisons of BitVecs */
} program_shape;

typedef struct program_writer {
    ft_random random;
    program_shape shape;
    ft_strbuf text;
    uint32_t held[4], n_held, thread, n_ifs;
    bool edge_out, has_edge;
} program_writer;

static inline uint32_t program_below(program_writer *w, uint32_t bound)
{
    return ft_random_below(&w->random, bound);
}

static inline const char *program_number(program_writer *w, uint32_t number, char *out, size_t size)
{
    if (w->shape.width)
        snprintf(out, size, "(_ bv%u %u)", number, w->shape.width);
    else
        snprintf(out, size, "%u", number);
    return out;
}

/* "+", or the operator that BitVecs have for it. */
static inline const char *program_op(const program_writer *w, const char *op)
{
    static const char *const ops[][3] = {{"+", "bvadd", "bvadd"},  {"-", "bvsub", "bvsub"},
                                         {"*", "bvmul", "bvmul"},  {"<=", "bvule", "bvsle"},
                                         {">=", "bvuge", "bvsge"}, {"<", "bvult", "bvslt"},
                                         {">", "bvugt", "bvsgt"}};
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
        if (strcmp(ops[i][0], op) == 0)
            return ops[i][!w->shape.width ? 0 : w->shape.is_signed ? 2 : 1];
    abort();
}

static inline const char *program_term(program_writer *w, char *out, size_t size)
{
    static const char *const ops[] = {"+", "-", "*"};
    char local = (char)('p' + program_below(w, 2)), number[24];
    uint32_t pick = program_below(w, 10);
    program_number(w, program_below(w, 4), number, sizeof number);
    if (pick < 3)
        snprintf(out, size, "%s", number);
    else if (pick < 6)
        snprintf(out, size, "%c", local);
    else if (w->shape.width && program_below(w, 12) == 0)
        snprintf(out, size, "(bvand %c %s)", local, number);
    else
        snprintf(out, size, "(%s %c %s)", program_op(w, ops[pick % 3]), local, number);
    return out;
}

static inline void program_line(program_writer *w, const char *format, ...)
{
    char line[160];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    ft_strbuf_printf(&w->text, "T%u: %s\n", w->thread + 1, line);
}

static inline void program_access(program_writer *w)
{
    char term[48], number[24], local = (char)('p' + program_below(w, 2)),
                               variable = (char)('x' + program_below(w, 3));
    uint32_t pick = program_below(w, 12);
    program_number(w, program_below(w, 3), number, sizeof number);
    if (pick < 5)
        program_line(w, "%c := %c", local, variable);
    else if (pick < 9)
        program_line(w, "%c := %s", variable, program_term(w, term, sizeof term));
    else if (pick < (w->shape.width ? 10 : 11))
        program_line(w, "%c := (%s %c %s)", variable, program_op(w, "+"), variable, number);
    else
        program_line(w, "%s (%s %c %s)",
                     program_below(w, w->shape.width ? 2 : 4) ? "assume" : "assert",
                     program_op(w, program_below(w, 2) ? "<=" : ">="),
                     program_below(w, 2) ? variable : local, number);
}

static inline void program_if(program_writer *w, uint32_t below)
{
    char number[24];
    program_number(w, program_below(w, below), number, sizeof number);
    program_line(w, "if (%s %c %s)", program_op(w, program_below(w, 2) ? "<" : ">"),
                 (char)('p' + program_below(w, 2)), number);
}

static inline void program_sync(program_writer *w)
{
    switch (program_below(w, 6)) {
    case 0:
        program_line(w, "post s");
        return;
    case 1:
        program_line(w, "wait s");
        return;
    case 2:
        if (w->has_edge && !w->edge_out && w->thread == 0) {
            program_line(w, "out e");
            w->edge_out = true;
        } else if (w->edge_out && w->thread == 1) {
            program_line(w, "in e");
            w->has_edge = w->edge_out = false;
        }
        return;
    case 3:
        program_line(w, "acqs r");
        program_access(w);
        program_line(w, "rel r");
        return;
    case 4:
        program_line(w, "acq r");
        program_access(w);
        program_line(w, "rel r");
        return;
    default:
        if (++w->n_ifs > 4) return;
        program_if(w, 3);
        program_access(w);
        bool section = w->n_held == 0 && w->shape.locks && program_below(w, 2);
        if (section) program_line(w, "acq l");
        if (section) program_access(w);
        if (section) program_line(w, "rel l");
        program_line(w, "else");
        if (program_below(w, 2)) program_access(w);
        program_line(w, "end-if");
    }
}

/* An arm with a section. */
static inline void program_arm(program_writer *w)
{
    if (++w->n_ifs > 6) return;
    program_if(w, 2);
    if (w->n_held == 0) {
        program_line(w, "acq l");
        program_access(w);
        program_line(w, "rel l");
    }
    program_line(w, "else");
    program_line(w, "end-if");
}

static inline void program_thread(program_writer *w)
{
    w->n_held = 0;
    if (w->shape.arms && w->thread == 0) program_arm(w);
    if (w->shape.arms && w->thread == 1) {
        w->held[w->n_held++] = 0;
        program_line(w, "acq l");
    }
    for (uint32_t k = 0; k < w->shape.accesses;) {
        uint32_t pick = program_below(w, 10);
        bool can_lock = w->n_held < w->shape.locks;
        if (pick < 2 && can_lock && !w->shape.arms) {
            uint32_t lock = w->n_held ? !w->held[0] : program_below(w, w->shape.locks);
            w->held[w->n_held++] = lock;
            program_line(w, "acq %c", "lm"[lock]);
        } else if (pick < 4 && w->n_held && !w->shape.arms) {
            program_line(w, "rel %c", "lm"[w->held[--w->n_held]]);
        } else if (pick < 6 && w->shape.arms && w->thread == 0) {
            program_arm(w);
            k++;
        } else if (pick < 6 && w->shape.sync) {
            program_sync(w);
            k++;
        } else {
            program_access(w);
            k++;
        }
    }
    while (w->n_held) program_line(w, "rel %c", "lm"[w->held[--w->n_held]]);
}

/* One thread after the other: no order of the run is asked for, only of each thread. */
static inline ft_trace *program_trace(uint64_t seed, const program_shape *shape)
{
    program_writer w = {.shape = *shape};
    ft_random_init(&w.random, seed);
    w.has_edge = program_below(&w, 2) != 0;
    char sort[16] = "";
    if (shape->width) snprintf(sort, sizeof sort, " %u", shape->width);
    for (char v = 'x'; v <= 'z'; v++)
        ft_strbuf_printf(&w.text, "var %c %u%s\n", v, program_below(&w, 3), sort);
    ft_strbuf_printf(&w.text, "local p 0%s\nlocal q 0%s\n", sort, sort);
    ft_strbuf_printf(&w.text, "mutex l\nmutex m\nrw r\nsem s %u\n", program_below(&w, 2));
    for (w.thread = 0; w.thread < shape->threads; w.thread++) program_thread(&w);
    ft_trace *trace = tiny_trace(ft_strbuf_text(&w.text));
    ft_observe_run(trace);
    ft_strbuf_release(&w.text);
    return trace;
}

/* Each seed a shape of its own. */
static inline program_shape program_shape_of(uint64_t seed)
{
    static const program_shape shapes[PROGRAM_SHAPES] = {
        {2, 4, 0, false, false, 0, false}, {2, 5, 2, false, false, 0, false},
        {2, 4, 2, true, false, 0, false},  {3, 3, 0, false, false, 0, false},
        {3, 3, 2, false, false, 0, false}, {3, 3, 2, true, false, 0, false},
        {4, 2, 0, false, false, 0, false}, {4, 2, 2, true, false, 0, false},
        {2, 5, 1, false, true, 0, false},  {2, 4, 2, false, false, 8, false},
        {3, 3, 2, true, false, 32, true},  {2, 4, 1, true, false, 4, true},
        {2, 4, 1, false, true, 64, false}, {4, 2, 2, true, false, 16, false},
        {2, 4, 2, false, false, 3, true},
    };
    return shapes[seed % PROGRAM_SHAPES];
}

typedef struct program_counts {
    interval_counts ranges;
    uint64_t programs, classes, lost, compared, twice;
} program_counts;

typedef struct program_subject {
    ft_trace *trace;
    ft_order *order;
    ft_run *run;
    ft_problem problem;
} program_subject;

static inline void program_open(program_subject *s, ft_trace *trace)
{
    s->trace = trace;
    s->order = ft_order_new(trace);
    s->run = ft_run_new(trace);
    s->problem =
        (ft_problem){.trace = trace, .order = s->order, .run = s->run, .model = FT_MODEL_CTP};
}

static inline void program_close(program_subject *s)
{
    ft_run_free(s->run);
    ft_order_free(s->order);
    ft_trace_free(s->trace);
}

static inline bool program_compare_ranges(uint64_t seed, program_counts *counts, char *why,
                                          size_t size)
{
    const program_shape shape = program_shape_of(seed);
    program_subject s;
    ft_random random;
    ft_machine *machine = ft_calloc(1, sizeof *machine);
    ft_random_init(&random, seed + 1);
    program_open(&s, program_trace(seed, &shape));
    ft_machine_init(machine, s.trace, FT_MODEL_CTP, FT_WAKEUPS_SPURIOUS);
    interval_count(machine, &counts->ranges);
    bool fine =
        interval_compare_ways(machine, &s.problem, &random, NULL, 0, &counts->ranges, why, size);
    free(machine);
    program_close(&s);
    return fine;
}

/* Every switch of the second is one of the first. */
static inline bool program_is_within(const ft_transactions *all, const ft_transactions *part)
{
    size_t k = 0;
    for (size_t i = 0; i < part->switches.len; i++) {
        while (k < all->switches.len &&
               memcmp(&all->switches.data[k], &part->switches.data[i], sizeof(ft_switch)) != 0)
            k++;
        if (k == all->switches.len) return false;
    }
    return true;
}

static inline bool program_covers(const ft_stepping *steps, const ft_transactions *t,
                                  const classes *all, bool once, program_counts *counts, char *why,
                                  size_t size)
{
    classes some;
    uint32_t most, n;
    bool fine = true;
    if (classes_find(&some, steps, t, once)) {
        n = classes_count(&some, &most);
        counts->compared++;
        if (n != all->found.len || (once && n && most != 1))
            fine = false, snprintf(why, size, "%u of %u classes, at most %u members", n,
                                   (unsigned)all->found.len, most);
    }
    classes_release(&some);
    return fine;
}

static inline bool program_compare_kinds(const ft_stepping *steps, bool dummy, classes *all,
                                         program_counts *counts, char *why, size_t size)
{
    bool fine = true, once = dummy && steps->n_threads == 2 && !steps->threads[0].waits;
    ft_transactions *t[FT_MAT_FEASIBLE + 1] = {NULL};
    for (int kind = FT_MAT_FIRST; kind <= FT_MAT_FEASIBLE && fine; kind++) {
        const ft_transactions_options options = {.kind = (ft_mat_kind)kind, .work = INTERVAL_WORK};
        t[kind] = ft_transactions_new(steps, &options);
        if (t[kind]) fine = program_covers(steps, t[kind], all, once, counts, why, size);
    }
    if (fine && once && t[1] && t[2] && !program_is_within(t[1], t[2])) {
        snprintf(why, size, "GenMAT' has a switch that GenMAT has not");
        fine = false;
    }
    for (int kind = FT_MAT_FIRST; kind <= FT_MAT_FEASIBLE; kind++) ft_transactions_free(t[kind]);
    return fine;
}

/* Classes of a program without ifs and semaphores. */
static inline bool program_compare_classes(uint64_t seed, program_counts *counts, char *why,
                                           size_t size)
{
    program_shape shape = program_shape_of(seed);
    program_subject s;
    classes all;
    uint32_t most;
    bool fine = true, dummy = seed / 8 % 2;
    shape.sync = shape.arms = false;
    program_open(&s, program_trace(seed, &shape));
    const ft_stepping_options cut = {.whole = seed % 3 == 0, .dummy = dummy, .most = 1000};
    ft_stepping *steps = ft_stepping_new(&s.problem, &cut);
    if (classes_find(&all, steps, NULL, false)) {
        counts->programs++;
        counts->classes += all.found.len = classes_count(&all, &most);
        fine = program_compare_kinds(steps, dummy, &all, counts, why, size);
    }
    classes_release(&all);
    ft_stepping_free(steps);
    program_close(&s);
    return fine;
}

#endif
