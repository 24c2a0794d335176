#!/bin/sh
# What `make test` is going to install, said before any of it is installed.
set -eu
: "${VENV:=.venv}"

plan() { # STAMP WHAT
    [ -e "$VENV/$1" ] || echo "  into $VENV: $2"
}

plans=$(
    plan .installed "errata and what it needs (pyproject.toml: dependencies, plot)"
    plan .tests "what its tests need (pyproject.toml: test; requirements/test.txt, models.txt)"
    plan .errant "ERRANT, spaCy and a pipeline (55 MB) (requirements/errant*.txt)"
    [ -z "${LM:-}" ] || plan .lm "torch, transformers, two models and llama.cpp's server (requirements/lm*.txt)"
    SAY=1 sh "$(dirname "$0")/system.sh" | sed 's/^installing /  /'
)
[ -n "$plans" ] || exit 0
echo "make test is going to install:"
echo "$plans"
[ -z "${LOCKED:-}" ] || echo "  (versions and hashes from requirements/lock.txt)"
echo "  (licences: requirements/LICENCES.md; SYSTEM=0 leaves system packages alone)"
