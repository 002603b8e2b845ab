"""The component: what it writes, what it leaves alone, and its settings."""

import pickle
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import spacy
from helpers.chains import distribution_of
from helpers.punctuated import BARE, FULL, MARKS, TEXTS, build, make_examples, same_words, train, trained
from helpers.weights import dense_weights
from hypothesis import given
from hypothesis import strategies as st
from spacy.cli.find_threshold import find_threshold
from spacy.language import Language
from spacy.tokens import Doc, DocBin, Token
from spacy.training import Example

from spacy_crf.annotation.extensions import shown_values
from spacy_crf.core.chain.potentials import potentials
from spacy_crf.core.errors import CRFWarning
from spacy_crf.corpora.docbin import cut_doc
from spacy_crf.features.columns import TRUNCATED
from spacy_crf.learning.model import get_layout
from spacy_crf.learning.scores import encode
from spacy_crf.punctuation.docs import WordView, gold_labels, write_gold
from spacy_crf.punctuation.passages import mixed_forms
from spacy_crf.punctuation.reader import PunctuationCorpus
from spacy_crf.punctuation.scorer import punctuation_score


def test_text_is_restored(folder: Path) -> None:
    doc = trained(folder)(BARE)
    assert doc._.restored == FULL and doc.text == BARE
    assert [t._.punct_after for t in doc if t._.punct_after] == ["COMMA", "QUESTION", "PERIOD"]
    assert [sent.text for sent in doc.sents] == ["well what did she say", "she said that the mill was sold"]
    text = doc.text
    for start, end, replacement in reversed(doc._.restoration):
        text = text[:start] + replacement + text[end:]
    assert text == FULL


def test_case_is_restored_with_the_marks(folder: Path) -> None:
    nlp = trained(folder, has_case=True)
    doc = nlp("is the iboat new yes ada thorpe said so of course the bbw said so")
    assert "iBoat" in doc._.restored and "Ada Thorpe" in doc._.restored and "BBW" in doc._.restored
    assert {t.text: t._.case for t in doc}["iboat"] == "mixed"
    assert nlp.get_pipe("punctuation_restorer").cfg["mixed_forms"] == {"iboat": "iBoat"}


def test_probabilities_sum_to_one_and_agree_with_thresholds(folder: Path) -> None:
    nlp = trained(folder, has_case=True)
    doc = nlp(BARE)
    for token in doc:
        found = token._.punct_probs
        assert set(found) == {"", "COMMA", "PERIOD", "QUESTION"} and sum(found.values()) == pytest.approx(1, abs=1e-5)
    pipe = nlp.get_pipe("punctuation_restorer")
    for threshold in (0.05, 0.3, 0.9):
        pipe.cfg["thresholds"] = {"COMMA": threshold, "PERIOD": 1.0, "QUESTION": 1.0}
        marked = [t._.punct_after for t in nlp(BARE)]
        assert marked == ["COMMA" if t._.punct_probs["COMMA"] >= threshold else "" for t in doc]
    pipe.cfg["thresholds"] = {}
    for threshold in (0.01, 0.2, 0.7):
        pipe.cfg["threshold"] = threshold
        marked = [bool(t._.punct_after) for t in nlp(BARE)]
        assert marked == [1 - t._.punct_probs[""] >= threshold for t in doc]


def test_case_follows_marks_that_a_threshold_sets(folder: Path) -> None:
    """Labels that are chosen word by word would leave some of the words behind end marks in lower case."""
    trainer = {"@misc": "spacy_crf.LBFGS.v1", "c2": 0.5, "iterations_per_step": 40}
    nlp = train(folder, marks={**MARKS, "case": True, "kinds": ["QUESTION"]}, trainer=trainer)
    nlp.get_pipe("punctuation_restorer").cfg["threshold"] = 0.3
    for text in (
        "she went home then it was dark where is ada the boat was old",
        "well the old one it is sold who was there i saw it she went by boat",
    ):
        doc = nlp(text)
        ended = [token for token in doc[:-1] if token._.punct_after in ("PERIOD", "QUESTION")]
        assert len(ended) >= 2 and all(token.nbor()._.case == "Title" for token in ended)


def test_thresholds_are_found(folder: Path, tmp_path: Path) -> None:
    trained(folder).to_disk(tmp_path / "model")
    DocBin(docs=map(spacy.blank("en"), TEXTS.strip().splitlines())).to_disk(tmp_path / "dev.spacy")
    _, score, scores = find_threshold(
        tmp_path / "model",
        tmp_path / "dev.spacy",
        "punctuation_restorer",
        "threshold",
        "punct_f",
        n_trials=5,
        silent=True,
    )
    assert len(scores) == 5 and score > 0.9


