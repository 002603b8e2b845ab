"""Messages of learning."""

from ..core.errors import CRFError, Messages


class LearningErrors(metaclass=Messages):
    """Messages of exceptions."""

    CRF202 = (
        "L-BFGS needs the same examples in every step, but this step has others. Either use the batcher "
        "spacy_crf.full_batch.v1 with max_epochs = 0 (in your own loop: pass all examples to each nlp.update), or the "
        "trainer spacy_crf.AdaGrad.v1, which learns from batches of any size."
    )
    CRF203 = (
        "The same example came twice within one step of L-BFGS. Remove the duplicate, or call finish_update "
        "(nlp.update with an optimizer) after each pass over the examples."
    )
    CRF205 = (
        "A model cannot have all transitions and none: leave out `all_transitions`, or set `transitions` to true. "
        "Weights of edge templates are asked for by `all_edges`."
    )
    CRF207 = (
        "Component {name!r} cannot go on with its training: its {n_present} sequences are not the {n_wanted} that it "
        "was learning from. Give the same examples, or set resumable = false in the trainer block to begin a new run "
        "with the weights that were saved."
    )
    CRF208 = (
        "Component {name!r} cannot go on with its training: what was saved of it does not fit ({error}). Set resumable "
        "= false in the trainer block to begin a new run with the weights that were saved."
    )
    CRF688 = "Work on several machines needs the package distributed: pip install 'spacy_crf[dask]'."
    CRF885 = (
        "There is no Dask scheduler at {scheduler!r}: {problem}. Give the address that it tells when it starts, such "
        "as tcp://10.0.0.1:8786."
    )
    CRF689 = (
        "Workers of the Dask cluster were lost {attempts} times in a row, which ended training. Look at their logs: "
        "too little memory for their shards is the usual reason. More workers have smaller shards."
    )
    CRF674 = (
        "Component {name!r}: a trainer with a `cache` cannot be used with {what}, which wants the examples themselves. "
        "Leave out one of them."
    )
    CRF675 = "The encoded corpus {path} is damaged. Delete it: it is made anew when training begins."
    CRF676 = (
        "Component {name!r}: the corpus cannot be encoded in the folder {folder!r} ({error}). See that it can be "
        "written to and that there is room, about 100 bytes for each token, or set `cache` in the trainer block to "
        "another folder."
    )
    CRF677 = (
        "Component {name!r}: the batcher spacy_crf.full_batch.v1 with cached = true shows one example alone, as for a "
        "trainer that reads the corpus itself. Set `cache` in the trainer block to a folder, or leave out `cached`."
    )
    CRF251 = (
        "Component {name!r}: its trainer has a `cache` and reads the corpus itself, which only `initialize` shows to "
        "it. To go on with a trained one, name its folder as `start` in [initialize.components.{name}], or load it "
        "with components.{name}.trainer.cache = null."
    )
    CRF678 = (
        "A trainer cannot have a `cache` and {name} = {value!r}, which wants the whole corpus in memory: leave out one "
        "of them."
    )
    CRF437 = (
        "A model of order 2 cannot have a tok2vec layer: their trainers differ. Set order = 1, or leave out `tok2vec`."
    )


class LearningWarnings(metaclass=Messages):
    """Messages of warnings."""

    CRFW401 = "Component {name!r}: labels without an example in the training data are never predicted well: {labels}."
    CRFW410 = (
        "Component {name!r}: {found} units with gold in {sequences} sequences are too few to choose c2 by; that takes "
        "{few} units in {folds} sequences. It is {c2}. Give more data, or set a number in the trainer block."
    )
    CRFW478 = (
        "Component {name!r} listens to a component that gives vectors, but documents have none, and are labelled as if "
        "they were 0. Put that component (tok2vec) before this one, and leave it enabled; where this one is among "
        "[training] annotating_components, name that one there, too; take both where you source them, or give this one "
        "a layer of its own: nlp.replace_listeners('tok2vec', {name!r}, ['model.tok2vec'])."
    )


def require_no_cache(cache: str | None, **others: object) -> None:
    """Raise a coded error where something is asked for beside a cache that wants all of the corpus in memory."""
    for name, value in others.items():
        if cache is not None and value:
            raise CRFError(LearningErrors.CRF678.format(name=name, value=value))
