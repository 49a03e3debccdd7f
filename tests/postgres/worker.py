#!/usr/bin/env python3
"""A worker for tests of fleets: speaks common/wire/wire.h, sleeps instead of solving.

A job's name says what it is: "COUNT tasks of MS ms". Every third subproblem is a violation. Each task that
is begun is a line in the file FLEET_HISTORY: time, pid, "begin" or "end", task."""
import hashlib
import json
import os
import select
import struct
import sys
import time

PROTOCOL = 0  # fleet.py puts in that of common/wire/wire.h
(HELLO, TRACE, INGEST, PLAN, SOLVE, DATA, DATA_END, LOADED, INGESTED, PLANNED, VERDICT, SOLVED, FAILED, PROGRESS,
 SUMMARIZE, SUMMARIZED, RECALL) = range(17)
# Tests start a node with its folder as the state; what the daemon gives its workers is little.
HISTORY = os.path.join(os.path.dirname(os.path.abspath(__file__)), "history")


def send(kind, payload):
    if not isinstance(payload, bytes):
        payload = json.dumps(payload, separators=(",", ":")).encode()
    os.write(1, struct.pack("<IB3x", len(payload), kind) + payload)


def exactly(count):
    out = b""
    while len(out) < count:
        got = os.read(0, count - len(out))
        if not got:
            sys.exit(0)
        out += got
    return out


def receive():
    length, kind = struct.unpack("<IB3x", exactly(8))
    return kind, exactly(length)


def data():
    out = b""
    while True:
        kind, payload = receive()
        if kind == DATA_END:
            return out
        out += payload


def shape(spec):
    words = spec["name"].split()
    return int(words[0]), float(words[3])


def note(what, task):
    line = f"{time.time():.6f} {os.getpid()} {what} {task}\n"
    try:
        with open(HISTORY, "a", encoding="ascii") as file:
            file.write(line)
    except OSError:
        pass


def plan(token, spec):
    count, _ = shape(spec)
    text = json.dumps({
        "model": "ctp", "notes": [], "records": [], "candidates": {"race": count},
        "subproblems": [{"subproblem": i, "check": "race", "pairs": 1, "key": f"race|write-write|{i}"}
                        for i in range(count)]}, separators=(",", ":")).encode()
    for at in range(0, len(text), 1 << 20):
        send(DATA, text[at:at + (1 << 20)])
    send(PLANNED, {"token": token, "bytes": len(text)})


def verdict_of(key):
    return "violation" if int(key.split("|")[2]) % 3 == 0 else "safe"


def solve(token, spec, tasks):
    _, ms = shape(spec)
    keep = len(tasks)
    for i, task in enumerate(tasks):
        while select.select([0], [], [], 0)[0]:
            kind, payload = receive()
            if kind == RECALL and json.loads(payload)["token"] == token:
                keep = json.loads(payload)["keep"]
        if i >= keep:
            break
        note("begin", task["task"])
        end = time.monotonic() + ms / 1000
        while (left := end - time.monotonic()) > 0:
            time.sleep(min(left, 0.5))
            if left > 0.5:
                send(PROGRESS, {"token": token, "text": "asleep"})
        note("end", task["task"])
        send(VERDICT, {"token": token, "task": task["task"], "record": {
            "check": "race", "kind": "write-write", "key": task["key"], "verdict": verdict_of(task["key"]),
            "count": 1, "pairs": 1}})
    send(SOLVED, {"token": token})


def main():
    send(HELLO, {"protocol": PROTOCOL, "version": "sleeper", "pid": os.getpid(), "heartbeats": False})
    while True:
        kind, payload = receive()
        request = json.loads(payload)
        if kind == TRACE:
            data()
            send(LOADED, {"trace": request["trace"]})
        elif kind == INGEST:
            text = data()
            for at in range(0, len(text), 1 << 20):
                send(DATA, text[at:at + (1 << 20)])
            meta = {"trace": hashlib.sha256(text).hexdigest(), "bytes": len(text)}
            if request.get("of") == "program":
                meta["format"] = "program"
            send(INGESTED, {"token": request["token"], "meta": meta})
        elif kind == PLAN:
            plan(request["token"], request["spec"])
        elif kind == SOLVE:
            solve(request["token"], request["spec"], request["tasks"])


if __name__ == "__main__":
    main()
