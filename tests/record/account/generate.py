#!/usr/bin/env python3
"""usage: generate.py SEED... : writes SEED.c for each.

A random pthread program that says itself what it does (account.h). It is made in an order in which it can run:
one of the threads that are there by now gets its next line, and a line that waits is made only
behind the one that it waits for. Most accesses to a cell are ordered by forks and joins or by a lock, some by nothing.
"""
import random
import sys

PARTS = [("w[0]", 8), ("h[0]", 4), ("h[1]", 4)] + [(f"q[{i}]", 2) for i in range(4)] + [(f"b[{i}]", 1) for i in range(8)]
UPDATES = ["fetch_add", "fetch_sub", "fetch_or", "fetch_and", "fetch_xor", "exchange_n"]


class Thread:
    def __init__(self, number, clock):
        self.number = number
        self.clock = dict(clock)
        self.clock[number] = 1
        self.lines = []
        self.held = []
        self.shared = None  # a read-write lock that it holds for reading
        self.ended = False
        self.indent = 1
        self.marked = False
        self.stack = []  # slots of cells in its frame

    def add(self, text):
        self.lines.append("    " * self.indent + text)
        self.lines.append("    " * self.indent + "turn_over();")


class Cell:
    """Eight bytes, or a part of an array of them: a base that is accessed as a union cell."""

    def __init__(self, base, policy, slot=None, count=1):
        self.base, self.policy, self.slot, self.count = base, policy, slot, count
        self.lock = None
        self.reads, self.writes = [], []  # (thread, its clock) so far
        self.alive = True
        self.freed_by = None