def test_marks_that_are_there_are_overridden_or_kept(folder: Path) -> None:
    wrong = "Well; what, did she say she said that the mill was sold."
    assert trained(folder)(wrong)._.restored == FULL
    kept = trained(folder, existing="keep")(wrong)
    assert kept._.restored.startswith("Well; what, did she say")
    assert kept[2]._.punct_after == "COMMA"
    assert trained(folder)(FULL)._.restoration == []


@pytest.mark.parametrize(
    "text", ['"What did she say?", she said.', "Was it sold (the mill!). She said", "Ada („she“,“), so"]
)
def test_quotation_marks_and_brackets_between_marks_stay(folder: Path, text: str) -> None:
    signs = [sign for sign in text if sign in '"()„“']
    restored = trained(folder)(text)._.restored
    assert [sign for sign in restored if sign in '"()„“'] == signs and same_words(text, restored)


@pytest.mark.parametrize("face", [":)", ":-(", ";)"])
@pytest.mark.parametrize("behind", ["{}.", "{} .", "{}!)"])
def test_emoticons_stay_and_marks_behind_them_are_those_of_the_model(folder: Path, face: str, behind: str) -> None:
    text = f"well what did she say {behind.format(face)} she said that the mill was sold"
    doc = trained(folder)(text)
    assert same_words(text, doc._.restored)
    end = text.index(face) + len(face)
    (told,) = (token._.punct_after for token in doc if token.idx + len(token) == end)
    rest = doc._.restored.partition(face)[2].lstrip()
    assert rest[:1] == {"PERIOD": ".", "QUESTION": "?", "COMMA": ","}[told] if told else rest[:1] not in set(".,?!")


@pytest.mark.parametrize("settings", [{"thresholds": {"QUESTION": 0.9}}, {"threshold": 1.0}])
def test_marks_that_are_kept_need_no_threshold(folder: Path, settings: dict[str, object]) -> None:
    doc = trained(folder, has_case=True, existing="keep", **settings)("well, what did she say. she said that")
    assert [t._.punct_after for t in doc if t._.punct_after][:2] == ["COMMA", "PERIOD"]
    assert doc._.restored.startswith("Well, what did she say. She said")
    assert [sent.text for sent in doc.sents][:1] == ["well, what did she say."]


@pytest.mark.parametrize("threshold", [0.0, 0.3])
def test_marks_are_kept_that_training_never_saw_in_such_a_sentence(folder: Path, threshold: float) -> None:
    nlp = build(marks={**MARKS, "case": True, "kinds": ["QUESTION"]}, existing="keep", threshold=threshold)
    pipe, examples = nlp.get_pipe("punctuation_restorer"), make_examples(nlp, folder)
    seen = {str(label) for eg in examples for label in gold_labels(eg, pipe.label_scheme)}
    labels = sorted(label for label in seen if not (label.startswith("COMMA") and label.endswith("@QUESTION")))
    assert len(labels) < len(seen)
    pipe.initialize(lambda: examples, nlp=nlp, labels=labels)
    with pytest.warns(CRFWarning, match="CRFW979"):
        nlp.update(examples)
    known, hard = nlp.pipe(["it is old, it is", "what, did? she, is? ada went home."])
    assert [t._.punct_after for t in known if t._.punct_after][:1] == ["COMMA"]
    assert hard._.restored.lower() == hard.text and hard._.restored.endswith("? Ada went home.")
    marks = [t._.punct_after for t in hard if t._.punct_after]
    assert marks == ["COMMA", "QUESTION", "COMMA", "QUESTION", "PERIOD"]


def test_marks_of_the_text_are_not_looked_at(folder: Path) -> None:
    nlp = trained(folder)
    bare, full = nlp(BARE), nlp(FULL)
    ours = [t._.punct_after for t in full if t.is_alpha]
    assert ours == [t._.punct_after for t in bare]


def test_the_best_texts_are_listed(folder: Path) -> None:
    doc = trained(folder, n_best=4)(BARE)
    listed = doc._.restorations
    assert listed[0]["text"] == doc._.restored and len(listed) == 4
    probabilities = [one["probability"] for one in listed]
    assert probabilities == sorted(probabilities, reverse=True) and sum(probabilities) <= 1 + 1e-6
    assert len({one["text"] for one in listed}) == 4


