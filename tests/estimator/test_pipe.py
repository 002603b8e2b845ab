"""A CRFsuite model becomes a tagger that decides alike."""

import itertools
import random
from dataclasses import replace

import pytest
import spacy
from spacy.tokens import Doc, Token

from spacy_crf import CRF, CRFError, NotFittedError
from spacy_crf.estimator.crfsuite import read_crfsuite
from spacy_crf.estimator.pipe import to_pipe

pycrfsuite = pytest.importorskip("pycrfsuite")

SENTENCES = """
Ada/B-PER met/O Bo/B-PER Stone/I-PER in/O New/B-LOC Delft/I-LOC ./O
The/O old/O a|b|c/O sold/O x|y/B-LOC z/O
Bo/B-PER lives/O ./O
Delft/B-LOC
mark/O NOUN/O my/O words/O Ada/B-PER
""".strip()
CORPUS = [[token.rsplit("/", 1) for token in line.split()] for line in SENTENCES.splitlines()]
SPELLINGS = {
    "ORTH": "w[0]={}",
    "LOWER[-1]": "w[-1]={}",
    "ORTH[0]|ORTH[1]": "w[0]|w[1]={}|{}",
    "LSUFFIX2": "suffix:{}",
    "IS_TITLE": "title",
    "IS_TITLE[0]|LOWER[1]": "title&next={}!",
    "BOS": "__BOS__",
    "BIAS": "bias",
}


def attributes(words):
    items = []
    for position, word in enumerate(words):
        item = [f"w[0]={word}", "bias"]
        if position:
            item.append(f"w[-1]={words[position - 1].lower()}")
        else:
            item.append("__BOS__")
        if position + 1 < len(words):
            item.append(f"w[0]|w[1]={word}|{words[position + 1]}")
        if len(word) > 1:
            item.append(f"suffix:{word[-2:].lower()}")
        if word.istitle():
            item.append("title")
            if position + 1 < len(words):
                item.append(f"title&next={words[position + 1].lower()}!")
        items.append(item)
    return items


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """(model, tagger) of CRFsuite."""
    trainer = pycrfsuite.Trainer(verbose=False, params={"c2": 0.05})
    for sentence in CORPUS:
        words, labels = zip(*sentence)
        trainer.append(attributes(words), labels)
    path = tmp_path_factory.mktemp("crfsuite") / "model"
    trainer.train(str(path))
    tagger = pycrfsuite.Tagger()
    tagger.open(str(path))
    return read_crfsuite(path), tagger


TEXTS = [[word for word, _ in sentence] for sentence in CORPUS]
TEXTS += [["Bo", "mark", "Delft"], ["New"], ["a|b|c", "x"], ["a", "b|c"], ["a|b", "c|x"], ["the", "Stone", "x|y", "z"]]


def test_tags_and_marginals(trained, tmp_path):
    model, tagger = trained
    nlp = spacy.blank("en")
    pipe = to_pipe(model, nlp, SPELLINGS, name="imported", marginals="imported_marginals")
    assert pipe.labels == tuple(model.labels) and nlp.pipe_names == ["imported"]
    nlp.to_disk(tmp_path / "nlp")
    for pipeline in (nlp, spacy.load(tmp_path / "nlp")):
        for words in TEXTS:
            doc = pipeline.get_pipe("imported")(Doc(pipeline.vocab, words=words))
            assert [token.tag_ for token in doc] == tagger.tag(attributes(words))
            for position, token in enumerate(doc):
                stored = doc._.imported_marginals
                for label, value in zip(stored["tags"], stored["values"][token.i]):
                    assert value == pytest.approx(tagger.marginal(label, position), abs=1e-5)
    Doc.remove_extension("imported_marginals")
    if Token.has_extension("imported_marginals"):
        Token.remove_extension("imported_marginals")


def test_every_reading_of_an_attribute_is_known(trained):
    pipe = to_pipe(trained[0], spacy.blank("en"), SPELLINGS)
    names = pipe.features.state.names()
    assert {"ORTH[0]|ORTH[1]=a|b|c|sold"} <= set(names)
    assert names.count("ORTH[0]|ORTH[1]=x|y|z") == 2  # the words x and y|z are spelt like x|y and z


