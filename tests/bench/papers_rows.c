#include "bench/papers_rows.h"

#define NONE FT_NOT_PUBLISHED
#define NO_FIGURE                                                                                  \
    {                                                                                              \
        NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE                                             \
    }

/* Wang et al., table 1: threads, length of the trace, property (0: passed, 1: error), time of
 * `predict`. */
#define T1(threads, length, errors, seconds)                                                       \
    {                                                                                              \
        threads, length, NONE, NONE, NONE, NONE, errors, seconds                                   \
    }
/* Wang et al., table 2: thrds (main among them), original length, pavs, hb-pavs, sym-avs,
 * sym-time. */
#define T2(threads, length, pavs, hb, avs, seconds)                                                \
    {                                                                                              \
        threads, length, pavs, NONE, hb, NONE, avs, seconds                                        \
    }
/* Kahlon and Wang, table 1: thrd, events, total, lsa, mhb, ucg, wits, time. */
#define KW(threads, events, total, lsa, mhb, ucg, wits, seconds)                                   \
    {                                                                                              \
        threads, events, total, lsa, mhb, ucg, wits, seconds                                       \
    }

#define BANKING(n, variant)                                                                        \
    "assertion", "ctp", ft_program_banking,                                                        \
    {                                                                                              \
        n, 0, 1, variant                                                                           \
    }
#define INDEXER(n, variant)                                                                        \
    "assertion", "ctp", ft_program_indexer,                                                        \
    {                                                                                              \
        n, 128, 4, variant                                                                         \
    }
#define BUFFER(n, variant)                                                                         \
    "assertion", "ctp", ft_program_buffer,                                                         \
    {                                                                                              \
        n, 4, 6, variant                                                                           \
    }
#define BANK(n, variant)                                                                           \
    "atomicity", "ctp", ft_program_bank,                                                           \
    {                                                                                              \
        n, 0, 0, variant                                                                           \
    }
#define ATOM001(c, variant)                                                                        \
    c, "ctp", ft_program_atom001,                                                                  \
    {                                                                                              \
        2, 0, 0, variant                                                                           \
    }
#define ATOM002(c, variant)                                                                        \
    c, "ctp", ft_program_atom002,                                                                  \
    {                                                                                              \
        2, 6, 0, variant                                                                           \
    }
#define BARRIER(c, n, v)                                                                           \
    c, "ctp", ft_program_barrier,                                                                  \
    {                                                                                              \
        n, 0, 3, v                                                                                 \
    }
#define ACCOUNT(c, n)                                                                              \
    c, "ctp", ft_program_account,                                                                  \
    {                                                                                              \
        n, 0, 0, 1                                                                                 \
    }
#define PHILOSOPHERS(c, v)                                                                         \
    c, "ctp", ft_program_philosophers,                                                             \
    {                                                                                              \
        5, 0, 10, v                                                                                \
    }
#define NESTED(c, v)                                                                               \
    c, "ctp", ft_program_nested,                                                                   \
    {                                                                                              \
        2, 0, 0, v                                                                                 \
    }
#define AGENT(c)                                                                                   \
    c, "ctp", ft_program_agent,                                                                    \
    {                                                                                              \
        2, 0, 2, 1                                                                                 \
    }
#define POOL(c)                                                                                    \
    c, "ctp", ft_program_pool,                                                                     \
    {                                                                                              \
        3, 1, 0, 0                                                                                 \
    }
#define TOKEN(c)                                                                                   \
    c, "ctp", ft_program_token,                                                                    \
    {                                                                                              \
        6, 0, 2, 0                                                                                 \
    }
#define ELEVATOR(c, steps)                                                                         \
    c, "maximal", ft_program_elevator,                                                             \
    {                                                                                              \
        3, 11, steps, 0                                                                            \
    }
#define TSP(c)                                                                                     \
    c, "maximal", ft_program_tsp,                                                                  \
    {                                                                                              \
        3, 9, 415, 1                                                                               \
    }

