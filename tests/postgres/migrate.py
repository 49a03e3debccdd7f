#!/usr/bin/env python3
"""usage: tests/postgres/with tests/postgres/migrate.py BUILD [JOBS]: a store goes from SQLite to PostgreSQL and back.

A real store of one job is made many by copying its rows. What comes back must be equal by a dump, and
what lies between by another; a move that is killed again and again must come to the same end."""
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import fleet as lib  # noqa: E402

TABLES = ("blobs blob_chunks traces trace_projects trace_summaries jobs entries leases tasks verdicts tallies deaths "
          "reviews tokens audit idempotency_keys project_limits project_usage webhooks job_webhooks deliveries").split()


def columns(db, name):
    """Without those that are computed from others."""
    return [row[1] for row in db.execute(f"PRAGMA table_xinfo('{name}')") if row[6] == 0]


def dump(folder):
    db = sqlite3.connect(os.path.join(folder, "foretell.db"))
    out = {}
    for name in TABLES:
        names = ["rowid"] * (name == "traces") + [f'"{column}"' for column in columns(db, name)]
        out[name] = sorted(map(repr, db.execute(f"SELECT {', '.join(names)} FROM {name}")))
    db.close()
    return out


def dump_postgres(address, folder):
    """The same of a PostgreSQL store, by psql alone: rows as JSON."""
    db = sqlite3.connect(os.path.join(folder, "foretell.db"))
    out = {}
    for name in TABLES:
        names = columns(db, name)
        listed = ", ".join(f'"{column}"' for column in names)
        rows = lib.psql(address, f"SELECT json_build_array({listed}) FROM {name}").splitlines()
        out[name] = sorted(repr([as_sqlite(value) for value in lib.json.loads(row)]) for row in rows)
        ours = sorted(repr(list(row)) for row in db.execute(f"SELECT {listed} FROM {name}"))
        lib.expect(ours == out[name], f"{name} differs on PostgreSQL: {len(ours)} and {len(out[name])} rows")
    db.close()
    return out


def as_sqlite(value):
    if isinstance(value, str) and value.startswith("\\x"):
        return bytes.fromhex(value[2:])
    return value


def multiply(folder, jobs):
    """The store's one job so many times, with its rows."""
    db = sqlite3.connect(os.path.join(folder, "foretell.db"))
    db.execute("BEGIN")
    first = db.execute("SELECT n, id FROM jobs").fetchone()
    names = [name for name in columns(db, "jobs") if name not in ("n", "id")]
    tallied = [name for name in columns(db, "tallies") if name != "job"]
    decided = [name for name in columns(db, "verdicts") if name not in ("id", "job", "task")]

    def quoted(given):
        return ", ".join(f'"{name}"' for name in given)

    for i in range(2, jobs + 1):
        n, job = first[0] + i, f"{i:016x}"
        db.execute(f"INSERT INTO jobs (n, id, {quoted(names)}) SELECT {n}, '{job}', {quoted(names)} FROM jobs "
                   f"WHERE n = {first[0]}")
        db.execute(f"INSERT INTO tallies (job, {quoted(tallied)}) SELECT '{job}', {quoted(tallied)} FROM tallies "
                   f"WHERE job = '{first[1]}'")
        db.execute(f"INSERT INTO verdicts (job, task, {quoted(decided)}) SELECT {n}, (task & 268435455) + ({n} << 28), "
                   f"{quoted(decided)} FROM verdicts WHERE job = {first[0]}")
    db.commit()
    db.close()


def move(build, source, target, expected=0):
    done = subprocess.run([os.path.join(build, "bin", "foretelld"), "migrate", "--from", source, "--to", target],
                          capture_output=True, text=True, timeout=600)
    lib.expect(done.returncode == expected, done.stderr)
    return done.stderr


def move_killed(build, source, target, chance, span):
    """Killed until it comes to its end by itself; how often it was."""
    kills = 0
    while True:
        process = subprocess.Popen([os.path.join(build, "bin", "foretelld"), "migrate", "--from", source, "--to", target],
                                   stderr=subprocess.DEVNULL)
        try:
            lib.expect(process.wait(chance.uniform(0.02, span) if kills < 8 else 600) == 0, "it fails after a kill")
            return kills
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.wait()
            kills += 1


def main():
    build, jobs = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 300
    seed = int(os.environ.get("FT_SEED_START", random.randrange(1 << 30)))
    print(f"FT_SEED_START={seed}")
    fleet = lib.Fleet(build, sleepers=False)
    try:
        first, second = os.path.join(fleet.folder, "first"), os.path.join(fleet.folder, "second")
        address = fleet.address
        fleet.address = ""  # the first store is a folder
        node = fleet.node("--webhook-senders", "0")
        job = node.create(node.upload(lib.RACY), name="a job")
        lib.expect(node.finish(job)["state"] == "done", "not done")
        for options in (["limit", "set", "a", "--jobs", "7"], ["token", "create", "--name", "n"]):
            subprocess.run([os.path.join(build, "bin", "foretelld"), *options, "--state",
                            os.path.join(node.folder, "state")], check=True, capture_output=True)
        lib.expect(node.stop() == 0, "it does not stop")
        shutil.move(os.path.join(node.folder, "state"), first)
        multiply(first, jobs)
        before = dump(first)
        start = time.monotonic()
        kills = move_killed(build, f"sqlite:{first}", address, random.Random(seed), jobs / 3000)
        took = time.monotonic() - start
        dump_postgres(address, first)
        said = move(build, f"sqlite:{first}", address, 4)
        lib.expect("already" in said, said)
        start = time.monotonic()
        move(build, address, f"sqlite:{second}")
        back = time.monotonic() - start
        lib.expect(dump(second) == before, "what came back differs")
        fleet.address = address
        fleet.check_database()
        node.options, node.address = ("--webhook-senders", "0"), address
        node.start()
        lib.expect(node.stop() == 0, "it does not stop")
        print(f"ok      {jobs} jobs there and back ({took:.1f} s with {kills} kills, {back:.1f} s)")
    finally:
        fleet.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
