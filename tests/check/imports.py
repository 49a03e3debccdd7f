#!/usr/bin/env python3
"""usage: tests/check/imports.py [FOLDER]: which folder includes which header.

1. Rules between components, below: imports run one way.
2. Each folder says in one header (or in main.c, where it has no header) which other folders it
   includes: a comment line ` * Imports: order, problem, common/base.` or ` * Imports: nothing.` A name is
   looked for beside the folder, then in the folders around it, then in common. A folder that is
   not listed is not included, and one that is listed is.
3. No circle of folders that include each other.

FOLDER: the root of another tree of the same shape (the check's own test uses it)."""
import os
import re
import subprocess
import sys

COMPONENTS = ("common", "worker", "server", "clients")
# Folders under which a header is looked for, beside the includer's own folder and those around it.
ROOTS = {
    "common": ("common",),
    "worker": ("worker", "common"),
    "server": ("server", "common"),
    "clients": ("common", "clients/cli", "clients/record", "clients/record/raw",
                "clients/record/runtime"),
}
# Include paths are given to the programs by these, not by the recorder.
NOT_OURS = ("clients/record/include/",)
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]+(["<])([^">]+)[">]', re.M)
IMPORTS = re.compile(r"^ \* Imports: ((?:[^.\n]|\n \* )*)\.(?: \*/)?$", re.M)

# (who includes, which headers it must not, why)
REFUSED = (
    ("common", r"^(uv\.h|sqlite3\.h|llhttp\.h|curl/|z3)",
     "common is free of libuv, SQLite, HTTP and Z3"),
    ("worker", r"^(uv\.h|sqlite3\.h|llhttp\.h|curl/)", "workers touch neither network nor database"),
    ("worker/(?!solve/)", r"^z3", "Z3 is behind worker/solve/session.h"),
    ("server", r"^(trace/|term/|z3|verdict/(claim|checker|machine|observe))",
     "the server never parses a trace"),
    ("server/(?!webhooks/sender/)", r"^curl/",
     "libcurl meets the answers of strangers' servers in a process of its own, webhooks/sender"),
    ("server/webhooks/sender/", r"^(uv\.h|store/|dispatch/|api/|http/)",
     "the sender has nothing of the daemon"),
    ("server/(?!store/)", r"^sqlite3\.h", "SQL lives in server/store alone"),
    ("clients", r"^(uv\.h|sqlite3\.h|llhttp\.h|z3)", "clients use common and libcurl"),
)
# Whose headers a component may include, by rules 1.
MAY_INCLUDE = {
    "common": ("common",),
    "worker": ("worker", "common"),
    "server": ("server", "common"),
    "clients": ("clients", "common"),
}


def sources():
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "--", *COMPONENTS],
                            capture_output=True, text=True)
    if listed.returncode == 0:
        names = listed.stdout.split("\n")
    else:
        names = [os.path.join(folder, name) for component in COMPONENTS
                 for folder, _, files in os.walk(component) for name in files]
    return sorted(name for name in names if name.endswith((".c", ".h")) and os.path.isfile(name)
                  and not name.startswith(NOT_OURS))


def around(folder):
    """The folder, then those around it, up to the component's own."""
    while folder:
        yield folder
        folder = os.path.dirname(folder)


def find(header, includer):
    """The path of an included header in the project, or None."""
    own = os.path.dirname(includer)
    for root in (*around(own), *ROOTS[includer.split("/")[0]], *COMPONENTS, "clients/cli"):
        path = os.path.normpath(os.path.join(root, header))
        if os.path.isfile(path):
            return path
    return None


def named(name, folder):
    """The folder that an Imports line means by a name, or None."""
    for root in (*around(os.path.dirname(folder)), ".", "common"):
        path = os.path.normpath(os.path.join(root, name))
        if path != folder and os.path.isdir(path):
            return path
    return None


