/* Inputs by name (include/foretell/input.h), and the names that have no value. */
#include <stdlib.h>
#include <string.h>

#include "accesses/accesses.h"
#include "exploring/exploring.h"
#include "inputs/inputs.h"
#include "libc/contract.h"
#include "libc/libc.h"
#include "raw/inputs.h"
#include "raw/raw.h"
#include "replay/replay.h"
#include "state/thread.h"

void foretell_input(void *to, size_t size, const char *name);

/* The text behind "NAME=" in a list with a line for each; NULL: there is none. */
static const char *setting_of(const char *all, const char *name)
{
    size_t length = strlen(name);
    for (const char *line = all; line && *line; line += *line == '\n') {
        if (!strncmp(line, name, length) && line[length] == '=') return line + length + 1;
        line += strcspn(line, "\n");
    }
    return NULL;
}

/* Also values above INT64_MAX have their place in 64 bits. */
static uint64_t number_at(const char *text)
{
    return *text == '-' ? (uint64_t)strtoll(text, NULL, 0) : strtoull(text, NULL, 0);
}

/* ---- names without a value */

static ft_raw_unset own[FT_RAW_UNSETS]; /* of a program that runs by itself */

static ft_raw_unset *unset_names(void)
{
    if (ft_rt_exploring) return ft_rt_x_unset_inputs();
    return ft_rt_header ? ft_rt_header->unset : own;
}

static bool is_name(const ft_raw_unset *one, const char *name)
{
    return !strncmp(one->name, name, sizeof one->name - 1);
}

static size_t add_text(char *to, size_t room, const char *text)
{
    size_t n = 0;
    for (; text[n] && n + 1 < room; n++) to[n] = text[n];
    return n;
}

static void say_unset(const char *name)
{
    static const char before[] = "the input ",
                      after[] = " has no value, so it is 0: set " FT_INPUTS_VARIABLE "=NAME=VALUE";
    char text[sizeof before + sizeof own->name + sizeof after] = {0};
    size_t n = add_text(text, sizeof text, before);
    n += add_text(text + n, sizeof own->name, name);
    (void)add_text(text + n, sizeof text - n, after);
    ft_rt_say(text);
}

/* Other processes of an exploration may be at the same table. */
static void note_unset(const char *name)
{
    ft_raw_unset *all = unset_names();
    for (uint32_t i = 0; i < FT_RAW_UNSETS; i++) {
        uint32_t nobody = 0;
        if (__atomic_compare_exchange_n(&all[i].taken, &nobody, 1, false, __ATOMIC_ACQ_REL,
                                        __ATOMIC_ACQUIRE)) {
            (void)add_text(all[i].name, sizeof all[i].name, name);
            if (all == own) say_unset(name);
            return;
        }
        if (is_name(&all[i], name)) return;
    }
}

/* ---- the value */

static uint64_t value_of(const char *name)
{
    uint64_t value;
    if (ft_rt_self && ft_rt_follow_input(ft_rt_self, name, &value)) return value;
    const char *text = setting_of(getenv(FT_INPUTS_VARIABLE), name);
    if (!text) note_unset(name);
    return text ? number_at(text) : 0;
}

/* The low bytes; those behind the eighth have the sign. */
static int put(unsigned char *to, size_t size, const char *name)
{
    enum { BITS = 8, BYTES = 8 };
    uint64_t value = value_of(name);
    unsigned char sign = value >> 63 ? 0xFF : 0;
    for (size_t i = 0; i < size; i++) to[i] = i < BYTES ? (unsigned char)(value >> BITS * i) : sign;
    return 0;
}

void foretell_input(void *to, size_t size, const char *name)
{
    const void *pc = __builtin_return_address(0);
    if (ft_rt_exploring) ft_rt_write_range(to, size, pc);
    (void)FT_RT_INPUT(FT_INPUT_NAMED, FT_RT_STAYS, put(to, size, name), to, size);
}
