# make demo   train the components on the corpora that come with the project, and show what they do
# make test   ruff, mypy and the test suite
# make wheels package the library and the demo's five pipelines, install all in a fresh environment, and run them
# make bench-guard BASE=COMMIT compare the speed of ten paths with those of a commit, or of the last tag
# make docs   the site and the notebooks of its tutorials, in output/site; no network is needed once its tools are there
# make matrix try the library's wheel under the versions of Python, spaCy and numpy that it allows

PYTHON ?= python3
VENVS := .venv
OUTPUT := output
# options of pytest: a process for each core
PYTEST ?= -n auto
PACKAGES := $(OUTPUT)/packages
RELEASE := $(VENVS)/release/bin/python
COMPONENTS := crf_tagger set_valued_tagger constrained_ner section_parser punctuation_restorer
# of the matrix, where they are pyenv's, which hides all but one
PYTHONS := $(wildcard $(HOME)/.pyenv/versions/3.1[1-9]*/bin)
# what the pipelines of the demo are measured on
TESTED_crf_tagger := corpus/crf_tagger/dev.conllu --train corpus/crf_tagger/train.conllu
TESTED_set_valued_tagger := corpus/set_valued_tagger/dev --train corpus/set_valued_tagger/train --format tagsets
TESTED_constrained_ner := corpus/constrained_ner/dev
TESTED_section_parser := corpus/section_parser/test
TESTED_punctuation_restorer := corpus/punctuation_restorer/dev

.PHONY: demo test wheels docs matrix bench-guard clean check-python
.SECONDARY:
.DELETE_ON_ERROR:

demo: $(VENVS)/demo/.installed
	$(VENVS)/demo/bin/python demo.py $(OUTPUT)

test: $(VENVS)/test/.installed
	$(VENVS)/test/bin/ruff check .
	$(VENVS)/test/bin/ruff format --check .
	$(VENVS)/test/bin/mypy
	$(VENVS)/test/bin/python -m pytest -q $(PYTEST)

wheels: $(OUTPUT)/dist/.built $(COMPONENTS:%=$(PACKAGES)/%)
	$(RELEASE) -m twine check --strict $(OUTPUT)/dist/spacy_crf* $(PACKAGES)/*/*/dist/*
	folder=$$(mktemp -d) && $(PYTHON) -m venv $$folder/venv \
		&& $$folder/venv/bin/pip install -q $(OUTPUT)/dist/*.whl $(PACKAGES)/*/*/dist/*.whl \
		&& cp tests/helpers/installed.py $$folder && cd $$folder && venv/bin/python -I installed.py && rm -r $$folder

matrix: $(OUTPUT)/dist/.built
	PATH="$$(printf '%s:' $(PYTHONS))$$PATH" $(RELEASE) -m nox $(NOX)

bench-guard: $(VENVS)/test/.installed
	$(VENVS)/test/bin/python benchmarks/guard.py $(BASE:%=--base %)

# NO_MKDOCS_2_WARNING: what Material for MkDocs says of a version that pyproject.toml excludes
docs: $(VENVS)/docs/.installed
	NO_MKDOCS_2_WARNING=1 $(VENVS)/docs/bin/mkdocs build --strict --site-dir $(OUTPUT)/site
	@echo "Open $(OUTPUT)/site/index.html"

$(OUTPUT)/dist/.built: $(VENVS)/release/.installed $(shell find spacy_crf configs -type f -not -name '*.pyc') README.md setup.py
	rm -rf $(OUTPUT)/dist
	$(RELEASE) -m build --outdir $(OUTPUT)/dist .
	$(RELEASE) -m check_wheel_contents $(OUTPUT)/dist/*.whl
	@touch $@

# a pipeline trained with its config, its figures, and the package that tells them
$(PACKAGES)/%: $(OUTPUT)/trained/%/model-best corpus/%/card.toml
	$(RELEASE) -m spacy crf evaluate $< $(TESTED_$*) --intervals --output $(OUTPUT)/trained/$*/figures.json
	rm -rf $@
	$(RELEASE) -m spacy crf package $< corpus/$*/card.toml $@ --results $(OUTPUT)/trained/$*/figures.json

$(OUTPUT)/trained/%/model-best: configs/%.cfg | $(VENVS)/release/.installed
	$(RELEASE) -m spacy train $< --output $(OUTPUT)/trained/$*

$(VENVS)/demo/.installed: pyproject.toml | check-python
	$(PYTHON) -m venv $(VENVS)/demo
	$(VENVS)/demo/bin/pip install -q -e .
	@touch $@

$(VENVS)/test/.installed: pyproject.toml | check-python
	$(PYTHON) -m venv $(VENVS)/test
	$(VENVS)/test/bin/pip install -q -e ".[test]"
	@touch $@

$(VENVS)/docs/.installed: pyproject.toml | check-python
	$(PYTHON) -m venv $(VENVS)/docs
	$(VENVS)/docs/bin/pip install -q -e ".[docs]"
	@touch $@

$(VENVS)/release/.installed: pyproject.toml | check-python
	$(PYTHON) -m venv $(VENVS)/release
	$(VENVS)/release/bin/pip install -q -e ".[package,matrix]"
	@touch $@

check-python:
	@command -v $(PYTHON) >/dev/null || { echo "There is no '$(PYTHON)'. Install Python 3.11 or later, or name one: make PYTHON=python3.12"; exit 1; }
	@$(PYTHON) -c "import sys; sys.exit(sys.version_info < (3, 11))" || { echo "$(PYTHON) is $$($(PYTHON) --version 2>&1), but 3.11 or later is needed. Name another one: make PYTHON=python3.12"; exit 1; }
	@$(PYTHON) -c "import venv, ensurepip" 2>/dev/null || { echo "$(PYTHON) lacks venv or pip. On Debian and Ubuntu: apt-get install python3-venv python3-pip"; exit 1; }

clean:
	rm -rf $(VENVS) $(OUTPUT) build dist
