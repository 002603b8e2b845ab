"""White space that is a token: a chain that was trained without runs over the words alone, and tells of all tokens."""

import json
import random
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
import pytest
import spacy
from helpers.networks import CNN, WIDTH, learn, model
from helpers.tagged import TRAINER_CONFIGS, build, fit, make_examples, train
from helpers.weights import flat_weights, set_flat_weights
from hypothesis import given
from hypothesis import strategies as st
from spacy.language import Language
from spacy.tokens import Doc, Span, Token
from spacy.training import Example

from spacy_crf import calibrate, conformal_sets, explain, held_out_tokens
from spacy_crf.annotation.gold import write_partial
from spacy_crf.corpora.annotated import token_rows
from spacy_crf.lab.evaluation import evaluate, find_surprises
from spacy_crf.lab.tuning import count_known
from spacy_crf.pipe.pool import trained_on
from spacy_crf.pipe.probabilities import span_probabilities
from spacy_crf.tagging.cli import tagged_tokens
from spacy_crf.tagging.review import review
from spacy_crf.tagsets.guarantee import SequenceLength

SPACES = (" ", "\n", "\n\n", "\t", "\u00a0\u00a0")
WORDS = ("Ada", "Bo", "Stone", "Delft", "New", "mill", "sold", "the", ".", "zzyx")
ENTITIES: dict[str, Any] = {"target": "ent", "scores": "sure", "marginals": "probs", "n_best": 3, "entropy": "doubt"}
RULES: dict[str, Any] = {"constraints": ["at_most(PER, 1)", "at_most(LOC, 1)"], "changes": "changes"}


@cache
def pipeline(kind: str) -> Language:
    if kind == "tags":
        return made("crf_tagger", n_best=2, entropy="doubt", marginals="probs", overwrite=True)
    if kind == "entities":
        return made("crf_tagger", **ENTITIES)
    if kind == "best spans":
        return made("crf_tagger", target="ent", decode="spans", threshold=0.1)
    if kind == "spans":
        return train(target="spans", scheme="BILUO")
    if kind == "given":
        return made("crf_tagger", target="ent", given=True)
    if kind == "extension":
        return train(target="crf_test_case", overwrite=True)
    if kind == "sets":
        return made("set_valued_tagger", sequences=4)
    if kind == "dictionary":
        return train(dictionary={"@misc": "spacy_crf.TagDictionary.v1", "use": "mask"}, marginals="probs")
    if kind == "sourced sets":
        nlp = train(marginals="probs")
        nlp.add_pipe("set_valued_tagger", config={"source": "crf_tagger"})
        return nlp
    if kind == "constraint decoder":
        nlp = train(marginals="probs")
        config = {"source": "crf_tagger", "target": "tag", "overwrite": True, "constraints": ["at_most(NNP, 1)"]}
        nlp.add_pipe("constraint_decoder", config={**config, "changes": "changes"})
        return nlp
    assert kind == "constrained"
    return made("constrained_ner", marginals="probs", **RULES)


def made(factory: str, **config: Any) -> Language:
    """A pipeline of one trained component whose probabilities are not all near 0 and 1."""
    nlp = spacy.blank("xx")
    pipe = nlp.add_pipe(factory, config={"trainer": TRAINER_CONFIGS["LBFGS"], **config})
    examples = make_examples(nlp)
    nlp.initialize(lambda: examples)
    nlp.update(examples)
    set_flat_weights(pipe.model, flat_weights(pipe.model) * 0.3)
    return nlp


KINDS = (
    "tags",
    "entities",
    "best spans",
    "spans",
    "given",
    "extension",
    "sets",
    "dictionary",
    "sourced sets",
    "constraint decoder",
)
TEXTS = st.lists(st.tuples(st.sampled_from(WORDS), st.booleans(), st.lists(st.sampled_from(SPACES), max_size=2)))


def make_docs(nlp: Language, parts: Sequence[tuple[str, bool, list[str]]], first: str) -> tuple[Doc, Doc]:
    """A Doc of words, and one with white space before and behind them. Sentences may begin in white space."""
    words = [word for word, _, _ in parts]
    starts = [number == 0 or begins for number, (_, begins, _) in enumerate(parts)]
    tokens, opens = [first] if first else [], [True] if first else []
    for number, (word, _, spaces) in enumerate(parts):
        has_begun = number > 0 and tokens[-1].isspace() and starts[number]
        if has_begun:
            opens[-1] = True
        tokens += [word, *spaces]
        opens += [starts[number] and not has_begun, *(False for _ in spaces)]
    return Doc(nlp.vocab, words=words, sent_starts=starts), Doc(nlp.vocab, words=tokens, sent_starts=opens)


