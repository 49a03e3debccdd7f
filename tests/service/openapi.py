"""schema/openapi.yaml against the daemon.

openapi.py --bundle           prints the document as one JSON text, references to files resolved
                              (schema/openapi.json, which the daemon serves)
openapi.py --run FORETELLD   starts a daemon, executes every example of every operation, and
                              validates what it answers
openapi.py --exchanges FILES  validates recorded exchanges: what tests/service/daemon.c writes to
                              the file that FT_EXCHANGES names, one JSON object a line

A path, method, status, header, media type or member that the document does not have is a failure.
"""
import http.client
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import urllib.parse

SCHEMAS = pathlib.Path(__file__).resolve().parents[2] / "schema"
METHODS = ("get", "put", "post", "delete", "options", "head", "patch")


# ---- The document ------------------------------------------------------------------------------


def read_yaml():
    try:
        import yaml
    except ImportError:
        sys.exit("openapi.py needs python3-yaml, which tests/run installs")
    return yaml.safe_load((SCHEMAS / "openapi.yaml").read_text())


class Bundler:
    """Puts the schema files under components/schemas, so that one document says it all."""

    def __init__(self):
        self.schemas = {}

    def take(self, reference):
        name = reference.rsplit(":", 1)[-1].removesuffix(".schema.json")
        if name not in self.schemas:
            content = json.loads((SCHEMAS / f"{name}.schema.json").read_text())
            content.pop("$id", None)
            content.pop("$schema", None)
            self.schemas[name] = {}
            self.schemas[name].update(self.walk(content, name))
        return f"#/components/schemas/{name}"

    def resolve(self, reference, inside):
        if reference.startswith("#"):
            return f"#/components/schemas/{inside}{reference[1:]}" if inside else reference
        base, _, pointer = reference.partition("#")
        return self.take(base) + pointer

    def walk(self, node, inside=None):
        if isinstance(node, list):
            return [self.walk(value, inside) for value in node]
        if not isinstance(node, dict):
            return node
        return {
            key: self.resolve(value, inside) if key == "$ref" else self.walk(value, inside)
            for key, value in node.items()
        }


def bundle():
    document = read_yaml()
    always = document.pop("x-always")
    for path in document["paths"].values():
        for method, operation in path.items():
            if method in METHODS:
                operation["responses"] = {**always, **operation["responses"]}
    own = document["components"].pop("schemas")
    bundler = Bundler()
    document, own = bundler.walk(document), bundler.walk(own)
    document["components"]["schemas"] = {**own, **bundler.schemas}
    return document


# ---- Validation --------------------------------------------------------------------------------


