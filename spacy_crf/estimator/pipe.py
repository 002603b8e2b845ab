"""Makes a `crf_tagger` of a CRFsuite model whose attribute strings templates can spell."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import srsly
from spacy.language import Language

from ..core.arrays import Indices, Ints
from ..core.errors import CRFError
from ..core.sparse import SparseRows
from ..core.weights import ChainWeights
from ..features.features import Features
from ..learning.model import get_weights, set_weights
from ..pipe.storage import Parts
from ..tagging.component import SPAN_TARGETS, CRFTagger
from .crfsuite import CRFsuiteModel
from .errors import EstimatorErrors
from .spelling import Spelling, parse_spellings

SHOWN = 5


@dataclass(frozen=True)
class _Imported:
    """Features that attributes stand for.

    owners ((F,)): the attribute of each feature. template ((F,)): number of its template.
    atoms ((F, W)): numbers of its values. values (list[str]): by number.
    """

    owners: Indices
    template: Ints
    atoms: Ints
    values: list[str]

    def data(self) -> dict[str, Any]:
        """What a `FeatureIndex` restores itself from."""
        return {"template": self.template, "atoms": self.atoms.T, "values": self.values}


def to_pipe(
    model: CRFsuiteModel, nlp: Language, spellings: Mapping[str, str], name: str = "crf_tagger", **config: Any
) -> CRFTagger:
    """Add a tagger to a pipeline that decides like a CRFsuite model.

    Weights are found through the hashes of the values, as in any tagger. It has no start and end weights, and
    positions outside the sequence have no value, as CRFsuite has none of its own.

    model (CRFsuiteModel): from `read_model`. nlp (Language): the pipeline.
    spellings (Mapping): for each template the form of its attribute strings, such as {"ORTH[0]": "w[0]={}",
        "ORTH[-1]|ORTH[0]": "w[-1]|w[0]={}|{}", "BOS": "__BOS__"}. Flags have no gap.
    name (str): of the component. config: its other settings: `target`, `scheme`, `overwrite` ...
    RETURNS (CRFTagger): the component, at the end of the pipeline.
    RAISES (ValueError): names attributes that no template spells, and labels that the target cannot have.
    """
    parsed = parse_spellings(spellings)
    imported = _match(model, parsed)
    features = {
        "@misc": "spacy_crf.Features.v1",
        "templates": [str(spelling.template) for spelling in parsed],
        "padding": False,
    }
    architecture = {"@architectures": "spacy_crf.LinearChain.v1", "boundary": False}
    settings = {**config, "model": architecture, "features": features}
    pipe = nlp.add_pipe("crf_tagger", name=name, config=settings)
    assert isinstance(pipe, CRFTagger)
    try:
        _fill(pipe, model, imported)
    except ValueError:
        nlp.remove_pipe(name)
        raise
    return pipe


def _match(model: CRFsuiteModel, spellings: list[Spelling]) -> _Imported:
    """Features of all attributes; one for each way to read an attribute that can be read in several."""
    width = max((len(spelling.template.atoms) for spelling in spellings), default=0)
    numbers = Numbers()
    parts = [
        _match_template(model.attributes, slot, spelling, width, numbers) for slot, spelling in enumerate(spellings)
    ]
    owners = np.concatenate([np.zeros(0, dtype=np.intp), *(part.owners for part in parts)])
    unmatched = np.setdiff1d(np.arange(len(model.attributes)), owners)
    if len(unmatched):
        examples = ", ".join(repr(model.attributes[a]) for a in unmatched[:SHOWN].tolist())
        raise CRFError(EstimatorErrors.CRF724.format(count=len(unmatched), examples=examples))
    template, atoms = (np.concatenate([getattr(p, name) for p in parts]) for name in ("template", "atoms"))
    return _Imported(owners, template, atoms, list(numbers))


class Numbers(dict[str, int]):
    """Numbers strings in the order in which they are first asked for."""

    def __missing__(self, string: str) -> int:
        number = self[string] = len(self)
        return number


def _match_template(attributes: list[str], slot: int, spelling: Spelling, width: int, numbers: Numbers) -> _Imported:
    """Features of the attributes that one template spells."""
    found = [(a, values) for a, text in enumerate(attributes) for values in spelling.values(text)]
    columns = [[values[column] for _, values in found] for column in range(len(spelling.template.atoms))]
    atoms = np.zeros((len(found), width), dtype=np.int32)
    for column, values in enumerate(columns):
        atoms[:, column] = [numbers[value] for value in values]
    owners = np.array([a for a, _ in found], dtype=np.intp)
    return _Imported(owners, np.full(len(found), slot, dtype=np.int32), atoms, [])


def _fill(pipe: CRFTagger, model: CRFsuiteModel, imported: _Imported) -> None:
    """Give the component labels, features and weights."""
    pipe.initialize(lambda: [], labels=_component_labels(pipe, model.labels))
    unknown = [label for label in model.labels if label not in pipe.tags.number]
    if unknown:
        raise CRFError(EstimatorErrors.CRF725.format(labels=", ".join(map(repr, unknown[:SHOWN])), target=pipe.target))
    numbers = np.array([pipe.tags.number[label] for label in model.labels], dtype=np.intp)
    set_weights(pipe.model, _weights(get_weights(pipe.model), model, imported, numbers))
    features = Features(pipe.feature_config, pipe.sequence)
    features.state.from_data(imported.data())
    parts = Parts(pipe.cfg, pipe.model.to_bytes(), features.to_data())
    pipe.from_bytes(srsly.msgpack_dumps(parts.files(())))


def _weights(empty: ChainWeights, model: CRFsuiteModel, imported: _Imported, numbers: Indices) -> ChainWeights:
    """Weights of the model for other features and labels.

    empty (ChainWeights): of the component. numbers ((L,)): its number of each label of the model.
    """
    layout, n_tags = model.weights.layout, empty.layout.n_labels
    state, transitions, *_ = layout.split(model.weights.flat)
    attribute, label = np.divmod(layout.state_cells, layout.n_labels)
    indptr = np.searchsorted(attribute, np.arange(layout.n_features + 1)).astype(np.int32)
    rows = SparseRows(indptr, numbers[label].astype(np.int32), state, n_tags).take(imported.owners)
    state_cells = rows.row_numbers() * n_tags + rows.indices
    before, after = np.divmod(layout.transition_cells, layout.n_labels)
    transition_cells = numbers[before] * n_tags + numbers[after]
    by_state, by_transition = np.argsort(state_cells), np.argsort(transition_cells)
    cells = state_cells[by_state], transition_cells[by_transition]
    flat = np.concatenate([rows.data(state)[by_state], transitions[by_transition]])
    return replace(empty.extended(len(imported.template), 0, *cells), flat=flat)


def _component_labels(pipe: CRFTagger, tags: Iterable[str]) -> list[str]:
    """Labels of the component: the tags themselves, or for spans what stands behind B- and I-."""
    if pipe.target not in SPAN_TARGETS:
        return list(tags)
    return list(dict.fromkeys(tag[2:] for tag in tags if tag[1:2] == "-"))
