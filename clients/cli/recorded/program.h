/* Programs that a command runs. */
#ifndef FT_CLI_PROGRAM_H
#define FT_CLI_PROGRAM_H

#include "base/memory.h"
#include "base/status.h"
#include "base/strbuf.h"
#include "raw/raw.h"

/* The file by which a program is recorded or replayed (raw/raw.h). It has a name until the program
 * has come up, and then none: it goes with the processes that have it open, however these end.
 * Embedded: ft_program_file_release. */
typedef struct ft_program_file {
    int fd;
    char *path;   /* its name, from the root; NULL: it has none any more */
    char own[32]; /* how this process comes to it, whether it has a name or not */
} ft_program_file;

/* Makes it, empty, under that name with other letters for the XXXXXX at its end. False: errno says
 * why not. */
bool ft_program_file_make(const char *name, ft_program_file *file);
void ft_program_file_release(ft_program_file *file);

/* How it is run. */
typedef struct ft_program_way {
    int out;           /* our descriptor that is its standard output */
    bool silent;       /* what it prints goes nowhere, on standard error as well */
    uint32_t patience; /* seconds after which it is killed where it is stopped; 0: for ever */
} ft_program_way;

/* Runs argv as the program of that file and waits for it. Words to us go on to it, and so does an
 * interruption, a second one kills it; that is to be reraised afterwards (signals.h). *status is
 * its wait status. FT_USAGE: it could not be started; the message says why. */
ft_status ft_program_execute(char *const *argv, ft_program_file *file, ft_program_way way,
                             int *status, ft_error *err) FT_MUST_CHECK;

/* "exit code 3", "killed by signal 11 (Segmentation fault)". */
void ft_program_end(int status, ft_strbuf *out);

/* The file that a shell would run for the name; heap. NULL: there is none. */
char *ft_program_find(const char *name);
/* Says of one that ran, with that wait status, and in which the recorder did not come up, why. */
ft_status ft_program_absent(const char *name, int status, const ft_raw_header *header,
                            ft_error *err);

#endif
