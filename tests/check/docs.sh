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

compare docs/cli.md docs/cli.sh "$bin/foretell"
compare config/foretelld.conf "$bin/foretelld" --print-config
compare docs/man/foretell.1 "$bin/foretell" manual man
compare docs/man/foretell-cc.1 docs/man/foretell-cc.1.sh "$bin/foretell-cc"
compare docs/man/foretelld.8 docs/man/foretelld.8.sh "$bin/foretelld"
compare docs/reference.md docs/reference.sh
compare docs/engine.md docs/passes.sh
compare docs/programs.md docs/programs.sh
compare docs/contexts.md docs/contexts.sh
compare docs/schedules.md docs/schedules.sh

# Every route is described for people and for machines.
while IFS='|' read -r _ method path _; do
    method=${method// /} path=${path//[ \`]/}
    grep -qE "\`([A-Z]+\`, \`)?$method(\`, \`[A-Z]+)? $path\`" docs/api.md || [[ $path == / || $path == /v1 ]] ||
        { echo "docs/api.md does not have $method $path"; exit 1; }
    grep -qxF "  $path:" schema/openapi.yaml || { echo "openapi.yaml does not have $path"; exit 1; }
done < <(sed -n '/^## Routes/,/^## Error/p' docs/reference.md | grep '^| [A-Z]')

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
