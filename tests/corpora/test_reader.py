import gzip
import pickle
from collections.abc import Iterator
from pathlib import Path

import pytest
from helpers.fixtures import TREE, Write
from spacy import registry
from spacy.language import Language
from spacy.tokens import Doc, DocBin
from spacy.training import Example

from spacy_crf.annotation.documents import Preparation, read_doc_name
from spacy_crf.annotation.gold import partial_tags
from spacy_crf.core.errors import CRFError, CRFWarning
from spacy_crf.corpora.block import HistoricalText
from spacy_crf.corpora.reader import Corpus

COLUMNS = ["word", "tag", "chunk", "ner"]
TEXT = "Ada NNP B-NP B-PER\nsang VBD B-VP O\n\nIt PRP B-NP O\nrained VBD B-VP O\n"


def test_predicted_has_tokens_and_sentence_starts_only(nlp: Language, write: Write) -> None:
    (eg,) = Corpus(write("a.conll", TEXT), group="document")(nlp)
    assert [token.text for token in eg.predicted] == ["Ada", "sang", "It", "rained"]
    assert [token.is_sent_start for token in eg.predicted] == [True, False, True, False]
    assert eg.predicted.has_unknown_spaces
    assert not eg.predicted.has_annotation("TAG")
    assert not eg.predicted.has_annotation("ENT_IOB")
    assert not eg.predicted.spans
    assert [token.tag_ for token in eg.reference] == ["NNP", "VBD", "PRP", "VBD"]


@pytest.mark.parametrize("name", ["senter", "sentencizer"])
def test_sentences_of_the_file_are_told_that_a_component_would_find(nlp: Language, write: Write, name: str) -> None:
    path = write("a.conll", TEXT)
    nlp.add_pipe(name)
    with pytest.warns(CRFWarning, match=rf"CRFW498.*'{name}'"):
        list(Corpus(path, group="document")(nlp))
    list(Corpus(path, group="document", retokenize=True)(nlp))
    nlp.remove_pipe(name)
    nlp.add_pipe(name, config={"overwrite": True})
    list(Corpus(path, group="document")(nlp))


@pytest.mark.parametrize(
    "kind, settings",
    [
        ("tag", {"target": "tag"}),
        ("ner", {"target": "ent"}),
        ("chunk", {"target": "spans", "spans_key": "chunks"}),
    ],
)
def test_input_is_told_that_a_component_finds(nlp: Language, write: Write, kind: str, settings: dict[str, str]) -> None:
    path = write("a.conll", TEXT)
    nlp.add_pipe("crf_tagger", config=settings)
    others = [one for one in ("tag", "ner", "chunk") if one != kind]
    with pytest.warns(CRFWarning, match=r"CRFW289.*'crf_tagger'.*perfect"):
        list(Corpus(path, input=[kind])(nlp))
    list(Corpus(path, input=others)(nlp))
    nlp.remove_pipe("crf_tagger")
    nlp.add_pipe("crf_tagger", config={**settings, "overwrite": True})
    list(Corpus(path, input=[kind])(nlp))


class _WithOwnCfg:
    cfg = Path("settings.toml")

    def __call__(self, doc: Doc) -> Doc:
        return doc


def test_components_of_ones_own_may_have_any_cfg(nlp: Language, write: Write) -> None:
    Language.factory("with_own_cfg", func=lambda nlp, name: _WithOwnCfg())
    nlp.add_pipe("with_own_cfg")
    assert len(list(Corpus(write("a.conll", TEXT), group="document")(nlp))) == 1


def test_input_is_on_both_sides(nlp: Language, write: Write) -> None:
    eg, _ = Corpus(write("a.conll", TEXT), input=["tag"])(nlp)
    assert [token.tag_ for token in eg.predicted] == ["NNP", "VBD"]
    assert [token.tag_ for token in eg.reference] == ["NNP", "VBD"]
    assert not eg.predicted.has_annotation("ENT_IOB")
    assert [ent.text for ent in eg.reference.ents] == ["Ada"]
    assert "chunks" in eg.reference.spans and "chunks" not in eg.predicted.spans


