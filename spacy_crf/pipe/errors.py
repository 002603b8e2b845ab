"""Messages of what all components share."""

from ..core.errors import Messages


class PipeErrors(metaclass=Messages):
    """Messages of exceptions."""

    CRF206 = (
        "'{name}' has a tok2vec layer, which {trainer} cannot train: it wants gradients batch by batch. Use the "
        "trainer spacy_crf.AdaGrad.v1 or spacy_crf.Minibatch.v1, or take tok2vec out of the component's model block."
    )
    CRF209 = (
        "'{name}' has a tok2vec layer, whose optimizer spaCy does not save, so its training cannot be resumed. Set "
        "resumable = false in the trainer block, or take tok2vec out of the model block."
    )
    CRF401 = (
        "Component {name!r} has no labels yet. Train it, load it from disk, or call nlp.initialize() with examples "
        "or labels."
    )
    CRF402 = (
        "Component {name!r} found no labels in the training data: no document has {annotation}. Check {target}that the "
        "corpus holds this annotation, or give `labels` in [initialize.components]."
    )
    CRF403 = (
        "Label {label!r} of document {document!r} is not among the labels of component {name!r}. Initialize with "
        "data that shows all labels, or list them in [initialize.components.{name}.labels]: `spacy init labels` "
        "writes such a list. One that is trained further (`source`) takes no list: call its add_label before, or train "
        "a new one whose [initialize] block has the saved one as `start`."
    )
    CRF404 = (
        "Component {name!r} cannot be loaded from {path}: {error}. The folder is incomplete, damaged, or "
        "written by something else: take another copy, such as model-best beside model-last."
    )
    CRF405 = "Component {name!r} at {path} has format {found!r}; this version of spacy_crf reads {expected!r}."
    CRF406 = (
        "Component {name!r} was trained with templates {theirs}, but its config asks for {ours}. Features cannot be "
        "changed after training."
    )
    CRF407 = "Component {name!r} cannot work on document {document!r}: {error}"
    CRF408 = "Component {name!r}: setting {setting!r} is {value!r}; it must be {expected}."
    CRF409 = "Labels of component {name!r} must be strings that are not empty, got {label!r}."
    CRF410 = "Component {name!r}: `forbidden` names the tag {tag!r}, which does not exist. Tags: {tags}."
    CRF411 = (
        "Component {name!r}: document {document!r} has the gold tag {after!r} after {before!r}, which `scheme` "
        "({scheme!r}) or `forbidden` rules out. Correct the annotation, or allow the pair."
    )
    CRF412 = (
        "Component {name!r} has {actual} tags, but its labels and settings make {expected}. Give `target` and "
        "`scheme` the values that it was trained with."
    )
    CRF413 = "Component {name!r}: {label!r} is not a universal part of speech, so it cannot be written to token.pos."
    CRF414 = (
        "Component {name!r} cannot be stored in half precision: it has a weight of {value:g}, and 65504 is the "
        'greatest that fits. Set precision = "float32" in its model block, or train with a greater c2.'
    )
    CRF415 = (
        "The setting 'guarantee' of component {name!r} cannot be used ({value}). Have it made on held-out data: "
        "`python -m spacy crf guarantee MODEL FILE --output DIR`."
    )
    CRF416 = (
        "Component {name!r} takes its probabilities from {source!r}, which is not among the components before it: "
        "{known}. Correct its setting 'source', or the order of the pipeline."
    )
    CRF417 = (
        "Component {name!r} takes its probabilities from {source!r}, which has to give a row of label scores for each "
        "token, as taggers do. What came of asking for it: {found}. Take a tagger as source."
    )
    CRF418 = (
        "Component {name!r} cannot begin with {path}: that has learned {actual} tags for the target {theirs!r}, where "
        "this one has {expected} for {ours!r}. Give the folder of a trained component with the same target and scheme."
    )
    CRF419 = (
        "Component {name!r} cannot go on with the training that was saved in {path}: {differing}. Use the settings and "
        "labels of that training, or set resumable = false in the trainer block to begin a new run with its weights."
    )
    CRF425 = (
        "Component {name!r} cannot be loaded from {path}: {file} is not in {list}, or that list is damaged. Files of "
        "two savings are mixed, or saving was broken off: take another copy, such as model-best beside model-last."
    )
    CRF426 = (
        "Component {name!r} cannot be loaded from {path}: {file} is not as it was written. It is damaged, or saving "
        "was broken off: take another copy, such as model-best beside model-last. If you have edited it on purpose, "
        "write null in place of its checksum in {list}."
    )
    CRF427 = (
        "Component {name!r} cannot be written to {path}: {error}. Make room there, or save to a folder that can be "
        "written to. What was saved before is left alone."
    )
    CRF428 = (
        "Component {name!r} cannot be loaded from {path}: {list} is missing, which is written last. Saving was broken "
        "off: take another copy, such as model-best beside model-last."
    )
    CRF429 = (
        "Component {name!r} cannot be stored: it has a weight that is no number, or beyond 1e9. Its training diverged: "
        "train again, with a smaller learning rate or a greater c2."
    )
    CRF430 = (
        "Component {name!r}: templates ask for VALID_TAGS if and only if there is a dictionary with use = 'feature' or "
        "'both'. Templates that do: {templates}. Add a `dictionary` block or such a template, or remove the other."
    )
    CRF431 = (
        "Component {name!r} found no gold tags to make a tag dictionary from. Initialize with training data, or give "
        "the `path` of a table in the block `dictionary`."
    )
    CRF432 = (
        "The tag dictionary of component {where}: {tag!r} is not among the tags. Nearest: {near}. Correct it, or give "
        "training data that shows it."
    )
    CRF433 = (
        "Component {name!r} was trained without a tag dictionary, but its config has the block `dictionary`. Remove "
        "it, or train again."
    )
    CRF435 = (
        "Component {name!r}: a model of order 2 is learned by spacy_crf.LBFGS.v1, not by {trainer}. Change the "
        "trainer, or set order = 1 in the model block."
    )
    CRF438 = (
        "Component {name!r} at {path} was trained with {setting} = {theirs} in its model block, but the config has "
        "{ours}. Set it back to {theirs}, or train again."
    )
    CRF439 = (
        "Component {name!r}: the dictionary looks words up as {value!r}, but the features have no `spelling` block. "
        "Add one, or look words up by their form."
    )
    CRF450 = (
        "A pool was asked for of {pipelines} pipelines, {names} names of components and the exponents {exponents}. "
        "Give at least one pipeline, and for each a name and a finite exponent."
    )
    CRF451 = (
        "Component {name!r} cannot count its training data into the tag dictionary that it starts with: {setting} "
        "is {theirs!r} there, {value!r} here. Give the block `dictionary` the same, or begin without `start`."
    )
    CRF454 = (
        "Component {name!r} would ask the component {source!r} of a pipeline with another vocabulary than the document "
        "has. If {name!r} was taken from another pipeline, add one with its settings to this pipeline instead: "
        "nlp.add_pipe(FACTORY, name={name!r}, config=...). If another pipeline made the document, as it does in `spacy "
        "find-threshold`, take Doc(nlp.vocab).from_bytes(doc.to_bytes()); for that command, name {name!r} in [nlp] "
        "disabled."
    )
    CRF455 = (
        "Component {name!r}: the tag dictionary that it starts with looks words up as {look_up!r}, but the {part} of "
        "the block `spelling` are others there. Give that block the same, or begin without `start`."
    )
    CRF459 = (
        "Span {span!r} of document {document!r} has the label {label!r}, of which component {name!r} knows nothing. "
        "Give it one of these: {known}."
    )
    CRF470 = (
        "Component {name!r} has no probabilities of its own that a temperature could change{source}. Calibrate a "
        "component of this library that was trained."
    )
    CRF471 = (
        "Component {name!r} is of order 2 and gets texts whose punctuation is context: it cannot find the most "
        "probable labelling of the other tokens alone. Set decode = 'posterior', or order = 1 in the model block."
    )
    CRF648 = (
        "{name!r} cannot be pooled with the others: {problem}. Pool components of one kind with the same labels, "
        "trained on the same data with the same classes and lists."
    )
    CRF742 = (
        "Component {name!r} labels other units than tokens: they are neither explained nor reviewed token by token. "
        "`spacy_crf.inspect` shows its weights."
    )
    CRF741 = "There is no token {token} to explain: the document has {count} tokens, numbered from 0."
    CRF831 = "There is nothing to learn from: no unit has a gold label. Give sequences with known gold."
    CRF832 = "The sequences have {words} words, but gold has {units} units. Give one label (or -1) for each word."
    CRF833 = "The setting {name} is {value!r}; give a finite number of at least 0."
    CRF840 = "The setting {name} of the tag dictionary is {value!r}; it must be {expected}."
    CRF841 = (
        "Tag dictionary {path}, line {line}: {text!r} is not 'word<TAB>tag<TAB>count', with a count above 0 or none."
    )
    CRF842 = "The tag dictionary {path} cannot be read: {error}."
    CRF843 = (
        "The word {word!r} of the tag dictionary, or its tag {tag!r}, has a tab or a line break in it, which a table "
        "cannot hold."
    )
    CRF474 = (
        "Component {name!r} tags texts that are split into words, but text {number} is {found}. Give a list of strings "
        "for each text, such as text.split()."
    )
    CRF592 = (
        "Component {name!r} cannot tag words alone: it reads annotation, or vectors, that other components give. Make "
        "Docs of the words, and have the pipeline tag these."
    )


