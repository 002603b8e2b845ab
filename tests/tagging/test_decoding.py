"""Ways to decode, the best sequences, entropies and temperature, against enumeration of all sequences."""

import math
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pytest
import spacy
from helpers.chains import distribution_of, softened
from helpers.oracle import Chain
from helpers.tagged import EXTENSION, build, clean_docs, read_target, train
from spacy.language import Language
from spacy.tokens import Doc, Span

from spacy_crf import Corpus, CRFWarning

N_BEST, ENTROPY = "crf_test_n_best", "crf_test_entropy"


@pytest.fixture(autouse=True)
def extensions() -> Iterator[None]:
    yield
    for name in (N_BEST, ENTROPY, "crf_test_probs"):
        if Doc.has_extension(name):
            Doc.remove_extension(name)


def chain_of(nlp: Language, words: list[str], temperature: float = 1.0) -> Chain:
    """The chain of a Doc of one sequence, for the oracle."""
    pipe = nlp.get_pipe("crf_tagger")
    chains = distribution_of(pipe, pipe.read_columns([Doc(nlp.vocab, words=words)])).chains.astype(np.float64)
    scores = [chains.emissions, chains.transitions, chains.start, chains.end]
    emissions, transitions, start, end = (values / temperature for values in scores)
    return Chain(emissions, [transitions] * len(words), start, end)


WORDS = ["Bo", "Stone", "sold", "Delft"]


@pytest.mark.parametrize("target", ["ent", EXTENSION])
@pytest.mark.parametrize("temperature", [1.0, 2.5])
def test_the_best_sequences_and_their_probabilities(target: str, temperature: float) -> None:
    nlp = softened(target=target, n_best=5, n_best_key=N_BEST, temperature=temperature)
    tags = nlp.get_pipe("crf_tagger").tags.tags
    doc = nlp(Doc(nlp.vocab, words=WORDS))
    (found,) = Doc(nlp.vocab).from_bytes(doc.to_bytes())._.get(N_BEST)
    chain = chain_of(nlp, WORDS, temperature)
    expected = chain.ranked()[:5]
    assert (found["start"], found["end"]) == (0, 4)
    assert found["labels"] == [[tags[tag] for tag in path] for path, _ in expected]
    assert found["probabilities"] == pytest.approx([math.exp(score - chain.log_z()) for _, score in expected], rel=1e-5)


def test_each_sequence_has_its_own_alternatives_and_entropies() -> None:
    nlp = softened(target="tag", n_best=2, n_best_key=N_BEST, entropy=ENTROPY)
    alone = [nlp(Doc(nlp.vocab, words=words)) for words in (WORDS, ["She", "walks"])]
    starts = [True, False, False, False, True, False]
    texts = [
        Doc(nlp.vocab),
        Doc(nlp.vocab, words=["Go"]),
        Doc(nlp.vocab, words=[*WORDS, "She", "walks"], sent_starts=starts),
    ]
    empty, single, doc = nlp.pipe(texts)
    assert empty._.get(N_BEST) == [] and empty._.get(ENTROPY) == {"sequences": [], "tokens": []}
    assert len(single._.get(N_BEST)) == 1
    for found, part, start in zip(doc._.get(N_BEST), alone, (0, 4)):
        (own,) = part._.get(N_BEST)
        assert found == {**own, "start": start, "end": start + len(part), "probabilities": found["probabilities"]}
        assert found["probabilities"] == pytest.approx(own["probabilities"])
    values = doc._.get(ENTROPY)
    assert [(s["start"], s["end"]) for s in values["sequences"]] == [(0, 4), (4, 6)]
    expected = [part._.get(ENTROPY) for part in alone]
    assert values["tokens"] == pytest.approx([value for part in expected for value in part["tokens"]])
    by_sequence = [part["sequences"][0]["entropy"] for part in expected]
    assert [sequence["entropy"] for sequence in values["sequences"]] == pytest.approx(by_sequence)


@pytest.mark.parametrize("temperature", [1.0, 3.0])
def test_entropies_equal_enumeration(temperature: float) -> None:
    nlp = softened(target="ent", entropy=ENTROPY, temperature=temperature)
    values = nlp(Doc(nlp.vocab, words=WORDS))._.get(ENTROPY)
    chain = chain_of(nlp, WORDS, temperature)
    assert values["sequences"][0]["entropy"] == pytest.approx(chain.entropy(), rel=1e-5)
    marginals = chain.node_marginals()
    expected = [-sum(p * math.log(p) for p in row if p > 0) for row in marginals]
    assert values["tokens"] == pytest.approx(expected, rel=1e-5)


def test_posterior_decoding_has_the_most_right_labels_to_be_expected() -> None:
    nlp = softened(target="ent", decode="posterior")
    pipe = nlp.get_pipe("crf_tagger")
    differing = 0
    for doc in clean_docs(nlp):
        words = [token.text for token in doc][:4]
        chain = chain_of(nlp, words)
        marginals = chain.node_marginals()
        rewards = {path: sum(marginals[range(len(path)), path]) for path, _ in chain.ranked()}
        (prediction,) = pipe.predict([Doc(nlp.vocab, words=words)])
        path = tuple(prediction.tags.tolist())
        assert rewards[path] == pytest.approx(max(rewards.values()), abs=1e-6)
        differing += path != chain.ranked()[0][0]
    assert differing


