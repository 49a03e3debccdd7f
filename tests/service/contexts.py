#!/usr/bin/env python3
"""usage: tests/service/contexts.py BUILD

Jobs over contexts: the answer is among the notes of the report, and a question that names the wrong
thing is refused, by the server or by the worker, with the member or the place."""
import http.client
import json
import pathlib
import socket
import subprocess
import sys
import tempfile
import time

BIN = pathlib.Path(sys.argv[1]).resolve() / "bin"
WORK = pathlib.Path(tempfile.mkdtemp(prefix="foretell-contexts-"))

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


def submit(program, **context):
    return call("POST", "/v1/jobs", json.dumps({"program": program, "kind": "context", "context": context}))


def ended(job):
    for _ in range(60):
        snapshot = call("GET", f"/v1/jobs/{job}", Prefer="wait=10")[1]
        if snapshot["state"] in ("done", "failed", "cancelled"):
            return snapshot
    raise AssertionError(snapshot)


def answer_of(program, *places, **context):
    status, job = submit(program, threads=[{"name": n, "at": at} for n, at in places], **context)
    assert status == 202, job
    snapshot = ended(job["job"])
    assert snapshot["state"] == "done", snapshot
    notes = call("GET", f"/v1/jobs/{job['job']}/findings")[1]["notes"]
    assert notes[0]["code"] == "context", notes
    return json.loads(next(n["text"] for n in notes if n["code"] == "context-answer"))


def run():
    status, meta = call("POST", "/v1/programs", PROGRAM.encode())
    assert status in (200, 201), meta
    program = meta["trace"]
    assert answer_of(program, ("A", "@t:1"), ("B", "@t:1"))["together"] == "never"
    both = answer_of(program, ("A", "@t:1"), ("B", "@t:0"), steps=2)
    assert both["together"] == "reached" and both["every_order"]["paths"] > 0, both
    status, problem = submit(program, threads=[{"name": "A", "at": "@t:1", "read": "woken"}])
    assert status == 422 or status == 400, problem
    assert "/context/threads/0" in json.dumps(problem), problem
    assert submit(program, steps=1)[0] in (400, 422)
    status, job = submit(program, threads=[{"name": "A", "at": "@none:1"}])
    assert status == 202, job
    snapshot = ended(job["job"])
    assert snapshot["state"] == "failed" and "@none:1" in json.dumps(snapshot), snapshot


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
