#!/bin/sh
# System packages for the tests: a C compiler for the kernels, a browser for the pages, WordNet for
# METEOR, PostgreSQL for campaigns, SLURM and network namespaces for runs on several machines.
# What is going to be installed is said first. Where nothing may be installed (SYSTEM=0, no
# apt-get, not root and no sudo without a password) that is said instead, and the tests go on
# without: nothing here ends them.
set -eu

there() { command -v "$1" >/dev/null 2>&1; }

# programs_in PATTERN: whether a pattern of files has one
programs_in() { for each in $1; do [ ! -e "$each" ] || return 0; done; return 1; }

compiler="" browser="" words="" database="" cluster=""
there cc || compiler="gcc libc6-dev"
there chromium || browser="chromium"
there chromedriver || browser="${browser:+$browser }chromium-driver"
[ -e "${WORDNET:-/usr/share/wordnet}/data.noun" ] || words="wordnet-base"
there initdb || programs_in "${POSTGRES:-/usr/lib/postgresql}/*/bin/initdb" || database="postgresql"
there sbatch || cluster="slurm-wlm munge"
there ip || [ -x "${IP:-/usr/sbin/ip}" ] || cluster="${cluster:+$cluster }iproute2"
[ -n "$compiler$browser$words$database$cluster" ] || exit 0

root="" why=""
[ "$(id -u)" = 0 ] || root="sudo -n"
if [ "${SYSTEM:-1}" = 0 ]; then
    why="SYSTEM=0 says so"
elif ! there apt-get; then
    why="there is no apt-get here"
elif [ -n "$root" ] && ! $root true >/dev/null 2>&1; then
    why="that needs root, or sudo without a password"
fi

# say PACKAGES PURPOSE CONSEQUENCE
say() {
    if [ -z "$1" ]; then
        return
    elif [ -z "$why" ]; then
        echo "installing system packages: $1 ($2)"
    else
        echo "note: not installing $1 ($2): $why; without, $3" >&2
    fi
}
say "$compiler" "a C compiler for the kernels" "they run as plain Python, slowly"
say "$browser" "a browser for the tests of pages" "those tests are skipped"
say "$words" "synonyms for METEOR" "its tests with synonyms are skipped"
say "$database" "a database for the tests of campaigns" "those on PostgreSQL are skipped"
say "$cluster" "a cluster for the tests of runs" "those on SLURM or several hosts are skipped"
[ -z "$why" ] || exit 0
[ -z "${SAY:-}" ] || exit 0 # only to say it

$root apt-get -qq update || echo "note: apt-get update failed; trying to install all the same" >&2
for packages in "$compiler" "$browser" "$words" "$database" "$cluster"; do
    [ -n "$packages" ] || continue
    # shellcheck disable=SC2086  # several packages
    $root env DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends \
        $packages >/dev/null || echo "note: could not install $packages; going on without" >&2
done
