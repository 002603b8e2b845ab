"""constraint_decoder: constraints over the probabilities of other components."""

import functools
import itertools
import pickle
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spacy
from helpers.citations import RULES, SETTINGS, make_examples, new_docs, tags_of
from helpers.folders import accept_edits
from hypothesis import given, settings
from hypothesis import strategies as st
from spacy.language import Language
from spacy.tokens import Doc, Span
from spacy.training import Example

from spacy_crf.annotation.documents import write_text_settings
from spacy_crf.constraints.component import ConstraintDecoder, guess_scheme
from spacy_crf.core.constraints.labelling import Fields, Labelling, UnitPredicates
from spacy_crf.core.constraints.language import parse, parse_all
from spacy_crf.core.constraints.problem import violations
from spacy_crf.core.errors import CRFWarning
from spacy_crf.core.labels import TagSet


def pipeline(
    target: str = "ent", scheme: str = "none", tagger: dict[str, Any] | None = None, **config: Any
) -> Language:
    """A trained crf_tagger with a decoder behind it."""
    nlp = spacy.blank("xx")
    first = {**SETTINGS, "target": target, "scheme": scheme, **(tagger or {})}
    nlp.add_pipe("crf_tagger", config=first)
    nlp.add_pipe("constraint_decoder", config={"target": target, **config})
    examples = make_examples(nlp, target=target)
    nlp.initialize(lambda: examples)
    nlp.update(examples)
    return nlp


def decoder_of(nlp: Language) -> ConstraintDecoder:
    pipe = nlp.get_pipe("constraint_decoder")
    assert isinstance(pipe, ConstraintDecoder)
    return pipe


@pytest.mark.parametrize("scheme", ["none", "BIO", "BILUO"])
@pytest.mark.parametrize(
    "where", [{"source": "crf_tagger"}, {"marginals": "crf_test_probs"}], ids=["of a component", "stored"]
)
def test_constraints_hold_over_the_probabilities_of_a_tagger(scheme: str, where: dict[str, str]) -> None:
    tagger = {"marginals": "crf_test_probs"}
    nlp = pipeline(scheme=scheme, tagger=tagger, constraints=[*RULES, "exactly(VOLUME, 1)"], **where)
    with nlp.select_pipes(enable=["crf_tagger"]):
        before = [tags_of(doc) for doc in nlp.pipe(new_docs(nlp))]
    docs = list(nlp.pipe(new_docs(nlp)))
    assert [tags_of(doc) for doc in docs] != before
    for doc in docs:
        runs = [ent.label_ for ent in doc.ents]
        assert runs.count("VOLUME") == 1 and runs[-1] == "DATE" and "JOURNAL" in runs
        assert doc._.decode_info["certified"]


def test_the_score_is_the_sum_of_log_probabilities() -> None:
    nlp = pipeline(
        target="tag", source="crf_tagger", tagger={"marginals": "crf_test_probs"}, constraints=["ends_with(TITLE)"]
    )
    for doc in nlp.pipe(new_docs(nlp, count=5)):
        stored = doc._.crf_test_probs
        logs = np.log(np.asarray(stored["values"], dtype=np.float64))
        own = [stored["tags"].index(token.tag_) for token in doc]
        info = doc._.decode_info
        assert info["score"] == pytest.approx(logs[np.arange(len(doc)), own].sum())
        assert info["viterbi_score"] == pytest.approx(logs.max(axis=1).sum())
        assert [token.tag_ for token in doc][-1] == "TITLE"
        assert own[:-1] == logs.argmax(axis=1).tolist()[:-1]