def test_texts_of_several_labellings_are_listed_by_their_sums(folder: Path) -> None:
    """The case of a number changes nothing: labels that differ in it alone make one text."""
    nlp = trained(folder, has_case=True, n_best=60)
    for text in ("she said 1200 and 17 then it was dark", "what did she say 3 4 5 that the mill was sold"):
        probabilities = [one["probability"] for one in nlp(text)._.restorations]
        assert probabilities == sorted(probabilities, reverse=True)


def test_marks_can_be_corrected_in_documents_that_were_stored(folder: Path) -> None:
    stored = DocBin(store_user_data=True, docs=[trained(folder, has_case=True)(BARE)])
    (doc,) = DocBin().from_bytes(stored.to_bytes()).get_docs(spacy.blank("en").vocab)
    doc[1]._.punct_after, doc[2]._.case = "COMMA", "UPPER"
    assert doc[1]._.punct_after == "COMMA" and doc[2]._.case == "UPPER"


@pytest.mark.parametrize(
    "text", ["", " ", "word", "👍 🙂", "...", "مرحبا كيف الحال", "好 的", "42 , 17", "a\n\nb\tc", "x" * 10_000, "— — —"]
)
def test_odd_texts(folder: Path, text: str) -> None:
    for existing in ("keep", "override"):
        nlp = trained(folder, has_case=True, existing=existing)
        doc = nlp(text)
        assert doc.text == text
        assert [c for c in doc._.restored.casefold() if c.isalnum()] == [c for c in text.casefold() if c.isalnum()]
        assert len(doc._.punctuation["marks"]) == len(doc)


known = cache(trained)
texts = st.lists(
    st.sampled_from([*BARE.split(), "Ada", "–", ",", "don't", "🙂", "(so)", "e.g.", "\n", "ΑΣ"]), max_size=12
)


@pytest.mark.promise
@given(texts.map(" ".join), st.booleans())
def test_words_and_offsets_never_change(folder: Path, text: str, has_case: bool) -> None:
    nlp = known(folder, has_case)
    doc = nlp(text)
    assert doc.text == text and [t.text for t in doc] == [t.text for t in nlp.make_doc(text)]
    assert same_words(text, doc._.restored)


def test_it_is_stored(folder: Path, tmp_path: Path) -> None:
    nlp = trained(folder, has_case=True)
    nlp.to_disk(tmp_path / "model")
    again = spacy.load(tmp_path / "model")
    assert again(BARE)._.restored == nlp(BARE)._.restored
    assert again.to_bytes() == nlp.to_bytes()
    doc = Doc(nlp.vocab).from_bytes(nlp(BARE).to_bytes())
    assert doc._.restored == nlp(BARE)._.restored and doc[0]._.punct_after == "COMMA" and doc[0]._.punct_probs


def test_scores_of_what_was_learned(folder: Path) -> None:
    nlp = trained(folder, has_case=True)
    scores = nlp.evaluate(make_examples(nlp, folder))
    assert scores["punct_f"] == scores["word_acc"] == scores["case_acc"] == scores["sent_boundary_f"] == 1
    assert scores["punct_ser"] == 0 and scores["punct_f_per_type"]["COMMA"]["f"] == 1
    assert 0.5 < scores["word_acc_none"] < 1


def test_scores_against_a_count_by_hand() -> None:
    nlp = build()
    words = ["a", "b", "c", "d", "e"]
    predicted, reference = Doc(nlp.vocab, words=words), Doc(nlp.vocab, words=words)
    write_gold(predicted, ["COMMA", "PERIOD", "", "QUESTION", ""])
    write_gold(reference, ["COMMA", "COMMA", "PERIOD", "EXCLAMATION", ""])
    settings = {"marks": ["COMMA", "PERIOD", "QUESTION"], "collapse": {"EXCLAMATION": "PERIOD"}}
    scores = punctuation_score([Example(predicted, reference)], ends=["PERIOD", "QUESTION"], **settings)
    assert scores["punct_p"] == pytest.approx(1 / 3) and scores["punct_r"] == pytest.approx(1 / 4)
    assert scores["punct_ser"] == pytest.approx(3 / 4) and scores["word_acc"] == pytest.approx(2 / 5)
    assert scores["word_acc_none"] == pytest.approx(1 / 5)
    assert scores["punct_f_per_type"]["COMMA"] == {"p": 1, "r": 0.5, "f": pytest.approx(2 / 3)}
    assert scores["sent_boundary_f"] == pytest.approx(0.5) and scores["case_acc"] is None
    write_gold(reference, ["COMMA", "COMMA", "PERIOD", "EXCLAMATION", "PERIOD"])
    scores = punctuation_score([Example(predicted, reference)], ends=["PERIOD", "QUESTION"], **settings)
    assert scores["punct_r"] == pytest.approx(1 / 5) and scores["punct_f_inner"] == pytest.approx(2 / 7)


