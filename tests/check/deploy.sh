#!/usr/bin/env bash
# What is in deploy/ is what its readers take: the unit (and its exposure), the users and folders, the
# proxies' configurations, log rotation, the package's scripts. A tool that is not there is told, and
# leaves its part out.
set -euo pipefail
cd "$(dirname "$0")/../.."
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

fail() { echo "$*"; [ ! -s "$out/said" ] || cat "$out/said"; exit 1; }
there() {
    command -v "$1" >/dev/null && return
    echo "no $1 here: $2 was not checked"
    return 1
}
expect() { "$@" >"$out/said" 2>&1 </dev/null || fail "failed: $*"; }

# ---- systemd ----
unit=deploy/systemd/foretelld.service
if there systemd-analyze "the unit"; then
    expect systemd-analyze security --offline=true --threshold=12 "$unit"
    # With the drop-in that opens the network it is no worse.
    mkdir "$out/open"
    { cat "$unit"; grep -v '^#' deploy/systemd/network.conf; } >"$out/open/foretelld.service"
    expect systemd-analyze security --offline=true --threshold=12 "$out/open/foretelld.service"
    # The program need not be installed for the unit to be right.
    sed 's|^ExecStart=.*|ExecStart=/bin/true|' "$unit" >"$out/foretelld.service"
    systemd-analyze verify "$out/foretelld.service" >"$out/said" 2>&1 || true
    ! grep -E "foretelld.service:[0-9]+:" "$out/said" || fail "the unit has mistakes"
    known=$(systemd-analyze syscall-filter --no-pager 2>/dev/null | grep -oE '^ +[a-z_0-9]+|^@[a-z-]+')
    for name in $(sed -n 's/^SystemCallFilter=//p' "$unit"); do
        grep -qx " *$name" <<<"$known" || fail "SystemCallFilter: systemd does not know $name"
    done
fi
if there systemd-sysusers "the user"; then
    mkdir -p "$out/root/usr/lib/sysusers.d" "$out/root/etc"
    cp deploy/systemd/sysusers.conf "$out/root/usr/lib/sysusers.d/foretell.conf"
    expect systemd-sysusers --root="$out/root"
    grep -q '^foretell:' "$out/root/etc/passwd" || fail "no user was made"
    if there systemd-tmpfiles "the folders" && [ "$(id -u)" = 0 ]; then
        mkdir -p "$out/root/usr/lib/tmpfiles.d"
        cp deploy/systemd/tmpfiles.conf "$out/root/usr/lib/tmpfiles.d/foretell.conf"
        expect systemd-tmpfiles --root="$out/root" --create
        [ "$(stat -c %a "$out/root/var/lib/foretell")" = 700 ] || fail "the state folder is open"
    fi
fi

# Workers alone: the same confinement, but the network is open.
if there systemd-analyze "the workers' unit"; then
    expect systemd-analyze security --offline=true --threshold=13 deploy/systemd/foretell-workers.service
fi
bash -n deploy/slurm/workers.sh || fail "workers.sh has mistakes"

# ---- Kubernetes and Compose ----
if there npm "deploy/kubernetes"; then expect tests/kubernetes/run; fi

# ---- proxies, with a certificate of our own ----
if there nginx nginx/foretell.conf && there openssl nginx/foretell.conf; then
    openssl req -x509 -newkey rsa:2048 -nodes -days 1 -subj /CN=localhost -keyout "$out/key.pem" \
        -out "$out/fullchain.pem" 2>/dev/null
    { echo "pid $out/nginx.pid; error_log $out/error.log; events {} http { access_log off;"
        sed "s|/etc/ssl/foretell/|$out/|" deploy/nginx/foretell.conf
        echo "}"; } >"$out/nginx.conf"
    expect nginx -t -q -p "$out" -c "$out/nginx.conf"
fi
if there caddy caddy/Caddyfile; then
    expect env HOME="$out" caddy validate --adapter caddyfile --config deploy/caddy/Caddyfile
fi
if there logrotate logrotate; then
    # The user need not be here for the file to be right.
    sed "s/foretell foretell/$(id -un) $(id -gn)/" deploy/logrotate >"$out/logrotate"
    expect logrotate --debug --state "$out/state" "$out/logrotate"
fi

# ---- the package's scripts, the container ----
for script in postinst prerm postrm; do expect sh -n cmake/packaging/$script; done
for name in $(sed -n 's/^COPY \([^-].*\) .*/\1/p' deploy/container/Containerfile); do
    [ -e "$name" ] || fail "the Containerfile copies $name, which is not there"
done
# It installs what a build needs.
. deploy/lib.sh
for package in "${build_packages[@]}"; do
    grep -q "\b$package\b" deploy/container/Containerfile || fail "the Containerfile lacks $package"
done