def words_of(doc: Doc) -> list[int]:
    return [token.i for token in doc if not token.is_space]


def span_words(doc: Doc, span: Span) -> tuple[int, int, str]:
    places = words_of(doc)
    return places.index(span.start), places.index(span.end - 1) + 1, span.label_


def told(doc: Doc) -> dict[str, Any]:
    """All that components have written of the words of a Doc, by the numbers of the words."""
    places, found = words_of(doc), dict[str, Any]()
    found["tags"] = [doc[place].tag_ for place in places]
    found["ents"] = [span_words(doc, span) for span in doc.ents]
    found["spans"] = {key: [span_words(doc, span) for span in group] for key, group in doc.spans.items()}
    found["scores"] = {key: group.attrs.get("scores") for key, group in doc.spans.items()}
    found["case"] = [doc[place]._.get("crf_test_case") for place in places]
    for key in ("probs", "tag_probs"):
        if (stored := read(doc, key)) is not None:
            found[key] = np.round([stored["values"][place] for place in places], 5).tolist()
    if (sets := read(doc, "tag_set")) is not None:
        found["sets"] = [sets[place] for place in places]
    for key in ("n_best", "tag_sequences"):
        if (listed := read(doc, key)) is not None:
            found[key] = [sequence_words(doc, one) for one in listed]
    if (doubt := read(doc, "doubt")) is not None:
        found["doubt"] = [round(one["entropy"], 5) for one in doubt["sequences"]]
        found["doubts"] = np.round([doubt["tokens"][place] for place in places], 5).tolist()
    if (changes := read(doc, "changes")) is not None:
        found["changes"] = [{**one, "token": places.index(one["token"])} for one in changes]
    return found


def read(doc: Doc, key: str) -> Any:
    return doc._.get(key) if Doc.has_extension(key) else None


def sequence_words(doc: Doc, told: dict[str, Any]) -> Any:
    places = [token.i - told["start"] for token in doc[told["start"] : told["end"]] if not token.is_space]
    assert all(len(labels) == told["end"] - told["start"] for labels in told["labels"])
    probabilities = np.round(told["probabilities"], 5).tolist()
    return [[labels[place] for place in places] for labels in told["labels"]], probabilities


@pytest.mark.parametrize("kind", [*KINDS, "constrained"])
@given(TEXTS, st.sampled_from(["", *SPACES]))
def test_white_space_changes_nothing_of_what_is_told_of_words(
    kind: str, parts: list[tuple[str, bool, list[str]]], first: str
) -> None:
    nlp = pipeline(kind)
    plain, spaced = make_docs(nlp, parts, first)
    if kind == "given" and len(plain):
        plain.ents = [Span(plain, 0, 1, label="LOC")]
        place = words_of(spaced)[0]
        spaced.ents = [Span(spaced, 0, place + 1, label="LOC")]  # from the white space before it
    for _, pipe in nlp.pipeline:
        plain, spaced = pipe(plain), pipe(spaced)
    if kind == "given":
        plain.ents, spaced.ents = plain.ents[1:], spaced.ents[1:]
    assert told(spaced) == told(plain)
    spaces = [token for token in spaced if token.is_space]
    assert all(not token.tag_ for token in spaces)
    for key in ("probs", "tag_probs"):
        if (stored := read(spaced, key)) is not None:
            assert not np.any([stored["values"][token.i] for token in spaces])


@pytest.mark.parametrize("kind", ["tags", "entities", "sets", "constrained", "constraint decoder"])
def test_rows_without_white_space_have_what_is_told_of_words(kind: str) -> None:
    nlp = pipeline(kind)
    plain, spaced = (
        Doc(nlp.vocab, words=words.split("|")) for words in ("Ada|Bo|Stone|sold", "\n|Ada|Bo| |Stone|sold|\n")
    )
    rows, same = (token_rows(nlp(doc), 1) for doc in (spaced, plain))
    told, expected = (
        json.loads(own["document"][0], parse_float=lambda text: round(float(text), 4)) for own in (rows, same)
    )
    drop_times(told, expected)
    assert told == expected and len(rows["word"]) == len(same["word"]) == 4


