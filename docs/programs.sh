#!/usr/bin/env bash
# usage: docs/programs.sh: docs/programs.md with its tables of instructions and errors, which come
# from common/program/instruction.h.
set -euo pipefail
cd "$(dirname "$0")/.."
exec python3 - <<'PROGRAM'
import re

header = open("common/program/instruction.h", encoding="utf-8").read()
page = open("docs/programs.md", encoding="utf-8").read()


def rows(name, pattern):
    table = re.search(rf"#define {name}\(X\)(.*?)\n(?=[^ ])", header, re.S)[1].replace("\\\n", " ")
    table = re.sub(r"\s+", " ", re.sub(r'"\s+"', "", table))
    found = re.findall(pattern, table)
    assert len(found) == len(re.findall(r"\bX\(", table)), f"a row of {name} is not understood"
    return found


def form(name, attribute, operands, result):
    """An example of the instruction's text."""
    words = [name]
    words += {"NONE": [], "ALIGN": ["ALIGN"], "ORDER": ["ORDER"], "UPDATE": ["UPDATE", "ORDER"],
              "MUTEX": ["KIND"], "TEXT": ['"TEXT"'], "FUNCTION": []}[attribute]
    if result in "wv" or "w" in operands:
        words.append("iN")
    text = " ".join(words)
    letters = [chr(ord("a") + i) for i, c in enumerate(operands.replace("*", ""))]
    if attribute == "FUNCTION":
        return f"{text} @f(a, ...)"
    if name == "call_at":
        return f"{text} a(b, ...)"
    targets = {"jump": "TARGET", "branch": "TARGET, TARGET", "switch": "TARGET, VALUE: TARGET, ..."}
    parts = letters + ([targets[name]] if name in targets else [])
    return f"{text} {', '.join(parts)}".rstrip()


instructions = ["| instruction | result | scheduling point | meaning |", "|---|---|---|---|"]
widths = {"w": "iN", "b": "i1", "a": "i64", "i": "i32", "v": "iN or none", "-": ""}
for name, attribute, operands, result, effect, meaning in rows(
        "FT_INSTRUCTION_TABLE",
        r'X\(\w+, "(\w+)", (\w+), "([^"]*)", \'(.)\', (\w+), "([^"]*)"\)'):
    point = "yes" if effect == "VISIBLE" else ""
    instructions.append(f"| `{form(name, attribute, operands, result)}` | {widths[result]} | {point} "
                        f"| {meaning} |")
errors = ["| error | meaning |", "|---|---|"]
errors += [f"| `{name}` | {meaning} |" for name, meaning in
           rows("FT_PROGRAM_ERROR_TABLE", r'X\(\w+, "([^"]*)", "([^"]*)"\)')]
for tag, table in (("instructions", instructions), ("errors", errors)):
    before, rest = page.split(f"<!-- {tag} -->\n")
    after = rest.split(f"<!-- end of {tag} -->\n")[1]
    page = f"{before}<!-- {tag} -->\n" + "\n".join(table) + f"\n<!-- end of {tag} -->\n{after}"
print(page, end="")
PROGRAM