class Checker:
    def __init__(self):
        try:
            from jsonschema import Draft202012Validator
        except ImportError:
            sys.exit("openapi.py needs python3-jsonschema, which tests/run installs")
        self.document = bundle()
        self.validators = {}
        self.validator_type = Draft202012Validator
        self.always = {name.lower() for name in self.document["x-always-headers"]}
        self.routes = [
            (re.compile("^" + re.sub(r"\\\{[^}]*\\\}", "[^/]+", re.escape(path)) + "$"), path)
            for path in self.document["paths"]
        ]
        self.count = 0
        self.failures = []
        self.seen = set()

    def follow(self, node):
        while "$ref" in node:
            at = self.document
            for part in node["$ref"][2:].split("/"):
                at = at[part]
            node = at
        return node

    def fail(self, where, text):
        self.failures.append(f"{where}: {text}")

    def path_of(self, target):
        path = urllib.parse.unquote(target.split("?")[0])
        return next((found for pattern, found in self.routes if pattern.match(path)), None)

    def validate(self, where, schema, value):
        key = json.dumps(schema, sort_keys=True)
        if key not in self.validators:
            self.validators[key] = self.validator_type({**schema, "components": self.document["components"]})
        for error in list(self.validators[key].iter_errors(value))[:3]:
            self.fail(where, f"{list(error.absolute_path)}: {error.message[:300]}")

    def check(self, method, target, status, headers, body):
        """headers: pairs; body: bytes."""
        where = f"{method} {target[:120]} {status}"
        self.count += 1
        names = {name.lower(): value for name, value in headers}
        path = self.path_of(target)
        if path is None:
            self.check_elsewhere(where, status, names, body)
            return
        operations = self.document["paths"][path]
        operation = operations.get("get" if method == "HEAD" else method.lower())
        if method == "OPTIONS" or operation is None:
            self.check_no_operation(where, method, status, names)
            return
        response = operation["responses"].get(str(status))
        if response is None:
            self.fail(where, "the status is not documented")
            return
        self.seen.add((path, method.lower(), status))
        response = self.follow(response)
        documented = {name.lower() for name in response.get("headers", {})}
        for name in names:
            if name not in self.always and name not in documented:
                self.fail(where, f"the header {name} is not documented")
        if method != "HEAD" and body:
            self.check_body(where, response, names, body)

    def check_body(self, where, response, names, body):
        media = names.get("content-type", "").split(";")[0]
        if media not in response.get("content", {}):
            self.fail(where, f"the media type {media!r} is not documented")
            return
        if media.endswith("json") and "content-encoding" not in names:
            schema = response["content"][media].get("schema")
            if schema:
                self.validate(where, schema, json.loads(body))

    def check_problem(self, where, body):
        self.validate(where, {"$ref": "#/components/schemas/Problem"}, json.loads(body))

    def check_elsewhere(self, where, status, names, body):
        """No path of the document: the dashboard's files, or a problem."""
        if names.get("content-type", "").startswith("application/problem+json"):
            if body:
                self.check_problem(where, body)
        elif status not in (200, 204, 304) or "/v1/" in where:
            self.fail(where, "an undocumented path answered")

    def check_no_operation(self, where, method, status, names):
        good = {"OPTIONS": (204,)}.get(method, (400, 405, 501))
        if status not in good and status not in (400, 413, 414, 431):
            self.fail(where, "an undocumented method was executed")
        elif status in (204, 405) and "allow" not in names:
            self.fail(where, "no Allow")

    def report(self, what):
        print("\n".join(self.failures[:30]) or f"{self.count} answers of {what} are as documented")
        return 1 if self.failures or self.count == 0 else 0


# ---- Examples ----------------------------------------------------------------------------------


