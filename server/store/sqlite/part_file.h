/* A file in the making: it has a name of its own beside the one that it is to have, FILE.part-PID,
 * and leaves nothing behind when it is not to be. One at a time in a process. */
#ifndef FT_STORE_PART_FILE_H
#define FT_STORE_PART_FILE_H

#include <signal.h>

#include "base/status.h"
#include "base/strbuf.h"

#define FT_PART_SIGNALS 3

typedef struct ft_part {
    const char *file; /* borrowed: what it is to be */
    ft_strbuf path, journal;
    struct sigaction before[FT_PART_SIGNALS];
} ft_part;

/* Removes parts of the same file whose processes are gone. Until its end a signal that ends the
 * process (SIGINT, SIGTERM, SIGHUP) removes the part first. */
void ft_part_begin(ft_part *part, const char *file);

/* It has its name, and that survives a loss of power. FT_CONFLICT: the file exists. FT_IO. */
ft_status ft_part_publish(const ft_part *part, ft_error *err) FT_MUST_CHECK;

/* Nothing has the part's name any more; signals do what they did. */
void ft_part_end(ft_part *part);

#endif