static const ft_row TABLE_1[] = {
    {"banking-2", BANKING(2, 0), false, T1(2, 843, 0, .1)},
    {"banking-2a", BANKING(2, 1), false, T1(2, 843, 1, .1)},
    {"banking-5", BANKING(5, 0), false, T1(5, 1622, 0, .3)},
    {"banking-5a", BANKING(5, 1), false, T1(5, 1622, 1, .1)},
    {"banking-10", BANKING(10, 0), false, T1(10, 2725, 0, 1.6)},
    {"banking-10a", BANKING(10, 1), false, T1(10, 2725, 1, .1)},
    {"banking-20", BANKING(20, 0), false, NO_FIGURE},
    {"banking-20a", BANKING(20, 1), false, NO_FIGURE},
    {"indexer-10", INDEXER(10, 0), false, T1(10, 3000, 0, .1)},
    {"indexer-15", INDEXER(15, 0), false, T1(15, 4277, 0, .1)},
    {"indexer-15a", INDEXER(15, 1), false, T1(15, 4277, 1, .4)},
    {"indexer-20", INDEXER(20, 0), false, T1(20, 5647, 0, .4)},
    {"indexer-20a", INDEXER(20, 1), false, T1(20, 5647, 1, 3.2)},
    {"indexer-25", INDEXER(25, 0), false, T1(25, 7482, 0, .9)},
    {"indexer-25a", INDEXER(25, 1), false, T1(25, 7482, 1, 26.1)},
    {"indexer-32", INDEXER(32, 0), true, NO_FIGURE},
    {"indexer-32a", INDEXER(32, 1), true, NO_FIGURE},
    {"indexer-40", "assertion", "ctp", ft_program_indexer, {40, 192, 4, 0}, false, NO_FIGURE},
    {"indexer-40a", "assertion", "ctp", ft_program_indexer, {40, 192, 4, 1}, false, NO_FIGURE},
    {"buffer-2", BUFFER(2, 0), false, NO_FIGURE},
    {"buffer-2a", BUFFER(2, 1), false, NO_FIGURE},
    {"buffer-4", BUFFER(4, 0), false, NO_FIGURE},
    {"barrier-5a", BARRIER("assertion", 5, 1), false, NO_FIGURE},
    {"barrier-5s", BARRIER("assertion", 5, 2), false, NO_FIGURE},
    {"account-10", ACCOUNT("assertion", 10), false, NO_FIGURE},
};

static const ft_row TABLE_2[] = {
    {"atom001", ATOM001("atomicity", 0), false, T2(3, 88, 8, 2, 1, .03)},
    {"atom001a", ATOM001("atomicity", 1), false, T2(3, 100, 8, 2, 0, .03)},
    {"atom002", ATOM002("atomicity", 0), false, T2(3, 462, 212, 34, 33, 20.4)},
    {"atom002a", ATOM002("atomicity", 1), false, T2(3, 462, 212, 34, 0, 17.6)},
    {"bank-av-2", BANK(2, 0), false, T2(3, 748, 24, 8, 8, .1)},
    {"bank-av-4", BANK(4, 0), false, T2(5, 1213, 48, 16, 16, .6)},
    {"bank-av-6", BANK(6, 0), false, T2(7, 1672, 72, 24, 24, 2.3)},
    {"bank-av-8", BANK(8, 0), false, T2(9, 2134, 96, 32, 32, 2.5)},
    {"bank-sav-2", BANK(2, 1), false, T2(3, 852, 24, 8, 4, .2)},
    {"bank-sav-4", BANK(4, 1), false, T2(5, 1410, 48, 16, 8, .9)},
    {"bank-sav-6", BANK(6, 1), false, T2(7, 1960, 72, 24, 12, 3.8)},
    {"bank-sav-8", BANK(8, 1), false, T2(9, 2517, 96, 32, 16, 4.6)},
    {"bank-nav-2", BANK(2, 2), false, T2(3, 856, 24, 8, 0, .2)},
    {"bank-nav-4", BANK(4, 2), false, T2(5, 1414, 48, 16, 0, .2)},
    {"bank-nav-6", BANK(6, 2), false, T2(7, 1972, 72, 24, 0, 3.7)},
    {"bank-nav-8", BANK(8, 2), false, T2(9, 2362, 96, 32, 0, 140.6)},
};

