#!/usr/bin/env bash
# Traces and commands in the documents give the results that stand beside them. FORETELL_BIN: the folder of the programs.
set -euo pipefail
cd "$(dirname "$0")/../.."
unset FORETELL_SERVER
python=python3
[ -x /usr/bin/python3 ] && python=/usr/bin/python3
"$python" tests/check/explained.py "${FORETELL_BIN:-build/bin}/foretell" docs/checks.md
exec "$python" tests/check/console.py "${FORETELL_BIN:-build/bin}" docs/cli.md