@pytest.mark.parametrize("level", ["", " unit"])
@pytest.mark.parametrize("source", ["crf_tagger", "hmm_tagger", "set_valued_tagger"])
@given(data=st.data())
@settings(max_examples=15)
def test_tokens_without_a_label_are_not_counted(source: str, level: str, data: st.DataObject) -> None:
    kind, tag = data.draw(st.sampled_from(["at_most", "at_least", "exactly"])), data.draw(st.sampled_from("PV"))
    words = data.draw(st.lists(st.sampled_from(["he", "se", "kumt", "/", "."]), min_size=1, max_size=6))
    constraint = f"{kind}({tag}, {data.draw(st.integers(0 if kind == 'exactly' else 1, 4))}){level}"
    decoder = decoder_over_context(source, constraint)
    doc = Doc(decoder.vocab, words=words)
    names, (values,) = decoder.probabilities([doc])
    logs = np.log(np.asarray(values, dtype=np.float64))
    labelled = [place for place, word in enumerate(words) if word.isalpha()]
    fields, best = Fields(TagSet((*names, ""), "none")), []
    for path in itertools.product(range(len(names)), repeat=len(labelled)):
        tags = np.full(len(words), len(names))
        tags[labelled] = path
        broken = violations(parse_all([constraint]), Labelling(tags.tolist(), fields, UnitPredicates(len(words))))
        best.append((not broken, logs[labelled, path].sum() if path else 0.0))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of constraints that cannot be kept
        done = decoder(doc)
    info, (is_kept, score) = done._.decode_info, max(best)
    assert info["score"] == pytest.approx(score, abs=1e-6)
    assert (constraint.removesuffix(" unit") not in str(info["relaxed"])) == is_kept
    assert [token.tag_ == "" for token in done] == [not word.isalpha() for word in words]


@functools.cache
def with_context(source: str) -> Language:
    """A tagger of a text whose punctuation is context."""
    nlp = spacy.blank("xx")
    nlp.add_pipe(source)
    text = [("he", "P"), ("/", ""), ("kumt", "V"), ("se", "P"), (".", ""), ("kumt", "V"), ("he", "P")] * 3
    words, tags = ([pair[k] for pair in text] for k in (0, 1))
    gold = Doc(nlp.vocab, words=words, tags=tags)
    write_text_settings(gold, {"punctuation": "context", "punctuation_tags": None, "cut_at_punctuation": False})
    examples = [Example(Doc(nlp.vocab, words=words), gold)]
    nlp.initialize(lambda: examples)
    for _ in range(3):
        nlp.update(examples)
    return nlp


def decoder_over_context(source: str, constraint: str, **config: Any) -> Any:
    config = {"source": source, "target": "tag", "constraints": [constraint], **config}
    return with_context(source).create_pipe("constraint_decoder", config=config)


def test_annotation_of_punctuation_that_is_kept_is_counted() -> None:
    decoder = decoder_over_context("crf_tagger", "at_most(P, 1) unit", overwrite=False)
    doc = decoder(Doc(decoder.vocab, words=["he", "/", "kumt"], tags=["", "P", ""]))
    assert [token.tag_ for token in doc] == ["V", "P", "V"] and doc._.decode_info["certified"]


def test_over_the_scores_of_another_tagger() -> None:
    nlp = spacy.blank("xx")
    nlp.add_pipe("tagger")
    config = {
        "source": "tagger",
        "target": "tag",
        "constraints": ["at_most(NOUN, 1) unit"],
        "changes": "constraint_changes",
    }
    nlp.add_pipe("constraint_decoder", config=config)
    references = [
        Doc(nlp.vocab, words=["ropes", "tides"], tags=["NOUN", "VERB"]),
        Doc(nlp.vocab, words=["winds"], tags=["NOUN"]),
    ]
    examples = [Example(nlp.make_doc(doc.text), doc) for doc in references]
    optimizer = nlp.initialize(lambda: examples)
    for _ in range(30):
        nlp.update(examples, sgd=optimizer)
    doc = nlp("winds winds")
    assert sorted(token.tag_ for token in doc) == ["NOUN", "VERB"]
    (change,) = doc._.constraint_changes
    assert change["from"] == "NOUN" and change["because"] == [["at_most(NOUN, 1) unit"]]
    assert nlp("winds")._.constraint_changes == []