def test_gold_of_words_that_are_split_otherwise_is_unknown() -> None:
    nlp = build()
    scheme = nlp.get_pipe("punctuation_restorer").label_scheme
    example = Example(nlp.make_doc("so it is n't here"), nlp.make_doc("So, it isn't here."))
    marks = [label and label.mark for label in gold_labels(example, scheme)]
    assert marks == ["COMMA", "O", None, None, "PERIOD"]


def test_apostrophes_of_either_kind_are_the_same_letters() -> None:
    """Training text may have typographic ones, where the chain sees straight ones."""
    nlp = build()
    pipe = nlp.get_pipe("punctuation_restorer")
    reference = nlp.make_doc("So, it isn’t Ada’s.")
    for text in ("so it isn't ada's", "so it isn’t ada’s"):
        example = Example(pipe.bare(Doc(nlp.vocab, words=text.split())), reference)
        labels = gold_labels(example, pipe.label_scheme)
        assert [label and label.mark for label in labels] == ["COMMA", "O", "O", "PERIOD"]


def test_gold_of_another_text_is_refused() -> None:
    nlp = build()
    example = Example(nlp.make_doc("so it is"), nlp.make_doc("So, it was."))
    with pytest.raises(ValueError, match="CRF975.*So, it was"):
        gold_labels(example, nlp.get_pipe("punctuation_restorer").label_scheme)


def test_training_on_punctuated_docs_needs_no_reader(folder: Path) -> None:
    nlp = build()
    lines = TEXTS.strip().splitlines()
    examples = [Example(nlp.make_doc(line), nlp.make_doc(line)) for line in lines]
    nlp.initialize(lambda: examples)
    nlp.update(examples)
    assert nlp(BARE)._.restored == FULL


@pytest.mark.parametrize("sides", [[True, True], [False, True], [True, False]])
def test_scores_at_open_sides_are_those_of_training(folder: Path, sides: list[bool]) -> None:
    pipe = trained(folder).get_pipe("punctuation_restorer")
    doc = Doc(pipe.vocab, words=BARE.split())
    doc.user_data[TRUNCATED] = sides
    columns = pipe.read_columns([doc])
    looked_up = distribution_of(pipe, columns).chains.emissions
    features = potentials(encode(columns, pipe.features), dense_weights(pipe.model), get_layout(pipe.model)).emissions
    np.testing.assert_allclose(looked_up, features, atol=1e-4)
    closed = distribution_of(pipe, pipe.read_columns([Doc(pipe.vocab, words=BARE.split())])).chains.emissions
    assert not np.allclose(closed, looked_up)


def test_words_of_tokens() -> None:
    nlp = build()
    view = WordView.of(nlp.make_doc("I don't know (yet)."), nlp.get_pipe("punctuation_restorer").label_scheme)
    assert view.forms == ["I", "don't", "know", "yet"]
    assert view.first_tokens.tolist() == [0, 1, 3, 5] and view.last_tokens.tolist() == [0, 2, 3, 5]


@pytest.mark.parametrize(
    "text, expected",
    [
        ("Go. “Why not?” (No. I did.)", ["Go", "“", "not", "(", "I", "did"]),
        ('Go! "No," said "Ada." "It was.', ["Go", '"', "said", '"', '"', "was"]),
        ("(¿Go? «No»", ["(", "«"]),
        ("Geh. »Nein!« Er ging.", ["Geh", "»", "Er", "ging"]),
    ],
)
def test_sentences_begin_with_what_opens_them(text: str, expected: list[str]) -> None:
    nlp = build()
    doc = nlp.make_doc(text)
    view = WordView.of(doc, nlp.get_pipe("punctuation_restorer").label_scheme)
    found = view.opening_tokens(np.arange(len(view.words)))
    assert [doc[place].text for place in found.tolist()] == expected


def test_a_sentence_starts_with_its_quotation_mark(folder: Path) -> None:
    doc = trained(folder, existing="keep")("She went home. “Did she go?”")
    assert [sent.text for sent in doc.sents][-1] == "“Did she go?”"


