"""The tag dictionary in components: what it rules out, in prediction and in training, and the feature it makes."""

import multiprocessing
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import hypothesis
import numpy as np
import pytest
import spacy
from helpers.chains import distribution_of, labels_and_marginals
from helpers.oracle import Chain
from helpers.tagged import SENTENCES, TRAINERS, build, clean_docs, fit, make_examples, tagger, train
from helpers.weights import flat_weights, set_flat_weights
from hypothesis import given
from hypothesis import strategies as st
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example

from spacy_crf.annotation.documents import write_doc_name
from spacy_crf.core.labels import UNKNOWN, Gold
from spacy_crf.learning.model import get_layout
from spacy_crf.pipe.dictionary.tag_dictionary import read_table
from spacy_crf.pipe.dictionary.valid_tags import ATTRIBUTE, narrow_evidence
from spacy_crf.pipe.explain import explain

DICTIONARY = {"@misc": "spacy_crf.TagDictionary.v1", "min_count": 2, "open_types": 2, "fold": "none", "doubt": 0}
PLAIN = {"@misc": "spacy_crf.Features.v1", "templates": ["LOWER", "LSUFFIX2", "LOWER[-1]"]}
WITH_CLASS = {**PLAIN, "templates": [*PLAIN["templates"], "VALID_TAGS[-1..1]", "B:VALID_TAGS"]}
WORDS = ["She", "is", "mills"]
OPEN = {".", "DT", "IN", "JJ", "NN", "NNP", "NNS", "PRP", "RB", "VB", "VBD", "VBP", "VBZ"}


def settings(use: str = "mask", **changes: Any) -> dict[str, Any]:
    """Features and dictionary of a component, without the settings that would say nothing."""
    idle = {"doubt"} if use == "feature" else set()
    idle |= {"open_types"} if changes.get("open_tags") else set()
    usual = {name: value for name, value in DICTIONARY.items() if name not in idle}
    return {
        "features": PLAIN if use == "mask" else WITH_CLASS,
        "dictionary": {**usual, "use": use, **changes},
    }


def tagged_examples(nlp: Language, texts: list[list[tuple[str, str]]]) -> list[Example]:
    columns = [(list(words), list(tags)) for words, tags in (zip(*text) for text in texts)]
    return [Example(Doc(nlp.vocab, words=w), Doc(nlp.vocab, words=w, tags=t)) for w, t in columns]


def softened(**config: Any) -> Language:
    nlp = train(**config)
    set_flat_weights(tagger(nlp).model, flat_weights(tagger(nlp).model) * 0.1)
    return nlp


def valid(nlp: Language, words: list[str]) -> np.ndarray:
    """((n, L)): what the dictionary allows."""
    pipe = tagger(nlp)
    return pipe.valid_tags.dictionary.valid(words).sets


def chain_of(nlp: Language, words: list[str]) -> Chain:
    pipe = tagger(nlp)
    chains = distribution_of(pipe, pipe.read_columns([Doc(nlp.vocab, words=words)])).chains.astype(np.float64)
    return Chain(chains.emissions, [chains.transitions] * len(words), chains.start, chains.end)


def classes(nlp: Language, sample: Any) -> list[str]:
    column = sample.columns.by_attribute[ATTRIBUTE]
    return [column.strings[value] for value in column.hashes.tolist()]


def test_what_is_counted() -> None:
    nlp = train(**settings())
    names = np.array(tagger(nlp).tags.tags)
    sets = [set(names[row]) for row in valid(nlp, ["is", "The", "Mia", "mills", "nie"])]
    assert sets == [{"VBZ"}, {"DT"}, {"NNP"}, OPEN, OPEN]


def test_tags_that_are_not_valid_have_no_probability() -> None:
    nlp = softened(**settings(), marginals="crf_test_masked")
    allowed = valid(nlp, WORDS)
    assert not allowed.all()
    chain = chain_of(nlp, WORDS).clamped(allowed)
    doc = nlp(Doc(nlp.vocab, words=WORDS))
    values = np.asarray(doc._.crf_test_masked["values"])
    Doc.remove_extension("crf_test_masked")
    np.testing.assert_allclose(values, chain.node_marginals(), atol=1e-5)
    assert not values[~allowed].any()
    names = tagger(nlp).tags.tags
    assert [token.tag_ for token in doc] == [names[tag] for tag in chain.ranked()[0][0]]
    for number, explanation in enumerate(explain(tagger(nlp), Doc(nlp.vocab, words=WORDS))):
        assert explanation.probability == pytest.approx(values[number].max(), abs=1e-5)


