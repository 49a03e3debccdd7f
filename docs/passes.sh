#!/usr/bin/env bash
# usage: docs/passes.sh: docs/engine.md with its table of passes, which comes from
# worker/engine/passes.h.
set -euo pipefail
cd "$(dirname "$0")/.."
exec python3 - <<'PROGRAM'
import re

header = open("worker/engine/passes.h", encoding="utf-8").read()
table = re.search(r"#define FT_PASS_TABLE\(X\)(.*?)\n\n", header, re.S)[1].replace("\\\n", " ")
table = re.sub(r'"\s+"', "", table)
claims = {"ALL": "all", "STUCK": "stuck threads", "BLOCK": "atomicity",
          "UNINIT": "reads before initialisation", "TERM": "assertions"}
traces = {"ANY": "all", **dict(re.findall(r'X\((CONDITIONS|SMALL|LONG), "([^"]*)"\)', header))}
row = re.compile(r'X\(\w+, "([^"]*)", (\w+), (\w+), (?:FT_REASON_)?(\w+), (\w+), (\w+), (\w+), '
                 r'(\d+), (\d+),\s*"([^"]*)",\s*"([^"]*)"\)')
rows = row.findall(re.sub(r"\s+", " ", table))
assert len(rows) == len(re.findall(r"\bX\(", table)), "a row of FT_PASS_TABLE is not understood"

before, rest = open("docs/engine.md", encoding="utf-8").read().split("<!-- passes -->\n")
after = rest.split("<!-- end of passes -->\n")[1]
print(before, end="")
print("""<!-- passes -->
| pass | stage | effect | reason | claims | models | traces | how | file in `worker/` |
|---|---|---|---|---|---|---|---|---|""")
for name, stage, effect, reason, kinds, models, of, begin, share, file, doc in rows:
    reason = "" if reason == "FT_REASONS" else f"`{reason.lower().replace('_', '-')}`"
    notes = [doc]
    if begin != "0":
        notes.append(f"from the {int(begin) + 1}th claim of a candidate on")
    if share != "100":
        notes.append(f"at most {share} % of the time left at once")
    print(f"| `{name}` | {stage.lower()} | {effect.lower()} | {reason} | {claims[kinds]} | "
          f"{models.lower()} | {traces[of]} | {'; '.join(notes)} | `{file}` |")
print("<!-- end of passes -->")
print(after, end="")
PROGRAM
