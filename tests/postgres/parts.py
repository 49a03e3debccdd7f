#!/usr/bin/env python3
"""usage: tests/postgres/with tests/postgres/parts.py BUILD [TEST]...: traces and programs in parts over several nodes.

A part is named by its content; a node fetches it once, keeps a copy within bounds and checks it whenever it is
used. Nodes prefer tasks whose trace they have (worker.py stores uploads as they are)."""
import glob
import hashlib
import os
import random
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import fleet as lib  # noqa: E402
from fleet import expect  # noqa: E402

PART = 1 << 20
MIGRATIONS = os.path.join(lib.HERE, "..", "..", "schema", "migrations", "*.postgres.sql")


def text_of(size, seed):
    """That nothing compresses, without a line end."""
    return random.Random(seed).randbytes(size // 2).hex()


def parts_of(node):
    """(from the database, from its cache, damaged there), since it was started."""
    _, metrics = node.call("GET", "/metrics")
    return tuple(int(re.search(rf"^foretell_parts_{name}_total (\d+)$", metrics, re.M).group(1))
                 for name in ("fetched", "cached", "damaged"))


def cached(node):
    return sorted(glob.glob(os.path.join(node.folder, "state", "cache", "*")))


def content(node, trace, kind="traces"):
    return node.good("GET", f"/v1/{kind}/{trace}/content")


def both_work(fleet):
    lib.wait("both work", lambda: fleet.number("SELECT count(DISTINCT token >> 32) FROM leases") >= 2)


# ---- Tests --------------------------------------------------------------------------------------


def fetched_once(build):
    """What one node is given, two others with two workers each fetch once each, a trace and a program."""
    fleet = lib.Fleet(build)
    try:
        front = fleet.node("--role", "front")
        a, b = fleet.node("--workers", "2"), fleet.node("--workers", "2")
        first = second = 0
        for kind in ("traces", "programs"):
            text = text_of(3 * PART + 1000, kind)
            name = front.good("POST", f"/v1/{kind}", text)["trace"]
            expect(name == hashlib.sha256(text.encode()).hexdigest(), "another name than its content's")
            first, second = parts_of(a)[0], parts_of(b)[0]
            for _ in range(2):
                member = {"trace": name, "checks": ["race"]} if kind == "traces" else {"program": name}
                job = front.good("POST", "/v1/jobs", lib.json.dumps({"name": "40 tasks of 50 ms", **member}))["job"]
                both_work(fleet)
                expect(b.finish(job)["state"] == "done", "not done")
            fetched = parts_of(a)[0] - first, parts_of(b)[0] - second
            expect(fetched == (4, 4), f"{kind}: {fetched} parts fetched")
            digests = {hashlib.sha256(text[at:at + PART].encode()).hexdigest() for at in range(0, len(text), PART)}
            for node in (a, b):
                expect(digests <= {os.path.basename(path) for path in cached(node)}, "not named by their content")
            expect(content(front, name, kind) == content(a, name, kind) == text, "not what was uploaded")
        expect(parts_of(a)[1] >= 4 and parts_of(a)[2] == 0, parts_of(a))
    finally:
        fleet.close()


def damaged_copies(build):
    """They are fetched again; copies outlive the process."""
    fleet = lib.Fleet(build)
    try:
        node = fleet.node()
        text = text_of(2 * PART + 7, 1)
        trace = node.upload(text)
        expect(content(node, trace) == text and parts_of(node) == (3, 0, 0), parts_of(node))
        expect(content(node, trace) == text and parts_of(node) == (3, 3, 0), parts_of(node))
        files = cached(node)
        with open(files[0], "r+b") as file:
            byte = file.read(1)
            file.seek(0)
            file.write(bytes([byte[0] ^ 1]))
        os.truncate(files[1], 5)
        os.unlink(files[2])
        expect(content(node, trace) == text and parts_of(node) == (6, 3, 2), parts_of(node))
        expect(node.stop() == 0, "it does not stop")
        node.start()
        expect(content(node, trace) == text and parts_of(node) == (0, 3, 0), parts_of(node))
    finally:
        fleet.close()


def bounded_cache(build):
    fleet = lib.Fleet(build, "--cache-bytes", "3m")
    try:
        node = fleet.node()
        texts = [text_of(2 * PART, seed) for seed in range(3)]
        traces = [node.upload(text) for text in texts]
        for i in (0, 1, 2, 2, 0, 1):
            expect(content(node, traces[i]) == texts[i], "not what was uploaded")
            size = sum(os.path.getsize(path) for path in cached(node))
            expect(0 < size <= 3 * PART, f"{size} bytes are kept")
        expect(parts_of(node)[1] == 2, f"{parts_of(node)}: the last trace was not kept")
    finally:
        fleet.close()


def damaged_database(build):
    """A part that is not what was stored comes to no verdict, and does not keep the job for ever."""
    fleet = lib.Fleet(build, "--retry-ms", "1")
    try:
        node = fleet.node()
        trace = node.upload(text_of(2 * PART, 1))
        lib.psql(fleet.address, "UPDATE blob_chunks SET data = overlay(data PLACING '\\x00'::bytea FROM 9) "
                                "WHERE seq = 0")
        snapshot = node.finish(node.create(trace, name="3 tasks of 1 ms"))
        expect(snapshot["state"] == "failed", snapshot)
        expect(node.call("GET", f"/v1/traces/{trace}/content")[0] == 500, "it is served")
        expect(not cached(node), "it is kept")
    finally:
        fleet.close()


def begun(fleet):
    """Jobs in the order in which their first tasks were begun."""
    order = []
    for line in fleet.history():
        number = int(line[3]) >> 28
        if line[2] == "begin" and number not in order:
            order.append(number)
    return [lib.psql(fleet.address, f"SELECT id FROM jobs WHERE n = {number}") for number in order]


def held_first(fleet, front, held, seed, order):
    """Two jobs wait while the only worker is busy: which one it begins with, whatever the order they came in."""
    while True:
        other, busy = front.upload(f"other {seed}"), front.upload(f"busy {seed}")
        seed += 1
        between = front.create(busy, name="1 tasks of 2000 ms")
        lib.wait("it is busy", lambda: between in begun(fleet))  # pylint: disable=cell-var-from-loop
        traces = (other, held)
        jobs = {traces[i]: front.create(traces[i], name="300 tasks of 15 ms" if i else "3 tasks of 15 ms")
                for i in order}
        lib.wait("the worker knows of both", lambda: fleet.number(
            "SELECT count(*) FROM jobs WHERE finished IS NULL") >= 2)
        if not front.job(between)["finished"]:
            break
        for job in jobs.values():
            front.finish(job)
    snapshot = front.finish(jobs[other])
    left = front.job(jobs[held])["progress"]["open"]
    started = [job for job in begun(fleet) if job in jobs.values()]
    expect(started[0] == jobs[held], "it begins with the trace that it has to fetch")
    expect(snapshot["state"] == "done" and left > 0, f"the other job waits for the end of the first: {left} left")
    front.good("DELETE", f"/v1/jobs/{jobs[held]}")
    return seed


def prefers_held(build):
    """A node begins with tasks whose trace it has; those of other traces wait, but not for the end of them."""
    fleet = lib.Fleet(build)
    try:
        front, _ = fleet.node("--role", "front"), fleet.node("--role", "workers")
        held = front.upload("held")
        expect(front.finish(front.create(held, name="1 tasks of 1 ms"))["state"] == "done", "not done")
        seed = held_first(fleet, front, held, 0, (0, 1))
        held_first(fleet, front, held, seed, (1, 0))
    finally:
        fleet.close()


def upgraded(build):
    """A database of each earlier version, with a trace: its parts have names afterwards."""
    files = sorted(glob.glob(MIGRATIONS))
    parts = ["a" * PART, "b" * 10]
    for last in range(len(files)):
        fleet = lib.Fleet(build)
        try:
            for path in files[:last + 1]:
                with open(path, encoding="utf-8") as file:
                    lib.psql(fleet.address, file.read())
            version = int(os.path.basename(files[last])[:4])
            name = hashlib.sha256("".join(parts).encode()).hexdigest()
            lib.psql(fleet.address, f"UPDATE schema_version SET version = {version}; "
                     "INSERT INTO blobs (id, created) VALUES (7, 1); "
                     f"INSERT INTO blob_chunks (blob, seq, data) VALUES (7, 0, repeat('a', {PART})::bytea), "
                     f"(7, 1, '{parts[1]}'); INSERT INTO traces (hash, blob, meta, bytes, stored_bytes, created) "
                     f"VALUES ('{name}', 7, '{{\"trace\":\"{name}\"}}', {PART + 10}, {PART + 10}, 1); "
                     f"INSERT INTO trace_projects VALUES ('{name}', 'default')")
            node = fleet.node()
            expect(content(node, name) == "".join(parts), f"from version {version}: not what was there")
            digests = lib.psql(fleet.address, "SELECT digest FROM blob_chunks ORDER BY seq").split()
            expect(digests == [hashlib.sha256(part.encode()).hexdigest() for part in parts], digests)
            expect(node.finish(node.create(name, name="3 tasks of 1 ms"))["state"] == "done", "not done")
            expect(parts_of(node)[:2] == (2, 2), parts_of(node))
        finally:
            fleet.close()


TESTS = [fetched_once, damaged_copies, bounded_cache, damaged_database, prefers_held, upgraded]

if __name__ == "__main__":
    sys.exit(lib.main(TESTS))
