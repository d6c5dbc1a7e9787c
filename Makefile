# Each target sets up what it needs, once: the files .venv/.*-ready say what is there. GNU Make 3.81 is enough.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check
INSTALL := $(PIP) install --quiet --constraint constraints.txt
REQUIREMENTS := pyproject.toml constraints.txt
TORCH := $(shell sed -n '/^torch==/p' constraints.txt)
PYTEST := $(BIN)/python -m pytest --numprocesses=auto --maxprocesses=4 --dist=loadfile --no-loadscope-reorder
LECTURE := lecture.main
PORT_OPTION = $(if $(PORT),--port $(PORT))

.DEFAULT_GOAL := help
.PHONY: help view test slow trace times check lint format pythons installed machines fuzz trust mutate benchmarks clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-11s %s\n", $$1, $$2 }' Makefile

# Any Python shows a document that is current. Only to write another is anything set up.
view: ## show the lecture in a browser; PORT=8001 chooses the port
	@$(PYTHON) -m trace $(LECTURE) --is-current --serve --open $(PORT_OPTION) || $(MAKE) --no-print-directory trace

test: $(VENV)/.test-ready ## run the tests but for the slow ones; ARGS='-m lecture' chooses
	@$(BIN)/python -m tests.chromium
	@$(PYTEST) -m "not slow" $(ARGS)

slow: $(VENV)/.test-ready ## run the tests that take long: the lecture recorded again, the whole page, compilers
	@$(BIN)/python -m tests.chromium
	@$(PYTEST) -m slow $(ARGS)

trace: $(VENV)/.lecture-ready ## run the lecture, write its document anew and show it
	@$(BIN)/python -m trace $(LECTURE) --serve --open $(PORT_OPTION)

times: $(VENV)/.lecture-ready ## and time it: whoever reads the page sees the seconds of this machine
	@OMP_WAIT_POLICY=PASSIVE $(BIN)/python -m trace $(LECTURE) --time

check: $(VENV)/.lecture-ready ## run the lecture and compare with the written document
	@$(BIN)/python -m trace $(LECTURE) --check

lint: $(VENV)/.lint-ready node_modules/.ready ## formatting, mistakes, types, checksums of vendored files
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/mypy
	npm run --silent check
	$(BIN)/python .ci/vendor.py

format: $(VENV)/.lint-ready node_modules/.ready ## format the sources and mend what can be mended
	$(BIN)/ruff check --fix
	$(BIN)/ruff format
	npm run --silent format

pythons: $(VENV)/.test-ready ## run the tracer's tests on every other Python found here, without torch
	@.ci/pythons

installed: $(VENV)/.test-ready ## install the tool with every other Python found here, and follow the guide there
	@.ci/installed

machines: $(VENV)/.test-ready ## check the lecture with the kernels of two other processors
	@.ci/machines

fuzz: $(VENV)/.test-ready ## try the recorder on EXAMPLES=10000 generated programs and values of each kind
	@FUZZ_EXAMPLES=$(or $(EXAMPLES),10000) $(BIN)/python -m pytest tests/test_trust.py tests/test_locals.py tests/test_values.py

trust: $(VENV)/.test-ready ## compare Python's own tests and installed packages, run plainly and recorded; ARGS=--all tries all of them
	@$(BIN)/python -m tests.standard_library $(ARGS)

mutate: $(VENV)/.test-ready ## change the lecture's examples one by one: do its claims notice? ARGS='storage' chooses
	@$(BIN)/python -m tests.mutate $(ARGS)

benchmarks: $(VENV)/.test-ready ## measure what tracing and metering cost; see benchmarks/RESULTS.md
	@$(BIN)/python -m benchmarks.tracing
	@$(BIN)/python -m benchmarks.metering
	@$(BIN)/python -m benchmarks.viewer
	@$(BIN)/python -m benchmarks.tokenizer

clean: ## remove everything that was installed or cached here
	rm -rf $(VENV) node_modules .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# The set-up. `pip install --group` needs pip 25.1.
$(VENV)/.pip-ready:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "Python 3.11 or newer is needed and $(PYTHON) is none: make PYTHON=/path/to/python3.11 ..." >&2; exit 1; }
	@echo "setting up $(VENV) (once; a few minutes, most of them for torch)"
	@$(PYTHON) -m venv $(VENV)
	@$(PIP) install --quiet --upgrade 'pip>=25.1'
	@touch $@

# On Linux torch's default wheel brings gigabytes of CUDA. Without an NVIDIA card PyTorch's own index is asked first for
# the small build, unless this pip is told to use indexes of its own.
$(VENV)/.lecture-ready: $(VENV)/.pip-ready $(REQUIREMENTS)
	@if [ "$$(uname -s)" = Linux ] && ! command -v nvidia-smi >/dev/null \
	  && ! $(PIP) config list 2>/dev/null | grep -qE "(index-url|find-links|no-index)='[^']"; then \
	  $(INSTALL) --no-deps --extra-index-url https://download.pytorch.org/whl/cpu '$(TORCH)'; fi
	@$(INSTALL) --group lecture
	@touch $@

$(VENV)/.test-ready: $(VENV)/.lecture-ready
	@$(INSTALL) --group test
	@touch $@

$(VENV)/.lint-ready: $(VENV)/.test-ready
	@$(INSTALL) --group lint
	@touch $@

node_modules/.ready: package.json package-lock.json
	npm ci --no-audit --no-fund
	@touch $@