/* No table has these; the dining philosophers are here for them. */
static const ft_row DEADLOCKS[] = {
    {"philo-3", "deadlock", "ctp", ft_program_philosophers, {3, 0, 1, 0}, false, NO_FIGURE},
    {"philo-3a", "deadlock", "ctp", ft_program_philosophers, {3, 0, 1, 1}, false, NO_FIGURE},
    {"philo-5", "deadlock", "ctp", ft_program_philosophers, {5, 0, 1, 0}, false, NO_FIGURE},
    {"philo-5a", "deadlock", "ctp", ft_program_philosophers, {5, 0, 1, 1}, false, NO_FIGURE},
    {"account-10b", "deadlock", "ctp", ft_program_account, {10, 0, 0, 0}, false, NO_FIGURE},
    {"barrier-5", BARRIER("deadlock", 5, 0), false, NO_FIGURE},
};

/* ex.race, ex.norace, ra.Main, connectionpool and liveness.BugG are known by name alone, the latter
 * two also by what their packages are about. */
static const ft_row KAHLON_WANG_RACES[] = {
    {"ex.race", NESTED("race", 1), false, KW(3, 29, 8, 8, 2, 2, 1, .1)},
    {"ex.norace", NESTED("race", 0), false, KW(3, 37, 8, 6, 2, 0, 0, 0.0)},
    {"ra.Main", AGENT("race"), false, KW(3, 55, 13, 13, 4, 4, 1, .1)},
    {"connectionpool", POOL("race"), false, KW(4, 97, 89, 21, 28, 0, 0, 0.0)},
    {"liveness.BugG", TOKEN("race"), false, KW(7, 285, 408, 138, 280, 10, 0, .4)},
    {"barrier-9", BARRIER("race", 9, 0), false, KW(10, 649, 1831, 488, 1214, 30, 0, 1.4)},
    {"barrier-12", BARRIER("race", 12, 0), false, KW(13, 799, 2952, 656, 2077, 49, 0, 3.6)},
    {"barrier-12s", BARRIER("race", 12, 2), false, NO_FIGURE},
    {"account-10", ACCOUNT("race", 10), false, KW(11, 902, 372, 342, 186, 162, 20, 4.0)},
    {"account-20", ACCOUNT("race", 20), false, KW(21, 1747, 740, 680, 420, 360, 80, 54.5)},
    {"philo-5", PHILOSOPHERS("race", 0), false, KW(6, 1141, 1719, 566, 576, 0, 0, 0.0)},
    {"philo-5a", PHILOSOPHERS("race", 1), false, NO_FIGURE},
    {"sync-15",
     "race",
     "ctp",
     ft_program_sync,
     {15, 0, 8, 0},
     false,
     KW(16, 1510, 21230, 1142, 17415, 117, 0, 800)},
    {"elevator-3000", ELEVATOR("race", 200), false, KW(4, 3000, 1293, 1276, 17, 0, 0, 0.0)},
    {"elevator-5000", ELEVATOR("race", 333), false, KW(4, 4998, 3178, 3128, 50, 0, 0, 0.0)},
    {"elevator-8000", ELEVATOR("race", 533), false, KW(4, 8000, 3553, 3458, 95, 0, 0, 0.0)},
    {"tsp", TSP("race"), false, KW(4, 45653, 113, 113, 4, 4, 3, .1)},
    {"atom001", ATOM001("race", 0), false, KW(3, 88, 8, 5, 3, 0, 0, 0.0)},
    {"atom001a", ATOM001("race", 1), false, KW(3, 100, 12, 8, 4, 0, 0, 0.0)},
    {"atom002", ATOM002("race", 0), false, KW(3, 462, 96, 45, 51, 0, 0, 0.0)},
    {"atom002a", ATOM002("race", 1), false, KW(3, 462, 101, 49, 52, 0, 0, 0.0)},
    {"bank-av-2",
     "race",
     "ctp",
     ft_program_bank,
     {2, 0, 0, 0},
     false,
     KW(3, 748, 284, 284, 72, 72, 72, 3.1)},
    {"bank-sav-2",
     "race",
     "ctp",
     ft_program_bank,
     {2, 0, 0, 1},
     false,
     KW(3, 852, 333, 325, 80, 72, 24, 5.2)},
    {"bank-nav-2",
     "race",
     "ctp",
     ft_program_bank,
     {2, 0, 0, 2},
     false,
     KW(3, 856, 337, 305, 80, 48, 0, 1.3)},
};

static const ft_row KAHLON_WANG_ATOMICITY[] = {
    {"ex.race", NESTED("atomicity", 1), false, KW(3, 29, 2, 2, 0, 0, 0, 0.0)},
    {"ex.norace", NESTED("atomicity", 0), false, KW(3, 37, 2, 2, 0, 0, 0, 0.0)},
    {"ra.Main", AGENT("atomicity"), false, KW(3, 55, 2, 2, 0, 0, 0, 0.0)},
    {"connectionpool", POOL("atomicity"), false, KW(4, 97, 30, 6, 4, 0, 0, 0.0)},
    {"liveness.BugG", TOKEN("atomicity"), false, KW(7, 285, 280, 60, 220, 0, 0, 0.0)},
    {"barrier-9", BARRIER("atomicity", 9, 0), false, KW(10, 649, 852, 102, 612, 3, 0, 1.6)},
    {"barrier-12", BARRIER("atomicity", 12, 0), false, KW(13, 799, 950, 87, 709, 9, 0, 3.7)},
    {"account-10", ACCOUNT("atomicity", 10), false, KW(11, 902, 140, 140, 60, 60, 2, 1.3)},
    {"account-20", ACCOUNT("atomicity", 20), false, KW(21, 1747, 280, 280, 120, 120, 3, 5.9)},
    {"philo-5", PHILOSOPHERS("atomicity", 0), false, KW(6, 1141, 413, 81, 177, 0, 0, 0.0)},
    {"sync-15",
     "atomicity",
     "ctp",
     ft_program_sync,
     {15, 0, 8, 0},
     false,
     KW(16, 1510, 13578, 186, 11532, 0, 0, 0.0)},
    {"elevator-3000", ELEVATOR("atomicity", 200), false, KW(4, 3000, 6, 4, 2, 0, 0, 0.0)},
    {"elevator-5000", ELEVATOR("atomicity", 333), false, KW(4, 4998, 12, 8, 4, 0, 0, 0.0)},
    {"elevator-8000", ELEVATOR("atomicity", 533), false, KW(4, 8000, 18, 12, 6, 0, 0, 0.0)},
    {"tsp", TSP("atomicity"), false, KW(4, 45653, 0, 0, 0, 0, 0, 0.0)},
    {"atom001", ATOM001("atomicity", 0), false, KW(3, 88, 4, 4, 2, 2, 1, .1)},
    {"atom001a", ATOM001("atomicity", 1), false, KW(3, 100, 4, 4, 2, 2, 0, .1)},
    {"atom002", ATOM002("atomicity", 0), false, KW(3, 462, 68, 68, 34, 34, 33, 36.7)},
    {"atom002a", ATOM002("atomicity", 1), false, KW(3, 462, 68, 68, 34, 34, 0, 32.0)},
    {"bank-av-2", BANK(2, 0), false, KW(3, 748, 64, 64, 32, 32, 32, 1.5)},
    {"bank-sav-2", BANK(2, 1), false, KW(3, 852, 64, 64, 32, 32, 16, 3.4)},
    {"bank-nav-2", BANK(2, 2), false, KW(3, 856, 64, 48, 32, 16, 0, 1.2)},
};

#define TABLE(title, rows)                                                                         \
    {                                                                                              \
        title, rows, sizeof rows / sizeof *rows                                                    \
    }
const ft_table ft_tables[] = {
    TABLE("Assertions (Wang et al., table 1)", TABLE_1),
    TABLE("Atomicity (Wang et al., table 2)", TABLE_2),
    TABLE("Races (Kahlon and Wang, table 1)", KAHLON_WANG_RACES),
    TABLE("Atomicity (Kahlon and Wang, table 1)", KAHLON_WANG_ATOMICITY),
    TABLE("Deadlocks", DEADLOCKS),
};
const size_t ft_table_count = sizeof ft_tables / sizeof *ft_tables;
