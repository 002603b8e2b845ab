"""Brings models of other libraries over: a `crf_tagger` of an estimator or a CRFsuite model whose attribute strings
templates can spell, and templates for those of CRF++.

The template "ORTH[-1]|ORTH[0]" may be spelt as "w[-1]|w[0]={}|{}".
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from spacy.language import Language
from spacy.parts_of_speech import IDS as PARTS_OF_SPEECH

from ..core.arrays import Indices, Ints, Segments, cached_property
from ..core.errors import CRFError
from ..core.labels import TagSet
from ..core.sparse import SparseRows
from ..core.weights import ChainWeights
from ..features.features import Features
from ..features.templates import CUT, MAX_OFFSET, NOT, WORD_FLAGS, Attribute, Template, parse_attribute, parse_templates
from ..learning.model import get_weights, set_weights
from ..learning.packed import dumps
from ..pipe.block import SPAN_TARGETS
from ..pipe.labels import SKIPS_WHITE_SPACE
from ..pipe.storage import Parts, seal
from ..reading.files import read_bytes
from ..tagging.component import CRFTagger
from .crf import CRF
from .crfsuite import CRFsuiteModel
from .errors import EstimatorErrors
from .items import Numbering

SHOWN = 5
GAP = "{}"
FLAGS = (*WORD_FLAGS, NOT, "BIAS", "BOS", "EOS", "SPACY")
LOWER_CASED = ("LOWER", "LPREFIX", "LSUFFIX", "LSTART", "LEND")
RUNS = {"SHAPE": re.compile(r"(.)\1{4}"), "COLLAPSED": re.compile(r"(.)\1")}  # that shapes never have
TOO_LONG = "LONG"  # the shape of such a word
ON = "1"  # the value of a flag
_LINE = re.compile(r"(?P<id>(?P<kind>[UB])[^:]*)")
_MACRO = re.compile(r"%x\[\s*(?P<row>[+-]?\d{1,9})\s*,\s*(?P<column>\d{1,9})\s*\]")


@dataclass(frozen=True)
class Spelling:
    """One state template and the form of its attribute strings, with a gap {} for each value but those of flags."""

    template: Template
    form: str

    @cached_property
    def literals(self) -> list[str]:
        """What stands before, between and behind the gaps."""
        return self.form.split(GAP)

    def values(self, attribute: str) -> Iterator[tuple[str, ...]]:
        """Values of the template's atoms that are spelt like an attribute, as far as words may have them.

        There are several where the text between two gaps occurs in a value: all of them are spelt alike.
        """
        asked = [atom.attribute for atom in self.template.atoms]
        for found in _readings(attribute, self.literals):
            gaps = iter(found)
            values = tuple(ON if one.name in FLAGS else next(gaps) for one in asked)
            if all(map(_is_possible, asked, values)):
                yield values


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


def to_pipe(
    model: CRFsuiteModel | CRF, nlp: Language, spellings: Mapping[str, str], name: str = "crf_tagger", **config: Any
) -> CRFTagger:
    """Add a tagger to a pipeline that decides like a CRFsuite model.

    Weights are found through the hashes of the values, as in any tagger. It has no start and end weights, and
    positions outside the sequence have no value, as CRFsuite has none of its own. Tokens of white space are words only
    if the model knows such ones. Attributes count as on or off. For spans, the scheme forbids sequences that the model
    may allow, such as O before I-PER; tags that the scheme has and the model has not are never given.

    model (CRFsuiteModel | CRF): from `read_crfsuite`, or an estimator that is fitted. nlp (Language): the pipeline.
    spellings (Mapping): for each template the form of its attribute strings, such as {"ORTH[0]": "w[0]={}",
        "ORTH[-1]|ORTH[0]": "w[-1]|w[0]={}|{}", "BOS": "__BOS__"}. Flags have no gap.
    name (str): of the component. config: its other settings: `target`, `scheme`, `overwrite` ...
    RETURNS (CRFTagger): the component, at the end of the pipeline.
    RAISES (ValueError): names attributes that no template spells, and labels that the target cannot have, such
        as I-PER where there is no B-PER.

    >>> import pycrfsuite
    >>> import spacy
    >>> from spacy_crf import read_crfsuite, to_pipe
    >>> trainer = pycrfsuite.Trainer(verbose=False)
    >>> trainer.append([["word=the"], ["word=dog"]], ["DET", "NOUN"])
    >>> trainer.train("animals.crfsuite")
    >>> nlp = spacy.blank("en")
    >>> tagger = to_pipe(read_crfsuite("animals.crfsuite"), nlp, {"ORTH[0]": "word={}"})
    >>> [token.tag_ for token in nlp("the dog")]
    ['DET', 'NOUN']
    """
    if isinstance(model, CRF):
        model = model.model_
    parsed = parse_spellings(spellings)
    imported = _match(model, parsed)
    templates = [str(spelling.template) for spelling in parsed]
    features = {"@misc": "spacy_crf.Features.v1", "templates": templates, "padding": False}
    architecture = {"@architectures": "spacy_crf.LinearChain.v1", "boundary": False}
    config |= {"model": architecture, "features": features}
    pipe = _add(nlp, name, config)
    if lacking := _pairs_of_lacking(pipe, model.labels):
        nlp.remove_pipe(name)
        pipe = _add(nlp, name, {**config, "forbidden": [*config.get("forbidden", ()), *lacking]})
    try:
        _fill(pipe, model, imported)
    except ValueError:
        nlp.remove_pipe(name)
        raise
    return pipe


def _add(nlp: Language, name: str, config: dict[str, Any]) -> CRFTagger:
    pipe = nlp.add_pipe("crf_tagger", name=name, config=config)
    assert isinstance(pipe, CRFTagger)
    return pipe


def _pairs_of_lacking(pipe: CRFTagger, labels: Sequence[str]) -> list[list[str]]:
    """Pairs that lead to a tag of the component that is no label of the model."""
    tags = pipe.make_tags(tuple(_component_labels(pipe, labels))).tags
    return [[before, tag] for tag in tags if tag not in labels for before in ("", *tags)]


def _match(model: CRFsuiteModel, spellings: list[Spelling]) -> _Imported:
    """Features of all attributes; one for each way to read an attribute that can be read in several."""
    texts = list(enumerate(model.attributes))
    found = [[(a, values) for a, text in texts for values in spelling.values(text)] for spelling in spellings]
    owners = np.array([a for part in found for a, _ in part], dtype=np.intp)
    unmatched = np.setdiff1d(np.arange(len(model.attributes)), owners)
    if len(unmatched):
        examples = ", ".join(repr(model.attributes[a]) for a in unmatched[:SHOWN].tolist())
        raise CRFError(EstimatorErrors.CRF724.format(count=len(unmatched), examples=examples))
    width = max((len(spelling.template.atoms) for spelling in spellings), default=0)
    atoms, numbers, parts = np.zeros((len(owners), width), dtype=np.int32), Numbering(), Segments.of(found)
    for part, own, spelling in zip(found, parts.slices(), spellings):
        for column in range(len(spelling.template.atoms)):
            atoms[own, column] = [numbers[values[column]] for _, values in part]
    return _Imported(owners, parts.owners.astype(np.int32), atoms, list(numbers))


def _fill(pipe: CRFTagger, model: CRFsuiteModel, imported: _Imported) -> None:
    """Give the component labels, features and weights."""
    if labels := _component_labels(pipe, model.labels):
        pipe.initialize(lambda: [], labels=labels)
    unknown = [label for label in model.labels if not labels or label not in pipe.tags.number]
    if unknown := unknown or _stranded(TagSet(tuple(model.labels), pipe.tags.scheme)):
        raise CRFError(EstimatorErrors.CRF725.format(labels=", ".join(map(repr, unknown[:SHOWN])), target=pipe.target))
    pipe.cfg.learn(**{SKIPS_WHITE_SPACE: not any(map(str.isspace, imported.values))})  # its training showed none
    numbers = np.array([pipe.tags.number[label] for label in model.labels], dtype=np.intp)
    set_weights(pipe.model, _weights(get_weights(pipe.model), model, imported, numbers))
    features = Features(pipe.feature_config, pipe.sequence)
    own = {"template": imported.template, "atoms": imported.atoms.T, "values": imported.values}
    features.state.from_data(own)
    parts = Parts(pipe.cfg, pipe.model.to_bytes(), features.to_data())
    pipe.from_bytes(dumps(seal(parts.files(()))))


def _stranded(tags: TagSet) -> list[str]:
    """Tags that no legal sequence of these tags has, such as I-PER without B-PER: nothing would ever be found."""
    pairs, reached, leaving = tags.legal()
    for _ in tags.tags:
        reached, leaving = reached | pairs[reached].any(axis=0), leaving | pairs[:, leaving].any(axis=1)
    return [tag for tag, is_given in zip(tags.tags, reached & leaving) if not is_given]


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
    """Labels of the component: the tags themselves, or for spans what stands behind B- and I-, if the scheme has it."""
    if pipe.target not in SPAN_TARGETS or pipe.scheme == "none":
        return list(tags)
    return list(dict.fromkeys(tag[2:] for tag in tags if tag[1:2] == "-"))


def _is_possible(attribute: Attribute, value: str) -> bool:
    """Whether words may have a value of an attribute, as far as its length and its characters tell."""
    name, number = attribute.name, attribute.number
    if name in LOWER_CASED and value != value.lower():
        return False
    if name in ("PREFIX", "SUFFIX", "LPREFIX", "LSUFFIX"):
        return len(value) == number
    if name in RUNS:
        kinds = {character for character in value if character.isalpha() or character.isdigit()}
        return value == TOO_LONG or (kinds <= set("Xxd") and not RUNS[name].search(value))
    if name == "POS":
        return value in {tag[: number or None] for tag in PARTS_OF_SPEECH}
    if name == "DIGITS":
        return set(filter(str.isdecimal, value)) == {"0"}
    if name == "LENGTH":
        return value.isdecimal()
    is_cut = name in ("START", "END", "LSTART", "LEND") or (number and name in CUT)
    return not is_cut or len(value) <= number


def parse_spellings(spellings: Mapping[str, str]) -> list[Spelling]:
    """Spellings by template.

    RAISES (ValueError): for an edge template, a range of templates, or a form with too few or too many gaps.
    """
    parsed = []
    for text, form in spellings.items():
        templates = parse_templates([text])
        if len(templates) != 1 or templates[0].is_edge:
            raise CRFError(EstimatorErrors.CRF722.format(template=text))
        gaps, found = sum(atom.attribute.name not in FLAGS for atom in templates[0].atoms), form.count(GAP)
        if found != gaps:
            raise CRFError(EstimatorErrors.CRF723.format(template=text, form=form, expected=gaps, found=found))
        parsed.append(Spelling(templates[0], form))
    return parsed


def _readings(text: str, literals: list[str]) -> Iterator[tuple[str, ...]]:
    """All ways to read a text as literals with something between each two."""
    first, *rest = literals
    if not text.startswith(first):
        return
    text = text[len(first) :]
    if not rest:
        if not text:
            yield ()
        return
    if len(rest) == 1:  # the last gap takes everything up to the last literal
        value = text.removesuffix(rest[0])
        if value and len(value) == len(text) - len(rest[0]):
            yield (value,)
        return
    end = text.find(rest[0], 1)
    while end > 0:
        for others in _readings(text[end:], rest):
            yield (text[:end], *others)
        end = text.find(rest[0], end + 1)


# -- template files of CRF++ -------------------------------------------------------------------------------------


class _BadLine(Exception):
    """What is wrong with a line."""


def read_crfpp_templates(path: str | Path, columns: Sequence[str] | Mapping[int, str]) -> list[str]:
    r"""Templates of this library for those of a file.

        U00:%x[-1,0]             the word before: column 0, one row up
        U05:%x[-1,0]/%x[0,0]     two words together
        B                        transitions between labels, which every model of this library has
        B01:%x[0,1]              transitions that depend on column 1: an edge template

    Values outside the sequence (_B-1, _B+1) are those that `padding = true` gives. What stands around the macros only
    tells templates apart, and is not kept.

    path (str | Path): the file. columns (Sequence | Mapping): for each column of the CRF++ data the attribute that
        has its values, such as ["ORTH", "TAG"].
    RETURNS (list[str]): for `templates` of spacy_crf.Features.v1, in the order of the file, each once.
    RAISES (ValueError): names the line that cannot be read, or that has no counterpart here.

    >>> from pathlib import Path
    >>> from spacy_crf import read_crfpp_templates
    >>> _ = Path("template").write_text("U00:%x[-1,0]\nU01:%x[0,0]/%x[0,1]\nB\n")
    >>> read_crfpp_templates("template", ["ORTH", "TAG"])
    ['ORTH[-1]', 'ORTH[0]|TAG[0]']
    """
    attributes = dict(columns) if isinstance(columns, Mapping) else dict(enumerate(columns))
    for attribute in attributes.values():
        parse_attribute(attribute)
    templates: dict[str, None] = {}
    known: set[str] = set()
    lines = map(str.strip, read_bytes(Path(path)).decode("utf-8-sig", errors="replace").splitlines())
    for number, text in enumerate(lines, 1):
        try:
            templates.update(dict.fromkeys(_templates(text, attributes, known)))
        except _BadLine as problem:
            message = EstimatorErrors.CRF731.format(path=path, line=number, problem=problem, text=text)
            raise CRFError(message) from None
    return list(templates)


def _templates(line: str, attributes: Mapping[int, str], known: set[str]) -> Iterator[str]:
    """The template of a line, if it has one. known (set[str]): identifiers of the lines before."""
    if not line or line.startswith("#"):
        return
    found = _LINE.match(line)
    if not found:
        raise _BadLine("it begins neither with U nor with B")
    kind, name = found["kind"], _MACRO.sub("%x", found["id"])  # values do not tell templates apart
    atoms = [_atom(macro, attributes) for macro in _MACRO.finditer(line)]
    if "%" in _MACRO.sub("", line):
        raise _BadLine("it has a macro other than %x[row,column]")
    if name in known:
        raise _BadLine(f"the identifier {name} was used before, so that the two would share their features")
    known.add(name)
    if kind == "U":
        yield "|".join(atoms) or "BIAS"
    elif atoms:
        yield f"B:{'|'.join(atoms)}"


def _atom(macro: re.Match[str], attributes: Mapping[int, str]) -> str:
    row, column = int(macro["row"]), int(macro["column"])
    if column not in attributes:
        raise _BadLine(f"no attribute is given for column {column}")
    if abs(row) > MAX_OFFSET:
        raise _BadLine(f"rows may be {MAX_OFFSET} away at most")
    return f"{attributes[column]}[{row}]"
