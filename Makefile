# `make demo` and `make test` are all the set-up there is: both make the virtual environment
# if it is not there yet. They need Python 3.11 or later and the package registry.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Python compiles what it imports; most of what is installed never is.
INSTALL := $(BIN)/python -m pip install --quiet --no-compile
# What runs as plain Python, too; not what fits models or asks how good they are.
PLAIN := tests/kernels tests/engine/tree tests/metrics \
	--ignore=tests/metrics/test_scorer.py --ignore=tests/metrics/test_truth_beats_noise.py \
	--ignore=tests/metrics/test_terminal.py

# Many processes import the same libraries: byte code is kept, whatever the machine prefers.
unexport PYTHONDONTWRITEBYTECODE

FAST := -q -n 2 --dist worksteal tests -m "not slow" --ignore=tests/dask

.DEFAULT_GOAL := help
.PHONY: help demo docs test quick lowest fuzz coverage lint types imports compiled unit cluster nojit bench clean

help:  ## list the targets
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /: /' | column -t -s ':'

$(VENV)/.user: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(INSTALL) --editable '.[all]'
	touch $@

$(VENV)/.developer: $(VENV)/.user
	$(INSTALL) --group dev
	touch $@

$(VENV)/.docs: $(VENV)/.user
	$(INSTALL) --group docs
	touch $@

$(VENV)/.bench: $(VENV)/.user
	$(INSTALL) --group bench
	touch $@

# Numba's cache sees a kernel's own file change, not those it calls: start afresh.
$(VENV)/.kernels: $(wildcard src/boostr/_kernels/*.py) | $(VENV)/.user
	find src -name '*.nb[ic]' -delete
	touch $@

demo: $(VENV)/.user $(VENV)/.kernels  ## simulate a fleet, fit, rank the machines, save pictures
	$(BIN)/python examples/plot_fleet.py
	$(BIN)/python docs/forecast_picture.py demo-output

# Examples are run here, notebooks only by `make docs`: together they take too long.
test: $(VENV)/.developer $(VENV)/.kernels  ## everything that is checked
	$(MAKE) --jobs=2 --output-sync=target compiled nojit lint types imports $(VENV)/.docs
	BOOSTR_NOTEBOOKS=0 $(MAKE) docs
	$(MAKE) unit
	$(MAKE) cluster

quick: $(VENV)/.developer $(VENV)/.kernels  ## style, types and fast tests, without browser and cluster
	$(MAKE) --jobs=2 --output-sync=target lint types imports
	$(BIN)/python -m pytest $(FAST)

# The oldest versions that pyproject.toml promises, in an environment of their own.
lowest: pyproject.toml  ## fast tests with the oldest versions of all dependencies
	$(PYTHON) -m venv --clear $(VENV)-lowest
	$(VENV)-lowest/bin/python -m pip install --quiet uv
	VIRTUAL_ENV=$(VENV)-lowest $(VENV)-lowest/bin/uv pip install --quiet --resolution lowest-direct \
		--editable '.[all]' --group test
	NUMBA_CACHE_DIR=$(VENV)-lowest/kernels $(VENV)-lowest/bin/python -m pytest $(FAST) \
		-W ignore::DeprecationWarning

fuzz: export BOOSTR_FUZZ = 1
fuzz: $(VENV)/.developer $(VENV)/.kernels  ## ten thousand damaged files, and other random inputs each time
	$(BIN)/python -m pytest -q -n 2 --dist worksteal tests/io/test_fuzz.py tests/kernels \
		tests/estimators/test_boostr_properties.py

# Two processes fill two cores: threads of other libraries would only wait for each other.
quick lowest unit nojit docs: export OMP_NUM_THREADS = 1

lint: $(VENV)/.developer  ## style and spelling
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/codespell src tests benchmarks examples docs README.md

types: $(VENV)/.developer  ## types, strictly
	$(BIN)/mypy

imports: $(VENV)/.developer  ## who may import whom
	$(BIN)/lint-imports

compiled: $(VENV)/.user $(VENV)/.kernels  ## compile what most tests need
	$(BIN)/python -m tests.compile_kernels

# The longest come first, or one process would wait for the other at the end.
LONG := tests/contracts/test_readme.py tests/estimators/test_boostr_properties.py \
	tests/estimators/test_scikit_learn_checks.py

unit: $(VENV)/.developer $(VENV)/.kernels  ## tests and the examples in docstrings and pages
	COVERAGE_FILE=.coverage.unit $(BIN)/python -m pytest -q -n 2 --dist worksteal \
		$(LONG) tests/site tests src --ignore=tests/dask $(COUNT)

cluster: $(VENV)/.developer $(VENV)/.kernels  ## tests on a real cluster of two processes
	COVERAGE_FILE=.coverage.cluster $(BIN)/python -m pytest -q -n 2 tests/dask $(COUNT)

nojit: $(VENV)/.developer  ## kernels again as plain Python, which checks indices
	COVERAGE_FILE=.coverage.nojit NUMBA_DISABLE_JIT=1 \
		$(BIN)/python -m pytest -q $(PLAIN) -m "not slow" $(COUNT)

# Compiled kernels are seen by no coverage tool, and plain Python is slow: the first run counts
# the lines of everything else, the last those of the kernels and of what is close to them.
# Long tests are left out: they go through no line of their own.
COV := --cov --cov-report= --cov-fail-under=0
coverage: $(VENV)/.developer $(VENV)/.kernels  ## the lines that tests reach, which takes twice as long
	$(BIN)/coverage erase
	$(MAKE) unit LONG= COUNT="$(patsubst %,--ignore=%,$(LONG)) $(COV)"
	$(MAKE) cluster nojit COUNT="$(COV)"
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage report --skip-covered

# Warnings are errors, and references that lead nowhere are warnings. No network.
docs: $(VENV)/.docs $(VENV)/.kernels  ## the documentation site, in docs/_build/html
	$(BIN)/python -m sphinx -W --keep-going -q -j 2 -b html docs docs/_build/html

bench: $(VENV)/.bench $(VENV)/.kernels  ## accuracy and speed beside other libraries
	$(BIN)/python -m benchmarks.accuracy
	$(BIN)/python -m benchmarks.speed
	$(BIN)/python -m benchmarks.sensors

clean:  ## remove the virtual environment and caches
	rm -rf docs/_build docs/gallery docs/reference/generated
	rm -rf $(VENV) $(VENV)-lowest .pytest_cache .mypy_cache .ruff_cache .hypothesis .coverage*