def test_entities(trained):
    nlp = spacy.blank("en")
    to_pipe(trained[0], nlp, SPELLINGS, target="ent")
    doc = nlp.get_pipe("crf_tagger")(Doc(nlp.vocab, words=TEXTS[0]))
    assert [(ent.text, ent.label_) for ent in doc.ents] == [
        ("Ada", "PER"),
        ("Bo Stone", "PER"),
        ("New Delft", "LOC"),
    ]


def test_training_goes_on_from_an_imported_model(trained):
    nlp = spacy.blank("en")
    pipe = to_pipe(trained[0], nlp, SPELLINGS, trainer={"@misc": "spacy_crf.LBFGS.v1"})
    examples = []
    for sentence in CORPUS:
        words = [word for word, _ in sentence]
        reference = Doc(nlp.vocab, words=words, tags=["I-PER" if word == "old" else tag for word, tag in sentence])
        examples.append(spacy.training.Example(Doc(nlp.vocab, words=words), reference))
    assert pipe(Doc(nlp.vocab, words=TEXTS[1]))[1].tag_ == "O"
    nlp.update(examples)
    assert pipe(Doc(nlp.vocab, words=TEXTS[1]))[1].tag_ == "I-PER"


@pytest.mark.parametrize("seed", range(4))
def test_tags_that_the_model_lacks_are_never_given(seed):
    """There are L of one token only; where the model is unsure, the scheme would go on with them."""
    rng = random.Random(seed)
    labels = ["O", "B-L", "B-P", "I-P"]
    follows = {label: [after for after in labels if after != "I-P" or label in ("B-P", "I-P")] for label in labels}

    def draw():
        y = ["O"]
        for _ in range(rng.randrange(1, 5)):
            y.append(rng.choice(follows[y[-1]]))
        return [[f"w={rng.choice('abcd')}"] for _ in y[1:]], y[1:]

    data = [draw() for _ in range(15)]
    crf = CRF(c2=0.1, all_possible_transitions=True).fit(*zip(*data))
    nlp = spacy.blank("xx")
    tagger = to_pipe(crf, nlp, {"ORTH[0]": "w={}"}, target="ent")
    for words in itertools.product("abcd", repeat=3):  # unknown words alone leave ties
        doc = nlp(Doc(nlp.vocab, words=words))
        assert "I-L" not in {f"{token.ent_iob_}-{token.ent_type_}" for token in doc}
        expected = crf.predict_single([[f"w={word}"] for word in words])
        if all(after in follows[label] for label, after in itertools.pairwise(["O", *expected])):
            assert [token.ent_iob_ + ("-" + token.ent_type_ if token.ent_type_ else "") for token in doc] == expected
    assert ["", "I-L"] in tagger.settings.forbidden


def test_white_space_is_labelled_as_by_the_model():
    texts = [["Ada", "\n", "met", "Bo"], ["the", "\n", "mill"], ["Bo", "\n", "sold", "the", "mill"], ["Ada", "sold"]]
    labels = [["P", "S", "V", "P"], ["D", "S", "N"], ["P", "S", "V", "D", "N"], ["P", "V"]]

    crf, nlp = CRF(c2=0.1).fit([[[f"w={word}"] for word in words] for words in texts], labels), spacy.blank("xx")
    to_pipe(crf, nlp, {"ORTH": "w={}"})
    docs = [nlp(Doc(nlp.vocab, words=words)) for words in texts]
    assert [[token.tag_ for token in doc] for doc in docs] == labels


def test_white_space_that_the_model_does_not_know_is_left_out(tmp_path):
    X = [[[f"w={word}"] + [f"before={words[k - 1]}"] * (k > 0) for k, word in enumerate(words)] for words in TEXTS[:5]]
    crf, nlp = CRF(c2=0.1).fit(X, [[tag for _, tag in sentence] for sentence in CORPUS]), spacy.blank("en")
    to_pipe(crf, nlp, {"ORTH": "w={}", "ORTH[-1]": "before={}"}, target="ent")
    nlp.to_disk(tmp_path)
    for pipeline in (nlp, spacy.load(tmp_path)):
        for words in TEXTS[:5]:
            once, often = (pipeline(Doc(nlp.vocab, words=one)) for one in (words, " \n ".join(words).split(" ")))
            assert [token.ent_type_ for token in list(often)[::2]] == [token.ent_type_ for token in once]
            assert [ent.text.split() for ent in often.ents] == [ent.text.split() for ent in once.ents]


