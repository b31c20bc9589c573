# Every target makes its own environment and installs what it needs.
#   make quickstart   the main job: train two small models and see what they look at
#   make serve        open the models of the quickstart in a page, and serve them
#   make test         everything that must hold: format, types, import order, all tests
#   make mutants      break the source in many places, one at a time, and see whether a test notices
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
JOBS ?= 2

.PHONY: quickstart serve test golden mutants format check bench bench-peers figures clean

$(VENV)/installed: pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Regard needs Python 3.11 or newer: make PYTHON=python3.11 ...")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
	touch $@

quickstart: $(VENV)/installed
	$(BIN)/regard quickstart

# The runs of the quickstart, made first where they are not there.
serve: $(VENV)/installed
	test -d runs/quickstart/en-fr/best -a -d runs/quickstart/dates/best || $(BIN)/regard quickstart
	$(BIN)/regard serve runs/quickstart/en-fr runs/quickstart/dates --runs runs/quickstart --open

# One thread a process: the tests are many small models, run side by side. Neighbours stay together (worksteal), since
# those of a file share what was trained for them. What is compiled is kept: many tests start commands.
test: check
	PYTHONDONTWRITEBYTECODE= OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n $(JOBS) --dist worksteal --durations 25

# What every recipe does with a fixed seed, written anew where a change is meant; the difference is shown.
golden: $(VENV)/installed
	OMP_NUM_THREADS=1 $(BIN)/python tests/goldens.py $(RECIPES)

# In copies of the tree, at random: MINUTES=30 SEED=1 JOBS=2, MODULES="attend search/beam.py" for some of them.
MINUTES ?= 30
SEED ?= 1
mutants: $(VENV)/installed
	$(BIN)/python benchmarks/mutants --minutes $(MINUTES) --seed $(SEED) --jobs $(JOBS) $(if $(MODULES),--modules $(MODULES))

check: $(VENV)/installed
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

format: $(VENV)/installed
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# Short versions, to see that they run; docs/speed.md has the full ones and what they show.
bench: $(VENV)/installed
	$(BIN)/python benchmarks/attention.py --quick
	$(BIN)/python benchmarks/mechanisms.py --quick
	$(BIN)/python benchmarks/train.py --quick
	$(BIN)/python benchmarks/decode.py --quick
	$(BIN)/python benchmarks/latency.py --quick
	$(BIN)/python benchmarks/scale.py --quick --picture build/scale.png

# Against other toolkits, each installed into an environment of its own: PEERS="opennmt ctranslate2" for some of them.
bench-peers: $(VENV)/installed
	$(BIN)/python benchmarks/peers $(PEERS) --json build/peers.json

# The figures of docs/lectures.md; those of trained models need `make proof-phrasebook` first.
figures: $(VENV)/installed
	OMP_NUM_THREADS=1 $(BIN)/python benchmarks/mechanisms.py
	OMP_NUM_THREADS=1 $(BIN)/python benchmarks/figures.py

include proofs.mk

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache build src/*.egg-info
