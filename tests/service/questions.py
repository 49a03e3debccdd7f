#!/usr/bin/env python3
"""usage: tests/service/questions.py BUILD

Jobs that ask about a program, of the kinds context and cover: the answer is among the notes of the
report, and a question that names the wrong thing is refused, by the server or by the worker, with
the member, the place or the line."""
import http.client
import json
import pathlib
import re
import socket
import subprocess
import sys
import tempfile
import time

BIN = pathlib.Path(sys.argv[1]).resolve() / "bin"
WORK = pathlib.Path(tempfile.mkdtemp(prefix="foretell-questions-"))

PROGRAM = """program 1
object @l 40 align 8
function @t(%a: i64) -> i64 {
  b:
    lock @l
    yield
    unlock @l
    return i64 0
}
function @main() -> i32 {
  b:
    %t = create @t, 0
    %u = create @t, 0
    return i32 0
}
"""


CHOOSING = """program 1
object @l 40 align 8
object @m 40 align 8
function @main() -> i32 {
  b:
    %x = input "x" i1
    lock @l
    unlock @l
    branch %x, more, done
  more:
    lock @m
    unlock @m
    jump done
  done:
    return i32 0
}
"""


def call(method, path, body=None, **headers):
    connection = http.client.HTTPConnection("localhost", timeout=60)
    connection.sock = socket.socket(socket.AF_UNIX)
    connection.sock.settimeout(60)
    connection.sock.connect(str(WORK / "socket"))
    kind = "application/json" if path == "/v1/jobs" else "application/octet-stream"
    connection.request(method, path, body, {"Content-Type": kind, **headers})
    answer = connection.getresponse()
    text = answer.read()
    connection.close()
    return answer.status, json.loads(text) if text[:1] == b"{" else text


def submit(program, kind, question):
    return call("POST", "/v1/jobs", json.dumps({"program": program, "kind": kind, kind: question}))


def ended(job):
    for _ in range(60):
        snapshot = call("GET", f"/v1/jobs/{job}", Prefer="wait=10")[1]
        if snapshot["state"] in ("done", "failed", "cancelled"):
            return snapshot
    raise AssertionError(snapshot)


def answer_of(program, kind, question):
    status, job = submit(program, kind, question)
    assert status == 202, job
    snapshot = ended(job["job"])
    assert snapshot["state"] == "done", snapshot
    notes = call("GET", f"/v1/jobs/{job['job']}/findings")[1]["notes"]
    assert notes[0]["code"] == kind, notes
    return json.loads(next(n["text"] for n in notes if n["code"] == f"{kind}-answer"))


def refused(program, kind, question, member):
    status, problem = submit(program, kind, question)
    assert status in (400, 422) and member in json.dumps(problem), problem


def failed(program, kind, question, text):
    status, job = submit(program, kind, question)
    assert status == 202, job
    snapshot = ended(job["job"])
    assert snapshot["state"] == "failed" and text in json.dumps(snapshot), snapshot


def uploaded(text):
    status, meta = call("POST", "/v1/programs", text.encode())
    assert status in (200, 201), meta
    return meta["trace"]


def at(*places, **more):
    return {"threads": [{"name": name, "at": place} for name, place in places], **more}


def ask_contexts():
    program = uploaded(PROGRAM)
    never = answer_of(program, "context", at(("A", "@t:1"), ("B", "@t:1")))
    assert never["together"] == "never" and "no data race" in never["assuming"], never
    both = answer_of(program, "context", at(("A", "@t:1"), ("B", "@t:0"), steps=2))
    assert both["together"] == "reached" and both["every_order"]["paths"] > 0, both
    refused(program, "context", {"threads": [{"name": "A", "at": "@t:1", "read": "woken"}]}, "/context/threads/0")
    refused(program, "context", {"steps": 1}, "/context")
    failed(program, "context", at(("A", "@none:1")), "@none:1")


def states(answer):
    return {row["check"]: row["answer"] for row in answer["checks"]}


def ask_covers():
    """The program locks m or not, by its input: two schedules where none may end as a prefix of the
    other. A set that leaves one out is refuted."""
    program = uploaded(CHOOSING)
    answer = answer_of(program, "cover", {"smt": True, "prefix": False})
    assert answer["proved"] and answer["counts"]["schedules"] == 2, answer
    assert "check-cover.smt2" in answer["smt"], answer["smt"].keys()
    again = answer_of(program, "cover", {"prefix": False, "set": answer["set"]})
    assert again["proved"] and "counts" not in again, again
    assert states(again) == states(answer)
    partial = answer_of(program, "cover", {"prefix": False, "set": re.sub(r"take s2\b", "none", answer["set"])})
    assert not partial["proved"] and states(partial)["check-cover"] == "refuted", states(partial)
    assert states(answer)["assertions"] == "proved" and states(partial)["assertions"] == "unknown", states(partial)
    few = answer_of(program, "cover", {"prefix": False, "entries": 1})
    assert not few["proved"] and few["counts"]["open"] > 0, few
    refused(program, "cover", {"order": "random"}, "/cover/order")
    refused(program, "cover", {"prefixes": True}, "/cover/prefixes")
    failed(program, "cover", {"set": answer["set"].replace("take s2", "take s9")}, "s9")
    failed(program, "cover", {"set": "schedules 1\nnonsense\n"}, "line 2")


def run():
    ask_contexts()
    ask_covers()


def main():
    daemon = subprocess.Popen([BIN / "foretelld", "--listen=", "--socket", WORK / "socket", "--state", WORK / "state"],
                              stdout=subprocess.DEVNULL, stderr=(WORK / "log").open("w"))
    try:
        for _ in range(600):
            try:
                if call("GET", "/ready")[0] == 200:
                    break
            except OSError:
                pass
            assert daemon.poll() is None, (WORK / "log").read_text()
            time.sleep(0.05)
        run()
    finally:
        daemon.terminate()
        daemon.wait(60)


main()
