# make demo   the main job: boosting and a network on real data, before and after RIO (DATA=my.csv TARGET=price for your own)
# make paper  the paper's experiments in a version that ends within an hour (RIO_UQ_DATA names the folder of the data)
# make bench  the engine, whole fits on the UCI data (RIO_UQ_DATA names their folder), and growth, beside GPflow and GPyTorch
# make bench-engine  single evaluations, fits and predictions beside GPflow and GPyTorch, and with BASELINE=<commit> beside that
#             commit of rio-uq
# make bench-exact  exact Gaussian processes to the same likelihood, beside GPyTorch and scikit-learn; resumable
# make bench-defaults  error bars of models as people have them, by the defaults alone, beside MAPIE (RUNS=2 JOBS=2;
#             RIO_UQ_DATA names the folder of the data); resumable
# make bench-worlds  simulated worlds whose truth is known: predictions and error bars of RIO, MAPIE and a plain GP (JOBS=2)
# make bench-quality  predictions and error bars beside other methods on the UCI data (RUNS=5 JOBS=2); resumable
# make bench-standard  the nine UCI sets with the splits that papers on uncertainty share, in the form of their tables (SPLITS=20
#             JOBS=2; RIO_UQ_DATA names the folder of the data); resumable
# make bench-untuned  ten tables that no default was chosen on: the paper's RIO, ours, a plain GP and boosting with error bars
#             (JOBS=2); resumable
# make bench-errors  which labels of classifiers are wrong, on 44 tables (RUNS); resumable
# make bench-onnx  rows per second and latency of one row, in Python beside onnxruntime
# make bench-shift  error bars of shifted rows and attacked inputs (RIO_UQ_DATA names the folder of the data)
# make bench-levers  where a fit spends its time, and what other ways would cost (RIO_UQ_DATA names the folder of the data)
# make docs   the site, in build/docs: figures and examples are run, warnings are errors, no network is needed
# make bench-scale  growth of time and memory, flights out of core and through Dask (RIO_UQ_DATA names their folder), and
#             463,715 rows beside GPflow; resumable
# make dist   wheel and sdist in dist/, and the wheel in two clean environments: with the lowest versions that pyproject.toml
#             allows, on the lowest Python, and with the newest (PYTHON=python3.13)
# make test   lint, types and all fast tests of the library (COVERAGE=95 measures coverage, and fails below it)
# make test-slow  tests that take minutes
# make test-lab  tests of benchmarks/ and experiments/
# Each target sets up what it needs in .venv.

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
EXTRAS_demo := demo
EXTRAS_test := test
COVERAGE :=
EXTRAS_experiments := experiments
EXTRAS_docs := docs
EXTRAS_onnx := onnx
EXTRAS_scale := demo,parquet,dask

export DATA TARGET

.PHONY: demo dist docs paper test test-lab test-slow lint bench bench-engine bench-speed bench-onnx bench-quality bench-standard bench-untuned bench-errors bench-scale bench-shift bench-levers bench-defaults bench-worlds bench-large bench-exact clean

$(VENV)/installed-%: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit("rio-uq needs Python 3.11 or newer: make PYTHON=python3.11 …")'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[$(EXTRAS_$*)]'
	@touch $@

demo: $(VENV)/installed-demo
	@$(BIN)/python -m examples.demo $(if $(DATA),--data "$$DATA") $(if $(TARGET),--target "$$TARGET")

paper: $(VENV)/installed-experiments
	$(BIN)/python -m experiments paper --jobs 2 --results experiments/results/paper.csv

docs: export OMP_NUM_THREADS = 1
docs: export MPLBACKEND = agg
docs: $(VENV)/installed-docs
	$(BIN)/python -m sphinx -b html -n -W --keep-going -q docs build/docs
	@echo "the site is in build/docs/index.html"

