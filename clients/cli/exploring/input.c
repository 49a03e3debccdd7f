/* Standard input of explored runs: all have the same, from where it stood. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "exploring/exploring.h"
#include "terminal/terminal.h"

int64_t ft_input_position(void)
{
    struct stat about;
    bool file = !fstat(STDIN_FILENO, &about) && S_ISREG(about.st_mode);
    return file ? (int64_t)lseek(STDIN_FILENO, 0, SEEK_CUR) : -1;
}

bool ft_input_passes(void)
{
    struct stat about;
    return !fstat(STDIN_FILENO, &about) && (S_ISFIFO(about.st_mode) || S_ISSOCK(about.st_mode));
}

/* Until its end. False: the user interrupts it, or an error. */
static bool copy_all(FILE *to)
{
    enum { LOOK_MS = 200 };
    char block[1 << 14];
    for (;;) {
        struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
        if (ft_signals_caught()) return false;
        if (poll(&input, 1, LOOK_MS) <= 0) continue;
        ssize_t n = read(STDIN_FILENO, block, sizeof block);
        if (n < 0 && errno != EINTR) return false;
        if (n == 0) return !fflush(to);
        if (n > 0 && fwrite(block, 1, (size_t)n, to) != (size_t)n) return false;
    }
}

ft_status ft_input_keep(ft_error *err)
{
    FILE *file = tmpfile();
    bool kept = file && copy_all(file) && dup2(fileno(file), STDIN_FILENO) >= 0 &&
                lseek(STDIN_FILENO, 0, SEEK_SET) == 0;
    int why = errno;
    if (file) fclose(file);
    if (kept || ft_signals_caught()) return FT_OK;
    return ft_error_set(err, FT_IO, "standard input cannot be kept for all runs: %s",
                        strerror(why));
}