@pytest.mark.parametrize("as_docbin", [False, True])
def test_every_kind_of_input(nlp: Language, write: Write, extension: str, as_docbin: bool) -> None:
    columns = ["word", "lemma", "pos", "tag", "morph", "ner", "chunk", "spans:sc", f"ext:{extension}"]
    path = write("a.conll", "Ada ada PROPN NNP A=B B-PER B-NP B-Y hi\nsang sing VERB VBD _ O O O _\n")
    corpus = Corpus(path, columns=columns, input=columns[1:])
    if as_docbin:
        doc_bin = DocBin(store_user_data=True, docs=corpus.read_docs(nlp.vocab))
        corpus = Corpus(write("a.spacy", doc_bin.to_bytes()), input=columns[1:])
    (eg,) = corpus(nlp)
    assert eg.predicted is not eg.reference
    assert eg.predicted.to_json([extension]) == eg.reference.to_json([extension])
    assert eg.predicted.spans["sc"][0].label_ == "Y"
    assert all(span.doc is eg.predicted for span in eg.predicted.spans["chunks"])
    assert [token._.get(extension) for token in eg.predicted] == ["hi", ""]


def test_retokenize_takes_the_tokens_of_the_pipeline(nlp: Language, write: Write) -> None:
    path = write("a.conllu", TREE.replace("\t's\t", "\t'\t", 1).replace("\ton\t", "\t'son\t", 1))
    (own,) = Corpus(path)(nlp)
    (eg,) = Corpus(path, retokenize=True)(nlp)
    assert [token.text for token in own.predicted] == ["It", "'", "'son", "."]
    assert [token.text for token in eg.predicted] == [token.text for token in nlp.make_doc(own.reference.text)]
    assert not eg.predicted.has_annotation("SENT_START")


def test_input_is_aligned_to_other_tokens(nlp: Language, write: Write, extension: str) -> None:
    columns = ["word", "tag", "pos", "lemma", "morph", "ner", "chunk", f"ext:{extension}"]
    path = write(
        "a.conll",
        "can't MD AUX can A=B O O x\nsee VB VERB see _ _ B-VP y\nNew NNP PROPN New _ B-LOC B-NP z\n"
        "York NNP PROPN York _ I-LOC I-NP z\n",
    )
    (eg,) = Corpus(path, columns=columns, input=columns[1:], retokenize=True)(nlp)
    assert [token.text for token in eg.predicted] == ["ca", "n't", "see", "New", "York"]
    assert [token.tag_ for token in eg.predicted][2:] == ["VB", "NNP", "NNP"]
    assert [token.pos_ for token in eg.predicted][2:] == ["VERB", "PROPN", "PROPN"]
    assert [token.lemma_ for token in eg.predicted][2:] == ["see", "New", "York"]
    assert [token._.get(extension) for token in eg.predicted][2:] == ["y", "z", "z"]
    assert [(ent.text, ent.label_) for ent in eg.predicted.ents] == [("New York", "LOC")]
    assert eg.predicted[2].ent_iob_ == ""
    assert [(s.text, s.label_) for s in eg.predicted.spans["chunks"]] == [("see", "VP"), ("New York", "NP")]


def test_a_folder_of_all_formats(nlp: Language, write: Write, tmp_path: Path) -> None:
    write("data/b.conllu.gz", gzip.compress(TREE.encode()))
    write("data/a/c.conll", TEXT)
    docs = Corpus(write("x.conll", TEXT)).read_docs(nlp.vocab)
    write("data/d.spacy", DocBin(docs=docs).to_bytes())
    corpus = Corpus(tmp_path / "data")
    assert [eg.reference[0].text for eg in corpus(nlp)] == ["Ada", "It", "It", "Ada", "It"]
    with pytest.warns(CRFWarning, match=r"CRFW473.*: c\.conll, d\.spacy\."):
        (only,) = Corpus(tmp_path / "data", format="conllu")(nlp)
    assert only.reference[0].text == "It"


def test_limit_counts_docs_over_all_files(nlp: Language, write: Write, tmp_path: Path) -> None:
    for name in ("a.conll", "b.conll"):
        write(f"data/{name}", TEXT)
    for limit, expected in ((0, 4), (3, 3), (9, 4)):
        assert len(list(Corpus(tmp_path / "data", limit=limit)(nlp))) == expected
    with pytest.raises(ValueError, match="CRF108.*limit"):
        Corpus(tmp_path / "data", limit=-1)