def test_empty_documents_and_single_tokens() -> None:
    nlp = pipeline(source="crf_tagger", constraints=["ends_with(DATE)"])
    empty, one = nlp.pipe([Doc(nlp.vocab), Doc(nlp.vocab, words=["Lund"])])
    assert empty._.decode_info["certified"] and tags_of(one) == ["DATE"]
    stored = pipeline(
        marginals="crf_test_probs", tagger={"marginals": "crf_test_probs"}, constraints=["ends_with(DATE)"]
    )
    assert stored(Doc(stored.vocab))._.decode_info["certified"]
    assert tags_of(stored(Doc(stored.vocab, words=["Lund"]))) == ["DATE"]


def test_documents_without_probabilities_are_told_of_and_the_others_go_on() -> None:
    nlp = pipeline(marginals="crf_test_probs", tagger={"marginals": "crf_test_probs"}, constraints=["ends_with(DATE)"])
    pipe = decoder_of(nlp)
    with nlp.select_pipes(enable=["crf_tagger"]):
        good = list(nlp.pipe(new_docs(nlp, count=2)))
    bad = Doc(nlp.vocab, words=["nothing", "here"])
    told: list[str] = []
    pipe.set_error_handler(lambda name, proc, docs, error: told.append(str(error)))
    assert len(list(pipe.pipe([good[0], bad, good[1]]))) == 2
    assert len(told) == 1 and "CRF442" in told[0] and "nothing here" in told[0] and "crf_test_probs" in told[0]


