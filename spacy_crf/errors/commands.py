"""Messages of the command line (6xx)."""


class CommandErrors:
    CRF601 = "The name of the output file '{path}' must end in .spacy, or spaCy will not read it."
    CRF602 = "The pipeline has no {kind} called {name!r}. Its components: {known}."
    CRF603 = (
        "{folds} folds cannot be made of {found} {kind} with gold. Give at least 2 folds, and as many {kind} as folds; "
        'with unit "sequence", the sequences of a document may fall into different ones.'
    )
    CRF604 = (
        "Component {name!r} is trained by {trainer}, which has no c1 and c2 to choose. Give it the trainer "
        "spacy_crf.LBFGS.v1."
    )
    CRF605 = "{name} is {value!r}. Give one or more numbers of at least 0, such as 0,0.1,1 on the command line."
    CRF606 = (
        "Component {name!r} sees what {annotating!r} writes, which is trained along with it: folds would differ in its "
        "input. Freeze it (training.frozen_components), or take it out of training.annotating_components."
    )
    CRF607 = "{name} takes whole numbers separated by commas, such as 4,8; got {value!r}."
    CRF610 = (
        "{folds} folds cannot be made of {found} {kind}. Give at least 2 folds, and no more than there are {kind}; a "
        "corpus of few documents can be divided by sentence or chunk."
    )
    CRF611 = "{name} is {value!r}: give a share between 0 and 1."
    CRF612 = (
        "No {kind} can be set aside for a test: each part has a single one. Give a corpus with more, or divide it "
        "otherwise: by document, sentence or chunk."
    )
    CRF613 = (
        "Experiment {kind!r} cannot be run by {by!r}: in-domain, robustness, across and shuffling divide documents "
        "(by sentence or chunk), size and pruning keep them whole (by document)."
    )
    CRF614 = (
        "No document can be tested: none has {least} tokens and a part to test; the largest has {largest}. Give a "
        "smaller --least-tokens."
    )
    CRF615 = "Experiment {kind!r} draws nothing at random, so that repeats would all be the same: give --repeats 1."
    CRF616 = (
        "Document {document!r} cannot be divided: the pipeline sees other tokens than its gold has. Take the tokens "
        "of the file (retokenize = false in the corpus), or split by document."
    )
    CRF617 = "The corpus has no document with a token, so there is nothing to split."
    CRF618 = "The alternative of a test is {value!r}; known are: {known}."
    CRF619 = "The test needs at least 2 differences, but there are {found}: give more folds or repeats."
    CRF620 = "There is no document with tokens to draw from."
    CRF621 = "Config {config}: no component {name!r} has a scorer, so nothing can be measured. With a scorer: {known}."
    CRF622 = "Config {config}, split {split!r}: {reason}"
    CRF623 = (
        "Component {name!r} has no score on test part {test!r}: does the corpus have gold for it? Scores that are not "
        "numbers are left out."
    )
    CRF624 = (
        "With the dev corpus among the documents that are split, checkpoints have to be chosen by another part: give "
        "a --dev-share above 0."
    )
    CRF625 = "Split {split!r} has nothing to train on. Give another --least-tokens, or more documents."
    CRF626 = (
        "Configs {first} and {other} do not read the same documents, so that their scores cannot be paired: "
        "{counts} against {others}."
    )
    CRF627 = "Curves are drawn by matplotlib, which is not installed: pip install 'spacy_crf[plots]', or drop --plots."
    CRF630 = "The search is made by Optuna, which is not installed. Install it: pip install 'spacy_crf[search]'."
    CRF631 = (
        "{path} is not a space of settings: {problem}. See `spacy_crf.lab.search.space` for what such a file holds."
    )
    CRF632 = "The config has no setting {key!r} that could be searched. Correct the dotted key in the space."
    CRF633 = (
        "There is no score {name!r} to search by. The pipeline gives: {known}. Name one of these with --score, or none "
        "for the weighted score of spacy train."
    )
    CRF634 = (
        "The search in {path} cannot be gone on with: {problem}. Take it up with what it was begun with, or give "
        "another file."
    )
    CRF635 = (
        "The space has templates, but there is no component {name!r} with a block `features` to put them into. "
        "Components that have one: {known}."
    )
    CRF636 = "{name} is {value!r}. Give a number of at least {least}."
    CRF637 = "Trial {number} failed, and none before it succeeded: {error}"
    CRF638 = "No token of the documents has a gold tag, so that nothing can be measured. Give documents with gold."
    CRF639 = "{setting} goes with {owner} only. Give that too, or leave it out."
    CRF640 = "{path} is not UTF-8: byte {value:#04x} at position {position}. Convert it, e.g. with iconv -t UTF-8."
    CRF641 = "{path} has no reference: it is empty, or has headings only. Give a file with a bibliography."
    CRF642 = "BibTeX is read by pybtex, which is not installed. Install it: pip install 'spacy_crf[bibtex]'."
    CRF643 = "The text is not BibTeX: {error}"
    CRF644 = "The text is not CSL-JSON, a list of items with ids and types: {error}"
    CRF645 = (
        "No field was found in reference {number} ({lines}), which was left out: {text!r}. Is it a reference, and was "
        "the model trained on such ones?"
    )
    CRF646 = (
        "No field was found in any of the {count} references. Is {model} a model for references? Its labels: {labels}."
    )
    CRF647 = "There are {exponents} exponents for {models} models. Give one for each, or none for equal shares."
    CRF648 = (
        "{name!r} cannot be pooled with the others: {problem}. Pool components of one kind with the same labels, "
        "trained on the same data with the same classes and lists."
    )