class PipeWarnings(metaclass=Messages):
    """Messages of warnings."""

    CRFW402 = (
        "Component {name!r}: document {document!r} has gold spans that overlap. A chain holds one span per token, so "
        "their tokens count as unknown. Give the component a group of spans without overlaps."
    )
    CRFW403 = (
        "Component {name!r}: {what} is made of probabilities, but its trainer {trainer} learns scores that are none, "
        "and far too sure as such. Fit a temperature with `python -m spacy crf calibrate MODEL DEV --output DIR`, or "
        "take the trainer spacy_crf.AdaGrad.v1 or spacy_crf.LBFGS.v1."
    )
    CRFW404 = (
        "Component {name!r}: the template {template!r} reads {attribute}, which no document of the first batch has, so "
        "that nothing is learned about it. Put a component that sets it before this one and name it in [training] "
        "annotating_components, let the reader pass it on (`input` of spacy_crf.Corpus.v1), or remove the template "
        "from the setting features.templates."
    )
    CRFW405 = (
        "Component {name!r} begins a new run of training with the weights in {path}, as nothing is saved there that it "
        "could go on with. Only a component that was saved while it was trained with resumable = true has that."
    )
    CRFW406 = (
        "Component {name!r} writes doc._.{attribute}, as {other!r} before it does: what the later one writes stays, "
        "and is what both are judged by. {remedy}"
    )
    CRFW407 = (
        "Component {name!r}: the template {template!r} reads {attribute}, which no document of the first batch has, so "
        "that what was learned about it is of no use and labels are worse. Put the component that sets it before this "
        "one, or give documents that have it."
    )
    CRFW408 = (
        "Component {name!r} is saved with {asked}, but nothing was fitted to its weights: temperature is 1 then, "
        "threshold 0.2. `spacy train` fits them where [training.before_to_disk] is a block with @callbacks = "
        '"spacy_crf.calibrate.v1". Name that callback, fit a temperature with `python -m spacy crf calibrate MODEL DEV '
        "--output DIR`, or set numbers."
    )
    CRFW409 = (
        "Component {name!r}: the dev corpus has only {found} tokens with a gold label that it knows, too few to fit a "
        "temperature to; that takes {few}. It is 1 for now. Give a larger dev corpus, or set a number."
    )
    CRFW411 = (
        "Component {name!r} is loaded with settings that were saved with it, in place of others: {changes}. If you "
        "want others, assign them through `cfg`. The config.cfg that `nlp.to_disk` writes says what holds."
    )
    CRFW415 = (
        "Component {name!r}: with max_epochs = -1, spaCy shows it the first 100 examples before training, and it fits "
        "to these alone: {fitted}. Set max_epochs = 0, or begin with the `start` of a component that has seen more; "
        "labels may be those of `spacy init labels`, a spelling and a dictionary may be tables."
    )
    CRFW416 = (
        "Component {name!r} was initialised with texts of {first}, but learns now from texts of {now}. It goes on to "
        "treat all texts as the first ones, so that it does not do what these teach. Prepare them alike (`text` of "
        "spacy_crf.Corpus.v1), or begin a new component with these and the `start` of this one."
    )
    CRFW417 = (
        "Component {name!r} is trained further, but its temperature stays {temperature:g}, which may have been fitted "
        "to the weights before. Run `python -m spacy crf calibrate` again, or set temperature = 1 or 'auto'."
    )
    CRFW418 = (
        "Component {name!r} begins with what is saved in {path}, but without its weights that the setting {setting} of "
        "the model block is for. Set it as it was there, to begin with all of them."
    )
    CRFW419 = (
        "Components {other!r} and {name!r} have scores of the same name, {scores}, by which models are chosen: that of "
        "{name!r} alone counts. Give weights to others in [training.score_weights], such as tag_acc and pos_acc, and 0 "
        "to this one."
    )
    CRFW420 = (
        "Component {name!r}: document {document!r} has gold spans that cross from one sentence into the next. It "
        "labels each sentence by itself, so that it cannot find such spans, and their tokens count as unknown. Correct "
        'the sentences, or set sequence = "doc".'
    )
    CRFW421 = (
        "Component {name!r} learns token.{target}, which {other!r} before it sets, and leaves what is there: tags and "
        "scores will be those of {other!r}. Set overwrite = true, or take {other!r} out of the pipeline."
    )
    CRFW430 = (
        "Component {name!r}: the tag dictionary leaves no sequence of tags for document {document!r}, as the scheme or "
        "`forbidden` rules out what it allows. There, and in others like it, any tag may be given to any word. Add "
        "`rules` to the dictionary, or raise its min_count."
    )
    CRFW432 = (
        "Component {name!r} has learned from texts without punctuation, but document {document!r} has some: it gets no "
        "labels, and words beside it are harder to label. Leave punctuation out, as the commands of this library do "
        "with what they read for this component."
    )
    CRFW440 = (
        "Component {name!r}: document {document!r} has gold spans of one label without a token between them. With "
        "scheme = 'none' they are one span. Take the scheme 'BIO' if they are to be told apart."
    )
    CRFW448 = (
        "Component {name!r} chooses sets by a promise that was made with other weights, labels or settings, such as "
        "another temperature, so that it may not hold. Make it anew: `python -m spacy crf guarantee MODEL FILE "
        "--output DIR`."
    )
    CRFW468 = (
        "Component {name!r} learns, and is judged by, one gold tag of each token: of {count} tokens with several, such "
        "as {tags} in document {document!r}, the best one, or the first of equal ones. A set_valued_tagger takes all."
    )
    CRFW771 = (
        "`spacy train` scores the model only once, after its first update, and keeps that model: [training] {reason} "
        "ends it after {updates} updates, and eval_frequency is {frequency}. Set eval_frequency to 1, or to a number "
        "well below {updates}."
    )
    CRFW479 = (
        "Component {name!r} was trained with {setting} = {theirs!r} in its features block. The config has {ours!r}, "
        "which has no effect on what was learned. Train again, or set it back."
    )
    CRFW887 = (
        "Component {name!r}: the setting {setting} = {value!r} has no effect, as it goes with {owner}. Set that too, "
        "or leave it out."
    )
    CRFW681 = (
        "Component {name!r} gets another temperature, but keeps threshold = {threshold:.4g}, which was fitted at the "
        "one before. Set it to 'auto' and call `calibrate` with dev examples, or run `python -m spacy crf calibrate`, "
        "which fits both."
    )
