#!/bin/sh
# The main jobs on the built-in sample; `make demo` runs it. No step prints more than a screen.
set -eu
run() {
    printf '\n\033[1m$ %s\033[0m\n' "$*"
    "$@"
}
mkdir -p demo-output
sample=$(dirname "$(errata data path sample | head -n 1)")
run errata score --sample
run errata rank --sample --figure demo-output/ranking.svg --force
run errata difficulty --sample --terminal --sentences 1-5
(cd "$sample" && run errata compare --gold gold.m2 cautious.txt eager.txt --by-edit \
    -m m2 -m edits --fail-if 'm2 < -0.005' | head -n 24)
run errata report --sample -o demo-output/report.html --force
printf '\nAll of this is made up to show the tool. With your own files:\n'
printf '  errata score --gold gold.m2 systemA.txt systemB.txt\n'
printf '  errata report --source source.txt --refs ref0.txt --refs ref1.txt system.txt\n'
printf '\nThe report to look at: file://%s/demo-output/report.html\n' "$PWD"
