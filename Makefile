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
MATURIN := maturin>=1.16,<2
DEVELOP = VIRTUAL_ENV="$(if $(filter /%,$(VENV)),,$(CURDIR)/)$(VENV)" $(BIN)/maturin develop --release --quiet
MSRV := $(shell sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
export PIP_DISABLE_PIP_VERSION_CHECK := 1
export PIP_NO_INPUT := 1
export PIP_QUIET := 1
export NO_MKDOCS_2_WARNING := 1

RUST := Cargo.toml $(wildcard Cargo.lock) $(shell find crates -name '*.rs' -o -name Cargo.toml)

.PHONY: help demo test test-long tsan pgo bench docs instructions instructions-check rust-and-build valgrind readers chromium lint licences msrv publishable try-wheel try-sdist wheel print-msrv build rust-lint rust-test python-lint python-test browser engines linux-engine ns3-engine format clean FORCE

help: ## Say what each target does
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: build ## Run the first study quickly: prints its verdicts, and which page to open
	$(BIN)/fullpipe paper kato2025 --quick --jobs $(JOBS)

test: rust-and-build instructions-check linux-engine ns3-engine browser readers python-test docs try-wheel ## Everything that continuous integration runs
	@echo "make test: everything passed"

# Side by side, as optimising the extension keeps one processor busy.
rust-and-build:
	@$(MAKE) --no-print-directory --jobs=2 --output-sync=target rust-test python-lint

test-long: rust-and-build instructions-check linux-engine ns3-engine browser readers docs try-wheel try-sdist ## The same, with all cases where it tries a tenth
	cargo test --package fullpipe-network --test all --quiet -- --ignored
	$(BIN)/pytest -n $(JOBS) --long
	@echo "make test-long: everything passed"

bench: build ## Benchmarks: criterion, the first study beside a bare packet mover and ns-3 in turns, sweeps, the store
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

instructions: build valgrind ## Count instructions per packet of ten scenarios, which do not depend on the machine's load
	$(BIN)/python -m benches.instructions

instructions-check: build valgrind
	$(BIN)/python -m benches.instructions --check

# A program of the system for tests, installed where that can be done; without it they are skipped, with what is said.
export DEBIAN_FRONTEND := noninteractive
have = @command -v $(1) >/dev/null \
	|| apt-get install --yes --quiet $(1) 2>/dev/null || sudo -n apt-get install --yes --quiet $(1) \
	|| echo "make: no $(1) here; $(2)"

valgrind:
	$(call have,valgrind,instructions are not counted)

readers: ## Other readers of what is written: of captures, and of completions
	$(call have,tshark,captures are read by ours alone)
	$(call have,zsh,its completion is not tried)
	$(call have,fish,its completion is not tried)

docs: build $(VENV)/.docs ## Build the documentation into site/, strictly, and search in it where there is a browser
	$(BIN)/python -m scripts.write_docs target/docs
	$(BIN)/python -m mkdocs build --strict --quiet --site-dir site
	FULLPIPE_SITE=site $(BIN)/pytest --quiet tests/docs/test_site.py

lint: rust-lint python-lint ## Formatting, clippy, types and the arrows between the parts

build: $(VENV)/.built ## Make .venv and build the extension (release) into it

rust-lint:
	rustfmt --check --edition 2024 $(filter %.rs,$(RUST))  # cargo fmt does not see what macros declare
	cargo clippy --workspace --all-targets --quiet -- -D warnings
	RUSTDOCFLAGS="-D warnings" cargo doc --package fullpipe --no-deps --quiet

rust-test: | rust-lint
	MAKEFLAGS= cargo test --workspace --quiet  # it would look for jobs of this make

python-lint: build
	$(BIN)/python scripts/check_crates.py
	$(BIN)/python scripts/check_citations.py
	$(BIN)/lint-imports --no-cache --no-logo
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/stubtest --concise fullpipe._native

# Its last result is in docs/reference/validation.md.
tsan: ## Run windows on threads under ThreadSanitizer: rustup toolchain install nightly --component rust-src
	RUSTFLAGS=-Zsanitizer=thread CARGO_PROFILE_TEST_OPT_LEVEL=1 cargo +nightly test -Zbuild-std --quiet \
		--target $(shell rustc -vV | sed -n 's/^host: //p') --target-dir target/tsan \
		--package fullpipe-simulation --test all windows::

# What `build` compiled, packed: cargo has nothing to do.
try-wheel: build ## Install a wheel into a bare environment outside the clone, and use it there
	@rm -rf target/wheels/here
	$(BIN)/maturin build --release --quiet --interpreter $(BIN)/python --compatibility linux --out target/wheels/here
	$(BIN)/python scripts/check_dist.py target/wheels/here/*
	$(BIN)/python scripts/try_dist.py target/wheels/here/*

# Optimised less, as it is compiled to be tried and not to be timed.
try-sdist: build ## Compile the sdist outside the clone, install it into a bare environment, and use it there
	@rm -rf target/wheels/sdist target/sdist/release/.fingerprint/fullpipe-*  # files of an sdist are old, so cargo takes them for compiled
	$(BIN)/maturin sdist --out target/wheels/sdist
	$(BIN)/python scripts/check_dist.py target/wheels/sdist/*
	CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16 CARGO_TARGET_DIR=$(CURDIR)/target/sdist \
		$(BIN)/python scripts/try_dist.py target/wheels/sdist/*

# With a profile, unless the compiler's llvm-profdata is neither here nor to be had.
PROFDATA = $(shell rustc --print sysroot)/lib/rustlib/$(shell rustc -vV | sed -n 's/^host: //p')/bin/llvm-profdata
wheel: $(VENV)/.created ## Build the wheel for manylinux in dist/, with a profile of itself, and check it
	$(BIN)/python -m pip install '$(MATURIN)' 'ziglang>=0.12' 'auditwheel>=6,<7'
	@test -x "$(PROFDATA)" || rustup component add llvm-tools \
		|| echo "make: no llvm-profdata here, as said above; the wheel is built without a profile"
	PATH="$(CURDIR)/$(BIN):$$PATH" CARGO_ZIGBUILD_PYTHON_PATH="$(CURDIR)/scripts/zig.sh" \
		$(BIN)/maturin build --release --locked --interpreter $(BIN)/python --zig --compatibility manylinux2014 \
		--out dist $$(test ! -x "$(PROFDATA)" || echo --pgo)
	$(BIN)/python scripts/check_dist.py dist/*.whl

pgo: build ## Build the extension anew with a profile of itself: rustup component add llvm-tools
	$(DEVELOP) --pgo

licences: ## Check licences, versions and sources of all crates: cargo install --locked cargo-deny
	cargo deny --locked --all-features check licenses bans sources

msrv: ## Check the crates with the oldest compiler that they promise to work with (rust-version in Cargo.toml)
	cargo +$(MSRV) check --workspace --locked --target-dir target/msrv

publishable: ## Check that every crate of the library can be packed and built from its package, as it is committed
	cargo publish --workspace --dry-run --locked --quiet

print-msrv:
	@echo $(MSRV)

python-test: build
	$(BIN)/pytest -n $(JOBS)

engines: build ## Install the engines, test them, compare them over the whole catalogue, and write the page of it
	@$(BIN)/fullpipe engines list | grep -q '^linux *ready' || $(BIN)/fullpipe engines install linux --jobs $(JOBS)
	@$(BIN)/fullpipe engines list | grep -q '^ns3 *ready' || $(BIN)/fullpipe engines install ns3
	$(BIN)/pytest -n $(JOBS) tests/engines
	$(BIN)/fullpipe agree --engines linux,native,ns3 --jobs $(JOBS) \
		--page docs/explanation/agreement.md --plot docs/assets/agreement.svg

# Once for all clones of a user, in a cache (docs/how-to/engines.md). Without it its tests are skipped.
linux-engine: build
	@$(BIN)/fullpipe engines list | grep -q '^linux *ready' \
		|| $(BIN)/fullpipe engines install linux --jobs $(JOBS) \
		|| echo "make: no linux engine here, as said above; its tests are skipped"

ns3-engine: build
	@$(BIN)/fullpipe engines list | grep -q '^ns3 *ready' \
		|| $(BIN)/fullpipe engines install ns3 \
		|| echo "make: no ns3 engine here, as said above; its tests are skipped"

# For the tests of reports and of the page: what builds the page, where npm is, to compare; Playwright, and Chromium where it is or can be had. Without it they are skipped.
browser: build
	@$(BIN)/python -m pip install 'playwright>=1.40,<2' || echo "make: no playwright here, as said above"
	@command -v npm >/dev/null && npm ci --prefix web --ignore-scripts --silent \
		|| echo "make: no npm here; that the page is what its sources give is not tested"
	@test -n "$${FULLPIPE_CHROMIUM:-}" || command -v chromium-browser >/dev/null || $(MAKE) --no-print-directory chromium

chromium:
	$(call have,chromium,FULLPIPE_CHROMIUM says where one is; tests of reports in a browser are skipped)

.PHONY: page
page: ## Build the page of fullpipe ui, and what reports run, from web/ into the package (needs npm)
	npm ci --prefix web --ignore-scripts --silent
	npm run --prefix web --silent build

format: build ## Format everything in place
	rustfmt --edition 2024 $(filter %.rs,$(RUST))
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean: ## Remove the environment, compiled code and built pages (results are kept)
	rm -rf $(VENV) target site python/fullpipe/_native*.so

# The environment. The check runs every time and does nothing to a healthy environment, so a moved clone or an
# upgraded Python does not leave a stale one behind.
$(VENV)/.created: FORCE
	@test -n "$(PYTHON)"
	@$(PYTHON) scripts/make_venv.py $(VENV)

# maturin installs the dependencies of pyproject.toml and the extension, linked to the sources under python/.
$(VENV)/.built: $(VENV)/.created pyproject.toml $(RUST)
	$(BIN)/python -m pip install '$(MATURIN)'
	@echo "compiling the simulator: a few minutes the first time, in silence"
	$(DEVELOP) --extras dev
	@touch $@

$(VENV)/.docs: $(VENV)/.created pyproject.toml
	$(BIN)/python -m pip install 'mkdocs>=1.6,<2' 'mkdocs-material>=9.6,<10'
	@touch $@

FORCE:
