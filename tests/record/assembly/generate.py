#!/usr/bin/env python3
"""usage: generate.py SEED [no-pie] [avx] [gas] : writes blocks.c, for the wrapper, and twins.c (account.h).

no-pie: absolute addresses too; avx: its instructions; gas: what that assembler alone reads.
"""
import random
import sys

SIZES = {"b": 1, "w": 2, "l": 4, "q": 8}
NAMES = ["a", "c", "d", "b", "sp", "bp", "si", "di"] + [f"r{i}" for i in range(8, 16)]
USED = [n for n in range(16) if n not in (4, 5)]
CELLS = 8
OFFSETS = {"x": 0, "q": 64, "l": 128, "w": 160, "b": 176}
CONDITIONS = "o no b nb c nc z nz e ne be a s ns p np l ge nl le g".split()


def register(n, size):
    name = NAMES[n]
    if n >= 8:
        return "%%" + name + {1: "b", 2: "w", 4: "d", 8: ""}[size]
    if len(name) == 1:
        return "%%" + {1: name + "l", 2: name + "x", 4: "e" + name + "x", 8: "r" + name + "x"}[size]
    return "%%" + {1: name + "l", 2: name, 4: "e" + name, 8: "r" + name}[size]


class Block:
    def __init__(self, r, number, options, accesses):
        self.r, self.number, self.options, self.accesses = r, number, options, accesses
        regs = r.sample([n for n in USED if n not in (0, 1, 2, 3)], 6)
        self.base, self.index = r.sample([r.choice([7, 6, 11])] + regs[:3], 2) if r.random() < 0.7 else regs[:2]
        if self.base == self.index:
            self.index = next(n for n in regs if n != self.base)
        self.data = [0, 1, 2, 3] + [n for n in regs if n not in (self.base, self.index)][:3]
        self.at = r.randrange(0, 184)  # where the base points
        self.count = r.choice([-3, -1, 0, 1, 2, 5])  # in the index
        self.operands = {}  # member and index: name
        self.parts = []  # (text, number of its access or None)
        self.labels = 0
        for _ in range(r.randrange(2, 9)):
            self.one()

    # ---- operands
    def memory(self, member, index):
        r, offset = self.r, OFFSETS[member] + index * (8 if member == "x" else SIZES[member])
        kinds = ["operand"] * 3 + ["base"] * 3 + ["index"] * 3 + ["rip"] * 2 + ["lone index"] + ["absolute"] * ("no-pie" in self.options)
        kind = r.choice(kinds)
        base, idx = register(self.base, 8), register(self.index, 8)
        if kind == "operand" and ((member, index) in self.operands or len(self.operands) < 3):  # 30 are the most
            name = self.operands.setdefault((member, index), f"m{len(self.operands)}")
            return f"%[{name}]"
        if kind in ("base", "operand"):
            gap = "" if offset == self.at and r.random() < 0.5 else str(offset - self.at)
            return r.choice(["{}({})", "{}( {} )"]).format(gap, base)
        if kind == "index":
            scale = r.choice([1, 2, 4, 8])
            blank = r.choice(["", " "])
            return f"{offset - self.at - scale * self.count}({base},{blank}{idx},{blank}{scale})"
        if kind == "lone index" and "no-pie" in self.options:
            return f"ARENA+{offset - 8 * self.count}(,{idx},8)"
        if kind == "absolute":
            return f"ARENA+{offset}"
        return f"ARENA+{offset}(%%rip)"

    def cell(self, sizes="bwlq"):
        suffix = self.r.choice(sizes)
        return suffix, SIZES[suffix], self.r.randrange(CELLS)

    def any(self, size):
        return register(self.r.choice(self.data), size)

    def constant(self, size):
        return f"${self.r.choice([0, 1, 2, -1, 5, 100, -128, 127] + [0x1234] * (size > 1) + [0x12345678] * (size > 2))}"

    def put(self, text, kind=None, member=None, index=None, size=None):
        number = None
        if kind:
            number = len(self.accesses)
            self.accesses.append((kind, member, index, size))
        self.parts.append((text, number))

    def lock(self, chance=0.6):
        if self.r.random() > chance:
            return ""
        forms = ["lock ", "lock; ", "lock\n\t", "lock;", "lock ;\t"] + ["LOCK "] + ["xacquire lock "]
        return self.r.choice(forms)

    # ---- instructions
    def one(self):
        kinds = [self.load, self.store, self.update, self.update, self.update, self.shift, self.exchange, self.compare, self.bits,
                 self.bits, self.look, self.divide, self.extend, self.conditional, self.vector, self.vector, self.wide, self.stack,
                 self.noise, self.jump, self.loop]
        self.r.choice(kinds)()

    def name(self, word):
        return word.upper() if "gas" in self.options and self.r.random() < 0.1 else word

    def suffixed(self, word, suffix, has_register):
        return self.name(word if has_register and self.r.random() < 0.3 else word + suffix)

    def load(self):
        s, n, i = self.cell()
        op = self.r.choice(["mov", "add", "adc", "sub", "sbb", "and", "or", "xor", "cmp"])
        self.put(f"{self.suffixed(op, s, True)} {self.memory(s, i)}, {self.any(n)}", "READ", s, i, n)

    def store(self):
        s, n, i = self.cell()
        if self.r.random() < 0.4:
            return self.put(f"mov{s} {self.constant(n)}, {self.memory(s, i)}", "WRITE", s, i, n)
        word = "movnti" if n >= 4 and self.r.random() < 0.2 else "mov"
        self.put(f"{self.suffixed(word, s, True)} {self.any(n)}, {self.memory(s, i)}", "WRITE", s, i, n)

    def update(self):
        s, n, i = self.cell()
        if self.r.random() < 0.3:
            op = self.r.choice(["inc", "dec", "neg", "not"])
            return self.put(f"{self.lock()}{self.name(op + s)} {self.memory(s, i)}", "UPDATE", s, i, n)
        op = self.r.choice(["add", "adc", "sub", "sbb", "and", "or", "xor"])
        constant = self.r.random() < 0.5
        source = self.constant(n) if constant else self.any(n)
        self.put(f"{self.lock()}{self.suffixed(op, s, not constant)} {source}, {self.memory(s, i)}", "UPDATE", s, i, n)

    def shift(self):
        s, n, i = self.cell()
        op = self.r.choice(["shl", "sal", "shr", "sar", "rol", "ror"]) + s
        by = self.r.choice(["", "$1, ", "$3, ", "%%cl, "])
        self.put(f"{op} {by}{self.memory(s, i)}", "UPDATE", s, i, n)

    def exchange(self):
        s, n, i = self.cell()
        if self.r.random() < 0.5:
            return self.put(f"{self.lock()}{self.suffixed('xadd', s, True)} {self.any(n)}, {self.memory(s, i)}", "UPDATE", s, i, n)
        pair = [self.any(n), self.memory(s, i)]
        self.r.shuffle(pair)
        self.put(f"{self.lock(0.2)}{self.suffixed('xchg', s, True)} {pair[0]}, {pair[1]}", "UPDATE", s, i, n)

    def compare(self):
        s, n, i = self.cell()
        if self.r.random() < 0.6:
            self.put(f"mov{s} {self.memory(s, i)}, {register(0, n)}", "READ", s, i, n)
        self.put(f"{self.lock(0.8)}{self.suffixed('cmpxchg', s, True)} {self.any(n)}, {self.memory(s, i)}", "COMPARE", s, i, n)

    def wide(self):
        sixteen = self.r.random() < 0.6
        i = self.r.choice([0, 2, 4, 6])
        if sixteen:
            if self.r.random() < 0.7:
                self.put(f"movq {self.memory('x', i)}, %%rax", "READ", "x", i, 8)
                self.put(f"movq {self.memory('x', i + 1)}, %%rdx", "READ", "x", i + 1, 8)
            return self.put(f"{self.lock().replace('xacquire ', '')}cmpxchg16b {self.memory('x', i)}", "COMPARE", "x", i, 16)
        self.put(f"{self.lock()}cmpxchg8b {self.memory('q', i)}", "COMPARE", "q", i, 8)

    def bits(self):
        s, n, i = self.cell("wlq")
        op = self.r.choice(["bt", "bts", "btr", "btc"])
        kind = "READ" if op == "bt" else "UPDATE"
        lock = self.lock() if op != "bt" else ""
        if self.r.random() < 0.4:
            return self.put(f"{lock}{op}{s} ${self.r.randrange(8 * n)}, {self.memory(s, i)}", kind, s, i, n)
        target, by = self.r.randrange(CELLS), self.r.choice(self.data)
        bit = 8 * n * (target - i) + self.r.randrange(8 * n)
        self.put(f"mov{s} ${bit}, {register(by, n)}")
        self.put(f"{lock}{self.suffixed(op, s, True)} {register(by, n)}, {self.memory(s, i)}", kind, s, target, n)

    def look(self):
        s, n, i = self.cell()
        op = self.r.choice(["cmp", "test", "mul", "imul", "imul", "imul3", "bsf", "bsr", "tzcnt", "lzcnt", "popcnt"])
        if op in ("cmp", "test"):
            source = self.r.choice([self.constant(n), self.any(n)])
            return self.put(f"{op}{s} {source}, {self.memory(s, i)}", "READ", s, i, n)
        if op == "mul" or (op == "imul" and self.r.random() < 0.5):
            return self.put(f"{op}{s} {self.memory(s, i)}", "READ", s, i, n)
        s, n, i = self.cell("wlq")
        if op == "imul3":
            return self.put(f"imul{s} $7, {self.memory(s, i)}, {self.any(n)}", "READ", s, i, n)
        self.put(f"{self.suffixed(op, s, True)} {self.memory(s, i)}, {self.any(n)}", "READ", s, i, n)

    def divide(self):
        s, n, i = self.cell("lq")
        self.put(f"or{s} $1, {self.memory(s, i)}", "UPDATE", s, i, n)
        if self.r.random() < 0.5:
            self.put("xorl %%edx, %%edx")
            return self.put(f"div{s} {self.memory(s, i)}", "READ", s, i, n)
        self.put("movl $12345, %%eax")
        self.put("xorl %%edx, %%edx")
        self.put(f"idiv{s} {self.memory(s, i)}", "READ", s, i, n)

    def extend(self):
        op, s, to = self.r.choice([("movzbw", "b", 2), ("movzbl", "b", 4), ("movzbq", "b", 8), ("movzwl", "w", 4), ("movzwq", "w", 8),
                                   ("movsbw", "b", 2), ("movsbl", "b", 4), ("movsbq", "b", 8), ("movswl", "w", 4), ("movswq", "w", 8),
                                   ("movslq", "l", 8)])
        i = self.r.randrange(CELLS)
        self.put(f"{op} {self.memory(s, i)}, {self.any(to)}", "READ", s, i, SIZES[s])

    def conditional(self):
        condition = self.r.choice(CONDITIONS)
        if self.r.random() < 0.5:
            i = self.r.randrange(CELLS)
            return self.put(f"set{condition} {self.memory('b', i)}", "WRITE", "b", i, 1)
        s, n, i = self.cell("wlq")
        self.put(f"cmov{condition} {self.memory(s, i)}, {self.any(n)}", "READ", s, i, n)

    def vector(self):
        r, v = self.r, f"%%xmm{self.r.randrange(2)}"
        op, member, n = r.choice([("movd", "l", 4), ("movss", "l", 4), ("movsd", "q", 8), ("movq", "q", 8), ("movaps", "x", 16),
                                  ("movups", "x", 16), ("movapd", "x", 16), ("movupd", "x", 16), ("movdqa", "x", 16), ("movdqu", "x", 16),
                                  ("movntdq", "x", 16), ("lddqu", "x", 16), ("movntdqa", "x", 16)]
                                 + [("vmovdqa", "x", 16), ("vmovdqu", "x", 16), ("vmovaps", "x", 16), ("vmovups", "x", 16)] * ("avx" in self.options))
        i = r.randrange(0, CELLS, 2) if member == "x" else r.randrange(CELLS)
        if member == "x" and ("u" in op) and r.random() < 0.5:
            i = r.randrange(CELLS - 1)
        read = op in ("lddqu", "movntdqa") or (op != "movntdq" and r.random() < 0.5)
        pair = [self.memory(member, i), v]
        self.put(f"{op} {pair[not read]}, {pair[read]}", "READ" if read else "WRITE", member, i, n)
        if r.random() < 0.3:
            self.put("vpaddd %%ymm1, %%ymm1, %%ymm1" if "avx" in self.options else "paddd %%xmm0, %%xmm1")

    def stack(self):
        """Of the thread's own: in no recording, but counted from the stack pointer."""
        at, a, b = self.r.choice([0, 8, 40, 120]), self.any(8), self.any(8)
        where = self.r.choice([f"{at}(%%rsp)", f"{at}( %%rsp )", f"8*2+{at}-16(%%rsp)"])
        self.put("leaq -512(%%rsp), %%rsp")
        self.put(f"movq {a}, {where}")
        self.put(f"{self.lock()}addq $7, {where}")
        if self.r.random() < 0.5:
            self.put(f"pushq {where}")
            self.put("incq (%%rsp)")
            self.put(f"popq {where}")
        self.put(f"xchgq {b}, {where}")
        self.put(f"movq {where}, {a}")
        self.put("leaq 512(%%rsp), %%rsp")

    def noise(self):
        self.put(self.r.choice(["nop", "pause", "stc", "clc", "cmc", "cltq", "lfence", "rep; nop", "bswap %%rdx", "xchg %%rcx, %%rdx",
                                "leaq 5(%%rbx), %%rax", ".p2align 4", "notq %%rbx", "vzeroupper" if "avx" in self.options else "nop",
                                ".pushsection .rodata; .ascii \\\"a; lock incl \\\\\\\"b\\\"; .popsection", "/* lock incl x; */ nop",
                                "rep; bsfq ARENA(%%rip), %%rax", ".byte 0xf3; bsfl ARENA+8(%%rip), %%edx", "fs; movq 0, %%rbx", "cmpb $';', %%al", "cmpb $'#', %%bl", "jmp 7f; .byte 0x0f, 0x0b; 7: nop"]
                               + ["/ a; lock incq ARENA(%%rip)\n\tnop"] * ("gas" in self.options) + ["// a; lock incq ARENA(%%rip)\n\tnop"]))

    def jump(self):
        condition = self.r.choice(CONDITIONS)
        label = f".Lskip{self.labels}_%="
        self.labels += 1
        self.put(f"j{condition} {label}")
        self.r.choice([self.load, self.store, self.update, self.bits, self.compare, self.vector])()
        self.put(f"{label}{self.r.choice(['', ' '])}:")

    def loop(self):
        """Counted where no instruction of it works."""
        if any("1:" in text for text, _ in self.parts):
            return
        self.put("movl $3, %[turns]")
        self.put("1:")
        for _ in range(self.r.randrange(1, 3)):
            self.r.choice([self.load, self.store, self.update, self.exchange, self.bits, self.conditional, self.vector])()
        self.put("decl %[turns]")
        self.put("jnz 1b")

    # ---- text
    def body(self, real):
        r, lines = random.Random(self.number), []
        for text, number in self.parts:
            text = text.replace("ARENA", "arena" if real else "twin_arena")
            if not real and number is not None:
                text += f"\n\tleaq -128(%%rsp), %%rsp\n\tpushq ${number}\n\tcall *peek@GOTPCREL(%%rip)\n\tleaq 136(%%rsp), %%rsp"
            if real:
                text += r.choice(["; ", "\n\t", " # lock incl x\n\t", " /* ; x */; ", "\n\t\n", ";;"])
            lines.append(text if real else text + "\n\t")
        return "".join(lines).replace("\n", "\\n").replace("\t", "\\t")

    def function(self, real):
        kind, arena = ("real", "arena") if real else ("twin", "twin_arena")
        regs = sorted(self.data + [self.base, self.index])
        out = [f"static void {kind}_{self.number}(struct state *s)", "{"]
        for n in regs:
            value = {self.base: f"(uint64_t)(uintptr_t)&{arena} + {self.at}", self.index: f"(uint64_t){self.count}L"}.get(n, f"s->r[{n}]")
            out.append(f"    uint64_t i{n} = {value};")
        out += [f"    __m128i iv{i} = s->v[{i}];" for i in range(2)]
        out += [f"    register uint64_t r{n} __asm__(\"{register(n, 8)[2:]}\") = i{n};" for n in regs]
        out += [f"    register __m128i v{i} __asm__(\"xmm{i}\") = iv{i};" for i in range(2)]
        out.append("    uint64_t rax; uint32_t turns;")
        text = f"movl ${self.at}, %[turns]\\n\\taddl ${self.number - 100}, %[turns]\\n\\t" + self.body(real) + "movq %%rax, %[rax]\\n\\tlahf\\n\\tseto %%al"
        outputs = [f'"+r"(r{n})' for n in regs] + ['"+x"(v0)', '"+x"(v1)', '[rax] "=&m"(rax)', '[turns] "=&r"(turns)']
        outputs += [f'[{name}] "+m"({arena}.{m}[{i}])' for (m, i), name in self.operands.items()]
        out.append(f'    __asm__ volatile("{text}" : {", ".join(outputs)} : : "memory", "cc");')
        out += [f"    i{n} = r{n};" for n in self.data] + ["    iv0 = v0;", "    iv1 = v1;"]  # before any call
        out += [f"    s->r[{n}] = i{n};" for n in self.data if n]
        out += ["    s->r[0] = rax;", "    s->flags = i0 & 0xffff;", "    s->v[0] = iv0;", "    s->v[1] = iv1;"]
        return "\n".join(out) + "\n}\n"