@pytest.mark.parametrize(
    "template, never, known",
    [
        ("POS", "NN", "NOUN"),
        ("POS(2)", "NNP", "NO"),
        ("TAG(2)", "NNP", "NN"),
        ("SHAPE", "Xxxxxxx", "Xxxxx-Ⅷ"),
        ("SHAPE", "ULL", "LONG"),
        ("COLLAPSED", "XXxx", "Xx-d"),
        ("DIGITS", "1984", "0000-x"),
        ("LENGTH", "long", "12"),
    ],
)
def test_values_that_a_template_never_has_are_named(template, never, known):
    for value in (known, never):
        crf = CRF().fit([[[f"f={value}"], ["f=0" if template == "DIGITS" else f"f={known}"]]], [["A", "B"]])
        if value == known:
            to_pipe(crf, spacy.blank("xx"), {template: "f={}"})
            continue
        with pytest.raises(CRFError, match=f"CRF724.*'f={never}'"):
            to_pipe(crf, spacy.blank("xx"), {template: "f={}"})


def test_an_estimator_becomes_a_pipe_as_its_model_would():
    X = [attributes([word for word, _ in sentence]) for sentence in CORPUS]
    crf = CRF(c2=0.05).fit(X, [[tag for _, tag in sentence] for sentence in CORPUS])
    nlp = spacy.blank("en")
    pipe = to_pipe(crf, nlp, SPELLINGS)
    for words in TEXTS:
        tags = [token.tag_ for token in pipe(Doc(nlp.vocab, words=words))]
        assert tags == crf.predict_single(attributes(words))
    with pytest.raises(NotFittedError, match="CRF707"):
        to_pipe(CRF(), nlp, SPELLINGS, name="other")
    assert nlp.pipe_names == ["crf_tagger"]


ALPHABET = "aA1.é"
SHORT = ["".join(letters) for length in (1, 2, 3, 4) for letters in itertools.product(ALPHABET, repeat=length)]
TUTORIAL = {  # the features of the tutorials of python-crfsuite and sklearn-crfsuite
    "BIAS": "bias",
    "LOWER": "word.lower={}",
    "END3": "word[-3:]={}",
    "END2": "word[-2:]={}",
    "TAG": "postag={}",
    "TAG(2)": "postag[:2]={}",
    "BOS": "BOS",
    "EOS": "EOS",
    "LOWER[-1]": "-1:word.lower={}",
    "LOWER[1]": "+1:word.lower={}",
    "TAG[-1]": "-1:postag={}",
    **{f"IS_{name}": f"word.is{name.lower()}=True" for name in ("UPPER", "TITLE", "DIGIT")},
    **{f"NOT(IS_{name})": f"word.is{name.lower()}=False" for name in ("UPPER", "TITLE", "DIGIT")},
    "IS_TITLE[-1]": "-1:word.istitle=True",
    "NOT(IS_TITLE)[-1]": "-1:word.istitle=False",
}


def tutorial_attributes(words, tags):
    items = []
    for i, (word, tag) in enumerate(zip(words, tags)):
        item = ["bias", f"word.lower={word.lower()}", f"word[-3:]={word[-3:]}", f"word[-2:]={word[-2:]}"]
        item += [f"word.isupper={word.isupper()}", f"word.istitle={word.istitle()}", f"word.isdigit={word.isdigit()}"]
        item += [f"postag={tag}", f"postag[:2]={tag[:2]}"]
        if i > 0:
            before = words[i - 1]
            item += [
                f"-1:word.lower={before.lower()}",
                f"-1:word.istitle={before.istitle()}",
                f"-1:postag={tags[i - 1]}",
            ]
        else:
            item.append("BOS")
        item.append(f"+1:word.lower={words[i + 1].lower()}" if i + 1 < len(words) else "EOS")
        items.append(item)
    return items


def tutorial_corpus(seed):
    """Sentences of all words of up to four characters: words, tags and labels that both hint at."""
    rng = random.Random(seed)
    words = rng.sample(SHORT, len(SHORT))
    for start in range(0, len(words), 6):
        sentence = words[start : start + 6]
        tags = [rng.choice(["NN", "NNS", "N", "VBD"]) for _ in sentence]
        labels = [rng.choice("XY") if rng.random() < 0.2 else word[-3:] + tag[:1] for word, tag in zip(sentence, tags)]
        yield sentence, tags, [label.upper()[-2:] for label in labels]


