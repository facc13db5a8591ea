# Two commands for everyone: make demo, make test. Both set up what they need.
VENV := .venv
BIN := $(VENV)/bin
PYTHON ?= $(firstword $(foreach p,python3.11 python3 python3.12 python3.13 python3.14,$(shell $(p) -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1 && echo $(p))))
STAMP := $(VENV)/.graftwork-ready
GPU := .venv-gpu
GPU_STAMP := $(GPU)/.gpu-ready
PEERS := .venv-peers
PEERS_STAMP := $(PEERS)/.peers-ready
DOCS := .venv-docs
DOCS_STAMP := $(DOCS)/.docs-ready
# The folder of data sets, for benchmarks and the papers' experiments: make bench DATA=FOLDER
DATA ?= $(or $(GRAFTWORK_DATA),$(wildcard ../shared/data))
GIVEN_DATA := $(if $(DATA),--data "$(DATA)")
# A paper's experiments: make reproduce PAPER=priority [QUICK=1|TINY=1] [DATA=FOLDER] [OUT=FOLDER]
PAPER ?=
QUICK ?=
TINY ?=
OUT ?= out/reproduced
# Options of the benchmarks: make bench BENCH="potts-50 --limit 60"
BENCH ?=

.PHONY: setup demo house test fuzz audit test-slow soak test-gpu test-browser test-exchange docs test-gallery browser explorer lint format peers bench bench-smoke calibration mutants coverage reproduce reproduce-quick clean

setup: $(STAMP)

$(STAMP): requirements/dev.hashes pyproject.toml
	@test -n "$(PYTHON)" || { echo "graftwork needs Python 3.11 or later; set PYTHON=/path/to/python"; exit 1; }
	@echo "Setting up $(VENV) (once; about a minute)..."
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/dev.hashes
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-build-isolation --no-deps -e .
	@touch $(STAMP)

demo: $(STAMP)
	@$(BIN)/graftwork learn mushroom --out out

test: lint
	$(BIN)/python -m pytest -n 2 --dist worksteal -m "not slow"

# Cases made at random for MINUTES; what fails is kept in tests/corpus, which make test replays.
MINUTES ?= 10
fuzz: $(STAMP)
	PYTHONPATH=tests $(BIN)/python -m fuzz --minutes $(MINUTES) $(FUZZ)

# Whether the locked versions fit each other, and known vulnerabilities (needs pip-audit and a network).
audit: $(STAMP)
	$(BIN)/python -m pip check
	@command -v pip-audit >/dev/null || { echo "vulnerabilities were not looked up: install pip-audit (pipx install pip-audit)"; exit 0; }; \
	  pip-audit --disable-pip --no-deps -r requirements/dev.lock

# The explorer in a real browser; "make browser" installs one.
test-browser: export GRAFTWORK_BROWSER = required
test-browser: $(STAMP)
	$(BIN)/python -m pytest -m browser tests/browser

# Chromium and its driver, from Debian or Ubuntu.
browser:
	@sh .ci/browser

# The script and style of the explorer, from explorer/ into the package; needs node and npm.
explorer:
	cd explorer && npm ci --no-fund --no-audit --loglevel=error && npm run --silent check && npm test --silent && npm run --silent build

test-slow: $(STAMP)
	$(BIN)/python -m pytest -m slow --durations=0 tests

# Mixed calls in one process for some minutes: memory, threads and files stay what they were.
MINUTES ?= 10
soak: $(STAMP)
	GRAFTWORK_SOAK_SECONDS=$$(( 60 * $(MINUTES) )) $(BIN)/python -m pytest -s -m slow tests/slow/test_soak.py

# Sums on a device, on CPU tensors: needs PyTorch, and no GPU.
test-gpu: $(GPU_STAMP)
	$(GPU)/bin/python -m pytest -p no:cacheprovider tests/device src/graftwork/device

$(GPU_STAMP): requirements/dev.lock requirements/gpu.lock pyproject.toml
	@test -n "$(PYTHON)" || { echo "graftwork needs Python 3.11 or later; set PYTHON=/path/to/python"; exit 1; }
	@echo "Setting up $(GPU) (once; a few minutes)..."
	@test -x $(GPU)/bin/python || $(PYTHON) -m venv $(GPU)
	@$(GPU)/bin/python -m pip install --quiet --disable-pip-version-check -r requirements/dev.lock -r requirements/gpu.lock
	@$(GPU)/bin/python -m pip install --quiet --disable-pip-version-check --no-build-isolation --no-deps -e .
	@touch $(GPU_STAMP)

# Our files in other programs, and theirs in ours; TOULBAR2 says where toulbar2 is, if not on the path.
test-exchange: $(PEERS_STAMP)
	PYTHONPATH=src $(PEERS)/bin/python -m pytest -p no:cacheprovider tests/exchange/test_peers.py

# The documentation site into out/site, offline; GRAFTWORK_DOCS_ONLINE=1 adds links to other libraries.
docs: $(DOCS_STAMP)
	$(DOCS)/bin/sphinx-build -q -W --keep-going -b html -d out/site-cache docs out/site
	@echo "The site is in out/site: open out/site/index.html"