# The sdist is made first, and the wheel of it: what is missing in the one is missing in the other.
LOWEST_PYTHON ?= python3.11
CLEAN := build/clean
PIP := -m pip install --quiet --disable-pip-version-check
dist: export OMP_NUM_THREADS = 1
dist:
	rm -rf dist build/lib $(CLEAN)
	$(PYTHON) -m venv $(CLEAN)/build
	$(CLEAN)/build/bin/python $(PIP) build
	$(CLEAN)/build/bin/python -m build --outdir dist .
	$(LOWEST_PYTHON) -m venv $(CLEAN)/lowest
	$(LOWEST_PYTHON) release/constraints.py > $(CLEAN)/lowest.txt
	$(CLEAN)/lowest/bin/python $(PIP) -c $(CLEAN)/lowest.txt dist/*.whl
	$(CLEAN)/lowest/bin/python -I -W error release/smoke.py
	$(PYTHON) -m venv $(CLEAN)/newest
	$(CLEAN)/newest/bin/python $(PIP) dist/*.whl
	$(CLEAN)/newest/bin/python -I -W error release/smoke.py

lint: $(VENV)/installed-test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

# All tests of a file run in one process: what they share (a cluster, a browser, a fitted regressor) is made once.
PYTEST := $(BIN)/python -m pytest -n 2 --dist loadfile
LAB := tests/lab $(wildcard tests/benchmarks tests/experiments)

test: export OMP_NUM_THREADS = 1
test: lint
	$(PYTEST) -m 'not slow' $(LAB:%=--ignore=%) $(if $(COVERAGE),--cov --cov-report=term-missing:skip-covered --cov-fail-under=$(COVERAGE))

test-lab: export OMP_NUM_THREADS = 1
test-lab: $(VENV)/installed-test
	$(PYTEST) -m 'not slow' $(LAB)

test-slow: export OMP_NUM_THREADS = 1
test-slow: $(VENV)/installed-test
	$(PYTEST) -m slow

clean:
	rm -rf $(VENV) $(PEERS) $(QUALITY) $(DEFAULTS) $(LARGE) $(EXACT) $(UNTUNED) demo-output build dist docs/_figures docs/api docs/gallery docs/sg_execution_times.rst .coverage* .pytest_cache .mypy_cache .ruff_cache .hypothesis

PEERS := .venv-peers
$(PEERS)/installed: lab/peers/requirements.txt
	test -x $(PEERS)/bin/python || $(PYTHON) -m venv $(PEERS)
	$(PEERS)/bin/python -m pip install --quiet --disable-pip-version-check -r $<
	@touch $@

bench: bench-engine bench-speed bench-scale

bench-engine: $(VENV)/installed-demo $(PEERS)/installed
	$(BIN)/python -m benchmarks.engine run --peers-python $(PEERS)/bin/python $(if $(BASELINE),--baseline $(BASELINE))
	$(BIN)/python -m benchmarks.engine page

bench-onnx: $(VENV)/installed-onnx
	$(BIN)/python -m benchmarks.onnx run
	$(BIN)/python -m benchmarks.onnx page

bench-speed: $(VENV)/installed-experiments $(PEERS)/installed
	$(BIN)/python -m benchmarks.speed run --peers-python $(PEERS)/bin/python
	$(BIN)/python -m benchmarks.speed page

bench-scale: $(VENV)/installed-scale $(PEERS)/installed
	$(BIN)/python -m benchmarks.scale run --peers-python $(PEERS)/bin/python
	$(BIN)/python -m benchmarks.scale page

bench-shift: export OMP_NUM_THREADS = 1
bench-shift: $(VENV)/installed-experiments
	$(BIN)/python -m benchmarks.shift run
	$(BIN)/python -m benchmarks.shift page

bench-levers: export OMP_NUM_THREADS = 1
bench-levers: $(VENV)/installed-experiments
	$(BIN)/python -m benchmarks.levers run
	$(BIN)/python -m benchmarks.levers page

QUALITY := .venv-quality
RUNS ?= 5
JOBS ?= 2
DEFAULTS := .venv-defaults
.venv-%/installed: benchmarks/%/requirements.txt
	test -x .venv-$*/bin/python || $(PYTHON) -m venv .venv-$*
	.venv-$*/bin/python -m pip install --quiet --disable-pip-version-check -r $<
	.venv-$*/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --editable .
	@touch $@

bench-quality: $(QUALITY)/installed
	$(QUALITY)/bin/python -m benchmarks.quality run --runs $(RUNS) --jobs $(JOBS)
	$(QUALITY)/bin/python -m benchmarks.quality page

SPLITS ?= 20
bench-standard: export OMP_NUM_THREADS = 1
bench-standard: $(QUALITY)/installed
	$(QUALITY)/bin/python -m benchmarks.standard run --runs $(SPLITS) --jobs $(JOBS)
	$(QUALITY)/bin/python -m benchmarks.standard page

UNTUNED := .venv-untuned
bench-untuned: export OMP_NUM_THREADS = 1
bench-untuned: $(UNTUNED)/installed
	$(UNTUNED)/bin/python -m benchmarks.untuned run --jobs $(JOBS)
	$(UNTUNED)/bin/python -m benchmarks.untuned page

ERRORS := .venv-errors
bench-errors: export OMP_NUM_THREADS = 1
bench-errors: $(ERRORS)/installed
	$(ERRORS)/bin/python -m benchmarks.errors run --runs $(RUNS)
	$(ERRORS)/bin/python -m benchmarks.errors page

bench-defaults: export OMP_NUM_THREADS = 1
bench-defaults: $(DEFAULTS)/installed
	$(DEFAULTS)/bin/python -m benchmarks.defaults run --runs $(RUNS) --jobs $(JOBS)
	$(DEFAULTS)/bin/python -m benchmarks.defaults page

LARGE := .venv-large
bench-large: $(LARGE)/installed $(PEERS)/installed
	$(LARGE)/bin/python -m benchmarks.large run --runs $(RUNS) --peers-python $(PEERS)/bin/python
	$(LARGE)/bin/python -m benchmarks.large page

EXACT := .venv-exact
bench-exact: $(EXACT)/installed
	$(EXACT)/bin/python -m benchmarks.exact run
	$(EXACT)/bin/python -m benchmarks.exact page

bench-worlds: export OMP_NUM_THREADS = 1
bench-worlds: $(QUALITY)/installed
	$(QUALITY)/bin/python -m benchmarks.worlds run --jobs $(JOBS)
	$(QUALITY)/bin/python -m benchmarks.worlds page
