#!/usr/bin/env python3
"""usage: generate.py SEED [--handed] > program.c

A random C program: main puts its arguments into shared memory, a thread computes from there and puts
what it gets back. --handed: two threads, one behind the other, with something of main's in between;
another one sees what main gets and gives (and no more of it), at another time in other schedules, so
that forks and joins order all but that. Integers of all widths, structures, unions, bit-fields, arrays with computed
indices, loops, switches, recursion, calls through pointers, copies, variable arguments, atomics,
floating point now and then. Nothing in it is undefined.
"""
import random
import sys

TYPES = ["int8_t", "uint8_t", "int16_t", "uint16_t", "int32_t", "uint32_t", "int64_t", "uint64_t"]
HEAD = """#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct fields { uint64_t a : 3; int64_t b : 7; uint64_t c : 13, d : 33, e : 8; };
struct item { uint8_t kind, more; int16_t small; int32_t value; int64_t large; };
union both { uint32_t whole; uint16_t halves[2]; uint8_t bytes[4]; float real; };

static int64_t in[8];
static int64_t out[64];
static uint8_t bytes[16];
static int32_t table[16];
static struct item items[4];
static struct fields bits;
static union both mixed;
static _Atomic uint32_t counter;
static _Atomic uint8_t flag;

static int64_t twice(int64_t x) { return 2 * (uint64_t)x; }
static int64_t mix(int64_t x) { uint64_t h = (uint64_t)x * 0x9E3779B97F4A7C15u; return (int64_t)(h ^ h >> 29); }
static int64_t down(int64_t x) { return x > 0 ? x - 1 : x + 3; }
static int64_t (*const calls[])(int64_t) = {twice, mix, down};
static int64_t depth(uint32_t n, int64_t x) { return n ? (int64_t)((uint64_t)depth(n - 1, x ^ n) + n) : x; }
static int64_t sum(int n, ...)
{
    va_list all;
    uint64_t total = 0;
    va_start(all, n);
    for (int i = 0; i < n; i++) total += (uint64_t)va_arg(all, int64_t);
    va_end(all);
    return (int64_t)total;
}
static struct item made(int64_t x)
{
    struct item i = {.kind = (uint8_t)x, .small = (int16_t)(x >> 3), .value = (int32_t)x, .large = ~x};
    return i;
}
static int64_t weigh(struct item i) { return i.kind + i.small + i.value + (i.large & 0xff); }
static uint32_t hash(const uint8_t *p, unsigned n)
{
    uint32_t h = 2166136261u;
    for (unsigned i = 0; i < n; i++) h = (h ^ p[i]) * 16777619u;
    return h;
}
"""


