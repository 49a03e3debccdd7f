#!/usr/bin/env bash
# Which folder may include which header: imports run one way.
#   common            itself; no libuv, SQLite, HTTP or Z3
#   worker, clients   common and themselves
#   server            common/base, common/wire, common/report, verdict/names.h and itself
set -euo pipefail
cd "$(dirname "$0")/../.."

found=0
complain() {
    printf '%s: %s\n' "$1" "$2"
    found=1
}

# Lines "file:header" of the quoted or angled includes of a folder.
includes() { grep -rhoHE --include='*.[ch]' '^[[:space:]]*#[[:space:]]*include[[:space:]]+[<"][^>"]+' "$1" | sed -E 's/#.*[<"]//; s/[[:space:]]+//'; }

is_in() { [ -e "$1/$2" ]; }

# refuse FOLDER PATTERN WHY
refuse() {
    local line
    while IFS= read -r line; do
        [[ ${line#*:} =~ $2 ]] && complain "${line%%:*}" "includes ${line#*:}: $3"
    done < <(includes "$1")
    return 0
}

# own_only FOLDER ROOT...: every header that lies in the project lies under one of the roots.
own_only() {
    local folder=$1 line header file root ok
    shift
    while IFS= read -r line; do
        file=${line%%:*} header=${line#*:} ok=0
        for root in "$@" "$(dirname "$file")"; do
            is_in "$root" "$header" && ok=1
        done
        [ "$ok" = 1 ] && continue
        for root in common worker server clients/cli; do
            is_in "$root" "$header" && complain "$file" "includes $header of $root"
        done
    done < <(includes "$folder")
    return 0
}

outside='^(uv\.h|sqlite3\.h|llhttp\.h|curl/|z3)'
refuse common "$outside" "common is free of libuv, SQLite, HTTP and Z3"
refuse worker '^(uv\.h|sqlite3\.h|llhttp\.h|curl/)' "workers touch neither network nor database"
refuse server '^(trace/|term/|z3|verdict/(claim|checker|machine|observe))' "the server never parses a trace"
refuse clients '^(uv\.h|sqlite3\.h|llhttp\.h|z3)' "clients use common and libcurl"
own_only common common
own_only worker common worker
own_only clients common clients/cli
own_only server common server

# libcurl meets the answers of strangers' servers in a process of its own.
mapfile -t curl < <(grep -rl --include='*.[ch]' 'curl/' server | grep -v '^server/webhooks/sender/' || true)
for file in "${curl[@]}"; do complain "$file" "includes libcurl outside server/webhooks/sender"; done
refuse server/webhooks/sender '^(uv\.h|store/|dispatch/|api/|http/)' "the sender has nothing of the daemon"

# SQL lives in server/store alone, Z3 in worker/solve and worker/encode.
mapfile -t sql < <(grep -rl --include='*.[ch]' 'sqlite3\.h' server | grep -v '^server/store/' || true)
for file in "${sql[@]}"; do complain "$file" "includes sqlite3.h outside server/store"; done
exit "$found"
