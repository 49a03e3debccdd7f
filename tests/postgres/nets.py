#!/usr/bin/env python3
"""usage: tests/postgres/nets.py BUILD [ROUNDS]: chaos over nodes that have a network each.

Every node runs in a network namespace of its own, with a clock that may be off, joined by a bridge to the database:
a primary server and a streaming replica that commits wait for. Partitions are links that are down, or frames that
go to nobody, in one direction. Each round: a job, misfortunes, then the event log of the database (history.py)
against what the workers wrote down. FT_SEED_START chooses the misfortunes. Exit code 77 (skipped) where the kernel
lets this user make no namespaces."""
import collections
import mmap
import os
import random
import shutil
import signal
import struct
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
HUB = "10.99.0.1"
NODES = 3
SKEW_AT = 56  # clock_ms of tests/service/torture/shim.h


def run(*command, **more):
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=60, **more).stdout


def enter():
    """The same program again, beside a database, where the networks can be made."""
    if subprocess.run(["unshare", "-n", "true"], capture_output=True, check=False).returncode != 0 or \
            not shutil.which("ip"):
        print("nets: no network namespaces here")
        return 77
    environment = {**os.environ, "FT_NETS": "1", "FT_TEST_POSTGRES_OPTIONS": f"-c listen_addresses={HUB}"}
    script = f"ip link set lo up && ip link add hub type bridge && ip addr add {HUB}/24 dev hub && " \
             'ip link set hub up && exec "$@"'
    command = ["unshare", "-n", "sh", "-c", script, "nets", os.path.join(HERE, "with"), os.path.abspath(__file__),
               *sys.argv[1:]]
    return subprocess.run(command, env=environment, check=False).returncode


if "FT_NETS" not in os.environ:
    sys.exit(enter())

import chaos  # noqa: E402
import fleet as lib  # noqa: E402
import history  # noqa: E402
from wire import Wire  # noqa: E402


class Servers:
    """A primary and its replica, and who is which."""

    def __init__(self):
        self.folder = os.environ["FT_TEST_POSTGRES_FOLDER"]
        self.owner = os.stat(os.path.join(self.folder, "data"))
        version = sorted(entry for entry in os.listdir("/usr/lib/postgresql") if entry.isdigit())[-1]
        self.programs = f"/usr/lib/postgresql/{version}/bin"
        self.ports, self.data, self.primary = (5432, 5433), ("data", "replica"), 0
        with open(self.path(0, "pg_hba.conf"), "a", encoding="ascii") as file:
            file.write("host all all 10.99.0.0/24 trust\n")
        self.psql(0, "SELECT pg_reload_conf()")
        self.join()

    def path(self, which, *names):
        return os.path.join(self.folder, self.data[which], *names)

    def as_owner(self, program, *arguments):
        user = {"user": self.owner.st_uid, "group": self.owner.st_gid, "extra_groups": []} if os.getuid() == 0 else {}
        run(os.path.join(self.programs, program), *arguments, cwd=self.folder, stdin=subprocess.DEVNULL, **user)

    def control(self, which, *arguments):
        self.as_owner("pg_ctl", "-D", self.path(which), "-s", "-w", "-l", self.path(which) + ".log", *arguments)

    def start(self, which):
        self.control(which, "-o", f"-p {self.ports[which]} -c listen_addresses={HUB}", "start")

    def psql(self, which, text):
        return lib.psql(f"postgresql://foretell@/postgres?host={self.folder}&port={self.ports[which]}", text)

    def join(self):
        """A new replica, for which commits wait from now on."""
        other = 1 - self.primary
        shutil.rmtree(self.path(other), ignore_errors=True)
        self.as_owner("pg_basebackup", "-h", self.folder, "-p", str(self.ports[self.primary]), "-U", "foretell",
                      "-D", self.path(other), "-R", "--no-sync", "--checkpoint=fast")
        self.start(other)
        self.psql(self.primary, "ALTER SYSTEM SET synchronous_standby_names = '*'")
        self.psql(self.primary, "SELECT pg_reload_conf()")
        lib.wait("the replica follows", lambda: self.psql(
            self.primary, "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'") == "1")

    def fail_over(self, chance):
        gone = self.primary
        self.control(gone, "stop", "-m", "immediate")
        time.sleep(chance.uniform(0, 0.3))
        self.primary = 1 - gone
        self.control(self.primary, "promote")
        time.sleep(chance.uniform(0, 0.5))
        self.join()

    def restart(self, chance):
        which = chance.choice((0, 1))
        self.control(which, "stop", "-m", chance.choice(("immediate", "fast")))
        time.sleep(chance.uniform(0, 0.5))
        self.start(which)

    def end(self):
        for which in (1 - self.primary, self.primary):
            try:
                self.control(which, "stop", "-m", "immediate")
            except subprocess.CalledProcessError:
                pass


