"""A temperature for tokens with several gold tags."""

from pathlib import Path

import pytest
import spacy
from spacy.tokens import Doc

from spacy_crf import Corpus, calibrate

ROWS = [f"w\tA:0.6|B:0.4\ny\t{'D' if number % 10 < 7 else 'E'}\n" for number in range(200)]


@pytest.mark.parametrize("learn_from, found", [("soft", [0.6, 0.7]), ("marginal", None)])
def test_exact_probabilities_stay_as_they_are(tmp_path: Path, learn_from: str, found: list[float] | None) -> None:
    path = tmp_path / "text.tsv"
    path.write_text("\n".join(ROWS), encoding="utf8")
    nlp = spacy.blank("xx")
    features = {"@misc": "spacy_crf.Features.v1", "templates": ["LOWER"]}
    trainer = {"@misc": "spacy_crf.LBFGS.v1", "c2": 0.01, "iterations_per_step": 60}
    config = {"features": features, "trainer": trainer, "learn_from": learn_from}
    tagger = nlp.add_pipe("set_valued_tagger", config=config)
    examples = list(Corpus(path, format="tagsets")(nlp))
    nlp.update(examples, sgd=nlp.initialize(lambda: examples))
    fitted = calibrate(tagger, examples)
    if found is not None:
        doc = nlp(Doc(nlp.vocab, words=["w", "y"]))
        assert [max(token._.tag_probs.values()) for token in doc] == pytest.approx(found, abs=0.02)
    assert fitted.temperature == pytest.approx(1, abs=0.05)
    assert fitted.after.error == pytest.approx(0 if learn_from == "soft" else fitted.before.error, abs=0.02)


def test_gold_with_all_tags_is_known_by_its_weights(tmp_path: Path) -> None:
    path = tmp_path / "text.tsv"
    path.write_text("\n".join(["w\tA:0.6|B:0.4\n"] * 20), encoding="utf8")
    nlp = spacy.blank("xx")
    trainer = {"@misc": "spacy_crf.LBFGS.v1", "c2": 0.01, "iterations_per_step": 60}
    tagger = nlp.add_pipe("set_valued_tagger", config={"trainer": trainer})
    examples = list(Corpus(path, format="tagsets")(nlp))
    nlp.update(examples, sgd=nlp.initialize(lambda: examples))
    fitted = calibrate(tagger, examples)
    assert fitted.temperature == pytest.approx(1, abs=0.05) and fitted.after.counts.sum() == 20


def test_tags_that_the_component_lacks_are_missed(tmp_path: Path) -> None:
    path = tmp_path / "text.tsv"
    path.write_text("\n".join(ROWS[:20]), encoding="utf8")
    nlp = spacy.blank("xx")
    tagger = nlp.add_pipe("set_valued_tagger")
    examples = list(Corpus(path, format="tagsets")(nlp))
    nlp.update(examples, sgd=nlp.initialize(lambda: examples))
    path.write_text("\n".join([*ROWS[:20], "w\tA:0.5|X:0.5\ny\tX|Z\nv\t_\n"]), encoding="utf8")
    held_out = tagger.held_out(list(Corpus(path, format="tagsets")(nlp)))
    assert held_out.missed is not None and held_out.missed.sum() == 1
    assert (held_out.judged.sum(), held_out.known.sum()) == (42, 41)


def test_tags_that_the_component_lacks_are_not_right(tmp_path: Path) -> None:
    path = tmp_path / "text.tsv"
    path.write_text("\n".join(["w\tA\ny\tD\n"] * 20), encoding="utf8")
    nlp = spacy.blank("xx")
    tagger = nlp.add_pipe("set_valued_tagger")
    examples = list(Corpus(path, format="tagsets")(nlp))
    nlp.update(examples, sgd=nlp.initialize(lambda: examples))
    path.write_text("\n".join(["w\tA\ny\tD\n"] * 15 + ["w\tX\ny\tA\n"] * 5), encoding="utf8")
    after = calibrate(tagger, Corpus(path, format="tagsets")(nlp)).after
    assert (after.counts * after.accuracies).sum() == pytest.approx(30)