def test_a_mask_changes_what_is_predicted_and_nothing_else_does() -> None:
    free = train(features=PLAIN)
    masked = train(**settings(min_count=1, open_tags=["NN"]))
    assert np.array_equal(flat_weights(tagger(free).model), flat_weights(tagger(masked).model))
    doc = masked(Doc(masked.vocab, words=["Ada", "zzz", "vvv"]))
    assert [token.tag_ for token in doc][1:] == ["NN", "NN"]


@pytest.mark.parametrize("learned", [[UNKNOWN, 0, 1], [0, 0, 0]])
def test_gold_is_never_ruled_out(learned: list[int]) -> None:
    nlp = train(**settings(mask_training=True))
    pipe = tagger(nlp)
    columns = pipe.read_columns([Doc(nlp.vocab, words=["is", "is", "The"])])
    gold = Gold.known(np.array(learned), len(pipe.tags))
    mask = pipe.valid_tags.training_mask(columns, gold)
    expected = valid(nlp, ["is", "is", "The"])
    for unit, label in enumerate(learned):
        expected[unit, slice(None) if label == UNKNOWN else label] = True
    np.testing.assert_array_equal(mask, np.where(expected, 0, -np.inf))


def test_the_mask_of_training_does_without_the_token_that_is_learned() -> None:
    nlp = train(**settings(mask_training=True, doubt=0.1, min_count=1))
    pipe, examples = tagger(nlp), make_examples(nlp)
    tokens = [token for example in examples for token in example.reference]
    mask = pipe.make_sample(examples).mask
    assert mask is not None
    for token, row in zip(tokens, mask):
        tags = {other.tag_ for other in tokens if other.text == token.text and other is not token}
        assert {tag for tag, value in zip(pipe.tags.tags, row) if not value} == (tags or OPEN)


@pytest.mark.parametrize("trainer", ["LBFGS", "Minibatch"])
def test_the_loss_under_a_mask_by_brute_force(trainer: str) -> None:
    nlp = softened(trainer=trainer, **settings(mask_training=True))
    pipe = tagger(nlp)
    reference = Doc(nlp.vocab, words=WORDS, tags=["PRP", "NN", "NNS"])  # `is` is never a noun
    example = Example(Doc(nlp.vocab, words=WORDS), reference)
    allowed = valid(nlp, WORDS)
    path = tuple(pipe.tags.number[tag] for tag in ("PRP", "NN", "NNS"))
    allowed[range(3), path] = True
    chain = chain_of(nlp, WORDS).clamped(allowed)
    expected = chain.log_z() - chain.score(path)
    assert pipe.get_loss([example], pipe.predict([example.predicted])) == pytest.approx(expected, rel=1e-4)
    if trainer == "Minibatch":
        assert pipe.update([example])[pipe.name] == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize("trainer", TRAINERS)
@pytest.mark.parametrize("use", ["mask", "both"])
def test_every_trainer_learns_under_a_mask(trainer: str, use: str) -> None:
    nlp = train(trainer, **settings(use, mask_training=True))
    assert nlp.evaluate(make_examples(nlp))["tag_acc"] > 0.97
    pipe = tagger(nlp)
    (sample,) = [pipe.make_sample(make_examples(nlp))]
    assert sample.mask is not None and np.isneginf(sample.mask).any()
    assert np.isfinite(flat_weights(pipe.model)).all()


def test_training_under_a_mask_is_another_training() -> None:
    weights = [flat_weights(tagger(train(**settings(mask_training=on))).model) for on in (False, True)]
    assert weights[0].shape == weights[1].shape and not np.allclose(*weights)


def test_where_forbidden_pairs_leave_no_path_the_mask_is_left_out_and_this_is_said_once() -> None:
    nlp = train(**settings(min_count=1), forbidden=[["VBZ", "PRP"]])
    with pytest.warns(UserWarning, match="CRFW430.*'is She'"):
        done = list(nlp.pipe([Doc(nlp.vocab, words=words) for words in (["is", "old"], ["is", "She"])]))
    allowed = valid(nlp, ["is", "old"])
    assert all(allowed[k, tagger(nlp).tags.number[token.tag_]] for k, token in enumerate(done[0]))
    free = train(features=PLAIN, forbidden=[["VBZ", "PRP"]])
    assert [t.tag_ for t in done[1]] == [t.tag_ for t in free(Doc(free.vocab, words=["is", "She"]))]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        nlp(Doc(nlp.vocab, words=["is", "She"]))


