/* A line of /proc/self/maps: from-to rights offset device inode [path], numbers in hexadecimal but
 * for the inode. */
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "libc/contract.h"
#include "rewinding/mappings.h"

bool ft_rt_maps_open(ft_rt_maps *maps)
{
    maps->n = maps->at = 0;
    maps->over = false;
    maps->fd = (int)syscall(SYS_openat, AT_FDCWD, "/proc/self/maps", O_RDONLY | O_CLOEXEC);
    return maps->fd >= 0;
}

void ft_rt_maps_close(ft_rt_maps *maps)
{
    syscall(SYS_close, maps->fd);
    maps->fd = -1;
}

/* The next character; 0: the text has ended. */
static char next(ft_rt_maps *maps)
{
    if (maps->at == maps->n) {
        long n = syscall(SYS_read, maps->fd, maps->text, sizeof maps->text);
        maps->n = n > 0 ? (size_t)n : 0;
        maps->at = 0;
        if (!maps->n) return 0;
    }
    return maps->text[maps->at++];
}

static char read_hexadecimal(ft_rt_maps *maps, uintptr_t *number)
{
    enum { BASE = 16, LETTER = 10 };
    char c;
    *number = 0;
    for (;;) {
        c = next(maps);
        uintptr_t digit = 0;
        if (c >= '0' && c <= '9')
            digit = (uintptr_t)(c - '0');
        else if (c >= 'a' && c <= 'f')
            digit = (uintptr_t)(c - 'a' + LETTER);
        else
            return c;
        *number = *number * BASE + digit;
    }
}

bool ft_rt_maps_next(ft_rt_maps *maps, ft_rt_mapping *mapping)
{
    uintptr_t part;
    FT_REQUIRE(maps->fd >= 0);
    if (read_hexadecimal(maps, &mapping->from) != '-') return false;
    if (read_hexadecimal(maps, &mapping->to) != ' ') return false;
    next(maps); /* readable */
    mapping->writable = next(maps) == 'w';
    next(maps); /* executable */
    mapping->shared = next(maps) == 's';
    next(maps);
    read_hexadecimal(maps, &part); /* offset */
    read_hexadecimal(maps, &part); /* device, in two parts */
    read_hexadecimal(maps, &part);
    char c = read_hexadecimal(maps, &part); /* inode: 0 or not is all that counts */
    mapping->file = part != 0;
    while (c && c != '\n') c = next(maps);
    assert(mapping->from < mapping->to);
    return true;
}
