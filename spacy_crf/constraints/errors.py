"""Messages of `constrained_ner` and `constraint_decoder`."""

from ..core.errors import Messages


class ConstraintErrors(metaclass=Messages):
    """Messages of exceptions."""

    CRF440 = (
        "Component {name!r}: no constraints can be read from {path}: {error}. Give a text file with a constraint a "
        "line, or JSON with a list of them."
    )
    CRF441 = "Component {name!r} cannot use its constraints: {error}"
    CRF442 = (
        "Component {name!r} takes probabilities from {place!r}, but document {document!r} has none there for each of "
        "its tokens. Let an earlier component write them, such as a crf_tagger with marginals = {place!r}."
    )
    CRF443 = (
        "Component {name!r} takes probabilities either from a component (`source`) or from a custom attribute of Docs "
        "(`marginals`). Give one of the two; now they are {source!r} and {marginals!r}."
    )
    CRF444 = (
        "Component {name!r}: the predicate {predicate!r} is {value!r}; it must be a list of words, or '_.NAME' for a "
        "custom token attribute."
    )
    CRF445 = (
        "A predicate of constraints reads the custom token attribute {extension!r}, which is not registered. Call "
        "Token.set_extension({extension!r}, default=False) before."
    )
    CRF452 = (
        "Component {name!r} takes probabilities from {place!r}, but what document {document!r} has there are none: "
        "{problem}. Give each token one number of at least 0 for each tag, with the sum 1."
    )
    CRF453 = (
        "Component {name!r} cannot tell spans from the tags {tags}: they are not those of BIO or BILUO, where each "
        'span begins with B- or U-. Convert them, or set scheme = "none" if they are the labels themselves.'
    )
    CRF446 = "Component {name!r} of the pipeline {path} has no constraints. Components that do: {known}."
    CRF447 = (
        "Component {name!r}: none of the training documents has labels for all of its tokens, so that nothing can be "
        "mined. Complete the annotation, or set mine = null."
    )
    CRF458 = (
        "Component {name!r}: its trainer cannot train under constraints. Take spacy_crf.LBFGS.v1 with the batcher "
        "spacy_crf.full_batch.v1, or set train_constrained = false."
    )
    CRF596 = (
        "Component {name!r}: training has shown no labels of punctuation, of which probabilities = 'constrained' would "
        "let constraints count some. Set probabilities = 'chain', or train on texts read with punctuation = 'gold'."
    )


class ConstraintWarnings(metaclass=Messages):
    """Messages of warnings."""

    CRFW455 = (
        "Component {name!r}: probabilities of document {document!r} lack up to {missing:.2g} of all labellings, by "
        "their weight, as its constraints have too many states together. Raise max_states, give fewer constraints, or "
        'count violations "once".'
    )
    CRFW456 = (
        "Component {name!r}: no labelling of document {document!r} was found that keeps all hard constraints and costs "
        "less than some 700, so that its probabilities are those without constraints. Give hard constraints a cost, or "
        "lower costs."
    )
    CRFW457 = (
        "Component {name!r}: the gold labels of {count} training sequences break hard constraints ({examples}). They "
        "are learned without constraints. Correct them, or give the constraints a cost."
    )
    CRFW458 = (
        "Component {name!r} mines constraints of whole documents, as training shows it no sentences, but {finder!r} "
        "before it finds some in other texts, where constraints will be about each of them. Name {finder!r} in "
        "[training] annotating_components, or set sequence = 'doc' if they are about documents."
    )
    CRFW477 = (
        "Component {name!r}: in training, constraints are about sentences, as sequence = 'auto' and document "
        "{document!r} has some, but no component before it finds them in other texts, where constraints will be about "
        "the whole text. Put a sentencizer before it, or set sequence = 'doc' if they are about documents."
    )
    CRFW994 = (
        "Component {name!r} was saved with constraints of the setting `constraints`, which is null now: they stay in "
        "force. Set constraints = [] for none but mined ones, or give the setting what it was."
    )