class Daemon:
    def __init__(self, program, checker):
        self.folder = tempfile.TemporaryDirectory()
        self.port_file = pathlib.Path(self.folder.name, "port")
        self.checker = checker
        self.process = subprocess.Popen(
            [program, "--listen", "127.0.0.1:0", "--port-file", str(self.port_file), "--state",
             self.folder.name + "/state", "--workers", "1"], stderr=subprocess.DEVNULL)
        ends = time.monotonic() + 60
        while not (self.port_file.exists() and self.port_file.read_text()):
            if time.monotonic() > ends or self.process.poll() is not None:
                sys.exit("the daemon did not start")
            time.sleep(0.02)
        self.port = int(self.port_file.read_text())

    def stop(self):
        self.process.terminate()
        self.process.wait(60)
        self.folder.cleanup()

    def call(self, method, target, headers=None, body=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        connection.request(method, target, body, {"Host": "localhost", **(headers or {})})
        answer = connection.getresponse()
        endless = answer.getheader("Content-Type", "").startswith("text/event-stream")
        content = b"" if endless else answer.read()
        connection.close()
        self.checker.check(method, target, answer.status, answer.getheaders(), content)
        return answer.status, content


def operations(document):
    """Creating ones first, deleting ones last."""
    order = {"post": 0, "put": 1, "get": 2, "delete": 3}
    rows = [(order[method], path, method, operation) for path, methods in document["paths"].items()
            for method, operation in methods.items() if method in order]
    late = {"/v1/traces": -2, "/v1/jobs": -1}
    return sorted(rows, key=lambda row: (row[0], late.get(row[1], 0), row[1]))


def request_of(checker, known, path, operation, chosen):
    """The operation's request with its required parameters and one optional one."""
    query, headers, shared = {}, {}, checker.document["paths"][path].get("parameters", [])
    for parameter in shared + operation.get("parameters", []):
        parameter = checker.follow(parameter)
        name, place = parameter["name"], parameter["in"]
        if place != "path" and name != chosen:
            continue
        value = known.get(name, parameter.get("example"))
        if value is None:
            checker.fail(path, f"the parameter {name} has no example")
        elif place == "path":
            path = path.replace("{" + name + "}", urllib.parse.quote(str(value)))
        elif place == "query":
            query[name] = str(value)
        else:
            headers[name] = str(value)
    return path + ("?" + urllib.parse.urlencode(query) if query else ""), headers


def body_of(checker, where, operation):
    if "requestBody" not in operation:
        return None, None
    for media, content in operation["requestBody"]["content"].items():
        if "example" not in content:
            continue
        if "schema" in content:
            checker.validate(where + " example", content["schema"], content["example"])
        example = content["example"]
        return media, example if isinstance(example, str) else json.dumps(example)
    checker.fail(where, "the body has no example")
    return None, None


def learn(daemon, known, path, content):
    if path == "/v1/jobs":
        known["job"] = json.loads(content)["job"]
        daemon.call("GET", f"/v1/jobs/{known['job']}", {"Prefer": "wait=30"})
        _, report = daemon.call("GET", f"/v1/jobs/{known['job']}/findings")
        first = json.loads(report)["findings"][0]
        known.update(finding=first["finding"], fingerprint=first["fingerprint"])


def execute(checker, daemon):
    known, examples = {}, 0
    for _, path, method, operation in operations(checker.document):
        where = f"{method.upper()} {path}"
        optional = [checker.follow(p)["name"] for p in
                    checker.document["paths"][path].get("parameters", []) + operation.get("parameters", [])
                    if checker.follow(p)["in"] != "path" and "example" in checker.follow(p)]
        wanted = operation.get("x-example-status")
        if method == "delete":
            chosen = [p for p in optional if p == "project"] or [None]
        else:
            chosen = [None] + optional
        for name in chosen:
            media, body = body_of(checker, where, operation)
            target, headers = request_of(checker, known, path, operation, name)
            if media:
                headers["Content-Type"] = media
            status, content = daemon.call(method.upper(), target, headers, body)
            examples += 1
            if status != wanted and (wanted or not (200 <= status < 300 or status == 304)):
                checker.fail(where, f"the example with {name} was answered {status} {content[:200]}")
            elif method == "post" and name is None and status < 300:
                learn(daemon, known, path, content)
            if method == "get":
                daemon.call("HEAD", target, headers)
        daemon.call("OPTIONS", path.replace("{", "").replace("}", ""))
    print(f"{examples} examples of {len(operations(checker.document))} operations")


def served_is_current(checker, daemon):
    _, content = daemon.call("GET", "/v1/openapi.json")
    if json.loads(content) != checker.document:
        checker.fail("/v1/openapi.json", "is not schema/openapi.yaml: "
                     "python3 tests/service/openapi.py --bundle > schema/openapi.json")


def run(program):
    checker = Checker()
    daemon = Daemon(program, checker)
    try:
        execute(checker, daemon)
        served_is_current(checker, daemon)
    finally:
        daemon.stop()
    return checker.report("the examples")


def replay(files):
    checker = Checker()
    for name in files:
        for line in open(name, encoding="utf-8", errors="replace"):
            row = json.loads(line)
            headers = [tuple(part.strip() for part in field.split(":", 1))
                       for field in row["head"].splitlines() if ":" in field]
            checker.check(row["method"], row["path"], row["status"], headers,
                          row["body"].encode("utf-8", "surrogateescape"))
    return checker.report(f"{len(files)} files of service tests")


if sys.argv[1:] == ["--bundle"]:
    print(json.dumps(bundle(), indent=1))
elif len(sys.argv) == 3 and sys.argv[1] == "--run":
    sys.exit(run(sys.argv[2]))
elif len(sys.argv) > 2 and sys.argv[1] == "--exchanges":
    sys.exit(replay(sys.argv[2:]))
else:
    sys.exit(__doc__)