class Program:
    def __init__(self, seed):
        self.r = random.Random(seed)
        self.names = []
        self.outs = 0

    def value(self):
        """A leaf."""
        r = self.r.randrange(12)
        if r < 4 and self.names:
            return self.r.choice(self.names)
        if r < 7:
            return f"in[{self.r.randrange(8)}]"
        if r == 7:
            return str(self.r.choice([0, 1, 2, 3, 7, 255, 4096, -1, -128]))
        if r == 8:
            return f"table[{self.r.randrange(16)}]"
        if r == 9:
            return self.r.choice(["mixed.whole", "mixed.halves[1]", "mixed.bytes[2]"])
        if r == 10:
            return self.r.choice(["bits.a", "bits.b", "bits.c", "bits.d"])
        return self.r.choice(["items[1].value", "items[2].small", "items[0].kind", "items[3].large"])

    def expression(self, depth):
        if depth == 0:
            return f"(uint64_t){self.value()}"
        a, b = self.expression(depth - 1), self.expression(self.r.randrange(depth))
        t = self.r.choice(TYPES)
        k = self.r.randrange(16)
        if k < 6:
            return f"({a} {self.r.choice('+-*&|^')} {b})"
        if k == 6:
            return f"({a} {self.r.choice(['<<', '>>'])} ({b} & 31))"
        if k == 7:
            return f"(uint64_t)((int64_t){a} >> ({b} & 63))"
        if k == 8:
            return f"({a} {self.r.choice('/%')} (({b}) | 1))"
        if k == 9:
            return f"(uint64_t)((int64_t)({a}) {self.r.choice('/%')} (int64_t)(({b} & 0xffff) + 1))"
        if k == 10:
            return f"(uint64_t)({t})({a})"
        if k == 11:
            c = self.r.choice(["<", "<=", "==", "!=", ">", ">="])
            return f"(({t})({a}) {c} ({t})({b}) ? {self.expression(depth - 1)} : {b})"
        if k == 12:
            return f"(uint64_t)({t})~({a})"
        if k == 13:
            c = self.r.choice(["<", "==", ">="])
            return f"(uint64_t)((({t})({a}) {c} ({t})({b})) + ((int64_t){a} {c} (int64_t){b}))"
        if k == 14:
            return f"(uint64_t){self.r.choice(['twice', 'mix', 'down'])}((int64_t)({a}))"
        return f"(uint64_t)__builtin_bswap32((uint32_t)({a}))" if self.r.random() < 0.2 else f"(-({a}))"

    def statement(self, level):
        pad = "    " * (level + 1)
        e, f = self.expression(3), self.expression(2)
        n = f"v{len(self.names)}"
        k = self.r.randrange(24)
        if k < 5 and level == 0:
            self.names.append(n)
            return f"{pad}{self.r.choice(TYPES)} {n} = ({self.r.choice(TYPES)})({e});\n"
        if k < 8:
            self.outs += 1
            return f"{pad}out[{self.outs % 64}] = (int64_t)({e});\n"
        if k == 8 and level < 2:
            return f"{pad}if (({e} & {self.r.choice([1, 3, 7])}) == 0) {{\n{self.block(level + 1)}{pad}}} else {{\n{self.block(level + 1)}{pad}}}\n"
        if k == 9 and level < 2:
            return f"{pad}for (unsigned i = 0; i < ({e} & 3); i++) {{\n{self.block(level + 1)}{pad}}}\n"
        if k == 10:
            return (f"{pad}switch ({e} & 7) {{\n{pad}case 0: table[1] = (int32_t)({f}); break;\n"
                    f"{pad}case 3: case 4: table[2] = 5;\n{pad}case 5: table[3] ^= (int32_t)({f}); break;\n"
                    f"{pad}default: table[4] += 1u;\n{pad}}}\n")
        if k == 11:
            return f"{pad}table[{e} & 15] = (int32_t)({f});\n"
        if k == 12:
            return f"{pad}bits.{self.r.choice('abcd')} = ({e});\n"
        if k == 13:
            return f"{pad}mixed.{self.r.choice(['whole', 'halves[0]', 'bytes[3]', 'bytes[1]'])} = ({e});\n"
        if k == 14:
            return f"{pad}items[{self.r.randrange(4)}] = made((int64_t)({e}));\n"
        if k == 15:
            return f"{pad}memcpy(&items[{self.r.randrange(4)}], &items[{self.r.randrange(4)}], sizeof *items);\n".replace(
                "memcpy", "memmove")
        if k == 16:
            return f"{pad}memcpy(bytes, &{self.r.choice(['in[1]', 'in[2]', 'out[3]', 'out[5]'])}, 8);\n{pad}out[9] = hash(bytes, 8);\n"
        if k == 17:
            return f"{pad}out[10] = calls[({e}) % 3]((int64_t)({f}));\n"
        if k == 18:
            return f"{pad}out[11] = depth({e} & 3, (int64_t)({f}));\n"
        if k == 19:
            return f"{pad}out[12] = sum(2, (int64_t)({e}), (int64_t)({f}));\n"
        if k == 20:
            return f"{pad}out[13] = weigh(items[{self.r.randrange(4)}]);\n"
        if k == 21:
            return (f"{pad}out[14] = atomic_fetch_{self.r.choice(['add', 'sub', 'or', 'xor', 'and'])}(&counter, (uint32_t)({e}));\n"
                    f"{pad}out[15] = atomic_exchange(&flag, (uint8_t)({f}));\n")
        if k == 22:
            return (f"{pad}{{ uint32_t seen = atomic_load(&counter);\n"
                    f"{pad}  out[16] = atomic_compare_exchange_strong(&counter, &seen, (uint32_t)({e})); out[17] = seen; }}\n")
        if self.r.random() < 0.3:
            return f"{pad}out[18] = (int64_t)((double)(int32_t)({e}) * 0.5);\n"
        return f"{pad}memset(bytes + ({e} & 7), (int)({f}), 4);\n"

    def block(self, level):
        return "".join(self.statement(level) for _ in range(self.r.randrange(1, 3)))

    def statements(self, least, most):
        """Of a function."""
        self.names = []
        return "".join(self.statement(0) for _ in range(self.r.randrange(least, most)))

    def handed(self):
        first, second, between = (self.statements(*n) for n in ((4, 10), (4, 10), (1, 5)))
        return (f"{HEAD}\n#include <semaphore.h>\n"
                "static int64_t sink[64];\nstatic pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;\nstatic sem_t seen;\n"
                "static void *watch(void *unused)\n{\n    volatile int64_t last;\n    pthread_mutex_lock(&lock);\n"
                "    for (int i = 0; i < 8; i++) last = in[i];\n    for (int i = 0; i < 64; i++) last = sink[i];\n"
                "    (void)last;\n    pthread_mutex_unlock(&lock);\n    sem_post(&seen);\n    return unused;\n}\n"
                f"static void *first(void *unused)\n{{\n{first}    return unused;\n}}\n"
                f"static void *second(void *unused)\n{{\n{second}    return unused;\n}}\n"
                f"static void between(void)\n{{\n{between}}}\n"
                "int main(int argc, char **argv)\n{\n    pthread_t watcher, thread;\n    sem_init(&seen, 0, 0);\n"
                "    pthread_create(&watcher, NULL, watch, NULL);\n    sem_wait(&seen);\n    pthread_mutex_lock(&lock);\n"
                "    for (int i = 0; i < 8; i++) in[i] = i + 1 < argc ? strtoll(argv[i + 1], NULL, 0) : 0;\n"
                "    pthread_mutex_unlock(&lock);\n    between();\n"
                "    pthread_create(&thread, NULL, first, NULL);\n    pthread_join(thread, NULL);\n    between();\n"
                "    pthread_create(&thread, NULL, second, NULL);\n    pthread_join(thread, NULL);\n"
                "    pthread_mutex_lock(&lock);\n    for (int i = 0; i < 64; i++) sink[i] = out[i];\n"
                "    for (int i = 0; i < 16; i++) sink[i] ^= (int64_t)((uint64_t)table[i] << 8) ^ bytes[i];\n"
                "    for (int i = 0; i < 4; i++) sink[16 + i] ^= weigh(items[i]);\n"
                "    sink[20] ^= (int64_t)((uint64_t)bits.a ^ (uint64_t)bits.b ^ bits.c ^ bits.d ^ mixed.whole ^ counter ^ flag);\n"
                "    pthread_mutex_unlock(&lock);\n    pthread_join(watcher, NULL);\n"
                "    uint64_t all = 0;\n    for (int i = 0; i < 64; i++) all += (uint64_t)sink[i];\n"
                "    return (int)(all & 63);\n}\n")

    def text(self):
        body = self.statements(6, 16)
        return (f"{HEAD}\nstatic void *compute(void *unused)\n{{\n{body}    return unused;\n}}\n\n"
                "int main(int argc, char **argv)\n{\n    pthread_t thread;\n"
                "    for (int i = 0; i < 8; i++) in[i] = i + 1 < argc ? strtoll(argv[i + 1], NULL, 0) : 0;\n"
                "    memset(out, 0, 64);\n"
                "    for (int i = 0; i < 64; i++) out[i] = 0;\n    for (int i = 0; i < 16; i++) bytes[i] = 0, table[i] = 0;\n"
                "    mixed.whole = 0; bits = (struct fields){0}; counter = 0; flag = 0;\n"
                "    for (int i = 0; i < 4; i++) items[i] = (struct item){0};\n"
                "    pthread_create(&thread, NULL, compute, NULL);\n    pthread_join(thread, NULL);\n"
                "    uint64_t all = 0;\n    for (int i = 0; i < 64; i++) all += (uint64_t)out[i];\n"
                "    return (int)(all & 63);\n}\n")


if __name__ == "__main__":
    made = Program(int(sys.argv[1]))
    sys.stdout.write(made.handed() if "--handed" in sys.argv else made.text())
