#!/usr/bin/env python3
"""usage: tests/service/certificates.py BUILD [WORKERS...]

Jobs over covering schedules: each certificate is a subproblem, and what they come to is the answer of
the one process of `foretell cover`, with 1 and 2 workers, while workers are killed. A set that is taken
apart is refuted alike. Large sets go through, too large ones are refused with the limit, and a job that
is cancelled or out of time ends. With FT_TEST_POSTGRES the store is that database."""
import json
import random
import re
import shutil
import subprocess
import sys
import time

from subtrees import BIN, SEED, WORK, WORKERS, Daemon, need, torment

KINDS = ["check-cover", "check-schedule", "check-race", "check-deadlock", "check-order", "check-closed", "assertions", "divergence"]


def choosing(bits, rounds):
    """Each bit of the input decides whether a mutex is taken `rounds` times: 2 ** bits schedules."""
    objects = "".join(f"object @m{b} 40 align 8\n" for b in range(bits))
    blocks = ""
    for b in range(bits):
        sections = f"    lock @m{b}\n    unlock @m{b}\n" * rounds
        blocks += (f"  bit{b}:\n    %s{b} = lshr i16 %x, {b}\n    %b{b} = and i16 %s{b}, 1\n    %c{b} = eq i16 %b{b}, 1\n"
                   f"    branch %c{b}, take{b}, bit{b + 1}\n  take{b}:\n{sections}    jump bit{b + 1}\n")
    return (f'program 1\n{objects}function @main() -> i32 {{\n  start:\n    %x = input "x" i16\n    jump bit0\n{blocks}'
            f"  bit{bits}:\n    return i32 0\n}}\n")


THREADS = """program 1
object @m 40 align 8
object @n 4 align 4
function @t(%a: i64) -> i64 {
  b:
    lock @m
    %v = load i32 @n
    %w = add i32 %v, 1
    store i32 %w, @n
    unlock @m
    return i64 0
}
function @main() -> i32 {
  b:
    %x = input "x" i8
    %t = create @t, 0
    %c = ult i8 %x, 10
    branch %c, low, high
  low:
    lock @m
    %v = load i32 @n
    unlock @m
    jump done
  high:
    %w = load i32 @n
    jump done
  done:
    join %t
    %k = load i32 @n
    %g = eq i32 %k, 1
    assert "one" %g
    return i32 0
}
"""


LOOP = """program 1
object @m 40 align 8
object @n 4 align 4
function @main() -> i32 {
  b:
    %x = input "x" i8
    jump head
  head:
    lock @m
    %v = load i32 @n
    %w = add i32 %v, 1
    store i32 %w, @n
    unlock @m
    %more = input "more" i1
    branch %more, head, done
  done:
    return i32 0
}
"""  # an epoch for each round


def of_process(text, question):
    """What the command says; a question is its options."""
    (WORK / "case.program").write_text(text)
    words = [] if question.get("prefix", True) else ["--no-prefix"]
    if "set" in question:
        (WORK / "case.set").write_text(question["set"])
        words += ["--check", WORK / "case.set"]
    done = subprocess.run([BIN / "foretell", "cover", "--json", *words, WORK / "case.program"], text=True, capture_output=True)
    need(done.returncode in (0, 1, 3), done.stderr)
    return json.loads(done.stdout)


def plain(answer):
    """Without the inputs that a solver was free to choose, and its times."""
    answer = json.loads(json.dumps(answer))
    answer.pop("program", None)  # a job's report names it
    for failed in answer["failed"]:
        failed["inputs"] = sorted(failed.get("inputs", {}))
        failed.pop("witness", None)  # a job's findings have them
        for read in failed.get("run", []):
            read["value"] = None
    return answer


def submit(daemon, text, question, **members):
    return daemon.submit(text, kind="cover", cover=question, **members)


def report_of(daemon, job):
    return daemon.call("GET", f"/v1/jobs/{job}/findings?limit=1000")[1]


def answer_of(report):
    return json.loads(next(n["text"] for n in report["notes"] if n["code"] == "cover-answer"))


def counted(report):
    counts = report["checks"]["certificate"]
    need(counts["candidates"] == sum(counts[v] for v in ("violation", "safe", "bounded", "unknown", "error")), counts)
    return counts


def of_case(name, text, question, workers, kills, draw):
    want = of_process(text, question)
    with Daemon(workers, 10) as daemon:
        job = submit(daemon, text, question)
        killed = torment(daemon, job, draw, kills)
        snapshot = daemon.ended(job)
        need(snapshot["state"] == "done", snapshot)
        report = report_of(daemon, job)
        got, counts = answer_of(report), counted(report)
        findings = daemon.call("GET", f"/v1/jobs/{job}/findings?limit=1000&witness=1")[1]["findings"]
    shown = [sum("witness" in f for f in found) for found in (want["failed"], findings)]
    need(shown[0] == shown[1], f"{name}: witnesses:", shown, findings)
    need(plain(got) == plain(want), f"{name}, {workers} workers, {killed} killed:", got, want)
    need(counts["candidates"] == sum(row["asked"] for row in want["checks"]), counts, want["checks"])
    refuted = [f for f in want["failed"] if f["answer"] == "refuted"]
    need(counts["violation"] == len(refuted), counts, refuted)
    prints = {f["fingerprint"] for f in report["findings"]}
    need(all(re.fullmatch("[0-9a-f]{16}", p) for p in prints) and len(report["findings"]) == len(refuted), report["findings"])
    print(f"{name}: {workers} workers, {killed} killed, {counts}")
    return want


