#!/usr/bin/env python3
"""usage: compare.py RUN.ndjson ACCOUNT : are the accesses to memory that threads share those of the account?

Thread by thread, in order, with their values. Says how many.
"""
import json
import sys
from collections import defaultdict


def account(path, present):
    """What must have been recorded: of memory that threads share, and of what else is present there (the account
    itself looks at all of it)."""
    lines = defaultdict(list)
    for line in open(path):
        thread, kind, variable, value, result = line.split()
        value, result = int(value), int(result)
        lines[thread].append((kind, variable, *{"read": (value,), "write": (result,), "rmw": (value, result)}[kind]))
    users, writers = defaultdict(set), set()
    for thread, told in lines.items():
        for one in told:
            users[one[1]].add(thread)
            if one[0] != "read":
                writers.add(one[1])
    shared = {v for v in users if v in writers and len(users[v]) > 1} | present
    return {t: [one for one in told if one[1] in shared] for t, told in lines.items()}


def recorded(path):
    lines = defaultdict(list)
    for line in open(path):
        event = json.loads(line)
        if "kind" not in event:
            continue
        variable = event.get("variable", "")
        update = event["kind"] == "rmw"
        if not variable.startswith("arena.") or not (update or event.get("atomic")):
            continue  # the account's own looks at it
        values = [event["value"], event["result"]] if update else [event["value"]]
        lines[event.get("thread")].append((event["kind"], variable, *values))
    return lines


seen = recorded(sys.argv[1])
told = account(sys.argv[2], {one[1] for lines in seen.values() for one in lines})
for thread in sorted(set(told) | set(seen), key=str):
    for i, (a, b) in enumerate(zip(told.get(thread, []), seen.get(thread, []))):
        if a != b:
            sys.exit(f"{thread}: access {i}: {a} in the account, {b} recorded")
    if len(told.get(thread, [])) != len(seen.get(thread, [])):
        sys.exit(f"{thread}: {len(told.get(thread, []))} accesses in the account, {len(seen.get(thread, []))} recorded")
print(sum(map(len, told.values())))
