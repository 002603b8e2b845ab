"""The start page, and why a token has its label."""

from dataclasses import asdict
from importlib import resources
from string import Template
from typing import Any

import numpy as np
from spacy.language import Language
from spacy.tokens import Doc

from ..annotation import parts
from ..annotation.white_space import Places, is_white_space
from ..core.arrays import Segments
from ..core.errors import CRFError
from ..pipe.calibration import run_before
from ..pipe.component import ChainPipe
from ..pipe.decoding import Batch
from ..pipe.explain import explain
from .answers import Answer, tell_error
from .corrections import find, token_places
from .errors import Refusal, ServiceErrors

BEST = 5  # labellings of a sentence that are told
FOLDER = resources.files(__package__).joinpath("pages")


def page_of_workbench() -> str:
    """The page, with its scripts and styles in it."""
    page, own, rules, corrections, script = (
        FOLDER.joinpath(name).read_text(encoding="utf8")
        for name in ("workbench.html", "workbench.css", "sets.js", "corrections.js", "workbench.js")
    )
    return Template(page).substitute(style=parts.style() + own, script=rules + corrections + script)


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
    token = find(start, token_places(doc))
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


def best_labellings(chain: ChainPipe, doc: Doc, token: int) -> list[Answer]:
    """The best labellings of the sequence that a token is in, each with its probability and what differs in it; "" for
    tokens that get no label."""
    docs, places = chain.words([doc]), Places.beside(is_white_space(doc) & chain.skips_white_space)
    columns, distribution = chain.read_distribution(docs, True)
    batch = Batch(docs, columns, distribution, chain.tags, chain.unlabelled(docs, columns))
    sequences = Segments(columns.lengths)
    number = int(sequences.owners[places.words_of(token, token + 1)[0]])
    units = sequences.slices()[number]
    (found,) = batch.labellings.select(np.array([number])).n_best(BEST)
    told = places.spread_sequence({"start": units.start, "end": units.stop, **batch.listed(*found)})
    names, words = told["labels"], [doc[place].text for place in range(told["start"], told["end"])]
    return [
        {
            **{"probability": probability, "labels": own},
            "differs": [[word, label] for word, label, best in zip(words, own, names[0]) if label != best],
        }
        for own, probability in zip(names, told["probabilities"])
    ]
