"""Validates reports' records and witness files against schema/. Usage: records.py FOLDER"""
import json
import pathlib
import sys

try:
    from jsonschema import Draft202012Validator as Validator
except ImportError:
    sys.exit("records.py needs python3-jsonschema, which tests/run installs")

folder, schemas = pathlib.Path(sys.argv[1]), pathlib.Path("schema")
witness = json.loads((schemas / "witness.schema.json").read_text())
record = json.loads((schemas / "record.schema.json").read_text())


def inline(node):
    """The record's references to other schemas, resolved by hand: no network, any version."""
    if isinstance(node, dict):
        if node.get("$ref") in (witness["$id"], "urn:foretell:schema:review"):
            return {"type": "object"}
        return {key: inline(value) for key, value in node.items()}
    return [inline(value) for value in node] if isinstance(node, list) else node


statistics = json.loads((schemas / "statistics.schema.json").read_text())
checks = {
    "record": Validator(inline(record)),
    "witness": Validator(witness),
    "statistics": Validator(statistics),
}
count, failures = 0, []


def check(kind, document, where):
    global count
    count += 1
    for error in checks[kind].iter_errors(document):
        failures.append(f"{where}: {kind} {list(error.absolute_path)}: {error.message[:200]}")


for path in sorted(folder.glob("*.report")):
    report = json.loads(path.read_text())
    check("statistics", report["statistics"], path.name)
    for part in ("findings", "undecided", "safe"):
        for entry in report.get(part, []):
            check("record", entry, path.name)
            if entry.get("witness"):
                check("witness", entry["witness"], path.name)
for path in sorted(folder.glob("*/*.json")):
    check("witness", json.loads(path.read_text()), path.name)
print("\n".join(failures[:20]) or f"{count} documents are valid")
sys.exit(1 if failures or count < 20 else 0)