def test_evidence_and_mask_by_hand() -> None:
    nlp = train(features=PLAIN, forbidden=[["VBZ", "PRP"]])
    layout, number = get_layout(tagger(nlp).model), tagger(nlp).tags.number
    mask = np.zeros((4, len(number)), dtype=bool)
    for unit, tags in enumerate((["VBZ", "NN"], ["PRP"], ["VBZ"], ["PRP"])):
        mask[unit, [number[tag] for tag in tags]] = True
    lengths = np.array([2, 2])
    allowed, blocked = narrow_evidence(mask, None, lengths, layout)
    assert blocked.tolist() == [1] and allowed[2:].all()
    np.testing.assert_array_equal(allowed[:2], mask[:2])
    evidence = np.ones_like(mask)
    evidence[0] = np.arange(len(number)) == number["VBZ"]
    evidence[2] = np.arange(len(number)) == number["DT"]  # not valid, but so it is
    allowed, blocked = narrow_evidence(mask, evidence, lengths, layout)
    assert blocked.tolist() == [0]
    np.testing.assert_array_equal(allowed[:2], evidence[:2])
    np.testing.assert_array_equal(allowed[2:], [evidence[2], mask[3]])


def test_tags_that_are_there_count_more_than_the_dictionary() -> None:
    nlp = train(**settings(), given=True)
    doc = Doc(nlp.vocab, words=["She", "is", "old"])
    doc[1].tag_ = "NN"
    (prediction,) = tagger(nlp).predict([doc])
    assert tagger(nlp).tags.tags[prediction.tags[1]] == "NN"


def test_labels_added_later_may_be_given_to_every_word() -> None:
    nlp = train(**settings())
    pipe = tagger(nlp)
    pipe.add_label("ZZ")
    mask = pipe.known_tags([Doc(nlp.vocab, words=WORDS)], pipe.read_columns([Doc(nlp.vocab, words=WORDS)]))
    assert mask is not None and mask[:, -1].all() and not mask.all()
    pipe.predict(clean_docs(nlp))


# -- a mask that may be wrong --------------------------------------------------------------------------------------


def doubtful(nlp: Language, words: list[str], doubt: float) -> Chain:
    """The chain that a component with a doubtful mask should be."""
    allowed = valid(nlp, words)
    assert not allowed.all()
    chain = chain_of(nlp, words)
    weights = np.where(allowed, 0.0, np.log(doubt / (1 - doubt)))
    return Chain(chain.emissions + weights, chain.matrices, chain.start, chain.end)


@pytest.mark.parametrize("doubt", [0.1, 0.45])
def test_tags_that_are_not_valid_lose_odds(doubt: float) -> None:
    nlp = softened(**settings(doubt=doubt), marginals="crf_test_doubted")
    doc = nlp(Doc(nlp.vocab, words=WORDS))
    values = np.asarray(doc._.crf_test_doubted["values"])
    Doc.remove_extension("crf_test_doubted")
    chain, names = doubtful(nlp, WORDS, doubt), tagger(nlp).tags.tags
    np.testing.assert_allclose(values, chain.node_marginals(), atol=1e-5)
    assert (values > 0).all()
    assert [token.tag_ for token in doc] == [names[tag] for tag in chain.ranked()[0][0]]
    for number, why in enumerate(explain(tagger(nlp), Doc(nlp.vocab, words=WORDS))):
        assert why.probability == pytest.approx(values[number].max(), abs=1e-5)
        assert sum(part.difference for part in why.contributions) == pytest.approx(why.difference, abs=1e-5)


def test_the_doubt_is_how_often_training_words_miss_their_tag_without_themselves() -> None:
    nlp = train(**settings(doubt=None))
    pipe, examples = tagger(nlp), make_examples(nlp)
    tokens = [token for example in examples for token in example.reference]
    missed = 0
    for token in tokens:
        tags = [other.tag_ for other in tokens if other.text == token.text and other is not token]
        missed += token.tag_ not in ({*tags, *(OPEN if len(tags) < 2 else ())})
    assert 0 < missed < len(tokens) / 2
    assert pipe.valid_tags.doubt == pytest.approx((missed + 0.5) / (len(tokens) + 1))
    again = build(**settings(doubt=None))
    tagger(again).from_bytes(pipe.to_bytes())
    assert tagger(again).valid_tags.doubt == pipe.valid_tags.doubt
    fixed = build(**settings(doubt=0.2))
    tagger(fixed).from_bytes(pipe.to_bytes())
    assert tagger(fixed).valid_tags.doubt == 0.2


