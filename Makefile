# What people and CI type.  `make` alone prints this list; `make run` and `make test` do all set-up themselves.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

setup := bin/omarchy-mcp-setup
id := io.github.bruce-forte.mcp-server
cache := $(or $(filter /%,$(XDG_CACHE_HOME)),$(HOME)/.cache)/$(id)
data := $(or $(filter /%,$(XDG_DATA_HOME)),$(HOME)/.local/share)/$(id)
dev := $(data)/dev/bin
python := $(dev)/python
# nothing is written into this folder, which Omarchy watches
export PYTHONPYCACHEPREFIX := $(cache)/tools
export RUFF_CACHE_DIR := $(cache)/ruff
export MYPY_CACHE_DIR := $(cache)/mypy

# every bash program that is tracked or about to be
bash = $$(git ls-files --cached --others --exclude-standard | while read -r file; do \
	if [[ -f $$file && ! -L $$file ]] && head -n 1 -- "$$file" | grep -qE '^\#!/bin/(ba)?sh|^\# shellcheck shell='; then echo "$$file"; fi; done)

.PHONY: help run test check lint types layers scripts units cover all host lab test-omarchy test-fresh bench \
	tools-md lock setup-run setup-test clean

help: ## this list
	@sed -nE 's/^([a-z-]+):.*## (.*)/  make \1@\2/p' $(MAKEFILE_LIST) | column -t -s @ 2>/dev/null \
		|| sed -nE 's/^([a-z-]+):.*## (.*)/  make \1   \2/p' $(MAKEFILE_LIST)

run: setup-run ## the product at work on this machine's desktop or the demo's (ONCE=1 PORT=n PRIVATE=1)
	@exec $(python) -B demo/run.py $(if $(ONCE),--once) $(if $(PRIVATE),--private) $(if $(PORT),--port $(PORT))

test: setup-test all ## every test this machine can run; as root also in a machine of its own

check: setup-test lint types layers scripts units cover all ## lint, types, layers, scripts, units, coverage, then `make test`

setup-run:
	@$(setup) packages
	@$(setup) environment --dev >/dev/null

setup-test:
	@$(setup) packages --test $(if $(filter 0,$(shell id -u)),--lab)
	@$(setup) environment --dev >/dev/null

lint:
	@echo "== ruff"
	@$(dev)/ruff check --quiet .
	@$(dev)/ruff format --check --quiet .

types:
	@echo "== mypy"
	@MYPYPATH=src:tests $(dev)/mypy --no-error-summary src tests
	@MYPYPATH=src:demo:demo/lib $(dev)/mypy --no-error-summary demo  # its programs import each other by name

layers:
	@echo "== layers"
	@PYTHONPATH=src $(dev)/lint-imports --no-cache pyproject.toml >$(cache)/layers.log || { cat $(cache)/layers.log; exit 1; }

scripts:
	@echo "== shellcheck"
	@shellcheck --external-sources $(bash)

units:
	@echo "== units"
	@$(python) -B tests/tools/verify_units.py systemd

cover: ## the tests of what decides, which must take every branch of it
	@echo "== branches of the policy and its scan"
	@tests/tools/run-tests $(python) cover $(ARGS)

all:
	@if [[ $$(id -u) == 0 ]]; then echo "== tests on this machine, and in a machine of their own"; \
	tests/tools/run-tests $(python) all $(ARGS); else $(MAKE) --no-print-directory host lab; fi

host:
	@echo "== tests on this machine"
	@tests/tools/run-tests $(python) host $(ARGS)

lab:
	@if [[ $$(id -u) == 0 ]]; then echo "== tests in a machine of their own"; tests/tools/run-tests $(python) lab; \
	else echo "== tests in a machine of their own: skipped, they need root"; fi

test-omarchy: setup-test ## against a real Omarchy checkout in OMARCHY_PATH
	@tests/tools/run-tests $(python) omarchy $(ARGS)

test-fresh: ## the README's commands in fresh Debian roots (root, about ten minutes)
	@tests/fresh/try-fresh $(ARGS)

bench: setup-test ## the figures of the performance table
	@$(python) -B tests/bench/bench.py $(ARGS)

tools-md: setup-test ## make TOOLS.md again from the code
	@$(python) -B tests/tools/tools_md.py

lock: setup-test ## make uv.lock again from pyproject.toml (UPGRADE=1: newest versions)
	@$(python) -B tests/tools/relock.py "$$($(setup) uv)" $(if $(UPGRADE),--upgrade)

clean: ## remove what building and testing made: environments, caches, labs
	@rm -rf "$(cache)" "$(data)/dev" "$(data)"/dev-???????????????? "$(data)"/uv-*
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +
