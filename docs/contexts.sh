#!/usr/bin/env bash
# usage: docs/contexts.sh: docs/contexts.md with its table of passes, which comes from
# worker/context/context.h.
set -euo pipefail
cd "$(dirname "$0")/.."
sed '/^<!-- passes -->$/q' docs/contexts.md
echo "| pass | what it finds |"
echo "|---|---|"
sed -n '/#define FT_CONTEXT_PASS_TABLE/,/^typedef/p' worker/context/context.h |
    sed -nE 's/^ *X\([A-Z_]+, "([^"]*)", +"(.*)"\).*/| `\1` | \2 |/p'
sed -n '/^<!-- end of passes -->$/,$p' docs/contexts.md
