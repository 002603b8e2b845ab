import pytest
from helpers.fixtures import Write
from hypothesis import given
from hypothesis import strategies as st
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from spacy.util import load_config_from_str, registry

from spacy_crf.annotation.documents import write_doc_name
from spacy_crf.lab.block import FoldCorpus
from spacy_crf.lab.training import with_fold

CONFIG = """
[paths]
train = "FILE"
dev = null

[corpora]

[corpora.train]
@readers = "spacy_crf.Corpus.v1"
path = ${paths.train}
columns = ["word","tag"]

[corpora.dev]
@readers = "spacy_crf.Corpus.v1"
path = ${paths.dev}

[training]
train_corpus = "corpora.train"
dev_corpus = "corpora.dev"
"""


class Numbered:
    """A reader of so many documents, each with its number as its only word."""

    def __init__(self, count: int):
        self.count, self.calls = count, 0

    def __call__(self, nlp: Language):
        self.calls += 1
        for number in range(self.count):
            yield Example(Doc(nlp.vocab, words=[str(number)]), Doc(nlp.vocab, words=[str(number)], tags=["N"]))


def numbers(corpus: FoldCorpus, nlp: Language) -> list[int]:
    return [int(example.predicted.text) for example in corpus(nlp)]


@given(st.integers(2, 6), st.integers(0, 20), st.integers(0, 3))
def test_each_document_is_held_out_once_and_trained_on_else(folds: int, more: int, seed: int) -> None:
    nlp, count = Language(), folds + more
    parts = {
        part: [numbers(FoldCorpus(Numbered(count), folds, fold, part, seed), nlp) for fold in range(folds)]
        for part in ("train", "held_out")
    }
    assert sorted(number for part in parts["held_out"] for number in part) == list(range(count))
    for train, held_out in zip(parts["train"], parts["held_out"]):
        assert sorted([*train, *held_out]) == list(range(count)) and train == sorted(train)
        assert count // folds <= len(held_out) <= count // folds + 1


def test_the_seed_draws_the_folds(nlp: Language) -> None:
    found = {seed: numbers(FoldCorpus(Numbered(40), 4, 0, "held_out", seed), nlp) for seed in (0, 0, 1)}
    assert found[0] != found[1]
    assert found[0] == numbers(FoldCorpus(Numbered(40), 4, 0, "held_out"), nlp)


def test_documents_are_read_once_and_what_the_pipeline_writes_is_not_kept(nlp: Language) -> None:
    reader = Numbered(6)
    corpus = FoldCorpus(reader, 2, 1, "train")
    for _ in range(2):
        for example in corpus(nlp):
            assert not example.predicted[0].tag_ and example.reference[0].tag_ == "N"
            example.predicted[0].tag_ = "X"
    assert reader.calls == 1
    list(corpus(Language()))
    assert reader.calls == 2


def test_settings_that_make_no_folds(nlp: Language) -> None:
    with pytest.raises(ValueError, match=r"CRF551.*3 folds.*2 documents"):
        list(FoldCorpus(Numbered(2), 3, 0, "train")(nlp))
    with pytest.raises(ValueError, match="CRF549.*seed"):
        FoldCorpus(Numbered(4), 2, 0, "train", seed=-1)
    with pytest.raises(ValueError, match="CRF549.*corpus.*@readers"):
        FoldCorpus({"path": "a.tsv"}, 2, 0, "train")  # type: ignore[arg-type]
    for folds, fold, name in ((1, 0, "folds"), (2, 2, "fold"), (2, -1, "fold")):
        with pytest.raises(ValueError, match=f"CRF549.*{name}"):
            FoldCorpus(Numbered(2), folds, fold, "train")


def test_a_config_gets_a_fold_and_no_dev_corpus(nlp: Language, write: Write) -> None:
    path = write("a.tsv", "\n".join(f"w{number}\tN\n" for number in range(6)))
    config = load_config_from_str(CONFIG.replace("FILE", str(path)), interpolate=False)
    changed = with_fold(config, 3, 1, 0)
    assert changed["corpora"]["train"]["corpus"]["path"] == "${paths.train}"
    assert config["corpora"]["train"]["@readers"] == "spacy_crf.Corpus.v1"
    corpora = registry.resolve(changed.interpolate()["corpora"])
    train, held_out = ({eg.reference.text for eg in corpora[name](nlp)} for name in ("train", "dev"))
    assert len(train) == 4 and len(held_out) == 2 and not train & held_out
    text = {"@misc": "spacy_crf.HistoricalText.v1", "punctuation": "gold"}
    for ours, theirs, expected in (("gold", "context", "context"), ("removed", "context", "removed")):
        config["corpora"]["train"]["text"] = {**text, "punctuation": ours, "untagged": "OA"}
        config["corpora"]["dev"]["text"] = {**text, "punctuation": theirs}
        corpora = with_fold(config, 3, 1, 0)["corpora"]
        assert corpora["train"]["corpus"]["text"] == config["corpora"]["train"]["text"]
        assert corpora["dev"]["corpus"]["text"] == {**text, "punctuation": expected, "untagged": "OA"}
    config["corpora"]["train"]["augmenter"] = {"@augmenters": "spacy.lower_case.v1", "level": 0.5}
    with pytest.raises(ValueError, match=r"CRF550.*corpora\.train"):
        with_fold(config, 3, 1, 0)


def test_parts_of_one_document_are_in_one_fold() -> None:
    nlp = Language()

    def read(nlp: Language):
        for number, example in enumerate(Numbered(8)(nlp)):
            write_doc_name(example.reference, f"text {number % 3}")
            yield example

    held_out = [numbers(FoldCorpus(read, 3, fold, "held_out"), nlp) for fold in range(3)]
    assert sorted(held_out) == [[0, 3, 6], [1, 4, 7], [2, 5]]
    # three documents are too few for four folds
    assert [len(numbers(FoldCorpus(read, 4, fold, "held_out"), nlp)) for fold in range(4)] == [2] * 4
    with pytest.raises(ValueError, match="CRF551"):
        numbers(FoldCorpus(read, 9, 0, "held_out"), nlp)
