#!/bin/sh
# Build the kernels with AddressSanitizer into a folder of their own and run their tests there:
# whatever reads or writes outside an array ends the run with a report of where.
# PYTHON is the interpreter with what the tests need; CC the compiler (gcc).
set -eu
PYTHON=${PYTHON:-python3}
CC=${CC:-gcc}
root=$(cd "$(dirname "$0")/.." && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cp -R "$root/src" "$root/tests" "$root/setup.py" "$root/pyproject.toml" "$root/README.md" "$folder"
rm -f "$folder"/src/errata/kernels/*.so "$folder"/src/errata/kernels/*.c
cd "$folder"
echo "building the kernels with AddressSanitizer"
CC=$CC CFLAGS="-fsanitize=address -fno-omit-frame-pointer -O1 -g" LDFLAGS="-fsanitize=address" \
  "$PYTHON" setup.py -q build_ext --inplace
sources=$(ls src/errata/kernels/[!_]*.py | wc -l)
built=$(ls src/errata/kernels/*.so | wc -l)
[ "$sources" -eq "$built" ] || { echo "only $built of $sources kernels were built"; exit 1; }
preload="$($CC -print-file-name=libasan.so) $($CC -print-file-name=libstdc++.so)"
LD_PRELOAD=$preload ASAN_OPTIONS=detect_leaks=0:abort_on_error=1 PYTHONPATH=$folder/src \
  "$PYTHON" -m pytest -q -p no:cacheprovider -m "not slow" tests/kernels "$@"