def test_a_table_has_its_mistakes_counted_in_training(tmp_path: Path) -> None:
    path = tmp_path / "words.tsv"
    path.write_text("is\tNN\t9\n", encoding="utf8")
    open_tags = sorted(OPEN)
    nlp = train(**settings(doubt=None, path=str(path), open_tags=open_tags))
    tokens = [token for example in make_examples(nlp) for token in example.reference]
    wrong = sum(token.text == "is" or token.tag_ not in OPEN for token in tokens)
    assert wrong and tagger(nlp).valid_tags.doubt == pytest.approx((wrong + 0.5) / (len(tokens) + 1))


def test_training_under_a_doubtful_mask_by_brute_force() -> None:
    nlp = softened(trainer="Minibatch", **settings(mask_training=True, doubt=0.1))
    pipe = tagger(nlp)
    example = Example(Doc(nlp.vocab, words=WORDS), Doc(nlp.vocab, words=WORDS, tags=["PRP", "NN", "NNS"]))
    path = tuple(pipe.tags.number[tag] for tag in ("PRP", "NN", "NNS"))  # `is` is never a noun
    chain = doubtful(nlp, WORDS, 0.1)
    expected = chain.log_z() - chain.score(path)
    assert pipe.get_loss([example], pipe.predict([example.predicted])) == pytest.approx(expected, rel=1e-4)
    assert pipe.update([example])[pipe.name] == pytest.approx(expected, rel=1e-4)


def test_evidence_stays_hard_beside_a_doubtful_mask() -> None:
    nlp = softened(**settings(doubt=0.3), given=True, marginals="crf_test_given")
    doc = Doc(nlp.vocab, words=["She", "is", "old"])
    doc[1].tag_ = "NN"
    values = np.asarray(tagger(nlp)(doc)._.crf_test_given["values"])
    Doc.remove_extension("crf_test_given")
    assert values[1].tolist() == [float(name == "NN") for name in tagger(nlp).tags.tags] and (values[[0, 2]] > 0).all()


# -- the feature ---------------------------------------------------------------------------------------------------


def test_a_training_token_has_the_class_that_the_other_tokens_make() -> None:
    nlp = train(**settings("feature", min_count=1))
    pipe, examples = tagger(nlp), make_examples(nlp)
    found = classes(nlp, pipe.make_sample(examples))
    tokens = [token for example in examples for token in example.reference]
    for token, name in zip(tokens, found):
        tags = {other.tag_ for other in tokens if other.text == token.text and other is not token}
        assert set(name.split()) == (tags or OPEN)
    unknown = pipe.read_columns([Doc(nlp.vocab, words=["nie"])]).by_attribute[ATTRIBUTE].hashes[0]
    once = [token.text for token in tokens].index("cold")
    assert pipe.make_sample(examples).columns.by_attribute[ATTRIBUTE].hashes[once] == unknown
    new = pipe.read_columns([Doc(nlp.vocab, words=["cold"])]).by_attribute[ATTRIBUTE]
    assert new.strings[int(new.hashes[0])] == "JJ"


def test_a_training_token_may_do_without_its_whole_document() -> None:
    nlp = build(**settings("feature", min_count=1, leave_out="document"))
    lines = SENTENCES.strip().splitlines()
    words = [[token.rsplit("/", 2)[0] for token in f"{a} {b}".split()] for a, b in zip(lines[::2], lines[1::2])]
    tags = [[token.rsplit("/", 2)[1] for token in f"{a} {b}".split()] for a, b in zip(lines[::2], lines[1::2])]
    docs = [Doc(nlp.vocab, words=own, tags=names) for own, names in zip(words, tags)]
    examples = [Example(Doc(nlp.vocab, words=own), doc) for own, doc in zip(words, docs)]
    fit(nlp, examples)
    found = classes(nlp, tagger(nlp).make_sample(examples))
    for token, name in zip([token for doc in docs for token in doc], found):
        others = {t.tag_ for doc in docs if doc is not token.doc for t in doc if t.text == token.text}
        assert set(name.split()) == (others or OPEN)


def test_a_document_is_what_has_one_name_whatever_batch_its_parts_are_in() -> None:
    nlp = build(**settings("feature", min_count=1, leave_out="document"))
    examples = make_examples(nlp)
    for number, example in enumerate(examples):
        write_doc_name(example.reference, f"text {number % 7}")
    nlp.initialize(lambda: examples)
    for number, example in enumerate(examples):
        found = classes(nlp, tagger(nlp).make_sample([example]))
        rest = [other.reference for place, other in enumerate(examples) if place % 7 != number % 7]
        for token, name in zip(example.reference, found):
            others = {other.tag_ for doc in rest for other in doc if other.text == token.text}
            assert set(name.split()) == (others or OPEN)