def test_abbreviations_reach_the_scorer(folder: Path) -> None:
    nlp = build(marks={**MARKS, "abbreviations": ["bzw"]})
    reference = nlp.make_doc("so bzw. it")
    predicted = nlp.make_doc("so bzw. it")
    write_gold(predicted, [""] * len(predicted))
    pipe = nlp.get_pipe("punctuation_restorer")
    assert pipe.score([Example(predicted, reference)])["word_acc"] == 1.0
    pipe.cfg.learn(abbreviations=[])
    assert pipe.score([Example(predicted, reference)])["word_acc"] == pytest.approx(2 / 3)


def test_features_read_annotation_of_the_words(folder: Path) -> None:
    features = {"@misc": "spacy_crf.Features.v1", "templates": ["TAG[-1..1]", "LOWER"]}
    nlp = build(features=features)
    doc = Doc(nlp.vocab, words=["do", "n't", "go"], spaces=[False, True, False], tags=["VB", "RB", "VB"])
    bare = nlp.get_pipe("punctuation_restorer").bare(doc)
    assert [(t.text, t.tag_) for t in bare] == [("don't", "VB"), ("go", "VB")]


def test_mixed_forms_are_the_frequent_ones() -> None:
    assert mixed_forms(["iBoat", "IBoat", "iBoat", "Ada", "McKay"]) == {"iboat": "iBoat", "mckay": "McKay"}


def test_labels_may_be_given(folder: Path) -> None:
    nlp = build()
    examples = make_examples(nlp, folder)
    nlp.get_pipe("punctuation_restorer").initialize(
        lambda: examples, nlp=nlp, labels=["O", "PERIOD", "COMMA", "QUESTION", "DASH"]
    )
    with pytest.warns(CRFWarning, match="CRFW401.*: DASH"):
        nlp.update(examples)
    assert nlp.get_pipe("punctuation_restorer").labels == ("COMMA", "DASH", "O", "PERIOD", "QUESTION")


@pytest.mark.parametrize(
    "setting, value",
    [
        ("threshold", 1.5),
        ("thresholds", {"DASH": 0.5}),
        ("thresholds", {"COMMA": 0.0}),
        ("temperature", 0.0),
        ("n_best", -1),
        ("n_best", 10**9),
    ],
)
def test_settings_without_meaning(setting: str, value: object) -> None:
    with pytest.raises(ValueError, match=f"CRF408.*{setting}"):
        build(**{setting: value})


def test_online_training(folder: Path) -> None:
    nlp = build(trainer={"@misc": "spacy_crf.Perceptron.v1"}, marks=MARKS)
    examples = make_examples(nlp, folder, window=6)
    nlp.initialize(lambda: examples)
    for _ in range(10):
        nlp.update(examples)
    assert nlp.evaluate(make_examples(nlp, folder))["punct_f"] > 0.8


def test_loss_falls(folder: Path) -> None:
    nlp = train(folder)
    pipe, examples = nlp.get_pipe("punctuation_restorer"), make_examples(nlp, folder)
    learned = pipe.get_loss(examples, pipe.predict([eg.predicted for eg in examples]))
    assert 0 < learned < 30


def test_a_question_is_of_one_kind_to_its_end(folder: Path) -> None:
    nlp = train(folder, marks={**MARKS, "kinds": ["QUESTION"]})
    pipe = nlp.get_pipe("punctuation_restorer")
    assert "O|@QUESTION" in pipe.labels
    assert nlp.evaluate(make_examples(nlp, folder, window=5))["punct_f"] > 0.9
    doc = nlp(BARE)
    assert doc._.restored == FULL
    tags = [pipe.tags.tags[k] for k in pipe.predict([nlp.make_doc(BARE)])[0].prediction.tags]
    assert tags[1:5] == ["O|@QUESTION"] * 3 + ["QUESTION"]


def test_kinds_are_marks_that_end_sentences() -> None:
    with pytest.raises(ValueError, match="CRF979"):
        build(marks={**MARKS, "kinds": ["COMMA"]})


def test_pauses_are_features(folder: Path) -> None:
    if not Token.has_extension("punct_test_pause"):
        Token.set_extension("punct_test_pause", default=None)
    nlp = build(features={"@misc": "spacy_crf.Features.v1", "templates": ["_.punct_test_pause", "BIAS"]})
    examples = make_examples(nlp, folder)
    for example in examples:
        gold = gold_labels(example, nlp.get_pipe("punctuation_restorer").label_scheme)
        for token, label in zip(example.predicted, gold):
            token._.punct_test_pause = {"PERIOD": 1.0, "QUESTION": 1.0, "COMMA": 0.4}.get(label.mark, 0.1)
    nlp.initialize(lambda: examples)
    nlp.update(examples)
    doc = nlp.make_doc("it was old she saw it")
    for token, pause in zip(doc, [0.1, 0.1, 1.0, 0.1, 0.1, 1.0]):
        token._.punct_test_pause = pause
    assert [bool(token._.punct_after) for token in nlp(doc)] == [False, False, True, False, False, True]
    Token.remove_extension("punct_test_pause")


