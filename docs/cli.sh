#!/usr/bin/env bash
# usage: docs/cli.sh FORETELL: docs/cli.md, with its reference as the program prints it.
set -euo pipefail
page=$(dirname "$0")/cli.md
sed '/^<!-- Everything from here/q' "$page"
echo
"$1" manual
echo
sed -n '/^<!-- The end of/,$p' "$page"
