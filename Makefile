# Every target works on a fresh clone with Python 3.11+ and a Rust toolchain; nothing has to be prepared by hand.
# The environment lives in .venv, compiled code in target/, results in runs/ and figures/.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

PYTHON ?= $(shell scripts/find-python.sh)
VENV := .venv
BIN := $(VENV)/bin
JOBS ?= 2
# Profile of cargo: dev compiles in less than half of the CPU time, release is faster. Results are byte-identical.
PROFILE ?= dev
SUFFIX := $(filter-out -dev,-$(PROFILE))
MATURIN := maturin>=1.16,<2
# Without make's jobserver, which would throttle cargo, and with maturin's configuration of PyO3, or both would recompile it in turns.
PYO3 = $(firstword $(wildcard target/maturin/pyo3-config-*-abi3.txt))
FOR_CARGO = MAKEFLAGS= $(PYO3:%=PYO3_CONFIG_FILE="$(CURDIR)/%")
CARGO = $(FOR_CARGO) cargo
HERE = MAKEFLAGS= VIRTUAL_ENV="$(if $(filter /%,$(VENV)),,$(CURDIR)/)$(VENV)"
# One worker more than jobs, because some tests wait.
PYTEST = $(FOR_CARGO) $(BIN)/pytest -n $(shell expr $(JOBS) + 1) --dist worksteal
PIP = $(BIN)/python -m pip install --no-compile
SIDE_BY_SIDE = --no-print-directory --jobs=2
MSRV := $(shell sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
export PIP_DISABLE_PIP_VERSION_CHECK := 1
export PIP_NO_INPUT := 1
export PIP_QUIET := 1
export NO_MKDOCS_2_WARNING := 1
unexport PYTHONDONTWRITEBYTECODE  # else each of a thousand processes compiles the whole package

RUST := $(shell find crates -name '*.rs')
FIND = find $(1) -type f -not -path '*/__pycache__/*' -not -name '*.so'
files = $(shell $(call FIND,$(1))) target/names
SIMULATOR := Cargo.toml Cargo.lock $(wildcard crates/*/Cargo.toml crates/*/build.rs) $(shell find crates/*/src -type f)

.PHONY: help demo test test-long check tsan pgo bench docs instructions instructions-check programs valgrind readers chromium chromium-headless-shell lint licences msrv publishable try-wheel try-sdist wheel print-msrv build fast dev everything only absent alone rust-lint rust-test python-lint python-test browser engines linux-engine ns3-engine format clean FORCE

help: ## Print what each target does
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: $(VENV)/.tools ## Run the first study quickly; prints its verdicts and the page to open
	@$(MAKE) $(SIDE_BY_SIDE) $(VENV)/.built$(SUFFIX)
	$(BIN)/fullpipe paper kato2025 --quick --jobs $(JOBS)

test: $(if $(ONLY),only,everything) ## Run all checks of continuous integration; ONLY=tests/compare, ONLY=crates/tcp or ONLY=word: only those tests
	@echo "make test: $(or $(ONLY),everything) passed"

everything: build programs
	@$(MAKE) $(SIDE_BY_SIDE) --output-sync=target alone
	@$(MAKE) --no-print-directory python-test

# Each of these keeps one processor busy, or is short.
alone: rust-lint rust-test python-lint docs instructions-check try-wheel

programs: linux-engine ns3-engine browser readers valgrind

PLACE = $(wildcard $(firstword $(subst ::, ,$(ONLY))))
ABSENT = $(if $(PLACE),,$(findstring /,$(ONLY))$(filter %.py,$(ONLY)))
CRATE = fullpipe$(patsubst %,-%,$(filter-out fullpipe,$(notdir $(ONLY))))
only: $(if $(ABSENT),absent,dev)  # with the extension's package, or crates of others have other features and are compiled anew
	$(if $(wildcard $(ONLY)/Cargo.toml),$(CARGO) test --quiet --package $(CRATE) --package fullpipe-python,$(PYTEST) $(if $(PLACE),$(ONLY),-k "$(ONLY)"))

absent:
	@echo "ONLY=$(ONLY): no such file or folder; give one, or a word in the name of tests" >&2; exit 2

check: dev ## Run formatting, lints, types and the tests of your change
	@$(FOR_CARGO) $(BIN)/python -m scripts.changed

test-long: build programs try-sdist ## Run make test with all cases of long checks, of which it tries a tenth
	@$(MAKE) $(SIDE_BY_SIDE) --output-sync=target alone
	$(CARGO) test --package fullpipe-network --test all --quiet -- --ignored
	$(PYTEST) --long
	@echo "make test-long: everything passed"

bench: fast ## Run benchmarks: criterion, the first study with a bare packet mover and ns-3 in turns, sweeps, the store
	cargo bench --workspace --bench '*'
	$(BIN)/python -m benches.whole_process
	$(BIN)/python -m benches.python_algorithms
	$(BIN)/python -m benches.store
	$(BIN)/python -m benches.scaling
	$(BIN)/python -m benches.threads
	$(BIN)/python -m benches.queues
	$(BIN)/python -m benches.wifi
	$(BIN)/python -m benches.cellular
	$(BIN)/python -m benches.sweeps
	$(BIN)/python -m benches.startup

instructions: fast valgrind ## Count instructions per packet of ten scenarios; they do not depend on the machine's load
	$(FOR_CARGO) $(BIN)/python -m benches.instructions

instructions-check: dev valgrind
	$(FOR_CARGO) $(BIN)/python -m benches.instructions --check

# A system program for tests, installed if possible; without it they are skipped with this message.
export DEBIAN_FRONTEND := noninteractive
have = @command -v $(1) >/dev/null \
	|| apt-get install --yes --quiet $(or $(3),$(1)) 2>/dev/null || sudo -n apt-get install --yes --quiet $(or $(3),$(1)) \
	|| echo "make: no $(1) here; $(2)"

valgrind:
	$(call have,valgrind,instructions are not counted)

readers: ## Install the programs with which tests read captures, completions and PDFs
	$(call have,tshark,captures are read by ours alone)
	$(call have,zsh,its completion is not tried)
	$(call have,fish,its completion is not tried)
	$(call have,pdffonts,fonts of PDFs are not listed,poppler-utils)

docs: dev site/.passed ## Build the documentation into site/, strictly, and test its search if there is a browser

# A new or removed file makes it newer.
target/names: FORCE
	@mkdir -p $(@D) && $(call FIND,docs python scripts tests/docs crates) | sort > $@.new
	@cmp --quiet $@.new $@ || cp $@.new $@

# A check that passed is repeated if one of its files is newer than the beginning of the check.
BEGIN = @mkdir -p $(@D) && touch $(@D)/.begun
PASS = mv $(@D)/.begun $@
OF_SITE := Makefile mkdocs.yml ARCHITECTURE.md DETERMINISM.md CONTRIBUTING.md CHANGELOG.md tests/conftest.py tests/chromium.py
HAS_BROWSER = $(BIN)/python -c 'import playwright; from tests.chromium import PATH; exit(PATH is None)' 2>/dev/null
site/.passed: $(OF_SITE) $(call files,docs python scripts tests/docs) $(VENV)/.built$(SUFFIX) $(VENV)/.docs
	$(BEGIN)
	$(BIN)/python -m scripts.write_docs target/docs
	$(BIN)/python -m mkdocs build --strict --quiet --site-dir site
	FULLPIPE_SITE=site $(BIN)/pytest --quiet tests/docs/test_site.py
	@if $(HAS_BROWSER); then $(PASS); fi  # else it was not tried whole

lint: rust-lint python-lint ## Check formatting, clippy, types and the dependencies between crates and packages

build: $(VENV)/.tools ## Make .venv and build the extension into it; PROFILE=release takes longer and gives a faster simulator
	@$(MAKE) $(SIDE_BY_SIDE) dev

fast:
	@$(MAKE) --no-print-directory build PROFILE=release

dev: $(VENV)/.built$(SUFFIX) $(VENV)/.dev

rust-lint:
	@rustfmt --check --edition 2024 $(RUST)  # cargo fmt does not see what macros declare
	$(CARGO) clippy --workspace --all-targets --quiet -- -D warnings
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --package fullpipe --no-deps --quiet

rust-test: target/tests/.passed

# Another compiler makes it newer.
target/compiler: FORCE
	@mkdir -p $(@D) && rustc --version --verbose > $@.new
	@cmp --quiet $@.new $@ || cp $@.new $@

target/tests/.passed: Makefile Cargo.toml Cargo.lock target/compiler $(call files,crates .cargo) | rust-lint
	$(BEGIN)
	$(CARGO) test --workspace --quiet
	@$(PASS)

python-lint: dev
	$(BIN)/python scripts/check_crates.py
	$(BIN)/python scripts/check_citations.py
	$(BIN)/lint-imports --no-cache --no-logo
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	@$(MAKE) --no-print-directory $(VENV)/.stubs

$(VENV)/.stubs: python/fullpipe/_native.pyi $(VENV)/.built$(SUFFIX) $(VENV)/.dev
	$(BEGIN)
	$(BIN)/stubtest --concise fullpipe._native
	@$(PASS)

# Its last result is in docs/reference/validation.md.
tsan: ## Run windows on threads under ThreadSanitizer: rustup toolchain install nightly --component rust-src
	RUSTFLAGS=-Zsanitizer=thread CARGO_PROFILE_TEST_OPT_LEVEL=1 cargo +nightly test -Zbuild-std --quiet \
		--target $(shell rustc -vV | sed -n 's/^host: //p') --target-dir target/tsan \
		--package fullpipe-simulation --test all windows::

# Packs the compiled extension; cargo has nothing to do.
IN_USE = $$($(BIN)/python -c 'from fullpipe._native import PROFILE; print(PROFILE)')
try-wheel: dev target/wheels/here/.passed ## Install a wheel into a bare environment outside the clone, and use it there

OF_WHEEL := Makefile pyproject.toml README.md LICENSE-APACHE LICENSE-MIT .gitignore
target/wheels/here/.passed: $(OF_WHEEL) $(call files,python scripts) $(VENV)/.built$(SUFFIX) $(VENV)/.dev
	@rm -rf target/wheels/here
	$(BEGIN)
	$(HERE) $(BIN)/maturin build --profile $(IN_USE) --quiet --interpreter $(BIN)/python --compatibility linux --out target/wheels/here
	$(BIN)/python scripts/check_dist.py target/wheels/here/*
	$(BIN)/python scripts/try_dist.py target/wheels/here/*
	@$(PASS)

# Optimised less, because it is compiled for tests and not for speed.
try-sdist: dev ## Compile the sdist outside the clone, install it into a bare environment, and use it there
	@rm -rf target/wheels/sdist target/sdist/release/.fingerprint/fullpipe-*  # files of an sdist are old, so cargo takes them for compiled
	$(BIN)/maturin sdist --out target/wheels/sdist
	$(BIN)/python scripts/check_dist.py target/wheels/sdist/*
	CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16 CARGO_TARGET_DIR=$(CURDIR)/target/sdist \
		$(BIN)/python scripts/try_dist.py target/wheels/sdist/*

# With profile-guided optimisation, unless the compiler's llvm-profdata is neither installed nor available.
PROFDATA = $(shell rustc --print sysroot)/lib/rustlib/$(shell rustc -vV | sed -n 's/^host: //p')/bin/llvm-profdata
wheel: $(VENV)/.created ## Build the wheel for manylinux in dist/, with profile-guided optimisation, and check it
	$(PIP) '$(MATURIN)' 'ziglang>=0.12' 'auditwheel>=6,<7'
	@test -x "$(PROFDATA)" || rustup component add llvm-tools \
		|| echo "make: no llvm-profdata here, as said above; the wheel is built without a profile"
	PATH="$(CURDIR)/$(BIN):$$PATH" CARGO_ZIGBUILD_PYTHON_PATH="$(CURDIR)/scripts/zig.sh" \
		$(BIN)/maturin build --release --locked --interpreter $(BIN)/python --zig --compatibility manylinux2014 \
		--out dist $$(test ! -x "$(PROFDATA)" || echo --pgo)
	$(BIN)/python scripts/check_dist.py dist/*.whl

pgo: fast ## Build the extension with profile-guided optimisation: rustup component add llvm-tools
	$(HERE) $(BIN)/maturin develop --release --quiet --pgo

licences: ## Check licences, versions and sources of all crates: cargo install --locked cargo-deny
	cargo deny --locked --all-features check licenses bans sources

msrv: ## Check the crates with the oldest compiler that they promise to work with (rust-version in Cargo.toml)
	cargo +$(MSRV) check --workspace --locked --target-dir target/msrv

publishable: ## Check that every crate of the library can be packed and built from its package, as it is committed
	cargo publish --workspace --dry-run --locked --quiet

print-msrv:
	@echo $(MSRV)

python-test: dev
	$(PYTEST)

engines: fast ## Install the engines, test them, compare them over the whole catalogue, and write the page of it
	@$(BIN)/fullpipe engines list | grep -q '^linux *ready' || $(BIN)/fullpipe engines install linux --jobs $(JOBS)
	@$(BIN)/fullpipe engines list | grep -q '^ns3 *ready' || $(BIN)/fullpipe engines install ns3
	$(PYTEST) tests/engines
	$(BIN)/fullpipe agree --engines linux,native,ns3 --jobs $(JOBS) \
		--page docs/explanation/agreement.md --plot docs/assets/agreement.svg

# Installed once for all clones of a user, in a cache (docs/how-to/engines.md). Without it, its tests are skipped.
linux-engine: dev
	@$(BIN)/fullpipe engines list | grep -q '^linux *ready' \
		|| $(BIN)/fullpipe engines install linux --jobs $(JOBS) \
		|| echo "make: no linux engine here, as said above; its tests are skipped"

ns3-engine: dev
	@$(BIN)/fullpipe engines list | grep -q '^ns3 *ready' \
		|| $(BIN)/fullpipe engines install ns3 \
		|| echo "make: no ns3 engine here, as said above; its tests are skipped"

# For the tests of reports and of the page: npm packages that build the page, Playwright, and Chromium if available. Without Chromium they are skipped.
browser: dev
	@$(PIP) 'playwright>=1.40,<2' || echo "make: no playwright here, as said above"
	@command -v npm >/dev/null && npm ci --prefix web --ignore-scripts --silent \
		|| echo "make: no npm here; that the page is what its sources give is not tested"
	@test -n "$${FULLPIPE_CHROMIUM:-}" || $(MAKE) --no-print-directory chromium-headless-shell

# Without windows it opens a page in a quarter of the time.
chromium-headless-shell:
	@command -v $@ >/dev/null || apt-get install --yes --quiet $@ 2>/dev/null || sudo -n apt-get install --yes --quiet $@ \
		|| command -v chromium-browser >/dev/null || $(MAKE) --no-print-directory chromium

chromium:
	$(call have,chromium,FULLPIPE_CHROMIUM says where one is; tests of reports in a browser are skipped)

.PHONY: page
page: ## Build the page of fullpipe ui, and the scripts of reports, from web/ into the package (needs npm)
	npm ci --prefix web --ignore-scripts --silent
	npm run --prefix web --silent build

format: dev ## Format everything in place
	rustfmt --edition 2024 $(RUST)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean: ## Remove the environment, compiled code and built pages (results stay)
	rm -rf $(VENV) target site python/fullpipe/_native*.so

# The environment. The check runs every time and does nothing to a healthy environment, so a moved clone or an
# upgraded Python does not leave a stale one behind.
$(VENV)/.created: FORCE
	@test -n "$(PYTHON)"
	@$(PYTHON) scripts/make_venv.py $(VENV)

$(VENV)/.tools: $(VENV)/.created
	$(PIP) '$(MATURIN)'
	@touch $@

$(VENV)/.packages: $(VENV)/.tools pyproject.toml
	$(BIN)/python scripts/requirements.py | $(PIP) -r /dev/stdin
	@touch $@

$(VENV)/.compiled$(SUFFIX): $(VENV)/.tools $(SIMULATOR)
	@$(HERE) $(BIN)/python scripts/compile.py $(BIN)/maturin develop --profile $(PROFILE) --skip-install
	@touch $@

# Linked to the sources under python/. A release build serves where one of dev is wanted, until sources change.
$(VENV)/.built$(SUFFIX): $(VENV)/.packages $(VENV)/.compiled$(SUFFIX)
	$(HERE) $(BIN)/maturin develop --profile $(PROFILE) --quiet
	@rm -f $(VENV)/.compiled-* $(VENV)/.built-*
	@touch $(VENV)/.compiled $(VENV)/.compiled$(SUFFIX) $(VENV)/.built $@

$(VENV)/.dev: $(VENV)/.tools pyproject.toml | $(VENV)/.built$(SUFFIX)
	$(BIN)/python scripts/requirements.py dev | $(PIP) -r /dev/stdin
	@touch $@

$(VENV)/.docs: $(VENV)/.created pyproject.toml | $(VENV)/.dev
	$(BIN)/python scripts/requirements.py docs | $(PIP) -r /dev/stdin
	@touch $@

FORCE:
