#!/usr/bin/env python3
"""usage: tests/postgres/with tests/postgres/fleet.py BUILD [TEST]...: several foretelld over one database.

Each test has a schema, a folder and nodes of its own. Nothing waits for a fixed time: a test waits for what it
wants to see, and fails after a minute."""
import contextlib
import http.client
import http.server
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

from wire import Wire

PATIENCE = 60
HERE = os.path.dirname(os.path.abspath(__file__))
SERVER = os.environ["FT_TEST_POSTGRES"]
RACY = "T1|w(x)|a.c:1\nT2|w(x)|b.c:1\nT1|acq(l)|a.c:2\nT1|w(y)|a.c:3\nT1|rel(l)|a.c:4\nT2|acq(l)|b.c:2\n" \
       "T2|w(y)|b.c:3\nT2|rel(l)|b.c:4\n"


class Failure(Exception):
    pass


def expect(condition, what):
    if not condition:
        raise Failure(what)


def psql(address, text):
    done = subprocess.run(["psql", "-X", "-q", "-A", "-t", "-d", address, "-c", text], capture_output=True, text=True,
                          timeout=PATIENCE)
    expect(done.returncode == 0, done.stderr)
    return done.stdout.strip()


def wait(what, condition):
    end = time.monotonic() + PATIENCE
    while not (got := condition()):
        expect(time.monotonic() < end, f"never: {what}")
        time.sleep(0.02)
    return got


class Unix(http.client.HTTPConnection):
    def __init__(self, path, timeout):
        super().__init__("localhost", timeout=timeout)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


