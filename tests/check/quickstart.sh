#!/usr/bin/env bash
# deploy/quickstart builds what the documents' first commands use: each program of ours that an example
# of README.md, docs/tutorial.md, docs/record.md or docs/dashboard.md runs is one of the target that
# quickstart builds.
set -euo pipefail
cd "$(dirname "$0")/../.."

fail() { echo "$*"; exit 1; }

target=$(sed -n 's/^ *build release build \([a-z]*\)$/\1/p' deploy/quickstart)
[ -n "$target" ] || fail "deploy/quickstart names no target"
read -ra built <<<"$(sed -n "s/^add_custom_target($target DEPENDS \(.*\))\$/\1/p" CMakeLists.txt)"
[ ${#built[@]} -gt 0 ] || fail "CMakeLists.txt has no target $target on one line"

# Programs of the build that are named in lines of code: indented by four, or between ```.
used=$(awk '/^ *```/ { code = !code; next } code || /^    / { print }' \
    README.md docs/tutorial.md docs/record.md docs/dashboard.md |
    grep -oE '(^|[ =(/;|])foretell(d|-[a-z+]+)?([ )"&]|$)' | tr -d ' =(/;|)"&' | sort -u)
[ "$(wc -w <<<"$used")" -ge 4 ] || fail "the documents run hardly anything: $used"
for program in $used; do
    case " ${built[*]} " in
    *" $program "*) ;;
    *) fail "the documents run $program, which the target $target does not build" ;;
    esac
done
