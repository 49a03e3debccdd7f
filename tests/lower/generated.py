#!/usr/bin/env python3
"""usage: tests/lower/generated.py BUILD: random deterministic C programs, lowered and native.

Each program prints what it computes and ends with a code; the lowered program, run by the interpreter,
prints the same and ends with the same code. The generator avoids what C leaves undefined: shifts are
masked, divisors are not 0, signed arithmetic is done in unsigned types and converted back, indices are
within their arrays. FT_SEEDS programs (100) from FT_SEED_START on."""
import concurrent.futures
import os
import pathlib
import random
import subprocess
import sys
import tempfile

INTEGERS = [("signed char", 8, True), ("unsigned char", 8, False), ("short", 16, True),
            ("unsigned short", 16, False), ("int", 32, True), ("unsigned", 32, False),
            ("long", 64, True), ("unsigned long", 64, False), ("_Bool", 1, False)]
PRINT = {"signed char": "%d", "unsigned char": "%u", "short": "%hd", "unsigned short": "%hu", "int": "%d",
         "unsigned": "%u", "long": "%ld", "unsigned long": "%lu", "_Bool": "%d"}
HEADER = """#include <ctype.h>
#include <limits.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
"""


class Program:
    def __init__(self, seed):
        self.r = random.Random(seed)
        self.types, self.functions, self.main = [], [], []
        self.names = 0

    def name(self, prefix):
        self.names += 1
        return f"{prefix}{self.names}"

    # ---- expressions over unsigned long, from variables of any integer type

    def literal(self):
        r = self.r
        return r.choice(["0UL", "1UL", "2UL", "7UL", "255UL", "256UL", "65535UL", "0x7fffffffUL", "0x80000000UL", "~0UL",
                         f"{r.getrandbits(8)}UL", f"{r.getrandbits(32)}UL", f"{r.getrandbits(64)}UL"])

    def expression(self, variables, depth=3):
        r = self.r
        if not depth or r.random() < 0.15:
            return f"(unsigned long){r.choice(variables)}" if variables and r.random() < 0.75 else self.literal()
        a, b = self.expression(variables, depth - 1), self.expression(variables, depth - 1)
        form = r.randrange(13)
        kind = r.choice(INTEGERS)[0]
        if form < 4:
            return f"({a} {r.choice('+-*&|^')} {b})"
        if form < 6:
            return f"({a} {r.choice(['<<', '>>'])} ({b} & 63))"
        if form == 6:
            return f"({a} {r.choice('/%')} ({b} | 1))"
        if form == 7:  # signed: the most negative by -1 is left out
            small = r.choice(["signed char", "short", "int"])
            return f"(unsigned long)((long)({small}){a} {r.choice('/%')} ((long)({small}){b} | 1))"
        if form == 8:
            return f"(unsigned long)({kind}){a}"
        if form == 9:
            c = self.expression(variables, depth - 1)
            return f"({a} {r.choice(['<', '<=', '==', '!='])} {b} ? {c} : {a})"
        if form == 10:
            return f"(unsigned long)((long){a} {r.choice(['<', '>', '>='])} (long){b})"
        if form == 11:
            return f"(unsigned long)((int){a} >> ({b} & 31))"
        return f"(unsigned long)({r.choice(['~', '-', '!'])}{a} {r.choice(['&&', '||', '+'])} {b})"

    def show(self, name, kind):
        return f'    printf("{name} {PRINT[kind]}\\n", {name});\n'

    # ---- parts of programs, each a function that main calls

    def integers(self):
        body, names = "", []
        for _ in range(self.r.randrange(3, 7)):
            kind = self.r.choice(INTEGERS)[0]
            n = self.name("v")
            body += f"    {kind} {n} = ({kind}){self.expression(names, 3)};\n"
            names.append(n)
            body += self.show(n, kind)
        return body

    def loops(self):
        r = self.r
        n = r.randrange(3, 40)
        step, mask = r.choice([1, 2, 3, 5]), r.choice([3, 7, 15])
        skip = self.expression(["i", "s"], 2)
        case = "".join(f"        case {k}: s = {self.expression(['s', 'i'], 2)}; {r.choice(['break;', ''])}\n"
                       for k in r.sample(range(8), 3))
        return f"""    unsigned long s = {self.literal()};
    for (unsigned i = 0; i < {n}; i += {step}) {{
        if ({skip} % 5 == 0) continue;
        switch ((s ^ i) & {mask}) {{
{case}        default: s += i; break;
        }}
        if (s % 97 == 1) break;
    }}
    int rounds = 0;
    do {{ rounds++; s = s / 3 + 1; }} while (s > 2 && rounds < 50);
    printf("%lu %d\\n", s, rounds);
"""

    def arrays(self):
        r = self.r
        n, m = r.randrange(3, 9), r.randrange(2, 6)
        kind = r.choice(INTEGERS[:8])[0]
        return f"""    {kind} a[{n}][{m}];
    for (int i = 0; i < {n}; i++)
        for (int j = 0; j < {m}; j++) a[i][j] = ({kind}){self.expression(['i', 'j'], 3)};
    {kind} *p = &a[0][0], *end = p + {n * m};
    unsigned long sum = 0;
    for (; p < end; p += {r.choice([1, 2])}) sum = sum * 31 + (unsigned long)*p;
    {kind} copy[{n}][{m}];
    memcpy(copy, a, sizeof a);
    memmove(&copy[0][1], &copy[0][0], sizeof copy - sizeof copy[0][0]);
    memset(copy[{n} - 1], {r.getrandbits(8)}, sizeof copy[0]);
    printf("%lu %d %zu %ld\\n", sum, memcmp(a, copy, sizeof a) > 0, sizeof a, (long)(&a[{n} - 1][1] - &a[0][0]));
    for (int i = 0; i < {n}; i++) printf("{PRINT[kind]} ", copy[i][i % {m}]);
    printf("\\n");
"""

    def structures(self):
        r = self.r
        s, u, f = self.name("S"), self.name("U"), self.name("f")
        members = [(self.name("m"), r.choice(INTEGERS)[0]) for _ in range(r.randrange(2, 6))]
        fields = [(self.name("b"), r.choice(["unsigned", "int", "unsigned long"]), r.randrange(1, 20))
                  for _ in range(r.randrange(1, 5))]
        self.types.append(f"union {u} {{ uint64_t all; uint32_t half[2]; unsigned char byte[8]; }};\n" +
                          f"struct {s} {{ " + " ".join(f"{k} {n};" for n, k in members) + f" union {u} u; struct {{ " +
                          " ".join(f"{k} {n} : {w};" for n, k, w in fields) + " } bits; };\n")
        body = f"static struct {s} {f}(struct {s} in, const struct {s} *other)\n{{\n"
        for n, k in members:
            body += f"    in.{n} = ({k}){self.expression(['in.' + n, 'other->' + n], 2)};\n"
        for n, k, w in fields:
            body += f"    in.bits.{n} = ({k})({self.expression(['other->bits.' + n], 2)} & {2 ** (w - 1) - 1});\n"
        self.functions.append(body + "    in.u.half[1] ^= (uint32_t)other->u.all;\n    return in;\n}\n")
        values = ", ".join(f".{n} = ({k}){self.literal()}" for n, k in members)
        shows = "".join(f'    printf("{PRINT[k]} ", c[1].{n});\n' for n, k in members)
        shows += "".join(f'    printf("%ld ", (long)c[1].bits.{n});\n' for n, k, w in fields)
        return f"""    struct {s} a = {{{values}, .u = {{.all = {self.literal()}}}}}, c[2] = {{{{0}}}};
    c[0] = a;
    a.u.byte[{r.randrange(8)}] = {r.getrandbits(8)};
    c[1] = {f}(a, &c[0]);
    c[1] = {f}(c[1], &c[1]);
{shows}    printf("%lu %zu\\n", c[1].u.all, sizeof(struct {s}));
"""

    def pointers(self):
        r = self.r
        names = [self.name("op") for _ in range(r.randrange(2, 5))]
        for n in names:
            self.functions.append(f"static long {n}(long a, long b)\n{{\n    return (long)({self.expression(['a', 'b'], 3)});\n}}\n")
        fold = self.name("fold")
        self.functions.append(f"static long {fold}(long (*op)(long, long), const long *all, int n, long s)\n{{\n"
                              f"    return n ? {fold}(op, all + 1, n - 1, op(s, *all)) : s;\n}}\n")
        values = ", ".join(f"(long){self.literal()}" for _ in range(6))
        return f"""    long (*table[])(long, long) = {{{', '.join(names)}}};
    long values[] = {{{values}}};
    for (unsigned i = 0; i < sizeof table / sizeof *table; i++)
        printf("%ld\\n", {fold}(table[i], values, 6, (long)i));
    printf("%d\\n", table[0] == {names[0]});
"""

    def strings(self):
        r = self.r
        text = "".join(r.choice("abcXYZ 019,.-") for _ in range(r.randrange(4, 30)))
        other = "".join(r.choice("abcXYZ") for _ in range(r.randrange(1, 5)))
        return f"""    char buffer[128] = "", *copy;
    const char *text = "{text}", *at;
    strcpy(buffer, text);
    strcat(buffer, "{other}");
    strncat(buffer, text, {r.randrange(6)});
    for (char *c = buffer; *c; c++) *c = (char)(isupper((unsigned char)*c) ? tolower((unsigned char)*c) : toupper((unsigned char)*c));
    at = strchr(buffer, '{r.choice("abcXYZ0")}');
    printf("%s|%zu|%d|%ld\\n", buffer, strlen(buffer), strcmp(buffer, text) < 0, at ? (long)(at - buffer) : -1L);
    at = strstr(text, "{text[1:3]}");
    printf("%.{r.randrange(1, 9)}s|%{r.randrange(1, 40)}s|%-{r.randrange(1, 40)}s|\\n", at ? at : "none", text, "{other}");
    copy = malloc(strlen(text) + 1);
    memcpy(copy, text, strlen(text) + 1);
    for (size_t i = 0, j = strlen(copy); i + 1 < j; i++) {{ char c = copy[i]; copy[i] = copy[--j]; copy[j] = c; }}
    printf("%s %d %ld %d\\n", copy, atoi("{r.randrange(-999, 999)}x"), strtol("{r.getrandbits(20):x}", NULL, 16), strncmp(copy, text, 3) == 0);
    free(copy);
"""

    def sorting(self):
        r = self.r
        s, less = self.name("E"), self.name("less")
        self.types.append(f"struct {s} {{ int key; char tag; }};\n")
        sign = r.choice(["", "-"])
        self.functions.append(f"static int {less}(const void *a, const void *b)\n{{\n"
                              f"    const struct {s} *x = a, *y = b;\n"
                              f"    if (x->key != y->key) return {sign}((x->key > y->key) - (x->key < y->key));\n"
                              f"    return x->tag - y->tag;\n}}\n")
        n = r.randrange(2, 20)
        rows = ", ".join(f"{{{r.randrange(-9, 9)}, '{chr(97 + i)}'}}" for i in range(n))
        return f"""    struct {s} all[] = {{{rows}}}, *found;
    qsort(all, {n}, sizeof *all, {less});
    for (int i = 0; i < {n}; i++) printf("%d%c ", all[i].key, all[i].tag);
    found = bsearch(&all[{r.randrange(n)}], all, {n}, sizeof *all, {less});
    printf("%ld\\n", found ? (long)(found - all) : -1L);
"""

    def formats(self):
        r = self.r
        total = self.name("total")
        self.functions.append(f"static long {total}(const char *kinds, ...)\n{{\n    va_list all;\n    long sum = 0;\n"
                              "    va_start(all, kinds);\n    for (; *kinds; kinds++)\n"
                              "        sum = (long)((unsigned long)sum * 3 + (*kinds == 'i' ? (unsigned long)va_arg(all, int) : *kinds == 'l' ? va_arg(all, unsigned long) :\n"
                              "               strlen(va_arg(all, char *))));\n    va_end(all);\n    return sum;\n}\n")
        flags = r.choice(["", "-", "0", "+", " ", "#"])
        width = r.choice(["", "3", "8", "15"])
        lines = ""
        for kind, conversion in (("int", "d"), ("unsigned", "x"), ("unsigned", "o"), ("unsigned long", "lX"),
                                 ("long", "ld"), ("int", "5.3d"), ("unsigned", "#x")):
            flag = flags if conversion[0] in "dxol" and not (flags in "+ " and conversion in ("x", "o", "lX")) and \
                not (flags == "#" and "d" in conversion) else ""
            lines += f'    printf("[%{flag}{width if conversion[0] not in "5#" else ""}{conversion}]", ({kind}){self.literal()});\n'
        kinds = "".join(r.choice("ils") for _ in range(r.randrange(1, 8)))
        words = {"i": lambda: f"(int){self.literal()}", "l": self.literal_long, "s": lambda: f'"{"x" * r.randrange(5)}"'}
        return lines + f"""    char small[16];
    int n = snprintf(small, sizeof small, "%d-%s-%c", (int){self.literal()}, "text", '{r.choice("abc")}');
    printf("\\n%s %d %*d|%ld %%\\n", small, n, {r.randrange(1, 12)}, {r.randrange(99)}, {total}("{kinds}", {', '.join(words[k]() for k in kinds)}));
"""

    def literal_long(self):
        return f"(unsigned long){self.literal()}"

    def lists(self):
        r = self.r
        s, make = self.name("N"), self.name("make")
        self.types.append(f"struct {s} {{ struct {s} *next, *left; unsigned value; }};\n")
        self.functions.append(f"static struct {s} *{make}(unsigned value, struct {s} *next)\n{{\n"
                              f"    struct {s} *n = calloc(1, sizeof *n);\n    n->value = value;\n    n->next = next;\n"
                              "    return n;\n}\n")
        return f"""    struct {s} *first = NULL, **end = &first;
    for (unsigned i = 0; i < {r.randrange(2, 12)}; i++) {{
        *end = {make}((unsigned)({self.expression(['i'], 3)}), NULL);
        if (i % 2) (*end)->left = first;
        end = &(*end)->next;
    }}
    unsigned sum = 0;
    for (struct {s} *n = first; n; n = n->next) sum = sum * 7 + n->value + (n->left ? n->left->value : 3);
    struct {s} *back = NULL;
    while (first) {{ struct {s} *n = first; first = n->next; n->next = back; back = n; }}
    printf("%u %u\\n", sum, back->value);
    while (back) {{ struct {s} *n = back->next; free(back); back = n; }}
"""

    def statics(self):
        g, f = self.name("g"), self.name("count")
        kind = self.r.choice(INTEGERS[:8])[0]
        self.types.append(f"static {kind} {g}[4] = {{1, 2, ({kind}){self.literal()}}};\nstatic const char *const {g}words[] = {{\"zero\", \"one\", \"two\"}};\n")
        self.functions.append(f"static unsigned {f}(unsigned by)\n{{\n    static unsigned calls = {self.r.randrange(9)};\n"
                              f"    calls += by;\n    {g}[calls % 4] += ({kind})calls;\n    return calls;\n}}\n")
        return f"""    for (unsigned i = 0; i < {self.r.randrange(2, 9)}; i++) {f}(i * {self.r.randrange(1, 5)});
    unsigned calls = {f}(1);
    printf("%u %s {' '.join([PRINT[kind]] * 4)}\\n", calls, {g}words[calls % 3], {g}[0], {g}[1], {g}[2], {g}[3]);
"""

    def text(self):
        parts = [self.integers, self.loops, self.arrays, self.structures, self.pointers, self.strings, self.sorting,
                 self.formats, self.lists, self.statics]
        for part in self.r.sample(parts, 5):
            name = self.name("part")
            body = part()
            self.functions.append(f"static void {name}(void)\n{{\n{body}}}\n")
            self.main.append(f"    {name}();\n")
        return (HEADER + "".join(self.types) + "".join(self.functions) +
                f"int main(void)\n{{\n{''.join(self.main)}    return {self.r.randrange(120)};\n}}\n")


def outcome(command, folder):
    done = subprocess.run(command, cwd=folder, capture_output=True, timeout=60)
    return done.returncode, done.stdout


def check(build, seed):
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder, "program.c")
        source.write_text(Program(seed).text())
        subprocess.run(["gcc", "-w", "-O0", source, "-o", "native"], cwd=folder, check=True)
        native = outcome(["./native"], folder)
        made = subprocess.run([build / "bin/foretell", "lower", source, "-o", "program"], cwd=folder, capture_output=True,
                              text=True)
        lowered = outcome([build / "bin/run_program", "program"], folder) if made.returncode == 0 else (made.stderr, b"")
        if native == lowered:
            return None
        return f"seed {seed}: {native!r}\n  lowered: {lowered!r}"


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    first, count = int(os.environ.get("FT_SEED_START", "1")), int(os.environ.get("FT_SEEDS", "100"))
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        wrong = [text for text in pool.map(lambda seed: check(build, seed), range(first, first + count)) if text]
    for text in wrong[:5]:
        print("FAILED", text)
    print(f"{count - len(wrong)} programs agree, {len(wrong)} do not")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