def main():
    seed, options = int(sys.argv[1]), set(sys.argv[2:])
    r = random.Random(seed)
    accesses = []
    blocks = [Block(r, i, options, accesses) for i in range(r.randrange(8, 17))]
    names = {True: "real", False: "twin"}
    text = {real: '#include "account.h"\n\n' + "\n".join(b.function(real) for b in blocks) for real in names}
    tables = {real: ", ".join(f"{names[real]}_{i}" for i in range(len(blocks))) for real in names}
    with open("blocks.c", "w") as f:
        f.write(text[True].replace("\n\n", "\n\nHIDDEN extern struct arena arena;\nHIDDEN struct arena arena;\n", 1))
        f.write(f"static block *const reals[] = {{{tables[True]}}};\nblock *const *real_blocks(void)\n{{\n    return reals;\n}}\n"
                "struct arena *real_arena(void)\n{\n    return &arena;\n}\n")
    with open("twins.c", "w") as f:
        f.write(text[False].replace("\n\n", "\n\nHIDDEN extern struct arena twin_arena;\nHIDDEN struct arena twin_arena;\n", 1))
        f.write(f"block *const twins[] = {{{tables[False]}}};\nconst unsigned n_blocks = {len(blocks)};\nconst struct access accesses[] = {{\n")
        f.write("".join(f"    {{{k}, '{m}', {i}, {n}}},\n" for k, m, i, n in accesses) + "};\n")


main()
