#!/usr/bin/env bash
# What the documents say of their traces is so. FORETELL_BIN: the folder of the programs.
set -euo pipefail
cd "$(dirname "$0")/../.."
unset FORETELL_SERVER
python=python3
[ -x /usr/bin/python3 ] && python=/usr/bin/python3
exec "$python" tests/check/explained.py "${FORETELL_BIN:-build/bin}/foretell" docs/checks.md
