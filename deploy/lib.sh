# Shared by deploy/quickstart and tests/run: packages and builds. Sourced by bash, in the
# repository's root.

build_packages=(gcc libc6-dev cmake ninja-build pkg-config libuv1-dev libz3-dev libsqlite3-dev libpq-dev
    libjansson-dev libcurl4-openssl-dev libzstd-dev zlib1g-dev liblzma-dev libdw-dev libelf-dev libcmocka-dev
    libseccomp-dev llvm-14-dev clang)

say() { printf '%s: %s\n' "${0##*/}" "$*" >&2; }
die() { say "$*"; exit 1; }

# Runs a command with its output in a file; shows the file's end if the command fails.
quietly() {
    local log=$1
    shift
    "$@" >"$log" 2>&1 </dev/null && return
    tail -n 40 "$log" >&2
    die "failed: $* (all of its output: $log)"
}

as_root() {
    if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi
}

is_installed() {
    [ "$(dpkg-query -W -f='${db:Status-Abbrev}' "$1" 2>/dev/null)" = 'ii ' ]
}

# llhttp's own package where the system has one, else Debian 12's node-llhttp, which has the sources.
llhttp_package() {
    if is_installed node-llhttp || ! apt-cache show libllhttp-dev >/dev/null 2>&1; then
        echo node-llhttp
    else
        echo libllhttp-dev
    fi
}

missing_of() {
    local package
    for package in "$@"; do
        is_installed "$package" || echo "$package"
    done
}

# Installs the missing packages; changes nothing if all are installed.
ensure_packages() {
    command -v apt-get >/dev/null || die "apt-get not found: this script supports Debian 12"
    local missing log
    mapfile -t missing < <(missing_of "$@")
    if [ ${#missing[@]} = 0 ] && { is_installed libllhttp-dev || is_installed node-llhttp; }; then
        return
    fi
    [ "$(id -u)" = 0 ] || command -v sudo >/dev/null ||
        die "cannot install ${missing[*]} node-llhttp without root: run as root or install sudo"
    log=$(mktemp)
    say "installing ${missing[*]} llhttp"
    as_root env DEBIAN_FRONTEND=noninteractive apt-get update -q >"$log" 2>&1 </dev/null ||
        say "apt-get update failed: using the existing package lists"
    mapfile -t missing < <(missing_of "$@" "$(llhttp_package)")
    quietly "$log" as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q \
        --no-install-recommends "${missing[@]}"
    rm -f "$log"
}

# build PRESET FOLDER [TARGET...]: configures and builds.
build() {
    local preset=$1 folder=$2 options=() log
    shift 2
    log=$(mktemp)
    if ! grep -qs "^CMAKE_HOME_DIRECTORY:INTERNAL=$PWD\$" "$folder/CMakeCache.txt"; then
        options=(--fresh)
        command -v ninja >/dev/null && options+=(-G Ninja)
    fi
    say "building ($preset, in $folder)"
    quietly "$log" cmake --preset "$preset" "${options[@]}"
    quietly "$log" cmake --build "$folder" --parallel "$(nproc)" ${1:+--target "$@"}
    rm -f "$log"
}
