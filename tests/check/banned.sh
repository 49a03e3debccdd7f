#!/usr/bin/env bash
# Functions that the project does not use: unbounded copies, hidden state, silent failure. Tests do
# not sleep: they wait for events.
set -euo pipefail
cd "$(dirname "$0")/../.."

banned='strcpy|strcat|stpcpy|sprintf|vsprintf|strtok|atoi|atol|atoll|atof|gets|alloca|strncpy|strncat|tmpnam|mktemp'
sources=(common worker server clients tests)
found=0

# Comments and string literals may name them.
strip() { sed -e 's/"\([^"\\]\|\\.\)*"/""/g' -e 's://.*$::' -e 's:/\*.*\*/::' "$1"; }

search() {
    local pattern=$1 file
    shift
    for file in "$@"; do
        if strip "$file" | grep -nE "(^|[^A-Za-z0-9_])($pattern)[[:space:]]*\(" | sed "s|^|$file:|"; then
            found=1
        fi
    done
}

# (Programs that are recorded or lowered are as programs are; models are these functions themselves.)
mapfile -t all < <(find "${sources[@]}" -name '*.[ch]' -not -path 'clients/lower/models/*' -not -path 'tests/programs/*' -not -path 'tests/lower/programs/*' | sort)
mapfile -t tests < <(find tests -name '*.[ch]' -not -path 'tests/programs/*' -not -path 'tests/lower/programs/*' | sort)
search "$banned" "${all[@]}"
[ ${#tests[@]} = 0 ] || search 'sleep|usleep|nanosleep|uv_sleep' "${tests[@]}"

# Work that is not done is an issue, not a comment.
if grep -nEr --include='*.[ch]' '\b(TODO|FIXME|XXX)\b' "${sources[@]}"; then found=1; fi
exit "$found"
