# Two commands: `make up` runs a quorum of three controllers here, `make test` runs the tests. Both set up what they need.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

# Without bytecode files, each of the many processes that the tests start would compile its modules again.
unexport PYTHONDONTWRITEBYTECODE

# Linters and validators of deploy/ have an environment of their own, which our code does not use.
CHECKERS := .cache/checkers

.PHONY: setup up test quick lint types gssapi interop kafka-tests golden pipeline-setup pipeline pipeline-demo sweep chaos porcupine trogdor bench dist sbom release checkers deploy-check docs site upgrade-check pythons format clean

setup: $(READY)

$(READY): requirements/dev.txt pyproject.toml setup.py tools/registry.py
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed; this is " + sys.version.split()[0])'
	$(PYTHON) -m venv --clear $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/dev.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

# make up PORT=29091 DIR=/tmp/quorum; a PORT or DIR of the environment is another program's.
UP_OPTIONS := $(if $(findstring command,$(origin PORT)),--port $(PORT)) $(if $(findstring command,$(origin DIR)),--dir $(DIR))

up: setup
	@exec $(strip $(BIN)/kraftctl up $(UP_OPTIONS))

# At most 8 test processes; the tests of a file run in one process, where they share a running node.
# tests/conftest.py says how many, and which files begin first.
PARALLEL := -n auto --maxprocesses 8 --dist loadfile --no-loadscope-reorder

test: setup
	$(BIN)/python -m pytest $(PARALLEL)
	@command -v java >/dev/null 2>&1 && command -v mvn >/dev/null 2>&1 \
		|| echo 'No JDK with Maven here: the tests against stock Kafka did not run. With JDK 17+ and Maven: make interop'

# Without the tests that take seconds; ends at the first failure.
quick: lint types
	$(BIN)/python -m pytest $(PARALLEL) -x -m 'not slow'

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: setup
	$(BIN)/mypy

# Tests with the extra `gssapi`, in a folder of its own: building it needs libkrb5-dev, and they need krb5-kdc.
gssapi: setup
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --no-deps --upgrade --target build/gssapi -r requirements/gssapi.txt
	PYTHONPATH=build/gssapi $(BIN)/python -m pytest tests/controller/security/test_gss.py tests/controller/config/security/test_gss_checks.py tests/interop/test_security_gssapi.py

interop: setup
	@command -v java >/dev/null 2>&1 && command -v mvn >/dev/null 2>&1 || { echo 'make interop needs a JDK 17+ and Maven' >&2; exit 1; }
	$(BIN)/python -m pytest $(PARALLEL) --durations=25 tests/interop tests/oracle tests/deploy/strimzi/stock tests/porcupine --interop
	KRAFT_ORACLE_RELEASE=4.3.1 $(BIN)/python -m pytest $(PARALLEL) tests/oracle --interop -k of_the_day

# Kafka's own integration tests, with our controllers in place of Kafka's; with CLASSES=--all all of them.
# Three run side by side, since a class waits much of its time.
kafka-tests: setup
	@command -v java >/dev/null 2>&1 && command -v mvn >/dev/null 2>&1 || { echo 'make kafka-tests needs a JDK 17+ and Maven' >&2; exit 1; }
	$(BIN)/python -m tests.kafka --jobs 3 $(CLASSES)

# What stock's tools print: the recorded answers in tests/data/stock-tools, asked anew.
golden: setup
	$(BIN)/python -m tests.interop.tools.stock_calls

# Spark is 456 MB, so it is installed only for the targets that need it; it needs a JDK 17+.
PIPELINE_READY := $(VENV)/.ready-pipeline

pipeline-setup: $(PIPELINE_READY)

$(PIPELINE_READY): $(READY) requirements/pipeline.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --no-build-isolation -r requirements/pipeline.txt
	@touch $@

pipeline: pipeline-setup
	$(BIN)/python -m pytest tests/pipeline/spark tests/pipeline/stream --spark

# A report from the data of `make up`; without such data, from a generated history.
DEMO := .cache/pipeline-demo
pipeline-demo: pipeline-setup
	@test -d data/node-1 || test -d $(DEMO)/history || $(BIN)/kraft-pipeline history $(DEMO)/history
	@rm -rf $(DEMO)/warehouse
	$(BIN)/kraft-pipeline tables --warehouse $(DEMO)/warehouse $$(test -d data/node-1 && echo data || echo '$(DEMO)/history/*')
	$(BIN)/kraft-pipeline report --warehouse $(DEMO)/warehouse --out $(DEMO)/report.html

