#!/bin/sh
# The main jobs on the built-in sample; `make demo` runs it.
set -eu
run() {
    printf '\n\033[1m$ %s\033[0m\n' "$*"
    "$@"
}
run errata score --sample
run errata score --sample -m m2 --compare
run errata rank --sample
run errata agree --sample
run errata meta --sample
run errata difficulty --sample
printf '\nAll of this is made up to show the tool. With your own files:\n'
printf '  errata score --gold gold.m2 systemA.txt systemB.txt\n'
printf '  errata score --source source.txt --refs ref0.txt --refs ref1.txt system.txt\n'
