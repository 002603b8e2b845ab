"""Training that goes on with other texts: labels that are new, and what was learned of forms and marks."""

from pathlib import Path
from typing import Any

import pytest
from helpers.punctuated import MARKS, build, train
from spacy.language import Language
from spacy.training import Example

from spacy_crf.core.errors import CRFError, CRFWarning
from spacy_crf.core.labels import UNKNOWN
from spacy_crf.lab.measures import calibration_of_marks
from spacy_crf.punctuation.docs import write_gold
from spacy_crf.punctuation.labels import LabelTable, parse_label
from spacy_crf.punctuation.reader import PunctuationCorpus

CASED: dict[str, Any] = {"marks": {"@misc": "spacy_crf.Marks.v1", "marks": ["PERIOD", "QUESTION"], "case": True}}


def examples_of(nlp: Language, folder: Path, *texts: str) -> list[Example]:
    path = folder / "more.txt"
    path.write_text("\n".join(texts), encoding="utf8")
    return list(PunctuationCorpus(path, unit="line")(nlp))


def trained_on(folder: Path, *texts: str) -> Language:
    nlp = build(**CASED)
    examples = examples_of(nlp, folder, *texts)
    nlp.initialize(lambda: examples)
    nlp.update(examples)
    return nlp


def test_a_mark_that_no_label_has_is_an_error(tmp_path: Path) -> None:
    nlp = trained_on(tmp_path, "The mill is old.", "A boat is new.")
    with pytest.raises(CRFError, match="CRF403.*QUESTION.*what is it"):
        nlp.update(examples_of(nlp, tmp_path, "what is it?"))


def test_of_other_labels_that_are_new_the_mark_is_learned(tmp_path: Path) -> None:
    nlp = trained_on(tmp_path, "The mill is old.", "A boat is new?")
    pipe = nlp.get_pipe("punctuation_restorer")
    assert "PERIOD|UPPER" not in pipe.labels
    examples = examples_of(nlp, tmp_path, "The boat is of the BBW.")
    with pytest.warns(CRFWarning, match="CRFW979.*PERIOD.UPPER"):
        gold = pipe.gold(examples, [6])
    assert [pipe.labels[k] for k in gold.weights[-1].nonzero()[0]] == [one for one in pipe.labels if "PERIOD" in one]


def test_gold_is_open_where_no_label_agrees() -> None:
    names = ["O|@PERIOD", "PERIOD", "QUESTION", "COMMA|@PERIOD", "COMMA|Title|@PERIOD"]
    table = LabelTable(names)
    gold = table.gold([None, *map(parse_label, ["COMMA|UPPER|@PERIOD", "COMMA|@QUESTION", "QUESTION"])])
    assert gold.labels.tolist() == [UNKNOWN, UNKNOWN, UNKNOWN, 2]
    assert gold.weights.tolist() == [[1] * 5, [0, 0, 0, 1, 1], [1] * 5]


def test_a_start_keeps_forms_and_the_spelling_of_marks(tmp_path: Path) -> None:
    trained_on(tmp_path, *["My iBoat is new。", "Is McAda here?"] * 3).to_disk(tmp_path / "saved")
    nlp = build(**CASED)
    nlp.config["initialize"]["components"]["punctuation_restorer"] = {
        "start": str(tmp_path / "saved/punctuation_restorer")
    }
    examples = examples_of(nlp, tmp_path, "The eBoat is old.", "The mill is new.")
    nlp.initialize(lambda: examples)
    cfg = nlp.get_pipe("punctuation_restorer").cfg
    assert cfg["mixed_forms"] == {"iboat": "iBoat", "mcada": "McAda", "eboat": "eBoat"}
    assert cfg["signs"] == {"PERIOD": "。"}
    assert nlp("my iboat is new")._.restored == "My iBoat is new。"


def test_a_stream_shows_its_first_examples_before_training(tmp_path: Path) -> None:
    nlp = train(tmp_path)
    nlp.config["training"]["max_epochs"] = -1
    with pytest.warns(CRFWarning, match="CRFW415.*: forms in mixed case, the spelling of marks. Set"):
        nlp.initialize(lambda: examples_of(nlp, tmp_path, "The mill is old."))


def test_marks_that_are_kept_are_not_scored(tmp_path: Path) -> None:
    nlp = train(tmp_path, existing="keep")
    reference = nlp.make_doc("No, the mill is old.")
    write_gold(reference, ["COMMA", "", "", "", "", "PERIOD", ""])
    scores = nlp.evaluate([Example(nlp.make_doc(reference.text), reference)])
    assert scores["word_acc_none"] == 1 and not scores["punct_f"]


def test_marks_that_are_kept_are_not_in_calibration_errors(tmp_path: Path) -> None:
    """A mark that is kept is certain to the model, right or wrong."""
    nlp = train(tmp_path, existing="keep")
    reference = nlp.make_doc("No, the mill is old.")
    write_gold(reference, ["QUESTION", "", "", "", "", "COMMA", ""])
    (doc,) = nlp.pipe([nlp.make_doc(reference.text)])
    pipe: Any = nlp.get_pipe("punctuation_restorer")
    unsure = [1 - doc[token]._.punct_probs[""] for token in (2, 3, 4)]
    assert calibration_of_marks(pipe, [Example(doc, reference)])["mark_ece"] <= max(unsure) < 0.5


def test_capitals_that_are_kept_are_told_and_not_scored(tmp_path: Path) -> None:
    nlp = train(tmp_path, marks={**MARKS, "case": True}, existing="keep")
    doc = nlp("She saw THE Mill. 👍 she liked it! she went home")
    words = [token for token in doc if token.is_alpha]
    assert doc._.restored.startswith("She saw THE Mill. 👍 She liked it! She went")
    cases = {"She": "Title", "THE": "UPPER", "Mill": "Title", "she": "Title"}
    assert [token._.case for token in words if token.text in cases] == [
        cases[token.text] for token in words if token.text in cases
    ]
    reference = nlp.make_doc("She saw the mill.")
    scores = nlp.evaluate([Example(nlp.make_doc("SHE saw the MILL."), reference)])
    assert scores["case_acc"] == 1 and list(scores["case_per_type"]) == ["lower"]
