#!/usr/bin/env bash
# The records and witness files that the built programs write are what the JSON Schemas say.
set -eu
cd "$(dirname "$0")/../.."
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
status=0
for trace in examples/*.ndjson; do
    name=$(basename "$trace" .ndjson)
    extra=()
    [ "$name" = bank ] && extra=(--property examples/properties/violated.json
        --property examples/properties/proved.json --check race,atomicity,assertion,lock)
    "${FORETELL_BIN:-build/bin}"/foretell check --json --show-safe --witness-dir "$out/$name" "${extra[@]}" "$trace" \
        >"$out/$name.report" 2>"$out/log" || status=$?
    [ "$status" -le 1 ] || { cat "$out/log"; exit 1; }
    for witness in "$out/$name"/*.json; do
        [ -e "$witness" ] || continue
        "${FORETELL_BIN:-build/bin}"/foretell verify "$witness" "$trace" >/dev/null
    done
done
# A lock that is held for reading alone keeps no other reader out: the reports say so.
"${FORETELL_BIN:-build/bin}"/foretell check examples/rwlock.ndjson >"$out/text" 2>"$out/log" || true
[ "$(grep -c 'hits := hits + 1  holding cache (for reading)$' "$out/text")" -ge 2 ] ||
    { echo "rwlock: the locks' modes are not told"; exit 1; }
python=python3
[ -x /usr/bin/python3 ] && python=/usr/bin/python3
"$python" tests/check/records.py "$out"
