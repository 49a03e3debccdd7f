#!/usr/bin/env python3
"""usage: evaluate.py SYMBOLIC.ndjson PLAIN.ndjson

Executes a recording with terms by an evaluator of its own and compares it, access by access, with a
recording of the same program without terms (of cells that the second one does not have, it executes
what the first one has). The values that plain writes of the first put down are
those of the second: so where that one is of a run with other inputs, this asks what the terms say of
inputs that they were not recorded with. An assume that fails ends the comparison: the program would
have gone another way.

Prints: accesses compared, assumes that held, accesses that differ, 1 if an assume failed.
"""
import json
import re
import sys

TOKEN = re.compile(r"\|[^|]*\||[()]|[^\s()|]+")


def parse(text):
    stack = [[]]
    for token in TOKEN.findall(text):
        if token == "(":
            stack.append([])
        elif token == ")":
            done = stack.pop()
            stack[-1].append(done)
        else:
            stack[-1].append(token)
    return stack[0][0]


def signed(x, width):
    return x - (1 << width) if x >> (width - 1) & 1 else x


def shift(x, n, width, right, arithmetic):
    if arithmetic:
        return signed(x, width) >> min(n, width - 1)
    if n >= width:
        return 0
    return x >> n if right else x << n


def divide(x, y, width, is_signed, remainder):
    if y == 0:
        raise ZeroDivisionError
    if is_signed:
        x, y = signed(x, width), signed(y, width)
        q = abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)
        return x - q * y if remainder else q
    return x % y if remainder else x // y


BINARY = {
    "bvadd": lambda x, y, w: x + y,
    "bvsub": lambda x, y, w: x - y,
    "bvmul": lambda x, y, w: x * y,
    "bvand": lambda x, y, w: x & y,
    "bvor": lambda x, y, w: x | y,
    "bvxor": lambda x, y, w: x ^ y,
    "bvshl": lambda x, y, w: shift(x, y, w, False, False),
    "bvlshr": lambda x, y, w: shift(x, y, w, True, False),
    "bvashr": lambda x, y, w: shift(x, y, w, True, True),
    "bvudiv": lambda x, y, w: divide(x, y, w, False, False),
    "bvurem": lambda x, y, w: divide(x, y, w, False, True),
    "bvsdiv": lambda x, y, w: divide(x, y, w, True, False),
    "bvsrem": lambda x, y, w: divide(x, y, w, True, True),
}
COMPARE = {
    "bvult": lambda x, y, w: x < y,
    "bvule": lambda x, y, w: x <= y,
    "bvugt": lambda x, y, w: x > y,
    "bvuge": lambda x, y, w: x >= y,
    "bvslt": lambda x, y, w: signed(x, w) < signed(y, w),
    "bvsle": lambda x, y, w: signed(x, w) <= signed(y, w),
    "bvsgt": lambda x, y, w: signed(x, w) > signed(y, w),
    "bvsge": lambda x, y, w: signed(x, w) >= signed(y, w),
}


class Evaluator:
    """A value is (bits, width); width 0 is Bool."""

    def __init__(self, names):
        self.names = names

    def leaf(self, token, lets):
        if token in lets:
            return lets[token]
        if token in ("true", "false"):
            return (int(token == "true"), 0)
        if token.startswith("#x"):
            return (int(token[2:], 16), 4 * (len(token) - 2))
        if token.startswith("#b"):
            return (int(token[2:], 2), len(token) - 2)
        return self.names(token.strip("|"))

    def let(self, term, lets):
        inner = dict(lets)
        for name, value in term[1]:
            inner[name] = self.value(value, lets)
        return self.value(term[2], inner)

    def value(self, term, lets):
        if isinstance(term, str):
            return self.leaf(term, lets)
        head = term[0]
        if head == "let":
            return self.let(term, lets)
        if head == "ite":
            return self.value(term[2] if self.value(term[1], lets)[0] else term[3], lets)
        arguments = [self.value(t, lets) for t in term[1:]]
        bits = [a[0] for a in arguments]
        width = arguments[0][1]
        if isinstance(head, list):
            return self.indexed(head, bits[0], width)
        if head in BINARY:
            result = bits[0]
            for b in bits[1:]:
                result = BINARY[head](result, b, width) % (1 << width)
            return (result, width)
        if head in COMPARE:
            return (int(COMPARE[head](bits[0], bits[1], width)), 0)
        if head == "concat":
            result = (0, 0)
            for b, w in arguments:
                result = (result[0] << w | b, result[1] + w)
            return result
        return (int(self.boolean(head, bits)), 0) if head not in ("bvnot", "bvneg") else (
            ((~bits[0]) if head == "bvnot" else -bits[0]) % (1 << width), width)

    def indexed(self, head, x, width):
        if head[1] == "extract":
            high, low = int(head[2]), int(head[3])
            return (x >> low & (1 << (high - low + 1)) - 1, high - low + 1)
        more = int(head[2])
        if head[1] == "sign_extend":
            return (signed(x, width) % (1 << (width + more)), width + more)
        return (x, width + more)

    def boolean(self, head, bits):
        if head == "not":
            return not bits[0]
        if head == "and":
            return all(bits)
        if head == "or":
            return any(bits)
        if head == "xor":
            return sum(bits) % 2
        if head == "=":
            return all(b == bits[0] for b in bits)
        if head == "distinct":
            return len(set(bits)) == len(bits)
        raise ValueError(head)


