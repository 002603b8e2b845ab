"""Settings of all blocks: what has no meaning is refused with a code that says what to write."""

from dataclasses import MISSING, fields
from typing import Any, get_args, get_type_hints

import pytest
import spacy
from helpers.chains import softened
from helpers.tagged import clean_docs, extension
from spacy.tokens import Doc
from spacy.training import Example

from spacy_crf import CRFError, CRFWarning
from spacy_crf.constraints.block import MiningSettings, make_constrained_ner, make_constraint_decoder
from spacy_crf.features.block import ClassSettings, FeatureSettings, SpellingSettings
from spacy_crf.lab.block import make_frequency_tagger, make_hmm_tagger, make_memm_tagger
from spacy_crf.learning.block import (
    AdaGradSettings,
    AROWSettings,
    LBFGSSettings,
    PassiveAggressiveSettings,
    PerceptronSettings,
    StochasticGradientSettings,
)
from spacy_crf.pipe.dictionary.block import DictionarySettings
from spacy_crf.pipe.labels import near_targets
from spacy_crf.punctuation.block import make_punctuation_restorer
from spacy_crf.sections.block import make_section_parser
from spacy_crf.tagging.block import make_crf_tagger
from spacy_crf.tagsets.block import make_set_valued_tagger

__all__ = ["extension"]
CORE = (make_crf_tagger, make_set_valued_tagger, make_constrained_ner, make_section_parser, make_punctuation_restorer)
COMPARED = (make_frequency_tagger, make_hmm_tagger, make_memm_tagger)
COMPONENTS = [make.settings for make in (*CORE, make_constraint_decoder, *COMPARED)]
TRAINERS = (LBFGSSettings, PerceptronSettings, PassiveAggressiveSettings, AROWSettings, AdaGradSettings)
NESTED = [MiningSettings, FeatureSettings, SpellingSettings, ClassSettings, DictionarySettings]
NESTED += [*TRAINERS, StochasticGradientSettings]
NLP = spacy.blank("en")
REQUIRED = {"DecoderSettings": {"source": "tagger"}, "FeatureSettings": {"templates": ["LOWER"]}}
VALUES: list[Any] = ["x", 3.5, True, None, ["x"], {"x": 1}]


def check(block, values):
    """Make a block as a component does."""
    made = block(**{**REQUIRED.get(block.__name__, {}), **values})
    if hasattr(made, "make") and block in COMPONENTS:
        made.make(NLP, "mine")
    elif block in COMPONENTS:
        made.check("mine")


def settings_of(blocks, *kinds):
    found = []
    for block in blocks:
        hints = get_type_hints(block)
        for one in fields(block):
            types = [hints[one.name], *get_args(hints[one.name])]
            if one.init and (not kinds or any(kind in types for kind in kinds)):
                found.append(pytest.param(block, one, id=f"{block.__name__}-{one.name}"))
    return found


@pytest.mark.parametrize(("block", "one"), settings_of(COMPONENTS))
def test_values_of_any_type_are_taken_or_refused_with_a_code(block, one):
    for value in VALUES:
        try:
            check(block, {one.name: value})
        except CRFError as error:
            assert error.code


@pytest.mark.parametrize(("block", "one"), settings_of([*COMPONENTS, *NESTED], int, float))
def test_numbers_out_of_range_are_refused(block, one):
    with pytest.raises(CRFError) as error:
        check(block, {one.name: -1})
    assert one.name in str(error.value) and "-1" in str(error.value)
    if float in (get_type_hints(block)[one.name], *get_args(get_type_hints(block)[one.name])):
        with pytest.raises(CRFError):
            check(block, {one.name: float("nan")})


@pytest.mark.parametrize(("block", "one"), settings_of(COMPONENTS, str))
def test_names_are_not_empty(block, one):
    if one.default is not MISSING and one.name not in ("constraints", "solver"):
        with pytest.raises(CRFError) as error:
            check(block, {one.name: ""})
        assert one.name in str(error.value)


