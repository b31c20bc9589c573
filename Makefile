# Every target makes its own environment and installs what it needs.
#   make quickstart   the main job: train two small models and see what they look at
#   make test         everything that must hold: format, types, import order, all tests
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
JOBS ?= 2

.PHONY: quickstart test proofs format check bench clean

$(VENV)/installed: pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Regard needs Python 3.11 or newer: make PYTHON=python3.11 ...")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
	touch $@

quickstart: $(VENV)/installed
	$(BIN)/regard quickstart

# One thread a process: the tests are many small models, run side by side.
test: check
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n $(JOBS)

check: $(VENV)/installed
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

format: $(VENV)/installed
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# Longer trainings whose results stand in docs/proofs.md; one thread each, about half an hour.
PHRASES := --data phrasebook --from en --to fr --size 100000 --minutes 12 -s train.vocabulary=3000 -s train.validate_steps=1500
LIKE_SMALL := $(foreach setting,embed.width=128 encode.hidden=224 predict.hidden=224 predict.embed.width=128 encode.layers=1 \
	predict.layers=1 embed.dropout=0.1 encode.dropout=0 predict.dropout=0.1 predict.embed.dropout=0.1 train.tokens=2048 \
	train.average.decay=0.99,-s $(setting))
proofs: export OMP_NUM_THREADS := 1
proofs: $(VENV)/installed
	$(BIN)/regard train rnnsearch-characters --data dates --out runs/proofs/dates --minutes 3
	$(BIN)/regard evaluate runs/proofs/dates --data dates --beam 1
	$(BIN)/regard train rnnsearch-small $(PHRASES) --out runs/proofs/rnnsearch
	$(BIN)/regard evaluate runs/proofs/rnnsearch --data phrasebook --from en --to fr --by-length
	$(BIN)/regard train seq2seq $(LIKE_SMALL) $(PHRASES) --out runs/proofs/seq2seq
	$(BIN)/regard evaluate runs/proofs/seq2seq --data phrasebook --from en --to fr --by-length

bench: $(VENV)/installed
	$(BIN)/python benchmarks/attention.py --quick
	$(BIN)/python benchmarks/mechanisms.py --quick

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache build src/*.egg-info
