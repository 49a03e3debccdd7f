"""Runs the commands of a document and compares what they print with the lines below them.

usage: console.py BIN DOCUMENT...

In a block that begins with ```console, a line "$ COMMAND" is run by a shell at the root of the
repository, with BIN in PATH and the files that it writes in a temporary folder. The lines below it
must come in its output (both streams), in that order; "..." stands for any text, on a line of its own
for any lines.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

BLOCK = re.compile(r"^```console\n(.*?)^```", re.S | re.M)


def pattern(line):
    return re.compile(".*".join(re.escape(part) for part in line.rstrip().split("...")) + "$")


def missing(wanted, printed):
    """The first wanted line that is not printed behind the one before it; None: all are."""
    lines = iter(printed)
    for line in wanted:
        if line.strip() != "..." and not any(pattern(line).match(one.rstrip()) for one in lines):
            return line
    return None


def check(document, folder, environment):
    bad, count = 0, 0
    for block in BLOCK.findall(pathlib.Path(document).read_text(encoding="utf-8")):
        for part in re.split(r"^\$ ", block, flags=re.M)[1:]:
            command, *wanted = part.splitlines()
            run = subprocess.run(command, shell=True, cwd=folder, env=environment, text=True, check=False,
                                 stdout=subprocess.PIPE, stderr=subprocess.STDOUT, errors="replace")
            count += 1
            line = missing(wanted, run.stdout.splitlines())
            if line is not None:
                print(f"{document}: $ {command}\ndoes not print\n{line}\nbut\n{run.stdout}")
                bad += 1
    print(f"{document}: {count} commands checked")
    return bad or count == 0


def main():
    root = pathlib.Path.cwd()
    environment = {name: value for name, value in os.environ.items() if name != "FORETELL_SERVER"}
    environment["PATH"] = f"{pathlib.Path(sys.argv[1]).resolve()}:{environment['PATH']}"
    with tempfile.TemporaryDirectory() as folder:
        os.symlink(root / "examples", pathlib.Path(folder) / "examples")
        environment["TMPDIR"] = folder
        return sum(bool(check(document, folder, environment)) for document in sys.argv[2:])


if __name__ == "__main__":
    sys.exit(main())