def test_temperature_changes_probabilities_and_not_tags() -> None:
    nlp = softened(target="spans", marginals="crf_test_probs")
    pipe = nlp.get_pipe("crf_tagger")
    plain = nlp(Doc(nlp.vocab, words=WORDS))
    pipe.cfg["temperature"] = 4.0
    flat = nlp(Doc(nlp.vocab, words=WORDS))
    assert read_target(plain, "spans") == read_target(flat, "spans") != []
    np.testing.assert_allclose(flat._.crf_test_probs["values"], chain_of(nlp, WORDS, 4.0).node_marginals(), atol=1e-5)
    for doc, temperature in ((plain, 1.0), (flat, 4.0)):
        pipe.cfg["temperature"] = temperature
        asked = pipe.span_probabilities(doc, list(doc.spans["sc"]))
        assert doc.spans["sc"].attrs["scores"] == pytest.approx(asked.label.tolist())
    assert plain.spans["sc"].attrs["scores"] != pytest.approx(flat.spans["sc"].attrs["scores"])


def test_settings_may_change_at_run_time_and_come_from_the_config(tmp_path) -> None:
    nlp = train(target="tag")
    pipe = nlp.get_pipe("crf_tagger")
    pipe.cfg.update(n_best=2, n_best_key=N_BEST, entropy=ENTROPY)
    doc = nlp(Doc(nlp.vocab, words=WORDS))
    assert len(doc._.get(N_BEST)[0]["labels"]) == 2 and len(doc._.get(ENTROPY)["tokens"]) == 4
    nlp.to_disk(tmp_path)
    changed = {"temperature": 1.5, "decode": "posterior", "given": True, "n_best": 3, "n_best_key": N_BEST}
    cfg = spacy.load(tmp_path, config={"components": {"crf_tagger": changed}}).get_pipe("crf_tagger").cfg
    assert changed.items() <= cfg.items()


def test_custom_attributes_may_be_named_at_run_time() -> None:
    nlp = train(target="ent")
    nlp.get_pipe("crf_tagger").cfg.update(scores="crf_test_late", marginals="crf_test_probs", entropy=ENTROPY)
    doc = nlp(Doc(nlp.vocab, words=WORDS))
    assert doc.ents[0]._.crf_test_late["label"] > 0.5 and doc[0]._.crf_test_probs["B-PER"] > 0.5
    Span.remove_extension("crf_test_late")


@pytest.mark.parametrize(
    "settings",
    [
        {"marginals": "x", "entropy": "x"},
        {"entropy": "x", "n_best": 2, "n_best_key": "x"},
        {"target": EXTENSION, "marginals": EXTENSION},
        {"entropy": ""},
    ],
)
def test_custom_attributes_have_names_of_their_own(settings: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=rf"CRF408.*{list(settings)[-1]}"):
        build(**settings)


def test_what_is_forbidden_is_not_decoded_by_posteriors_either() -> None:
    nlp = softened(target="ent", decode="posterior", n_best=3, n_best_key=N_BEST)
    pipe, forbidden = nlp.get_pipe("crf_tagger"), ["I-PER", "O"]
    before = [pipe.tags.tags[tag] for tag in pipe.predict([Doc(nlp.vocab, words=WORDS)])[0].tags]
    assert forbidden in [list(pair) for pair in zip(before, before[1:])]
    pipe.settings.forbidden = [forbidden]
    pipe.rebuild()
    (prediction,) = pipe.predict([Doc(nlp.vocab, words=WORDS)])
    ((listed,),) = prediction.told
    for names in ([pipe.tags.tags[tag] for tag in prediction.tags], *listed["labels"]):
        assert forbidden not in [list(pair) for pair in zip(names, names[1:])]


@pytest.mark.parametrize(
    "setting,value",
    [
        ("temperature", 0.0),
        ("temperature", -1.0),
        ("temperature", math.inf),
        ("n_best", -1),
        ("n_best", 10**9),
        ("decode", "beam"),
    ],
)
def test_settings_without_a_meaning_are_refused(setting: str, value: object) -> None:
    with pytest.raises(ValueError, match=setting):
        build(**{setting: value})


def test_tokens_with_several_gold_tags_are_told(tmp_path: Path) -> None:
    """One of them is learned, so that those who train a crf_tagger on tag sets hear of it."""
    path = tmp_path / "charter.tsv"
    for lines, told in (("he\tNA\nwen\tNE\n", 0), ("he\tNA|NE\nwen\tNE:0.3|NA:0.7\ndat\tNA:1|NE:1\nho\tNE\n", 3)):
        path.write_text(lines, encoding="utf8")
        nlp = spacy.blank("xx")
        nlp.add_pipe("crf_tagger")
        examples = list(Corpus(path, format="tagsets")(nlp))
        expected = pytest.warns(CRFWarning, match=rf"CRFW468.*{told} tokens.*NA\|NE in document 'charter'")
        with expected if told else nullcontext():
            nlp.initialize(examples.copy)
    other = spacy.blank("xx")
    other.add_pipe("set_valued_tagger")
    other.initialize(lambda: list(Corpus(path, format="tagsets")(other)))  # which learns all of them
