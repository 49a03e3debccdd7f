#!/usr/bin/env bash
# Every format is what its readers' own tools accept.
set -euo pipefail
cd "$(dirname "$0")/../.."
exec tests/formats/run "${FORETELL_BIN:-build/bin}"
