#!/usr/bin/env python3
"""usage: tests/postgres/with tests/postgres/scale.py BUILD [MS... | straggler]: how a fleet scales on one machine.

For 1, 2, 4, 8 and 16 nodes of one worker each: a job of sleep-bound subproblems (default: of 10, 100 and 1000 ms)
that takes each node some seconds; efficiency is their sum over the time that all workers had. Then connections a
node, and the time between the end of a job and its long poll's answer from another node."""
import os
import statistics
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import fleet as lib  # noqa: E402

lib.PATIENCE = 300
NODES = (1, 2, 4, 8, 16)
TASKS = {10: 300, 100: 60, 1000: 8}  # a node


def measure(build, nodes, ms):
    fleet = lib.Fleet(build)
    try:
        all_nodes = [fleet.node() for _ in range(nodes)]
        trace = all_nodes[0].upload("good")
        count = TASKS.get(ms, 60) * nodes
        warm = all_nodes[0].create(trace, name=f"{8 * nodes} tasks of 5 ms")
        all_nodes[0].finish(warm)
        start = time.monotonic()
        job = all_nodes[0].create(trace, name=f"{count} tasks of {ms} ms")
        lib.expect(all_nodes[-1].finish(job)["state"] == "done", "not done")
        took = time.monotonic() - start
        connections = fleet.number("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'foretelld'")
        fleet.check_history(job, count)
        efficiency = count * ms / 1000 / nodes / took
        print(f"{nodes:2} nodes, {ms} ms: {took:6.2f} s for {count} tasks, efficiency {efficiency:.0%}, "
              f"{connections / nodes:.1f} connections a node", flush=True)
        return efficiency
    finally:
        fleet.close()


def answer_times(build):
    """Of long polls at one node for jobs that another one ends."""
    fleet = lib.Fleet(build)
    try:
        worker, front = fleet.node("--role", "both"), fleet.node("--role", "front")
        trace = front.upload("good")
        times = []
        for _ in range(20):
            job = front.create(trace, name="1 tasks of 30 ms")
            ended = {}

            def watch(node, name, job=job, ended=ended):
                node.finish(job)
                ended[name] = time.monotonic()

            threads = [threading.Thread(target=watch, args=pair) for pair in ((worker, "own"), (front, "other"))]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            times.append((ended["other"] - ended["own"]) * 1000)
        print(f"a long poll at another node: {statistics.median(times):.1f} ms after the own node's, "
              f"at most {max(times):.1f} ms")
    finally:
        fleet.close()


BUSY = "import sys\nfor _ in range(int(sys.argv[1])): pass"


def busy(processes):
    """Seconds that so many processes take for the same loop each."""
    start = time.monotonic()
    all_of_them = [subprocess.Popen([sys.executable, "-c", BUSY, "150000000"]) for _ in range(processes)]
    for process in all_of_them:
        process.wait()
    return time.monotonic() - start


def hard(build, nodes, first, second):
    fleet = lib.Fleet(build, "--split-ms", "5000", sleepers=False)
    try:
        all_nodes = [fleet.node() for _ in range(nodes)]
        lib.wait("they know of each other", lambda: len(all_nodes[0].good("GET", "/v1/workers").get("nodes", [])) == nodes)
        trace = all_nodes[0].upload(lib.sums(first, second))
        start = time.monotonic()
        job = all_nodes[0].create(trace, checks=["assertion"], budget={"subproblem_ms": 280000})
        snapshot = all_nodes[-1].finish(job)
        lib.expect(snapshot["checks"]["assertion"]["safe"] == 1, snapshot)
        return time.monotonic() - start
    finally:
        fleet.close()


def straggler(build, first, second):
    """One hard subproblem on one worker, and on two that split it."""
    loops = 2 * busy(1) / busy(2)
    alone, both = hard(build, 1, first, second), hard(build, 2, first, second)
    print(f"one hard subproblem: {alone:.1f} s on one worker, {both:.1f} s on two, {alone / both:.2f} times faster; "
          f"two busy loops {loops:.2f}", flush=True)
    return alone / both >= 1.4


def main():
    if sys.argv[2:3] == ["straggler"]:
        return 0 if straggler(sys.argv[1], *(int(word) for word in sys.argv[3:5] or (10, 9))) else 1
    build, kinds = sys.argv[1], [int(word) for word in sys.argv[2:]] or [10, 100, 1000]
    good = True
    for ms in kinds:
        for nodes in NODES:
            efficiency = measure(build, nodes, ms)
            good = good and (ms < 100 or nodes < 16 or efficiency >= 0.8)
    answer_times(build)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