class Node:
    def __init__(self, fleet, name, *options, prefix=()):
        self.folder = os.path.join(fleet.folder, name)
        os.mkdir(self.folder)
        self.fleet, self.name, self.options, self.prefix = fleet, name, options, prefix
        self.address = fleet.address
        self.process = None
        self.start()

    def command(self):
        return [*self.prefix, fleet_program(self.fleet), "--listen", "", "--socket", self.socket(), "--state",
                os.path.join(self.folder, "state"), "--store", self.address, "--workers", "1", "--lease-ms", "1000",
                "--port-file", os.path.join(self.folder, "port"), *self.fleet.options, *self.options]

    def socket(self):
        return os.path.join(self.folder, "socket")

    def launch(self):
        for name in ("port", "socket"):
            if os.path.exists(os.path.join(self.folder, name)):
                os.unlink(os.path.join(self.folder, name))
        with open(os.path.join(self.folder, "log"), "ab") as log:
            self.process = subprocess.Popen(self.command(), stdout=log, stderr=log, start_new_session=True)

    def start(self):
        self.launch()
        port = os.path.join(self.folder, "port")
        wait(f"{self.name} starts", lambda: os.path.exists(port) or self.process.poll() is not None)
        expect(self.process.poll() is None, f"{self.name} does not start: {self.log()}")

    def log(self):
        with open(os.path.join(self.folder, "log"), encoding="utf-8", errors="replace") as file:
            return file.read()

    def call(self, method, path, body=None, headers=None, timeout=PATIENCE):
        connection = Unix(self.socket(), timeout)
        connection.request(method, path, body, headers or {})
        answer = connection.getresponse()
        text = answer.read()
        connection.close()
        try:
            return answer.status, json.loads(text)
        except ValueError:
            return answer.status, text.decode(errors="replace")

    def good(self, method, path, body=None, headers=None):
        status, answer = self.call(method, path, body, headers)
        expect(200 <= status < 300, f"{self.name}: {method} {path}: {status} {answer}")
        return answer

    def upload(self, text):
        return self.good("POST", "/v1/traces", text)["trace"]

    def create(self, trace, **members):
        return self.good("POST", "/v1/jobs", json.dumps({"trace": trace, "checks": ["race"], **members}))["job"]

    def job(self, job):
        return self.good("GET", f"/v1/jobs/{job}")

    def finish(self, job):
        """By long polls, as clients do."""
        end, revision = time.monotonic() + PATIENCE, None
        while True:
            headers = {"Prefer": "wait=10"}
            if revision:
                headers["If-None-Match"] = f'"{revision}"'
            status, snapshot = self.call("GET", f"/v1/jobs/{job}", None, headers)
            if status == 200 and snapshot["finished"]:
                return snapshot
            if status == 200:
                revision = snapshot["revision"]
            expect(time.monotonic() < end, f"{self.name}: job {job} does not end: {status} {snapshot}")

    def signal(self, number):
        os.kill(self.process.pid, number)

    def kill(self):
        if self.process and self.process.poll() is None:
            try:
                os.killpg(self.process.pid, signal.SIGCONT)
                os.killpg(self.process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            self.process.wait(PATIENCE)

    def stop(self):
        self.signal(signal.SIGTERM)
        return self.process.wait(PATIENCE)


def fleet_program(fleet):
    return os.path.join(fleet.build, "bin", "foretelld")


class Fleet:
    def __init__(self, build, *options, sleepers=True):
        self.build, self.options, self.nodes = build, list(options), []
        self.folder = tempfile.mkdtemp(prefix="foretell-fleet-")
        self.schema = os.path.basename(self.folder)
        psql(SERVER, f'CREATE SCHEMA "{self.schema}"')
        self.address = f"{SERVER}&options=-csearch_path%3D%22{self.schema}%22"
        if sleepers:
            self.make_sleeper()
            self.options += ["--worker", os.path.join(self.folder, "worker.py"), "--sandbox", "off"]

    def make_sleeper(self):
        with open(os.path.join(HERE, "..", "..", "common", "wire", "wire.h"), encoding="ascii") as file:
            protocol = re.search(r"FT_WIRE_PROTOCOL (\d+)", file.read()).group(1)
        path = os.path.join(self.folder, "worker.py")
        shutil.copy(os.path.join(HERE, "worker.py"), path)
        with open(path, encoding="utf-8") as file:
            text = file.read()
        with open(path, "w", encoding="utf-8") as file:
            file.write(text.replace("PROTOCOL = 0 ", f"PROTOCOL = {protocol} "))

    def node(self, *options, **more):
        node = Node(self, f"n{len(self.nodes)}", *options, **more)
        self.nodes.append(node)
        return node

    def number(self, text):
        return int(psql(self.address, text))

    def close(self):
        for node in self.nodes:
            node.kill()
        psql(SERVER, f'DROP SCHEMA "{self.schema}" CASCADE')
        shutil.rmtree(self.folder)

    def history(self):
        try:
            with open(os.path.join(self.folder, "history"), encoding="ascii") as file:
                return [line.split() for line in file if line.endswith("\n")]
        except FileNotFoundError:
            return []

    def check_history(self, job, count):
        """What the database has against what the workers wrote down: nothing lost, nothing twice."""
        rows = psql(self.address, "SELECT v.task, v.task & 268435455, v.verdict FROM verdicts v JOIN jobs j ON "
                                  f"j.n = v.job WHERE j.id = '{job}' ORDER BY v.task").splitlines()
        stored = [row.split("|") for row in rows]
        expect(len(stored) == count, f"{len(stored)} verdicts of {count}")
        expect([int(row[1]) for row in stored] == list(range(1, count + 1)), "a task has two verdicts, or none")
        ended = {line[3] for line in self.history() if line[2] == "end"}
        for task, number, verdict in stored:
            expect(verdict == ("violation" if (int(number) - 1) % 3 == 0 else "safe"), f"task {task} is {verdict}")
            expect(task in ended, f"nobody did task {task}")
        self.check_database()

    def check_database(self):
        done = subprocess.run([fleet_program(self), "--check-database", "--store", self.address], capture_output=True,
                              text=True, timeout=PATIENCE)
        expect(done.returncode == 0, done.stdout + done.stderr)


# ---- Tests --------------------------------------------------------------------------------------


def one_foretell(build):
    """What one node accepts another works on, and a third reports; with the real workers."""
    fleet = Fleet(build, sleepers=False)
    try:
        a, b = fleet.node(), fleet.node()
        trace = a.upload(RACY)
        job = b.create(trace)
        snapshot = a.finish(job)
        expect(snapshot["state"] == "done" and snapshot["checks"]["race"]["violation"] == 1, snapshot)
        reports = [node.good("GET", f"/v1/jobs/{job}/findings") for node in (a, b)]
        expect(reports[0] == reports[1], "two reports")
        kept = [name for node in (a, b) for name in os.listdir(os.path.join(node.folder, "state"))]
        expect("cache" in kept, "no node kept the trace")
        key = {"Idempotency-Key": "once"}
        body = json.dumps({"trace": trace, "checks": ["race"]})
        jobs = {node.good("POST", "/v1/jobs", body, key)["job"] for node in (a, b, a)}
        expect(len(jobs) == 1, "the key made two jobs")
        expect(a.stop() == 0 and b.stop() == 0, "they do not stop")
        fleet.check_database()
    finally:
        fleet.close()


def killed_node(build):
    """A node that dies costs its leases, and nothing else."""
    fleet = Fleet(build)
    try:
        a, b, c = (fleet.node() for _ in range(3))
        job = a.create(a.upload("good"), name="60 tasks of 50 ms")
        wait("each node works", lambda: fleet.number(
            "SELECT count(DISTINCT token >> 32) FROM leases") >= 3)
        b.kill()
        expect(c.finish(job)["state"] == "done", "not done")
        fleet.check_history(job, 60)
    finally:
        fleet.close()


def stopped_node(build):
    """One that sleeps longer than its leases last finds its results refused when it wakes."""
    fleet = Fleet(build)
    try:
        a, b = fleet.node(), fleet.node()
        job = a.create(a.upload("good"), name="40 tasks of 50 ms")
        wait("both work", lambda: fleet.number("SELECT count(DISTINCT token >> 32) FROM leases") >= 2)
        os.killpg(b.process.pid, signal.SIGSTOP)
        expect(a.finish(job)["state"] == "done", "not done")
        os.killpg(b.process.pid, signal.SIGCONT)
        expect(b.finish(job)["state"] == "done", "not done for the other")
        fleet.check_history(job, 40)
    finally:
        fleet.close()


def restarted_database(build):
    """The database goes away in the middle: readiness says so, the job goes on when it is back."""
    fleet = Fleet(build, "--lease-ms", "20000")
    try:
        a, b = fleet.node(), fleet.node()
        job = a.create(a.upload("good"), name="60 tasks of 50 ms")
        wait("both work", lambda: fleet.number("SELECT count(DISTINCT token >> 32) FROM leases") >= 2)
        control("stop", "-m", "immediate")
        wait("it says so", lambda: a.call("GET", "/ready")[0] == 503 and b.call("GET", "/ready")[0] == 503)
        expect(a.call("GET", "/live")[0] == 200, "it is not alive")
        control("start")
        wait("it is ready again", lambda: a.call("GET", "/ready")[0] == 200)
        expect(b.finish(job)["state"] == "done", "not done")
        fleet.check_history(job, 60)
        expect("worker died" not in a.log() + b.log(), "a worker died of it")
    finally:
        fleet.close()


def control(*arguments):
    folder = os.environ["FT_TEST_POSTGRES_FOLDER"]
    owner = os.stat(os.path.join(folder, "data"))
    program = sorted(entry for entry in os.listdir("/usr/lib/postgresql") if entry.isdigit())[-1]
    command = [f"/usr/lib/postgresql/{program}/bin/pg_ctl", "-D", os.path.join(folder, "data"), "-s", "-w", "-l",
               os.path.join(folder, "log"), *arguments]
    done = subprocess.run(command, cwd=folder, timeout=PATIENCE, capture_output=True, text=True,
                          **({"user": owner.st_uid, "group": owner.st_gid, "extra_groups": []} if os.getuid() == 0 else {}))
    expect(done.returncode == 0, done.stderr)


def cancelled_elsewhere(build):
    """Cancelling at one node ends what another one does."""
    fleet = Fleet(build)
    try:
        a, b = fleet.node("--workers", "2"), fleet.node()
        job = a.create(a.upload("good"), name="8 tasks of 30000 ms")
        wait("both work", lambda: fleet.number("SELECT count(DISTINCT token >> 32) FROM leases") >= 2)
        b.good("DELETE", f"/v1/jobs/{job}")
        wait("nobody works", lambda: all(not worker["job"] for worker in a.good("GET", "/v1/workers")["workers"]))
        expect(a.job(job)["state"] == "cancelled", "it is not cancelled")
    finally:
        fleet.close()


def limited_project(build):
    """A project has no more workers than it may, whatever nodes they are on."""
    fleet = Fleet(build, "--project-workers", "2")
    try:
        nodes = [fleet.node("--workers", "2") for _ in range(3)]
        job = nodes[0].create(nodes[0].upload("good"), name="30 tasks of 40 ms")
        most = 0
        while not nodes[1].job(job)["finished"]:
            most = max(most, fleet.number("SELECT count(*) FROM leases"))
        expect(most == 2, f"{most} workers at once")
        fleet.check_history(job, 30)
    finally:
        fleet.close()


def drained_node(build):
    """SIGTERM: its tasks go to others at once, long before their leases run out."""
    fleet = Fleet(build, "--lease-ms", "600000")
    try:
        a, b = fleet.node(), fleet.node()
        job = a.create(a.upload("good"), name="30 tasks of 50 ms")
        wait("both work", lambda: fleet.number("SELECT count(DISTINCT token >> 32) FROM leases") >= 2)
        expect(b.stop() == 0, "it does not stop")
        expect(a.finish(job)["state"] == "done", "not done")
        fleet.check_history(job, 30)
        expect(fleet.number("SELECT count(*) FROM nodes") == 1, "the node that left is listed")
    finally:
        fleet.close()


def database_processes():
    with open(os.path.join(os.environ["FT_TEST_POSTGRES_FOLDER"], "data", "postmaster.pid"), encoding="ascii") as file:
        postmaster = int(file.readline())
    with open(f"/proc/{postmaster}/task/{postmaster}/children", encoding="ascii") as file:
        return [postmaster] + [int(pid) for pid in file.read().split()]


def signal_database(number):
    """The postmaster first, so that it starts no more; a process of the list may have ended by itself."""
    for pid in database_processes():
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)


def is_ready(node):
    """As load balancers ask: without an answer in time it is not."""
    try:
        return node.call("GET", "/ready", timeout=5)[0] == 200
    except TimeoutError:
        return False


def stopped_beside_hung_database(build):
    """A node that is stopped ends although its database, which is there, answers nothing."""
    fleet = Fleet(build)
    try:
        node = fleet.node()
        job = node.create(node.upload("good"), name="12 tasks of 300 ms")
        wait("it works", lambda: fleet.number("SELECT count(*) FROM leases") >= 1)
        try:
            signal_database(signal.SIGSTOP)
            wait("it knows", lambda: not is_ready(node))
            expect(node.stop() == 0, "it does not stop in order")
        finally:
            signal_database(signal.SIGCONT)
        node.start()
        expect(node.finish(job)["state"] == "done", "not done")
        fleet.check_history(job, 12)
    finally:
        fleet.close()


def wired(fleet):
    """A node, and the wire between it and the database."""
    wire, direct = Wire(os.environ["FT_TEST_POSTGRES_FOLDER"]), fleet.address
    fleet.address = direct.replace("host=" + os.environ["FT_TEST_POSTGRES_FOLDER"],
                                   f"host=127.0.0.1&port={wire.port}&gssencmode=disable")
    node = fleet.node()
    fleet.address, node.wire = direct, wire
    return node