@pytest.mark.parametrize(
    "config, message",
    [
        ({}, "CRF443"),
        ({"source": "tagger", "marginals": "probs"}, "CRF443.*tagger.*probs"),
        ({"source": "tagger", "constraints": ["at_most(A"]}, "CRF901"),
        ({"source": "tagger", "constraints": ["boundary(nowhere)"]}, "CRF906"),
        ({"source": "tagger", "decoder": "simplex"}, "decoder"),
    ],
)
def test_settings_that_make_no_sense_are_refused(config: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        spacy.blank("xx").add_pipe("constraint_decoder", config=config)


def test_a_source_that_is_missing_or_no_tagger() -> None:
    nlp = spacy.blank("xx")
    nlp.add_pipe("constraint_decoder", config={"source": "crf_tagger"})
    with pytest.raises(ValueError, match="CRF416"):
        nlp("ropes")


@pytest.mark.parametrize(
    "rules, message", [(["at_most(TITEL, 1)"], "CRF441.*TITEL"), (["ends_with(DATE)", "ends_with(TITLE)"], "CRF909")]
)
def test_constraints_are_checked_against_the_labels_of_the_source(rules: list[str], message: str) -> None:
    nlp = pipeline(source="crf_tagger", constraints=rules)
    with pytest.raises(ValueError, match=message):
        nlp(new_docs(nlp, count=1)[0])


def test_constraints_are_stored_with_the_pipeline(tmp_path: Path) -> None:
    path = tmp_path / "rules.txt"
    path.write_text("ends_with(DATE)\nat_most(TITLE, 1) cost=2\n", encoding="utf8")
    nlp = pipeline(source="crf_tagger", constraints=str(path))
    expected = [tags_of(doc) for doc in nlp.pipe(new_docs(nlp))]
    nlp.to_disk(tmp_path / "model")
    path.unlink()
    loaded = spacy.load(tmp_path / "model")
    copies = [
        loaded,
        spacy.util.load_model_from_config(nlp.config).from_bytes(nlp.to_bytes()),
        pickle.loads(pickle.dumps(nlp)),
    ]
    for copy in copies:
        assert decoder_of(copy).constraints == decoder_of(nlp).constraints
        assert [tags_of(doc) for doc in copy.pipe(new_docs(copy))] == expected
    edited = tmp_path / "model" / "constraint_decoder" / "constraints.json"
    edited.write_text('["ends_with(VOLUME)"]', encoding="utf8")
    accept_edits(edited.parent)
    loaded = spacy.load(tmp_path / "model")
    assert all(tags_of(doc)[-1] == "VOLUME" for doc in loaded.pipe(new_docs(loaded)))
    own = {"components": {"constraint_decoder": {"constraints": ["ends_with(AUTHOR)"]}}}
    loaded = spacy.load(tmp_path / "model", config=own)
    assert all(tags_of(doc)[-1] == "AUTHOR" for doc in loaded.pipe(new_docs(loaded)))
    with pytest.warns(UserWarning, match=r"\[CRFW994\] .*'constraint_decoder'"):
        loaded = spacy.load(tmp_path / "model", config={"components": {"constraint_decoder": {"constraints": None}}})
    assert decoder_of(loaded).constraints == [parse("ends_with(VOLUME)")]
    unread = spacy.util.load_model_from_config(nlp.config)
    with pytest.raises(ValueError, match="CRF440.*rules.txt"):
        decoder_of(unread).predict([])


def test_worker_processes() -> None:
    nlp = pipeline(source="crf_tagger", constraints=["exactly(VOLUME, 1)"])
    alone = [tags_of(doc) for doc in nlp.pipe(new_docs(nlp))]
    assert [tags_of(doc) for doc in nlp.pipe(new_docs(nlp), n_process=2, batch_size=8)] == alone


@pytest.mark.parametrize(
    "tags, scheme",
    [
        (("O", "B-A", "I-A"), "BIO"),
        (("O", "B-A", "I-A", "L-A", "U-A"), "BILUO"),
        (("O", "A"), "none"),
        (("NN", "B-A"), "none"),
        ((), "none"),
    ],
)
def test_schemes_are_told_by_the_tags(tags: tuple[str, ...], scheme: str) -> None:
    assert guess_scheme(tags) == scheme


def over_stored(rules: list[str], **config: Any) -> Language:
    """A decoder of probabilities that lie in Docs, which keeps what is there."""
    nlp = spacy.blank("xx")
    base = {"marginals": "crf_test_stored", "overwrite": False, "constraints": rules}
    nlp.add_pipe("constraint_decoder", config={**base, **config})
    return nlp


GIVEN_RULES = ["at_most(A, 1)", "requires(B, A)", "ends_with(O) cost=0.5"]
AMONG = over_stored(GIVEN_RULES, target="tag", scheme="none")


@pytest.mark.filterwarnings("ignore:.*CRFW901")
@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from(["", "", "A", "B", "O"]), min_size=1, max_size=5), st.integers(0, 10**6))
def test_labels_are_the_best_that_keep_constraints_and_what_is_there(there: list[str], seed: int) -> None:
    tags, rules = TagSet(("A", "B", "O"), "none"), parse_all(GIVEN_RULES)
    values = np.random.default_rng(seed).dirichlet(np.ones(3), len(there))
    doc = Doc(AMONG.vocab, words=["w"] * len(there), tags=there)
    doc._.crf_test_stored = {"tags": tags.tags, "values": values}
    doc = AMONG(doc)
    fields, found = Fields(tags), [tags.number[token.tag_] for token in doc]
    assert all(own == token.tag_ for own, token in zip(there, doc) if own)

    def objective(path: tuple[int, ...]) -> tuple[int, float]:
        broken = violations(rules, Labelling(list(path), fields, UnitPredicates(len(path))))
        score = float(np.log(values)[np.arange(len(path)), path].sum()) - 0.5 * (2 in broken)
        return -len({0, 1} & set(broken)), score

    free = [range(3) if not own else [tags.number[own]] for own in there]
    best = max(itertools.product(*free), key=objective)
    info = doc._.decode_info
    assert objective(tuple(found)) == pytest.approx(objective(best)) and info["certified"]
    assert len(info["relaxed"]) == -objective(best)[0]


@pytest.mark.parametrize(("target", "scheme"), [("ent", "BIO"), ("ent", "none"), ("tag", "none")])
def test_what_is_there_counts(target: str, scheme: str) -> None:
    nlp = over_stored(["at_most(A, 1)"], target=target, scheme=scheme)
    names = ["B-A", "I-A", "O"] if scheme == "BIO" else ["A", "O"]
    rows = [[0.2, 0.8], [0.2, 0.8], [0.9, 0.1], [0.2, 0.8]]
    inside = [0.01] * (len(names) - 2)
    values = [[row[0], *inside, row[1] - sum(inside)] for row in rows]
    doc = Doc(nlp.vocab, words=["a", "b", "c", "d"])
    doc._.crf_test_stored = {"tags": names, "values": values}
    if target == "tag":
        doc[0].tag_ = "A"
        doc[1].tag_ = "O"
    else:
        doc.set_ents([Span(doc, 0, 1, label="A")], default="missing")
    doc = nlp(doc)
    found = [token.tag_ if target == "tag" else token.ent_type_ or "O" for token in doc]
    runs = [label for label, _ in itertools.groupby(found)]
    assert found[0] == "A" and runs.count("A") == 1
    assert doc._.decode_info["certified"] and not doc._.decode_info["violated"]