def literal(text):
    if isinstance(text, int):
        return text
    return int(text[2:], 16 if text[1] == "x" else 2)


class Run:
    def __init__(self, header):
        self.widths = {}
        self.shared = {}
        self.locals = {}
        for name, info in header["variables"].items():
            self.widths[name] = int(info["sort"].split()[2].rstrip(")"))
            if "init" in info:
                self.shared[name] = literal(info["init"])
        self.sorts = {
            name: 0 if (sort["sort"] if isinstance(sort, dict) else sort) == "Bool"
            else int((sort["sort"] if isinstance(sort, dict) else sort).split()[2].rstrip(")"))
            for name, sort in header.get("locals", {}).items()
        }

    def term(self, thread, text):
        def names(name):
            if name in self.widths:
                return (self.shared[name], self.widths[name])
            return (self.locals[thread, name], self.sorts[name])

        if not isinstance(text, str):
            return int(text)
        return Evaluator(names).value(parse(text), {})[0]


def accesses(event):
    """What a plain event read and wrote."""
    if event["kind"] == "rmw":
        return event["value"], event["result"]
    if event["kind"] == "read":
        return event["value"], None
    return None, event["value"]


class Compared:
    """Counts, and the execution of one trace against another."""

    def __init__(self, symbolic, plain):
        self.run = Run(symbolic[0])
        self.events = [e for e in symbolic[1:] if "kind" in e]  # not what it got from outside
        self.cells = set(plain[0]["variables"])
        self.has_cells = self.cells <= set(symbolic[0]["variables"])
        self.others = [e for e in plain[1:] if e.get("kind") in ("read", "write", "rmw")]
        self.next = 0
        self.inputs = {}
        for e in self.others:
            if e["thread"] == "main" and e["variable"].startswith("in") and e["kind"] == "write":
                self.inputs.setdefault(e["variable"], e["value"])
        self.compared = self.held = self.wrong = self.ended = 0

    def complain(self, *what):
        self.wrong += 1
        print(*what, file=sys.stderr)

    def other(self, variable):
        """The access of the other recording that this one stands for; None: there is none."""
        if not self.has_cells or variable not in self.cells:
            return None
        if self.next == len(self.others):
            self.complain("the other run ended before")
            return None
        found = self.others[self.next]
        self.next += 1
        if found["variable"] != variable:
            self.complain("other cell", variable, found)
            return None
        return found

    def plain(self, event):
        run, variable, kind = self.run, event["variable"], event["kind"]
        mask = (1 << run.widths[variable]) - 1
        other = self.other(variable)
        was = event["value"] if kind != "write" else None
        now = event["value" if kind == "write" else "result"] if kind != "read" else None
        if was is not None and run.shared.get(variable, literal(was)) != literal(was):
            self.ended = 1  # a read without a term is held to its value
            return
        if was is not None:
            run.shared[variable] = literal(was)
        if now is None:
            return
        if event["thread"] == "main" and variable in self.inputs:
            run.shared[variable] = self.inputs[variable] & mask
            return
        run.shared[variable] = literal(now)
        if other and accesses(other)[1] is not None and accesses(other)[1] & mask != literal(now):
            self.complain("plain write", event, other)

    def assign(self, event):
        run, thread, sets = self.run, event["thread"], event["set"]
        made = {name: run.term(thread, term) for name, term in sets.items()}
        cells = [n for n in sets if n in run.widths]
        reads = [t.strip("|") for t in sets.values() if isinstance(t, str) and t.strip("|") in run.widths]
        for name, value in made.items():
            if name in run.widths:
                run.shared[name] = value
            else:
                run.locals[thread, name] = value
        if not cells and not reads:
            return
        variable = (cells or reads)[0]
        other = self.other(variable)
        mask = (1 << run.widths[variable]) - 1
        self.compared += 1
        was, now = accesses(other) if other else (None, None)
        for name, value in made.items():
            seen = now if name in run.widths else was
            if seen is not None and value != seen & mask:
                self.complain("access", event, hex(value), other)

    def execute(self):
        for event in self.events:
            kind, thread = event["kind"], event["thread"]
            condition = event.get("guard") if kind == "assign" else event.get("term")
            if condition is not None:
                if not self.run.term(thread, condition):
                    self.ended = 1
                else:
                    self.held += 1
            if self.ended:
                return
            if kind in ("read", "write", "rmw"):
                self.plain(event)
            if kind == "assign":
                self.assign(event)
            if self.ended or self.wrong:
                return
        if not self.has_cells or self.next != len(self.others):
            self.complain("the other run went another way, and no assume says so")


def main():
    files = [[json.loads(line) for line in open(path)] for path in sys.argv[1:3]]
    compared = Compared(*files)
    compared.execute()
    print(compared.compared, compared.held, compared.wrong, compared.ended)
    return 1 if compared.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
