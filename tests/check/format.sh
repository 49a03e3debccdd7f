#!/usr/bin/env bash
# clang-format decides the layout. Names the files that it would change.
set -euo pipefail
cd "$(dirname "$0")/../.."
found=0
while IFS= read -r -d '' file; do
    if ! clang-format --dry-run -Werror "$file" 2>/dev/null; then
        echo "$file: run clang-format -i on it"
        found=1
    fi
done < <(find common worker server clients tests -name '*.[ch]' -print0 | sort -z)
exit "$found"
