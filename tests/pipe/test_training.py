"""Every target with every trainer: it learns, and what it learned survives storage, bit for bit."""

from pathlib import Path

import numpy as np
import pytest
import spacy
from helpers.tagged import (
    EXTENSION,
    TARGETS,
    TRAINER_CONFIGS,
    TRAINERS,
    build,
    clean_docs,
    fit,
    make_examples,
    predictions,
    read_target,
    train,
)
from helpers.weights import flat_weights, set_flat_weights
from spacy.language import Language


@pytest.mark.parametrize("trainer", TRAINERS)
@pytest.mark.parametrize("target", TARGETS)
def test_learns_a_small_corpus_and_survives_storage(target: str, trainer: str, tmp_path: Path) -> None:
    nlp = train(trainer, target=target)
    gold = [read_target(example.reference, target) for example in make_examples(nlp)]
    assert predictions(nlp, target) == gold
    nlp.to_disk(tmp_path / "pipeline")
    loaded = spacy.load(tmp_path / "pipeline")
    assert predictions(loaded, target) == gold
    assert folder_bytes(loaded, tmp_path / "again") == folder_bytes(nlp, tmp_path / "once")


def folder_bytes(nlp: Language, path: Path) -> dict[str, bytes]:
    nlp.get_pipe("crf_tagger").to_disk(path)
    return {file.name: file.read_bytes() for file in sorted(path.iterdir())}


@pytest.mark.parametrize("trainer", TRAINERS)
def test_bytes_survive_two_round_trips(trainer: str) -> None:
    nlp = train(trainer, target="ent", features=edge_features())
    first = nlp.get_pipe("crf_tagger").to_bytes()
    for _ in range(2):
        nlp = build(trainer, target="ent", features=edge_features())
        nlp.get_pipe("crf_tagger").from_bytes(first)
        assert nlp.get_pipe("crf_tagger").to_bytes() == first


def edge_features() -> dict[str, object]:
    return {"@misc": "spacy_crf.Features.v1", "templates": ["@tagging", "B:SHAPE[0]"]}


def test_an_untrained_component_survives_a_round_trip() -> None:
    nlp = build()
    stored = nlp.get_pipe("crf_tagger").to_bytes()
    assert build().get_pipe("crf_tagger").from_bytes(stored).to_bytes() == stored


@pytest.mark.parametrize("trainer", TRAINERS)
def test_the_same_data_give_the_same_folder_for_any_number_of_threads(trainer: str, tmp_path: Path) -> None:
    folders = []
    for number, threads in enumerate((1, 2, 2)):
        config = dict(TRAINER_CONFIGS[trainer])
        if trainer == "LBFGS":
            config["n_threads"] = threads
        nlp = spacy.blank("xx")
        nlp.add_pipe("crf_tagger", config={"trainer": config, "features": edge_features()})
        fit(nlp, make_examples(nlp))
        folders.append(folder_bytes(nlp, tmp_path / str(number)))
    assert folders[0] == folders[1] == folders[2]


@pytest.mark.parametrize("scheme", ["BIO", "BILUO"])
@pytest.mark.parametrize("target", ["ent", "spans"])
def test_random_weights_never_yield_an_illegal_sequence(scheme: str, target: str) -> None:
    nlp = train(target=target, scheme=scheme)
    pipe = nlp.get_pipe("crf_tagger")
    rng = np.random.default_rng(0)
    allowed, starts, ends = pipe.tags.legal()
    for _ in range(20):
        set_flat_weights(pipe.model, rng.normal(0, 5, len(flat_weights(pipe.model))))
        for prediction in pipe.predict(clean_docs(nlp)):
            tags = prediction.tags
            assert starts[tags[0]] and ends[tags[-1]] and allowed[tags[:-1], tags[1:]].all()


def test_biluo_learns_the_corpus_too() -> None:
    nlp = train(target="ent", scheme="BILUO")
    assert predictions(nlp, "ent") == [read_target(eg.reference, "ent") for eg in make_examples(nlp)]


def test_forbidden_pairs_never_come() -> None:
    nlp = build(forbidden=[["NN", "VBZ"]])
    examples = [eg for eg in make_examples(nlp) if ("NN", "VBZ") not in neighbours(eg.reference)]
    assert len(examples) < len(make_examples(nlp))
    fit(nlp, examples)
    found = [pair for doc in nlp.pipe(clean_docs(nlp)) for pair in neighbours(doc)]
    assert ("NN", "VBZ") not in found and ("DT", "NN") in found


def test_a_tag_that_may_not_stand_at_an_edge_does_not() -> None:
    nlp = build(forbidden=[["", "DT"], ["NN", ""]])
    fit(nlp, [eg for eg in make_examples(nlp) if eg.reference[0].tag_ != "DT" and eg.reference[-1].tag_ != "NN"])
    docs = list(nlp.pipe(clean_docs(nlp)))
    assert not {doc[0].tag_ for doc in docs} & {"DT"} and not {doc[-1].tag_ for doc in docs} & {"NN"}


def neighbours(doc: spacy.tokens.Doc) -> list[tuple[str, str]]:
    return [(token.tag_, token.nbor().tag_) for token in doc[:-1]]


def test_forbidding_an_unknown_tag_is_an_error() -> None:
    nlp = build(forbidden=[["NN", "VERBOSE"]])
    with pytest.raises(ValueError, match=r"CRF410.*VERBOSE"):
        nlp.initialize(lambda: make_examples(nlp))


def test_gold_that_a_forbidden_pair_rules_out_is_an_error_that_names_the_document() -> None:
    nlp = build(forbidden=[["DT", "JJ"]])
    examples = make_examples(nlp)
    nlp.initialize(lambda: examples)
    with pytest.raises(ValueError, match=r"CRF411.*The old miller.*'JJ' after 'DT'"):
        nlp.update(examples)


def test_the_loss_of_gold_falls_with_training() -> None:
    nlp = build()
    examples = make_examples(nlp)
    pipe = nlp.get_pipe("crf_tagger")
    nlp.initialize(lambda: examples)
    losses = []
    for _ in range(2):
        losses.append(pipe.get_loss(examples, pipe.predict([eg.predicted for eg in examples])))
        nlp.update(examples)
    n_tokens = sum(len(eg.predicted) for eg in examples)
    assert losses[0] == pytest.approx(n_tokens * np.log(len(pipe.labels)), rel=1e-5)
    assert 0 < losses[1] < 0.2 * losses[0]


def test_extension_target_registers_itself() -> None:
    assert EXTENSION in TARGETS
    spacy.blank("xx").add_pipe("crf_tagger", config={"target": "crf_test_registered"})
    assert spacy.tokens.Token.has_extension("crf_test_registered")
    spacy.tokens.Token.remove_extension("crf_test_registered")