def test_computed_attributes_are_those_of_the_text() -> None:
    """What computes one looks at the tokens and the annotation of the Doc, which the words alone do not have."""
    Token.set_extension("punct_test_verb", getter=lambda token: "verb" if token.tag_ == "V" else "other")

    def tagged(words: str) -> Doc:
        doc = Doc(restorer.vocab, words=words.split())
        for token in doc:
            token.tag_ = "V" if token.text in ("sails", "sinks") else "N"
        return doc

    restorer = build(features={"@misc": "spacy_crf.Features.v1", "templates": ["_.punct_test_verb"]})
    texts = ["the old boat sails. she sinks. a boat of ours sails.", "the old ferry sinks. it sails. the boat sinks."]
    examples = [Example(tagged(text.replace(".", "")), restorer.make_doc(text)) for text in texts]
    restorer.initialize(lambda: examples)
    for _ in range(3):
        restorer.update(examples)
    doc = restorer(tagged("a ferry with a mast sinks another sails the boat of my father sinks"))
    Token.remove_extension("punct_test_verb")
    assert doc._.restored.count(".") == 3
    assert [token.text for token in doc if token._.punct_after] == ["sinks", "sails", "sinks"]


def test_computed_attributes_of_a_part_are_those_of_the_whole() -> None:
    """As `crf experiment` deals out documents, whose annotation is that of the whole."""
    Token.set_extension("punct_test_place", getter=lambda token: str(token.i))
    nlp = build(features={"@misc": "spacy_crf.Features.v1", "templates": ["_.punct_test_place"]})
    restorer = nlp.get_pipe("punctuation_restorer")
    parts = list(cut_doc(nlp.make_doc("they swim we row"), [0, 2], asks_whole=True))
    values = [shown_values(restorer.bare(part), "punct_test_place") for part in parts]
    Token.remove_extension("punct_test_place")
    assert values == [["0", "1"], ["2", "3"]]


def learn(texts: list[Doc], **config: object) -> Language:
    """A pipeline that has learned gold Docs."""
    nlp = build(**config)
    examples = [
        Example(Doc(nlp.vocab, words=nlp.get_pipe("punctuation_restorer").view(doc).forms), doc) for doc in texts
    ]
    nlp.initialize(lambda: examples)
    for _ in range(3):
        nlp.update(examples)
    return nlp


@pytest.mark.parametrize("name", ["thank you for it; how is she", "she was late! what is it", "we left – what is it"])
@pytest.mark.parametrize("settings", [{}, {"threshold": 0.05}, {"thresholds": {"QUESTION": 0.01, "COMMA": 0.01}}])
@pytest.mark.parametrize("has_case", [False, True])
def test_kept_marks_that_are_not_restored_are_settled(
    folder: Path, name: str, settings: dict[str, object], has_case: bool
) -> None:
    """Text, labels and sentences agree: the word has no other mark, and a sentence begins behind one that ends it."""
    nlp = trained(folder, has_case, existing="keep", **settings)
    pipe = nlp.get_pipe("punctuation_restorer")
    doc = nlp(name)
    sign = next(token for token in doc if token.text in ";!–")
    assert sign.nbor(-1)._.punct_after == ("PERIOD" if sign.text == "!" else "")  # EXCLAMATION is learned as PERIOD
    assert sign.text in doc._.restored and not any(f"{mark}{sign.text}" in doc._.restored for mark in ",.?")
    assert sign.nbor().is_sent_start == (sign.text == "!")
    assert pipe.settings.existing == "keep"


def test_a_mark_that_no_label_has_starts_a_sentence(folder: Path) -> None:
    marks = {"@misc": "spacy_crf.Marks.v1", "marks": ["COMMA", "PERIOD", "QUESTION"]}
    for existing in ("keep", "override"):
        nlp = train(folder, marks=marks, existing=existing, thresholds={"PERIOD": 1.0, "COMMA": 1.0, "QUESTION": 1.0})
        doc = nlp("she was late! it is old")
        assert doc._.restored == "She was late! It is old"
        assert [sentence.text for sentence in doc.sents] == ["she was late!", "it is old"]
        assert not any(token._.punct_after for token in doc)


