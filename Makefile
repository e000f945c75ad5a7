# Everything a newcomer needs: `make demo` and `make test` create .venv and install what they use.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PACKAGE := $(VENV)/.package
TEST := $(VENV)/.test
STAMP := $(VENV)/.installed
TORCH := torch==2.13.0
TORCH_STAMP := $(VENV)/.torch
MLIR_PACKAGES := mlir-22-tools libmlir-22 llvm-22-tools

# Many processes import the compiler: without bytecode each of them compiles it anew.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help venv everything demo smoke test test-today test-all test-levels tour replay check lint format bench bench-models browser windows docs bench-sanitizers ttgir-table gpu oracles mlir-tools newest-triton torch fuzz fuzz-middle-layer official-front-end wheels clean

help: ## this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 20

venv: $(STAMP) ## create .venv with tilewright and its development tools

IS_OLD = import sys; sys.exit(sys.version_info < (3, 11))
# Python compiles what is imported when it is: of PyTorch and of pyright's Node a small part. Pip would compile all,
# as is done for the demo, so that its first time is that of a second run.
INSTALL = $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile

define CREATE
@python="$(PYTHON)"; test ! -x $(BIN)/python || python=$(BIN)/python; \
command -v "$$python" >/dev/null || { echo "tilewright needs Python 3.11 or newer; there is no $$python: make PYTHON=python3.12"; exit 1; }; \
"$$python" -c '$(IS_OLD)' || { echo "tilewright needs Python 3.11 or newer; $$python is $$("$$python" --version): make PYTHON=python3.12"; exit 1; }
@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
endef

$(BIN)/python:
	$(CREATE)

# Each stamp stands for those before it, too: one call of pip installs all that a goal needs.
$(PACKAGE): pyproject.toml
	$(CREATE)
	@echo "installing tilewright into $(VENV) ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -e .
	@$(BIN)/python -m compileall -q -j 0 src
	@touch $@

$(TEST): pyproject.toml
	$(CREATE)
	@echo "installing tilewright and what tests need into $(VENV) ..."
	@$(INSTALL) -e '.[test]'
	@touch $(PACKAGE) $@

$(STAMP): pyproject.toml
	$(CREATE)
	@echo "installing tilewright, what tests need, ruff and pyright into $(VENV) ..."
	@$(INSTALL) -e '.[dev]'
	@touch $(PACKAGE) $(TEST) $@

everything: pyproject.toml ## venv, torch and the oracles of PyPI by one call of pip, as continuous integration does
	$(CREATE)
	@echo "installing tilewright and all that it is developed and compared with into $(VENV) ..."
	@$(INSTALL) -e '.[dev,oracle,emulator]' $(TORCH)
	@touch $(PACKAGE) $(TEST) $(STAMP) $(TORCH_STAMP)

demo: $(PACKAGE) ## compile and run the example kernels, with a table of times and errors (ARGS="--show linalg" prints IR)
	@$(BIN)/python examples/demo.py $(ARGS)

JOBS ?= auto
SMOKE := tests/unit/test_architecture.py tests/file/opt tests/exec/test_smoke.py
PYTEST := $(BIN)/python -m pytest -n $(JOBS) --dist worksteal
smoke: $(TEST) ## ten seconds: the import arrows, a stage's file tests, one kernel on every engine
	@$(BIN)/python -m pytest $(SMOKE) $(ARGS)

test: $(TEST) ## a sample of the tests that goes round by the date: some two minutes on two cores (JOBS=n, ARGS="--sample=3")
	@$(PYTEST) $(ARGS)

DAY ?= $(shell expr `date +%s` / 86400)
test-today: $(TEST) ## what continuous integration runs today: all tests, of families of like cases an eighth a day (DAY=n)
	@$(PYTEST) --day=$(DAY) $(ARGS)

test-all: $(TEST) ## all tests, all cases: twenty minutes on two cores
	@$(PYTEST) --all $(ARGS)

