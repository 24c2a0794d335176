#!/bin/sh
# System packages for the tests: a C compiler for the kernels, a browser for the pages.
# Where apt-get is missing or not allowed, the tests that need them say what is missing.
set -eu
wanted=""
command -v cc >/dev/null 2>&1 || wanted="$wanted gcc libc6-dev"
command -v chromium >/dev/null 2>&1 || wanted="$wanted chromium"
command -v chromedriver >/dev/null 2>&1 || wanted="$wanted chromium-driver"
[ -z "$wanted" ] && exit 0
if ! command -v apt-get >/dev/null 2>&1; then
    echo "note: install by hand what your system calls:$wanted" >&2
    exit 0
fi
root=""
[ "$(id -u)" = 0 ] || root="sudo -n"
{ $root apt-get -qq update && DEBIAN_FRONTEND=noninteractive $root apt-get -qq install -y \
    --no-install-recommends $wanted >/dev/null; } || echo "note: could not install:$wanted" >&2