def test_bare_words_are_what_a_restorer_shows(nlp: Language, write: Write) -> None:
    rows = ["1\t!\t_\tPUNCT\t.", "1\tWell\t_\tINTJ\tUH", "2\t!\t_\tPUNCT\t."]
    mark, word, end = (row + "\t_" * 5 + "\n" for row in rows)
    (made,) = Corpus(write("a.conllu", f"# newdoc\n{mark}\n{word}{end}\n"), bare=True)(nlp)
    assert [(token.text, token.tag_) for token in made.reference] == [("well", "UH")]
    assert [token.text for token in made.predicted] == ["well"] and made.reference._.doc_name == "a"
    spans = write("b.conll", 'The O\n" B-ORG\nNew B-ORG\n- I-ORG\nTown I-ORG\n. O\n\n. O\n')
    (doc,) = Corpus(spans, bare=True).read_docs(nlp.vocab)
    assert [(ent.text, ent.label_) for ent in doc.ents] == [("new town", "ORG")]
    stored = spans.with_suffix(".spacy")
    DocBin(docs=[doc]).to_disk(stored)
    with pytest.raises(ValueError, match="CRF510.*bare"):
        list(Corpus(stored, bare=True)(nlp))


def test_files_are_read_when_needed(nlp: Language, write: Write, tmp_path: Path) -> None:
    write("data/a.conll", TEXT)
    write("data/b.conll", "broken\n")
    examples = Corpus(tmp_path / "data")(nlp)
    assert next(examples).reference[0].text == "Ada"
    with pytest.raises(ValueError, match=r"b\.conll, line 1"):
        list(examples)


def test_a_faulty_file_is_left_out_on_request(nlp: Language, tmp_path: Path) -> None:
    for number in range(3):
        (tmp_path / f"{number}.conllu").write_text("1\tAda\t_\tPROPN\tNNP\t_\t_\t_\t_\t_\n\n", encoding="utf8")
    (tmp_path / "1.conllu").write_text("1\tAda\t_\tPROPN\tNNP\t_\t_\t_\t_\t_\n\n1\tBob\n\n", encoding="utf8")
    with pytest.raises(CRFError, match=r"1\.conllu, line 3"):
        list(Corpus(tmp_path)(nlp))
    with pytest.warns(CRFWarning, match=r"CRFW561\] 1 of 3 files .*1\.conllu, line 3") as told:
        docs = list(Corpus(tmp_path, on_error="skip").read_docs(nlp.vocab))
    assert [read_doc_name(doc) for doc in docs] == ["0", "2"] and len(told) == 1
    with pytest.raises(CRFError, match=r"1\.conllu, line 3"):  # nothing is left
        list(Corpus(tmp_path / "1.conllu", on_error="skip")(nlp))


def double(nlp: Language, example: Example) -> Iterator[Example]:
    yield example
    yield example.copy()


def test_augmenter_and_pickle(nlp: Language, write: Write) -> None:
    corpus = Corpus(write("a.conll", TEXT), input=["tag"], augmenter=double)
    copied = pickle.loads(pickle.dumps(corpus))
    assert [eg.to_dict() for eg in copied(nlp)] == [eg.to_dict() for eg in corpus(nlp)]
    assert len(list(copied(nlp))) == 4


def test_spacy_augmenters_keep_what_they_do_not_know(nlp: Language, write: Write) -> None:
    lower = registry.augmenters.get("spacy.lower_case.v1")(level=1.0)
    text = HistoricalText(punctuation="context")
    path = write("a.tsv", "He\tP:0.5|Q:0.5\nKUMT\t_\n.\t$\n")
    (made,) = Corpus(path, format="tagsets", text=text, input=["tag"], augmenter=lower)(nlp)
    assert [token.text for token in made.predicted] == ["he", "kumt", "."]
    assert [token.tag_ for token in made.predicted] == ["P", "", ""]
    assert [token._.gold_tags for token in made.reference] == [{"P": 0.5, "Q": 0.5}, None, None]
    assert made.reference._.doc_name == "a" and Preparation.of([made.reference]) == Preparation("context", False)
    path = write("b.conll", "New B-LOC\nYork _\nCity I-LOC\nis O\n")
    (made,) = Corpus(path, columns=["word", "spans:sc"], augmenter=lower)(nlp)
    assert partial_tags(made.reference, "spans", "sc") == ["B-LOC", "", "I-LOC", "O"]


