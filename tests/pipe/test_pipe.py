"""Streams, odd documents, bad documents, worker processes, and what a sequence is."""

import subprocess
import sys
import textwrap
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from helpers.tagged import EXTENSION, build, clean_docs, fit, make_examples, read_target, train
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example


@pytest.fixture
def tagger() -> Language:
    return train(target="ent")


@pytest.mark.parametrize("words", [[], ["Ada"], [" "], ["\n", "\n\n"], ["Ada", " ", "Stone"], ["\U0001f600"]])
@pytest.mark.parametrize("target", ["tag", "pos", "ent", "spans", EXTENSION])
def test_odd_documents_pass(words: list[str], target: str) -> None:
    nlp = build(target=target)
    nlp.initialize(lambda: make_examples(nlp))
    before = Doc(nlp.vocab, words=words)
    docs = list(nlp.pipe([Doc(nlp.vocab), before.copy(), Doc(nlp.vocab)]))
    assert [len(doc) for doc in docs] == [0, len(words), 0]
    assert docs[1].text == before.text
    assert len(read_target(nlp(Doc(nlp.vocab)), target)) == 0


def test_predict_takes_generators_and_changes_nothing(tagger: Language) -> None:
    pipe = tagger.get_pipe("crf_tagger")
    docs = clean_docs(tagger)
    before = [doc.to_bytes() for doc in docs]
    predictions = pipe.predict(doc for doc in docs)
    assert [doc.to_bytes() for doc in docs] == before
    assert [len(prediction.tags) for prediction in predictions] == [len(doc) for doc in docs]
    assert pipe.predict([]) == []


def test_batches_do_not_change_predictions(tagger: Language) -> None:
    alone = [read_target(tagger(doc), "ent") for doc in clean_docs(tagger)]
    for size in (1, 3, 100):
        assert [read_target(doc, "ent") for doc in tagger.pipe(clean_docs(tagger), batch_size=size)] == alone


@pytest.mark.parametrize("scheme", ["BIO", "BILUO"])
def test_sentences_of_a_text_are_tagged_as_they_are_alone(scheme: str) -> None:
    nlp = train(target="ent", scheme=scheme)
    docs = clean_docs(nlp)
    text = Doc.from_docs(docs)
    starts = np.cumsum([0] + [len(doc) for doc in docs])
    for start in starts[:-1].tolist():
        text[start].is_sent_start = True
    alone = [
        (s + int(low), e + int(low), n) for d, low in zip(nlp.pipe(docs), starts) for s, e, n in read_target(d, "ent")
    ]
    assert read_target(nlp(text), "ent") == alone


def test_sequences_matter_where_transitions_decide() -> None:
    """After "a" comes X, at the start of a sequence Y; the word itself says nothing."""

    def tags(sequence: str, sent_starts: list[bool]) -> list[str]:
        nlp = build(
            sequence=sequence, features={"@misc": "spacy_crf.Features.v1", "templates": ["LOWER[0]", "LOWER[-1]"]}
        )
        golds = [(["a", "x"], ["A", "X"]), (["x", "a"], ["Y", "A"])] * 3
        references = [Doc(nlp.vocab, words=words, tags=names, sent_starts=[True, False]) for words, names in golds]
        examples = [
            Example(Doc(nlp.vocab, words=words, sent_starts=[True, False]), reference)
            for (words, _), reference in zip(golds, references)
        ]
        fit(nlp, examples)
        doc = nlp(Doc(nlp.vocab, words=["x", "a", "x", "a"], sent_starts=sent_starts))
        return [token.tag_ for token in doc]

    two, one = [True, False, True, False], [True, False, False, False]
    assert tags("auto", two) == tags("sents", two) == ["Y", "A", "Y", "A"]
    assert tags("doc", two) == tags("auto", one) == ["Y", "A", "X", "A"]


