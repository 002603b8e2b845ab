"""Messages of experiments, search, baselines and commands."""

from ..core.errors import Messages


class LabErrors(metaclass=Messages):
    """Messages of exceptions."""

    CRF420 = (
        "Component {name!r} has learned nothing yet: no token with a gold label has come. Train it, or load it from "
        "disk."
    )
    CRF421 = (
        "Component {name!r} has learned already and cannot take the new label {label!r}. Call nlp.initialize() with "
        "examples or labels that show all of them, and train again."
    )
    CRF422 = (
        "The template {template} makes transitions depend on the text, which a maximum-entropy Markov model cannot: it "
        "learns one weight for each pair of labels. Leave the prefix B: out, or take crf_tagger."
    )
    CRF423 = (
        "Component {name!r} at {path} was trained with {actual} labels, but its labels are {expected}. The folder is "
        "made of parts that do not belong together."
    )
    CRF424 = (
        "The template {template} asks for the valid tags of words, which memm_tagger does not know: it has no tag "
        "dictionary. Leave the template out, or take crf_tagger."
    )
    CRF550 = (
        "The corpus {name} has an augmenter, whose copies of a document would fall into other folds. Set it to null "
        "for cross-validation and experiments."
    )
    CRF551 = (
        '{folds} folds cannot be made of {found} documents. Ask for fewer, or set `group` of the corpus to "sentence", '
        "so that each sentence is a document."
    )
    CRF488 = (
        "{text!r} on the command line is not UTF-8. Put the text into a file in UTF-8 and give that, or use a terminal "
        "whose language setting is UTF-8."
    )
    CRF601 = "The name of the output file '{path}' must end in .spacy, or spaCy will not read it."
    CRF602 = "The pipeline has no {kind}{called}. Its components: {known}."
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
    CRF608 = (
        "The pipeline {path} cannot be loaded: {error}. If saving was broken off there, take another copy, such as "
        "model-best beside model-last, or train again."
    )
    CRF886 = "{name!r} is a package without a pipeline. Give the folder of a pipeline, or the name of its package."
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
    CRF684 = (
        "{folder} has the output of another run: {other} were different. Repeat the command as it was to go on, or "
        "give another folder."
    )
    CRF685 = (
        "The input of {file} in {folder} has changed since that was made, or files have come or gone. Give another "
        "folder for the output."
    )
    CRF686 = (
        "{path}, line {line}: {problem} Correct it and repeat the command, which goes on there, or leave out "
        "--on-error raise."
    )
    CRF687 = (
        "A process that annotates was ended from outside, as where memory runs out. Repeat the command: it goes on "
        "where it was. Fewer --processes, or a smaller --part-size with another folder, need less memory."
    )
    CRF888 = (
        "A process of the experiment was ended from outside, as where memory runs out. Repeat the command with fewer "
        "--jobs."
    )
    CRF699 = (
        "The pipeline {path} has changed since the command began, or is another one where a worker runs. Repeat the "
        "command with another folder for the output, and with the same pipeline on all machines."
    )
    CRF590 = (
        "Component {name!r} labels single tokens (target {target!r}), so that there are no sets of spans to promise "
        "anything of. For sets of tags, add a set_valued_tagger with source = {name!r} behind it."
    )
    CRF591 = (
        "Component {name!r} labels spans, which cannot be promised by --unit {unit} and --loss {loss}. Give --unit "
        "document or sentence, and --loss share or any."
    )
    CRF690 = (
        "Component {name!r} labels no tokens with a chain of its own, so that nothing is known of what it is uncertain "
        "of. Name a crf_tagger or a set_valued_tagger with --component, or choose another --kind."
    )
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
    CRF631 = "{path} is not a space of settings: {problem}. See `spacy_crf.lab.space` for what such a file holds."
    CRF632 = "The config has no setting {key!r} that could be searched. Correct the dotted key in the space."
    CRF881 = (
        "Component {name!r} is taken from {source}, with the settings that it has there: {setting!r} would have no "
        "effect. Give it a factory and its settings in place of `source`, and the folder of what it has learned as "
        "`start` in [initialize.components.{name}]; or name another component."
    )
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
    CRF639 = "{setting} goes with {owner} only. Give that too, or leave it out."
    CRF637 = "Trial {number} failed, and none before it succeeded: {error}"
    CRFW692 = (
        "Folds without {score} in some trials are left out for all: {folds}. They have no gold to judge, or no "
        "entities, gold or found. Give more documents with gold, or fewer folds."
    )
    CRF693 = (
        "Trials cannot be compared by {score}: each of the folds {folds} has nothing to judge in some trial, such as "
        "entities, gold or found. Give more documents with gold, or fewer folds."
    )
    CRF654 = (
        "The scorer of component {name!r} does not tell {score}, which penalties are chosen by. It tells: {known}. "
        "Take the scorer that the component has by default."
    )
    CRF484 = (
        "{name!r} cannot be tuned by {score}: less than two folds have something to judge, such as entities, gold or "
        "found. Give more documents with gold, or fewer folds."
    )
    CRFW485 = (
        "Folds without {score} under some penalties are left out for all: {folds}. They have no gold to judge, or no "
        "entities, gold or found. Give {name!r} more documents with gold, or fewer folds."
    )
    CRF655 = "{value!r} is no setting with a value. Write it as components.crf_tagger.decode=posterior."
    CRF656 = "{path} has too few words for classes. Give more text, or a smaller --min-count."
    CRF657 = "{path}, line {line}: a word and {width} numbers are expected, with single spaces between them."
    CRF658 = "The pipeline {name!r} has no vectors of words. Give one that has, or raw text."
    CRF659 = (
        "Component {name!r} has counted document {document!r} with other gold, which cannot be taken back. Call "
        "nlp.initialize() and train again, with the gold as it is now."
    )
    CRF670 = "{path} is not the folder of a pipeline: it has no meta.json. Name one, such as output/model-best."
    CRF671 = (
        "{path} is not a card of a pipeline: {problem}. It has the texts name (of the letters a to z, digits and _), "
        "description, license, use and limits, [[sources]] with name, and if wanted author, url, command, version, "
        "such as 1.0.2, and [scores]."
    )
    CRF672 = (
        "The results have no score {name!r}, which the card names. Name those that crf evaluate writes below `scores`, "
        "or give other --results."
    )
    CRF695 = (
        "{path} is in {folder}, which would be written anew, and be lost with it. Copy it to another place, or give "
        "another folder for the package."
    )
    CRF609 = (
        "The folder {output} for the package is in that of the pipeline, {model}, which is copied into it. Give "
        "another folder."
    )
    CRF679 = "{path} is a folder: give the name of a file that can be written."
    CRFW680 = (
        "Config {config}: {count} of {all} test parts are left out of the means, as they have no score at all: "
        "{tests}. They have no gold to judge, or no entities, gold or found. Take such documents out, or test larger "
        "parts."
    )
    CRFW691 = (
        "Configs {first} and {second}: {count} of {all} test parts are left out where they are compared in {scores}, "
        "which one of the two lacks there: {tests}. They have no gold of that kind, and the other one found some. Take "
        "such documents out, or test larger parts."
    )
    CRFW696 = (
        "{path} holds what the pipeline was trained on, by its config ({trained}). It is surer of that than of other "
        "texts: there, promised sets miss more often, and fitted probabilities are too high. Give data that training "
        "has not seen."
    )
    CRFW694 = (
        "The figures of {path} are of a model of {theirs} bytes, but {model} has {ours}: they are of another one, or "
        "of this one before it was trained again. Make them anew with crf evaluate."
    )
    CRFW981 = "{old} is called {new} now. The old name still works; it will go with version 1.0."
    CRF673 = "{path} has no figures. Give a file that crf evaluate or crf experiment wrote with --output."
    CRF647 = "There are {exponents} exponents for {models} models. Give one for each, or none for equal shares."
    CRF653 = "There is no config {name!r}. Those that come with the library, near names first: {known}."
    CRF652 = "{path} is there already. Give another path, or --force to replace it."
    CRF668 = "Entities, spans and tags can count as others; the component labels {target!r}. Leave --labels out."
    CRF669 = "{path}, line {line}: {text!r} is not two labels with a tab between them. Write `JOURNAL<TAB>CONTAINER`."
    CRF834 = "A hidden Markov model of order {order!r} is not known. Give 2 (pairs of labels) or 3 (triples of labels)."
    CRF835 = (
        "The features have {found} columns, but the maximum-entropy Markov model was trained on {expected}. Use the "
        "feature index of its training."
    )
    CRF836 = "Lengths of sequences sum to {lengths}, but there are {rows} rows of {name}. Give one row for each unit."
    CRF987 = (
        "The config {name!r} cannot be written for the target {target!r}, which it does not go with. Take another "
        "config (crf_tagger has all targets), or another target."
    )
    CRF988 = "The option {option} is not for a {kind}, which the component {name!r} is. Leave it out."
