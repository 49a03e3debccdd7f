#!/usr/bin/env bash
# Documents that come from tables are those that the programs print. FORETELL_BIN: their folder.
set -euo pipefail
cd "$(dirname "$0")/../.."
bin=${FORETELL_BIN:-build/bin}

compare() { # FILE COMMAND...
    local file=$1
    shift
    if ! diff -u "$file" <("$@"); then
        echo "$file is not what \"$*\" prints: run it and commit the result"
        return 1
    fi
}

compare docs/cli.md "$bin/foretell" manual
compare config/foretelld.conf "$bin/foretelld" --print-config

# Links between documents lead somewhere.
bad=0
while IFS=: read -r file link; do
    target=${link%%#*}
    [ -z "$target" ] || [ -e "$(dirname "$file")/$target" ] || {
        echo "$file: no such file: $target"
        bad=1
    }
done < <(grep -oHE '\]\([^)]+\)' README.md docs/*.md | sed -E 's/\]\(([^)]*)\)/\1/' | grep -vE ':(https?|mailto):')
exit "$bad"
