"""CoNLL-U as another reader of it, `conllu`, understands it."""

from pathlib import Path

import conllu
import spacy
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from spacy_crf.corpora.reader import Corpus

NLP = spacy.blank("xx")
FORM = st.text(st.characters(categories=["L", "N", "P", "S"]), min_size=1, max_size=6)
WORD = st.tuples(FORM, FORM, st.sampled_from(["NOUN", "VERB", "X"]), FORM, st.booleans())
SENTENCES = st.lists(st.lists(WORD, min_size=1, max_size=6), min_size=1, max_size=4)


def as_conllu(sentences: list[list[tuple[str, str, str, str, bool]]]) -> str:
    """Sentences as trees in which each word hangs on the one before it, with multiword and empty tokens between."""
    lines: list[str] = []
    for number, words in enumerate(sentences):
        lines.append(f"# sent_id = {number}")
        for place, (form, lemma, pos, tag, glued) in enumerate(words, 1):
            if place == 2:
                lines.append("\t".join(["1.1", "hidden", *"_" * 8]))
            misc = "SpaceAfter=No" if glued else "_"
            dep = "root" if place == 1 else "dep"
            lines.append("\t".join([str(place), form, lemma, pos, tag, "_", str(place - 1), dep, "_", misc]))
        lines.append("")
    return "\n".join(lines) + "\n"


def _known(field: str | None) -> str:
    """A field as spaCy has it, for which nothing is known where CoNLL-U has "_"."""
    return "" if field in (None, "_") else str(field)


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(sentences=SENTENCES)
def test_readers_agree(tmp_path: Path, sentences: list[list[tuple[str, str, str, str, bool]]]) -> None:
    text = as_conllu(sentences)
    (tmp_path / "a.conllu").write_text(text, encoding="utf8")
    found = [
        (token.text, token.lemma_, token.pos_, token.tag_, token.head.i - sent.start, bool(token.whitespace_))
        for doc in Corpus(tmp_path / "a.conllu").read_docs(NLP.vocab)
        for sent in doc.sents
        for token in sent
    ]
    expected = [
        (
            token["form"],
            *(_known(token[name]) for name in ("lemma", "upos", "xpos")),
            (token["head"] or token["id"]) - 1,
            (token["misc"] or {}).get("SpaceAfter") != "No",
        )
        for sentence in conllu.parse(text)
        for token in sentence
        if isinstance(token["id"], int)
    ]
    assert found == expected
