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
