"""Checks the examples against the JSON Schemas. Exit code 77: no validator here.

Usage: reader_schema.py SOURCE_DIR"""
import json
import pathlib
import sys

try:
    from jsonschema import Draft202012Validator as Validator
except ImportError:
    sys.exit(77)

root = pathlib.Path(sys.argv[1])
failures = []


def validator(name):
    schema = json.loads((root / "schema" / f"{name}.schema.json").read_text())
    Validator.check_schema(schema)
    return Validator(schema)


def expect(valid, check, document, where):
    if check.is_valid(document) != valid:
        failures.append(f"{where}: {'refused' if valid else 'accepted'}")


for name in ("job", "witness", "record"):
    validator(name)

trace = validator("trace")
for path in sorted((root / "examples").glob("*.ndjson")):
    for number, line in enumerate(path.read_text().splitlines(), 1):
        expect(True, trace, json.loads(line), f"{path.name}:{number}")
for path in sorted((root / "tests/fuzz/corpus/ndjson").glob("good-*")):
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if line.strip():
            expect(True, trace, json.loads(line), f"{path.name}:{number}")

# What the reader refuses for the members alone must be refused by the schema as well.
for line in (
    '{"format":"foretell","version":1}',
    '{"format":"foretell","version":2,"threads":["T1"]}',
    '{"format":"foretell","version":1,"threads":[]}',
    '{"format":"foretell","version":1,"threads":["T1"],"lock":{}}',
    '{"format":"foretell","version":1,"threads":["T1"],"variables":{"x":"Real"}}',
    '{"format":"foretell","version":1,"threads":["T1"],"variables":{"x":"(_ BitVec 65)"}}',
    '{"format":"foretell","version":1,"threads":["T1"],"locks":{"l":"spin"}}',
    '{"format":"foretell","version":1,"threads":["T1"],"semaphores":{"s":-1}}',
    '{"thread":"T1","kind":"raed","variable":"x"}',
    '{"thread":"T1","kind":"read"}',
    '{"thread":"T1","kind":"begin","lock":"l"}',
    '{"thread":"T1","kind":"acquire","lock":"l","atomic":true}',
    '{"thread":"T1","kind":"assert"}',
    '{"thread":"T1","kind":"begin","function":"f"}',
    '{"thread":"T1","kind":"read","variable":"x","value":1.5}',
    '{"format":"foretell","version":1,"threads":["T1"],"conditions":{"c":0}}',
    '{"format":"foretell","version":1,"threads":["T1"],"barriers":{"b":0}}',
    '{"format":"foretell","version":1,"threads":["T1"],"onces":["o","o"]}',
    '{"format":"foretell","version":1,"threads":["T1"],"blocks":{"k":"x"}}',
    '{"thread":"T1","kind":"release","lock":"l","try":true}',
    '{"thread":"T1","kind":"acquire-shared","lock":"l","condition":true}',
    '{"thread":"T1","kind":"try-failed"}',
    '{"thread":"T1","kind":"signal","cond":"c","timeout":true}',
    '{"thread":"T1","kind":"cond-wait","lock":"c"}',
    '{"thread":"T1","kind":"rmw","variable":"x","atomic":true}',
    '{"thread":"T1","kind":"read","variable":"x","result":1}',
    '{"thread":"T1","kind":"once-pass","once":3}',
):
    expect(False, trace, json.loads(line), line)

properties = validator("property")
for name, valid in (("violated", True), ("proved", True), ("malformed", False)):
    for item in json.loads((root / "examples/properties" / f"{name}.json").read_text()):
        expect(valid, properties, item, f"{name}.json: {item}")

print("\n".join(failures))
sys.exit(bool(failures))