def drop_times(*told: dict[str, Any]) -> None:
    for own in told:
        own.pop("decode_info", None)


def test_what_computes_attributes_sees_the_whole_document() -> None:
    """Results of earlier components, and what a Doc has stored by the places of its tokens."""
    Token.set_extension("crf_test_sure", getter=lambda token: (token._.tag_set or ["none"])[0], force=True)
    Token.set_extension("crf_test_voice", getter=lambda token: token.doc.user_data["voices"][token.i], force=True)
    nlp = spacy.blank("xx")
    nlp.add_pipe("set_valued_tagger")
    templates = ["_.crf_test_sure[0]", "_.crf_test_voice[0]"]
    features = {"@misc": "spacy_crf.Features.v1", "templates": templates}
    nlp.add_pipe("crf_tagger", config={"target": "ent", "features": features, "marginals": "probs"})
    examples = make_examples(nlp)
    for example in examples:
        example.predicted.user_data["voices"] = [str(token.is_title) for token in example.predicted]
    nlp.initialize(lambda: examples)
    for _ in range(6):
        nlp.update(examples, annotates=["set_valued_tagger"])
    plain, spaced = (
        Doc(nlp.vocab, words=words) for words in (["New", "Delft", "is"], ["\n", "New", " ", "Delft", "is"])
    )
    plain.user_data["voices"], spaced.user_data["voices"] = ["True", "True", "False"], ["", "True", "", "True", "False"]
    assert told(nlp(spaced)) == told(nlp(plain))
    assert spaced.ents
    Token.remove_extension("crf_test_sure")
    Token.remove_extension("crf_test_voice")


@pytest.mark.parametrize("kind", ["tags", "sets"])
@given(st.lists(st.lists(st.sampled_from([*WORDS, *SPACES]), max_size=6), max_size=3))
def test_words_are_tagged_as_docs_of_them(kind: str, texts: list[list[str]]) -> None:
    nlp = pipeline(kind)
    _, pipe = nlp.pipeline[0]
    docs = [Doc(nlp.vocab, words=words) for words in texts]
    for own, decoded, rows in zip(pipe.tag_words(texts), pipe.predict(docs), pipe.token_probabilities(docs)):
        assert own.labels.tolist() == decoded.tags.tolist()
        np.testing.assert_allclose(own.probabilities, rows, atol=1e-6)


def test_batches_with_and_without_white_space_and_of_white_space_alone() -> None:
    nlp = pipeline("entities")
    texts = ["Bo Stone lives in Delft.", "Bo  Stone\n\nlives in Delft.\n", "\n", "", "Ada met Bo."]
    found = list(nlp.pipe(map(nlp.make_doc, texts)))
    assert [[span.label_ for span in doc.ents] for doc in found] == [["PER", "LOC"]] * 2 + [[], [], ["PER", "PER"]]
    assert [span.text.split() for span in found[1].ents] == [["Bo", "Stone"], ["Delft"]]


def test_probabilities_of_spans_and_explanations_are_those_of_the_words() -> None:
    nlp = pipeline("entities")
    (_, pipe), plain, spaced = nlp.pipeline[0], nlp("Bo Stone lives in Delft."), nlp("\nBo  Stone lives\n\nin Delft.")
    chosen = [plain.ents[0], plain[4:5]], [spaced.ents[0], spaced[0:4], spaced[7:8], spaced[0:1]]
    one, other = (span_probabilities(pipe, own[0].doc, as_spans(own)) for own in chosen)
    np.testing.assert_allclose(other.label, [one.label[0], one.label[0], one.label[1], 0], atol=1e-6)
    places = words_of(spaced)
    for why, same in zip(explain(pipe, plain), explain(pipe, spaced, places)):
        assert (same.label, same.text, same.token) == (why.label, why.text, places[why.token])
        parts = {(places[part.token], part.name, part.labels) for part in why.contributions}
        assert {(part.token, part.name, part.labels) for part in same.contributions} == parts
    assert [why.label for why in explain(pipe, spaced, [0, 5])] == ["", ""]
    assert [why.label for why in explain(pipe, nlp("\n"))] == [""]


