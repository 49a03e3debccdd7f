#!/usr/bin/env bash
# Which folder may include which header: tests/check/imports.py has the rules. Before it looks at
# the project, it looks at a small tree with one mistake of each kind, and has to find every one.
set -euo pipefail
cd "$(dirname "$0")/../.."

planted=$(mktemp -d)
trap 'rm -rf "$planted"' EXIT
file() { # PATH LINE...
    mkdir -p "$planted/$(dirname "$1")"
    printf '%s\n' "${@:2}" >"$planted/$1"
}
file common/base/base.h '/* The base.' ' *' ' * Imports: nothing. */'
file common/base/base.c '#include "base/base.h"' '#include <sqlite3.h>'
file common/term/term.c '#include "base/base.h"'
file worker/order/order.h '/* The order.' ' *' ' * Imports: common/base, solve. */' '#include "solve/solve.h"'
file worker/order/order.c '#include "order/order.h"' '#include "http/http.h"'
file worker/solve/solve.h '/* The solver.' ' *' ' * Imports: nothing. */'
file worker/solve/solve.c '#include <z3.h>' '#include "order/order.h"'
file server/http/http.h '/* HTTP.' ' *' ' * Imports: nowhere,' ' * common/base. */'
file server/http/http.c '#include "term/term.h"' '#include "base/base.h"'

found=$(tests/check/imports.py "$planted") && { echo "imports.py finds nothing wrong in a tree with mistakes"; exit 1; }
while IFS= read -r mistake; do
    grep -qF "$mistake" <<<"$found" || { echo "imports.py does not find: $mistake"; exit 1; }
done <<'MISTAKES'
common/base/base.c: includes sqlite3.h: common is free of libuv, SQLite, HTTP and Z3
common/term: no header of it says what it may include; write a comment line ` * Imports: common/base.' there
worker/order/order.c: includes http/http.h of server
worker/order/order.h: Imports has `common/base', which nothing in the folder includes: take it out
worker/solve/solve.h: Imports does not have `order', but worker/solve/solve.c includes order/order.h
worker/order: is in a circle of folders: worker/order/order.h includes solve/solve.h
worker/solve: is in a circle of folders: worker/solve/solve.c includes order/order.h
server/http/http.h: Imports: there is no folder `nowhere'
server/http/http.c: includes term/term.h: the server never parses a trace
MISTAKES

exec tests/check/imports.py
