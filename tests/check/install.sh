#!/usr/bin/env bash
# An installation works from where it was put: `cmake --install` into a folder, `foretell check` and a
# recording from there, and the Debian package's content, metadata and scripts. FORETELL_BIN: the folder
# of a build's programs.
set -euo pipefail
cd "$(dirname "$0")/../.."
here=$PWD
build=$(cd "${FORETELL_BIN:-build/bin}/.." && pwd)
out=$(mktemp -d)
daemon=
trap '[ -z "$daemon" ] || kill "$daemon" 2>/dev/null; rm -rf "$out"' EXIT
unset FORETELL_SERVER FORETELL_TOKEN

fail() { echo "$*"; [ ! -s "$out/said" ] || tail -n 30 "$out/said"; exit 1; }
# expect CODE COMMAND...
expect() {
    local want=$1 code=0
    shift
    "$@" >"$out/said" 2>&1 </dev/null || code=$?
    [ "$code" = "$want" ] || fail "exit code $code, not $want: $*"
}

# ---- as a folder ----
expect 0 env DESTDIR="$out/root" cmake --install "$build" --prefix /usr
usr=$out/root/usr
expect 1 "$usr/bin/foretell" check examples/bank.ndjson
grep -q 'assertion failure' "$out/said" || fail "the installed foretell does not predict"
expect 0 "$usr/bin/foretelld" --config "$out/root/etc/foretell/foretelld.conf" \
    --state "$out/state" --check-config
for bad in "--webhook-program /nowhere" "--webhook-allow-private 2" "--log-file /nowhere/log" \
    "--worker /nowhere" "--state /nowhere/state" "--state="; do
    read -ra words <<<"$bad"
    expect 2 "$usr/bin/foretelld" --state "$out/state" "${words[@]}" --check-config
done
# A log file is opened anew at SIGHUP, and the daemon stays.
await() {
    local tries
    for ((tries = 0; tries < 300; tries++)); do
        grep -qs "$2" "$1" && return
        sleep 0.1
    done
    cp "$1" "$out/said" 2>/dev/null || true
    fail "no \"$2\" in ${1##*/}"
}
"$usr/bin/foretelld" --listen 127.0.0.1:0 --state "$out/state" --log-file "$out/log" &
daemon=$!
await "$out/log" '"ready"'
mv "$out/log" "$out/log.1"
kill -HUP $daemon
await "$out/log" '"log opened"'
kill -TERM $daemon
wait $daemon || fail "foretelld did not end well"
daemon=
grep -q '"stopped"' "$out/log" || fail "the new log has no end"
! grep -q '"stopped"' "$out/log.1" || fail "the old log was written to"
for file in lib/foretell/foretell-worker lib/foretell/foretell-webhook \
    lib/foretell/record/libforetell-record.a share/foretell/record/foretell.specs \
    share/foretell/record/include/foretell/annotate.h lib/systemd/system/foretelld.service \
    lib/sysusers.d/foretell.conf lib/tmpfiles.d/foretell.conf share/man/man1/foretell.1.gz \
    share/man/man8/foretelld.8.gz share/bash-completion/completions/foretell \
    share/zsh/vendor-completions/_foretell share/fish/vendor_completions.d/foretell.fish; do
    [ -s "$usr/$file" ] || fail "no $file"
done
grep -q '^ExecStart=/usr/bin/foretelld --config /etc/foretell/foretelld.conf$' \
    "$usr/lib/systemd/system/foretelld.service" || fail "the unit starts something else"
grep -q '^state = /var/lib/foretell$' "$out/root/etc/foretell/foretelld.conf" || fail "another state"
if [ "$(cd "$usr" && find . -name '*.so*' -o -name 'test_*' | wc -l)" != 0 ]; then
    fail "there is more than what was asked for"
fi
# The recorder, from there, its assembler too: without that the compiler takes another one and says
# nothing.
[ -x "$usr/lib/foretell/record/bin/as" ] || fail "no assembler of the recorder's"
printf '%s\n' '#include <pthread.h>' 'static int x;' \
    'static void *f(void *p) { x++; return p; }' \
    'int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); x++; return pthread_join(t, 0); }' \
    >"$out/a.c"
expect 0 "$usr/bin/foretell-cc" -pthread -g -o "$out/a" "$out/a.c"
expect 0 "$usr/bin/foretell" record -q -o "$out/a.ftb" -- "$out/a"
expect 1 "$usr/bin/foretell" check --check race "$out/a.ftb"

# Somewhere else the unit says so.
expect 0 env DESTDIR="$out/other" cmake --install "$build" --prefix /opt/foretell
grep -q '^ExecStart=/opt/foretell/bin/foretelld --config /opt/foretell/etc/foretell/foretelld.conf$' \
    "$out/other/opt/foretell/lib/systemd/system/foretelld.service" || fail "the unit looks elsewhere"

# ---- as a package ----
if ! command -v dpkg-shlibdeps >/dev/null || ! command -v file >/dev/null; then
    echo "no dpkg-shlibdeps or file here: the package was not checked"
    exit 0
fi
expect 0 cpack -G DEB -B "$out/package" --config "$build/CPackConfig.cmake"
deb=$(echo "$out"/package/foretell_*.deb)
[ -s "$deb" ] || fail "no package"
dpkg-deb --contents "$deb" >"$out/contents"
for file in usr/bin/foretelld usr/bin/foretell-c++ usr/lib/foretell/foretell-worker \
    usr/lib/systemd/system/foretelld.service etc/foretell/foretelld.conf etc/logrotate.d/foretell; do

    grep -qE "root/root .* \./$file( ->.*)?$" "$out/contents" || fail "the package lacks $file"
done
! grep -vE ' \./((etc|usr)/.*)?$' "$out/contents" || fail "the package has files elsewhere"
dpkg-deb --field "$deb" >"$out/said"
for library in libz3 libuv1 libsqlite3 libjansson libcurl4 libseccomp2 libdw1 libzstd1 liblzma5; do
    grep -qE "^Depends: .*$library" "$out/said" || fail "the package does not depend on $library"
done
dpkg-deb --control "$deb" "$out/control"
diff "$out/control/conffiles" cmake/packaging/conffiles || fail "other conffiles"
version=$(dpkg-deb --field "$deb" Version)
zcat "$usr/share/doc/foretell/changelog.gz" | head -n 1 | grep -qF "foretell ($version) " ||
    fail "the changelog does not begin with version $version"
grep -q '^License: ' "$usr/share/doc/foretell/copyright" || fail "no copyright"
for script in postinst prerm postrm; do
    [ -x "$out/control/$script" ] || fail "no $script"
done
# What is in it runs from where dpkg unpacks it.
dpkg-deb --extract "$deb" "$out/unpacked"
expect 1 "$out/unpacked/usr/bin/foretell" check "$here/examples/bank.ndjson"
