#!/usr/bin/env bash
# Living with findings, by the programs as a whole: a baseline of five findings leaves a sixth, also
# after lines have shifted, functions have moved and threads have been renamed; suppressions,
# annotations and --fail-on decide the exit code. FORETELL_BIN: the folder of the programs.
set -euo pipefail
cd "$(dirname "$0")/../.."
bin=${FORETELL_BIN:-build/bin}
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
unset FORETELL_SERVER

# trace RACES SHIFT THREAD: two threads that write v1, v2, ... without a lock, each in a function of
# its own; lines begin at SHIFT.
trace() {
    local n=$1 shift=$2 thread=$3 t v names=
    for ((v = 1; v <= n; v++)); do names+="${names:+,}\"v$v\":0"; done
    echo "{\"format\":\"foretell\",\"version\":1,\"threads\":[\"$thread\",\"T2\"],\"variables\":{$names}}"
    for t in "$thread" T2; do
        for ((v = 1; v <= n; v++)); do
            echo "{\"thread\":\"$t\",\"kind\":\"write\",\"variable\":\"v$v\",\"value\":$v,\"loc\":\"${4:-a.c}:$((shift + 10 * v + ${#t}))\",\"function\":\"${t:0:1}_f$v\"}"
        done
    done
}

# expect CODE COMMAND...: its output is in $out/said.
expect() {
    local want=$1 code=0
    shift
    "$@" >"$out/said" 2>"$out/errors" || code=$?
    [ "$code" = "$want" ] && return
    echo "exit code $code, not $want: $*"
    cat "$out/said" "$out/errors"
    exit 1
}

says() { grep -qF -- "$1" "$out/said" || { echo "not said: $1"; cat "$out/said"; exit 1; }; }

trace 5 0 T1 >"$out/old.ndjson"
trace 6 300 Tx moved/b.c >"$out/new.ndjson"
trace 5 300 Tx moved/b.c >"$out/same.ndjson"

expect 1 "$bin/foretell" check --write-baseline "$out/known.txt" "$out/old.ndjson"
[ "$(grep -c '^[0-9a-f]\{16\}' "$out/known.txt")" = 5 ]
expect 1 "$bin/foretell" check --format json -o "$out/known.json" "$out/old.ndjson"

for baseline in "$out/known.txt" "$out/known.json"; do
    expect 0 "$bin/foretell" check --baseline "$baseline" "$out/same.ndjson"
    expect 1 "$bin/foretell" check --baseline "$baseline" "$out/new.ndjson"
    says 'Data race on v6 (write-write, predicted)'
    says '; 1 new, 5 known'
    [ "$(grep -c '^\[' "$out/said")" = 1 ] || { echo "more than the new one is told"; exit 1; }
done

# A suppression in a file: until its day, and not later.
echo 'ignore race object=v6 until=never -- v6 is a counter for statistics' >"$out/ignore.txt"
expect 0 "$bin/foretell" check --baseline "$out/known.txt" --suppressions "$out/ignore.txt" "$out/new.ndjson"
echo 'ignore race object=v6 until=2020-02-29 -- was to be fixed by then' >"$out/ignore.txt"
expect 1 "$bin/foretell" check --baseline "$out/known.txt" --suppressions "$out/ignore.txt" "$out/new.ndjson"
says 'this suppression expired on 2020-02-29'
echo 'ignore race object=v6' >"$out/ignore.txt"
expect 2 "$bin/foretell" check --suppressions "$out/ignore.txt" "$out/new.ndjson"
grep -q "ignore.txt:1:22: expected -- and a reason" "$out/errors"

# An annotation in the source.
mkdir -p "$out/src/moved"
for ((i = 1; i < 362; i++)); do echo; done >"$out/src/moved/b.c"
echo 'v6 = 6; // foretell: ignore race -- only a hint' >>"$out/src/moved/b.c"
expect 0 "$bin/foretell" check --baseline "$out/known.txt" --source-root "$out/src" "$out/new.ndjson"

expect 0 "$bin/foretell" check --fail-on deadlock,assertion "$out/new.ndjson"
expect 0 "$bin/foretell" check --fail-on none "$out/new.ndjson"
expect 1 "$bin/foretell" check --fail-on race "$out/new.ndjson"
expect 2 "$bin/foretell" check --fail-on rice "$out/new.ndjson"
expect 2 "$bin/foretell" check --report nonsense "$out/new.ndjson"

# Colours are asked for, or there is a terminal.
expect 1 "$bin/foretell" check "$out/new.ndjson"
if grep -q $'\033' "$out/said"; then echo "colours in a pipe"; exit 1; fi
expect 1 env NO_COLOR=1 "$bin/foretell" check --color always "$out/new.ndjson"
grep -q $'\033' "$out/said"

# On a server: jobs are compared, findings are remembered, reviews count.
"$bin/foretelld" --listen 127.0.0.1:0 --state "$out/state" --port-file "$out/port" >"$out/log" 2>&1 &
daemon=$!
trap 'kill "$daemon" 2>/dev/null || true; wait "$daemon" 2>/dev/null || true; rm -rf "$out"' EXIT
until [ -s "$out/port" ]; do kill -0 "$daemon" || { cat "$out/log"; exit 1; }; done
export FORETELL_SERVER=http://127.0.0.1:$(cat "$out/port")
old=$("$bin/foretell" submit --project app "$out/old.ndjson")
expect 1 "$bin/foretell" show --wait "$old"
new=$("$bin/foretell" submit --project app "$out/new.ndjson")
expect 1 "$bin/foretell" show --wait --new-since "$old" "$new"
says '; 1 new, 5 known'
expect 1 "$bin/foretell" show --fail-on-new "$new"
says '; 1 new, 5 known'
expect 1 "$bin/foretell" diff "$old" "$new"
says 'SUMMARY: foretell: 1 new, 0 gone, 5 the same'
says '+ new'
sixth=$(sed -nE 's/^\+ new +([0-9a-f]{16}) .*/\1/p' "$out/said")
expect 0 "$bin/foretell" diff "$new" "$old"
says 'SUMMARY: foretell: 0 new, 1 gone, 5 the same'
expect 0 "$bin/foretell" review --project app "$sixth" --state false --reason 'only a hint'
expect 0 "$bin/foretell" show --new-since "$old" "$new"
says '1 suppressed'
expect 0 "$bin/foretell" review --project app
[ "$(wc -l <"$out/said")" = 6 ] || { cat "$out/said"; exit 1; }
says 'only a hint'
expect 2 "$bin/foretell" review --project other "$sixth" --state fixed
expect 2 "$bin/foretell" review --project app --state fixed