def as_spans(chosen: Sequence[Span]) -> list[Span]:
    return [Span(span.doc, span.start, span.end, label="PER") for span in chosen]


def spaced_example(example: Example, rng: random.Random, tag: str = "") -> Example:
    """The same with white space on both sides, of which nothing is known but perhaps a tag."""
    words, tags, ents = list[str](), list[str](), list[str]()
    for token in example.reference:
        bio = "O" if token.ent_iob_ == "O" else f"{token.ent_iob_}-{token.ent_type_}"
        words, tags, ents = [*words, token.text], [*tags, token.tag_], [*ents, bio]
        if rng.random() < 0.3:
            words, tags = [*words, rng.choice(SPACES)], [*tags, tag]
            ents.append(f"I-{token.ent_type_}" if goes_on(token) else "O")
    starts = [True, *(False for _ in words[1:])]
    reference = Doc(example.predicted.vocab, words=words, tags=tags, ents=ents, sent_starts=starts)
    return Example(Doc(example.predicted.vocab, words=words, sent_starts=starts), reference)


def goes_on(token: Any) -> bool:
    return bool(token.i + 1 < len(token.doc) and token.nbor().ent_iob_ == "I")


@pytest.mark.parametrize("kind", ["tags", "entities", "constrained", "sets", "dictionary"])
def test_training_goes_on_with_the_words_alone(kind: str) -> None:
    nlp = pipeline(kind)
    losses = []
    for spoil in (False, True):
        pipe, rng = nlp.pipeline[0][1], random.Random(1)
        plain = make_examples(nlp)
        examples = [spaced_example(example, rng) for example in plain] if spoil else plain
        scores = pipe.predict([example.predicted for example in examples])
        losses.append(pipe.get_loss(examples, scores))
    np.testing.assert_allclose(*losses, rtol=1e-5)


@pytest.mark.parametrize("kind", ["tags", "entities", "sets"])
def test_fits_to_held_out_data_are_those_of_the_words(kind: str) -> None:
    nlp, rng = pipeline(kind), random.Random(2)
    pipe, plain = nlp.pipeline[0][1], make_examples(nlp)
    plain[0].reference[1].tag_, plain[0].reference.ents = "NN", plain[0].reference.ents[:1]  # not all is to be right
    spaced = [spaced_example(example, rng) for example in plain]
    found = [calibrate(pipe, examples) for examples in (plain, spaced)]
    np.testing.assert_allclose(found[0].temperature, found[1].temperature, rtol=1e-4)
    np.testing.assert_allclose(found[0].before.error, found[1].before.error, atol=1e-6)
    if kind == "sets":
        promises = [conformal_sets(held_out_tokens(pipe, examples), 0.2) for examples in (plain, spaced)]
        one, other = (promise.sets.to_data() for promise in promises)
        assert one["counts"] == other["counts"] and one["quantiles"] == pytest.approx(other["quantiles"], abs=1e-5)


def test_promises_over_a_source_are_those_of_the_words() -> None:
    nlp, rng = pipeline("sourced sets"), random.Random(4)
    pipe, plain = nlp.get_pipe("set_valued_tagger"), make_examples(nlp)
    for tag in ("", "NN"):
        spaced, by = [spaced_example(example, rng, tag) for example in plain], SequenceLength((5, 7))
        held_out = [held_out_tokens(pipe, examples) for examples in (plain, spaced)]
        one, other = (conformal_sets(own, 0.2, condition="group", by=by).sets.to_data() for own in held_out)
        assert one["counts"] == other["counts"] and one["quantiles"] == pytest.approx(other["quantiles"], abs=1e-5)


def test_sets_are_measured_on_the_words() -> None:
    nlp, rng = pipeline("sets"), random.Random(5)
    spaced = [spaced_example(example, rng, "_SP") for example in make_examples(nlp)]
    one, other = (nlp.evaluate(examples) for examples in (make_examples(nlp), spaced))
    names = ("ml_acc", "ml_util", "set_coverage", "set_size", "set_singletons")
    assert [other[name] for name in names] == pytest.approx([one[name] for name in names], abs=1e-5)


