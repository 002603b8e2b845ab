"""Labels that count as one."""

import time
from pathlib import Path

import numpy as np
import pytest
import spacy
from helpers import citations, tagged
from sklearn.metrics import f1_score
from spacy.tokens import Doc, Span
from spacy.training import Example

from spacy_crf.annotation.gold import partial_tags, write_partial
from spacy_crf.annotation.span_targets import target_of
from spacy_crf.core.errors import CRFError
from spacy_crf.core.labels import TagSet
from spacy_crf.lab.documents import replace_labels
from spacy_crf.lab.evaluation import evaluate, find_surprises, read_labels
from spacy_crf.lab.measures import most_frequent

LABELS = {"JOURNAL": "CONTAINER", "BOOK": "CONTAINER"}


@pytest.fixture
def doc() -> Doc:
    doc = Doc(spacy.blank("xx").vocab, words=list("abcdef"), tags=["JOURNAL", "BOOK", "DATE", "DATE", "X", ""])
    bounds = [(0, 1, "JOURNAL"), (1, 2, "BOOK"), (2, 3, "DATE"), (3, 4, "DATE")]
    spans = [Span(doc, start, end, label=label) for start, end, label in bounds]
    doc.set_ents(spans, missing=[doc[4:5]], outside=[doc[5:6]])
    doc.spans["sc"] = spans
    return doc


def test_entities_that_touch_are_joined_where_their_labels_became_one(doc: Doc) -> None:
    replace_labels(doc, LABELS, "ent", "sc")
    assert [(ent.start, ent.end, ent.label_) for ent in doc.ents] == [
        (0, 2, "CONTAINER"),
        (2, 3, "DATE"),
        (3, 4, "DATE"),
    ]
    assert [token.ent_iob for token in doc[4:]] == [0, 2]


def test_entities_of_two_sentences_stay_apart(doc: Doc) -> None:
    doc[1].is_sent_start = True
    write_partial(doc, "ent", "sc", ["B-JOURNAL", "B-BOOK", "B-DATE", "B-DATE", "", "O"])
    replace_labels(doc, {"JOURNAL": "WORK", "BOOK": "WORK", "DATE": "WORK"}, "ent", "sc")
    assert [(ent.start, ent.end) for ent in doc.ents] == [(0, 1), (1, 3), (3, 4)]
    assert partial_tags(doc, "ent", "sc") == ["B-WORK", "B-WORK", "I-WORK", "B-WORK", "", "O"]


def test_labels_that_count_as_outside_are_no_spans(doc: Doc) -> None:
    labels = {"JOURNAL": "O", "DATE": "YEAR"}
    write_partial(doc, "spans", "sc", ["B-JOURNAL", "B-BOOK", "B-DATE", "B-DATE", "", "O"])
    for target in ("ent", "spans"):
        replace_labels(doc, labels, target, "sc")
    for spans in (doc.ents, doc.spans["sc"]):
        found = [(span.start, span.end, span.label_) for span in spans]
        assert found == [(1, 2, "BOOK"), (2, 3, "YEAR"), (3, 4, "YEAR")]
    assert [token.ent_iob for token in doc] == [2, 3, 3, 3, 0, 2]
    assert partial_tags(doc, "spans", "sc") == ["O", "B-BOOK", "B-YEAR", "B-YEAR", "", "O"]


def test_spans_that_touch_are_the_same_ones_by_another_name(doc: Doc) -> None:
    write_partial(doc, "spans", "sc", ["B-BOOK", "B-BOOK", "I-BOOK", "B-DATE", "B-X", "I-X"])
    doc.set_ents([Span(doc, 0, 1, label="BOOK"), Span(doc, 1, 3, label="BOOK"), Span(doc, 3, 4, label="DATE")])
    for target in ("ent", "spans"):
        replace_labels(doc, {"BOOK": "WORK", "DATE": "WORK", "X": "Y"}, target, "sc")
    assert [(ent.start, ent.end, ent.label_) for ent in doc.ents] == [(0, 1, "WORK"), (1, 4, "WORK")]
    assert partial_tags(doc, "spans", "sc") == ["B-WORK", "B-WORK", "I-WORK", "I-WORK", "B-Y", "I-Y"]