# The parts of the simulation that every change must pass; each prints its time.
SIMULATED := 'sweep --ci' 'determinism --ci' 'corpus --verify' 'mutants --gate --beside-corpus' 'search'
sweep: setup
	@for part in $(SIMULATED); do \
		begin=$$(date +%s); \
		$(BIN)/python -m simulations $$part || exit 1; \
		echo "-- $$part: $$(($$(date +%s) - begin)) s"; \
	done

# Three real nodes and three stock brokers under kills, pauses and network cuts.
chaos: setup
	$(BIN)/python -m simulations chaos --seconds 120 --kafka "$$($(BIN)/python -m tests.interop.stock jars)"

# The same faults, and clients on franz-go whose history Porcupine checks; both are Go modules.
porcupine: setup
	$(BIN)/python -m tests.porcupine.play --seconds 180

# Kafka's Trogdor: its workloads and faults on stock brokers, with the faults of chaos on controllers of ours.
trogdor: setup
	@command -v java >/dev/null 2>&1 && command -v mvn >/dev/null 2>&1 || { echo 'make trogdor needs a JDK 17+ and Maven' >&2; exit 1; }
	$(BIN)/python -m tests.trogdor --seconds 180

bench: setup
	$(BIN)/python -m tests.benchmarks
	$(BIN)/python -m tests.benchmarks.security
	$(BIN)/python -m tests.benchmarks.hostile
	$(BIN)/python -m tests.benchmarks.brokers --minutes 2
	$(BIN)/python -m tests.benchmarks.availability
	$(BIN)/python -m tests.benchmarks.memory
	$(BIN)/python -m tests.benchmarks.tools

checkers: $(CHECKERS)/.ready

$(CHECKERS)/.ready: requirements/deploy.txt
	$(PYTHON) -m venv $(CHECKERS)
	$(CHECKERS)/bin/pip install --quiet --disable-pip-version-check --require-hashes -r requirements/deploy.txt
	@touch $@

# The checks of deploy/ that need no container engine; some need root on Debian.
deploy-check: setup $(CHECKERS)/.ready
	tests/deploy/checks/install-missing.sh
	PATH="$(CURDIR)/$(CHECKERS)/bin:$$PATH" $(BIN)/python -m pytest tests/deploy/checks --deploy

# Where the files of a release are built. COMPILED=--compiled adds the wheel with extension modules for this Python.
DIST := dist
COMPILED :=

dist: setup $(CHECKERS)/.ready
	rm -rf $(DIST)
	$(BIN)/python -m deploy.distributions $(COMPILED) $(DIST)
	$(CHECKERS)/bin/twine check --strict $(DIST)/*

# The pages that are made from the code's own tables (a test says when they are not current), and the site of all pages.
docs: setup
	$(BIN)/python -m tools.reference.configuration
	$(BIN)/python -m tools.reference.tool_table
	$(BIN)/python -m tools.reference.commands
	$(MAKE) site

# All documents as a site with a search. A link or an anchor that leads nowhere is an error, and so is a foreign host.
SITE := build/site
site: setup $(CHECKERS)/.ready
	rm -rf $(SITE)
	$(CHECKERS)/bin/sphinx-build -q -W --keep-going -c deploy/site . $(SITE)
	rm -rf $(SITE)/.doctrees
	$(BIN)/python -m deploy.site.links $(SITE)

# The bill of materials of the image, from the lock that the Dockerfile installs: CycloneDX, the same bytes each time.
sbom: $(CHECKERS)/.ready
	@mkdir -p $(DIST)
	$(CHECKERS)/bin/cyclonedx-py requirements --pyproject pyproject.toml --mc-type application --output-reproducible \
		--of JSON --output-file $(DIST)/kraft-quorum.cdx.json requirements/grpc.txt
	@echo $(DIST)/kraft-quorum.cdx.json

# A dry run: all files twice, in two directories, which must be equal; then provenance, checksums, and what is missing for
# a release. With TAG=v1.2.3 (the workflow's) what is missing is an error.
SECOND := build/second
release: COMPILED := --compiled
release: dist sbom
	$(MAKE) dist sbom DIST=$(SECOND) COMPILED=$(COMPILED)
	$(BIN)/python -m deploy.release $(if $(TAG),--tag $(TAG)) $(DIST) $(SECOND)

# A quorum of the last release's wheel (until there is one, of a commit) is upgraded node by node to the present code
# under a writer, rolled back at each step, and rolled back as a whole; with static and with dynamic voters.
upgrade-check: setup
	$(BIN)/python -m tests.upgrade

# Every supported Python version: tests on those installed here, lint and types for the others, wheels for all.
pythons: setup
	$(BIN)/python -m tests.deploy.checks.pythons

format: setup
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

clean:
	rm -rf $(VENV) .cache build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis
