/* Rows of the papers' tables and the ratios that the engine must reach, measured. See
 * tests/bench/papers --help. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/papers.h"

typedef struct section {
    const char *name;
    void (*run)(const ft_papers *papers);
} section;

static const section SECTIONS[] = {
    {"tables", ft_papers_tables}, {"ratios", ft_papers_ratios},     {"queries", ft_papers_queries},
    {"passes", ft_papers_passes}, {"distance", ft_papers_distance},
};
enum { N_SECTIONS = sizeof SECTIONS / sizeof *SECTIONS };

static void usage(void)
{
    fprintf(stderr, "usage: papers [--long] [--json] [--only TEXT] [--corpus DIR] [--queries DIR] "
                    "[SECTION...]\nsections:");
    for (size_t i = 0; i < N_SECTIONS; i++) fprintf(stderr, " %s", SECTIONS[i].name);
    fprintf(stderr, "\n");
    exit(2);
}

static bool is_section(const char *name)
{
    for (size_t i = 0; i < N_SECTIONS; i++)
        if (strcmp(name, SECTIONS[i].name) == 0) return true;
    return false;
}

/* Returns how many sections are named; they are moved to the front of argv. */
static int read_options(ft_papers *papers, int argc, char **argv)
{
    int named = 0;
    for (int i = 1; i < argc; i++) {
        const char **value = strcmp(argv[i], "--only") == 0      ? &papers->only
                             : strcmp(argv[i], "--corpus") == 0  ? &papers->corpus
                             : strcmp(argv[i], "--queries") == 0 ? &papers->queries
                                                                 : NULL;
        if (value && i + 1 < argc)
            *value = argv[++i];
        else if (strcmp(argv[i], "--long") == 0)
            papers->long_run = true;
        else if (strcmp(argv[i], "--json") == 0)
            papers->text = false;
        else if (is_section(argv[i]))
            argv[1 + named++] = argv[i];
        else
            usage();
    }
    return named;
}

static bool is_wanted(const char *name, int named, char **argv)
{
    for (int i = 0; i < named; i++)
        if (strcmp(argv[1 + i], name) == 0) return true;
    return named == 0;
}

int main(int argc, char **argv)
{
    ft_papers papers = {.text = true,
                        .corpus = "../shared/corpus",
                        .queries = "tests/bench/queries",
                        .parts = json_object()};
    int named = read_options(&papers, argc, argv);
    papers.ours_s = papers.long_run ? 60 : 4;
    papers.literal_s = papers.long_run ? 20 : 1;
    papers.rounds = papers.long_run ? 5 : 3;
    for (size_t i = 0; i < N_SECTIONS; i++)
        if (is_wanted(SECTIONS[i].name, named, argv)) SECTIONS[i].run(&papers);
    if (!papers.text) {
        json_dumpf(papers.parts, stdout, JSON_INDENT(1));
        printf("\n");
    }
    json_decref(papers.parts);
    return 0;
}