$(DOCS_STAMP): requirements/dev.lock requirements/docs.lock pyproject.toml
	@test -n "$(PYTHON)" || { echo "graftwork needs Python 3.11 or later; set PYTHON=/path/to/python"; exit 1; }
	@echo "Setting up $(DOCS) (once; about a minute)..."
	@test -x $(DOCS)/bin/python || $(PYTHON) -m venv $(DOCS)
	@$(DOCS)/bin/python -m pip install --quiet --disable-pip-version-check -r requirements/dev.lock -r requirements/docs.lock
	@$(DOCS)/bin/python -m pip install --quiet --disable-pip-version-check --no-build-isolation --no-deps -e .
	@touch $(DOCS_STAMP)

# The gallery as a user has it: the wheel with its extra "all" in a fresh environment, and nothing else;
# then its notebooks, with Jupyter beside.
GALLERY := .venv-gallery
test-gallery: $(STAMP) $(DOCS_STAMP)
	rm -rf $(GALLERY) out/wheel out/gallery
	$(BIN)/python -m pip wheel --quiet --disable-pip-version-check --no-build-isolation --no-deps -w out/wheel .
	$(PYTHON) -m venv $(GALLERY)
	$(GALLERY)/bin/python -m pip install --quiet --disable-pip-version-check -c requirements/dev.lock "$$(ls out/wheel/*.whl)[all]"
	mkdir -p out/gallery
	set -e; for script in docs/gallery/plot_*.py; do echo $$script; \
	  (cd out/gallery && MPLBACKEND=agg ../../$(GALLERY)/bin/python -W error ../../$$script >/dev/null); done
	$(GALLERY)/bin/python -m pip install --quiet --disable-pip-version-check -c requirements/dev.lock -r requirements/notebooks.lock
	cp docs/gallery/plot_*.py out/gallery
	cd out/gallery && ../../$(DOCS)/bin/sphinx_gallery_py2jupyter plot_*.py
	set -e; for notebook in out/gallery/*.ipynb; do echo $$notebook; \
	  $(GALLERY)/bin/jupyter execute --inplace $$notebook; grep -q '"image/png"' $$notebook; done

lint: $(STAMP)
	$(BIN)/ruff check src tests benchmarks experiments requirements
	$(BIN)/ruff format --check src tests benchmarks experiments requirements
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache
	$(BIN)/python benchmarks/house.py

format: $(STAMP)
	$(BIN)/ruff format src tests benchmarks experiments
	$(BIN)/ruff check --fix src tests benchmarks experiments

peers: $(PEERS_STAMP)

$(PEERS_STAMP): requirements/peers.lock
	@test -n "$(PYTHON)" || { echo "graftwork needs Python 3.11 or later; set PYTHON=/path/to/python"; exit 1; }
	@echo "Setting up $(PEERS) (once; about a minute)..."
	@test -x $(PEERS)/bin/python || $(PYTHON) -m venv $(PEERS)
	@$(PEERS)/bin/python -m pip install --quiet --disable-pip-version-check -r requirements/peers.lock
	@touch $(PEERS_STAMP)

bench: $(STAMP) $(PEERS_STAMP)
	PYTHONPATH=benchmarks $(BIN)/python -m bench $(GIVEN_DATA) $(if $(AGAINST),--against "$(AGAINST)") $(BENCH)

bench-smoke: $(STAMP) $(PEERS_STAMP)
	PYTHONPATH=benchmarks $(BIN)/python -m bench --smoke $(GIVEN_DATA) $(BENCH)

# Shares of false edges where the truth is known, some minutes; other lines, repeats and seeds:
# make calibration CALIBRATION="copies missing --repeats 40".
CALIBRATION ?=
calibration: $(STAMP)
	$(BIN)/python benchmarks/calibration.py $(CALIBRATION)

# The share of small defects that the tests of six rooms find, an hour or more; fewer of some rooms:
# make mutants MUTANTS="--rooms solvers --n 10".
MUTANTS ?=
mutants: $(STAMP)
	$(BIN)/python benchmarks/mutants.py $(MUTANTS)

# Lines and branches that tests pass through, of all rooms or of one by its own tests (ROOM=solvers).
# Coverage.py is put into a folder of its own; the tests of commands know a benchmark of its name.
ROOM ?=
coverage: $(STAMP)
	@test -d out/coverage || $(BIN)/python -m pip install --quiet --disable-pip-version-check --target out/coverage coverage==7.17.3
	PYTHONPATH=out/coverage $(BIN)/python -m coverage run --branch --data-file=out/coverage/data --source=src/graftwork$(if $(ROOM),/$(ROOM)) --omit="*/kernels/*" -m pytest -m "not slow" --ignore=tests/test_commands.py tests$(if $(ROOM),/$(ROOM))
	PYTHONPATH=out/coverage $(BIN)/python -m coverage report --data-file=out/coverage/data

# How much there is to learn in the code (docs/house.csv); REASON="..." says why a number rose.
house: $(STAMP)
	@$(BIN)/python benchmarks/house.py $(if $(REASON),--reason "$(REASON)")

# A paper's experiments, or a list of the papers; the same command continues a stopped run.
reproduce: $(STAMP)
	$(BIN)/python -m experiments $(or $(PAPER),--list) $(if $(QUICK),--quick) $(if $(TINY),--tiny) $(GIVEN_DATA) --out "$(OUT)"

# All papers in small sizes.
reproduce-quick: $(STAMP)
	$(BIN)/python -m experiments all --quick $(GIVEN_DATA) --out "$(OUT)"

clean:
	rm -rf $(VENV) $(PEERS) $(GPU) $(DOCS) $(GALLERY) docs/api docs/auto_gallery explorer/node_modules explorer/out out .pytest_cache .mypy_cache .ruff_cache .hypothesis