CNN = {"@architectures": "spacy.HashEmbedCNN.v2", "pretrained_vectors": None, "subword_features": False, "width": 8}
CNN |= {"depth": 1, "embed_size": 10, "window_size": 1, "maxout_pieces": 1}
BLOCKS = [
    ("crf_tagger", "trainer", "lbfgs", "spacy_crf.LBFGS.v1"),
    ("section_parser", "trainer", "lbfgs", "spacy_crf.AdaGrad.v1"),
    ("crf_tagger", "features", ["@tagging"], "spacy_crf.Features.v1"),
    ("constrained_ner", "features", "@ner", "spacy_crf.Features.v1"),
    ("section_parser", "features", {"@misc": "spacy_crf.Features.v1", "templates": ["BIAS"]}, "UnitFeatures.v1"),
    ("crf_tagger", "model", "x", "spacy_crf.LinearChain.v1"),
    ("crf_tagger", "model", {"@architectures": "spacy.Tagger.v2", "tok2vec": CNN}, "spacy_crf.LinearChain.v1"),
    ("crf_tagger", "dictionary", True, "spacy_crf.TagDictionary.v1"),
    ("crf_tagger", "dictionary", {}, "spacy_crf.TagDictionary.v1"),
    ("constrained_ner", "mine", True, "spacy_crf.Mining.v1"),
    ("set_valued_tagger", "hierarchy", ".", "spacy_crf.TagTree.v1"),
    ("punctuation_restorer", "marks", ["COMMA"], "spacy_crf.Marks.v1"),
    ("memm_tagger", "features", "@tagging", "spacy_crf.Features.v1"),
]


@pytest.mark.parametrize(("name", "setting", "value", "block"), BLOCKS)
def test_what_is_no_block_is_told_which_one_to_write(name, setting, value, block):
    with pytest.raises(CRFError, match="CRF408") as error:
        spacy.blank("en").add_pipe(name, config={setting: value})
    assert repr(setting) in str(error.value) and block in str(error.value)


@pytest.mark.parametrize(
    ("setting", "value"), [("betta", 1.0), ("alpha", 1.5), ("alpha", "x"), ("size", []), ("coverage", None)]
)
def test_assigned_values_are_checked(setting, value):
    pipe = spacy.blank("en").add_pipe("set_valued_tagger")
    before = dict(pipe.cfg)
    with pytest.raises(CRFError) as error:
        pipe.cfg[setting] = value
    assert setting in str(error.value) and dict(pipe.cfg) == before
    assert setting != "betta" or "beta" in str(error.value)


@pytest.mark.parametrize("temperature", [1e-6, 1e30])
def test_the_coldest_and_hottest_temperatures_give_probabilities(temperature):
    nlp = softened(temperature=temperature, marginals="probs", entropy="entropies")
    for doc in nlp.pipe(clean_docs(nlp)):
        sums = [sum(token._.probs.values()) for token in doc]
        assert sums == pytest.approx([1.0] * len(doc), abs=1e-5)
        entropies = [*doc._.entropies["tokens"], *(one["entropy"] for one in doc._.entropies["sequences"])]
        assert all(0 <= value < 1000 for value in entropies)


@pytest.mark.parametrize("temperature", [1e-30, 1e-7, 0.0])
def test_temperatures_that_scores_cannot_be_divided_by_are_refused(temperature):
    with pytest.raises(CRFError, match="temperature"):
        spacy.blank("en").add_pipe("crf_tagger", config={"temperature": temperature})
    pipe = spacy.blank("en").add_pipe("set_valued_tagger")
    with pytest.raises(CRFError, match="temperature"):
        pipe.cfg["temperature"] = temperature


@pytest.mark.parametrize(
    ("name", "near"),
    [("ents", ["ent"]), ("chunk", ["spans"]), ("NER", ["ent"]), ("upos", ["pos"]), ("tags", ["tag"])],
)
def test_targets_without_gold_are_told_with_their_neighbours(name, near):
    assert near_targets(name)[: len(near)] == near
    nlp = spacy.blank("en")
    nlp.add_pipe("crf_tagger", config={"target": f"{name}"})
    doc = Doc(nlp.vocab, words=["Ada"], ents=["B-PER"])
    with pytest.raises(CRFError, match=f"CRF402.*token._.{name}.*near names: {near[0]}"):
        nlp.initialize(lambda: [Example(doc.copy(), doc)])