def lied_commit(build):
    """The database commits, and the connection is lost before the answer: nothing is done twice."""
    fleet = Fleet(build)
    try:
        node = wired(fleet)
        trace = node.upload("good")
        for i in range(5):
            node.wire.lie = 1
            job = node.create(trace, name="6 tasks of 10 ms")
            expect(fleet.number("SELECT count(*) FROM jobs") == i + 1, "a job was made twice, or not at all")
            wait("the answer is lost", lambda: node.wire.lie == 0)
            node.wire.lie = 2
            expect(node.finish(job)["state"] == "done", "not done")
            fleet.check_history(job, 6)
        node.wire.end()
    finally:
        fleet.close()


class Receiver:
    """Of webhooks: keeps the id of each delivery; holds back its answers while `quiet` is not set."""

    def __init__(self):
        receiver, self.got, self.quiet = self, [], threading.Event()
        self.quiet.set()

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):  # pylint: disable=invalid-name
                self.rfile.read(int(self.headers["Content-Length"]))
                receiver.got.append(self.headers["Foretell-Delivery"])
                receiver.quiet.wait(PATIENCE)
                try:
                    self.send_response(204)
                    self.end_headers()
                except OSError:
                    pass

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def url(self):
        return f"http://127.0.0.1:{self.server.server_port}/hook"

    def end(self):
        self.quiet.set()
        self.server.shutdown()
        self.server.server_close()


def with_webhook(build, *options):
    fleet = Fleet(build, "--webhook-allow-private", "1", *options)
    receiver = Receiver()
    node = fleet.node()
    node.good("PUT", "/v1/webhooks", json.dumps({"project": "default", "url": receiver.url()}))
    return fleet, receiver, node


def sender_of(fleet):
    """The node that sends a delivery."""
    pid = psql(fleet.address, "SELECT n.pid FROM deliveries d JOIN nodes n ON n.epoch = d.token >> 32 "
                              "WHERE d.state = 'sending'")
    return next((node for node in fleet.nodes if pid and node.process.pid == int(pid)), None)


def all_delivered(fleet, count):
    return fleet.number("SELECT count(*) FROM deliveries WHERE state = 'delivered'") == count


def delivered_once(build):
    """Whichever node sends it."""
    fleet, receiver, a = with_webhook(build)
    try:
        b, trace = fleet.node(), a.upload("good")
        for i in range(12):
            (a, b)[i % 2].create(trace, name="1 tasks of 5 ms")
        wait("all are delivered", lambda: all_delivered(fleet, 12))
        expect(len(receiver.got) == 12 == len(set(receiver.got)), receiver.got)
        expect(fleet.number("SELECT count(*) FROM deliveries WHERE attempts <> 1") == 0, "an attempt too many")
    finally:
        receiver.end()
        fleet.close()


def delivery_of_dead_node(build):
    """A node dies, is stopped or sleeps while it sends: another one sends the same delivery."""
    for number, options in ((signal.SIGKILL, ()), (signal.SIGSTOP, ()),
                            (signal.SIGTERM, ("--lease-ms", "600000", "--webhook-timeout-ms", "60000"))):
        fleet, receiver, a = with_webhook(build, "--webhook-timeout-ms", "400", "--webhook-retry-ms", "60000",
                                          *options)
        try:
            fleet.node()
            receiver.quiet.clear()
            a.create(a.upload("good"), name="1 tasks of 5 ms")
            wait("it is sent", lambda: len(receiver.got) == 1)
            node = wait("somebody sends", lambda: sender_of(fleet))  # pylint: disable=cell-var-from-loop
            if number == signal.SIGTERM:
                node.signal(number)
            else:
                os.killpg(node.process.pid, number)
            receiver.quiet.set()
            wait("it is delivered", lambda: all_delivered(fleet, 1))  # pylint: disable=cell-var-from-loop
            expect(len(receiver.got) == 2 and len(set(receiver.got)) == 1, receiver.got)
            if number == signal.SIGSTOP:
                os.killpg(node.process.pid, signal.SIGCONT)
                expect(node.stop() == 0, "it does not stop")
            expect(fleet.number("SELECT attempts FROM deliveries WHERE state = 'delivered'") == 2, "attempts")
        finally:
            receiver.end()
            fleet.close()


def killed_at_commit(build):
    """The database commits and is killed before its answer: what was committed is there, once."""
    fleet = Fleet(build, "--lease-ms", "5000")

    def die():
        control("stop", "-m", "immediate")
        control("start")

    try:
        node = wired(fleet)
        trace = node.upload("good")
        node.wire.on_lie = die
        for i in range(3):
            node.wire.lie = 1
            job = node.create(trace, name="6 tasks of 10 ms")
            wait("it was killed", lambda: node.wire.lie == 0)
            expect(fleet.number("SELECT count(*) FROM jobs") == i + 1, "a job was made twice, or not at all")
            node.wire.lie = 1
            expect(node.finish(job)["state"] == "done", "not done")
            fleet.check_history(job, 6)
        node.wire.end()
    finally:
        fleet.close()


def lease_of_another_node(build):
    """A node whose tasks went to another one, with the old token or none that was ever given out."""
    fleet = Fleet(build, "--lease-ms", "400")
    try:
        a, b = fleet.node(), fleet.node()
        job = a.create(a.upload("good"), name="40 tasks of 100 ms")
        wait("both work", lambda: fleet.number("SELECT count(DISTINCT token >> 32) FROM leases") >= 2)
        # What the other node has is given a token that it does not know, as if its lease had gone on.
        epoch = psql(fleet.address, f"SELECT epoch FROM nodes WHERE pid = {b.process.pid}")
        taken = wait("a lease of that node is changed", lambda: psql(
            fleet.address, f"WITH l AS (UPDATE leases SET token = token + 1000000 WHERE token >> 32 = {epoch}) "
                           f"UPDATE tasks SET token = token + 1000000 WHERE token >> 32 = {epoch} RETURNING id"
        ).splitlines())
        expect(a.finish(job)["state"] == "done", "not done")
        fleet.check_history(job, 40)
        begun = [line[3] for line in fleet.history() if line[2] == "begin"]
        expect(any(begun.count(task) > 1 for task in taken), "a result under a token of another lease counted")
    finally:
        fleet.close()


