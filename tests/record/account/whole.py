#!/usr/bin/env python3
"""usage: whole.py NAME.account... : writes NAME.ndjson for each.

The trace of all that a program said of itself (account.h): every cell of memory is in it, shared or not. Where the account
is not complete (the program deadlocked, say), its files are removed, and it is counted.
"""
import json
import re
import struct
import sys
from pathlib import Path

ENTRY = struct.Struct("<IIIIQq256s")
KINDS = re.findall(r"X\((\w+)\)", re.search(r"TOLD_TABLE\(X\).*?\nenum", (Path(__file__).parent / "account.h").read_text(), re.S)[0])
ACCESSES = ("READ", "WRITE", "ATOMIC_READ", "ATOMIC_WRITE", "UPDATE")
SIMPLE = {"BEGIN": "begin", "END": "end", "TX_BEGIN": "tx-begin", "TX_END": "tx-end"}
OBJECTS = {  # kind: its name in a trace, the table of its object, what else it has
    "ACQUIRE": ("acquire", "lock", {}), "RELEASE": ("release", "lock", {}), "TRY": ("acquire", "lock", {"try": True}),
    "TRY_FAILED": ("try-failed", "lock", {}), "ACQUIRE_SHARED": ("acquire-shared", "lock", {}),
    "WAIT": ("wait", "semaphore", {}), "POST": ("post", "semaphore", {}),
    "COND_WAIT": ("cond-wait", "cond", {}), "COND_WAKE": ("cond-wake", "cond", {}),
    "SIGNAL": ("signal", "cond", {}), "BROADCAST": ("broadcast", "cond", {}),
    "ARRIVE": ("barrier-arrive", "barrier", {}), "LEAVE": ("barrier-leave", "barrier", {}),
    "ONCE_BEGIN": ("once-begin", "once", {}), "ONCE_END": ("once-end", "once", {}), "ONCE_PASS": ("once-pass", "once", {}),
}
GRANULE = 8


class Region:
    """Memory from its beginning to its end: a global, a block, a thread's own."""

    def __init__(self, name, address, size, initial=None, block=False):
        self.name, self.address, self.size, self.initial, self.block = name, address, size, initial, block
        self.ends = {address, address + size}  # of accesses and granules: between two of them is a cell
        self.ends |= set(range(address // GRANULE * GRANULE + GRANULE, address + size, GRANULE))

    def cells(self, address=None, size=None):
        ends = sorted(self.ends)
        for at, to in zip(ends, ends[1:]):
            if address is None or (at < address + size and to > address):
                yield at, to - at

    def variable(self, at, size):
        return f"{self.name}+{at - self.address}:{size}"


def integer(content):
    return int.from_bytes(content, "little", signed=True)


def entries_of(path):
    data = Path(path).read_bytes()
    for at in range(0, len(data) - ENTRY.size + 1, ENTRY.size):
        kind, thread, line, size, address, other, content = ENTRY.unpack_from(data, at)
        if not (kind or line):
            break
        yield KINDS[kind], thread, line, size, address, other, content


class Whole:
    def __init__(self, path):
        self.entries = list(entries_of(path))
        self.regions, self.of, self.locks, self.counts = [], {}, {}, {}
        self.find_regions()

    def find_regions(self):
        """The region of every entry, and the ends of all accesses."""
        alive = []
        for i, (kind, thread, line, size, address, other, content) in enumerate(self.entries):
            if kind == "GLOBAL" and not size:
                self.counts[address] = other
            elif kind in ("GLOBAL", "STACK", "ALLOC"):
                initial = content[:size] if kind == "GLOBAL" else bytes(size) if other else None
                region = Region(f"{kind.lower()}{len(self.regions)}", address, size, initial, kind == "ALLOC")
                self.regions.append(region)
                alive.append(region)
                self.of[i] = region
            elif kind in ACCESSES or kind == "FREE":
                region = next(r for r in reversed(alive) if r.address <= address < r.address + r.size)
                self.of[i] = region
                if kind in ACCESSES:
                    assert address + size <= region.address + region.size
                    region.ends |= {address, address + size}
                if kind == "FREE":
                    alive.remove(region)
            elif kind == "ACQUIRE_SHARED":
                self.locks[address] = "read-write"

    def header(self):
        threads = sorted({e[1] for e in self.entries} | {e[5] for e in self.entries if e[0] == "FORK"})
        variables, blocks = {}, {}
        for r in self.regions:
            for at, size in r.cells():
                known = {"sort": "Int"}
                if r.initial is not None:
                    known["init"] = integer(r.initial[at - r.address:at - r.address + size])
                variables[r.variable(at, size)] = known
            if r.block:
                blocks[r.name] = [r.variable(*c) for c in r.cells()]
        tables = {"lock": {}, "semaphore": {}, "cond": [], "barrier": {}, "once": []}
        for kind, _, _, _, address, _, _ in self.entries:
            if kind not in OBJECTS:
                continue
            table, name = tables[OBJECTS[kind][1]], hex(address)
            if isinstance(table, list):
                if name not in table:
                    table.append(name)
            else:
                table[name] = {"semaphore": 0, "barrier": self.counts.get(address), "lock": self.locks.get(address, "mutex")}[OBJECTS[kind][1]]
        return {"format": "foretell", "version": 1, "threads": [f"t{t}" for t in threads], "variables": variables, "blocks": blocks,
                "locks": tables["lock"], "semaphores": tables["semaphore"], "conditions": tables["cond"],
                "barriers": tables["barrier"], "onces": tables["once"]}

    def access(self, i):
        kind, _, _, size, address, other, content = self.entries[i]
        old = (other & (1 << 64) - 1).to_bytes(8, "little")
        for at, n in self.of[i].cells(address, size):
            offset = at - address
            event = {"kind": "read" if "READ" in kind else "rmw" if kind == "UPDATE" else "write", "variable": self.of[i].variable(at, n)}
            event["value"] = integer((old if kind == "UPDATE" else content)[offset:offset + n])
            if kind == "UPDATE":
                event["result"] = integer(content[offset:offset + n])
            elif kind.startswith("ATOMIC"):
                event["atomic"] = True
            yield event

    def events(self):
        for i, (kind, thread, line, size, address, other, content) in enumerate(self.entries):
            if kind in ACCESSES:
                made = self.access(i)
            elif kind in SIMPLE:
                made = [{"kind": SIMPLE[kind]}]
            elif kind in ("FORK", "JOIN"):
                made = [{"kind": kind.lower(), "child": f"t{other}"}]
            elif kind in ("FREE",) or (kind == "ALLOC"):
                made = [{"kind": kind.lower(), "block": self.of[i].name}]
            elif kind in OBJECTS:
                name, table, more = OBJECTS[kind]
                made = [{"kind": name, table: hex(address), **more, **({"condition": True} if other and table == "lock" else {})}]
            else:
                continue
            for event in made:
                place = {"loc": f"program.c:{line}"} if kind not in ("BEGIN", "END") else {}
                yield {"thread": f"t{thread}", **event, **place}


def main():
    incomplete = 0
    for path in map(Path, sys.argv[1:]):
        whole = Whole(path)
        path.unlink()
        if not whole.entries or whole.entries[-1][0] != "COMPLETE":
            path.with_suffix(".ftb").unlink()
            incomplete += 1
            continue
        with open(path.with_suffix(".ndjson"), "w") as out:
            for one in [whole.header(), *whole.events()]:
                out.write(json.dumps(one, separators=(",", ":")) + "\n")
    print(incomplete)


if __name__ == "__main__":
    main()