def test_labels_that_the_decoder_does_not_know_are_told_of() -> None:
    nlp = over_stored(["at_least(A, 1)"], target="tag", scheme="none")
    doc = Doc(nlp.vocab, words=["a", "b"], tags=["Z", "O"])
    doc._.crf_test_stored = {"tags": ["A", "O"], "values": [[0.9, 0.1], [0.2, 0.8]]}
    doc = nlp(doc)
    assert [token.tag_ for token in doc] == ["Z", "O"]
    assert not doc._.decode_info["certified"] and doc._.decode_info["violated"] == {"at_least(A, 1)": 1}


def test_a_group_that_stays_as_it_is_is_judged_as_it_is() -> None:
    nlp = over_stored(["exactly(A, 2)"], target="spans", scheme="BIO")
    values = [[0.8, 0.1, 0.1], [0.1, 0.1, 0.8], [0.8, 0.1, 0.1]]
    for there, broken in (([], {}), ([(0, 1)], {"exactly(A, 2)": 1}), ([(0, 1), (2, 3)], {})):
        doc = Doc(nlp.vocab, words=["a", "b", "c"])
        doc.spans["sc"] = [Span(doc, start, end, label="A") for start, end in there]
        doc._.crf_test_stored = {"tags": ["B-A", "I-A", "O"], "values": values}
        doc = nlp(doc)
        assert len(doc.spans["sc"]) == (len(there) or 2)
        assert doc._.decode_info["violated"] == broken and doc._.decode_info["certified"] == (not broken)


def test_tags_that_no_labelling_can_have_do_not_stop_a_document() -> None:
    nlp = over_stored(["at_most(A, 1)"], target="tag", scheme="BIO")
    doc = Doc(nlp.vocab, words=["a", "b"], tags=["O", "I-A"])
    doc._.crf_test_stored = {"tags": ["B-A", "I-A", "O"], "values": [[0.8, 0.1, 0.1], [0.1, 0.1, 0.8]]}
    doc = nlp(doc)
    assert [token.tag_ for token in doc] == ["O", "I-A"] and not doc._.decode_info["certified"]


@pytest.mark.parametrize("target", ["ent", "tag", "spans", "crf_test_label"])
def test_empty_documents_among_others_that_have_annotation(target: str) -> None:
    nlp = over_stored(["at_most(A, 1)"], target=target, scheme="none")
    docs = [Doc(nlp.vocab, words=words) for words in (["a", "b"], [], ["c"])]
    for doc in docs:
        doc._.crf_test_stored = {"tags": ["A", "O"], "values": [[0.9, 0.1]] * len(doc)}
    for _ in range(2):  # the second time, all of them have annotation
        assert [len(doc) for doc in nlp.pipe(docs)] == [2, 0, 1]
        assert all(doc._.decode_info["certified"] for doc in docs)


@pytest.mark.parametrize(
    "tags, values, what",
    [
        (["A", "B"], [[0.5, 0.5], [float("nan"), 1.0]], "token 1"),
        (["A", "B"], [[0.5, 0.5], [-0.5, 1.5]], "token 1"),
        (["A", "B"], [[5, 1], [0.5, 0.5]], "token 0"),
        (["A", "B"], [[0.0, 0.0], [1.0, 0.0]], "token 0"),
        (["A", "A"], [[0.5, 0.5], [0.5, 0.5]], "twice"),
        (["A", "B"], [[1.0], [1.0]], "shape"),
    ],
)
def test_what_is_stored_must_be_probabilities(tags: list[str], values: list[list[float]], what: str) -> None:
    nlp = spacy.blank("xx")
    nlp.add_pipe("constraint_decoder", config={"marginals": "crf_test_stored", "target": "tag"})
    doc = Doc(nlp.vocab, words=["x", "y"])
    doc._.crf_test_stored = {"tags": tags, "values": values}
    with pytest.raises(ValueError, match=f"CRF452.*{what}"):
        nlp(doc)