def test_signs_among_tokens_are_marks() -> None:
    """Column files do not tell white space: each sign is a token there."""
    vocab = spacy.blank("en").vocab
    words = [["Well", ",", "it", "is", '"', "so", ".", '"'], ["Is", "it", "?"], ["It", "is", "-", "so", "..."]]
    docs = [Doc(vocab, words=own) for own in words * 3]
    nlp = learn(docs)
    assert nlp.get_pipe("punctuation_restorer").labels == ("COMMA", "O", "PERIOD", "QUESTION")
    assert nlp("well it is so")._.restored == "Well, it is so."
    assert nlp(Doc(vocab, words=words[0]))._.restored == 'Well , it is " so . " '
    assert [token._.punct_after for token in nlp(Doc(vocab, words=["Is", "it", "?"]))] == ["", "QUESTION", ""]


def test_white_space_among_tokens_is_no_word(folder: Path) -> None:
    """A Doc of the tokens of another one has line breaks among its words: they parted words that belong together, and
    counted in figures."""
    nlp = trained(folder)
    broken = Doc(nlp.vocab, words=[form for word in BARE.split() for form in (word, "\n\n")])
    plain, found = nlp(Doc(nlp.vocab, words=BARE.split())), nlp(broken.copy())
    marks = [token._.punct_after for token in found]
    assert marks[::2] == [token._.punct_after for token in plain] and any(marks)
    assert not any(marks[1::2])
    scores = nlp.get_pipe("punctuation_restorer").score([Example(found, plain)])
    assert scores["word_acc"] == 1
    blank = nlp(Doc(nlp.vocab, words=[" ", "\n"]))
    assert nlp.get_pipe("punctuation_restorer").score([Example(blank, blank)])["word_acc"] is None


def test_training_texts_without_marks_are_told() -> None:
    docs = [Doc(build().vocab, words=["so", "it", "is"])]
    with pytest.warns(UserWarning, match="CRFW975.*COMMA, PERIOD, QUESTION"):
        assert learn(docs).get_pipe("punctuation_restorer").labels == ("O",)


def test_training_texts_without_white_space_are_told() -> None:
    nlp = build()
    with pytest.warns(UserWarning, match="CRFW976.*2 of 2"):
        learn([nlp.make_doc("ข้อความภาษาไทยที่ไม่มีช่องว่างระหว่างคำในประโยคเลย. " * 2)])


@pytest.mark.parametrize(
    "text, bare, restored",
    [
        ("مرحبا، كيف حالك؟ انا بخير.", "مرحبا كيف حالك انا بخير", "مرحبا، كيف حالك؟ انا بخير."),
        ("我是学生。你好吗？他说，我们走。", "我是学生你好吗他说我们走", "我是学生。你好吗？他说，我们走。"),
        ("well, is it so? it is.", "well is it so it is", "Well, is it so? It is."),
    ],
)
def test_marks_are_spelt_as_in_training(tmp_path: Path, text: str, bare: str, restored: str) -> None:
    (tmp_path / "a.txt").write_text(text, encoding="utf8")
    nlp = build()
    examples = list(PunctuationCorpus(tmp_path)(nlp))
    nlp.initialize(lambda: examples)
    for _ in range(3):
        nlp.update(examples)
    nlp.to_disk(tmp_path / "model")
    for one in (nlp, spacy.load(tmp_path / "model"), learn([nlp.make_doc(text)])):
        assert one(bare)._.restored == restored
    assert nlp(restored)._.restoration == []


def test_word_lists_know_words(tmp_path: Path) -> None:
    """The chain runs over words, whatever the tokenizer makes of them."""
    (tmp_path / "list.tsv").write_text("don’t\tX\nwell-known fact\tY\noh, well\tZ\ni'm\tX\n", encoding="utf8")
    lists = {"own": str(tmp_path / "list.tsv")}
    nlp = learn(
        [spacy.blank("en").make_doc("So, I don't. I'm.")],
        features={"@misc": "spacy_crf.Features.v1", "templates": ["LIST(own)", "LOWER"], "lists": lists},
    )
    (column,) = [
        one
        for name, one in nlp.get_pipe("punctuation_restorer")
        .read_columns([nlp.make_doc("I don't, oh well: a well-known fact I'm")])
        .by_attribute.items()
        if name.name == "LIST"
    ]
    found = [column.strings.get(value, "") for value in column.hashes.tolist()]
    assert found == ["", "X", "Z", "I-Z", "", "Y", "I-Y", "X"]


