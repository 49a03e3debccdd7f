#!/usr/bin/env bash
# usage: cmake/yield.sh LD OBJCOPY OBJDUMP AR ARCHIVE
#
# Lets a program define functions that have the names of the C library's functions. The recorder's
# runtime defines many of these (send, open, malloc) to stand in front of the C library; as ordinary
# definitions they would clash with the program's own. In ARCHIVE, which is rewritten:
#
#   - each such function becomes weak, so that a definition in the program takes its place;
#   - the runtime itself calls it by another name (foretell_own_open), whatever the program defines.
set -euo pipefail
ld=$1 objcopy=$2 objdump=$3 ar=$4 archive=$5
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$ld" -r -o "$work/runtime.o" --whole-archive "$archive" --no-whole-archive

# Lines "NAME SECTION OFFSET" of the functions: not those whose names are reserved for the compiler, for
# the C++ library or for the recorder.
"$objdump" -t "$work/runtime.o" |
    awk -F '\t' '$1 ~ / g +F / { split($1, head, " "); split($2, tail, " "); name = tail[length(tail)]
        if (name !~ /^(_Z|__|ft_|foretell_)/) print name, head[length(head)], "0x" head[1] }' >"$work/names"
awk '{ print $1, "foretell_own_" $1 }' "$work/names" >"$work/renamed"
awk '{ print "--add-symbol"; print $1 "=" $2 ":" $3 ",function,weak" }' "$work/names" >"$work/added"
"$objcopy" --redefine-syms="$work/renamed" "$work/runtime.o"
"$objcopy" "@$work/added" "$work/runtime.o"

rm "$archive"
"$ar" rcs "$archive" "$work/runtime.o"
