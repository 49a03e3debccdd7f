#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "remote/remote.h"
#include "terminal/terminal.h"

static const char *text_of(const json_t *object, const char *name)
{
    const char *text = json_string_value(json_object_get(object, name));
    return text ? text : "";
}

static long long number_of(const json_t *object, const char *name)
{
    return (long long)json_integer_value(json_object_get(object, name));
}

/* ---- text ------------------------------------------------------------------------------------ */

static void print_values(const json_t *event, const char *list, const char *word)
{
    const json_t *values = json_object_get(event, list);
    for (size_t k = 0; k < json_array_size(values); k++) {
        const json_t *value = json_array_get(values, k);
        printf("  %s %s in %s", word, text_of(value, "variable"), text_of(value, "range"));
    }
}

static void print_graphs(const json_t *graphs)
{
    static const char *const NAMES[] = {"plain", "transactions", "feasible"};
    printf("%-13s %7s %7s %13s %9s %7s %6s %6s\n", "graph", "pairs", "nodes", "transactions",
           "switches", "before", "RBl", "RBg");
    for (size_t k = 0; k < sizeof NAMES / sizeof *NAMES; k++) {
        const json_t *g = json_object_get(graphs, NAMES[k]);
        if (!g) continue;
        printf("%-13s %7lld %7lld %13lld %9lld %7lld %6lld %6lld\n", NAMES[k],
               number_of(g, "pairs"), number_of(g, "nodes"), number_of(g, "transactions"),
               number_of(g, "switches"), number_of(g, "switches_before"),
               number_of(g, "local_bits"), number_of(g, "global_bits"));
    }
}

static void print_events(const json_t *events)
{
    for (size_t k = 0; k < json_array_size(events); k++) {
        const json_t *event = json_array_get(events, k);
        const char *condition = text_of(event, "condition");
        printf("%5lld  %-8s %-28s", number_of(event, "event"), text_of(event, "thread"),
               text_of(event, "text"));
        print_values(event, "reads", "reads");
        print_values(event, "writes", "writes");
        print_values(event, "locals", "sets");
        if (condition[0]) printf("  condition %s", condition);
        printf("\n");
    }
}

static void print_text(const json_t *view)
{
    if (text_of(view, "left_out")[0]) printf("left out: %s\n", text_of(view, "left_out"));
    print_graphs(json_object_get(view, "graphs"));
    printf("\n");
    print_events(json_object_get(view, "events"));
}

/* ---- Graphviz -------------------------------------------------------------------------------- */

/* A quoted identifier. */
static void print_name(const char *name)
{
    putchar('"');
    for (; *name; name++) {
        if (*name == '"' || *name == '\\') putchar('\\');
        putchar(*name);
    }
    putchar('"');
}

static void print_edge(const char *from, const char *to, const char *style)
{
    printf("  ");
    print_name(from);
    printf(" -> ");
    print_name(to);
    printf(" [%s];\n", style);
}

static void print_dot(const json_t *view)
{
    const json_t *nodes = json_object_get(view, "nodes"),
                 *switches = json_object_get(view, "switches");
    printf("digraph transactions {\n  node [shape=box];\n");
    for (size_t k = 0; k < json_array_size(nodes); k++) {
        const json_t *node = json_array_get(nodes, k),
                     *before = k ? json_array_get(nodes, k - 1) : NULL;
        printf("  ");
        print_name(text_of(node, "node"));
        printf(";\n");
        if (before && strcmp(text_of(before, "thread"), text_of(node, "thread")) == 0)
            print_edge(text_of(before, "node"), text_of(node, "node"), "style=bold");
    }
    for (size_t k = 0; k < json_array_size(switches); k++) {
        const json_t *pair = json_array_get(switches, k);
        print_edge(json_string_value(json_array_get(pair, 0)),
                   json_string_value(json_array_get(pair, 1)), "style=dashed, constraint=false");
    }
    printf("}\n");
}

/* ---- the command ----------------------------------------------------------------------------- */

static ft_status get_view(ft_remote *remote, const char *trace, json_t **view, ft_error *err)
{
    ft_strbuf path = {0};
    ft_strbuf_printf(&path, "/v1/traces/%s/intervals", trace);
    ft_status status = ft_client_get(remote->client, ft_strbuf_text(&path), view, err);
    ft_strbuf_release(&path);
    return status;
}

static void print_view(const ft_options *options, const json_t *view)
{
    if (options->json) {
        json_dumpf(view, stdout, JSON_INDENT(1));
        fputs("\n", stdout);
    } else if (options->dot) {
        print_dot(view);
    } else {
        print_text(view);
    }
}

ft_exit ft_run_intervals(const ft_options *options)
{
    ft_error err = FT_ERROR_INIT;
    ft_remote remote = {0};
    json_t *spec = json_object(), *view = NULL;
    char *trace = NULL;
    const char *path = options->arguments.data[0];
    ft_progress progress;
    ft_progress_init(&progress, options->quiet || !isatty(STDERR_FILENO));
    ft_status status = ft_remote_open(options, true, &remote, &err);
    if (!status) status = ft_job_upload(&remote, spec, path, path, &progress, &trace, &err);
    ft_progress_release(&progress);
    if (!status) status = get_view(&remote, trace, &view, &err);
    if (!status) print_view(options, view);
    ft_exit code = status ? ft_fail(path, &err) : FT_EXIT_CLEAN;
    free(trace);
    json_decref(spec);
    json_decref(view);
    ft_remote_close(&remote);
    return code;
}