def test_a_component_goes_to_other_processes() -> None:
    nlp = spacy.blank("es")
    pipe = nlp.add_pipe("punctuation_restorer", config={"marks": {"marks": ["COMMA", "PERIOD"], "language": "es"}})
    assert pickle.loads(pickle.dumps(pipe)).label_scheme == pipe.label_scheme  # type: ignore[attr-defined]


def test_words_whose_mark_is_not_known_are_unknown(tmp_path: Path) -> None:
    """Gold of a text that is checked in part says nothing of the rest, whatever unit and window it is read in."""
    nlp = build(marks={**MARKS, "case": True, "kinds": ["QUESTION"]})
    words = ["Is", "it", "old", "yes", "IT", "Is"]
    doc = Doc(nlp.vocab, words=words)
    write_gold(doc, ["", "", "QUESTION", "COMMA", None, "PERIOD"])
    path = tmp_path / "checked.spacy"
    DocBin(store_user_data=True, docs=[doc]).to_disk(path)
    example, *others = PunctuationCorpus(path)(nlp)
    assert not others and example.predicted.text.split() == ["is", "it", "old", "yes", "it", "is"]
    scheme = nlp.get_pipe("punctuation_restorer").label_scheme
    assert [label and str(label) for label in gold_labels(example, scheme)] == [
        *("O|Title|@QUESTION", "O|lower|@QUESTION", "QUESTION|lower"),
        *("COMMA|lower|@?", None, "PERIOD|Title"),  # it may end the sentence that "yes" is in
    ]
    labels = ["COMMA|lower", "COMMA|lower|@QUESTION"]
    nlp.initialize(lambda: [example])
    pipe = nlp.get_pipe("punctuation_restorer")
    found = {*pipe.labels}
    assert {label.partition("|")[0] for label in found} == {"O", "COMMA", "QUESTION", "PERIOD"}
    pipe.initialize(lambda: [example], nlp=nlp, labels=sorted(found | {*labels}))
    nlp.update([example])
    gold = pipe.gold([example], np.array([6]))
    assert gold.rows.tolist() == [3, 4]
    assert {label for label, weight in zip(pipe.labels, gold.weights[0]) if weight} == {*labels}
    assert gold.weights[1].all()
    assert len(list(PunctuationCorpus(path, unit="sentence")(nlp))) == 2
    (text,) = PunctuationCorpus(path).read_texts(nlp)
    assert text.text == "Is it old? yes, IT Is."
    assert WordView.of(text, scheme).marked().marks == ["", "", "QUESTION", "COMMA", None, "PERIOD"]


def test_what_stands_around_words_is_known_where_a_mark_is_not(tmp_path: Path) -> None:
    nlp = build(marks={**MARKS, "pairs": True, "kinds": ["QUESTION"]})
    scheme = nlp.get_pipe("punctuation_restorer").label_scheme
    doc = Doc(nlp.vocab, words=["he", "said", "hello", "there", "friend"])
    write_gold(doc, ["", None, "", "", "QUESTION"], ["", "", "QUOTE", "", ""], ["", "", "", "", "QUOTE"])
    path = tmp_path / "checked.spacy"
    DocBin(store_user_data=True, docs=[doc]).to_disk(path)
    (text,) = PunctuationCorpus(path).read_texts(nlp)
    (example,) = PunctuationCorpus(path)(nlp)
    assert WordView.of(text, scheme).labels(scheme) == WordView.of(example.reference, scheme).labels(scheme)


def test_windows_before_an_unknown_mark_do_not_know_its_sentence(tmp_path: Path) -> None:
    nlp = build(marks={**MARKS, "kinds": ["QUESTION"]})
    scheme = nlp.get_pipe("punctuation_restorer").label_scheme
    doc = Doc(nlp.vocab, words=list("abcdef"))
    write_gold(doc, ["", "", None, "", "", "QUESTION"])
    path = tmp_path / "checked.spacy"
    DocBin(store_user_data=True, docs=[doc]).to_disk(path)
    (whole,) = PunctuationCorpus(path)(nlp)
    parts = [label for eg in PunctuationCorpus(path, window=2)(nlp) for label in gold_labels(eg, scheme)]
    assert parts == gold_labels(whole, scheme)


def test_a_text_of_which_little_is_known_is_not_taken_for_a_bare_one(tmp_path: Path) -> None:
    nlp = spacy.blank("en")
    doc = Doc(nlp.vocab, words=["word"] * 300)
    write_gold(doc, [None] * 150 + [""] * 99 + [None] * 51)
    DocBin(store_user_data=True, docs=[doc]).to_disk(tmp_path / "checked.spacy")
    assert len(list(PunctuationCorpus(tmp_path / "checked.spacy")(nlp))) == 1
