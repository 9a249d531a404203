.DEFAULT_GOAL := help
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: help
help:  ## Show this help
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo 'traceattr needs Python 3.11 or newer; name one with: make PYTHON=python3.11 ...' >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)

# The stamps are younger than the locks exactly when the environment holds what they pin.
$(VENV)/.run: requirements.lock pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --require-hashes --only-binary :all: -r requirements.lock
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation -e .
	@touch $@

$(VENV)/.dev: requirements-dev.lock $(VENV)/.run
	$(BIN)/python -m pip install --quiet --require-hashes --only-binary :all: -r requirements-dev.lock
	@touch $@

.PHONY: install
install: $(VENV)/.dev  ## Create .venv with the package (editable) and the tools

.PHONY: demo
demo: $(VENV)/.run  ## Set up and report on the bundled sample trace
	$(BIN)/traceattr report traces/demo.sqlite

.PHONY: test
test: $(VENV)/.dev  ## Set up and run all tests
	$(BIN)/python -m pytest -n auto --dist loadfile

.PHONY: check
check: $(VENV)/.dev  ## Check layout, style, imports, SQL, types, docs and coverage
	@! ls */traceattr/__init__.py 2>/dev/null || { echo 'delete it: traceattr is a namespace package'; exit 1; }
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	$(BIN)/sqlfluff lint --disable-progress-bar attribution ingest report
	$(BIN)/mypy
	$(BIN)/python -m cogapp --check README.md docs/*.md
	$(BIN)/check-jsonschema --quiet --builtin-schema vendor.github-actions action.yml
	$(BIN)/check-jsonschema --quiet --builtin-schema vendor.github-workflows docs/workflows/*.yml
	$(BIN)/zizmor --quiet --offline action.yml docs/workflows/*.yml
	$(BIN)/traceattr rules check rules/traceattr/rules/sglang.toml

.PHONY: golden
golden: $(VENV)/.dev  ## Rewrite tests/golden and the generated docs (review the diff)
	$(BIN)/python -m pytest --update-golden
	$(BIN)/python -m cogapp -r README.md docs/*.md

.PHONY: traces
traces: $(VENV)/.dev  ## Rewrite the bundled sample trace
	$(BIN)/python -m traces.simulate --demo traces/demo.sqlite

.PHONY: bench
bench: $(VENV)/.dev  ## Time reports on generated traces, beside other programs
	$(BIN)/python -m benchmarks.performance --write $(BENCH)

UPLOT := report/traceattr/report/html_assets/uplot
UPLOT_VERSION := 1.6.32

.PHONY: uplot
uplot:  ## Fetch the plot library of HTML reports again, and check its sums
	cd $(UPLOT) && tar -xzf "$$(npm pack --silent uplot@$(UPLOT_VERSION))" --transform 's:.*/::' package/LICENSE package/dist/uPlot.iife.min.js package/dist/uPlot.min.css && rm uplot-$(UPLOT_VERSION).tgz && sha256sum --check SHA256SUMS

.PHONY: screenshot
screenshot: $(VENV)/.dev  ## Rewrite the picture of an HTML report in docs/images
	$(BIN)/python -m tests.screenshot docs/images/report.png

LOCK := $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header

.PHONY: lock
lock: $(VENV)/.dev  ## Pin the newest dependencies
	$(BIN)/python -m pip install --quiet uv
	$(LOCK) --upgrade pyproject.toml --group build -o requirements.lock
	$(LOCK) --upgrade --group dev -c requirements.lock -o requirements-dev.lock

.PHONY: wheel
wheel: $(VENV)/.dev  ## Build sdist and wheel into dist/
	$(BIN)/python -m build --no-isolation