class Program:
    def __init__(self, seed):
        r = self.r = random.Random(seed)
        self.threads = [Thread(0, {})]
        self.cells = []
        self.globals = []
        self.slots = 0
        self.wild = r.choice([0, 0, 0.02, 0.05, 0.3])  # accesses that keep to nothing
        self.small = r.choice([0.1, 0.4, 0.8])  # parts of cells
        self.n_locks = r.randrange(1, 4)
        self.semaphores = [0, 0]
        self.flags = 0
        self.barriers = []
        self.onces = 0
        self.most = r.randrange(2, 7)
        self.marks = r.random() < 0.15
        for i in range(r.randrange(2, 8)):
            self.new_global()

    # ---- cells
    def policy(self):
        return self.r.choices(["handed", "locked", "atomic", "read-write", "free"], [10, 4, 2, 1, self.wild * 4])[0]

    def adopt(self, cell):
        cell.lock = self.r.randrange(self.n_locks)
        self.cells.append(cell)
        return cell

    def new_global(self):
        n = len(self.globals)
        count = self.r.choice([1, 1, 1, 2, 3])
        zero = self.r.random() < 0.5
        self.globals.append((n, count, [0 if zero else self.r.choice([1, 7, 255, 0x0102030405060708]) for _ in range(count)]))
        return self.adopt(Cell(f"g{n}", self.policy(), count=count))

    def lvalue(self, cell, size=None):
        i = self.r.randrange(cell.count)
        if self.r.random() < 0.03 and cell.count > 1 and size is None:
            kind, at = self.r.choice([("odd32", 6), ("odd64", 5), ("odd32", 5), ("odd64", 1)])
            return f"*({kind} *)((char *){cell.base} + {at})"
        parts = [p for p in PARTS if size in (None, p[1])]
        part = self.r.choice(parts) if self.r.random() < self.small or size else PARTS[0]
        return f"{cell.base}[{i}].{part[0]}"

    def ordered(self, thread, write, cell):
        """All that conflicts with it so far comes before it, by forks and joins alone."""
        before = cell.writes + (cell.reads if write else [])
        return all(thread.clock.get(t, 0) >= c for t, c in before)

    def note(self, thread, write, cell):
        (cell.writes if write else cell.reads).append((thread.number, thread.clock[thread.number]))

    def guard(self, cell):
        return f"if (got({cell.slot})) " if cell.slot is not None else ""

    def one_access(self, thread, cell, write, atomic=False):
        r = self.r
        guard, x = self.guard(cell), self.lvalue(cell)
        value = r.choice([0, 1, 1, 2, 3, r.randrange(1 << 16)])
        self.note(thread, write, cell)
        if atomic:
            if "odd" in x:
                x = self.lvalue(cell, 4)
            if not write:
                return thread.add(f"{guard}ATOMIC_READ({x});")
            return thread.add(guard + r.choice([f"ATOMIC_WRITE({x}, {value});", f"UPDATE({x}, {r.choice(UPDATES)}, {value});",
                                                f"UPDATE({x}, fetch_add, 1);", f"EXCHANGE_ZERO({x}, {value});"]))
        if not write:
            return thread.add(f"{guard}READ({x});")
        if r.random() < 0.15:
            return thread.add(f"{guard}FILL({cell.base}, {r.choice([0, 1, 255])}, {r.choice([8 * cell.count, 8, 4, 3, 12 if cell.count > 1 else 6])});")
        return thread.add(guard + r.choice([f"WRITE({x}, {value});", f"ADD({x}, 1);", f"WRITE({x}, {value});"]))

    def copy(self, thread, to, source):
        r, n = self.r, min(to.count, source.count)
        for cell, write in ((to, True), (source, False)):
            self.note(thread, write, cell)
        guard = self.guard(to) + self.guard(source)
        types = ["union cell"] + ["struct two"] * (n > 1) + ["struct three"] * (n > 2)
        if r.random() < 0.5:
            return thread.add(f"{guard}COPY({r.choice(types)}, {to.base}, {source.base});")
        if r.random() < 0.3 and source.count > 1:
            self.note(thread, True, source)
            return thread.add(f"{self.guard(source)}RANGE(memmove, (char *){source.base} + {r.randrange(5)}, {source.base}, 8);")
        return thread.add(f"{guard}RANGE(memcpy, {to.base}, {source.base}, {r.choice([8 * n, 8, 4, 3, 5])});")

    def access(self, thread):
        """Of a cell as its policy has it."""
        r = self.r
        for cell in r.sample(self.cells, len(self.cells)):
            write = r.random() < 0.55
            if not cell.alive and r.random() > self.wild:
                continue
            if r.random() < self.wild:
                return self.one_access(thread, cell, write, r.random() < 0.1)
            if cell.policy == "handed" and self.ordered(thread, write, cell):
                if write and r.random() < 0.15:
                    for source in r.sample(self.cells, len(self.cells)):
                        if source is not cell and source.alive and source.policy == "handed" and self.ordered(thread, True, source):
                            return self.copy(thread, cell, source)
                return self.one_access(thread, cell, write)
            if cell.policy == "free":
                return self.one_access(thread, cell, write)
            if cell.policy == "atomic":
                return self.one_access(thread, cell, write, r.random() > self.wild)
            if cell.policy == "locked" and not thread.held and not thread.shared:
                return self.section(thread, cell)
            if cell.policy == "locked" and cell.lock in thread.held:
                return self.one_access(thread, cell, write)
            if cell.policy == "read-write" and not thread.held and not thread.shared:
                kind = ("wrlock", "ACQUIRE") if write else ("rdlock", "ACQUIRE_SHARED")
                thread.add(f"SYNC(pthread_rwlock_{kind[0]}, {kind[1]}, rw);")
                self.one_access(thread, cell, write)
                return thread.add("SYNC(pthread_rwlock_unlock, RELEASE, rw);")

    def section(self, thread, cell):
        r, lock = self.r, f"m{cell.lock}"
        attempt, marked = r.random() < 0.1, self.marks and not thread.marked and r.random() < 0.4
        if marked:
            thread.add("MARK(FORETELL_ATOMIC_BEGIN, TX_BEGIN);")
        thread.add(f"if (TRY({lock})) {{" if attempt else f"SYNC(pthread_mutex_lock, ACQUIRE, {lock});")
        thread.indent += attempt
        thread.held.append(cell.lock)
        for _ in range(r.randrange(1, 4)):
            self.one_access(thread, cell, r.random() < 0.5)
            if r.random() < 0.2:
                self.access(thread)
            if r.random() < 0.06:
                self.fork(thread)
            if r.random() < 0.06:
                self.join(thread, lock)
        inner = [i for i in range(self.n_locks) if i not in thread.held and (i > cell.lock or r.random() < 0.2)]
        if inner and r.random() < 0.3:
            other = r.choice(inner)
            thread.add(f"SYNC(pthread_mutex_lock, ACQUIRE, m{other});")
            thread.held.append(other)
            self.access(thread)
            thread.held.pop()
            thread.add(f"SYNC(pthread_mutex_unlock, RELEASE, m{other});")
        thread.held.pop()
        thread.add(f"SYNC(pthread_mutex_unlock, RELEASE, {lock});")
        if attempt:
            thread.indent -= 1
            thread.add("}")
        if marked:
            thread.add("MARK(FORETELL_ATOMIC_END, TX_END);")

    # ---- memory
    def allocate(self, thread):
        r, slot, count = self.r, self.slots, self.r.choice([1, 2, 3, 4])
        if slot >= 24:
            return
        self.slots += 1
        zero = r.random() < 0.3
        thread.add(f"{'CALLOC' if zero else 'MALLOC'}({slot}, {8 * count});")
        cell = self.adopt(Cell(f"got({slot})", r.choice(["handed", "handed", "handed", self.policy()]), slot, count))
        if r.random() < 0.8:
            self.note(thread, True, cell)
            gap = (0, 3, 5)[slot % 3]  # what nobody writes: copies take it along
            thread.add(f"{self.guard(cell)}FILL(got({slot}), {r.choice([0, 1])}, {8 * count - gap});")

    def on_stack(self, thread):
        r, slot, count = self.r, self.slots, self.r.choice([1, 2])
        self.slots += 1
        thread.lines.insert(0, f"    union cell s{slot}[{count}];\n    ON_STACK({slot}, s{slot});")
        cell = self.adopt(Cell(f"got({slot})", r.choice(["handed", self.policy()]), slot, count))
        cell.stack = True
        thread.stack.append(slot)
        self.note(thread, True, cell)
        thread.lines.insert(1, f"    FILL(got({slot}), 1, {8 * count});")

    def release(self, thread):
        r = self.r
        heap = [c for c in self.cells if c.slot is not None and c.alive and not hasattr(c, "stack")]
        for cell in r.sample(heap, len(heap)):
            if self.ordered(thread, True, cell) or r.random() < self.wild:
                if r.random() < 0.1:
                    self.note(thread, True, cell)
                    return thread.add(f"REALLOC({cell.slot}, {8 * (cell.count + r.choice([0, 2, 6]))});")
                cell.alive = False
                return thread.add(f"FREE({cell.slot});")

    # ---- threads and synchronisation
    def fork(self, thread):
        if len(self.threads) > self.most:
            return
        for cell in self.r.sample(self.cells, min(2, len(self.cells))):  # initialised before
            if cell.policy == "handed" and cell.alive and self.ordered(thread, True, cell):
                self.one_access(thread, cell, True)
        child = Thread(len(self.threads), thread.clock)
        thread.clock[thread.number] += 1
        thread.add(f"FORK({child.number}, t{child.number});")
        self.threads.append(child)
        if self.r.random() < 0.3:
            self.on_stack(child)

    def join(self, thread, held=None):
        for child in self.r.sample(self.threads[1:], len(self.threads) - 1):
            grown = child.clock[child.number] > 0 and thread.clock.get(child.number, 0) == 0
            if child is thread or child.ended or not grown or child.held or any(held and held in line for line in child.lines):
                continue
            if child.number < thread.number and self.r.random() < 0.8:
                continue
            child.ended = True
            thread.add(f"JOIN({child.number});")
            for t, c in child.clock.items():
                thread.clock[t] = max(thread.clock.get(t, 0), c)
            for cell in self.r.sample(self.cells, min(2, len(self.cells))):  # read after it
                if cell.policy == "handed" and cell.alive and self.ordered(thread, False, cell):
                    self.one_access(thread, cell, False)
            return

    def post(self, thread):
        s = self.r.randrange(2)
        self.semaphores[s] += 1
        thread.add(f"SYNC(sem_post, POST, sem{s});")

    def wait(self, thread):
        for s in (0, 1):
            if self.semaphores[s]:
                self.semaphores[s] -= 1
                return thread.add(f"SYNC(sem_wait, WAIT, sem{s});")

    def handshake(self, thread):
        others = [t for t in self.threads if not t.ended and t is not thread and not t.held]
        if not others or self.flags == 2:
            return
        f, how = self.flags, self.r.choice(["signal, SIGNAL", "broadcast, BROADCAST"])
        self.flags += 1
        thread.add(f"NOTIFY(pthread_cond_{how}, c{f}, mc, f{f}[0].w[0]);")
        for other in self.r.sample(others, self.r.choice([1, 1, 2]) if len(others) > 1 and "broad" in how else 1):
            other.add(f"AWAIT(c{f}, mc, f{f}[0].w[0]);")

    def meet(self, thread):
        alive = [t for t in self.threads if not t.ended and not t.held]
        if len(alive) < 2 or len(self.barriers) == 2:
            return
        group = self.r.sample(alive, self.r.randrange(2, len(alive) + 1))
        self.barriers.append(len(group))
        for t in group:
            t.add(f"MEET(bar{len(self.barriers) - 1});")

    def once(self, thread):
        self.onces = 1
        thread.add("ONCE(once, initialise);")
        thread.add("READ(o[0].w[0]);")

    def make(self):
        r = self.r
        what = [(self.access, 30), (self.fork, 5), (self.join, 4), (self.allocate, 3), (self.release, 3), (self.post, 1),
                (self.wait, 1.5), (self.handshake, 0.7), (self.meet, 0.5), (self.once, 0.4)]
        for _ in range(r.randrange(20, 70)):
            thread = r.choice([t for t in self.threads if not t.ended])
            r.choices([w for w, _ in what], [n for _, n in what])[0](thread)
        main = self.threads[0]
        for child in self.threads[1:]:
            main.add(f"JOIN({child.number});")
            for t, c in child.clock.items():
                main.clock[t] = max(main.clock.get(t, 0), c)
        for _ in range(r.randrange(4)):
            r.choice([self.access, self.release])(main)

    def text(self):
        self.make()
        out = ['#include "account.h"\n']
        for n, count, values in self.globals:
            out.append(f"static union cell g{n}[{count}] = {{" + ", ".join(f"{{{{{v}u}}}}" for v in values) + "};")
        out.append("static union cell o[1], f0[1], f1[1];")
        out.append("static pthread_mutex_t mc = PTHREAD_MUTEX_INITIALIZER;")
        for i in range(self.n_locks):
            out.append(f"static pthread_mutex_t m{i} = PTHREAD_MUTEX_INITIALIZER;")
        out.append("static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;")
        out.append("static pthread_cond_t c0 = PTHREAD_COND_INITIALIZER, c1 = PTHREAD_COND_INITIALIZER;")
        out.append("static sem_t sem0, sem1;\nstatic pthread_barrier_t bar0, bar1;\nstatic pthread_once_t once = PTHREAD_ONCE_INIT;\n")
        out.append("static void initialise(void)\n{\n    int line = once_runs();\n    told(TOLD_ONCE_BEGIN, line, &once, 0, 0);\n"
                   "    WRITE(o[0].w[0], 5);\n    told(TOLD_ONCE_END, line, &once, 0, 0);\n}\n")
        for t in self.threads[1:]:
            out.append(f"static void *t{t.number}(void *);")
        for t in self.threads[1:]:
            out.append(f"static void *t{t.number}(void *unused)\n{{\n    begins({t.number}, __LINE__);")
            out.extend(t.lines)
            out.extend(f"    take({slot});" for slot in t.stack)
            out.append("    told(TOLD_END, __LINE__, 0, 0, 0);\n    return unused;\n}\n")
        out.append("int main(void)\n{\n    sem_init(&sem0, 0, 0);\n    sem_init(&sem1, 0, 0);")
        for i, n in enumerate(self.barriers):
            out.append(f"    pthread_barrier_init(&bar{i}, 0, {n});")
        out.append("    account_starts();")
        for name, count in [(f"g{n}", c) for n, c, _ in self.globals] + [("o", 1), ("f0", 1), ("f1", 1)]:
            out.append(f"    told(TOLD_GLOBAL, __LINE__, {name}, {8 * count}, 0);")
        for i, n in enumerate(self.barriers):
            out.append(f"    told(TOLD_GLOBAL, __LINE__, &bar{i}, 0, {n});")
        out.extend(self.threads[0].lines)
        out.append("    account_ends();\n    return 0;\n}")
        return "\n".join(out) + "\n"


if __name__ == "__main__":
    for seed in sys.argv[1:]:
        with open(f"{seed}.c", "w") as out:
            out.write(Program(int(seed)).text())