class Net:
    """A namespace, its link to the hub, and the clock of those in it."""

    def __init__(self, number, folder, build):
        self.name, self.address = f"v{number}", f"10.99.0.{number + 2}"
        self.holder = subprocess.Popen(["unshare", "-n", "sleep", "infinity"])
        own = os.stat("/proc/self/ns/net").st_ino
        lib.wait("the namespace", lambda: os.stat(f"/proc/{self.holder.pid}/ns/net").st_ino != own)
        run("ip", "link", "add", self.name, "type", "veth", "peer", "name", "eth0", "netns", str(self.holder.pid))
        run("ip", "link", "set", self.name, "master", "hub", "up")
        self.inside("ip", "link", "set", "lo", "up")
        self.inside("ip", "addr", "add", f"{self.address}/24", "dev", "eth0")
        self.inside("ip", "link", "set", "eth0", "up")
        self.shim = os.path.join(folder, self.name)
        with open(self.shim, "wb") as file:
            file.truncate(1 << 16)
        self.prefix = ("nsenter", "-t", str(self.holder.pid), "-n", "env", f"FT_SHIM={self.shim}",
                       f"LD_PRELOAD={build}/bin/libft_shim.so")

    def inside(self, *command):
        run("nsenter", "-t", str(self.holder.pid), "-n", *command)

    def link(self, state):
        run("ip", "link", "set", self.name, state)

    NOBODY = "02:00:00:00:00:99"

    def lose(self, direction):
        """Frames of one direction go to an address that nobody has."""
        if direction == "up":
            self.inside("ip", "neigh", "replace", HUB, "lladdr", self.NOBODY, "dev", "eth0", "nud", "permanent")
        else:
            run("ip", "neigh", "replace", self.address, "lladdr", self.NOBODY, "dev", "hub", "nud", "permanent")

    def heal(self, direction):
        if direction == "up":
            self.inside("ip", "neigh", "del", HUB, "dev", "eth0")
        else:
            run("ip", "neigh", "del", self.address, "dev", "hub")

    def skew(self, milliseconds):
        with open(self.shim, "r+b") as file, mmap.mmap(file.fileno(), 0) as shared:
            shared[SKEW_AT:SKEW_AT + 8] = struct.pack("<q", milliseconds)

    def end(self):
        self.holder.kill()
        self.holder.wait()


class Both:
    """The wires of a node to the two servers, as one."""

    def __init__(self, folder):
        self.wires = [Wire(folder, HUB, port) for port in (5432, 5433)]

    def __setattr__(self, name, value):
        if name == "wires":
            super().__setattr__(name, value)
        else:
            for wire in self.wires:
                setattr(wire, name, value)

    def __getattr__(self, name):
        return max(getattr(wire, name) for wire in self.wires)

    def cut(self):
        for wire in self.wires:
            wire.cut()

    def end(self):
        for wire in self.wires:
            wire.end()


