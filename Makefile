# make demo   train the components on the corpora that come with the project, and show what they do
# make test   ruff, mypy and the test suite
# make wheel  package the demo's pipeline, install it beside the library in a fresh environment, and run it

PYTHON ?= python3
VENVS := .venv
OUTPUT := output
MODEL := $(OUTPUT)/crf_tagger/model-best

.PHONY: demo test wheel clean check-python
.DELETE_ON_ERROR:

demo: $(VENVS)/demo/.installed
	$(VENVS)/demo/bin/python demo.py $(OUTPUT)

test: $(VENVS)/test/.installed
	$(VENVS)/test/bin/ruff check .
	$(VENVS)/test/bin/ruff format --check .
	$(VENVS)/test/bin/mypy
	$(VENVS)/test/bin/python -m pytest -q $(PYTEST)

wheel: $(VENVS)/test/.installed $(MODEL)
	$(VENVS)/test/bin/python -m build --wheel --outdir $(OUTPUT)/dist .
	mkdir -p $(OUTPUT)/packages
	$(VENVS)/test/bin/python -m spacy package $(MODEL) $(OUTPUT)/packages --name crf_demo --build wheel --force
	rm -rf $(VENVS)/wheel && $(PYTHON) -m venv $(VENVS)/wheel
	$(VENVS)/wheel/bin/pip install -q $(OUTPUT)/dist/*.whl $(OUTPUT)/packages/*/dist/*.whl
	cd $(OUTPUT) && ../$(VENVS)/wheel/bin/python -c "import spacy; \
		doc = spacy.load('en_crf_demo')('The wheel works without the sources.'); \
		print([(token.text, token.tag_) for token in doc])"

$(MODEL): | $(VENVS)/test/.installed
	$(VENVS)/test/bin/python -m spacy train configs/crf_tagger.cfg --output $(OUTPUT)/crf_tagger

$(VENVS)/demo/.installed: pyproject.toml | check-python
	$(PYTHON) -m venv $(VENVS)/demo
	$(VENVS)/demo/bin/pip install -q -e .
	@touch $@

$(VENVS)/test/.installed: pyproject.toml | check-python
	$(PYTHON) -m venv $(VENVS)/test
	$(VENVS)/test/bin/pip install -q -e ".[test]"
	@touch $@

check-python:
	@command -v $(PYTHON) >/dev/null || { echo "There is no '$(PYTHON)'. Install Python 3.11 or later, or name one: make PYTHON=python3.12"; exit 1; }
	@$(PYTHON) -c "import sys; sys.exit(sys.version_info < (3, 11))" || { echo "$(PYTHON) is $$($(PYTHON) --version 2>&1), but 3.11 or later is needed. Name another one: make PYTHON=python3.12"; exit 1; }
	@$(PYTHON) -c "import venv, ensurepip" 2>/dev/null || { echo "$(PYTHON) lacks venv or pip. On Debian and Ubuntu: apt-get install python3-venv python3-pip"; exit 1; }

clean:
	rm -rf $(VENVS) $(OUTPUT) build dist
