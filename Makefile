# Every target works alone in a fresh clone: all it needs is Python >= 3.11 with its venv module, and make.
# The virtual environment is .venv; a stamp file in it makes the second run quick.

PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11 python; do \
	    if $$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then echo $$p; exit; fi; done; \
	    echo python3)
JOBS ?= 2
INSTALL = PYTHON=$(PYTHON) sh .ci/install
RUN = .venv/bin/python -m

# The tests start the program hundreds of times, and pytest rewrites every test file: once, not every time.
unexport PYTHONDONTWRITEBYTECODE

.DELETE_ON_ERROR:
.PHONY: demo test lint format pytest slow docs playground web web-parts oracles oracles-parts dist bench targets clean help

help:  ## list the targets
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 10

demo: .venv/.run  ## prove one claim and refute another
	@sh benchmarks/demo.sh .venv/bin/dipc

test: lint pytest  ## everything a change must pass

lint: .venv/.dev  ## formatting, lints, types
	@$(RUN) ruff format --check --quiet . || { echo 'ruff format: run `make format`'; exit 1; }
	@$(RUN) ruff check --quiet .
	@$(RUN) mypy --no-error-summary
	@echo 'ruff format, ruff check, mypy --strict: clean'

format: .venv/.dev  ## rewrite the sources in the project's format
	@$(RUN) ruff format .
	@$(RUN) ruff check --fix .

pytest: .venv/.dev  ## the tests and the doctests, a few cases of each
	@HYPOTHESIS_PROFILE=few $(RUN) pytest -q -n $(JOBS) --dist worksteal --few-cases

slow: .venv/.dev  ## every case of every test, the long ones too, and every property with many more examples
	@HYPOTHESIS_PROFILE=explore $(RUN) pytest -q -n $(JOBS) --dist worksteal -m '' -o timeout=0

docs: .venv/.dev  ## the site, in docs/_build/html: its examples run anew, and warnings are errors
	@$(INSTALL) --editable '.[docs]'
	@$(RUN) pytest -q --few-cases tests/test_readme.py
	@$(RUN) sphinx -W --keep-going -q -b html docs docs/_build/html
	@$(RUN) docs.overflow docs/_build/html
	@echo 'docs/_build/html/index.html'

playground: web-parts  ## the page that `dipc serve` opens, and its wheel in dist/; needs Node.js and npm
	@.venv/bin/python docs/playground/build.py
	@$(INSTALL) --editable docs/playground

web: playground  ## that page in a real Chromium, which has to be installed
	@$(RUN) pytest -q -s -p no:xdist docs/playground

# What they need of the package indexes.
web-parts: .venv/.dev
	@$(INSTALL) --editable '.[web]'
	@.venv/bin/python docs/playground/build.py download

oracles: oracles-parts  ## mechanisms of OpenDP and diffprivlib against the exact distributions that they promise
	@$(RUN) benchmarks libraries

oracles-parts: .venv/.run
	@$(INSTALL) --editable '.[libraries]'

dist: .venv/.run  ## the source distribution and the wheel, as the package index wants them
	@$(INSTALL) hatchling twine
	@$(RUN) hatchling build
	@$(RUN) twine check --strict dist/*

bench: .venv/.run  ## every row of the paper's Tables 2-4, against the published figures
	@$(INSTALL) --editable '.[bench]'
	@$(RUN) benchmarks

targets: .venv/.run  ## the speed and memory goals, measured
	@$(INSTALL) --editable '.[bench]'
	@$(RUN) benchmarks targets

clean:  ## remove the virtual environment and every cache
	rm -rf docs/_build docs/generated docs/playground/build docs/playground/node_modules docs/playground/dipc_playground/site .venv build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

.venv/.run: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo 'dipc needs Python 3.11 or later; name one with `make PYTHON=/path/to/python3 $(MAKECMDGOALS)`'; exit 1; }
	@echo 'setting up .venv (once) with $(PYTHON)'
	@$(PYTHON) -m venv --without-pip .venv \
	  || { echo 'the venv module of $(PYTHON) does not work; Debian and Ubuntu have it in the package python3-venv'; exit 1; }
	@$(INSTALL) --editable .
	@touch $@

.venv/.dev: .venv/.run
	@echo 'installing what the tests need (once)'
	@$(INSTALL) --editable '.[dev]'
	@touch $@
