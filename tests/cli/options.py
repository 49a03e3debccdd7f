"""Every option of every command of `foretell` has an effect.

usage: tests/cli/options.py BUILD [COMMAND [OPTION]]

The rows of EFFECTS name an option, the commands whose option it is, and a function that runs the
command with and without it and asserts what changes. An option that --help lists and that has no row
is a failure, and so is a row whose option is gone. With COMMAND and OPTION that case runs alone.

Three things stand for the world: a server of this file (Server) that keeps the requests it gets and
answers with a job that has no findings; a foretelld that stays, for commands that ask about jobs; a
recorded program with a race, an atomicity violation that is set apart, and a schedule that is long
enough to be folded (PROGRAM). About a minute.
"""
import http.server
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse

BUILD = pathlib.Path(sys.argv[1]).resolve()
BIN = BUILD / "bin"
SOURCE = pathlib.Path(__file__).resolve().parents[2]
WORK = pathlib.Path(tempfile.mkdtemp(prefix="foretell-options-"))

PROGRAM = r"""
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static pthread_mutex_t outer = PTHREAD_MUTEX_INITIALIZER, inner = PTHREAD_MUTEX_INITIALIZER;
static int looked, raced, counted;
static void *look(void *unused)
{
    pthread_mutex_lock(&outer);
    for (int i = 0; i < 2; i++) {
        pthread_mutex_lock(&inner);
        looked += 0 * looked;
        pthread_mutex_unlock(&inner);
    }
    pthread_mutex_unlock(&outer);
    return unused;
}
static int peek(void)
{
    int seen = 0;
    pthread_mutex_lock(&outer);
    for (int i = 0; i < 2; i++) {
        pthread_mutex_lock(&inner);
        seen += looked;
        pthread_mutex_unlock(&inner);
    }
    pthread_mutex_unlock(&outer);
    return seen;
}
static void *work(void *unused)
{
    for (int i = 0; i < 20; i++) {
        pthread_mutex_lock(&inner);
        counted++;
        looked++;
        pthread_mutex_unlock(&inner);
    }
    raced++;
    return unused;
}
int main(int argc, char **argv)
{
    pthread_t threads[2];
    int code = argc > 1 && !strcmp(argv[1], "fail") ? 3 : 0;
    FILE *input = fopen("input", "r");
    char line[32] = "";
    if (input) fgets(line, sizeof line, input);
    pthread_create(&threads[0], NULL, work, NULL);
    pthread_create(&threads[1], NULL, look, NULL);
    raced++;
    peek();
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    printf("read %s\n", line);
    fflush(stdout);
    while (getenv("HANG") || (argc > 1 && !strcmp(argv[1], "pause"))) pause();
    if (argc > 1 && !strcmp(argv[1], "crowd"))
        for (int i = 0; i < 200000; i++) counted += i;
    return code;
}
"""


# ---- Running -----------------------------------------------------------------------------------


class Result:
    def __init__(self, code, out, err):
        self.code, self.out, self.err = code, out, err

    def __repr__(self):
        return f"exit code {self.code}\n{self.out[-600:]}\n{self.err[-600:]}"


def environment(**more):
    env = {k: v for k, v in os.environ.items() if not k.startswith("FORETELL_")}
    env |= {"PATH": f"{BIN}:{env['PATH']}", "TMPDIR": str(WORK), "TERM": "xterm"}
    return env | more


def quick(words):
    """One run, and nothing explored, where the test is about another option of `foretell test`."""
    if words[:1] != ["test"]:
        return words
    added = [] if "--explore" in words else ["--explore", "0"]
    named = {"--runs", "-o", "--output"} & set(words)  # with --runs the traces have other names
    added += [] if named else ["--runs", "1"]
    return ["test", *added, *words[1:]]


def run(*words, program=None, stdin="", **more):
    words = quick([str(word) for word in words])
    done = subprocess.run([str(program or BIN / "foretell"), *words], input=stdin, cwd=WORK, text=True,
                          capture_output=True, env=environment(**more), timeout=120, errors="replace")
    return Result(done.returncode, done.stdout, done.stderr)


def need(condition, *seen):
    if not condition:
        raise AssertionError("\n".join(repr(one) for one in seen))


def fresh(name):
    fresh.n = getattr(fresh, "n", 0) + 1
    return WORK / f"{fresh.n}.{name}"


def written(name, text):
    path = fresh(name)
    path.write_text(text)
    return path


# ---- The server that keeps what it is asked ----------------------------------------------------