def random_words(nlp: Language, n_units: int, seed: int) -> Doc:
    """Words that are the rarer the greater their number, most of them with one tag."""
    rng = np.random.default_rng(seed)
    numbers = rng.zipf(1.3, n_units) % 5000
    tags = [f"T{number % 7}" if rng.random() < 0.9 else "T0" for number in numbers]
    return Doc(nlp.vocab, words=[f"w{number}" for number in numbers], tags=tags)


@pytest.mark.parametrize("n_documents", [1, 2, 30])
@pytest.mark.parametrize("is_cut", [False, True])
def test_few_documents_leave_training_words_as_well_known_as_new_text_is(n_documents: int, is_cut: bool) -> None:
    nlp = build(**settings("feature", min_count=1, leave_out="document", open_types=50))
    references = [random_words(nlp, 3000 // n_documents, seed) for seed in range(n_documents)]
    names = [f"text {number}" for number in range(n_documents)]
    if is_cut:
        cuts = [
            (doc[k : k + 20].as_doc(), name) for doc, name in zip(references, names) for k in range(0, len(doc), 20)
        ]
        references, names = map(list, zip(*cuts))
    for reference, name in zip(references, names):
        write_doc_name(reference, name)
    examples = [Example(Doc(nlp.vocab, words=[t.text for t in doc]), doc) for doc in references]
    nlp.initialize(lambda: examples)
    learned = Counter(classes(nlp, tagger(nlp).make_sample(examples)))
    column = tagger(nlp).read_columns([random_words(nlp, 3000, 99)]).by_attribute[ATTRIBUTE]
    used = Counter(column.strings[value] for value in column.hashes.tolist())
    difference = sum(abs(learned[name] - used[name]) for name in {*learned, *used}) / 2 / 3000
    assert difference < 0.08


def test_features_are_spelt_by_their_tags() -> None:
    names = tagger(train(**settings("feature", min_count=1))).features.state.names()
    assert {"VALID_TAGS[0]=DT", "VALID_TAGS[1]=NN NNP", "VALID_TAGS[-1]=BOS-1"} <= set(names)


@given(data=st.data())
@hypothesis.settings(max_examples=10)
@pytest.mark.parametrize("leave_out", ["token", "document"])
def test_text_of_further_training_looks_as_it_will_in_use(
    leave_out: str, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    tagged = st.tuples(st.sampled_from(["a", "b", "c", "d"]), st.sampled_from(["NN", "VB", "DT"]))
    first, second = (data.draw(st.lists(st.lists(tagged, min_size=1, max_size=4), min_size=1)) for _ in range(2))
    nlp = build(**settings("feature", min_count=1, leave_out=leave_out, open_tags=["NN"]))

    first.append([("x", "NN"), ("x", "VB"), ("x", "DT")])
    nlp.initialize(lambda: tagged_examples(nlp, first))
    folder = tmp_path_factory.mktemp("model")
    nlp.to_disk(folder)
    for each in (nlp, spacy.load(folder)):
        pipe = tagger(each)
        for text, example in zip(second, tagged_examples(each, second)):
            used = pipe.read_columns([example.predicted]).by_attribute[ATTRIBUTE]
            if [word for word, _ in text] not in [[word for word, _ in other] for other in first]:
                assert classes(each, pipe.make_sample([example])) == [used.strings[v] for v in used.hashes.tolist()]
        for number, example in enumerate(tagged_examples(each, first)):
            found = classes(each, pipe.make_sample([example]))
            for place, (word, _) in enumerate(first[number]):
                others = {
                    tag
                    for n, text in enumerate(first)
                    for k, (other, tag) in enumerate(text)
                    if other == word and (n != number or (leave_out == "token" and k != place))
                }
                # long documents lose a part only, and texts with the same words are all in the place of the first
                words = [word for word, _ in first[number]]
                is_alone = [[word for word, _ in text] for text in first].count(words) == 1
                if leave_out == "token" or (is_alone and 5 * len(words) <= sum(map(len, first))):
                    assert set(found[place].split()) == (others or {"NN"})


def test_training_goes_on_with_new_text(tmp_path: Path) -> None:
    train(trainer="AdaGrad", **settings("both", min_count=1, mask_training=True)).to_disk(tmp_path)
    nlp = spacy.load(tmp_path)
    pipe, words, tags = tagger(nlp), ["She", "cold", "mills"], ["PRP", "NN", "VBZ"]
    example = Example(Doc(nlp.vocab, words=words), Doc(nlp.vocab, words=words, tags=tags))
    sample = pipe.make_sample([example])
    used = pipe.read_columns([example.predicted]).by_attribute[ATTRIBUTE]
    assert classes(nlp, sample) == [used.strings[value] for value in used.hashes.tolist()]
    assert classes(nlp, sample)[1] == "JJ"  # seen once, with another tag
    optimizer = nlp.resume_training()
    before = pipe.get_loss([example], pipe.predict([example.predicted]))
    for _ in range(5):
        nlp.update([Example(example.predicted.copy(), example.reference)], sgd=optimizer)
    assert pipe.get_loss([example], pipe.predict([example.predicted])) < before - 0.1


TEXTS = [[("a", "NN"), ("b", "VB")], [("a", "NN"), ("c", "DT"), ("b", "VB")], [("b", "VB"), ("a", "VB")]]


def known_words(nlp: Language) -> list[tuple[str, str, float]]:
    """Word, tag and count of a dictionary."""
    words, names = tagger(nlp).valid_tags.dictionary.words, tagger(nlp).tags.tags
    keys = np.repeat(words.keys, np.diff(words.ends)).tolist()
    return sorted(zip(keys, [names[label] for label in words.labels], words.counts.tolist()))


@pytest.mark.parametrize("leave_out", ["token", "document"])
def test_start_counts_new_texts_into_the_dictionary_that_is_there(leave_out: str, tmp_path: Path) -> None:
    block = settings("both", min_count=1, leave_out=leave_out, doubt=None, open_tags=["NN"])
    whole, first, started = build(**block), build(**block), build(**block)
    whole.initialize(lambda: tagged_examples(whole, TEXTS))
    first.initialize(lambda: tagged_examples(first, TEXTS[:2]))
    tagger(first).update(tagged_examples(first, TEXTS[:2]), sgd=first.resume_training())
    tagger(first).to_disk(tmp_path / "first")
    for texts, like in ((TEXTS[:2], first), (TEXTS[1:], whole)):  # those that it knows are not counted twice
        start = str(tmp_path / "first")
        tagger(started).initialize(lambda texts=texts: tagged_examples(started, texts), start=start)
        assert known_words(started) == known_words(like)
        for text in texts if leave_out == "token" else []:  # parts are others
            shown = [classes(nlp, tagger(nlp).make_sample(tagged_examples(nlp, [text]))) for nlp in (started, like)]
            assert [set(name.split()) for name in shown[0]] == [set(name.split()) for name in shown[1]]


@pytest.mark.parametrize("leave_out", ["token", "document"])
def test_start_counts_what_people_have_checked_since_in_the_same_texts(leave_out: str, tmp_path: Path) -> None:
    block = settings("both", min_count=1, leave_out=leave_out, doubt=None)
    checked = [[(word, "NN" if word == "a" and n == 1 else tag) for word, tag in text] for n, text in enumerate(TEXTS)]
    before = [[(word, tag if word == "a" else "") for word, tag in text] for text in TEXTS[:2]]
    first, started, fresh = build(**block), build(**block), build(**block)
    first.initialize(lambda: tagged_examples(first, before))
    tagger(first).update(tagged_examples(first, before), sgd=first.resume_training())
    tagger(first).to_disk(tmp_path / "first")
    tagger(started).initialize(lambda: tagged_examples(started, checked), start=str(tmp_path / "first"))
    fresh.initialize(lambda: tagged_examples(fresh, checked))
    assert known_words(started) == known_words(fresh) != known_words(first)
    assert tagger(started).valid_tags.doubt == tagger(fresh).valid_tags.doubt


@pytest.mark.parametrize("changes", [{"fold": "lower"}, {"leave_out": "document"}])
def test_start_needs_the_same_way_of_counting(changes: dict[str, Any], tmp_path: Path) -> None:
    tagger(train(**settings("both"))).to_disk(tmp_path / "first")
    nlp = build(**settings("both", **changes))
    with pytest.raises(ValueError, match=f"CRF451.*{next(iter(changes))} "):
        tagger(nlp).initialize(lambda: make_examples(nlp), start=str(tmp_path / "first"))


SPELLING = {"@misc": "spacy_crf.Spelling.v1", "rules": "free_spelling", "lengths": [5], "ratio": 1}


@pytest.mark.parametrize(("look_up", "part"), [("rewritten", "rules"), ("normal", "rules")])
def test_start_needs_the_same_forms_to_look_up(look_up: str, part: str, tmp_path: Path) -> None:
    block = settings("both", look_up=look_up)
    spelling = {**SPELLING, "table": None}
    block["features"] = {**block["features"], "spelling": spelling}
    tagger(train(**block)).to_disk(tmp_path / "first")
    block["features"] = {**block["features"], "spelling": {**spelling, "rules": None}}
    nlp = build(**block)
    with pytest.raises(ValueError, match=f"CRF455.*{part} "):
        tagger(nlp).initialize(lambda: make_examples(nlp), start=str(tmp_path / "first"))


@pytest.mark.filterwarnings("ignore:.*CRFW887")  # of the spelling, which nothing looks at
@pytest.mark.parametrize(("look_up", "expected"), [("form", "DT"), ("rewritten", "NN"), ("normal", "NN")])
def test_spellings_of_a_word_share_their_tags(look_up: str, expected: str, tmp_path: Path) -> None:
    path = tmp_path / "words.tsv"
    path.write_text("flour\tNN\t9\n", encoding="utf8")
    block = {**settings("both", look_up=look_up, path=str(path), open_tags=["DT"], min_count=2)}
    block["features"] = {**WITH_CLASS, "spelling": SPELLING}
    nlp = train(**block)
    nlp.to_disk(tmp_path / "model")
    for each in (nlp, spacy.load(tmp_path / "model")):
        assert [token.tag_ for token in each.get_pipe("crf_tagger")(Doc(each.vocab, words=["flovrr"]))] == [expected]


def test_normal_forms_need_their_block() -> None:
    with pytest.raises(ValueError, match="CRF439.*'rewritten'"):
        train(**settings("feature", look_up="rewritten"))


# -- keeping it ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("use", ["mask", "feature", "both"])
def test_a_loaded_component_is_the_same(use: str, tmp_path: Path) -> None:
    nlp = train(**settings(use, rules=[["NN", "VB"]], similarity=0.3, fold="lower"))
    nlp.to_disk(tmp_path / "model")
    again = spacy.load(tmp_path / "model")
    assert again.to_bytes() == nlp.to_bytes()
    mine, theirs = (labels_and_marginals(tagger(one), clean_docs(one)) for one in (nlp, again))
    for one, other in zip(mine, theirs):
        for values, others in zip(one, other):
            np.testing.assert_array_equal(values, others)


@pytest.mark.slow
@pytest.mark.parametrize("method", sorted({"fork", "spawn"} & set(multiprocessing.get_all_start_methods())))
def test_processes_predict_the_same(method: str) -> None:
    nlp = train(**settings("both"))
    alone = [[token.tag_ for token in doc] for doc in nlp.pipe(clean_docs(nlp))]
    before = multiprocessing.get_start_method()
    multiprocessing.set_start_method(method, force=True)
    try:
        found = [[token.tag_ for token in doc] for doc in nlp.pipe(clean_docs(nlp), n_process=2)]
    finally:
        multiprocessing.set_start_method(before, force=True)
    assert found == alone


def test_a_table_takes_the_place_of_training_data(tmp_path: Path) -> None:
    path = tmp_path / "words.tsv"
    path.write_text("Is\tVBZ\t9\nmills\tNN\nshe\tPRP\t1\n", encoding="utf8")
    changes = {"path": str(path), "fold": "lower", "open_tags": ["NNP", "VB"], "min_count": 2}
    nlp = train(**settings("both", **changes))
    names = np.array(tagger(nlp).tags.tags)
    sets = [set(names[row]) for row in valid(nlp, ["is", "Mills", "She", "nie"])]
    assert sets == [{"VBZ"}, {"NN"}, {"NNP", "VB", "PRP"}, {"NNP", "VB"}]
    path.unlink()
    again = build(**settings("both", **changes))
    tagger(again).from_bytes(tagger(nlp).to_bytes())
    np.testing.assert_array_equal(valid(again, WORDS), valid(nlp, WORDS))


def test_a_block_may_be_taken_out_after_training(tmp_path: Path) -> None:
    train(**settings()).to_disk(tmp_path)
    free = spacy.load(tmp_path, config={"components.crf_tagger.dictionary": None})
    assert tagger(free).known_tags([Doc(free.vocab, words=WORDS)], tagger(free).read_columns(clean_docs(free))) is None
    assert free.evaluate(make_examples(free))["tag_acc"] > 0.97


def test_spans_have_valid_tags_too() -> None:
    nlp = train(target="ent", **settings("both", min_count=1, mask_training=True))
    assert nlp.evaluate(make_examples(nlp))["ents_f"] > 0.95
    names = np.array(tagger(nlp).tags.tags)
    assert [set(names[row]) for row in valid(nlp, ["Delft", "is"])] == [{"B-LOC", "I-LOC"}, {"O"}]


# -- what is wrong -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "config, code",
    [
        ({"features": WITH_CLASS}, "CRF430.*VALID_TAGS"),
        ({"features": WITH_CLASS, "dictionary": {**DICTIONARY, "use": "mask"}}, "CRF430"),
        ({"features": PLAIN, "dictionary": {**DICTIONARY, "use": "feature"}}, "CRF430.*none"),
        (settings("feature", mask_training=True), "CRF840.*mask_training"),
        (settings(open_tags=[]), "CRF840.*open_tags"),
        (settings(doubt=0.5), "CRF840.*doubt"),
        (settings(doubt=-0.1), "CRF840.*doubt"),
        (settings(min_count=0.5), "CRF840.*min_count"),
        (settings(use="sometimes"), "sometimes"),
        (settings(min_count="often"), "often"),
    ],
)
def test_settings_that_do_not_fit(config: dict[str, Any], code: str) -> None:
    with pytest.raises(ValueError, match=code):
        build(**config)


@pytest.mark.parametrize(
    "changes, code",
    [
        ({"rules": [["NN", "VX"]]}, "CRF432.*rules.*'VX'.*VB"),
        ({"open_tags": ["Noun"]}, "CRF432.*open_tags.*'Noun'"),
        ({"path": "nowhere.tsv"}, "CRF842.*nowhere"),
    ],
)
def test_settings_that_do_not_fit_the_data(changes: dict[str, Any], code: str) -> None:
    nlp = build(**settings(**changes))
    with pytest.raises(ValueError, match=code):
        nlp.initialize(lambda: make_examples(nlp))


def test_a_dictionary_needs_gold() -> None:
    nlp = build(**settings())
    examples = [Example(doc, doc) for doc in clean_docs(nlp)]
    with pytest.raises(ValueError, match="CRF431"):
        tagger(nlp).initialize(lambda: examples, labels=["NN"])


def test_a_model_without_a_dictionary_gets_none_by_its_config(tmp_path: Path) -> None:
    train(features=PLAIN).to_disk(tmp_path)
    config = {**DICTIONARY, "use": "mask"}
    with pytest.raises(ValueError, match="CRF433"):
        spacy.load(tmp_path, config={"components.crf_tagger.dictionary": config})


@pytest.mark.filterwarnings("ignore:.*CRFW887")  # of the spelling, which nothing looks at
@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("min_count", 3),
        ("min_share", 0.3),
        ("fold", "lower"),
        ("look_up", "rewritten"),
        ("open_tags", ["NN"]),
        ("rules", [["NN", "VB"]]),
    ],
)
def test_what_a_stored_dictionary_was_made_with_cannot_be_changed(setting: str, value: Any, tmp_path: Path) -> None:
    block = settings()
    block["features"] = {**PLAIN, "spelling": {**SPELLING, "table": None}}
    train(**block).to_disk(tmp_path)
    with pytest.raises(ValueError, match=f"CRF313.*dictionary.{setting} = "):
        spacy.load(tmp_path, config={f"components.crf_tagger.dictionary.{setting}": value})
    spacy.load(tmp_path, config={"components.crf_tagger.dictionary.doubt": 0.1})


@pytest.mark.parametrize("use", ["feature", "mask"])
def test_copies_would_tell_the_class_of_each_other(use: str) -> None:
    config = {**settings(use, mask_training=use == "mask"), "learn_from": "augmented"}
    with pytest.raises(ValueError, match="CRF434"):
        spacy.blank("xx").add_pipe("set_valued_tagger", config=config)


@pytest.mark.parametrize("line", ["a", "a\tNN\tmany", "a\tNN\t0", "a\tNN\t-1", "\tNN\t1", "a\t\t1", "a\tNN\t1\t2"])
def test_lines_of_a_table_that_are_no_entries(line: str, tmp_path: Path) -> None:
    path = tmp_path / "words.tsv"
    path.write_text(f"b\tNN\t1\n# edited by hand\n\n{line}\n", encoding="utf8")
    with pytest.raises(ValueError, match="CRF841.*line 4"):
        read_table(path)