def shortest(target, folder):
    """What an Imports line calls a folder."""
    if target.startswith("common/"):
        return target
    parts = target.split("/")
    for n in range(1, len(parts) + 1):
        if named("/".join(parts[-n:]), folder) == target:
            return "/".join(parts[-n:])
    return target


class Check:
    def __init__(self):
        self.bad = []
        self.edges = {}     # folder -> folder -> "file includes header", the first
        self.imports = {}   # folder -> (file, folders that it lists)
        self.folders = set()  # with a .c file

    def complain(self, where, what):
        self.bad.append(f"{where}: {what}")

    def read(self, path):
        with open(path, encoding="utf-8") as file:
            text = file.read()
        folder = os.path.dirname(path)
        self.edges.setdefault(folder, {})
        if path.endswith(".c"):
            self.folders.add(folder)
        for quote, header in INCLUDE.findall(text):
            self.include(path, folder, header, quote == '"')
        lines = IMPORTS.findall(text)
        if not lines and re.search(r"^ \* Imports:", text, re.M):
            self.complain(path, "the line after `Imports:' does not end with a full stop")
        for line in lines:
            self.list(path, folder, line)

    def include(self, path, folder, header, quoted):
        for who, pattern, why in REFUSED:
            if re.match(who, path) and re.match(pattern, header):
                self.complain(path, f"includes {header}: {why}")
        found = find(header, path) if quoted else None
        if found is None:
            return
        component, target = path.split("/")[0], os.path.dirname(found)
        if found.split("/")[0] not in MAY_INCLUDE[component]:
            self.complain(path, f"includes {header} of {found.split('/')[0]}")
        if target != folder:
            self.edges[folder].setdefault(target, f"{path} includes {header}")

    def list(self, path, folder, line):
        if folder in self.imports:
            self.complain(path, f"a second Imports line; the first is in {self.imports[folder][0]}")
            return
        line = line.replace("\n *", "")
        names = [] if line == "nothing" else [name.strip() for name in line.split(",")]
        targets = {}
        for name in names:
            target = named(name, folder)
            if target is None:
                self.complain(path, f"Imports: there is no folder `{name}'")
            targets[target] = name
        self.imports[folder] = (path, targets)

    def compare(self):
        for folder in sorted(self.imports):
            path, targets = self.imports[folder]
            for target, reason in sorted(self.edges[folder].items()):
                if target not in targets:
                    self.complain(path, f"Imports does not have `{shortest(target, folder)}', but "
                                        f"{reason}")
            for target, name in targets.items():
                if target and target not in self.edges[folder]:
                    self.complain(path, f"Imports has `{name}', which nothing in the folder "
                                        "includes: take it out")
        for folder in sorted(self.folders - set(self.imports)):
            names = ", ".join(sorted(shortest(t, folder) for t in self.edges[folder])) or "nothing"
            self.complain(folder, "no header of it says what it may include; write a comment line "
                                  f"` * Imports: {names}.' there")

    def circles(self):
        """Each folder that can be reached from itself, with the includes of a shortest way."""
        seen = set()
        for start in sorted(self.edges):
            way = self.way_back(start)
            if way and frozenset(way) not in seen:
                seen.add(frozenset(way))
                for a, b in zip(way, way[1:] + way[:1]):
                    self.complain(a, f"is in a circle of folders: {self.edges[a][b]}")

    def way_back(self, start):
        before, queue = {}, [start]
        for folder in queue:
            for target in sorted(self.edges.get(folder, ())):
                if target == start:
                    way = [folder]
                    while way[-1] != start:
                        way.append(before[way[-1]])
                    return way[::-1]
                if target not in before:
                    before[target] = folder
                    queue.append(target)
        return None


def main():
    os.chdir(sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(__file__), "../.."))
    check = Check()
    for path in sources():
        check.read(path)
    check.compare()
    check.circles()
    print("\n".join(check.bad), end="\n" if check.bad else "")
    return 1 if check.bad else 0


if __name__ == "__main__":
    sys.exit(main())