def fair_and_by_priority(build):
    """Over all nodes: another project is not kept waiting by a long job, nor one of a higher priority."""
    fleet = Fleet(build)
    try:
        a, b = fleet.node(), fleet.node()
        trace = a.upload("good")
        long = a.create(trace, name="80 tasks of 50 ms", project="many")
        wait("both work", lambda: fleet.number("SELECT count(DISTINCT token >> 32) FROM leases") >= 2)
        other = b.create(trace, name="8 tasks of 50 ms", project="few")
        urgent = a.create(trace, name="8 tasks of 50 ms", project="many", priority=5)
        for job in (other, urgent):
            expect(b.finish(job)["state"] == "done", "not done")
            left = a.job(long)["progress"]["open"]
            expect(left > 10, f"{left} tasks of the long job are left")
        expect(a.finish(long)["state"] == "done", "not done")
        for job, count in ((long, 80), (other, 8), (urgent, 8)):
            fleet.check_history(job, count)
    finally:
        fleet.close()


def sums(first, second):
    """Two threads that add to each other's variable; an assertion that no order of them breaks, and that takes
    long to prove."""
    reached, states = set(), {(0, 0, 1, 1)}
    while states:
        p, q, i, j = states.pop()
        if (p, q) == (first, second):
            reached.add(i)
        states |= ({(p + 1, q, i + j, j)} if p < first else set()) | ({(p, q + 1, i, i + j)} if q < second else set())
    never = sorted(reached)[len(reached) // 2]
    while never in reached:
        never += 1
    lines = [{"format": "foretell", "version": 1, "threads": ["M", "T1", "T2"], "variables": {"i": 1, "j": 1},
              "locals": {}}]
    lines += [{"thread": "M", "kind": "fork", "child": child} for child in ("T1", "T2")]
    lines += [{"thread": "T1", "kind": "assign", "set": {"i": "(+ i j)"}}] * first
    lines += [{"thread": "T2", "kind": "assign", "set": {"j": "(+ j i)"}}] * second
    lines += [{"thread": "M", "kind": "join", "child": child} for child in ("T1", "T2")]
    lines += [{"thread": "M", "kind": "assert", "term": f"(not (= i {never}))"}]
    return "".join(json.dumps(line) + "\n" for line in lines)


def split_straggler(build):
    """A subproblem that takes long is split, its parts go to both nodes, and it has one verdict."""
    fleet = Fleet(build, "--split-ms", "20", sleepers=False)
    try:
        a, b = fleet.node(), fleet.node()
        wait("they know of each other's workers", lambda: all(sum(
            other.get("workers", 0) for other in node.good("GET", "/v1/workers")["nodes"]) == 2 for node in (a, b)))
        psql(fleet.address, "CREATE TABLE had (token bigint); CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql "
                            "AS $$ BEGIN INSERT INTO had VALUES (NEW.token); RETURN NULL; END $$; CREATE TRIGGER "
                            "note AFTER UPDATE ON tasks FOR EACH ROW WHEN (NEW.state = 'leased' AND "
                            "NEW.id & 134217728 <> 0) EXECUTE FUNCTION note()")
        job = a.create(a.upload(sums(7, 7)), checks=["assertion"])
        snapshot = b.finish(job)
        counts = snapshot["checks"]["assertion"]
        expect(snapshot["state"] == "done" and counts["safe"] == counts["candidates"] == 1, snapshot)
        expect(fleet.number("SELECT count(*) FROM had") > 2, "it was not split")
        expect(fleet.number("SELECT count(DISTINCT token >> 32) FROM had") == 2, "one node had all of its parts")
        fleet.check_database()
    finally:
        fleet.close()


def roles(build):
    """One node serves, another one works without serving; both are seen."""
    fleet = Fleet(build)
    try:
        front = fleet.node("--role", "front")
        job = front.create(front.upload("good"), name="12 tasks of 20 ms")
        worker = fleet.node("--role", "workers", "--socket", "")
        expect(not os.path.exists(worker.socket()), "a node for work alone serves")
        expect(front.finish(job)["state"] == "done", "not done")
        fleet.check_history(job, 12)
        nodes = wait("both are listed", lambda: (lambda n: n if len(n) == 2 and sum(
            node.get("workers", 0) for node in n) == 1 else None)(front.good("GET", "/v1/workers")["nodes"]))
        expect(sum(node["own"] for node in nodes) == 1, nodes)
        done = subprocess.run([os.path.join(build, "bin", "foretell"), "top", "--once", "--server",
                               "unix:" + front.socket()], capture_output=True, text=True, timeout=PATIENCE)
        expect(done.stdout.count("\nnode ") == 2 and "fleet   2 nodes" in done.stdout, done.stdout + done.stderr)
        status, metrics = front.call("GET", "/metrics")
        expect(status == 200 and "foretell_nodes 2" in metrics and "foretell_node_workers{node=" in metrics, metrics)
        expect(worker.stop() == 0, "it does not stop")
    finally:
        fleet.close()


def refusals(build):
    """A password on the command line, a wrong one, a schema of the future."""
    fleet = Fleet(build)
    try:
        a = fleet.node()

        def start(address, **variables):
            command = a.command()
            command[command.index("--store") + 1] = address
            command[command.index("--state") + 1] = os.path.join(fleet.folder, "other")
            return subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE,
                                  env={**os.environ, **variables})

        secret = "tell-nobody"
        done = start(fleet.address.replace("foretell@", f"foretell:{secret}@"))
        said = done.stdout + done.stderr
        expect(done.returncode != 0 and "PGPASSFILE" in said and secret not in said, said)
        done = start(fleet.address + f"&password={secret}")
        said = done.stdout + done.stderr
        expect(done.returncode != 0 and "PGPASSFILE" in said and secret not in said, said)
        host = os.environ["FT_TEST_POSTGRES_FOLDER"]
        psql(SERVER, "SET password_encryption = 'scram-sha-256'; CREATE ROLE locked LOGIN PASSWORD 'right'")
        with open(os.path.join(host, "data", "pg_hba.conf"), encoding="ascii") as file:
            rules = file.read()
        with open(os.path.join(host, "data", "pg_hba.conf"), "w", encoding="ascii") as file:
            file.write("local all locked scram-sha-256\n" + rules)
        psql(SERVER, "SELECT pg_reload_conf()")

        def asks_for_password():  # the server reads its rules when it comes to it
            ask = ["psql", "-X", "-w", "-d", fleet.address.replace("foretell@", "locked@"), "-c", "SELECT 1"]
            return subprocess.run(ask, capture_output=True, timeout=PATIENCE, check=False).returncode != 0

        wait("the server asks for passwords", asks_for_password)
        passwords = os.path.join(fleet.folder, "passwords")
        with open(passwords, "w", encoding="ascii") as file:
            file.write(f"*:*:*:*:{secret}\n")
        os.chmod(passwords, 0o600)
        done = start(fleet.address.replace("foretell@", "locked@"), PGPASSFILE=passwords)
        said = done.stdout + done.stderr
        expect(done.returncode != 0 and "password authentication failed" in said and secret not in said, said)
        version = fleet.number("SELECT version FROM schema_version")
        psql(fleet.address, "UPDATE schema_version SET version = 999")
        done = start(fleet.address)
        said = done.stdout + done.stderr
        expect(done.returncode != 0 and "schema version 999" in said, said)
        wait("it waits", lambda: a.call("GET", "/ready")[0] == 503)
        expect(a.call("GET", "/live")[0] == 200, "it is not alive")
        psql(fleet.address, f"UPDATE schema_version SET version = {version}")
        wait("it is ready again", lambda: a.call("GET", "/ready")[0] == 200)
        trace = a.upload("good")
        expect(a.finish(a.create(trace, name="3 tasks of 1 ms"))["state"] == "done", "it does not go on")
    finally:
        fleet.close()


TESTS = [one_foretell, killed_node, stopped_node, restarted_database, cancelled_elsewhere, limited_project,
         drained_node, stopped_beside_hung_database, lied_commit, killed_at_commit, lease_of_another_node,
         delivered_once, split_straggler, fair_and_by_priority, delivery_of_dead_node, roles, refusals]


def main(tests):
    build, names = sys.argv[1], sys.argv[2:]
    failed = 0
    for test in tests:
        if names and test.__name__ not in names:
            continue
        start = time.monotonic()
        try:
            test(build)
            print(f"ok      {test.__name__} ({time.monotonic() - start:.1f} s)", flush=True)
        except (Failure, OSError, subprocess.TimeoutExpired, http.client.HTTPException) as error:
            failed += 1
            print(f"FAILED  {test.__name__}: {error}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(TESTS))