def test_time_grows_with_the_entities_not_with_their_square() -> None:
    doc = Doc(spacy.blank("xx").vocab, words=["a", "b"] * 8000)
    doc.set_ents([Span(doc, start, start + 1, label="BOOK") for start in range(0, len(doc), 2)])
    used = time.process_time()
    replace_labels(doc, LABELS, "ent", "sc")
    assert {ent.label_ for ent in doc.ents} == {"CONTAINER"} and len(doc.ents) == 8000
    assert time.process_time() - used < 3


def test_groups_and_tags(doc: Doc) -> None:
    replace_labels(doc, LABELS, "spans", "sc")
    first = doc.spans["sc"][0]
    assert (first.start, first.end, first.label_) == (0, 2, "CONTAINER")
    replace_labels(doc, LABELS, "tag", "sc")
    assert [token.tag_ for token in doc] == ["CONTAINER", "CONTAINER", "DATE", "DATE", "X", ""]
    replace_labels(doc, LABELS, "spans", "other")
    assert list(doc.spans) == ["sc"]  # an empty group would say that there are no spans
    with pytest.raises(CRFError, match="CRF668"):
        replace_labels(doc, LABELS, "pos", "sc")


def test_groups_in_any_order(doc: Doc) -> None:
    doc.spans["sc"] = [doc.spans["sc"][number] for number in (3, 1, 0, 2)]
    replace_labels(doc, LABELS, "spans", "sc")
    found = [(span.start, span.end, span.label_) for span in doc.spans["sc"]]
    assert found == [(0, 2, "CONTAINER"), (2, 3, "DATE"), (3, 4, "DATE")]


@pytest.mark.parametrize("target", ["ent", "spans"])
def test_gold_that_is_known_in_part(doc: Doc, target: str) -> None:
    write_partial(doc, target, "sc", ["B-JOURNAL", "B-BOOK", "B-DATE", "B-DATE", "", "O"])
    replace_labels(doc, LABELS, target, "sc")
    assert partial_tags(doc, target, "sc") == ["B-CONTAINER", "I-CONTAINER", "B-DATE", "B-DATE", "", "O"]


@pytest.mark.parametrize("target", ["ent", "spans"])
@pytest.mark.parametrize(
    ("tags", "known"),
    [
        ("B-JOURNAL B-BOOK . B-DATE O O", []),
        (". I-JOURNAL B-BOOK B-DATE O O", []),
        ("B-JOURNAL . B-BOOK B-DATE O O", [(2, 3)]),
    ],
)
def test_spans_that_are_joined_with_one_in_part_are_known_in_part(
    doc: Doc, target: str, tags: str, known: list[tuple[int, int]]
) -> None:
    partial = ["" if tag == "." else tag for tag in tags.split()]
    write_partial(doc, target, "sc", partial)
    bounds = [n for n in range(4) if partial[n][:1] == "B" and partial[n + 1] and (n or partial[0])]
    spans = [Span(doc, n, n + 1, label=partial[n][2:]) for n in bounds]
    doc.set_ents(spans, missing=[doc[n : n + 1] for n in range(4) if n not in bounds])
    doc.spans["sc"] = spans
    replace_labels(doc, LABELS, target, "sc")
    found = [span for span in (doc.ents if target == "ent" else doc.spans["sc"]) if span.label_ == "CONTAINER"]
    assert [(span.start, span.end) for span in found] == known
    assert [token.ent_iob for token in doc][3:] == [3, 2, 2]


def test_figures_of_gold_that_is_known_in_part_are_the_same_by_other_names() -> None:
    nlp = citations.train(target="ent")
    labels, target = nlp.get_pipe("constrained_ner").labels, target_of("ent")

    def make() -> list[Example]:
        examples = citations.make_examples(nlp, seed=3, count=10)
        for example in examples:
            tags = target.names(example, TagSet.of_spans(tuple(labels), "BIO"))
            write_partial(example.reference, "ent", "", ["", *(tag or "" for tag in tags[1:])])
        return examples

    plain = evaluate(nlp, "constrained_ner", make()).found
    found = evaluate(nlp, "constrained_ner", make(), labels={label: f"{label}S" for label in labels}).found
    assert found.scores == pytest.approx(plain.scores)
    assert found.confusions.total() == plain.confusions.total() > 0


