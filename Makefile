# Two commands set everything up: `make demo` and `make test`.
PYTHON ?= python3
VENV := .venv
RUN := $(VENV)/bin/python

.PHONY: annotate demo docs docs-open test coverage test-long mutants bench pictures reproduce reproduction clean
.DELETE_ON_ERROR:

demo: $(VENV)/cli
	@$(VENV)/bin/plausible demo demo

# A page that asks about the irises of the demo; Ctrl-C ends it, and the next time it goes on.
annotate: $(VENV)/web
	@test -f demo/features.parquet || $(VENV)/bin/plausible demo demo --quiet
	$(VENV)/bin/plausible annotate demo/features.parquet --classes setosa,versicolor,virginica \
		--question "Which iris is it?"

test: $(VENV)/dev
	$(RUN) -m ruff check .
	$(RUN) -m ruff format --check .
	$(RUN) -m mypy
	$(VENV)/bin/lint-imports
	$(RUN) -m pytest --numprocesses auto --dist loadfile

coverage: $(VENV)/dev  ## which lines the tests reach; a quarter slower than make test
	$(RUN) -m pytest --cov --numprocesses auto --dist loadfile

# The same laws on many more random cases, 10,000 odd commands and calls, all degenerate sets, and
# what is marked as long: the experiments in small, variants of estimators, the larger examples.
test-long: $(VENV)/dev
	HYPOTHESIS_PROFILE=long $(RUN) -m pytest tests -m "long or not long"

mutants: $(VENV)/dev  ## makes mistakes in copies of the tree, which tests must catch; some minutes
	$(RUN) tests/mutants/run.py $(WORDS)

bench: $(VENV)/bench
	$(RUN) benchmarks/belief.py
	$(RUN) benchmarks/labels.py
	$(RUN) benchmarks/answers.py
	$(RUN) benchmarks/mixture.py
	$(RUN) benchmarks/mixture.py 1000000
	$(RUN) benchmarks/logistic.py
	$(RUN) benchmarks/network.py
	$(RUN) benchmarks/any_learner.py
	$(RUN) benchmarks/supervision.py
	$(RUN) benchmarks/e2m.py
	$(RUN) benchmarks/neighbors.py
	$(RUN) benchmarks/eknnclus.py
	$(RUN) benchmarks/evclus.py
	$(RUN) benchmarks/tree.py
	$(RUN) benchmarks/pool.py
	$(RUN) benchmarks/web.py
	$(RUN) benchmarks/scale.py
	$(RUN) benchmarks/compile.py
	$(RUN) benchmarks/many_answers.py
	$(RUN) benchmarks/folder.py

# Every page, every example of the gallery; a warning is an error. Then the site is checked: nothing is
# loaded from another host, every public name has one page, every link inside it leads somewhere.
docs: $(VENV)/docs
	$(RUN) -m sphinx -W --keep-going --quiet --jobs auto -d build/doctrees docs site
	$(RUN) docs/check_site.py site

docs-open: docs
	$(RUN) -m webbrowser "file://$(CURDIR)/site/index.html"

pictures: $(VENV)/dev  ## needs chromium as well
	$(RUN) docs/pictures/draw_two_experts.py
	$(RUN) docs/pictures/draw_report.py
	$(RUN) docs/pictures/draw_annotate.py
	$(RUN) docs/pictures/draw_plots.py

# As plausible reproduce: most of an hour, some minutes with ARGUMENTS=--quick. NAMES are papers,
# figures or experiments. Real sets need a folder: make reproduce PLAUSIBLE_DATA=folder
NAMES ?= all
reproduce: $(VENV)/plots
	PLAUSIBLE_DATA="$(PLAUSIBLE_DATA)" $(VENV)/bin/plausible reproduce $(NAMES) $(ARGUMENTS)

# Takes the full runs of that, if there are any, into the package, and writes docs/reproduction.md.
reproduction: $(VENV)/plots
	$(RUN) -m plausible.experiments.document $(if $(wildcard reproduction),--results reproduction)

# One stamp for each set of extras; remade only when pyproject.toml changes.
$(VENV)/cli: extras := [cli]
$(VENV)/web: extras := [cli,web]
$(VENV)/dev: extras := [dev]
$(VENV)/bench: extras := [bench]
$(VENV)/docs: extras := [docs]
$(VENV)/plots: extras := [plots]
$(VENV)/cli $(VENV)/web $(VENV)/dev $(VENV)/bench $(VENV)/docs $(VENV)/plots: pyproject.toml | $(VENV)/bin/python
	@echo "Installing plausible$(extras) into $(VENV) (once; about half a minute) ..."
	@$(RUN) -m pip install --quiet --disable-pip-version-check --editable ".$(extras)"
	@touch $@

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "plausible needs Python 3.11 or later; $(PYTHON) is older. Try: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	@$(PYTHON) -m venv $(VENV)

clean:
	rm -rf $(VENV) build dist site docs/gallery docs/reference .coverage .pytest_cache demo .mypy_cache .ruff_cache .hypothesis
