#!/usr/bin/env bash
# usage: docs/schedules.sh: docs/schedules.md with its table of certificates, which comes from
# worker/cover/certify.h.
set -euo pipefail
cd "$(dirname "$0")/.."
sed '/^<!-- certificates -->$/q' docs/schedules.md
echo "| certificate | what is unsatisfiable |"
echo "|---|---|"
sed -n '/#define COVER_CERTIFICATE_TABLE/,/^typedef/p' worker/cover/certify.h | tr -d '\n\\' |
    sed -E 's/" +"//g; s/X\(/\n&/g' | sed -nE 's/^X\([A-Z]+, "([^"]*)", +"([^"]*)"\).*/| `\1` | \2 |/p'
echo
sed -n '/^<!-- end of certificates -->$/,$p' docs/schedules.md
