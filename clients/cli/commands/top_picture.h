/* The picture of `foretell top`: what a server does, in so many columns and lines. */
#ifndef FT_CLI_TOP_H
#define FT_CLI_TOP_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/strbuf.h"

typedef struct ft_top_view {
    const char *server;
    size_t columns, lines; /* of the terminal; lines 0: as many as it takes */
    bool color;
} ft_top_view;

/* state: {"stats": GET /v1/stats, "workers": [of /v1/workers], "nodes"?: its, "jobs": [snapshots,
 * in the order to be shown]}. Each line ends in "\n" and is at most `columns` wide; there are at
 * most `lines`. Text of strangers comes with its control characters as '?'. */
void ft_top_render(const json_t *state, const ft_top_view *view, ft_strbuf *out);

/* "2.1 s", "3 min", "4.5 h"; "512 MiB". */
void ft_top_duration(double milliseconds, char text[24]);
void ft_top_bytes(double bytes, char text[24]);

#endif