class Server(http.server.ThreadingHTTPServer):
    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.requests, self.ends = [], True
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_port}"

    def clear(self, ends=True):
        self.requests, self.ends = [], ends

    def bodies(self, method, path):
        return [body for m, p, body in self.requests if m == method and p.split("?")[0] == path]


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    JOB = {"job": "j", "trace": "0" * 64, "state": "done", "model": "maximal",
           "checks": {"race": {"violation": 0, "safe": 1}}}

    def answer(self):
        length = self.headers.get("content-length")
        body = self.rfile.read(int(length)) if length else b""
        self.server.requests.append((self.command, self.path, body))
        job = self.JOB | {"state": "done" if self.server.ends else "solving"}
        path = self.path.split("?")[0]
        reply = {"/v1/traces": {"trace": "0" * 64}, "/v1/jobs/j": job,
                 "/v1/jobs/j/findings": job | {"findings": [], "undecided": []},
                 "/v1/reviews": {"reviews": []}, "/v1/workers": {"workers": []},
                 "/v1/stats": {"now": {}, "at": 1, "started": 0}}.get(path, {})
        if path == "/v1/jobs":
            reply = {"job": "j"} if self.command == "POST" else {"jobs": []}
        text = json.dumps(reply).encode()
        self.send_response(201 if self.command == "POST" else 200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    do_GET = do_POST = do_PUT = do_DELETE = answer

    def handle(self):
        try:
            super().handle()
        except ConnectionResetError:  # a client that was interrupted
            pass

    def log_message(self, *unused):
        pass


# ---- The three things --------------------------------------------------------------------------


class World:
    def __init__(self):
        self.server = Server()
        (WORK / "all.c").write_text(PROGRAM)
        (WORK / "input").write_text("recorded")
        subprocess.run(["foretell-cc", "-g", "all.c", "-o", "all", "-pthread"], cwd=WORK, env=environment(),
                       check=True)
        programs = pathlib.Path(__file__).resolve().parent.parent / "programs"
        for name in "explored", "racing", "printed":
            subprocess.run(["foretell-cc", "-g", programs / f"{name}.c", "-o", name, "-pthread"],
                           cwd=WORK, env=environment(), check=True)
        done = run("record", "-q", "-o", "all.ftb", "--", "./all")
        need(done.code == 0, done)
        self.trace = WORK / "all.ftb"
        self.start_daemon()
        done = run("submit", "--server", self.daemon_url, self.trace)
        need(done.code == 0, done)
        self.job = done.out.strip().rsplit("/", 1)[-1]
        need(run("show", "--wait", "-q", "--server", self.daemon_url, self.job).code == 1)
        need(run("check", "-q", "--witness-dir", "found", self.trace).code == 1)
        self.witness = next(path for path in sorted((WORK / "found").iterdir())
                            if json.loads(path.read_text())["claim"]["kind"] == "race")

    def start_daemon(self):
        self.daemon_url = f"unix:{WORK}/socket"
        self.daemon = subprocess.Popen(
            [BIN / "foretelld", "--listen=", "--socket", WORK / "socket", "--state", WORK / "state"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment())
        for _ in range(400):
            if run("jobs", "--server", self.daemon_url).code == 0:
                return
            time.sleep(0.05)
        raise AssertionError("foretelld does not start")

    def close(self):
        self.daemon.terminate()
        self.daemon.wait()
        subprocess.run(["rm", "-rf", WORK])

    # The command on a recording with findings, printed here.
    def view(self, command, *options, **more):
        if command in ("cover", "context"):
            return answered(command, *options, **more)
        tail = {"check": [self.trace], "show": ["--server", self.daemon_url, self.job],
                "test": ["--no-replay", "--explore", "0", "./all"],
                "explore": ["./explored", "update"]}[command]
        return run(command, *options, *tail, **more)

    # The command with findings against the daemon that stays.
    def remote(self, command, *options):
        return self.view(command, *(["--server", self.daemon_url] if command != "show" else []), *options)

    # The body of the job that the command starts.
    def posted(self, command, *options):
        self.server.clear()
        tail = ["--no-replay", "./all"] if command == "test" else [self.trace]
        done = run(command, "--server", self.server.url, *options, *tail)
        bodies = self.server.bodies("POST", "/v1/jobs")
        need(bodies, done)
        return json.loads(bodies[0])

    def record(self, *options, name="run.ftb", words=("./all",)):
        path = fresh(name)
        return path, run("record", *options, "-o", path, "--", *words)


# ---- Effects: of options that a job has ---------------------------------------------------------


def member(name, given, wanted, path=None):
    """The option NAME with the value `given` makes the job's member at `path` (default: NAME) `wanted`."""
    def effect(world, command):
        def value(body):
            for step in path or [name]:
                body = body.get(step) if body is not None else None
            return body
        need(value(world.posted(command)) != wanted)
        body = world.posted(command, f"--{name}", given)
        need(value(body) == wanted, body)
    return effect


def of_property(world, command):
    one = {"kind": "before", "name": "n", "first": "all.c:1", "then": "all.c:2"}
    body = world.posted(command, "--property", written("one.json", json.dumps(one)))
    need(body["properties"] == [one] and body["checks"] == [], body)


def of_name(world, command):
    need(world.posted(command)["name"] == ("all" if command == "test" else "all.ftb"))
    need(world.posted(command, "--name", "nightly")["name"] == "nightly")


def of_project(world, command):
    if command == "review":
        world.server.clear()
        run("review", "--server", world.server.url, "--project", "app")
        need("project=app" in world.server.requests[0][1], world.server.requests)
        return
    need(world.posted(command, "--project", "app")["project"] == "app")
    need(any(path == "/v1/traces?project=app" for _, path, _ in world.server.requests), world.server.requests)


# Interrupted while the job runs: it is cancelled, or goes on.
def interrupted(world, command, *options):
    world.server.clear(ends=False)
    tail = ["--no-replay", "./all"] if command == "test" else [world.trace]
    words = quick([command, "--server", world.server.url, *map(str, options), *tail])
    child = subprocess.Popen([BIN / "foretell", *words], cwd=WORK,
                             env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    deadline = time.monotonic() + 60
    while not any(m == "GET" and p == "/v1/jobs/j" for m, p, _ in world.server.requests):
        need(time.monotonic() < deadline, world.server.requests)
        time.sleep(0.01)
    child.send_signal(signal.SIGINT)
    said = child.communicate(timeout=60)[1].decode()
    return any(m == "DELETE" for m, _, _ in world.server.requests), said


def of_detach(world, command):
    cancelled, said = interrupted(world, command)
    need(cancelled and "cancelled" in said, said)
    cancelled, said = interrupted(world, command, "--detach")
    need(not cancelled and "foretell show --wait j" in said, said)


# The private daemon is the foretelld beside the program: here one that writes down its arguments.
def of_workers(world, command):
    folder = fresh("bin")
    folder.mkdir()
    os.link(BIN / "foretell", folder / "foretell")
    (folder / "foretelld").write_text(f'#!/bin/sh\necho "$@" >{folder}/arguments\nexit 1\n')
    (folder / "foretelld").chmod(0o755)
    tail = ["--no-replay", "./all"] if command == "test" else [world.trace]
    run(command, "--workers", "3", *tail, program=folder / "foretell")
    need("--workers 3" in (folder / "arguments").read_text())


# ---- Effects: of options about what is printed --------------------------------------------------


def of_format(world, command):
    need(world.view(command, "--format", "html").out.lstrip().startswith("<!DOCTYPE"))
    need(json.loads(world.view(command, "-f", "sarif").out)["version"] == "2.1.0")


def of_report(world, command):
    first, second = fresh("junit.xml"), fresh("report.md")
    world.view(command, "--report", f"junit={first}", "--report", f"markdown={second}")
    need("<testsuite" in first.read_text() and "|" in second.read_text())


def of_color(world, command):
    if command == "top":
        plain, colored = (run("top", "--once", "--color", when, "--server", world.daemon_url)
                          for when in ("never", "always"))
    else:
        plain, colored = (world.view(command, "--color", when) for when in ("never", "always"))
    need("\033[" in colored.out and "\033[" not in plain.out, colored, plain)


def of_source_root(world, command):
    folder = fresh("source")
    folder.mkdir()
    if command in ("cover", "context"):
        (folder / "located.c").write_text(f"/* foretell: ignore {FOUND[command]} -- on purpose */\n" * 9)
        plain, done = world.view(command), world.view(command, "--source-root", folder)
        need(plain.code == 1 and done.code == 0, plain, done)
        return
    if command == "explore":
        (folder / "explored.c").write_text("// another text\n" * 200)
        need("another text" in world.view(command, "--source-root", folder).out)
        return
    text = PROGRAM.replace("    raced++;\n", "    raced++; /* foretell: ignore race -- on purpose */\n")
    (folder / "all.c").write_text(text)
    done = world.view(command, "--check", "race", "--source-root", folder) if command != "show" else \
        world.view(command, "--source-root", folder)
    need("on purpose" in done.out, done)


def of_baseline(world, command):
    known = fresh("known.txt")
    need(world.view(command, "--write-baseline", known).code == 1)
    need(re.search(r"^[0-9a-f]{16}\b", known.read_text(), re.M), known.read_text())
    done = world.view(command, "--baseline", known)
    need(done.code == 0, done)


def of_program(world, command):
    """As data, two threads hold one lock at the lines that race in the recording: proved, and said beside the
    finding, which stays one. A program that has no such lines says nothing."""
    report = json.loads(world.view(command, "--json").out)
    race = next(f for f in report["findings"] if f["check"] == "race")
    lines = [int(a["location"].split(":")[1]) for a in race["accesses"]]
    need(len(set(lines)) <= 2 and "context" not in race, race)
    thread = ("function @t{0}(%a: i64) -> i64 {{\n  b:\n    lock @l\n    store i32 {0}, @n !0:{1}:1\n    unlock @l\n"
              "    return i64 0\n}}\n")
    text = ('program 1\nfile "all.c"\nobject @l 40 align 8\nobject @n 4 align 4\n'
            + thread.format(0, lines[0]) + thread.format(1, lines[1])
            + "function @main() -> i32 {\n  b:\n    %t = create @t0, 0\n    %u = create @t1, 0\n    return i32 0\n}\n")
    done = world.view(command, "--json", "--program", written("all.program", text))
    found = next(f for f in json.loads(done.out)["findings"] if f["key"] == race["key"])
    need(done.code == 1 and found["fingerprint"] == race["fingerprint"], done)
    need("context" in found, found)
    need(found["context"]["together"] == "never" and "same lock" in found["context"]["reason"], found)
    need("no run of the program as data has these places together" in found["message"], found["message"])
    other = world.view(command, "--program", written("other.program", text.replace("all.c", "other.c")))
    need(other.code == 1 and "as data" not in other.out, other)
    need(world.view(command, "--program", "no such").code == 2, world.view(command, "--program", "no such"))


def of_new_since(world, command):
    need(world.remote(command).code == 1)
    done = world.remote(command, "--new-since", world.job)
    need(done.code == 0, done)


def of_suppressions(world, command):
    known = fresh("known.txt")
    world.view(command, "--write-baseline", known)
    prints = re.findall(r"^[0-9a-f]{16}\b", known.read_text(), re.M)
    lines = "".join(f"ignore all fingerprint={one} until=never -- known\n" for one in prints)
    done = world.view(command, "--suppressions", written("ignore.txt", lines))
    need(done.code == 0, done)


def of_fail_on(world, command):
    need(world.view(command, "--fail-on", {"explore": "failure", **FOUND}.get(command, "race")).code == 1)
    done = world.view(command, "--fail-on", "deadlock")
    need(done.code == 0, done)


# The project of the daemon has the findings from before.
def of_fail_on_new(world, command):
    need(world.remote(command).code == 1)
    done = world.remote(command, "--fail-on-new")
    need(done.code == (1 if command == "show" else 0), done)
    if command == "show":  # of a later job of the same trace
        job = run("submit", "--server", world.daemon_url, world.trace).out.strip().rsplit("/", 1)[-1]
        done = run("show", "--wait", "--fail-on-new", "--server", world.daemon_url, job)
        need(done.code == 0, done)


def of_witness_dir(world, command):
    folder = fresh("witnesses")
    world.view(command, "--witness-dir", folder)
    need("claim" in json.loads(next(folder.iterdir()).read_text()))


def lines_more(option, pattern):
    def effect(world, command):
        without, done = world.view(command), world.view(command, option)
        need(re.search(pattern, done.out) and not re.search(pattern, without.out), done, without)
    return effect


def of_full(world, command):
    without, done = (len(world.view(command, *words).out.splitlines()) for words in ((), ("--full",)))
    need(done > without, done, without)


def of_quiet(world, command):
    if command == "record":
        need("events" in world.record()[1].err and world.record("--quiet")[1].err == "")
        return
    if command == "explore":
        need("A schedule that hits it" in world.view(command).out)
        need("A schedule that hits it" not in world.view(command, "-q").out)
        return
    done = world.view(command, "--quiet")
    need("Data race" not in done.out and done.out.count("\n") <= 3 and "uploading" not in done.err, done)
    need(world.view(command, "-q").out.count("\n") == done.out.count("\n"))


def of_json(world, command):
    words = {"submit": ["--server", world.daemon_url, world.trace], "jobs": ["--server", world.daemon_url],
             "verify": [world.witness, world.trace], "stats": [world.trace], "intervals": [world.trace],
             "diff": ["--server", world.daemon_url, world.job, world.job],
             "review": ["--server", world.daemon_url], "top": ["--once", "--server", world.daemon_url],
             "replay": ["--stop", world.witness, world.trace, "--", "./all"]}
    done = world.view(command, "--json") if command not in words else run(command, "--json", *words[command])
    need(isinstance(json.loads(done.out), dict), done)


def of_dot(world, command):
    trace = SOURCE / "examples" / "intervals.ndjson"
    need(run(command, trace).out.startswith("graph"))
    need(run(command, "--dot", trace).out.startswith("digraph"))


# ---- Effects: of the other options --------------------------------------------------------------


def of_server(world, command):
    world.server.clear()
    tail = {"check": [world.trace], "submit": [world.trace], "test": ["--no-replay", "./all"], "jobs": [],
            "top": ["--once"], "show": ["j"], "cancel": ["j"], "witness": ["f"], "verify": [world.witness],
            "replay": [world.witness, "--", "./all"], "diff": ["j", "k"], "review": [],
            "intervals": [world.trace]}[command]
    run(command, "--server", world.server.url, *tail)
    need(world.server.requests)


def of_wait(world, command):
    world.server.clear(ends=False)
    done = run(command, "--server", world.server.url, "j")
    need(done.code == 3, done)
    threading.Timer(0.3, lambda: setattr(world.server, "ends", True)).start()
    done = run(command, "--wait", "--server", world.server.url, "j")
    need(done.code == 0, done)


def of_output(world, command):
    path = fresh("out")
    if command in ("check", "show"):
        need(world.view(command, "-o", path).out == "" and "Data race" in path.read_text())
    elif command == "test":
        done = world.view(command, "--output", path)
        need((path / "run.ftb").is_file() and done.code == 1, done)
    elif command == "record":
        path, done = world.record()
        need(path.read_bytes()[:2] != b"" and done.code == 0, done)
    elif command == "witness":
        report = json.loads(run("show", "--json", "--server", world.daemon_url, world.job).out)
        finding = report["findings"][0]["finding"]
        run("witness", "--server", world.daemon_url, finding, "-o", path)
        need("claim" in json.loads(path.read_text()))
    elif command == "convert":
        run("convert", world.trace, "-o", f"{path}.ndjson")
        need(json.loads(pathlib.Path(f"{path}.ndjson").read_text().splitlines()[0]))
    else:
        inputs = [SOURCE / "examples" / f"branch_run{i}.ndjson" for i in (1, 2)]
        done = run("merge", *inputs, "-o", path)
        need(done.out == "" and path.stat().st_size > 0, done)


# NDJSON begins with a brace.
def of_to(world, command):
    texts = {}
    for format in ("ndjson", "binary"):
        path = fresh("out")
        if command == "record":
            done = run("record", "--to", format, "-o", path, "--", "./all")
        elif command == "convert":
            done = run("convert", "--to", format, world.trace, path)
        else:
            done = run("merge", "--to", format, *(SOURCE / "examples" / f"branch_run{i}.ndjson" for i in (1, 2)),
                       "-o", path)
        need(done.code == 0, done)
        texts[format] = path.read_bytes()[:1] == b"{"
    need(texts == {"ndjson": True, "binary": False}, texts)


def schedule(path):
    """Which thread each event is of."""
    text = run("convert", "--to", "ndjson", path, "-").out
    return [json.loads(line).get("thread") for line in text.splitlines()]


# What `record` or `test` recorded with the options: the traces.
def recorded(world, command, *options, words=("./all",)):
    if command == "record":
        path, done = world.record(*options, words=words)
        return [path], done
    folder = fresh("test")
    done = run("test", "--no-replay", "-o", folder, *options, *words)
    return sorted(folder.glob("*.ftb")), done


def of_seed(world, command):
    one, same, other = (schedule(recorded(world, command, "--seed", seed, "--turn", 3)[0][0]) for seed in (5, 5, 6))
    need(one == same and one != other)


def of_turn(world, command):
    switches = [sum(a != b for a, b in zip(s, s[1:])) for s in
                (schedule(recorded(world, command, "--turn", turn)[0][0]) for turn in (1, 1000))]
    need(switches[0] > switches[1], switches)


def of_annotations(world, command):
    codes = []
    for options in ((), ("--annotations", written("rules", "ignore variable raced\n"))):
        traces, _ = recorded(world, command, *options)
        codes.append(run("check", "-q", "--check", "race", traces[0]).code)
    need(codes == [1, 0], codes)


MAILBOX = r"""
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
void put(int *block);
int *get(void);
static void *give(void *unused)
{
    int *block = malloc(sizeof *block);
    *block = 1;
    put(block);
    return unused;
}
int main(void)
{
    pthread_t thread;
    int *block;
    pthread_create(&thread, NULL, give, NULL);
    while (!(block = get())) sched_yield();
    ++*block;
    pthread_join(thread, NULL);
    return *block - 2;
}
"""
MAILBOX_LIBRARY = r"""
static int *volatile slot;
void put(int *block) { slot = block; }
int *get(void) { return slot; }
"""


def of_unordered_hand_overs(world, command):
    (WORK / "box.c").write_text(MAILBOX)
    (WORK / "over.c").write_text(MAILBOX_LIBRARY)
    subprocess.run("gcc -O1 -shared -fPIC over.c -o libover.so && foretell-cc -g box.c -o box -L. -lover "
                   "-Wl,-rpath,'$ORIGIN' -pthread", shell=True, cwd=WORK, env=environment(), check=True)
    codes = []
    for options in ((), ("--unordered-hand-overs",)):
        traces, _ = recorded(world, command, *options, words=("./box",))
        codes.append(run("check", "-q", "--check", "race", traces[0]).code)
    need(codes == [0, 1], codes)


def of_runs(world, command):
    if command == "record":
        path, done = world.record("--runs", 2)
        need(path.with_suffix(".2.ftb").is_file(), done)
    else:
        traces, done = recorded(world, command, "--runs", 2)
        need([path.name for path in traces] == ["run.1.ftb", "run.2.ftb"], traces, done)


def of_inputs_of(world, command):
    (WORK / "input").write_text("first")
    traces, _ = recorded(world, "record")
    (WORK / "input").write_text("second")
    need("read second" in recorded(world, command)[1].out)
    done = recorded(world, command, "--inputs-of", traces[0])[1]
    need("read first" in done.out, done)


def of_limit(world, command):
    done = recorded(world, command, "--limit", 1, words=("./all", "crowd"))[1]
    need("limit" in done.err, done)
    need("limit" not in recorded(world, command, words=("./all", "crowd"))[1].err)


def of_timeout(world, command):
    started = time.monotonic()
    traces, done = recorded(world, command, "--timeout", 1, words=("./all", "pause"))
    need(time.monotonic() - started < 60, done)
    need("still running after 1 second" in run("check", traces[0]).out, done)


def of_expect_exit(world, command):
    codes = []
    for options in ((), ("--expect-exit", 3)):
        traces, _ = recorded(world, command, *options, words=("./all", "fail"))
        codes.append(run("check", "-q", "--check", "failure", traces[0]).code)
    need(codes == [1, 0], codes)


def of_exit_code(world, command):
    need(world.record(words=("./all", "fail"))[1].code == 0)
    need(world.record("--exit-code", words=("./all", "fail"))[1].code == 3)


def of_symbolic(world, command):
    done = recorded(world, command, "--symbolic")[1]
    need(done.code == 2 and "foretell-cc --symbolic" in done.err, done)


def replayed(world, *options, **more):
    return run("replay", *options, world.witness, world.trace, "--", "./all", **more)


def of_stop(world, command):
    need("stopped there" in replayed(world, "--stop").out and "stopped there" not in replayed(world).out)


def of_no_replay(world, command):
    need("replayed" in run("test", "./all").out and "replayed" not in run("test", "--no-replay", "./all").out)


def of_interval(world, command):
    gaps = []
    for seconds in (1, 1000):
        world.server.clear()
        child = subprocess.Popen([BIN / "foretell", "top", "--json", "--interval", str(seconds), "--server",
                                  world.server.url], stdout=subprocess.DEVNULL, env=environment())
        deadline = time.monotonic() + (20 if seconds == 1 else 2)
        while time.monotonic() < deadline and \
                sum(path == "/v1/stats" for _, path, _ in world.server.requests) < 2:
            time.sleep(0.05)
        child.terminate()
        child.wait()
        gaps.append(sum(path == "/v1/stats" for _, path, _ in world.server.requests))
    need(gaps == [2, 1], gaps)


def of_once(world, command):
    done = run("top", "--once", "--server", world.daemon_url)
    need(done.code == 0 and "WORKER" in done.out.upper(), done)


def put(world, *options):
    world.server.clear()
    run("review", "--server", world.server.url, "0123456789abcdef", *options)
    return [json.loads(body) for body in world.server.bodies("PUT", "/v1/reviews/0123456789abcdef")]


def of_state(world, command):
    need(put(world) == [] and put(world, "--state", "fixed")[0]["state"] == "fixed")


def of_reason(world, command):
    need(put(world, "--state", "false", "--reason", "known")[0]["reason"] == "known")


def of_help(world, command):
    for word in ("--help", "-h"):
        done = run(command, word)
        need(done.code == 0 and done.out.startswith(f"usage: foretell {command} "), done)


# A program that goes another way once it has run: it hangs, or ends before its race.
STAMP = r"""
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>
static int raced;
static void *work(void *unused)
{
    raced++;
    return unused;
}
int main(int argc, char **argv)
{
    pthread_t thread;
    int again = access("stamp", F_OK) == 0;
    close(creat("stamp", 0666));
    if (again && argc > 1) pause();
    if (again) return 0;
    pthread_create(&thread, NULL, work, NULL);
    raced++;
    pthread_join(thread, NULL);
    return 0;
}
"""


def stamped(world, *options, words=()):
    if not (WORK / "stamp.c").exists():
        (WORK / "stamp.c").write_text(STAMP)
        subprocess.run(["foretell-cc", "-g", "stamp.c", "-o", "stamped", "-pthread"], cwd=WORK, env=environment(),
                       check=True)
    (WORK / "stamp").unlink(missing_ok=True)
    begun = time.monotonic()
    done = run("test", "--check", "race", *options, "./stamped", *words)
    return done, time.monotonic() - begun


def of_live_inputs(world, command):
    if command == "test":
        done, _ = stamped(world)
        need("replayed: race" in done.out, done)
        done, _ = stamped(world, "--live-inputs")
        need("replayed: race" not in done.out, done)
        return
    (WORK / "input").write_text("live")
    need("read live" in replayed(world, "--live-inputs").out)
    need("read recorded" in replayed(world).out)


# The default is 20 seconds.
def of_deadline(world, command):
    if command == "test":
        done, seconds = stamped(world, "--live-inputs", "--deadline", 1, words=("hang",))
        need("no progress" in done.out and seconds < 15, done, seconds)
        return
    begun = time.monotonic()
    done = run("replay", "--deadline", 1, world.witness, world.trace, "--", "HANG=1", "./all")
    need("replayed" in done.out and "1 second" in done.out and time.monotonic() - begun < 15, done)


# ---- The rows ----------------------------------------------------------------------------------

JOB = "check submit test"
VIEW = "check show test"
RECORD = "record test"
ALL = "all"  # every command

EFFECTS = [
    ("check", JOB, member("check", "race", ["race"], ["checks"])),
    ("model", JOB, member("model", "observed", "observed")),
    ("context-bound", JOB, member("context-bound", "3", 3, ["context_bound"])),
    ("wakeups", JOB, member("wakeups", "spurious", "spurious")),
    ("per", JOB, member("per", "event", "event")),
    ("property", JOB, of_property),
    ("ignore", JOB, member("ignore", "all.c:1", ["all.c:1"], ["ignore_locations"])),
    ("encoding", JOB, member("encoding", "literal", "literal")),
    ("solver", JOB, member("solver", "z3", "z3")),
    ("without", JOB, member("without", "interval", ["interval"])),
    ("budget", JOB, member("budget", "7", 7000, ["budget", "job_ms"])),
    ("subproblem-budget", JOB, member("subproblem-budget", "7", 7000, ["budget", "subproblem_ms"])),
    ("memory", JOB, member("memory", "99", 99, ["budget", "memory_mb"])),
    ("name", JOB, of_name),
    ("priority", JOB, member("priority", "5", 5)),
    ("detach", "check test", of_detach),
    ("workers", "check test", of_workers),
    ("project", JOB + " review", of_project),
    ("webhook", "submit", member("webhook", "http://example.org/", "http://example.org/")),
    ("interval", "top", of_interval),
    ("once", "top", of_once),
    ("format", VIEW, of_format),
    ("report", VIEW, of_report),
    ("color", VIEW + " top", of_color),
    ("source-root", VIEW, of_source_root),
    ("baseline", VIEW, of_baseline),
    ("write-baseline", VIEW, of_baseline),
    ("program", VIEW, of_program),
    ("new-since", VIEW, of_new_since),
    ("suppressions", VIEW, of_suppressions),
    ("fail-on", VIEW, of_fail_on),
    ("fail-on-new", VIEW, of_fail_on_new),
    ("state", "review", of_state),
    ("reason", "review", of_reason),
    ("witness-dir", VIEW, of_witness_dir),
    ("show-safe", VIEW, lines_more("--show-safe", r"(?m)^.*\bsafe\b.*all\.c:")),
    ("apart", VIEW, lines_more("--apart", r"Atomicity violation")),
    ("explain", VIEW, lines_more("--explain", r"(?i)decided")),
    ("full", VIEW, of_full),
    ("quiet", VIEW + " record", of_quiet),
    ("wait", "show", of_wait),
    ("output", VIEW + " record witness convert merge", of_output),
    ("to", "convert merge record", of_to),
    ("seed", RECORD, of_seed),
    ("turn", RECORD, of_turn),
    ("annotations", RECORD, of_annotations),
    ("unordered-hand-overs", RECORD, of_unordered_hand_overs),
    ("runs", RECORD, of_runs),
    ("inputs-of", RECORD, of_inputs_of),
    ("limit", RECORD, of_limit),
    ("timeout", RECORD, of_timeout),
    ("expect-exit", RECORD, of_expect_exit),
    ("exit-code", "record", of_exit_code),
    ("symbolic", RECORD, of_symbolic),
    ("live-inputs", "replay test", of_live_inputs),
    ("stop", "replay", of_stop),
    ("no-replay", "test", of_no_replay),
    ("deadline", "replay test", of_deadline),
    ("dot", "intervals", of_dot),
    ("json", "check submit jobs show verify stats diff review replay top test intervals", of_json),
    ("server", "check submit jobs show cancel witness verify diff review replay top test intervals", of_server),
    ("help", ALL, of_help),
]


# ---- Effects: of exploring ----------------------------------------------------------------------


def explored(*options, words=("./explored", "close")):
    return run("explore", *options, *words)


def of_explore(world, command):
    need("explored: every schedule" in run("test", "--explore", 5, "./explored", "close").out)
    need("explored:" not in run("test", "--explore", 0, "./explored", "close").out)


def says(pattern, *options, words=("./explored", "close"), code=None):
    def effect(world, command):
        done, without = explored(*options, words=words), explored(words=words)
        need(re.search(pattern, done.out) and not re.search(pattern, without.out), done, without)
        need(code is None or done.code == code, done)
    return effect


def of_explore_output(world, command):
    folder = fresh("found")
    need(explored("-o", folder).code == 1 and (folder / "explored.1.ftb").exists())


def of_explore_server(world, command):
    world.server.clear()
    world.view(command, "--server", world.server.url)
    need(world.server.bodies("POST", "/v1/jobs"))


# An exit code of 0 is not all that counts.
def of_outputs(*options):
    def effect(world, command):
        words = ["--explore", "5"] if command == "test" else []
        done = run(command, *words, *options, "./printed", "total")
        without = run(command, *words, "./printed", "total")
        need(done.code == 1 and "count 1" in done.out.replace("total", "count"), done)
        need(without.code == 0 and "2 different outputs" in without.out, without)
    return effect


# What one run leaves, another exploration goes on with.
def of_resume(world, command):
    rest = fresh("rest")
    first = explored("--resume", rest, "--runs", 1)
    need("to go on: foretell explore --resume" in first.out and rest.exists(), first)
    done = explored("--resume", rest)
    need("explored: every schedule" in done.out and not rest.exists(), done)


# Options that change how runs are made, and not what this small program does.
def is_taken(option, value):
    def effect(world, command):
        done = explored(option, value)
        need(done.code == 1 and "explored: every schedule" in done.out, done)
        need(explored(option, "x").code == 2)
    return effect


EFFECTS += [
    ("explore", "test", of_explore),
    ("workers", "explore", is_taken("--workers", 2)),
    ("preemptions", "explore", says("every schedule without a preemption", "--preemptions", 0)),
    ("budget", "explore", is_taken("--budget", 30)),
    ("explore-budget", "explore", is_taken("--explore-budget", 30)),
    ("runs", "explore", says("--runs reached", "--runs", 1)),
    ("seed", "explore", is_taken("--seed", 7)),
    ("steps", "explore", says("ended after 3 steps", "--steps", 3)),
    ("polls", "explore", is_taken("--polls", 2)),
    ("early-limits", "explore", is_taken("--early-limits", "no")),
    ("oracle", "explore test", of_outputs("--oracle", "read line; echo $line; test \"$line\" = 'total 2'")),
    ("deterministic", "explore test", of_outputs("--deterministic")),
    ("resume", "explore", of_resume),
    ("races-only-reported", "explore", says("apart from what 1 data race changes", "--races-only-reported",
                                            words=("./racing", "lost"))),
    ("wakeups", "explore", is_taken("--wakeups", "spurious")),
    ("timeout", "explore", is_taken("--timeout", 9)),
    ("expect-exit", "explore", says("nothing found", "--expect-exit", 2, words=("./explored", "nothing"))),
    ("output", "explore", of_explore_output),
    ("server", "explore", of_explore_server),
]
EFFECTS += [(option, "explore", effect) for option, commands, effect in EFFECTS
            if option in ("format", "report", "color", "source-root", "baseline", "write-baseline", "suppressions",
                          "fail-on", "witness-dir", "quiet", "json") and "check" in commands]


# ---- Effects: of lower -------------------------------------------------------------------------


def lowered(*options, text="int main(void) { return 0; }"):
    """What `foretell lower --text` prints of the source."""
    (WORK / "lowered.c").write_text(text)
    done = run("lower", "--text", *options, "lowered.c", "-o", "-")
    need(done.code == 0 or "not installed" in done.err, done)
    return done.out if done.code == 0 else None


def lowers(text, pattern, *options):
    def effect(world, command):
        without, done = lowered(text=text), lowered(*options, text=text)
        need(done is None or (re.search(pattern, done) and not re.search(pattern, without)), done)
    return effect


def of_lower_output(world, command):
    lowered()
    if run("lower", "lowered.c", "-o", "lowered.program").code == 0:
        need((WORK / "lowered.program").read_bytes().startswith(b"FTPROG1"))
    need(run("lower", "lowered.c").code == 2)


def of_lower_include(world, command):
    folder = WORK / "headers"
    folder.mkdir(exist_ok=True)
    (folder / "seven.h").write_text("#define SEVEN 7\n")
    text = lowered("-I", folder, text='#include "seven.h"\nint main(void) { return SEVEN; }')
    need(text is None or "return i32 7" in text, text)


def of_sources(option, value, text):
    """The option decides whether the source has an assertion that fails."""
    def effect(world, command):
        (WORK / "given.c").write_text("#include <assert.h>\n" + text)
        (WORK / "bad").mkdir(exist_ok=True)
        (WORK / "bad" / "bad.h").write_text("")
        if run("lower", "given.c", "-o", "given.program").code:
            return
        if command == "explore":
            need(run("explore", "given.c").code == 0 and run("explore", option, value, "given.c").code == 1)
        elif command == "verify":
            need(run("explore", option, value, "--witness-dir", "given", "given.c").code == 1)
            witness = "given/given.c.1.json"
            need(run("verify", option, value, witness, "given.c").code == 0)
            need(run("verify", witness, "given.c").code == 2)
    return effect


def of_explore_check(world, command):
    (WORK / "checked.c").write_text("#include <assert.h>\nint main(void) { assert(0); return 0; }")
    if run("lower", "checked.c", "-o", "checked.program").code == 0:
        need(run("explore", "checked.c").code == 1 and run("explore", "--check", "race", "checked.c").code == 0)


def of_threads(world, command):
    text = ("#include <pthread.h>\nvoid *f(void *p) { return p; }\n"
            "int main(void) { pthread_t t[9]; for (int i = 0; i < 9; i++) pthread_create(&t[i], 0, f, 0); return 0; }")
    (WORK / "threads.c").write_text(text)
    if run("lower", "--threads", 2, "threads.c", "-o", "threads.program").code:
        return
    if command == "explore":
        need(run("explore", "--threads", 2, "threads.c").code == 3)
    else:
        run("lower", "threads.c", "-o", "unbounded.program")
        need((WORK / "threads.program").read_bytes() != (WORK / "unbounded.program").read_bytes())


def of_input(world, command):
    (WORK / "inputs.c").write_text("#include <assert.h>\nint __VERIFIER_nondet_int(void);\n"
                                   "int main(void) { assert(__VERIFIER_nondet_int() != 7); return 0; }")
    if run("lower", "inputs.c", "-o", "inputs.program").code == 0:
        need(run("explore", "--input", "int=7", "inputs.program").code == 1)
        need(run("explore", "--input", "int=8", "inputs.program").code == 0)
        need(run("explore", "--input", "int", "inputs.program").code == 2)


def of_iterations(world, command):
    (WORK / "rounds.c").write_text("unsigned __VERIFIER_nondet_uint(void);\nvoid __VERIFIER_assume(int);\n"
                                   "int main(void) { unsigned n = __VERIFIER_nondet_uint(); __VERIFIER_assume(n < 6);\n"
                                   "while (n--) ; return 0; }")
    if run("lower", "rounds.c", "-o", "rounds.program").code == 0:
        need(run("explore", "rounds.program").code == 0)
        need(run("explore", "--iterations", "2", "rounds.program").code == 3)


def of_cutoffs(world, command):
    (WORK / "turns.c").write_text("#include <pthread.h>\nstatic pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;\nstatic int on;\n"
                                  "static void *turn(void *x) { for (;;) { pthread_mutex_lock(&lock); on = !on; pthread_mutex_unlock(&lock); } }\n"
                                  "int main(void) { pthread_t t; pthread_create(&t, 0, turn, 0); turn(0); return 0; }")
    if run("lower", "turns.c", "-o", "turns.program").code == 0:
        need(run("explore", "turns.program").code == 0)
        done = run("explore", "--cutoffs", "yes", "turns.program")
        need(done.code == 0 and "up to a state that was met before" in done.out, done)
        need(run("explore", "--cutoffs", "no", "--explore-budget", "3", "turns.program").code == 3)
    need(run("explore", "--cutoffs", "perhaps", "turns.program").code == 2)


def of_explain_explored(world, command):
    of_iterations(world, command)
    if (WORK / "rounds.program").exists():
        done = run("explore", "--explain", "--iterations", "2", "rounds.program")
        need("1 executions were cut: a thread takes a way of a condition on inputs more than 2 times" in done.out, done)
        need("explained" not in run("explore", "rounds.program").out)
        done = run("explore", "--iterations", "2", "rounds.program")
        need("cut by a bound: a thread takes a way of a condition on inputs more than 2 times (--iterations)" in done.out,
             done)


EFFECTS += [
    ("include", "explore verify", of_sources("-I", "bad", '#if __has_include("bad.h")\n#define BAD\n#endif\n'
                                              "int main(void) {\n#ifdef BAD\n assert(0);\n#endif\n return 0; }")),
    ("define", "explore verify", of_sources("-D", "BAD", "int main(void) {\n#ifdef BAD\n assert(0);\n#endif\n return 0; }")),
    ("undefine", "explore verify", of_sources("-U", "__linux__", "int main(void) {\n#ifndef __linux__\n assert(0);\n#endif\n"
                                               " return 0; }")),
    ("std", "explore verify", of_sources("--std", "c99", "int main(void) { assert(__STDC_VERSION__ != 199901L); return 0; }")),
    ("threads", "lower explore verify", of_threads),
    ("check", "explore", of_explore_check),
    ("input", "explore", of_input),
    ("iterations", "explore", of_iterations),
    ("cutoffs", "explore", of_cutoffs),
    ("explain", "explore", of_explain_explored),
    ("output", "lower", of_lower_output),
    ("text", "lower", lambda world, command: need(lowered() is None or lowered().startswith("program 1"))),
    ("include", "lower", of_lower_include),
    ("define", "lower", lowers("int main(void) {\n#ifdef N\n return N;\n#endif\n return 0; }", "return i32 5", "-DN=5")),
    ("undefine", "lower", lowers("int main(void) {\n#ifndef __linux__\n return 5;\n#endif\n return 0; }",
                                 "return i32 5", "-U", "__linux__")),
    ("std", "lower", lowers("int main(void) { return __STDC_VERSION__ == 199901L ? 5 : 6; }", "i32 5", "-std=c99")),
]

# ---- Effects: of context -----------------------------------------------------------------------

CONTEXT = """program 1
object @l 40 align 8
object @cv 48 align 8
function @t(%a: i64) -> i64 {
  b:
    lock @l
    yield
    wait @cv, @l
    unlock @l
    return i64 0
}
function @main() -> i32 {
  b:
    %t = create @t, 0
    %u = create @t, 0
    lock @l
    signal @cv
    unlock @l
    return i32 0
}
"""


def context(*options):
    (WORK / "context.program").write_text(CONTEXT)
    return run("context", "context.program", *options)


def of_context(code, *options, without=()):
    """The option changes the exit code to this one."""
    def effect(world, command):
        done, other = context(*options), context(*without)
        need(done.code == code and other.code != code, (done, other))
    return effect


def of_context_line(world, command):
    """A thread waits in the line that is named, not in another call of the same function."""
    (WORK / "waits.c").write_text(
        "#include <pthread.h>\npthread_mutex_t l, m;\nint main(void) {\n pthread_mutex_lock(&l);\n"
        " pthread_mutex_lock(&m);\n pthread_mutex_lock(&l);\n return 0;\n}\n")
    if run("lower", "waits.c", "-o", "waits.program").code:
        return
    need([run("context", "--threads", "named", "--at", f"A=waits.c:{line},waiting", "waits.c").code for line in (4, 5, 6)]
         == [0, 0, 1])


def of_context_wake(world, command):
    ways = ["--threads", "named", "--steps", 3, "--json", "--tries", 0, "--at", "A=@t:2,waiting", "--at", "B=@t:2",
            "--at", "M=@main:2"]
    paths = [json.loads(context(*ways, "--wake", wake).out)["fixed_order"]["paths"] for wake in ("any", "fifo")]
    need(paths[0] > paths[1], paths)


def of_context_sources(option, value, text):
    """The option decides whether a second thread of the function exists."""
    def effect(world, command):
        (WORK / "bad").mkdir(exist_ok=True)
        (WORK / "bad" / "bad.h").write_text("")
        (WORK / "places.c").write_text("#include <pthread.h>\nstatic void *f(void *p) { return p; }\n"
                                       "int main(void) {\n pthread_t t, u;\n pthread_create(&t, 0, f, 0);\n"
                                       + text + " return 0;\n}\n")
        if run("lower", "places.c", "-o", "places.program").code:
            return
        two = ["--at", "A=places.c:2", "--at", "B=places.c:2"]
        need(run("context", "places.c", *two).code == 0, run("context", "places.c", *two))
        need(run("context", option, value, "places.c", *two).code == 1)
    return effect


BOTH = ("--at", "A=@t:1", "--at", "B=@t:1")
SECOND = " pthread_create(&u, 0, f, 0);\n#endif\n"
EFFECTS += [
    ("at", "context", lambda world, command: (of_context(0, *BOTH, without=("--at", "A=@t:1", "--at", "B=@t:0"))(world, command),
                                              of_context_line(world, command))),
    ("without", "context", of_context(3, *BOTH, "--without", "must-held", without=BOTH)),
    ("threads", "context", of_context(0, "--at", "A=@t:0,waiting", "--threads", "named",
                                      without=("--at", "A=@t:0,waiting"))),
    ("steps", "context", lambda world, command: need("paths" in context("--at", "A=@t:0", "--steps", 2).out
                                                     and "paths" not in context("--at", "A=@t:0").out)),
    ("orders", "context", lambda world, command: need("every order" not in
                                                      context("--at", "A=@t:0", "--steps", 2, "--orders", "fixed").out)),
    ("tries", "context", of_context(3, "--at", "A=@t:1", "--tries", 0, without=("--at", "A=@t:1"))),
    ("wake", "context", of_context_wake),
    ("json", "context", lambda world, command: need(json.loads(context(*BOTH, "--json").out)["together"] == "never")),
    ("include", "context", of_context_sources("-I", "bad", '#if __has_include("bad.h")\n' + SECOND)),
    ("define", "context", of_context_sources("-D", "BAD", "#ifdef BAD\n" + SECOND)),
    ("undefine", "context", of_context_sources("-U", "__linux__", "#ifndef __linux__\n" + SECOND)),
    ("std", "context", of_context_sources("--std", "c99", "#if __STDC_VERSION__ == 199901L\n" + SECOND)),
]

# ---- Effects: of cover -------------------------------------------------------------------------

COVER = """program 1
object @l 80 align 8
object @n 4 align 4
function @t(%a: i64) -> i64 {
  b:
    lock @l
    %n = load i32 @n
    %m = add i32 %n, 1
    store i32 %m, @n
    unlock @l
    return i64 0
}
function @main() -> i32 {
  b:
    %x = input "x" i1
    %y = input "y" i1
    %t = create @t, 0
    %u = create @t, 0
    lock @l
    %n = load i32 @n
    unlock @l
    %first = eq i32 %n, 0
    assert "first" %first
    branch %y, stop, go
  stop:
    fail "stop"
  go:
    branch %x, more, done
  more:
    lock @l+40
    unlock @l+40
    jump done
  done:
    join %t
    join %u
    return i32 0
}
"""


def cover(*options, program=COVER):
    (WORK / "cover.program").write_text(program)
    return run("cover", "cover.program", *options)


def schedules(*options):
    return json.loads(cover("--json", *options).out)["set"]


def of_cover_output(world, command):
    done = cover("-o", "cover.set")
    need("schedules 1" not in done.out and "schedules 1" in cover().out, done)
    need((WORK / "cover.set").read_text() == schedules())


def of_cover_check(world, command):
    (WORK / "cover.set").write_text(schedules())
    need(cover("--check", "cover.set").out.count("proved") == cover("-o", "other.set").out.count("proved"))
    text = schedules()
    (WORK / "wrong.set").write_text(text.replace("take s2", "none"))
    need("check-cover     refuted" in cover("--check", "wrong.set").out, cover("--check", "wrong.set"))
    (WORK / "wrong.set").write_text(text.replace("take s2", "take s9"))
    done = cover("--check", "wrong.set")
    need(done.code == 2 and "line" in done.err and "s9" in done.err, done)


def of_cover_order(world, command):
    """A word, or a file: the schedule of a witness, in which a child comes first, and that of a set."""
    need(schedules("--order", "trace") != schedules("--order", "thread"))
    program = COVER.replace('fail "stop"', "jump go")
    (WORK / "order.program").write_text(program)
    run("explore", "order.program", "--check", "assertion", "--witness-dir", "cover.witnesses")
    witness = next((WORK / "cover.witnesses").glob("*.json"))
    done = cover("--order", witness, "-o", "cover.set", program=program)
    need(": first" in done.out and ": first" not in cover("-o", "other.set", program=program).out, done)
    cover("--order", "cover.set", "-o", "again.set", program=program)
    need((WORK / "again.set").read_text() == (WORK / "cover.set").read_text())
    (WORK / "wrong.json").write_text("{}")
    for wrong in "none", "cover.program", "wrong.json":
        done = cover("--order", wrong)
        need(done.code == 2 and "order" in done.err, done)


def of_cover_seed(world, command):
    need(len({schedules("--seed", seed) for seed in range(1, 9)}) > 1)


def of_cover_dynamic(world, command):
    text = schedules("--dynamic", "x")
    need(' "x" 0 1 dynamic\n' in text and "dynamic" not in schedules(), text)
    need(schedules("--dynamic", "*").count("dynamic") == schedules().count("\ninput "))
    text = json.loads(cover("--dynamic", "x", "--json", program=ENDLESS).out)["set"]
    need(' 8 "x" 0 1 dynamic\nif ' in text.split("\nepoch e1\n")[1], text)
    done = cover("--dynamic", "none")
    need(done.code == 2 and "no input 'none'" in done.err, done)


def of_cover_epochs(world, command):
    """A loop without a bound needs markers; one epoch does not cover it."""
    endless = COVER.replace("jump done\n", "jump more\n")
    need("not covered" in cover("--epochs", "one", "--budget", 1, program=endless).out)
    need("not covered" not in cover(program=endless).out)
    need("epoch entry" in schedules("--epochs", "markers") and "markers" in cover("--epochs", "three").err)
    of_cover_epochs_compared(world, command)


# 60 rounds with the lock, behind which the sum of what was read decides about a deadlock: no state in
# which a run is there has it, but one that markers begin with. With %q live, markers cannot end an
# epoch, since which place of @m it is the address of depends on the input.
ROUNDS = """program 1
object @l 40 align 8
object @m 300 align 1
function @main() -> i32 {
  b:
    %n = input "n" i8
    %w = zext i32 %n
    %a = zext i64 %n
    %q = add i64 @m, %a
    jump head(i32 0, i32 0)
  head(%i: i32, %s: i32):
    %more = ult i32 %i, 60
    branch %more, body, done
  body:
    lock @l
    unlock @l
    %t = add i32 %s, %w
    %j = add i32 %i, 1
    jump head(%j, %t)
  done:
    %big = ult i32 15300, %s
    branch %big, locks, out
  locks:
    lock @l
    lock @l
    jump out
  out:
    STORE
    return i32 0
}
"""


def of_cover_epochs_compared(world, command):
    """Automatic epochs: whichever is better, and why."""
    rounds, pointer = ROUNDS.replace("STORE", ""), ROUNDS.replace("STORE", "store i8 1, %q")
    done = cover("-o", "o.set", program=rounds)
    need("taken: one epoch: its certificates hold, those of epochs that end at markers do not" in done.out, done)
    need("all six certificates hold" in done.out and done.code == 0, done)
    need("check-deadlock  unknown" in cover("--epochs", "markers", "-o", "o.set", program=rounds).out)
    done = cover("-o", "o.set", program=pointer)
    need("taken: one epoch: epochs that end at markers cover nothing" in done.out, done)
    done = cover("-o", "o.set", program=rounds.replace("i32 %i, 60", "i32 %i, %w").replace("15300, %s", "%s, 0"))
    need("taken: epochs end at markers; one epoch is not small: " in done.out and "all six" in done.out, done)
    done = cover("-o", "o.set", program=rounds.replace("i32 %i, 60", "i32 %i, 6"))
    need("taken: one epoch: it covers every input with few schedules" in done.out, done)
    need("taken:" not in cover("-o", "o.set").out)


LOOP = """program 1
object @l 40 align 8
function @main() -> i32 {
  b:
    %n = input "n" i8
    jump head(i8 0)
  head(%i: i8):
    %more = ult i8 %i, %n
    branch %more, body, done
  body:
    %j = add i8 %i, 1
    jump head(%j)
  done:
    %two = eq i8 %i, 2
    branch %two, locks, out
  locks:
    lock @l
    unlock @l
    jump out
  out:
    lock @l
    unlock @l
    return i32 0
}
"""


# Each round reads an input behind a lock, and may take another lock.
ENDLESS = """program 1
object @l 40 align 8
object @k 40 align 8
function @main() -> i32 {
  b:
    jump round
  round:
    lock @l
    unlock @l
    %n = input "x" i8
    jump head(%n)
  head(%i: i8):
    %two = eq i8 %i, 2
    branch %two, locks, round
  locks:
    lock @k
    unlock @k
    jump round
}
"""
COUNTS = ENDLESS.replace("jump head(%n)", "jump head(i8 0)").replace("""    %two""", """    %more = ult i8 %i, %n
    branch %more, body, left
  body:
    %j = add i8 %i, 1
    jump head(%j)
  left:
    %two""")


def of_cover_loops(world, command):
    """256 classes of inputs, or two: the value behind the loop is 2 or not. No native run sees it."""
    done = cover("--loops", "summarise", "-o", "loops.set", program=LOOP)
    need("2 schedules for 2 classes" in done.out and "all six certificates hold" in done.out, done)
    need("2 schedules for 256 classes" in cover("--loops", "unroll", "-o", "o.set", program=LOOP).out)
    done = cover("--loops", "summarise", "-o", "ends.set", program=COUNTS)
    need("in 2 epochs" in done.out and "all six certificates hold" in done.out, done)
    need("loop " in (WORK / "ends.set").read_text().split("\nepoch e1\n")[1], (WORK / "ends.set").read_text())
    need('loop ' in (WORK / "loops.set").read_text() and '"@main head %i" 0 1' in (WORK / "loops.set").read_text())
    done = run("run", "--schedules", "loops.set", "--", "/bin/true")
    need(done.code == 2 and "@main head %i" in done.err, done)


def of_cover_prefix(world, command):
    need("prefix no" in schedules("--no-prefix") and "prefix yes" in schedules())
    need(schedules("--no-prefix").count("take") > schedules().count("take"))


def of_cover_entries(world, command):
    need("not covered" in cover("--entries", 1).out and "not covered" not in cover().out)


def of_cover_budget(world, command):
    endless = COVER.replace("jump done\n", "jump more\n")
    started = time.time()
    done = cover("--budget", 1, "--epochs", "one", program=endless)
    need("not covered" in done.out and time.time() - started < 30, done)


def of_cover_witness_dir(world, command):
    """A refuted assertion's run is a witness, which verify confirms for this program alone."""
    done = cover("--witness-dir", "cover.runs")
    witness = next((WORK / "cover.runs").glob("cover.program.*.json"))
    need(f"witness: cover.runs/{witness.name}" in done.out, done)
    done = run("verify", witness, "cover.program")
    need(done.code == 0 and "confirmed: " in done.out, done)
    need(run("verify", witness, "other.program").code != 0)
    need("witness:" not in cover().out)


def of_cover_smt(world, command):
    cover("--smt", "questions")
    names = {path.name for path in (WORK / "questions").iterdir()}
    need({"check-cover.smt2", "check-schedule-s1.smt2", "check-order-s1.smt2"} <= names, names)
    need("(check-sat)" in (WORK / "questions" / "check-cover.smt2").read_text())


def of_cover_sources(option, value, text):
    """The option decides whether there is a second schedule."""
    def effect(world, command):
        (WORK / "bad").mkdir(exist_ok=True)
        (WORK / "bad" / "bad.h").write_text("")
        (WORK / "covered.c").write_text("#include <pthread.h>\nextern void foretell_input(void *, unsigned long, "
                                        "const char *);\nstatic pthread_mutex_t m, n;\nint main(void) {\n char c = 0;\n"
                                        + text + " if (c) pthread_mutex_lock(&m);\n pthread_mutex_lock(&n);\n return 0;\n}\n")
        if run("lower", "covered.c", "-o", "covered.program").code:
            return
        need(run("cover", "covered.c").out.count("take") == 1)
        need(run("cover", option, value, "covered.c").out.count("take") == 2)
    return effect


READS = ' foretell_input(&c, 1, "c");\n#endif\n'
EFFECTS += [
    ("output", "cover", of_cover_output),
    ("check", "cover", of_cover_check),
    ("order", "cover", of_cover_order),
    ("seed", "cover", of_cover_seed),
    ("dynamic", "cover", of_cover_dynamic),
    ("epochs", "cover", of_cover_epochs),
    ("loops", "cover", of_cover_loops),
    ("no-prefix", "cover", of_cover_prefix),
    ("entries", "cover", of_cover_entries),
    ("budget", "cover", of_cover_budget),
    ("smt", "cover", of_cover_smt),
    ("witness-dir", "cover", of_cover_witness_dir),
    ("json", "cover", lambda world, command: need(json.loads(cover("--json").out)["counts"]["schedules"] == 2)),
    ("include", "cover", of_cover_sources("-I", "bad", '#if __has_include("bad.h")\n' + READS)),
    ("define", "cover", of_cover_sources("-D", "BAD", "#ifdef BAD\n" + READS)),
    ("undefine", "cover", of_cover_sources("-U", "__linux__", "#ifndef __linux__\n" + READS)),
    ("std", "cover", of_cover_sources("--std", "c99", "#if __STDC_VERSION__ == 199901L\n" + READS)),
]

# ---- Effects: of reports about answers ------------------------------------------------------------

FOUND = {"cover": "certificate", "context": "context"}  # the check of a finding
LOCATED = """program 1
file "located.c"
object @l 40 align 8
function @t(%a: i64) -> i64 {
  b:
    lock @l !0:3:1
    unlock @l !0:4:1
    return i64 0
}
function @main() -> i32 {
  b:
    %x = input "x" i8
    %t = create @t, 0
    %c = ult i8 %x, 7
    assert "small" %c !0:8:1
    join %t !0:9:1
    return i32 0
}
"""


def answered(command, *options):
    """A question about a program whose answer is a finding."""
    (WORK / "located.program").write_text(LOCATED)
    words = {"cover": ["-o", "located.set"], "context": ["--at", "A=located.c:3", "--at", "B=located.c:8"]}[command]
    return run(command, *options, *words, "located.program")


EFFECTS += [
    ("format", "cover context", of_format),
    ("report", "cover context", of_report),
    ("source-root", "cover context", of_source_root),
    ("baseline", "cover context", of_baseline),
    ("write-baseline", "cover context", of_baseline),
    ("suppressions", "cover context", of_suppressions),
    ("fail-on", "cover context", of_fail_on),
]

# ---- Effects: of inputs by name, and of run ------------------------------------------------------

NAMED = """
#include <pthread.h>
#include <stdio.h>
void foretell_input(void *, unsigned long, const char *);
static int x, n;
static void *work(void *p)
{
    n++;
    return p;
}
int main(void)
{
    pthread_t t;
    foretell_input(&x, sizeof x, "x");
    pthread_create(&t, 0, work, 0);
    n++;
    pthread_join(t, 0);
    printf("x is %d\\n", x);
    return 0;
}
"""

SELECTED = """
#include <pthread.h>
#include <stdio.h>
void foretell_input(void *, unsigned long, const char *);
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, other = PTHREAD_MUTEX_INITIALIZER;
static void *work(void *p)
{
    pthread_mutex_lock(&m);
    pthread_mutex_unlock(&m);
    return p;
}
int main(void)
{
    pthread_t t;
    char x = 0;
    foretell_input(&x, sizeof x, "x");
    pthread_create(&t, 0, work, 0);
    if (x) {
        pthread_mutex_lock(&other);
        pthread_mutex_unlock(&other);
        puts("x is set");
    }
    pthread_mutex_lock(&m);
    pthread_mutex_unlock(&m);
    pthread_join(t, 0);
    return 0;
}
"""


def built(name, text):
    (WORK / f"{name}.c").write_text(text)
    done = run("-g", "-pthread", f"{name}.c", "-o", name, program=BIN / "foretell-cc")
    need(done.code == 0, done)


def of_named_input(world, command):
    built("named", NAMED)
    if command != "replay":
        words = ("./named",)
        need("x is 5" in recorded(world, command, "--input", "x=5", words=words)[1].out)
        need("x is 0" in recorded(world, command, words=words)[1].out)
        return
    traces, _ = recorded(world, "record", "--input", "x=5", words=("./named",))
    run("check", "-q", "--witness-dir", "named_found", traces[0])
    witness = next((WORK / "named_found").glob("*.json"))
    live = ("--live-inputs", witness, traces[0], "--", "./named")
    need("x is 9" in run("replay", "--input", "x=9", *live).out)
    need("x is 0" in run("replay", *live).out)


def of_replay_output(world, command):
    (WORK / "equal.c").write_text("#include <assert.h>\nvoid foretell_input(void *, unsigned long, const char *);\n"
                                  'int main(void) { char x = 0; foretell_input(&x, 1, "x"); assert(x != 7); return 0; }')
    if run("lower", "equal.c", "-o", "equal.program").code:
        return
    built("equal", (WORK / "equal.c").read_text())
    run("explore", "--witness-dir", "equal_found", "equal.program")
    path = fresh("replayed.ftb")
    done = run("replay", "-o", path, next((WORK / "equal_found").glob("*.json")), "--", "./equal")
    need(done.code == 0 and "assertion" in run("check", path).out, done)


COUNTED = """
#include <pthread.h>
void foretell_input(void *, unsigned long, const char *);
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, other = PTHREAD_MUTEX_INITIALIZER;
int main(void)
{
    unsigned char x = 0;
    unsigned bits = 0;
    foretell_input(&x, sizeof x, "x");
    for (unsigned y = x; y; y >>= 1) bits++;
    pthread_mutex_lock(bits > 3 ? &other : &m);
    pthread_mutex_unlock(bits > 3 ? &other : &m);
    return 0;
}
"""


def of_run(effect):
    """The effect on a program that follows a set of schedules; `chosen` runs it."""
    def of(world, command):
        built("selected", SELECTED)
        if run("lower", "selected.c", "-o", "selected.program").code:
            return
        if not (WORK / "selected.set").exists():
            need(run("cover", "-o", "selected.set", "selected.program").code == 0)
        text = (WORK / "selected.set").read_text()
        (WORK / "partial.set").write_text(re.sub(r"take s\d+", "none", text))
        effect()
    return of


def needs_program():
    """A set that takes a loop as a function: the program says what the loop computes."""
    built("counted", COUNTED)
    need(run("cover", "--loops", "summarise", "-o", "counted.set", "counted.c").code == 3)
    names = []
    for x in (2, 9):
        words = ["run", "--schedules", "counted.set", "--input", f"x={x}", "--program", "counted.c", "--", "./counted"]
        done = run(*words)
        need(done.code == 0, done)
        names.append(done.err)
        need(run(*[w for w in words if w not in ("--program", "counted.c")]).code == 2)
    need(names[0] != names[1], names)


def chosen(*options, schedules="selected.set"):
    return run("run", "--schedules", schedules, *options, "--", "./selected")


EFFECTS += [
    ("input", "record test replay", of_named_input),
    ("output", "replay", of_replay_output),
    ("input", "run", of_run(lambda: need("x is set" in chosen("--input", "x=1").out and "x is set" not in chosen().out))),
    ("schedules", "run", of_run(lambda: need([chosen().code, chosen(schedules="partial.set").code] == [0, 3]))),
    ("program", "run", of_run(lambda: needs_program())),
    ("uncovered", "run", of_run(lambda: need(chosen("--uncovered", "free", schedules="partial.set").code == 0))),
    ("delays", "run", of_run(lambda: need("followed the schedule" in chosen("--delays", 1).err
                                          and "followed the schedule" not in chosen().err, chosen("--delays", 1)))),
    ("quiet", "run", of_run(lambda: need("schedule s" in chosen().err and "schedule s" not in chosen("-q").err, chosen()))),
]

# ---- All of it ---------------------------------------------------------------------------------


def tables():
    """The options that --help lists, by command."""
    overview = run("--help").out
    names = re.findall(r"^  ([a-z]+) ", overview[overview.index("Commands:"):overview.index("Exit codes:")], re.M)
    found = {}
    for name in names:
        text = run(name, "--help").out
        text = text[text.index("\nOptions:\n"):text.index("\nExamples:\n")]
        found[name] = re.findall(r"^  (?:-., )?--([a-z-]+)", text, re.M)
    return found


def main():
    listed, failed, passed, rows = tables(), [], 0, {}
    for option, commands, effect in EFFECTS:
        for command in listed if commands == ALL else commands.split():
            rows[command, option] = effect
    for command, options in listed.items():
        failed += [f"{command} --{option} has no row in EFFECTS" for option in options if (command, option) not in rows]
    failed += [f"{command} --{option} has a row and is not an option" for command, option in rows
               if option not in listed.get(command, [])]
    wanted = sys.argv[2:4]
    world = World()
    for (command, option), effect in rows.items():
        if wanted != [command, option][:len(wanted)]:
            continue
        try:
            effect(world, command)
            passed += 1
        except Exception as error:  # whatever it is, it is this case's
            failed.append(f"{command} --{option}: {type(error).__name__}: {error}\n"
                          f"  alone: tests/cli/options.py {sys.argv[1]} {command} {option}")
    world.close()
    for line in failed:
        print("FAILED ", line)
    print(f"{passed} passed, {len(failed)} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