LEVELS := x86-64 x86-64-v2 x86-64-v3 x86-64-v4
OF_OTHER_TARGETS := $(foreach name,baseline_cpus clusters device_library gpu_engines gpu_layouts gpu_passes hopper \
  interpret missing_barriers register_operands,tests/exec/test_$(name).py)
test-levels: $(TEST) ## the tests that run kernels on the CPU, as code for older processors (LEVELS="x86-64-v3")
	@for level in $(LEVELS); do echo "$$level"; TILEWRIGHT_TARGET=cpu TILEWRIGHT_CPU=$$level $(BIN)/python -m pytest -q \
	  $(filter-out $(OF_OTHER_TARGETS),$(wildcard tests/exec/test_*.py)) $(ARGS) || exit 1; done

tour: $(PACKAGE) ## print every stage of the kernel of docs/tour.md (ARGS="linalg loops")
	@$(BIN)/tilewright run examples/tour.py $(or $(ARGS),all)

replay: $(STAMP) ## hashes of the code of the corpus and of the benchmark's rows (ARGS="--save FILE" before a refactor, "--against FILE" after)
	@$(BIN)/python tests/kernels/replay.py $(ARGS)

lint: $(STAMP) ## ruff: style and formatting
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .

check: lint ## lint and strict types
	@$(BIN)/pyright

format: $(STAMP) ## let ruff rewrite the sources
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

bench: $(STAMP) $(TORCH_STAMP) ## benchmarks against every peer that is installed and the machine's limits (ARGS="--quick")
	@$(BIN)/python -c 'import numba' 2>/dev/null || $(INSTALL) -e '.[bench]' \
	  || echo "Numba cannot be installed: it is left out"
	@$(BIN)/python benchmarks/cpu/run.py $(ARGS)

bench-models: $(STAMP) $(TORCH_STAMP) ## fused kernels of models, and models, under PyTorch's compiler, beside its C++ back end (ARGS="--only norm")
	@$(BIN)/python benchmarks/models/run.py $(if $(ARGS),$(ARGS),--output benchmarks/results/models.md)
	@$(BIN)/python benchmarks/models/whole.py $(if $(ARGS),$(ARGS),--output benchmarks/results/models.md)

bench-sanitizers: $(STAMP) $(TORCH_STAMP) ## what the sanitisers cost, kernel by kernel (ARGS="--only matmul")
	@$(BIN)/python benchmarks/cpu/sanitizing.py --output benchmarks/results/sanitizers.md $(ARGS)

ttgir-table: $(STAMP) newest-triton ## TritonGPU IR beside official Triton's, kernel by kernel (ARGS="--arch 90 --only matmul")
	@PYTHONPATH=$(VENV)/oracles/triton-$(NEWEST_TRITON) $(BIN)/python tests/kernels/ttgir_table.py --out benchmarks/results/ttgir.md $(ARGS)

gpu: $(STAMP) $(TORCH_STAMP) ## tests and benchmarks on an NVIDIA GPU; results in benchmarks/results
	@$(BIN)/python -c 'import cuda.bindings, triton' 2>/dev/null \
	  || $(INSTALL) -e '.[cuda,oracle]'
	@PYTHON=$(BIN)/python sh benchmarks/gpu.sh tests
	@PYTHON=$(BIN)/python sh benchmarks/gpu.sh bench

$(TORCH_STAMP): $(PACKAGE)
	@$(BIN)/python -c 'import torch' 2>/dev/null || $(INSTALL) $(TORCH)
	@touch $@

torch: $(TORCH_STAMP) ## add PyTorch (optional: tests with tensors, benchmarks)

NEWEST_TRITON := 3.9
mlir-tools:
	@if command -v apt-get >/dev/null && [ "$$(id -u)" = 0 ] && ! dpkg -s $(MLIR_PACKAGES) >/dev/null 2>&1; then \
	  { apt-get update -qq && apt-get install -y -qq $(MLIR_PACKAGES) >/dev/null; } \
	    || echo "mlir-22-tools cannot be installed: the tests that need it will not run"; \
	fi

