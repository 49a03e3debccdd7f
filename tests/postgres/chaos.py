#!/usr/bin/env python3
"""usage: tests/postgres/with tests/postgres/chaos.py BUILD [ROUNDS]: a fleet in which something always breaks.

Each round: a job at some node, misfortunes while it runs, then what the database has of it against what the
workers wrote down (fleet.py, check_history). FT_SEED_START chooses the misfortunes."""
import os
import random
import signal
import sys
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import fleet as lib  # noqa: E402

TASKS = 24


def kill(fleet, chance):
    """A node dies with its workers, and comes back."""
    node = chance.choice(fleet.nodes)
    node.kill()
    time.sleep(chance.uniform(0, 0.3))
    node.start()


def stop(fleet, chance):
    node = chance.choice(fleet.nodes)
    node.stop()
    node.start()


def pause(fleet, chance):
    """Sometimes longer than its leases last."""
    node = chance.choice(fleet.nodes)
    os.killpg(node.process.pid, signal.SIGSTOP)
    time.sleep(chance.choice((0.1, 0.5, 1.5)))
    os.killpg(node.process.pid, signal.SIGCONT)


def cut(fleet, chance):
    """The connections of a node end, wherever it is in a transaction: also behind a commit."""
    for _ in range(chance.randint(1, 12)):
        lib.psql(fleet.address, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = "
                                "'foretelld' AND pid <> pg_backend_pid() ORDER BY random() LIMIT 2")
        time.sleep(chance.uniform(0, 0.05))


def restart(_, chance):
    lib.control("stop", "-m", chance.choice(("immediate", "fast")))
    time.sleep(chance.uniform(0, 0.5))
    lib.control("start")


def slow(fleet, chance):
    """Somebody holds what every transaction needs."""
    lib.psql(fleet.address, f"BEGIN; LOCK TABLE {chance.choice(('jobs', 'leases', 'nodes', 'verdicts'))} IN ACCESS "
                            f"EXCLUSIVE MODE; SELECT pg_sleep({chance.uniform(0.1, 0.8)}); COMMIT")


def partition(fleet, chance):
    """One node is cut off, in one direction or both, sometimes for longer than its leases last."""
    wire = chance.choice(fleet.nodes).wire
    wire.lost = chance.choice(({"up"}, {"down"}, {"up", "down"}))
    time.sleep(chance.choice((0.2, 0.6, 1.6)))
    if chance.random() < 0.5:
        wire.cut()
    wire.lost = set()


def lie(fleet, chance):
    """Commits happen, and the node does not hear of it."""
    wire = chance.choice(fleet.nodes).wire
    wire.lie = chance.randint(1, 6)
    end = time.monotonic() + 0.7
    while wire.lie > 0 and time.monotonic() < end:
        time.sleep(0.01)
    wire.lie = 0


def delay(fleet, chance):
    wire = chance.choice(fleet.nodes).wire
    wire.delay = chance.choice((0.002, 0.02))
    time.sleep(chance.uniform(0.2, 0.8))
    wire.delay = 0.0


def freeze(_, chance):
    """The database stands still, and goes on as if nothing had been."""
    with open(os.path.join(os.environ["FT_TEST_POSTGRES_FOLDER"], "data", "postmaster.pid"), encoding="ascii") as file:
        freeze_process(int(file.readline()), chance)


def freeze_process(postmaster, chance):
    children = [postmaster]
    with open(f"/proc/{postmaster}/task/{postmaster}/children", encoding="ascii") as file:
        children += [int(pid) for pid in file.read().split()]
    for number in (signal.SIGSTOP, signal.SIGCONT):
        for pid in children:
            try:
                os.kill(pid, number)
            except ProcessLookupError:
                pass
        if number == signal.SIGSTOP:
            time.sleep(chance.choice((0.1, 0.5, 1.5)))


MISFORTUNES = (kill, stop, pause, cut, restart, slow, partition, partition, lie, lie, delay, freeze)


def answer_of(fleet, chance, act):
    """From any node that answers."""
    end = time.monotonic() + lib.PATIENCE
    while True:
        try:
            return act(chance.choice(fleet.nodes))
        except (lib.Failure, OSError, lib.http.client.HTTPException):
            lib.expect(time.monotonic() < end, "no node answers")
            time.sleep(0.05)


def one_round(fleet, chance, trace, key):
    def create(node):
        body = lib.json.dumps({"trace": trace, "checks": ["race"], "name": f"{TASKS} tasks of 15 ms"})
        return node.good("POST", "/v1/jobs", body, {"Idempotency-Key": key})["job"]

    failures = []

    def misfortunes():
        try:
            for _ in range(chance.randint(1, 3)):
                chance.choice(MISFORTUNES)(fleet, chance)
                time.sleep(chance.uniform(0, 0.2))
        except Exception as error:  # pylint: disable=broad-except
            failures.append(error)

    thread = threading.Thread(target=misfortunes)
    thread.start()
    job = answer_of(fleet, random.Random(1), create)
    thread.join()
    if failures:
        raise failures[0]
    snapshot = answer_of(fleet, random.Random(2), lambda node: node.finish(job))
    lib.expect(snapshot["state"] == "done", snapshot)
    fleet.check_history(job, TASKS)


def main():
    build, rounds = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 10
    seed = int(os.environ.get("FT_SEED_START", random.randrange(1 << 30)))
    chance = random.Random(seed)
    fleet, wires = lib.Fleet(build, "--retry-ms", "1"), []
    try:
        for _ in range(3):
            wires.append(lib.wired(fleet).wire)
        trace = fleet.nodes[0].upload("good")
        start = time.monotonic()
        for i in range(rounds):
            try:
                one_round(fleet, chance, trace, f"round-{i}")
            except Exception:
                print(f"FAILED  round {i}; FT_SEED_START={seed}", flush=True)
                for node in fleet.nodes:
                    print(node.log()[-3000:], flush=True)
                raise
        jobs = fleet.number("SELECT count(*) FROM jobs")
        lib.expect(jobs == rounds, f"{jobs} jobs of {rounds}")
        print(f"ok      {rounds} rounds in {time.monotonic() - start:.0f} s; FT_SEED_START={seed}")
    finally:
        for wire in wires:
            wire.end()
        fleet.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
