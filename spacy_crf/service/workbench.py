"""The start page: why a token has its label, and the file of what a person has checked there."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from importlib import resources
from string import Template
from typing import Any, Literal

import numpy as np
from spacy.language import Language
from spacy.tokens import Doc

from ..annotation import parts
from ..annotation.extensions import read_values
from ..annotation.gold import TagWeights, best_tag
from ..core.arrays import Segments
from ..core.errors import CRFError
from ..corpora.conllu import write_conllu
from ..corpora.exchange import ExchangeDocument, ExchangeToken, PredictedTags, as_weights
from ..corpora.tables import write_tsv
from ..pipe.calibration import run_before
from ..pipe.component import ChainPipe
from ..pipe.explain import explain
from ..pipe.probabilities import GivesSets
from .answers import Answer, tell_error
from .errors import Refusal, ServiceErrors

FileLayout = Literal["tsv", "conllu"]
BEST = 5  # labellings of a sentence that are told
FOLDER = resources.files(__package__).joinpath("pages")


def page_of_workbench() -> str:
    """The page, with its scripts and styles in it."""
    page, own, rules, script = (
        FOLDER.joinpath(name).read_text(encoding="utf8")
        for name in ("workbench.html", "workbench.css", "sets.js", "workbench.js")
    )
    return Template(page).substitute(style=parts.style() + own, script=rules + script)


# -- explanations ------------------------------------------------------------------------------------------------


def explain_at(nlp: Language, component: Any, text: str, start: int, with_html: bool = False) -> Answer:
    """Explain the label of the token that begins at a character.

    RETURNS (dict): the fields of its `Explanation`, or its "error", with the best "labellings" of its sentence.
    """
    chain = component if isinstance(component, ChainPipe) else nlp.get_pipe(component.source)
    if not isinstance(chain, ChainPipe):
        why = f"its source {component.source!r} is no CRF"
        raise Refusal(ServiceErrors.CRF580.format(name=component.name, why=why))
    (doc,) = run_before(nlp, chain.name, [nlp.make_doc(text)])
    token = find_token(doc, start)
    told: Answer = {"labellings": best_labellings(chain, doc, token)}
    try:
        (found,) = explain(chain, doc, [token])
        told = {**asdict(found), **told}
    except CRFError as error:
        told |= tell_error(error)
    if with_html:
        why = parts.failed(told["error"]) if "error" in told else parts.explanation(told)
        told["html"] = why + parts.labellings(told["labellings"])
    return told


def find_token(doc: Doc, start: int) -> int:
    """The place of the token that begins at a character; a coded error where none does."""
    for token in doc:
        if token.idx == start and not token.is_space:
            return int(token.i)
    raise Refusal(ServiceErrors.CRF581.format(start=start))


def best_labellings(chain: ChainPipe, doc: Doc, token: int) -> list[Answer]:
    """The best labellings of the sequence that a token is in, each with its probability and what differs in it."""
    columns, distribution = chain.read_distribution([doc], True)
    sequences = Segments(columns.lengths)
    number = int(sequences.owners[token])
    units = sequences.slices()[number]
    (found,) = distribution.select(np.array([number])).n_best(BEST)
    tags = (*chain.tags.tags, "")  # UNKNOWN is -1
    names = [[tags[label] for label in path] for path in found.labels.tolist()]
    words = [doc[place].text for place in range(units.start, units.stop)]
    return [
        {
            **{"probability": probability, "labels": own},
            "differs": [[word, label] for word, label, best in zip(words, own, names[0]) if label != best],
        }
        for own, probability in zip(names, found.probabilities.tolist())
    ]


# -- files -------------------------------------------------------------------------------------------------------


def write_checked(
    nlp: Language, component: Any, text: str, checked: Mapping[int, Sequence[str]], layout: FileLayout, name: str = ""
) -> bytes:
    """Write a text with its tags, as `crf annotate` does.

    checked (Mapping[int, Sequence[str]]): tags of tokens that a person has seen, by their first characters.
    name (str): of the document.
    """
    target = component.target
    if target not in ("tag", "pos"):
        raise Refusal(ServiceErrors.CRF583.format(target=target))
    for tags in checked.values():
        for tag in tags or [""]:
            if tag not in component.labels:
                raise Refusal(ServiceErrors.CRF582.format(name=component.name, tag=tag))
    has_sets = isinstance(component, GivesSets)
    where = (
        PredictedTags(component.cfg["tag_set"], component.tag_probs, target)
        if has_sets
        else PredictedTags("", component.cfg["marginals"], target)
    )
    doc = nlp(text)
    for start in checked:
        find_token(doc, start)
    read = ExchangeDocument.of([doc], where)
    known = {token.idx: own or {} for token, own in zip(doc, read_values(doc, where.tag_probs))}
    mark = partial(_mark, checked, known)
    document = replace(read, name=name, sentences=[list(map(mark, sentence)) for sentence in read.sentences])
    return write_tsv([document]) if layout == "tsv" else write_conllu([document], target)


def _mark(
    checked: Mapping[int, Sequence[str]], known: Mapping[int, Mapping[str, float]], token: ExchangeToken
) -> ExchangeToken:
    tags = checked.get(token.start)
    if tags is None:
        return token
    own: TagWeights = dict.fromkeys(tags, 1.0)
    if len(tags) > 1:
        own = as_weights({tag: float(known[token.start].get(tag, 0.0)) for tag in tags})
    return replace(token, gold=own, tag=best_tag(own))
