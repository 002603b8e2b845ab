"""Messages of features."""

from ..core.errors import Messages


class FeatureErrors(metaclass=Messages):
    """Messages of exceptions."""

    CRF301 = "Templates have no attribute {attribute!r}. Nearest: {near}."
    CRF302 = (
        "Attribute {attribute!r} is spelt wrongly: affixes (PREFIX, RSUFFIX ...), POSITION, RARE and COMMON need "
        "a number (SUFFIX3), the others take none."
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
    CRF320 = "Rewrite rules {name!r}: rule {rule} cannot be used: {error}. Its pattern is {pattern!r}."
    CRF321 = "Rewrite rules cannot be read from {path!r}: {error}. Give a path, or one of: {known}."
    CRF322 = "Rewrite rules {path!r}, line {line}: not 'pattern<TAB>replacement': {text!r}."
    CRF323 = "Template {template!r} asks for normal forms of words. Give the features a `spelling` block."
    CRF324 = "There are no normal forms of words: the features have no `spelling` block."
    CRF325 = "There are no frequencies of words: the component has not been initialized with training data."
    CRF326 = (
        "Rewrite rules {name!r}: rule {rule} makes the word {form!r} longer than {most} characters. Correct the rules."
    )
    CRF327 = (
        "The `start` of a component has a spelling whose {setting} differs from {value}, which the config asks for. "
        'With table = "fit" normal forms stay as they were fitted. Give the block `spelling` the same, or begin '
        "without `start`."
    )
    CRF330 = "Attribute {attribute!r}: there is no {key!r} of clauses and sentences. Known: {known}."
    CRF331 = "Attribute {attribute!r}: there is no class of words {name!r}. Known: {known}."
    CRF332 = (
        "Attribute {attribute!r} takes no number in its brackets. For the value of another token, write the offset "
        "behind it, as in BEFORE(year)[1]."
    )
    CRF333 = "Template {template!r} stands for {number} templates, more than {most}. Narrow its ranges."
    CRF545 = "{path}, line {line}: not 'form<TAB>normal form': {text!r}. Correct the line or delete it."
    CRF546 = "{path}, line {line}: the form {form!r} comes a second time. Keep one of the lines."
    CRF547 = (
        "The form {form!r} is the normal form of {variant!r}, but has a normal form of its own ({normal!r}). Give both "
        "the same one."
    )
    CRF548 = "The spelling table {path} cannot be read: {error}."
    CRF966 = (
        "Template {template!r} asks for layout elements, but this component's units are tokens. Use the features "
        "spacy_crf.UnitFeatures.v1 with a component over elements, such as section_parser."
    )
    CRF976 = "Template {template!r} asks for induced classes. Give the features a block `classes`."
    CRF977 = "The setting {name} of the induced classes is {value!r}; it must be 1 or above."
    CRF978 = "There are no induced classes yet: initialize or load the component first."
    CRF986 = (
        "Templates ask for CLUSTER, but the vocabulary has no table {table!r}. After pip install 'spacy_crf[clusters]' "
        'the block [initialize.lookups] of the config loads it: @misc = "spacy.LookupsDataLoader.v1", lang = {lang!r}, '
        "tables = [{table!r}]. For other languages make a word list: python -m spacy crf classes."
    )


class FeatureWarnings(metaclass=Messages):
    """Messages of warnings."""

    CRFW328 = (
        "The spelling table {path} has forms that are not looked up, as the rules {rules!r} rewrite them first: "
        "{forms}. Give rewritten forms, as python -m spacy crf spelling writes them, or leave out the rules."
    )
