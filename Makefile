# Two commands: `make up` runs a quorum of three controllers here, `make test` runs the tests. Both set up what they need.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: setup up test lint types interop sweep bench format clean

setup: $(READY)

$(READY): requirements/dev.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed; this is " + sys.version.split()[0])'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/dev.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --config-settings editable_mode=compat -e .
	@touch $@

up: setup
	@exec $(BIN)/kraftctl up

test: setup
	$(BIN)/python -m pytest
	@command -v java >/dev/null 2>&1 && command -v mvn >/dev/null 2>&1 \
		|| echo 'No JDK with Maven here: the tests against stock Kafka did not run. With JDK 17+ and Maven: make interop'

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: setup
	$(BIN)/mypy

interop: setup
	@command -v java >/dev/null 2>&1 && command -v mvn >/dev/null 2>&1 || { echo 'make interop needs a JDK 17+ and Maven' >&2; exit 1; }
	$(BIN)/python -m pytest tests/interop --interop

sweep: setup
	$(BIN)/python -m simulations sweep --ci

bench: setup
	$(BIN)/python -m tests.benchmarks

format: setup
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

clean:
	rm -rf $(VENV) build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis
