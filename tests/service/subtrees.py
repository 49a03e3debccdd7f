#!/usr/bin/env python3
"""usage: tests/service/subtrees.py BUILD [WORKERS...]

Explorations that several workers share: the verdicts, the findings and the number of classes are those
of one search, with 1, 2 and 8 workers, while workers and the server are killed. The numbers of classes
are multinomial coefficients. With FT_TEST_POSTGRES the store is that database. FT_SEED_START chooses
who is killed."""
import http.client
import json
import math
import os
import pathlib
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

BIN = pathlib.Path(sys.argv[1]).resolve() / "bin"
WORKERS = [int(n) for n in sys.argv[2:]] or [1, 2, 8]
WORK = pathlib.Path(tempfile.mkdtemp(prefix="foretell-subtrees-"))
SEED = int(os.environ.get("FT_SEED_START", "1"))
CHECKS = ["race", "assertion", "lock", "deadlock", "order", "failure"]


def need(good, *what):
    if not good:
        raise AssertionError(f"seed {SEED}: " + " ".join(str(w) for w in what)[:3000])


# ---- Programs ------------------------------------------------------------------------------------


def program(threads, body, end="", arguments=None):
    made = "".join(f"    %t{i} = create @f{i}, 0\n" for i in range(threads))
    joined = "".join(f"    join %t{i}\n" for i in range(threads))
    return ("program 1\nobject @m 40 align 8\nobject @n 4 align 4\nobject @k 4 align 4\n" + "".join(
        f"function @f{i}(%argument: i64) -> i64 {{\n  start:\n{body(i)}    return i64 0\n}}\n" for i in range(threads))
        + f"function @main() -> i32 {{\n  start:\n{made}{joined}{end}    return i32 0\n}}\n")


def sections(n, plain=False):
    """n sections that add one to @n; not plain: each in two, so that an addition can be lost."""
    between = "" if plain else "    unlock @m\n    lock @m\n"
    return lambda t: "".join(f"    lock @m\n    %old{i} = load i32 @n\n{between}    %new{i} = add i32 %old{i}, 1\n"
                             f"    store i32 %new{i}, @n\n    unlock @m\n" for i in range(n))


def is_sum(n):
    return f'    %n = load i32 @n\n    %good = eq i32 %n, {n}\n    assert "the sum" %good\n'


def choosing(t):
    """A section whose content an input decides."""
    return (f'    %x{t} = input "x{t}" i8\n    %c{t} = ult i8 %x{t}, {3 + t}\n    branch %c{t}, low, high\n  low:\n'
            "    lock @m\n    %a = load i32 @n\n    %b = add i32 %a, 1\n    store i32 %b, @n\n    unlock @m\n    jump done\n"
            "  high:\n    lock @m\n    unlock @m\n    jump done\n  done:\n    lock @m\n    unlock @m\n")


def racing(t):
    """A plain addition beside the lock: a data race, and a lost update behind it."""
    return sections(1, True)(t) + ("    %p = load i32 @k\n    %q = add i32 %p, 1\n    store i32 %q, @k\n" if t < 2 else "")


def multinomial(threads, n):
    return math.factorial(threads * n) // math.factorial(n) ** threads


# Text, the number of classes (None: it is not known by hand), kinds of findings.
CASES = {
    "locks": (program(3, sections(3, True), is_sum(9)), multinomial(3, 3), []),
    "lost update": (program(3, sections(1), is_sum(3)), multinomial(3, 2), ["assertion"]),
    "inputs": (program(3, choosing), 8 * multinomial(3, 2), []),
    "race": (program(3, racing, '    %k = load i32 @k\n    %both = eq i32 %k, 2\n    assert "both" %both\n'), None,
             ["assertion", "race"]),
}


# ---- The server ----------------------------------------------------------------------------------


class Daemon:
    def __init__(self, workers, explore_ms):
        self.folder = pathlib.Path(tempfile.mkdtemp(dir=WORK))
        self.words = ["--listen=", "--workers", str(workers), "--explore-ms", str(explore_ms), "--retry-ms", "10", "--lease-ms", "5000"]
        self.start()

    def start(self):
        self.socket = str(self.folder / "socket")
        store = os.environ.get("FT_TEST_POSTGRES")
        words = self.words + (["--store", store] if store else [])
        self.process = subprocess.Popen([BIN / "foretelld", "--state", self.folder / "state", "--socket", self.socket, *words],
                                        stdout=subprocess.DEVNULL, stderr=open(self.folder / "log", "a"))
        until = time.monotonic() + 120
        while time.monotonic() < until:
            try:
                if self.call("GET", "/ready")[0] == 200:
                    return
            except OSError:
                pass
            need(self.process.poll() is None, "the daemon ended", (self.folder / "log").read_text())
            time.sleep(0.05)
        raise AssertionError("the daemon is not ready")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        need(self.process.wait(60) == 0, (self.folder / "log").read_text())
        if os.environ.get("FT_TEST_POSTGRES"):
            return
        sound = subprocess.run([BIN / "foretelld", "--state", self.folder / "state", "--check-database"], text=True,
                               capture_output=True)
        need(sound.returncode == 0, sound.stderr)

    def kill(self):
        self.process.kill()
        self.process.wait()

    def call(self, method, path, body=None, **headers):
        connection = http.client.HTTPConnection("localhost", timeout=120)
        connection.sock = socket.socket(socket.AF_UNIX)
        connection.sock.settimeout(120)
        connection.sock.connect(self.socket)
        kind = "application/json" if path == "/v1/jobs" else "application/octet-stream"
        connection.request(method, path, body, {"Content-Type": kind, **headers})
        answer = connection.getresponse()
        text = answer.read()
        connection.close()
        return answer.status, json.loads(text) if text[:1] == b"{" else text

    def submit(self, text, **members):
        status, meta = self.call("POST", "/v1/programs", text.encode())
        need(status in (200, 201), status, meta)
        status, job = self.call("POST", "/v1/jobs", json.dumps({"program": meta["trace"], **members}))
        need(status == 202, status, job)
        return job["job"]

    def look(self, job):
        return self.call("GET", f"/v1/jobs/{job}")[1]

    def ended(self, job):
        until = time.monotonic() + 150
        while time.monotonic() < until:
            snapshot = self.call("GET", f"/v1/jobs/{job}", Prefer="wait=10")[1]
            if snapshot["state"] in ("done", "failed", "cancelled"):
                return snapshot
        raise AssertionError(f"the job does not end: {snapshot}")

    def busy(self, job):
        return [w["pid"] for w in self.call("GET", "/v1/workers")[1]["workers"] if w["job"] == job and w["pid"]]


# ---- What has to be the same ---------------------------------------------------------------------


def outcome(daemon, job):
    """Verdicts, fingerprints of findings, and the word for the rest."""
    snapshot = daemon.ended(job)
    need(snapshot["state"] == "done", snapshot["error"], snapshot.get("deaths"))
    report = daemon.call("GET", f"/v1/jobs/{job}/findings")[1]
    for counts in snapshot["checks"].values():
        need(counts["candidates"] == sum(counts[v] for v in ("violation", "safe", "bounded", "unknown", "error")), counts)
    found = sorted((f["check"], f["fingerprint"]) for f in report["findings"])
    for finding in report["findings"]:
        verified(daemon, finding)
    return snapshot, {"checks": snapshot["checks"], "found": found, "word": report["notes"][0]["text"]}


def verified(daemon, finding):
    path = WORK / "witness.json"
    path.write_text(json.dumps(daemon.call("GET", f"/v1/findings/{finding['finding']}/witness")[1]))
    done = subprocess.run([BIN / "foretell", "verify", path, WORK / "case.program"], text=True, capture_output=True)
    need(done.returncode == 0, finding["message"], done.stdout, done.stderr)


