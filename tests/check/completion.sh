#!/usr/bin/env bash
# Completions are what each shell can read, and bash's completes; the manual pages are without faults.
# FORETELL_BIN: the folder of the programs.
set -euo pipefail
cd "$(dirname "$0")/../.."
bin=${FORETELL_BIN:-build/bin}
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
for shell in bash zsh fish; do
    "$bin/foretell" completion "$shell" >"$out/$shell"
    if command -v "$shell" >/dev/null; then
        "$shell" -n "$out/$shell"
    else
        echo "$shell is not installed: its completion is not checked"
    fi
done
if "$bin/foretell" completion csh 2>/dev/null; then exit 1; fi

# complete WORD...: what bash offers for the last word.
complete() {
    bash -c '. "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _foretell; echo "${COMPREPLY[*]}"' \
        - "$out/bash" "$@"
}
expect() { [ "$1" = "$2" ] || { echo "completed to '$1', not '$2'"; exit 1; }; }
expect "$(complete foretell con)" "convert context"
expect "$(complete foretell conv)" convert
expect "$(complete foretell check --base)" --baseline
expect "$(complete foretell check --format sar)" sarif
expect "$(complete foretell review --state f)" 'false fixed'

# Every command's help has examples that name it.
for command in $("$bin/foretell" --help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p'); do
    "$bin/foretell" "$command" --help | sed -n '/^Examples:/,$p' | grep -q "foretell $command" ||
        { echo "foretell $command --help has no example"; exit 1; }
done

if command -v mandoc >/dev/null; then
    mandoc -T lint -W warning docs/man/*.[18]
else
    echo "mandoc is not installed: the manual pages are not checked"
fi
