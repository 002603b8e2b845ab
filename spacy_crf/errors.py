"""All messages of the library, each with a code that can be searched for.

Codes are grouped by layer: 1xx core, 2xx learning, 3xx features, 4xx components, 5xx corpora and files,
6xx command line, 7xx estimator and importers, 8xx tag sets. Use `raise ValueError(Errors.CRF101.format(...))` and
`warnings.warn(Warnings.CRFW401)`.
"""


class _Coded(type):
    """Prefixes every message with its code."""

    def __getattribute__(cls, name: str) -> str:
        value: str = type.__getattribute__(cls, name)
        return value if name.startswith("_") else f"[{name}] {value}"


class Errors(metaclass=_Coded):
    # Core: shapes, numbers, paths
    CRF101 = "Expected {name} of shape {expected}, got {actual}."
    CRF102 = (
        "The {name} hold NaN or +inf. Look for feature values that are not finite numbers, or for weights "
        "of a training run that diverged."
    )
    CRF103 = (
        "No label sequence is allowed for sequence(s) {sequences}: the transition mask, the forbidden pairs "
        "or the given labels exclude every path."
    )
    CRF104 = "Gold weights must be finite and not negative."
    CRF105 = "Unit {unit} has a row of gold weights without a positive one: no label would be right."
    CRF106 = "Spans need a labelling scheme: set `scheme` to 'BIO' or 'BILUO'."
    CRF107 = "Unit {unit} has the gold label {label}. Give an index from 0 to {last}, or -1 if it is unknown."
    CRF108 = "{name} must be a whole number of at least {least}, got {value!r}."
    CRF109 = (
        "The given labels are impossible for sequence(s) {sequences}: with them, the transition mask or the forbidden "
        "pairs exclude every path. Correct them, or give fewer."
    )
    CRF110 = "The temperature must be a positive number, got {value!r}."
    CRF111 = "There is nothing to fit a temperature to: no unit has a gold label."

    # Learning
    CRF201 = (
        "Training diverged in iteration {iteration}: the objective is {value}. Look for feature values that are "
        "very large or not finite, or give a larger c2."
    )
    CRF202 = (
        "L-BFGS needs the same examples in every step, but this step has others. Either use the batcher "
        "spacy_crf.full_batch.v1 (in your own loop: pass all examples to each nlp.update), or the trainer "
        "spacy_crf.Minibatch.v1."
    )
    CRF203 = (
        "The same example came twice within one step of L-BFGS. Remove the duplicate, or call finish_update "
        "(nlp.update with an optimizer) after each pass over the examples."
    )
    CRF204 = "The training setting {name} is {value}; it must be {expected}."
    CRF206 = (
        "'{name}' has a tok2vec layer, which {trainer} cannot train: it wants gradients batch by batch. Use the "
        "trainer spacy_crf.AdaGrad.v1 or spacy_crf.Minibatch.v1, or take tok2vec out of the component's model block."
    )

    # Features
    CRF301 = "Templates have no attribute {attribute!r}. Nearest: {near}."
    CRF302 = (
        "Attribute {attribute!r} is spelt wrongly: PREFIX, SUFFIX, LPREFIX, LSUFFIX and POSITION need a number "
        "(SUFFIX3), the others take none."
    )
    CRF303 = "There is no template set {preset}. Known: {known}."
    CRF304 = (
        "Template {template!r} cannot be read at {part!r}. A template is one or more of NAME[offset] or "
        "NAME[first..last] joined by '|', with offsets of at most 100, after 'B:' for an edge template."
    )
    CRF305 = (
        "Template {template!r} asks for a word list {name!r} that the features do not have. Give its path in `lists`."
    )
    CRF306 = "Word list {name!r}: {path} line {line} is not 'word or phrase<TAB>value': {text!r}."
    CRF307 = "Word list {name!r} cannot be read from {path}: {error}."
    CRF308 = (
        "Extension {extension!r} has the value {value!r} at token {token} ({text!r}) of document {document!r}. "
        "Values must be strings, whole numbers, booleans, None, or finite floats."
    )
    CRF309 = "Template {template!r} needs the extension {extension!r}, which no component has registered on tokens."
    CRF310 = "The list of templates is empty: the tagger would see nothing of the text."
    CRF311 = (
        "Document {document!r} has no sentence boundaries, but `sequence` is 'sents'. Add a component that sets "
        "them, or use 'auto' or 'doc'."
    )
    CRF312 = "The setting max_features is {value}; give the number of buckets, or 0 to keep features apart."
    CRF313 = (
        "The features were made with {setting} = {theirs} in training, but the config has {ours}. This cannot be "
        "changed after training."
    )

    # Components
    CRF401 = (
        "Component {name!r} has no labels yet. Train it, load it from disk, or call nlp.initialize() with examples "
        "or labels."
    )
    CRF402 = (
        "Component {name!r} found no labels in the training data: no document has {annotation}. Check `target` "
        "(now {target!r}) and that the corpus holds this annotation, or give `labels` in [initialize.components]."
    )
    CRF403 = (
        "Label {label!r} of document {document!r} is not among the labels of component {name!r}. Initialize with "
        "data that shows all labels, or list them in [initialize.components.{name}.labels]: `spacy init labels` "
        "writes such a list."
    )
    CRF404 = (
        "Component {name!r} cannot be loaded from {path}: {error}. The folder is incomplete, damaged, or "
        "written by something else."
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
        "Component {name!r} takes its probabilities from {source!r}, whose model gave an array of shape {shape}, not a "
        "row of label scores for each token. Take a tagger as source."
    )
    CRF418 = (
        "Component {name!r} cannot begin with {path}: that has learned {actual} tags for the target {theirs!r}, where "
        "this one has {expected} for {ours!r}. Give the folder of a trained component with the same target and scheme."
    )

    # Corpora and files
    CRF501 = (
        "The setting 'path' of the corpus is null. Give a file or a folder, e.g. with --paths.train and "
        "--paths.dev on the command line."
    )
    CRF502 = "No such file or folder: '{path}'. Correct the setting 'path' (often paths.train or paths.dev)."
    CRF503 = (
        "Nothing to read in the folder '{path}'. Its files need one of these suffixes, each optionally "
        "followed by .gz: {suffixes}."
    )
    CRF504 = "{path}, line {line}: not UTF-8 ({reason}). Convert the file to UTF-8."
    CRF505 = "{path}: the gzip data is damaged or cut off ({reason}). Get the file again."
    CRF506 = (
        "{path}, line {line}: nothing says what the {width} columns are (format '{format}' is {known}). "
        'Name them with the setting \'columns\', e.g. ["word", "tag", "chunk"], or set \'format\' to '
        "'conll2000' (word, tag, chunk), 'conll2002' (word, tag, ner) or 'conll2003' (word, tag, chunk, "
        "ner)."
    )
    CRF507 = (
        "{path}, line {line}: found {found} columns instead of {expected}. Correct the line; for column "
        "files also see the settings 'columns' and 'separator'."
    )
    CRF508 = "Unknown name '{name}' in the setting '{setting}'. Use: {known}."
    CRF509 = (
        "The setting 'columns' ({columns}) must name 'word' once and no other name twice. Call columns "
        "that are to be skipped '_'."
    )
    CRF510 = (
        "The setting '{setting}' ({value}) does not go with the format '{format}'. Leave one of the two out; "
        "a separator has at least one character."
    )
    CRF511 = "{path}, line {line}: the word is empty. Fill it in or delete the line."
    CRF512 = (
        "{path}, line {line}: '{value}' in the column '{column}' is not an IOB or BILUO tag such as B-PER,"
        " I-PER, O. If these are labels of single tokens, call the column 'tag' in the setting 'columns'."
    )
    CRF513 = (
        "{path}, line {line}: '{value}' is not a universal part of speech such as NOUN. If these are tags "
        "of another kind, call the column 'tag' in the setting 'columns'."
    )
    CRF514 = (
        "{path}, line {line}: '{value}' are not morphological features. Write them as "
        "Name=Value|Name=Value, or '_' for none."
    )
    CRF515 = (
        "{path}, line {line}: malformed or misplaced id '{id}', expected {expected}. Words are numbered "
        "from 1 in each sentence, and a blank line ends a sentence."
    )
    CRF516 = "{path}, line {line}: malformed head '{head}'. Give a number from 0 to {last}, or '_' if it is unknown."
    CRF517 = (
        "{path}: not a readable .spacy file ({reason}). It is damaged, cut off or in another format; write"
        " it again or set 'format'."
    )
    CRF518 = (
        "The setting 'group' is {group!r}. Use 'auto', 'document', 'sentence' or a number of sentences of at least 1."
    )
    CRF519 = "{path}: the setting 'input' names '{kind}', but the file only has: {has}."
    CRF520 = "'{path}' holds no tokens at all. Correct the setting 'path' or fill the file."
    CRF521 = (
        "{path}, document {number}: cannot be split by group = {group!r}, as it has no sentence starts. "
        "Set 'group' to 'document', or store documents with sentence starts."
    )
    CRF522 = (
        "The custom token attribute '{name}' is already in use and computes its value, so a column cannot "
        "be written to it. Choose another name behind 'ext:'."
    )
    CRF523 = "Unknown format '{format}'. Use one of: {known}; or null to have it picked for each file."
    CRF524 = (
        "{path}, line {line}: the gold tag '{value}' cannot be read behind '{before}'. Write O, B-LABEL for the first "
        "token of a span, I-LABEL for the others, or nothing where the tag is unknown."
    )
    CRF525 = (
        "{path}, line {line}: not a sequence as `python -m spacy crf review` writes it ({reason}). Correct the line, "
        "or write the file again."
    )
    CRF526 = (
        "{path}, line {line}: nothing before says what was reviewed (a line '# target = ...'), or it is not what the "
        "sequences before were reviewed for. Keep the first lines of the file, and different reviews apart."
    )
    CRF527 = "{path}: no token has a gold tag. Fill in the field 'gold' where the tag is known."
    CRF530 = (
        "{where}: {cell!r} is not a set of tags, as {fault}. Write A, or A|B where the choice is open, or a weight "
        "behind each tag: A:1|B:1 where all are correct, A:0.66|B:0.33 with a sum of at most 1 where one is likelier."
    )
    CRF531 = (
        "The tag {tag!r} cannot be written. Tags are not empty, have no white space at the ends, and no '|', tab "
        "or line end anywhere: rename it."
    )
    CRF532 = "There are {found} sets of gold tags for {expected} tokens. Give one for each token, empty for no gold."
    CRF533 = "{path}, line {line}: malformed XML ({reason}). Correct the file, or export it again."
    CRF534 = (
        "{path}, line {line}: the file has a document type, whose entities could be expanded without end or read other "
        "files. Delete the DOCTYPE: CorA-XML does not need it."
    )
    CRF535 = "{path}, line {line}: the element <{element}> has no attribute 'utf' with the word. Fill it in."
    CRF536 = (
        "{path}: no token has an element <{element}> to take the tag from. Name another one in the setting 'tag'; the "
        "file has: {known}."
    )
    CRF537 = "{path}: there are no tokens (<anno>, <tok_anno> or <mod>). Is this a CorA-XML file?"
    CRF538 = (
        "{path}, line 1: this is not a WebAnno TSV file of version 3. Export it from INCEpTION as 'WebAnno TSV v3.3'."
    )
    CRF539 = "{path}: there is no span layer {layer!r} with a feature {feature!r}. The file has: {known}."
    CRF540 = (
        "{path}, line {line}: {problem}. Correct the line, or export the file again: a sentence is a line '#Text=' and "
        "one row for each token, with its number, its offsets, the word and the columns of all layers."
    )
    CRF541 = (
        "Token {token} ({text!r}) of document {document!r} has a tab or a line end, which a TSV file cannot hold. "
        "Split the token there."
    )
    CRF545 = "{path}, line {line}: not 'form<TAB>normal form': {text!r}. Correct the line or delete it."
    CRF546 = "{path}, line {line}: the form {form!r} comes a second time. Keep one of the lines."
    CRF547 = (
        "The form {form!r} is the normal form of {variant!r}, but has a normal form of its own ({normal!r}). Give both "
        "the same one."
    )
    CRF548 = "The spelling table {path} cannot be read: {error}."
    CRF549 = "The setting {name} is {value!r}; it must be {expected}."

    # Command line
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

    # Estimator and importers
    CRF701 = (
        "Sequence {sequence}, item {item}: {problem}. An item is a dict of strings, numbers, booleans or nested dicts "
        "and lists, a list of strings, or a list of (string, number) pairs."
    )
    CRF702 = "Sequence {sequence} has {found} labels for {expected} items. Give one label for each item."
    CRF703 = "Labels must be strings, but sequence {sequence} has {label!r}."
    CRF704 = "X has {n_items} sequences and y has {n_labels}. Give one list of labels for each sequence."
    CRF705 = "There is nothing to learn from: X has no items."
    CRF706 = "X_dev and y_dev belong together: give both, or neither."
    CRF707 = "This CRF is not fitted yet. Call fit, or CRF.from_crfsuite for a model that CRFsuite has trained."
    CRF708 = "There is no algorithm {algorithm!r}. Use one of: {known}."
    CRF709 = "The parameter {name} has no meaning for algorithm={algorithm!r}; only {owners} read it. Leave it out."
    CRF710 = "The parameter {name} is {value!r}; it must be {expected}."
    CRF711 = "The parameter {name} = {value!r} cannot be honoured: {reason}."
    CRF712 = "CRF has no parameter {name!r}. Its parameters: {known}."
    CRF721 = "{path} is not a complete model of CRFsuite: {problem}. Get or write the file again."
    CRF722 = "{template!r} cannot be spelt as attribute strings. Give state templates one by one, without ranges."
    CRF723 = (
        "The spelling {form!r} of the template {template!r} has {found} gaps {{}}, but the template has {expected} "
        "values. Flags such as BOS or IS_TITLE are spelt without a gap."
    )
    CRF724 = (
        "{count} attributes are spelt by no template, for example {examples}. Give a template and its spelling for "
        "each kind of attribute, or use the model in spacy_crf.estimator.CRF."
    )
    CRF725 = "The target {target!r} cannot have the labels {labels}. Choose another `target` or `scheme`."
    CRF731 = "{path}, line {line}: this CRF++ template has no counterpart: {problem}. The line: {text!r}."
    CRF741 = "There is no token {token} to explain: the document has {count} tokens, numbered from 0."

    # Prediction sets
    CRF801 = "There is no utility {name!r}. Use one of: {known}; or `table_utility` for your own."
    CRF802 = "The setting {setting} of the utility {name!r} is {value!r}; it must be {expected}."
    CRF803 = (
        "The utility {name!r} has {found} values, but sets may have up to {expected} members. Give all from g(1) to "
        "g({expected})."
    )
    CRF804 = (
        "The utility {name!r} is {value} for sets of {size}. Utilities must be finite and not negative: a set that is "
        "worth less than nothing would be better the less probable it is."
    )
    CRF805 = (
        "Unit {unit} has {name} that are no distribution: least {least}, sum {total}. Give probabilities that sum "
        "to 1, such as node marginals or a softmax."
    )
    CRF806 = "The level is {value!r}; it must be {expected}."
    CRF807 = "An exact search over all sets is for at most {most} labels, got {found}. Leave out improbable labels."
    CRF808 = "Tag tree: no coarse tag is given for {labels}. Put every label under one."
    CRF809 = "Tag tree: {tag!r} is above itself ({path}). Remove one of these links."
    CRF810 = "Tag tree: {child!r} is under both {first!r} and {second!r}. Put it under one of them."
    CRF811 = (
        "The best paths of a sequence must be at least one, with one log probability each, best first; got {paths} "
        "paths and {found} log probabilities, {problem}."
    )
    CRF812 = (
        "Unit {unit} has the gold weights {weights}. Weights must sum to 1 (the gold is one of these tags), or all be "
        "1 (all of these tags are right), or all be 0 (there is no gold)."
    )
    CRF813 = (
        "The gold tags {gold} cannot be read. Weights must sum to 1 (the gold is one of these tags), or all be 1 "
        "(all of these tags are right)."
    )
    CRF814 = "The gold tag {tag!r} is not among the labels. Nearest: {near}. Correct it, or add it to the labels."

    # Prediction sets: calibration
    CRF816 = "The level is {level!r}; give the share that may be missed, more than 0 and less than 1, such as 0.1."
    CRF817 = "There is nothing to calibrate on: no unit has gold. Give calibration data with gold labels."
    CRF818 = (
        "{n} calibration {unit}s are too few for level {level}, which needs {least}: with them, the smallest level "
        "that can be had is {smallest:.4g}. Give more calibration data, or a greater level."
    )
    CRF819 = "The setting {name} of prediction sets is {value!r}; it must be {expected}."
    CRF820 = (
        "The score {kind!r} {needs} random numbers here. Set its option randomised, and give `uniforms`, one number "
        "for each unit, both or neither."
    )
    CRF821 = (
        "Condition {condition!r} {needs} groups. Give `groups`, a number for each unit, for condition 'group' only."
    )
    CRF822 = "Random numbers for prediction sets must lie in [0, 1]. Draw them from the uniform distribution."
    CRF823 = (
        "Unit {unit!r} {needs} numbers of units. Give `units`, the sentence or document of each token, for these two "
        "only."
    )

    # Other taggers
    CRF831 = "There is nothing to learn from: no unit has a gold label. Give sequences with known gold."
    CRF832 = "The sequences have {words} words, but gold has {units} units. Give one label (or -1) for each word."
    CRF833 = "The setting {name} is {value!r}; give a finite number of at least 0."
    CRF834 = "A hidden Markov model of order {order!r} is not known. Give 2 (pairs of labels) or 3 (triples of labels)."
    CRF835 = (
        "The features have {found} columns, but the maximum-entropy Markov model was trained on {expected}. Use the "
        "feature index of its training."
    )
    CRF836 = "Lengths of sequences sum to {lengths}, but there are {rows} rows of {name}. Give one row for each unit."


class Warnings(metaclass=_Coded):
    CRFW101 = (
        "The best sequences agree with all gold labels of the held-out data, which says nothing about the temperature: "
        "it stays at 1. Take more data, or data that the model was not trained on."
    )
    CRFW401 = "Component {name!r}: labels without an example in the training data are never predicted well: {labels}."
    CRFW402 = (
        "Component {name!r}: document {document!r} has gold spans that overlap. A chain holds one span per token, so "
        "their tokens count as unknown. Give the component a group of spans without overlaps."
    )
    CRFW701 = (
        "Training with algorithm={algorithm!r} had not converged when it reached max_iterations = {iterations}. "
        "Give more, or a greater delta, or take the weights as they are."
    )
    CRFW801 = (
        "Too few calibration tokens for level {level}, which needs {least}: strata {listing} {fate}. Give more "
        "calibration data for them, or a greater level."
    )
