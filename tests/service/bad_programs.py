#!/usr/bin/env python3
"""usage: tests/service/bad_programs.py BUILD

Programs that are cut short, ill-typed or too large are refused with the place of the mistake; programs
without an end, with sizes that inputs decide, with any number of threads or branches end within the
time, and never as safe. All of them at one server, which lives, and which afterwards still answers
rightly and has lost nothing."""
import json
import os
import random
import sys
import time

sys.argv = sys.argv[:2]
from subtrees import BIN, CASES, WORK, Daemon, need, outcome, shutil  # noqa: E402

DRAW = random.Random(int(os.environ.get("FT_SEED_START", "1")))
GOOD = CASES["lost update"][0]
MS = 4000


def main_of(body, objects="", functions=""):
    return f"program 1\n{objects}{functions}function @main() -> i32 {{\n  start:\n{body}}}\n"


def thread(body):
    return f"function @f(%a: i64) -> i64 {{\n  start:\n{body}    return i64 0\n}}\n"


# The text, and the place of its mistake: the line, or words of the answer.
REFUSED = {
    "nothing": ("", None),
    "another language": ("int main(void) { return 0; }\n", 1),
    "no main": ("program 1\nobject @n 4 align 4\n", None),
    "unknown instruction": (main_of("    frobnicate 1\n    return i32 0\n"), 4),
    "unknown register": (main_of("    %x = add i32 %y, 1\n    return i32 0\n"), 4),
    "widths that differ": (main_of("    %x = add i32 1, 2\n    %y = add i64 %x, 1\n    return i32 0\n"), "@main, block start"),
    "a register before it is set": (main_of("    jump b\n  b:\n    %x = add i32 %y, 1\n    jump c\n  c:\n"
                                            "    %y = add i32 1, 1\n    return i32 0\n"), None),
    "a block without an end": (main_of("    %x = add i32 1, 2\n"), None),
    "a jump to nowhere": (main_of("    jump nowhere\n"), 4),
    "a call with a wrong argument": (main_of("    call @f(1)\n    return i32 0\n",
                                             functions="function @f() {\n  start:\n    return\n}\n"), None),
    "a wrong result": (main_of("    return i64 0\n"), None),
    "two of a name": ("program 1\nobject @n 4 align 4\nobject @n 4 align 4\n" + main_of("    return i32 0\n")[10:], 3),
    "a width of 65": (main_of("    %x = add i65 1, 2\n    return i32 0\n"), 4),
    "an object of 2^40 bytes": (f"program 1\nobject @n {1 << 40} align 4\n" + main_of("    return i32 0\n")[10:], 2),
    "an alignment of 3": ("program 1\nobject @n 4 align 3\n" + main_of("    return i32 0\n")[10:], "power of two"),
    "bytes that are not text": ("program 1\nobject @\udcff\udcfe 4 align 4\n", None),
}

SECTION = "    lock @m\n    unlock @m\n"
MUTEX = "object @m 40 align 8\n"

# Programs that a search cannot end, or only just.
ENDLESS = {
    "a loop": main_of("    jump again\n  again:\n    jump again\n"),
    "a loop over a lock": main_of("    jump again\n  again:\n" + SECTION + "    jump again\n", MUTEX),
    "functions that call each other": main_of("    call @f()\n    return i32 0\n", functions="function @f() {\n  start:\n"
                                              "    call @g()\n    return\n}\nfunction @g() {\n  start:\n    call @f()\n    return\n}\n"),
    "any number of threads": main_of("    jump again\n  again:\n    %t = create @f, 0\n    jump again\n", functions=thread("")),
    "threads that make threads": main_of("    %t = create @f, 0\n    return i32 0\n", functions=thread("    %t = create @f, 0\n"
                                         "    %u = create @f, 0\n    join %t\n    join %u\n")),
    "a size by an input": main_of('    %n = input "n" i64\n    %p = alloc %n\n    %small = ult i64 %n, 1000000\n    assume %small\n'
                                  "    %q = sub i64 %n, 1\n    %last = add i64 %p, %q\n    store i8 1, %last\n    free %p\n    return i32 0\n"),
    "a million branches": main_of('    jump again(i32 0)\n  again(%i: i32):\n    %x = input "x" i1\n    branch %x, more, more\n  more:\n'
                                  "    %k = add i32 %i, 1\n    %go = ult i32 %k, 1000000\n    branch %go, again(%k), done\n  done:\n    return i32 0\n"),
    "branches of two kinds": main_of('    jump again(i32 0)\n  again(%i: i32):\n    %x = input "x" i32\n    %c = ult i32 %x, %i\n'
                                     "    branch %c, low, high\n  low:\n    jump more\n  high:\n    jump more\n  more:\n"
                                     "    %k = add i32 %i, 1\n    %go = ult i32 %k, 1000000\n    branch %go, again(%k), done\n  done:\n    return i32 0\n"),
    "memory without an end": main_of("    jump again\n  again:\n    %p = alloc 1000000\n    store i8 1, %p\n    jump again\n"),
    "a schedule of many": main_of("".join(f"    %t{i} = create @f, 0\n" for i in range(40)) + "    return i32 0\n", MUTEX,
                                  thread(SECTION * 200)),
    "a hard equation": main_of('    %x = input "x" i64\n    %y = input "y" i64\n    %z = mul i64 %x, %y\n    %w = mul i64 %z, %z\n'
                               "    %v = urem i64 %w, 1000000007\n    %u = xor i64 %v, %x\n    %t = mul i64 %u, %u\n    %c = eq i64 %t, 4611686014132420609\n"
                               "    %big = ult i64 1000000, %x\n    assume %big\n    branch %c, yes, no\n  yes:\n    return i32 0\n  no:\n    return i32 0\n"),
}


