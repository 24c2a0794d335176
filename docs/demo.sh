#!/bin/sh
# The main jobs on the built-in sample; `make demo` runs it.
set -eu
run() {
    printf '\n\033[1m$ %s\033[0m\n' "$*"
    "$@"
}
mkdir -p demo-output
run errata score --sample
run errata score --sample -m m2 --compare
run errata stress m2
run errata rank --sample --figure demo-output/ranking.svg --force
run errata agree --sample
run errata meta --sample --level system --figure scatter=demo-output/scatter.svg --force
run errata difficulty --sample --terminal --sentences 1-8
run errata difficulty --sample --examples 2 --tier 1 --figure demo-output/difficulty.html --force
printf '\nTo look at: '
ls demo-output/*
printf '\nAll of this is made up to show the tool. With your own files:\n'
printf '  errata score --gold gold.m2 systemA.txt systemB.txt\n'
printf '  errata score --source source.txt --refs ref0.txt --refs ref1.txt system.txt\n'
