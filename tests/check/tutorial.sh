#!/usr/bin/env bash
# The commands of docs/tutorial.md, one after the other. FORETELL_BIN: the folder of the programs.
set -euo pipefail
cd "$(dirname "$0")/../.."
bin=$(cd "${FORETELL_BIN:-build/bin}" && pwd)
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
ln -s "$PWD/examples" "$out/examples"
sed -n '/^```sh$/,/^```$/{/^```/d;p}' docs/tutorial.md >"$out/commands"
[ "$(wc -l <"$out/commands")" -gt 12 ]
unset FORETELL_SERVER
cd "$out"
PATH=$bin:$PATH timeout 120 bash -euo pipefail commands >said 2>&1 || { cat said; exit 1; }
for line in 'Assertion failure' 'safe: race' ' known' 'open  '; do
    grep -qF -- "$line" said || { echo "not said: $line"; cat said; exit 1; }
done
[ -s bank.html ] && [ -s bank.sarif ] && [ -s bank.xml ] && [ -s found/bank.ndjson.2.json ]
