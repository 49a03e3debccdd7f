"""Runs every trace of a document and compares what is found with the comment before it.

usage: explained.py FORETELL DOCUMENT...
The comment is <!-- [OPTION...] finds: CHECK/KIND... --> or <!-- ... finds: nothing -->.
"""

import json
import pathlib
import re
import subprocess
import sys
import tempfile

BLOCK = re.compile(r"<!-- (.*?)\s*finds: (.*?) -->\n```ndjson\n(.*?)```", re.S)

program, documents = sys.argv[1], sys.argv[2:]
count, bad = 0, 0
for document in documents:
    text = pathlib.Path(document).read_text(encoding="utf-8")
    blocks = BLOCK.findall(text)
    if len(blocks) != text.count("```ndjson"):
        print(f"{document}: a trace has no comment that says what is found")
        bad += 1
    for options, wanted, trace in blocks:
        count += 1
        with tempfile.NamedTemporaryFile("w", suffix=".ndjson") as file:
            file.write(trace)
            file.flush()
            run = subprocess.run(
                [program, "check", "--json", *options.split(), file.name],
                capture_output=True,
                text=True,
                check=False,
            )
        if run.returncode not in (0, 1):
            print(f"{document}: exit code {run.returncode}: {run.stderr}{trace}")
            bad += 1
            continue
        report = json.loads(run.stdout)
        found = sorted(f"{one['check']}/{one['kind']}" for one in report["findings"])
        if report["undecided"] or found != sorted(wanted.replace("nothing", "").split()):
            print(f"{document}: finds {found}, not {wanted}, in\n{trace}")
            bad += 1
print(f"{count} traces checked")
sys.exit(1 if bad or count == 0 else 0)
