# make demo   train the components on the corpora that come with the project, and show what they do
# make test   ruff, mypy and the test suite
# make wheel  package the demo's pipeline, install it beside the library in a fresh environment, and run it

PYTHON ?= python3
VENVS := .venv
OUTPUT := output
MODEL := $(OUTPUT)/crf_tagger/model-best
CORPUS := corpus/crf_tagger

.PHONY: demo test wheel clean check-python
.DELETE_ON_ERROR:

demo: $(VENVS)/demo/.installed
	$(VENVS)/demo/bin/python -m spacy train configs/crf_tagger.cfg --output $(OUTPUT)/crf_tagger
	@$(VENVS)/demo/bin/python -m spacy crf score $(MODEL) $(CORPUS)/dev.conllu --baseline $(CORPUS)/train.conllu
	@$(VENVS)/demo/bin/python -m spacy crf tag $(MODEL) \
		"The boats that left before dawn were back by noon." \
		"Can you mail the can opener back to Doreen in Whitby?" \
		"She may well visit us in May."
	$(VENVS)/demo/bin/python -m spacy train configs/set_valued_tagger.cfg --output $(OUTPUT)/set_valued_tagger
	@$(VENVS)/demo/bin/python -m spacy crf sets $(OUTPUT)/set_valued_tagger/model-best corpus/set_valued_tagger/dev \
		--train corpus/set_valued_tagger/train --format tagsets
	$(VENVS)/demo/bin/python -m spacy train configs/constrained_ner.cfg --output $(OUTPUT)/constrained_ner
	@$(VENVS)/demo/bin/python -c "import spacy; \
		nlp = spacy.load('$(OUTPUT)/constrained_ner/model-best'); \
		nlp.get_pipe('constrained_ner').cfg['changes'] = 'constraint_changes'; \
		doc = nlp('Ferreira, Tomás, and Edith Crane. The Kitchen Sonnet. Tollgate Press 2003.'); \
		print(doc.text, *(f'  {ent.label_:10} {ent}' for ent in doc.ents), 'Repaired:', sep='\n'); \
		print(*(f\"  {doc[c['token']]}: {c['from']} -> {c['to']}, because of {c['because'][0][0]}\" for c in doc._.constraint_changes), sep='\n')"
	$(VENVS)/demo/bin/python -m spacy train configs/section_parser.cfg --output $(OUTPUT)/section_parser
	@printf '1. Scope\nAll ferries.\n\n2. Term\n3.1 One year.\n3.2 No more.\n' > $(OUTPUT)/ferry.txt
	@$(VENVS)/demo/bin/python -m spacy crf sections $(OUTPUT)/ferry.txt
	$(VENVS)/demo/bin/python -m spacy train configs/punctuation_restorer.cfg --output $(OUTPUT)/punctuation_restorer
	@echo "dear tom thank you for your letter how is your sister" | \
		$(VENVS)/demo/bin/python -m spacy crf punctuate $(OUTPUT)/punctuation_restorer/model-best -
	@echo "The model is in $(MODEL). Your own texts:"
	@echo "    $(VENVS)/demo/bin/python -m spacy crf tag $(MODEL) \"Your sentence.\""
	@echo "Your own data (.spacy, CoNLL-U or CoNLL columns):"
	@echo "    $(VENVS)/demo/bin/python -m spacy train configs/crf_tagger.cfg --paths.train F --paths.dev F --output DIR"

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
