"""The shell steps of a CI template, as a shell script on standard output.

usage: ci_steps.py github ACTION.yml [INPUT=VALUE]...
       ci_steps.py gitlab TEMPLATE.yml JOB [VARIABLE=VALUE]...
       ci_steps.py artifacts TEMPLATE.yml JOB
       ci_steps.py jenkins JENKINSFILE
"""

import re
import shlex
import sys

import yaml


def load(path):
    with open(path, encoding="utf-8") as file:
        return yaml.safe_load(file)


def given(words):
    return dict(word.split("=", 1) for word in words)


def exports(variables):
    for name, value in variables.items():
        print(f"export {name}={shlex.quote(str(value))}")


def github(path, *words):
    action = load(path)
    assert action["runs"]["using"] == "composite"
    inputs = {name: str(one.get("default", "")) for name, one in action["inputs"].items()}
    unknown = set(given(words)) - set(inputs)
    assert not unknown, unknown
    inputs.update(given(words))

    def fill(text):
        filled = re.sub(r"\$\{\{ inputs\.([a-z-]+) \}\}", lambda m: inputs[m[1]], str(text))
        assert "${{" not in filled, filled
        return filled

    for step in action["runs"]["steps"]:
        assert step["shell"] == "bash"
        exports({name: fill(value) for name, value in step.get("env", {}).items()})
        print(fill(step["run"]))


def gitlab(path, job, *words):
    template = load(path)[job]
    exports({**template["variables"], **given(words)})
    print("\n".join(template["script"]))


def artifacts(path, job):
    artifact = load(path)[job]["artifacts"]
    print("\n".join(artifact["paths"] + list(artifact["reports"].values())))


def jenkins(path):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    block = re.search(r"environment \{(.*?)\}", text, re.S)[1]
    exports(dict(re.findall(r"(\w+) = '([^']*)'", block)))
    scripts = re.findall(r"script: '''(.*?)'''", text, re.S)
    assert scripts
    print("\n".join(scripts))


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