class Nets:
    def __init__(self, build):
        self.servers = Servers()
        folder = self.servers.folder
        lib.SERVER = f"postgresql://foretell@/postgres?host={folder},{folder}&port=5432,5433" \
                     "&target_session_attrs=read-write"
        self.fleet, self.nets = lib.Fleet(build, "--retry-ms", "1"), []
        for number in range(NODES):
            net, wire = Net(number, self.fleet.folder, build), Both(folder)
            self.nets.append(net)
            ports = ",".join(str(one.port) for one in wire.wires)
            direct, self.fleet.address = self.fleet.address, lib.SERVER.replace(
                f"host={folder},{folder}&port=5432,5433",
                f"host={HUB},{HUB}&port={ports}&gssencmode=disable") + \
                f"&options=-csearch_path%3D%22{self.fleet.schema}%22"
            node = self.fleet.node(prefix=net.prefix)
            node.wire, node.net, self.fleet.address = wire, net, direct
        lib.psql(self.fleet.address, history.triggers())

    def end(self):
        self.fleet.close()
        for node in self.fleet.nodes:
            node.wire.end()
            node.net.end()
        self.servers.end()


def partition(nets, chance):
    """Of one node, both ways or one way, sometimes for longer than its leases last."""
    net, seconds = chance.choice(nets.nets), chance.choice((0.2, 0.7, 1.6))
    way = chance.choice(("both", "up", "down"))
    if way == "both":
        net.link("down")
        time.sleep(seconds)
        net.link("up")
        return
    net.lose(way)
    time.sleep(seconds)
    net.heal(way)


def skew(nets, chance):
    """Up to two days, either way; it stays so."""
    chance.choice(nets.nets).skew(chance.randrange(-48, 48) * 3600000 + chance.randrange(1000))


def fail_over(nets, chance):
    nets.servers.fail_over(chance)


def restart(nets, chance):
    nets.servers.restart(chance)


def freeze(nets, chance):
    """The primary stands still, and goes on as if nothing had been."""
    with open(nets.servers.path(nets.servers.primary, "postmaster.pid"), encoding="ascii") as file:
        chaos.freeze_process(int(file.readline()), chance)


def of_fleet(act):
    def happen(nets, chance):
        act(nets.fleet, chance)
    happen.__name__ = act.__name__
    return happen


MISFORTUNES = [partition, partition, partition, skew, fail_over, restart, freeze] + [
    of_fleet(act) for act in (chaos.kill, chaos.stop, chaos.pause, chaos.cut, chaos.slow, chaos.lie, chaos.delay)]
SLOW_ONES = {"fail_over"}  # seconds each: by turns


def check(nets):
    begun = collections.Counter(line[3] for line in nets.fleet.history() if line[2] == "begin")
    found = history.wrong(history.read(lib.psql, nets.fleet.address), begun)
    lib.expect(not found, found)
    lib.psql(nets.fleet.address, "TRUNCATE history")
    open(os.path.join(nets.fleet.folder, "history"), "wb").close()


def main():
    build, rounds = os.path.abspath(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 8
    seed = int(os.environ.get("FT_SEED_START", random.randrange(1 << 30)))
    chance, happened = random.Random(seed), collections.Counter()
    nets, start = Nets(build), time.monotonic()

    def strike(_, chance):
        act = chance.choice(MISFORTUNES)
        happened[act.__name__] += 1
        act(nets, chance)

    chaos.MISFORTUNES = (strike,)
    try:
        trace = nets.fleet.nodes[0].upload("good")
        # Each kind of trouble is met in a short run too.
        order = sorted({act.__name__: act for act in MISFORTUNES}.items())
        chance.shuffle(order)
        for i in range(rounds):
            try:
                if i < len(order):
                    happened[order[i][0]] += 1
                    chaos.MISFORTUNES = (lambda _, chance, act=order[i][1]: act(nets, chance), strike)
                chaos.one_round(nets.fleet, chance, trace, f"round-{i}")
                check(nets)
            except Exception:
                print(f"FAILED  round {i}; FT_SEED_START={seed}; {dict(happened)}", flush=True)
                for node in nets.fleet.nodes:
                    print(node.log()[-3000:], flush=True)
                raise
        jobs = nets.fleet.number("SELECT count(*) FROM jobs WHERE state = 'done'")
        lib.expect(jobs == rounds, f"{jobs} jobs of {rounds}")
        print(f"ok      {rounds} rounds in {time.monotonic() - start:.0f} s; FT_SEED_START={seed}; {dict(happened)}")
    finally:
        nets.end()
    return 0


if __name__ == "__main__":
    sys.exit(main())