@pytest.fixture(scope="module")
def tutorial(tmp_path_factory):
    trainer = pycrfsuite.Trainer(verbose=False, params={"c2": 0.01, "max_iterations": 30})
    for words, tags, labels in tutorial_corpus(1):
        trainer.append(tutorial_attributes(words, tags), labels)
    path = tmp_path_factory.mktemp("tutorial") / "model"
    trainer.train(str(path))
    return str(path)


def test_a_model_with_the_features_of_the_tutorial_decides_alike_on_all_short_words(tutorial):
    tagger = pycrfsuite.Tagger()
    tagger.open(tutorial)
    nlp = spacy.blank("en")
    pipe = to_pipe(read_crfsuite(tutorial), nlp, TUTORIAL, target="tutorial_label")
    for words, tags, _ in tutorial_corpus(2):
        doc = pipe(Doc(nlp.vocab, words=words, tags=tags))
        assert [token._.tutorial_label for token in doc] == tagger.tag(tutorial_attributes(words, tags))


@pytest.mark.parametrize(
    ("template", "instead", "example"),
    [("END3", "SUFFIX3", "word[-3:]=a"), ("LOWER", "SUFFIX4", "word.lower"), ("END2", "LEND2", "word[-2:]=")],
)
def test_templates_that_cannot_have_the_values_of_the_attributes_are_refused(tutorial, template, instead, example):
    spellings = {instead if name == template else name: form for name, form in TUTORIAL.items()}
    with pytest.raises(CRFError, match="CRF724") as error:
        to_pipe(read_crfsuite(tutorial), spacy.blank("en"), spellings)
    assert example in str(error.value)


@pytest.mark.parametrize(
    ("change", "code", "words"),
    [
        ({"BOS": "_BOS_"}, "CRF724", ["1 attributes", "'__BOS__'"]),
        ({"ORTH": "w[0]={}{}"}, "CRF723", ["ORTH", "has 1"]),
        ({"IS_TITLE": "title={}"}, "CRF723", ["IS_TITLE", "has 0"]),
        ({"ORTH[-1..1]": "x={}"}, "CRF722", ["ORTH[-1..1]"]),
        ({"B:ORTH": "x={}"}, "CRF722", ["B:ORTH"]),
        ({"ORT": "x={}"}, "CRF301", ["ORT"]),
    ],
)
def test_spellings_that_do_not_fit(trained, change, code, words):
    nlp = spacy.blank("en")
    with pytest.raises(ValueError, match=code) as error:
        to_pipe(trained[0], nlp, {**SPELLINGS, **change})
    assert all(word in str(error.value) for word in words) and nlp.pipe_names == []


@pytest.mark.parametrize(
    ("label", "settings", "code"), [("I-LOC", {"target": "pos"}, "CRF413"), ("X-LOC", {"target": "ent"}, "CRF725")]
)
def test_labels_that_the_target_cannot_have(trained, label, settings, code):
    nlp = spacy.blank("en")
    model = replace(trained[0], labels=[label if name == "I-LOC" else name for name in trained[0].labels])
    with pytest.raises(ValueError, match=code):
        to_pipe(model, nlp, SPELLINGS, **settings)
    assert nlp.pipe_names == []


@pytest.mark.parametrize(
    ("labels", "scheme", "stranded"),
    [
        (["O", "I-PER", "I-LOC"], "auto", "'I-PER', 'I-LOC'"),
        (["O", "I-PER", "B-LOC", "I-LOC"], "BIO", "'I-PER'"),
        (["O", "B-PER", "I-PER"], "BILUO", "'B-PER', 'I-PER'"),
        (["O", "PER", "LOC"], "auto", "'O', 'PER', 'LOC'"),
    ],
)
def test_labels_that_the_scheme_would_never_give_are_refused(labels, scheme, stranded):
    crf = CRF().fit([[["bias"]] * len(labels)], [labels])
    nlp = spacy.blank("en")
    with pytest.raises(CRFError, match=rf"CRF725.*labels {stranded}\."):
        to_pipe(crf, nlp, {"BIAS": "bias"}, target="ent", scheme=scheme)
    assert nlp.pipe_names == []


def test_labels_without_a_prefix_are_those_of_spans_under_no_scheme():
    crf = CRF().fit([[["w=anna"], ["w=left"], ["w=riga"]]], [["PER", "O", "LOC"]])
    nlp = spacy.blank("en")
    to_pipe(crf, nlp, {"ORTH[0]": "w={}"}, target="ent", scheme="none")
    assert [(ent.text, ent.label_) for ent in nlp("anna left riga").ents] == [("anna", "PER"), ("riga", "LOC")]
