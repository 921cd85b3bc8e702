# Two commands set everything up: `make demo` and `make test`.
PYTHON ?= python3
VENV := .venv
RUN := $(VENV)/bin/python

.PHONY: demo test test-long bench pictures reproduce clean
.DELETE_ON_ERROR:

demo: $(VENV)/core
	@$(RUN) examples/doubtful_experts.py

test: $(VENV)/dev
	$(RUN) -m ruff check .
	$(RUN) -m ruff format --check .
	$(RUN) -m mypy
	$(VENV)/bin/lint-imports
	$(RUN) -m pytest --cov

test-long: $(VENV)/dev  ## the same laws on many more random cases
	HYPOTHESIS_PROFILE=long $(RUN) -m pytest tests

bench: $(VENV)/bench
	$(RUN) benchmarks/belief.py
	$(RUN) benchmarks/labels.py
	$(RUN) benchmarks/mixture.py
	$(RUN) benchmarks/mixture.py 1000000
	$(RUN) benchmarks/logistic.py
	$(RUN) benchmarks/supervision.py
	$(RUN) benchmarks/pool.py
	$(RUN) benchmarks/scale.py

pictures: $(VENV)/dev  ## needs chromium as well
	$(RUN) docs/pictures/draw_two_experts.py
	$(RUN) docs/pictures/draw_report.py

# More than an hour; ARGUMENTS=--quick for some minutes. Experiments on real sets need a folder:
# make reproduce PLAUSIBLE_DATA=folder
reproduce: $(VENV)/plots
	$(RUN) -m plausible.experiments.come_2008 $(ARGUMENTS)
	PLAUSIBLE_DATA="$(PLAUSIBLE_DATA)" $(RUN) -m plausible.experiments.crowds $(ARGUMENTS)
	$(RUN) -m plausible.experiments.denoeux_2015_lda $(ARGUMENTS)
	$(RUN) -m plausible.experiments.grandvalet_2002 $(ARGUMENTS)
	$(RUN) -m plausible.experiments.lu_2020 $(ARGUMENTS)
	PLAUSIBLE_DATA="$(PLAUSIBLE_DATA)" $(RUN) -m plausible.experiments.lu_2020_real $(ARGUMENTS)
	PLAUSIBLE_DATA="$(PLAUSIBLE_DATA)" $(RUN) -m plausible.experiments.partial_labels $(ARGUMENTS)
	PLAUSIBLE_DATA="$(PLAUSIBLE_DATA)" $(RUN) -m plausible.experiments.real_assessments $(ARGUMENTS)
	PLAUSIBLE_DATA="$(PLAUSIBLE_DATA)" $(RUN) -m plausible.experiments.real_soft_labels $(ARGUMENTS)

# One stamp for each set of extras; remade only when pyproject.toml changes.
$(VENV)/core: extras :=
$(VENV)/dev: extras := [dev]
$(VENV)/bench: extras := [bench]
$(VENV)/plots: extras := [plots]
$(VENV)/core $(VENV)/dev $(VENV)/bench $(VENV)/plots: pyproject.toml | $(VENV)/bin/python
	@echo "Installing plausible$(extras) into $(VENV) (once; about half a minute) ..."
	@$(RUN) -m pip install --quiet --disable-pip-version-check --editable ".$(extras)"
	@touch $@

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "plausible needs Python 3.11 or later; $(PYTHON) is older. Try: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	@$(PYTHON) -m venv $(VENV)

clean:
	rm -rf $(VENV) build dist .coverage .pytest_cache .mypy_cache .ruff_cache .hypothesis