def of_sets(draw):
    whole = of_process(choosing(3, 2), {"prefix": False})
    need(whole["proved"] and whole["counts"]["schedules"] == 8 and [r["check"] for r in whole["checks"]] == KINDS, whole)
    partial = {"prefix": False, "set": re.sub(r"take s3\b", "none", whole["set"])}
    loose = {"set": re.sub(r" after .*", "", of_process(THREADS, {})["set"])}
    cases = [("choosing", choosing(3, 2), {"prefix": False}), ("threads", THREADS, {}),
             ("partial", choosing(3, 2), partial), ("loose", THREADS, loose), ("epochs", LOOP, {}),
             ("both", THREADS, {"set": re.sub(r"take s1\b", "none", loose["set"])})]
    refuted = set()
    for name, text, question in cases:
        for workers in WORKERS:
            want = of_case(name, text, question, workers, 0, draw)
        of_case(name, text, question, 2, 4, draw)
        refuted |= {f["check"] for f in want["failed"] if f["answer"] == "refuted"}
    need({"check-cover", "check-race", "check-order"} <= refuted, refuted)


def of_large(draw):
    """A set of some megabytes, found and given; progress while it is certified."""
    text = choosing(3, 3400)
    with Daemon(2, 100) as daemon:
        job = submit(daemon, text, {"prefix": False})
        opens, report = set(), None
        while daemon.look(job)["state"] in ("queued", "planning", "solving"):
            opens.add(daemon.look(job)["progress"]["open"])
            time.sleep(0.02)
        report = report_of(daemon, job)
        answer = answer_of(report)
        need(len(answer["set"]) > 5 << 19 and answer["proved"], len(answer["set"]), answer["checks"], answer["failed"][:3])
        need(len(opens) > 2, "no progress is shown:", opens)
        again = submit(daemon, text, {"prefix": False, "set": answer["set"]})
        need(daemon.ended(again)["state"] == "done")
        need(answer_of(report_of(daemon, again))["proved"])
        print(f"large: {len(answer['set'])} bytes, {counted(report)['candidates']} certificates")


def of_words(draw):
    """Reports for people have the answer in words, not as JSON; machines have it."""
    with Daemon(1, 100) as daemon:
        job = submit(daemon, choosing(1, 1), {"prefix": False})
        need(daemon.ended(job)["state"] == "done")
        for name in "text", "html":
            text = daemon.call("GET", f"/v1/jobs/{job}/report?format={name}")[1].decode()
            need("check-cover: proved" in text and "schedules 1" not in text, text)
        need("schedules 1" in answer_of(report_of(daemon, job))["set"])


def of_limit(draw):
    """Beyond the limits: the set that a search finds, and one that is given."""
    with Daemon(1, 100) as daemon:
        job = submit(daemon, choosing(5, 1200), {"prefix": False})
        snapshot = daemon.ended(job)
        need(snapshot["state"] == "failed" and "a job's has 6291456 at most" in json.dumps(snapshot["error"]), snapshot)
        body = {"program": "0" * 64, "kind": "cover", "cover": {"set": "; too long\n" * 400000}}
        status, problem = daemon.call("POST", "/v1/jobs", json.dumps(body))
        need(status == 413 and "the limit is" in problem["detail"], status, problem)
        need(daemon.call("GET", "/ready")[0] == 200)


def of_cancelled(draw):
    """Its workers are free again, and nothing of it is left."""
    with Daemon(2, 100) as daemon:
        job = submit(daemon, choosing(7, 100), {"prefix": False})
        while daemon.look(job)["state"] in ("queued", "planning"):
            time.sleep(0.02)
        need(daemon.call("DELETE", f"/v1/jobs/{job}")[0] in (200, 202, 204))
        need(daemon.ended(job)["state"] == "cancelled")
        need(daemon.ended(submit(daemon, THREADS, {}))["state"] == "done")
        need(not daemon.busy(job), "a worker is at a job that was cancelled")


def of_time(draw):
    """Out of time: what was not answered is unknown, for that reason."""
    with Daemon(1, 100) as daemon:
        job = submit(daemon, choosing(7, 100), {"prefix": False}, budget={"job_ms": 1500})
        snapshot = daemon.ended(job)
        need(snapshot["state"] == "done", snapshot)
        report = report_of(daemon, job)
        answer = answer_of(report)
        need(not answer["proved"], answer["checks"])
        need(counted(report)["unknown"] + (answer.get("counts", {}).get("open", 0)) > 0, report["checks"], answer["checks"])
        need(all(f["answer"] != "unknown" or f["text"] for f in answer["failed"]), answer["failed"][:3])


def main():
    draw = random.Random(SEED)
    try:
        for test in (of_sets, of_words, of_large, of_limit, of_cancelled, of_time):
            began = time.monotonic()
            test(draw)
            print(f"{test.__name__[3:]}: good, {time.monotonic() - began:.1f} s")
    finally:
        shutil.rmtree(WORK, ignore_errors=True)


main()