def collect(nlp: Language) -> list[tuple[str, int, str]]:
    """Let an error handler write down what it is told."""
    told: list[tuple[str, int, str]] = []

    def handle(name: str, _: object, docs: list[Doc], error: Exception) -> None:
        told.append((name, len(docs), str(error)))

    nlp.set_error_handler(handle)
    return told


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 1e39, [1]])
def test_one_bad_document_does_not_lose_the_others(value: object) -> None:
    nlp = build(features={"@misc": "spacy_crf.Features.v1", "templates": ["@tagging", f"_.{EXTENSION}"]})
    examples = make_examples(nlp)
    for example in examples:
        example.predicted[0]._.set(EXTENSION, 0.5)
    fit(nlp, examples)
    docs = clean_docs(nlp)
    docs[3][1]._.set(EXTENSION, value)
    told = collect(nlp)
    done = list(nlp.pipe(docs, batch_size=8))
    assert len(done) == len(docs) - 1 and all(doc[0].tag_ for doc in done)
    assert len(told) == 1 and told[0][:2] == ("crf_tagger", 1)
    assert "[CRF" in told[0][2] and docs[3].text in told[0][2]


def test_a_document_without_sentences_is_named_and_the_others_go_on() -> None:
    nlp = build(sequence="sents")
    examples = make_examples(nlp)
    for example in examples:
        example.predicted[0].is_sent_start = True
        for token in example.predicted[1:]:
            token.is_sent_start = False
    fit(nlp, examples)
    docs = [example.predicted.copy() for example in examples[:3]]
    docs.insert(1, Doc(nlp.vocab, words=["No", "boundaries", "here"]))
    with pytest.raises(ValueError, match=r"CRF311.*No boundaries here"):
        list(nlp.pipe([doc.copy() for doc in docs]))
    told = collect(nlp)
    assert len(list(nlp.pipe(docs))) == 3 and len(told) == 1
    assert nlp.get_pipe("crf_tagger")(Doc(nlp.vocab, words=["None", "here"])).text == "None here "


def test_worker_processes_that_are_spawned(tmp_path: Path) -> None:
    nlp = train(target="spans", marginals="crf_test_workers")
    nlp.to_disk(tmp_path / "pipeline")
    texts = ["Ada met Bo in New Delft .", "Mia walks slowly .", "", "Go !"] * 3
    script = tmp_path / "script.py"
    script.write_text(
        textwrap.dedent(f"""
        import multiprocessing, numpy, spacy
        if __name__ == "__main__":
            multiprocessing.set_start_method("spawn")
            nlp = spacy.load({str(tmp_path / "pipeline")!r})
            texts = {texts!r}
            alone = [nlp(text) for text in texts]
            for doc, own in zip(nlp.pipe(texts, n_process=2, batch_size=3), alone, strict=True):
                spans, mine = doc.spans["sc"], own.spans["sc"]
                assert [(s.text, s.label_) for s in spans] == [(s.text, s.label_) for s in mine]
                assert numpy.allclose(spans.attrs["scores"], mine.attrs["scores"])
                for token, twin in zip(doc, own, strict=True):
                    values, others = token._.crf_test_workers, twin._.crf_test_workers
                    assert values.keys() == others.keys()
                    assert numpy.allclose(list(values.values()), list(others.values()), atol=1e-6)
            print(sum(len(doc.spans["sc"]) for doc in alone))
        """),
        encoding="utf8",
    )
    done = subprocess.run([sys.executable, script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) == 12


def test_threads_may_share_a_pipeline() -> None:
    nlp, alone = train(), train()
    texts = [[f"{word.text}{number}" for word in doc] for number in range(40) for doc in clean_docs(nlp)[:5]]
    with ThreadPoolExecutor(8) as pool:
        docs = list(pool.map(lambda words: nlp(Doc(nlp.vocab, words=words)), texts))
    for doc, words in zip(docs, texts):
        assert read_target(doc, "tag") == read_target(alone(Doc(alone.vocab, words=words)), "tag")


@pytest.mark.slow
def test_a_hundred_thousand_tokens(tagger: Language) -> None:
    words = [token.text for doc in clean_docs(tagger) for token in doc]
    doc = Doc(tagger.vocab, words=(words * (100_000 // len(words) + 1))[:100_000])
    assert len(tagger(doc).ents) > 10_000