@pytest.mark.parametrize("kind", ["tags", "sets", "constraint decoder"])
def test_gold_of_white_space_that_is_left_out_changes_no_figure(kind: str) -> None:
    nlp, rng, found = pipeline(kind), random.Random(6), list[Any]()
    name, trained = nlp.pipe_names[-1], [example.reference for example in make_examples(nlp)]
    for examples in (make_examples(nlp), [spaced_example(one, rng, "_SP") for one in make_examples(nlp)]):
        figures = evaluate(nlp, name, examples, trained, with_intervals=True)
        scores = {name: value for name, value in figures.found.scores.items() if not name.startswith("segments_")}
        assert {name for name, *_ in figures.intervals} >= {name for name in scores if name.endswith("_acc_known")}
        assert all(one.gold != "_SP" for one in find_surprises(nlp.get_pipe(name), figures.examples, 99))
        found.append((scores, figures.found.confusions, figures.unknown_words))
    assert found[1][0] == pytest.approx(found[0][0], abs=1e-5) and found[1][1:] == found[0][1:]


def test_each_token_of_white_space_has_a_set_of_its_own() -> None:
    sets = pipeline("sets")("Ada \n sold\n")._.tag_set
    sets[1].append("NN")
    assert sets[3] == []


def test_a_last_word_has_a_space_behind_it_where_the_text_has() -> None:
    features = {"@misc": "spacy_crf.Features.v1", "templates": ["LOWER", "SPACY"]}
    nlp = spacy.blank("xx")
    nlp.add_pipe("crf_tagger", config={"features": features, "marginals": "probs"})
    words: dict[str, Any] = {"words": ["a", "b"], "spaces": [True, False]}
    examples = [Example(Doc(nlp.vocab, **words), Doc(nlp.vocab, **words, tags=["X", "Y"]))]
    nlp.initialize(lambda: examples)
    nlp.update(examples)
    assert told(nlp("a b\n")) == told(nlp("a b"))


def test_tokens_that_are_told_of_have_no_tag_without_a_probability() -> None:
    nlp = build(target="ent", marginals="crf_marginals")
    fit(nlp, make_examples(nlp))
    rows = tagged_tokens(nlp("Ada  sold"), nlp.get_pipe("crf_tagger"))
    assert [row.tag for row in rows] == ["B-PER", None, "O"]


def test_a_review_has_the_tokens_of_the_text() -> None:
    nlp = pipeline("tags")
    pipe = nlp.pipeline[0][1]
    (plain,) = review(pipe, [nlp.make_doc("Bo sold the mill.")])
    (spaced,) = review(pipe, [nlp.make_doc("Bo sold\n\nthe mill.")])
    assert spaced.certainty == pytest.approx(plain.certainty)
    assert [token.text for token in spaced.span] == ["Bo", "sold", "\n\n", "the", "mill", "."]
    assert [tag for tag in spaced.tags if tag] == plain.tags and spaced.tags[2] == ""


# -- what training has shown -------------------------------------------------------------------------------------


def test_white_space_that_training_has_shown_is_a_unit_like_others() -> None:
    nlp, rng = build(target="ent"), random.Random(3)
    examples = [spaced_example(example, rng) for example in make_examples(nlp)]
    fit(nlp, examples)
    assert nlp.get_pipe("crf_tagger").cfg["skips_white_space"] is False
    (rows,) = nlp.get_pipe("crf_tagger").token_probabilities([nlp.make_doc("Ada\n\nsold")])
    np.testing.assert_allclose(rows.sum(axis=1), 1, atol=1e-5)


def test_white_space_with_labels_of_its_own_keeps_them() -> None:
    nlp = build()
    words, tags = ["the", "mill", "\n", *["old"] * 200], ["DT", "NN", "_SP", *["JJ"] * 200]
    known = [Example(Doc(nlp.vocab, words=words), Doc(nlp.vocab, words=words, tags=tags)) for _ in range(9)]
    fit(nlp, [*make_examples(nlp), *known])
    assert nlp.get_pipe("crf_tagger").cfg["skips_white_space"] is False
    assert nlp("the mill\n")[2].tag_ == "_SP"
    assert nlp.evaluate(known[:1])["tag_acc"] == 1


def test_what_was_learned_is_saved_and_old_models_go_on_as_before(tmp_path: Any) -> None:
    nlp = pipeline("tags")
    again = nlp.from_bytes(nlp.to_bytes())
    assert again.get_pipe("crf_tagger").cfg["skips_white_space"] is True
    old = train().get_pipe("crf_tagger")
    old.cfg.learn(skips_white_space=False)  # as of files that say nothing of it
    assert old(Doc(old.vocab, words=["Ada", " "]))[1].tag_


