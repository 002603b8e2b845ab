"""The restorer over vectors of its words."""

import random
from pathlib import Path
from typing import Any, cast

import pytest
from helpers.punctuated import build, make_examples
from spacy.tokens import Doc
from thinc.api import Adam

from spacy_crf.punctuation.component import PunctuationRestorer

NAME = "punctuation_restorer"


def network(attrs: list[str]) -> dict[str, Any]:
    embed = {"@architectures": "spacy.MultiHashEmbed.v2", "width": 16, "attrs": attrs, "rows": [200] * len(attrs)}
    encode = {"@architectures": "spacy.MaxoutWindowEncoder.v2", "width": 16, "window_size": 1, "maxout_pieces": 2}
    tok2vec = {
        "@architectures": "spacy.Tok2Vec.v2",
        "embed": {**embed, "include_static_vectors": False},
        "encode": {**encode, "depth": 2},
    }
    return {
        "model": {"@architectures": "spacy_crf.LinearChain.v1", "boundary": False, "tok2vec": tok2vec},
        "features": {"@misc": "spacy_crf.Features.v1", "templates": ["BIAS", "EOS"]},
        "trainer": {"@misc": "spacy_crf.Minibatch.v1"},
    }


@pytest.mark.parametrize("attrs, tags", [(["NORM", "TAG"], ["A", "B"]), (["NORM"], ["", ""])])
def test_annotation_that_vectors_read_reaches_the_words(tmp_path: Path, attrs: list[str], tags: list[str]) -> None:
    nlp = build(**network(attrs))
    examples = make_examples(nlp, tmp_path)
    nlp.initialize(lambda: examples)
    pipe = cast(PunctuationRestorer, nlp.get_pipe(NAME))
    doc = Doc(nlp.vocab, words=["Where", "?", "there"], spaces=[False, True, False], tags=["A", "C", "B"])
    assert [token.tag_ for token in pipe.bare(doc)] == tags


def test_marks_are_learned_from_vectors(tmp_path: Path) -> None:
    nlp = build(**network(["NORM", "SUFFIX"]))
    examples = make_examples(nlp, tmp_path)
    nlp.initialize(lambda: examples)
    rng, optimizer = random.Random(0), Adam(0.01)
    for _ in range(25):
        rng.shuffle(examples)
        for low in range(0, len(examples), 4):
            nlp.update(examples[low : low + 4], sgd=optimizer)
    assert nlp("where did she go she went to the mill")._.restored.startswith("Where did she go? She went to the mill")