@pytest.mark.parametrize("text", [TEXT, TEXT.partition("\n\n")[0]])
@pytest.mark.parametrize("name", ["lower_case", "combined_augmenter"])
def test_spacy_augmenters_keep_sentences(nlp: Language, write: Write, text: str, name: str) -> None:
    spaced = {"whitespace_level": 1.0, "whitespace_per_token": 0.5, "whitespace_variants": ["\n"]}
    settings = {
        "lower_case": {"level": 1.0},
        "combined_augmenter": {"lower_level": 1.0, "orth_level": 0.0, "orth_variants": None, **spaced},
    }
    augmenter = registry.augmenters.get(f"spacy.{name}.v1")(**settings[name])
    path = write("a.conll", text)
    (plain,), (made,) = (Corpus(path, group="document", augmenter=own)(nlp) for own in (None, augmenter))
    for doc in (made.predicted, made.reference):
        words = [token for token in doc if not token.is_space]
        assert [token.text for token in words] == [token.lower_ for token in plain.reference]
        assert [token.is_sent_start for token in words[1:]] == [token.is_sent_start for token in plain.reference[1:]]
        assert doc.has_annotation("SENT_START")


def shorten(nlp: Language, example: Example) -> Iterator[Example]:
    yield Example(example.predicted[:1].as_doc(), example.reference[:1].as_doc())


def test_augmenters_that_change_tokens_are_refused_where_tokens_have_gold(nlp: Language, write: Write) -> None:
    (made,) = Corpus(write("a.conll", "Ada NNP\nsang VBD\n"), columns=["word", "tag"], augmenter=shorten)(nlp)
    assert [token.tag_ for token in made.reference] == ["NNP"] and made.reference._.doc_name == "a"
    with pytest.raises(ValueError, match=r"CRF543.*'b'.*gold_tags"):
        list(Corpus(write("b.tsv", "he\tP|Q\nkumt\tV\n"), format="tagsets", augmenter=shorten)(nlp))


@pytest.mark.parametrize("group", ["auto", "sentence", 2])
def test_config_block(nlp: Language, write: Write, group: str | int) -> None:
    path = write("a.tsv", TEXT.replace(" ", "\t"))
    block = {
        "@readers": "spacy_crf.Corpus.v1",
        "path": str(path),
        "format": "columns",
        "columns": COLUMNS,
        "input": ["tag", "chunk"],
        "group": group,
        "separator": "\t",
        "limit": 5,
    }
    corpus = registry.resolve({"corpus": block})["corpus"]
    assert len(list(corpus(nlp))) == (1 if group == 2 else 2)


@pytest.mark.parametrize(
    "settings, message",
    [
        ({"path": None}, r"CRF501.*'path'.*--paths\.train"),
        ({"path": "nowhere.conll"}, r"CRF502.*nowhere\.conll"),
        ({"format": "conll2012"}, r"CRF523.*'conll2012'.*conllu"),
        ({"format": "conllu", "columns": ["word"]}, r"CRF510.*'columns'.*'conllu'"),
        ({"format": "conll2000", "columns": ["word"]}, r"CRF510.*'conll2000'"),
        ({"format": "spacy", "separator": "\t"}, r"CRF510.*'separator'"),
        ({"separator": ""}, r"CRF510.*'separator'"),
        ({"columns": ["word", "entity"]}, r"CRF508.*'entity'.*'columns'"),
        ({"columns": ["word", "spans:"]}, r"CRF508.*'spans:'"),
        ({"columns": ["tag", "_", "_"]}, r"CRF509.*'word'"),
        ({"columns": ["word", "tag", "tag"]}, r"CRF509.*twice"),
        ({"input": ["word"]}, r"CRF508.*'word'.*'input'"),
        ({"group": 0}, r"CRF518.*0"),
        ({"group": "page"}, r"CRF518.*'page'"),
    ],
)
def test_wrong_settings_are_reported_at_once(write: Write, settings: dict[str, object], message: str) -> None:
    path = write("a.conll", TEXT)
    with pytest.raises(ValueError, match=message):
        Corpus(**{"path": path, **settings})  # type: ignore[arg-type]


def test_a_separator_goes_with_columns_only(nlp: Language, write: Write) -> None:
    path = write("a.conllu", "1\tIt\t_\t_\tPRP\t_\t_\t_\t_\t_\n\n")
    with pytest.raises(ValueError, match=r"CRF510.*'separator'.*'conllu'"):
        list(Corpus(path, separator="|")(nlp))