@pytest.mark.parametrize("factory", ["crf_tagger", "constrained_ner"])
def test_a_listener_hears_of_white_space_and_learns_of_the_words(factory: str) -> None:
    nlp, rng, own = spacy.blank("xx"), random.Random(6), {"@architectures": "spacy.Tok2VecListener.v1", "width": WIDTH}
    nlp.add_pipe("tok2vec", config={"model": CNN})
    config: dict[str, Any] = {"trainer": {"@misc": "spacy_crf.Minibatch.v1"}, "model": model({**own, "upstream": "*"})}
    pipe: Any = nlp.add_pipe(factory, config=config)
    plain = make_examples(nlp)
    spaced = [spaced_example(example, rng) for example in plain]
    nlp.initialize(lambda: [*plain, *[each for _ in range(4) for each in make_examples(nlp)], *spaced])
    assert pipe.cfg["skips_white_space"]
    before = nlp.get_pipe("tok2vec").model.to_bytes()
    learn(nlp, spaced, epochs=5)
    assert nlp.get_pipe("tok2vec").model.to_bytes() != before
    docs = nlp.get_pipe("tok2vec").pipe(example.predicted for example in spaced)
    heard = [Example(doc, example.reference) for doc, example in zip(docs, spaced)]
    expected = pipe.get_loss(heard, [])
    assert nlp.update(spaced)[factory] == pytest.approx(expected, rel=0.01)


def test_a_component_for_a_part_of_the_data_has_the_units_of_the_whole() -> None:
    nlp, rng = build(target="ent"), random.Random(7)
    plain = make_examples(nlp)
    spaced = [spaced_example(example, rng) for example in plain]
    fit(nlp, [*plain, *spaced])
    fold = trained_on(nlp.get_pipe("crf_tagger"), plain, 4)
    assert len(fold.held_out(spaced).labels) == sum(len(example.predicted) for example in spaced)


@pytest.mark.parametrize(
    "tags", ["B-PER I-PER I-PER O", "O B-PER I-PER O", "B-LOC B-PER I-PER O", "B-PER B-PER I-PER O", "- B-PER I-PER -"]
)
def test_a_span_of_partial_gold_that_begins_in_white_space_begins_at_its_word(tags: str) -> None:
    nlp = pipeline("entities")
    pipe, spaced = nlp.pipeline[0][1], ["Delft", "\n", "Stone", "left"]
    bio = [tag.strip("-") for tag in tags.split()]
    expected = [bio[0], bio[1] if bio[1] != "I-PER" else bio[2], bio[3]]
    losses = []
    for words, own in ((spaced, bio), ([*spaced[:1], *spaced[2:]], expected)):
        reference = Doc(nlp.vocab, words=words)
        write_partial(reference, "ent", "sc", own)
        losses.append(pipe.get_loss([Example(Doc(nlp.vocab, words=words), reference)], []))
    np.testing.assert_allclose(*losses, rtol=1e-5)


def test_known_gold_is_counted_of_the_words() -> None:
    nlp, rng = pipeline("entities"), random.Random(8)
    pipe, plain = nlp.pipeline[0][1], make_examples(nlp)
    assert count_known(pipe, [spaced_example(one, rng) for one in plain]) == count_known(pipe, plain)


def test_a_run_goes_on_with_the_units_that_it_had(tmp_path: Any) -> None:
    nlp, trainer = spacy.blank("xx"), {**TRAINER_CONFIGS["LBFGS"], "iterations_per_step": 2, "resumable": True}
    pipe: Any = nlp.add_pipe("crf_tagger", config={"trainer": trainer, "target": "ent"})
    examples = [
        *[one for _ in range(5) for one in make_examples(nlp)],
        spaced_example(make_examples(nlp)[0], random.Random(9)),
    ]
    pipe.initialize(lambda: examples)
    pipe.cfg.learn(skips_white_space=False)  # as in a version that knew nothing of it
    nlp.update(examples)
    nlp.to_disk(tmp_path)
    pipe.initialize(lambda: examples, nlp=nlp, start=str(tmp_path / "crf_tagger"))
    nlp.update(examples)
    assert pipe.cfg["skips_white_space"] is False
