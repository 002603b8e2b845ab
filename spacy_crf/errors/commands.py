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
    CRF630 = "The search is made by Optuna, which is not installed. Install it: pip install 'spacy_crf[search]'."
    CRF631 = "{path} is not a space of settings: {problem}. See `spacy_crf.tuning.space` for what such a file holds."
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
