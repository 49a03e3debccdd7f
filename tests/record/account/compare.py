#!/usr/bin/env python3
"""usage: compare.py REPORT

Reads the report of `foretell check --json` over files NAME.ftb and NAME.ndjson, a recording and the whole trace of
the same run, and says which findings one of the two has alone. Exit code 1: some have.
"""
import json
import re
import sys


def known_by(f):
    """Check, kind and lines: what a group of findings is known by."""
    check, kind, *places = f["key"].split("|")
    return (check, kind, *sorted(int(n) for n in re.findall(r":(\d+)", "|".join(places))))


def findings(report):
    return {known_by(f) for f in report["findings"] if f["verdict"] == "violation"}


def filled(report):
    """Reads of what nobody initialised, but of a block that another thread allocated: code that a recorder does not see
    may have filled it before anybody else knew of it, so a recording has none of these (worker/candidate/lifetime.c)."""
    makers, reads = {}, set()
    with open(report["file"]) as file:
        blocks = json.loads(next(file)).get("blocks", {})
        for line in file:
            event = json.loads(line)
            if event["kind"] == "alloc":
                makers |= {variable: event["thread"] for variable in blocks[event["block"]]}
    for f in report["findings"]:
        if f["verdict"] != "violation" or f["kind"] != "uninitialised": continue
        if makers.get(f["object"]) in (None, f["accesses"][0]["thread"]): reads.add(known_by(f))
    return reads


def stands_for(recorded, lacking):
    """Of memory that one thread alone used and another one frees, a recording has the last use, which stands for
    those before it (maker/cells/count.c)."""
    return lacking[:2] == ("order", "use-after-free") and any(f[:2] == lacking[:2] and set(f[2:]) & set(lacking[2:]) for f in recorded)


def main():
    reports = json.load(open(sys.argv[1]))
    by_name, differences, n, undecided = {}, 0, 0, 0
    for report in reports.get("reports", [reports]):
        name, _, kind = report["file"].rpartition(".")
        by_name.setdefault(name, {})[kind] = report
    for name, both in sorted(by_name.items()):
        for kind, report in both.items():
            left = sum(c["unknown"] + c["error"] + c["bounded"] for c in report["checks"].values())
            notes = [note["text"] for note in report["notes"]]
            if left or report["error"] or notes:
                print(f"{name}.{kind}: {left} undecided, {report['error']}, {notes}")
                undecided += 1
        recorded, whole = findings(both["ftb"]), findings(both["ndjson"])
        n += len(whole)
        unseen = filled(both["ndjson"])
        whole = {f for f in whole if f in recorded or not (f in unseen or stands_for(recorded, f))}
        for f in sorted(whole - recorded):
            print(f"{name}: the recording lacks {f}")
        for f in sorted(recorded - whole):
            print(f"{name}: the recording alone has {f}")
        differences += recorded != whole
    print(f"{len(by_name)} runs, {n} findings, {differences} runs differ")
    sys.exit(1 if differences or undecided else 0)


if __name__ == "__main__":
    main()