def test_targets_near_to_nothing():
    assert near_targets("mood") == ["tag", "pos", "ent", "spans"]


@pytest.mark.parametrize(
    ("template", "attribute"),
    [("TAG[-1]|LOWER", "TAG"), ("POS", "POS"), ("LEMMA[1]", "LEMMA"), ("ENT_TYPE", "ENT_TYPE")],
)
def test_templates_for_annotation_that_nobody_has_are_told(template, attribute):
    nlp = spacy.blank("en")
    features = {"@misc": "spacy_crf.Features.v1", "templates": ["LOWER", template]}
    nlp.add_pipe("crf_tagger", config={"target": "ent", "features": features})
    gold = Doc(nlp.vocab, words=["Ada"], ents=["B-PER"], tags=["NNP"], pos=["PROPN"], lemmas=["Ada"])
    examples = [Example(Doc(nlp.vocab, words=["Ada"]), gold)]
    nlp.initialize(lambda: examples)
    with pytest.warns(CRFWarning, match="CRFW404") as told:
        nlp.update(examples)
        nlp.update(examples)
    assert len(told) == 1 and attribute in str(told[0].message)
    nlp(Doc(nlp.vocab, words=["Ada"]))  # no warning: it is the same that training did without
    nlp.initialize(lambda: [Example(gold.copy(), gold)])
    nlp.update([Example(gold.copy(), gold)])  # no warning
    nlp(Doc(nlp.vocab))
    with pytest.warns(CRFWarning, match=f"CRFW407.*{attribute}") as told:
        nlp(Doc(nlp.vocab, words=["Ada"]))
        nlp(Doc(nlp.vocab, words=["Ada"]))
    assert len(told) == 1
    again = spacy.blank("en")
    again.add_pipe("crf_tagger", config={"target": "ent", "features": features}).from_bytes(
        nlp.get_pipe("crf_tagger").to_bytes()
    )
    again(gold.copy())
    again(Doc(again.vocab, words=["Ada"]))  # no warning: the first document had it


@pytest.mark.parametrize(
    "factory, config, setting",
    [
        ("crf_tagger", {"marginals": "own"}, "marginals"),
        ("crf_tagger", {"entropy": "own"}, "entropy"),
        ("crf_tagger", {"n_best": 2, "n_best_key": "own"}, "n_best_key"),
        ("hmm_tagger", {"marginals": "own"}, "marginals"),
        ("constrained_ner", {"marginals": "own", "info": "info_of_one"}, "marginals"),
        ("set_valued_tagger", {"tag_set": "own", "tag_probs": "own_probs"}, "tag_set"),
        ("punctuation_restorer", {}, "restored"),
    ],
)
def test_two_components_that_write_one_attribute(factory: str, config: dict[str, Any], setting: str) -> None:
    nlp = spacy.blank("xx")
    nlp.add_pipe("crf_tagger", name="silent")
    nlp.add_pipe(factory, name="one", config=config)
    others = {"tag_probs": "other"} if factory == "set_valued_tagger" else {}
    others |= {"info": "info_of_two"} if factory == "constrained_ner" else {}
    with pytest.warns(CRFWarning, match=f"CRFW406.*'two'.*'one'.*{setting}|CRFW406.*'two'.*{setting}.*'one'") as told:
        nlp.add_pipe(factory, name="two", config={**config, **others})
    assert len(told) == 1


@pytest.mark.parametrize(
    "factory, setting, value, owner, more",
    [
        ("section_parser", "grammar", "foo", "parser = 'grammar'", {}),
        ("section_parser", "max_states", 100, "parser = 'stack'", {"parser": "grammar"}),
        ("section_parser", "tree_c2", 1.0, "learn_tree = true", {"learn_tree": False}),
        ("section_parser", "label_weight", 2.0, "joint = true", {"joint": False}),
        ("set_valued_tagger", "coverage", 0.99, "method = 'mass'", {}),
        ("set_valued_tagger", "size", 3, "method = 'size'", {"method": "mass"}),
        ("set_valued_tagger", "beta", 2.0, "utility = 'g' or 'f'", {"utility": "u65"}),
        ("set_valued_tagger", "sequence_mass", 0.5, "sequences above 0", {}),
        ("constrained_ner", "tau", 0.1, "objective = 'violations'", {}),
        ("constrained_ner", "step_rule", "harmonic", "decoder = 'auto' or 'lagrangian'", {"decoder": "automaton"}),
        ("hmm_tagger", "min_count", 3.0, "order = 3", {}),
        ("crf_tagger", "spans_key", "own", "target = 'spans'", {}),
        ("constraint_decoder", "spans_key", "own", "target = 'spans'", {"marginals": "probs"}),
    ],
)
def test_settings_that_have_no_effect_are_told(
    factory: str, setting: str, value: Any, owner: str, more: dict[str, Any]
) -> None:
    told = rf"CRFW887\] Component '{factory}': the setting {setting} = {value!r} has no effect.* {owner}"
    with pytest.warns(CRFWarning, match=told):
        spacy.blank("en").add_pipe(factory, config={setting: value, **more})