def huge():
    """Many functions: it is read, or refused, in time."""
    many = "".join(f"function @f{i}(%a: i64) -> i64 {{\n  start:\n    %x = add i64 %a, {i}\n    return %x\n}}\n" for i in range(30000))
    return main_of("    %x = call i64 @f29999(i64 1)\n    return i32 0\n", functions=many)


def upload(daemon, text):
    return daemon.call("POST", "/v1/programs", text if isinstance(text, bytes) else text.encode("utf-8", "surrogateescape"))


def refused(daemon, what, text, where=None):
    status, answer = upload(daemon, text)
    need(status in (400, 413, 422), what, status, answer)
    need(answer.get("detail") and "code" in answer, what, answer)
    need(where is None or answer.get("line") == where or str(where) in answer["detail"], what, answer)
    need(daemon.call("GET", "/ready")[0] == 200, what, "the server is gone")


def of_refused(daemon):
    for what, (text, where) in REFUSED.items():
        refused(daemon, what, text, where)


def of_cut(daemon):
    """Text and binary, cut short at any place, and with a byte changed: refused, or a program."""
    status, meta = upload(daemon, GOOD)
    need(status in (200, 201), meta)
    binary = daemon.call("GET", f"/v1/programs/{meta['trace']}/content")[1]
    for form in (GOOD.encode(), binary):
        for _ in range(12):
            refused(daemon, "cut short", form[:DRAW.randrange(len(form) - 2)])
        for _ in range(12):
            at = DRAW.randrange(len(form))
            changed = form[:at] + bytes([form[at] ^ 1 << DRAW.randrange(8)]) + form[at + 1:]
            status, answer = upload(daemon, changed)
            need(status in (200, 201, 400), status, answer)
            need(status != 400 or answer.get("detail"), answer)


def start(daemon, text):
    status, meta = upload(daemon, text)
    need(status in (200, 201), status, meta)
    status, job = daemon.call("POST", "/v1/jobs", json.dumps({"program": meta["trace"], "budget": {"job_ms": MS}}))
    need(status == 202, status, job)
    return job["job"]


def of_endless(daemon):
    jobs = {what: start(daemon, text) for what, text in ENDLESS.items()}
    for what, job in jobs.items():
        snapshot = daemon.ended(job)
        need(snapshot["state"] == "done", what, snapshot["error"], snapshot.get("deaths"))
        counts = snapshot["checks"].values()
        need(all(c["candidates"] == sum(c[v] for v in ("violation", "safe", "bounded", "unknown", "error")) for c in counts), what, counts)
        found = any(c["violation"] for c in counts)  # a live-lock, an access out of bounds, ...
        need(what == "a hard equation" or found or all(c["safe"] == 0 for c in counts), what, snapshot["checks"])
        need(all(c["error"] == 0 for c in counts), what, snapshot["checks"], snapshot.get("deaths"))
        need(daemon.call("GET", f"/v1/jobs/{job}/findings")[0] == 200, what)


def main():
    try:
        with Daemon(2, 300) as daemon:
            before = time.monotonic()
            for test in (of_refused, of_cut, of_endless):
                test(daemon)
                print(f"{test.__name__[3:]}: good, {time.monotonic() - before:.1f} s")
            job = start(daemon, huge())
            need(daemon.ended(job)["state"] == "done", "huge")
            (WORK / "case.program").write_text(GOOD)
            _, got = outcome(daemon, start(daemon, GOOD))
            need(got["checks"]["assertion"]["violation"] == 1 and got["checks"]["deadlock"]["safe"] == 1, got)
            need((BIN / "foretelld").exists())
    finally:
        shutil.rmtree(WORK, ignore_errors=True)


if __name__ == "__main__":
    main()
