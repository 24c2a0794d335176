#!/usr/bin/env bash
# What action.yml runs: its inputs, given as GATE_*, become a command line of `errata compare`.
# No input is ever part of a program text: names with blanks or quotes stay names.
set -uo pipefail

arguments=()

# one OPTION VALUE, several OPTION LINES
one() { [ -z "$2" ] || arguments+=("$1" "$2"); }
several() {
    local line
    while IFS= read -r line; do
        line="${line%$'\r'}"
        [ -z "${line//[[:space:]]/}" ] || arguments+=("$1" "$line")
    done <<<"$2"
}

one --gold "${GATE_GOLD:-}"
one --source "${GATE_SOURCE:-}"
several --refs "${GATE_REFS:-}"
several --metric "${GATE_METRICS:-}"
several --fail-if "${GATE_FAIL_IF:-}"
one --bound "${GATE_BOUND:-}"
one --slices "${GATE_SLICES:-}"
one --baseline "${GATE_BASELINE:-}"
one --junit "${GATE_JUNIT:-}"

summary=$(mktemp -d)/summary.md
arguments+=(--markdown "$summary" --annotate --force)
[ -z "${GATE_OLD:-}" ] || arguments+=("old=$GATE_OLD")
arguments+=("new=${GATE_NEW:?the input new is missing}")

errata compare "${arguments[@]}"
code=$?
if [ -f "$summary" ] && [ -n "${GITHUB_STEP_SUMMARY:-}" ]; then
    cat "$summary" >>"$GITHUB_STEP_SUMMARY"
fi
exit "$code"