newest-triton: $(BIN)/python
	@test -d $(VENV)/oracles/triton-$(NEWEST_TRITON) || $(INSTALL) \
	  --no-deps --target $(VENV)/oracles/triton-$(NEWEST_TRITON) triton==$(NEWEST_TRITON).0 \
	  || echo "official Triton $(NEWEST_TRITON) cannot be installed: the tests that need it will not run"

oracles: $(TEST) mlir-tools newest-triton ## add what tests compare with where it is found: mlir-opt 22 (Debian, as root), official Triton and an AArch64 emulator (PyPI)
	@$(INSTALL) -e '.[oracle,emulator]' || { \
	  $(INSTALL) -e '.[oracle]' || echo "official Triton cannot be installed: the tests that need it will not run"; \
	  $(INSTALL) -e '.[emulator]' || echo "Unicorn cannot be installed: code for AArch64 will be compiled, but not run"; }

docs: $(TEST) ## the documentation as a site in site/, and the tutorial as a notebook in it
	@$(BIN)/python -c 'import mkdocs, nbclient, ipykernel' 2>/dev/null || $(INSTALL) -e '.[docs]'
	@$(BIN)/python -m mkdocs build --strict --quiet
	@$(BIN)/python docs/site/notebook.py site/tutorial.ipynb
	@echo "site/index.html, site/tutorial.ipynb"

browser: $(TEST) ## test the explorer's page in headless Chromium (Debian's, as root), and take the pictures of docs/exploring.md anew
	@command -v chromium chromium-browser google-chrome >/dev/null || { apt-get update -qq && apt-get install -y -qq chromium >/dev/null; }
	@$(BIN)/python -c 'import playwright' 2>/dev/null || $(INSTALL) -e '.[browser]'
	@$(BIN)/python -m pytest tests/browser $(ARGS)
	@$(BIN)/python tests/browser/pictures.py docs/pictures

WINE_PACKAGES := wine64 gcc-mingw-w64-x86-64
windows: $(TEST) ## cross-compile kernels and run them under Wine: threads of Windows (Debian's packages, as root)
	@{ command -v x86_64-w64-mingw32-gcc && ls /usr/lib/wine/wine64; } >/dev/null 2>&1 \
	  || { apt-get update -qq && apt-get install -y -qq --no-install-recommends $(WINE_PACKAGES) >/dev/null; }
	@$(BIN)/python -m pytest tests/unit/tools/test_aot_windows.py $(ARGS)

MINUTES ?= 10
fuzz: $(PACKAGE) ## generated kernels on all engines and mutated IR (MINUTES=n; ARGS="--seed S --kernels N --addresses N --rows N --gluon N --mutations N")
	@$(BIN)/tilewright fuzz --minutes $(MINUTES) $(ARGS)

fuzz-middle-layer: $(STAMP) ## mutated IR through every pass of the middle layer (ARGS="--start 0 --count 20000")
	@$(BIN)/python tests/unit/middle_layer/mutations.py $(ARGS)

official-front-end: $(STAMP) ## the corpus by way of official Triton's front end, with tilewright as its back end (ARGS="--shard 0/4 memory")
	@$(BIN)/python tests/exec/official_front_end.py $(ARGS)

wheels: $(TEST) ## build both distributions into dist: tilewright, and tilewright-triton, which provides `import triton`
	@for folder in . distributions/tilewright-triton; do \
	  (cd "$$folder" && "$(CURDIR)/$(BIN)/python" -m hatchling build -t wheel -d "$(CURDIR)/dist") || exit 1; done

.PHONY: clean-environments
clean-environments: $(TEST) ## install both wheels into environments of their own, and run a kernel (PYTHONS="python3.11 ...")
	@cd tests && "$(CURDIR)/$(BIN)/python" -m suite.clean_environments $(PYTHONS)

clean: ## remove .venv and caches
	rm -rf $(VENV) site .pytest_cache .ruff_cache .hypothesis