@pytest.mark.parametrize(
    "tags, target, scheme, is_refused",
    [
        (("O", "I-X"), "ent", "auto", True),  # IOB1
        (("O", "B-X", "I-X", "E-X", "S-X"), "spans", "auto", True),
        (("O", "B-X", "I-X", "I-Y"), "tag", "auto", True),  # I-Y could never be given
        (("O", "I-X"), "ent", "BIO", True),
        (("O", "I-X"), "ent", "none", False),
        (("O", "I-X"), "tag", "auto", False),
        (("O", "E-MAIL", "PERSON"), "ent", "auto", False),
        (("O", "B-X", "I-X", "B-Y"), "ent", "auto", False),
    ],
)
def test_tags_that_spans_cannot_be_told_from_are_refused(
    tags: tuple[str, ...], target: str, scheme: str, is_refused: bool
) -> None:
    nlp = spacy.blank("xx")
    pipe = nlp.add_pipe("constraint_decoder", config={"marginals": "m", "target": target, "scheme": scheme})
    assert isinstance(pipe, ConstraintDecoder)
    if is_refused:
        with pytest.raises(ValueError, match="CRF453"):
            pipe.tag_set(tags)
    else:
        assert pipe.tag_set(tags).tags == tags


def test_two_decoders_are_told_apart_by_what_they_tell() -> None:
    nlp = spacy.blank("xx")
    nlp.add_pipe("constraint_decoder", name="one", config={"marginals": "m"})
    with pytest.warns(CRFWarning, match="CRFW406.*'two'.*decode_info.*'one'.*'info'"):
        nlp.add_pipe("constraint_decoder", name="two", config={"marginals": "m"})
    nlp.add_pipe("constraint_decoder", name="three", config={"marginals": "m", "info": "other_info"})


@pytest.mark.parametrize("priorities", [("1", "1e-320"), ("1e300", "1e-300"), ("1", "1e15")])
def test_priorities_that_cannot_be_summed_up_are_refused(priorities: tuple[str, str]) -> None:
    rules = [f"{rule} priority={each}" for rule, each in zip(("at_most(A, 1)", "at_least(A, 2)"), priorities)]
    pipe = spacy.blank("xx").add_pipe("constraint_decoder", config={"marginals": "m", "constraints": rules})
    assert isinstance(pipe, ConstraintDecoder)
    with pytest.raises(ValueError, match="CRF441.*priority.*1,000,000,000"):
        pipe.tag_set(("O", "A"))


@pytest.mark.parametrize("cost", ["1e9", "1e16", "1e308"])
def test_costs_beside_which_scores_would_not_count_are_refused(cost: str) -> None:
    rules = [f"at_least(A, 9) each cost={cost}", f"ends_with(O) cost={cost}", "starts_with(O) cost=2"]
    nlp = spacy.blank("xx")
    Doc.set_extension("m", default=None, force=True)
    nlp.add_pipe("constraint_decoder", config={"marginals": "m", "target": "tag", "constraints": rules})
    doc = Doc(nlp.vocab, words=["a", "b", "c", "d"])
    doc._.m = {"tags": ["O", "A", "B"], "values": [[0.2, 0.5, 0.3], [0.1, 0.2, 0.7], [0.1, 0.2, 0.7], [0.4, 0.3, 0.3]]}
    if cost == "1e9":
        assert [token.tag_ for token in nlp(doc)] == ["A", "B", "A", "O"] and doc._.decode_info["certified"]
    else:
        with pytest.raises(ValueError, match="CRF441.*cost is 1e.*at most 1,000,000,000"):
            nlp(doc)