def test_a_type_is_told_before_what_is_made_of_it() -> None:
    with pytest.raises(CRFError, match=r"CRF408.*'sequences' is '1'"):
        spacy.blank("en").add_pipe("set_valued_tagger", config={"sequences": "1"})


@pytest.mark.parametrize(
    "setting, value, owner",
    [
        ("lists", {"names": "names.tsv"}, r"LIST\(names\)"),
        ("spelling", {"@misc": "spacy_crf.Spelling.v1"}, "NORMAL"),
        ("classes", {"@misc": "spacy_crf.InducedClasses.v1"}, "CLASS50"),
    ],
)
def test_what_no_template_asks_for_is_told(setting: str, value: Any, owner: str) -> None:
    features = {"@misc": "spacy_crf.Features.v1", "templates": ["LOWER"], setting: value}
    with pytest.warns(CRFWarning, match=rf"CRFW887.*the setting {setting} = .*templates such as {owner}"):
        spacy.blank("en").add_pipe("crf_tagger", config={"features": features})


@pytest.mark.parametrize(
    "settings, setting, owner",
    [
        ({"doubt": 0.1}, "doubt", "use = 'mask'"),
        ({"open_tags": ["X"], "open_types": 3}, "open_types", "open_tags = null"),
    ],
)
def test_settings_of_a_dictionary_that_have_no_effect_are_told(settings: Any, setting: str, owner: str) -> None:
    dictionary = {"@misc": "spacy_crf.TagDictionary.v1", **settings}
    with pytest.warns(CRFWarning, match=rf"CRFW887.*the setting {setting} = .*{owner}"):
        features = {"@misc": "spacy_crf.Features.v1", "templates": ["LOWER", "VALID_TAGS"]}
        spacy.blank("en").add_pipe("crf_tagger", config={"dictionary": dictionary, "features": features})


@pytest.mark.parametrize(
    "block, setting",
    [
        ({"@misc": "spacy_crf.LBFGS.v1"}, "c2"),
        ({"@misc": "spacy_crf.AdaGrad.v1"}, "learn_rate"),
        ({"@misc": "spacy_crf.Perceptron.v1"}, "seed"),
        ({"@misc": "spacy_crf.Features.v1", "templates": ["LOWER"]}, "min_count"),
        ({"@misc": "spacy_crf.Spelling.v1"}, "ratio"),
        ({"@misc": "spacy_crf.InducedClasses.v1"}, "max_words"),
        ({"@misc": "spacy_crf.TagDictionary.v1"}, "doubt"),
        ({"@misc": "spacy_crf.Mining.v1"}, "scale"),
        ({"@readers": "spacy_crf.Corpus.v1", "path": "."}, "limit"),
        ({"@readers": "spacy_crf.SectionCorpus.v1", "path": "."}, "copies"),
        ({"@readers": "spacy_crf.PunctuationCorpus.v1", "path": "."}, "window"),
        ({"@readers": "spacy_crf.Fold.v1", "corpus": print, "folds": 3, "fold": 1, "part": "train"}, "folds"),
    ],
)
def test_a_number_in_quotes_is_told(block: dict[str, Any], setting: str) -> None:
    with pytest.raises(CRFError, match=rf"CRF549\] The setting {setting} is '3'; it must be a number, without quotes"):
        spacy.registry.resolve({"block": {**block, setting: "3"}})