def test_means_over_labels_are_over_those_that_they_count_as() -> None:
    nlp = citations.train(target="ent")
    examples = citations.make_examples(nlp, seed=3, count=10)
    counted = {"JOURNAL": "CONTAINER", "TITLE": "CONTAINER", "VOLUME": "CONTAINER"}
    found = evaluate(nlp, "constrained_ner", examples, labels=counted).found
    pairs = [pair for pair, count in found.confusions.items() for _ in range(count)]
    names = ["AUTHOR", "CONTAINER", "DATE"]
    expected = f1_score(*zip(*pairs), labels=names, average="macro", zero_division=0)
    assert found.scores["macro_f"] == pytest.approx(expected)


def test_labels_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "labels.tsv"
    path.write_text("# what counts\n\nJOURNAL\tCONTAINER\nBOOK\tCONTAINER\n", encoding="utf8")
    assert read_labels(path) == LABELS
    path.write_text("# what counts\n#\tSYM\n", encoding="utf8")
    assert read_labels(path) == {"#": "SYM"}  # the Penn Treebank has such a tag
    path.write_text("JOURNAL CONTAINER\n", encoding="utf8")
    with pytest.raises(CRFError, match="CRF669"):
        read_labels(path)


def test_the_most_frequent_tags_of_training_count_as_others_too() -> None:
    nlp = tagged.train(target="tag")
    counted, examples = {"NNP": "NN", "VBZ": "VBD"}, tagged.make_examples(nlp)
    trained = [example.reference for example in tagged.make_examples(nlp)]
    found = evaluate(nlp, "crf_tagger", examples, trained, [one.copy() for one in trained], labels=counted).found.scores
    expected = most_frequent([(token.text, counted.get(token.tag_, token.tag_)) for doc in trained for token in doc])
    tokens = [token for example in examples for token in example.reference]
    assert found["tag_acc_most_frequent"] == np.mean([expected(token.text) == token.tag_ for token in tokens]) > 0.9
    assert found["tag_acc_with_punctuation"] == found["tag_acc"] > 0.9


def test_labels_of_sets_cannot_count_as_others() -> None:
    nlp = spacy.blank("xx")
    nlp.add_pipe("set_valued_tagger")
    examples = tagged.make_examples(nlp)
    nlp.initialize(lambda: examples)
    nlp.update(examples)
    with pytest.raises(CRFError, match="CRF668.*sets of tags"):
        evaluate(nlp, "set_valued_tagger", examples, labels={"NNP": "NN"})


def test_components_whose_scores_have_the_same_names() -> None:
    nlp = tagged.train(target="tag")
    for name, size in (("two", 2), ("three", 3)):
        settings = {"source": "crf_tagger", "method": "size", "size": size, "tag_set": f"set_{name}"}
        nlp.add_pipe("set_valued_tagger", name=name, config={**settings, "tag_probs": f"probs_{name}"})
    sizes = {name: evaluate(nlp, name, tagged.make_examples(nlp)).found.scores["set_size"] for name in ("two", "three")}
    assert sizes == {"two": 2, "three": 3}


def test_single_numbers_of_labels_of_other_components() -> None:
    nlp = tagged.train(target="tag")
    categories = nlp.add_pipe("textcat")
    examples = tagged.make_examples(nlp)
    for number, example in enumerate(examples):
        example.reference.cats = {"A": float(number % 2), "B": float(1 - number % 2)}
    categories.initialize(lambda: examples, nlp=nlp)
    found = evaluate(nlp, "crf_tagger", examples)
    assert {name for name, _, _ in found.tables_by_label()} == {"cats_f_per_type"}


@pytest.mark.parametrize("factory", ["crf_tagger", "set_valued_tagger"])
def test_a_component_that_looks_at_what_it_writes_is_asked_of_what_it_saw(factory: str) -> None:
    """A tagger that corrects tags."""
    nlp, make = tagged.train_correcting(factory)
    pipe = nlp.get_pipe(factory)
    found = evaluate(nlp, factory, make())
    rows = pipe.token_probabilities([example.predicted for example in make()])
    told = find_surprises(pipe, found.examples, 99, found.seen())
    assert told and all(one.probability == rows[one.number][one.token, pipe.labels.index(one.gold)] for one in told)