def torment(daemon, job, draw, kills):
    """Kills workers that are at the job, until it ends."""
    killed = 0
    while killed < kills and daemon.look(job)["state"] in ("queued", "planning", "solving"):
        pids = daemon.busy(job)
        if pids and draw.random() < 0.5:
            try:
                os.kill(draw.choice(pids), signal.SIGKILL)
                killed += 1
            except ProcessLookupError:
                pass
        time.sleep(draw.random() * 0.05)
    return killed


def of_case(name, workers, draw):
    text, classes, kinds = CASES[name]
    (WORK / "case.program").write_text(text)
    with Daemon(1, 0) as daemon:
        _, want = outcome(daemon, daemon.submit(text))
    need(sorted({check for check, _ in want["found"]}) == kinds, want)
    need(all(c["safe"] == 1 for c in want["checks"].values()), want)
    need(classes is None or f"({classes:,})" in want["word"], classes, want)
    for n in workers:
        with Daemon(n, 10) as daemon:
            job = daemon.submit(text)
            killed = torment(daemon, job, draw, 6)
            snapshot, got = outcome(daemon, job)
            need(got == want, f"{n} workers, {killed} killed:", got, want)
            print(f"{name}: {n} workers, {killed} killed, {snapshot['explored']}")


def of_restart(draw):
    """The server is killed, too: it goes on with what is committed."""
    text, classes, _ = CASES["locks"]
    with Daemon(2, 20) as daemon:
        job = daemon.submit(text)
        for _ in range(3):
            time.sleep(draw.random() * 0.5)
            daemon.kill()
            daemon.start()
        _, got = outcome(daemon, job)
        need(f"({classes:,})" in got["word"] and all(c["safe"] == 1 for c in got["checks"].values()), got)


def of_cancelled(draw):
    """A job that is cancelled while it is shared out leaves nothing behind."""
    with Daemon(2, 20) as daemon:
        job = daemon.submit(program(4, sections(3, True)))
        while not daemon.look(job).get("explored"):
            time.sleep(0.05)
        need(daemon.call("DELETE", f"/v1/jobs/{job}")[0] in (200, 202, 204))
        need(daemon.ended(job)["state"] == "cancelled")
        text = CASES["lost update"][0]
        (WORK / "case.program").write_text(text)
        outcome(daemon, daemon.submit(text))


def of_nodes(draw):
    """Two nodes over one database share an exploration, and one of them is killed."""
    if not os.environ.get("FT_TEST_POSTGRES"):
        return
    text, classes = program(3, sections(4, True), is_sum(12)), multinomial(3, 4)
    with Daemon(1, 100) as one, Daemon(1, 100) as other:
        job = one.submit(text)
        took = 0
        while not took and one.look(job)["state"] in ("queued", "planning", "solving"):
            took = len(other.busy(job))
        need(took, "the other node took no part")
        torment(other, job, draw, 1)
        one.kill()
        _, got = outcome(other, job)
        need(f"({classes:,})" in got["word"] and all(c["safe"] == 1 for c in got["checks"].values()), got)
        one.start()


def of_time(draw):
    """A job that runs out of time says how far it came, and is not called safe; one without any, too."""
    for ms in (3000, 1):
        with Daemon(2, 100) as daemon:
            snapshot, got = outcome(daemon, daemon.submit(program(4, sections(5, True)), budget={"job_ms": ms}))
            need(all(c["unknown"] == 1 and c["safe"] == 0 for c in got["checks"].values()), got)
            need("the time ran out" in got["word"], got)


def main():
    draw = random.Random(SEED)
    try:
        for name in [c for c in CASES if not os.environ.get("FT_CASE") or c == os.environ["FT_CASE"]]:
            of_case(name, WORKERS, draw)
        for test in (of_restart, of_cancelled, of_nodes, of_time):
            test(draw)
            print(f"{test.__name__[3:]}: good")
    finally:
        shutil.rmtree(WORK, ignore_errors=True)


if __name__ == "__main__":
    main()
