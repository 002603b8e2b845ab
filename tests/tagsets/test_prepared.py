"""Models of prepared texts: what was done to the texts of training holds for all that comes after, untold."""

import json
import re
import shlex
from collections import Counter
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spacy
from helpers.chains import distribution_of
from helpers.commands import run
from helpers.oracle import Chain
from helpers.paths import ROOT
from spacy.cli.train import train
from spacy.language import Language
from spacy.tokens import Doc, DocBin
from spacy.training import Example

from spacy_crf import CRFWarning
from spacy_crf.annotation.documents import Preparation
from spacy_crf.annotation.gold import GOLD_POS, read_gold_tags
from spacy_crf.corpora.block import HistoricalText
from spacy_crf.corpora.exchange import ExchangeDocument, PredictedTags
from spacy_crf.corpora.historical import prepare_gold
from spacy_crf.corpora.reader import Corpus
from spacy_crf.corpora.review import FORMAT
from spacy_crf.corpora.tables import HEADER, read_tokens_tsv
from spacy_crf.corpora.webanno import write_webanno
from spacy_crf.pipe.explain import explain
from spacy_crf.tagsets.guarantee import guarantee_data, held_out_tokens, risk_control
from spacy_crf.tagsets.report import render_page

CORPUS = ROOT / "corpus" / "set_valued_tagger"
CONFIG = ROOT / "configs" / "set_valued_tagger.cfg"
TEXT: dict[str, dict[str, Any]] = {
    "context": {"punctuation": "context", "cut_at_punctuation": True},
    "tags": {"punctuation": "context", "punctuation_tags": ["PUNCT"], "cut_at_punctuation": True},
    "removed": {"punctuation": "removed", "cut_at_punctuation": True},
    "joined": {"punctuation": "context", "join_segments": True, "untagged": "OA"},
    "gold": {"punctuation": "gold", "cut_at_punctuation": True},
}


@pytest.fixture(scope="module", params=list(TEXT))
def trained(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """A pipeline that `spacy train` has made of the shipped config and a block `text`."""
    folder = tmp_path_factory.mktemp(request.param)
    overrides = {f"corpora.train.text.{name}": value for name, value in TEXT[request.param].items()}
    paths = {"paths.train": str(CORPUS / "train"), "paths.dev": str(CORPUS / "dev"), "training.max_steps": 1}
    quick = {"components.set_valued_tagger.trainer.iterations_per_step": 4}
    train(CONFIG, folder, overrides={**overrides, **paths, **quick})
    return request.param, folder / "model-last"


def words(doc: Doc) -> list[str]:
    return [token.text for token in doc]


def test_commands_measure_what_training_has_measured(trained: tuple[str, Path]) -> None:
    name, model = trained
    told = json.loads((model / "meta.json").read_text(encoding="utf8"))["performance"]
    found = json.loads(run("sets", model, CORPUS / "dev", "--format", "tagsets", "--json"))
    same = {"ml_acc": "ml_acc", "ml_util": "ml_util", "set_coverage": "coverage", "set_size": "size"}
    for score, measure in same.items():
        assert found[measure] == pytest.approx(told[score], abs=1e-9), score
    lines = run("evaluate", model, CORPUS / "dev", "--format", "tagsets")
    shown = dict(re.findall(r"^([\w ]+?) +([\d.]+) *$", lines, re.M))
    for score in (*same, "tag_acc"):
        assert float(shown[score]) == pytest.approx(told[score] * (1 if score == "set_size" else 100), abs=0.006)
    with_words = CORPUS / "dev", "--format", "tagsets", "--train", CORPUS / "train"
    unknown = json.loads(run("sets", model, *with_words, "--json"))["unknown_words"]
    assert f"{100 * unknown:.2f}" == re.search(r"unknown_words +([\d.]+)", run("evaluate", model, *with_words))[1]  # type: ignore[index]
    is_context = TEXT[name]["punctuation"] == "context"
    assert (found["ml_acc_with_punctuation"] is not None) == is_context == ("ml_acc_with_punctuation" in shown)
    if is_context:  # whose tags the model does not give
        assert found["ml_acc_with_punctuation"] < found["ml_acc"]
        assert float(shown["ml_acc_with_punctuation"]) == pytest.approx(
            100 * found["ml_acc_with_punctuation"], abs=0.006
        )


def test_files_have_no_tags_of_punctuation_that_was_not_learned(trained: tuple[str, Path], tmp_path: Path) -> None:
    name, model = trained
    run("annotate", model, CORPUS / "dev", "--format", "tagsets", "--output", tmp_path)
    rows = [line.split("\t") for file in tmp_path.iterdir() for line in file.read_text(encoding="utf8").splitlines()]
    of_marks = {tags for form, tags, _ in (row for row in rows if len(row) > 1) if form in (".", ",")}
    expected = {"context": {"_"}, "tags": {"_"}, "joined": {"_"}, "removed": set()}
    assert of_marks == expected[name] if name in expected else "_" not in of_marks
    assert all(tags != "_" for form, tags, _ in (row for row in rows if len(row) > 1) if form.isalpha())


def test_what_is_checked_is_written_again_as_it_was(trained: tuple[str, Path], tmp_path: Path) -> None:
    name, model = trained
    rows = "jer\tART\t_\n,\tPUNCT\tx\njot\tKON\tx\nhanto\t_\tx\n.\tPUNCT\t_\n"
    (tmp_path / "checked.tsv").write_text(f"# columns = form, tags, checked\n{rows}", encoding="utf8")
    run("annotate", model, tmp_path / "checked.tsv", "--to", "tsv", "--output", tmp_path / "out")
    docs = Corpus(str(tmp_path / "out" / "checked.tsv")).read_docs(spacy.blank("xx").vocab)
    expected = [("jer", ""), (",", "PUNCT"), ("jot", "KON"), ("hanto", ""), (".", "")]
    without = [(form, tag) for form, tag in expected if form not in (",", ".")]
    assert [(token.text, token.tag_) for doc in docs for token in doc] == (without if name == "removed" else expected)


@pytest.mark.parametrize("layout", ["tsv", "conllu", "webanno", "label-studio", "doccano"])
def test_what_annotate_says_next_trains_with_the_shipped_config(layout: str, tmp_path: Path) -> None:
    """Whose corpus names the format of its own files."""
    text, out = tmp_path / "new.txt", tmp_path / "todo"
    text.write_text("jer smidar saiget jot .\n", encoding="utf8")
    quick = {"training.max_steps": 1, "components.set_valued_tagger.trainer.iterations_per_step": 2}
    paths = {"paths.train": str(CORPUS / "train"), "paths.dev": str(CORPUS / "dev")}
    train(CONFIG, tmp_path / "first", overrides={**paths, **quick})
    told = run("annotate", tmp_path / "first" / "model-last", text, "--to", layout, "--output", out)
    *_, name, value = shlex.split(told.split("--paths.train")[1].replace("\n", " ")) if "null" in told else ("", "")
    mixed = {name.removeprefix("--"): json.loads(value)} if name else {}
    assert (layout == "tsv") == (not mixed)
    both = {**paths, "paths.train": [str(CORPUS / "train"), str(out)]}
    with pytest.warns(CRFWarning, match="CRFW288"):
        train(CONFIG, tmp_path / "second", overrides={**both, **quick, **mixed})
    assert (tmp_path / "second" / "model-last").is_dir()


def test_of_a_list_only_what_somebody_has_filled_in_is_gold(trained: tuple[str, Path], tmp_path: Path) -> None:
    _, model = trained
    path = tmp_path / "list.tsv"
    run("review", model, CORPUS / "dev", "--format", "tagsets", "--limit", 3, "--output", path)
    lines = path.read_text(encoding="utf8").split("\n")
    rows = [k for k, line in enumerate(lines) if line.count("\t") == 5 and line.split("\t")[3].isalpha()]
    for k in rows[:2]:
        word, _, _, *rest = lines[k].split("\t")
        lines[k] = "\t".join([word, "", "yes", *rest])
    path.write_text("\n".join(lines), encoding="utf8")
    assert json.loads(run("sets", model, path, "--json"))["tokens"] == 2
    run("annotate", model, path, "--output", tmp_path / "out")
    expected = [[lines[k].split("\t")[place] for place in (0, 3)] for k in rows[:2]]
    (copy,) = (tmp_path / "out").iterdir()
    written = [line.split("\t") for line in copy.read_text(encoding="utf8").splitlines()]
    assert [row[:2] for row in written if row[-1] == "yes"] == expected


def test_promises_are_about_the_tokens_that_are_asked_for(trained: tuple[str, Path], tmp_path: Path) -> None:
    _, model = trained
    told = run("guarantee", model, CORPUS / "dev", "--format", "tagsets", "--conformal", "--output", tmp_path)
    assert "left out" not in told
    known = json.loads(run("sets", model, CORPUS / "dev", "--format", "tagsets", "--json"))["tokens"]
    assert f"n = {known} calibration tokens" in " ".join(told.split())
    promised = json.loads(run("sets", tmp_path, CORPUS / "dev", "--format", "tagsets", "--json"))
    assert promised["coverage"] >= 0.95 and promised["tokens"] == known


def test_gold_in_other_formats_is_measured_alike(trained: tuple[str, Path], tmp_path: Path) -> None:
    name, model = trained
    stored = tmp_path / "dev.spacy"
    run("convert", CORPUS / "dev", stored, "--format", "tagsets")
    expected = json.loads(run("sets", model, CORPUS / "dev", "--format", "tagsets", "--json"))
    if name == "removed":  # which is told
        with pytest.raises(AssertionError, match="CRFW432"):
            run("sets", model, stored, "--json")
        return
    found = json.loads(run("sets", model, stored, "--json"))
    assert found["tokens"] == expected["tokens"]
    if name in ("context", "gold"):  # the others end sequences elsewhere
        for measure in ("ml_acc", "coverage", "size", "ml_acc_with_punctuation"):
            assert found[measure] == expected[measure]
        rows = [run("evaluate", model, *data) for data in ((CORPUS / "dev", "--format", "tagsets"), (stored,))]
        ours, theirs = (re.search(r"^ml_acc +([\d.]+)", own, re.M)[1] for own in rows)  # type: ignore[index]
        assert ours == theirs
    told = run("guarantee", model, stored, "--conformal", "--output", tmp_path / "promised")
    assert f"n = {expected['tokens']} calibration tokens" in " ".join(told.split())


def test_gold_in_checked_conllu_is_measured_alike(trained: tuple[str, Path], tmp_path: Path) -> None:
    """Alone and beside tables: what training makes of the text does not ask for the format."""
    _, model = trained
    expected = json.loads(run("sets", model, CORPUS / "dev", "--format", "tagsets", "--json"))
    for folder, tables in (("alone", 0), ("mixed", 2)):
        (tmp_path / folder).mkdir()
        for number, file in enumerate(sorted((CORPUS / "dev").iterdir())):
            if number < tables:
                rows = re.sub(r"^([^#\n].*\t.*)$", r"\1\tx", file.read_text(encoding="utf8"), flags=re.M)
                (tmp_path / folder / file.name).write_text(f"{HEADER}\n{rows}", encoding="utf8")
            else:
                (tmp_path / folder / f"{file.stem}.conllu").write_text(as_checked(file), encoding="utf8")
        assert json.loads(run("sets", model, tmp_path / folder, "--json")) == expected


def as_checked(path: Path) -> str:
    """A table of words and tags as checked CoNLL-U."""
    lines, number = ["# checked = tag"], 0
    for line in path.read_text(encoding="utf8").splitlines():
        if line.startswith("#"):
            continue
        word, _, tags = line.partition("\t")
        number = number + 1 if word else 0
        gold = "Gold=" + tags.replace("|", r"\p") + "|Checked=Yes"
        lines.append("\t".join([str(number), word, *"_______", gold]) if word else "")
    return "\n".join([*lines, ""])


def test_raw_docs_get_what_files_get(trained: tuple[str, Path]) -> None:
    """Without sentence starts, sequences end where those of training did, and punctuation has no tags."""
    name, model = trained
    nlp, text = spacy.load(model), HistoricalText(**{**TEXT[name], "join_segments": True})
    tagger: Any = nlp.get_pipe("set_valued_tagger")
    for example in Corpus(CORPUS / "dev", format="tagsets", text=text)(nlp):
        if name == "removed":  # nothing is left to end a sequence
            continue
        bare = Doc(nlp.vocab, words=words(example.predicted))
        lengths = tagger.read_columns([example.predicted]).lengths
        assert (len(lengths) > 1) == text.cut_at_punctuation
        np.testing.assert_array_equal(tagger.read_columns([bare]).lengths, lengths)
        tagged = nlp(example.predicted)
        assert [(t.tag_, t._.tag_set) for t in nlp(bare)] == [(t.tag_, t._.tag_set) for t in tagged]
        for token in tagged:
            is_mark = name != "gold" and not any(map(str.isalnum, token.text))
            assert (token.tag_ == "") == (token._.tag_set == []) == is_mark


def test_the_preparation_is_stored(trained: tuple[str, Path]) -> None:
    name, model = trained
    stored = json.loads((model / "set_valued_tagger" / "cfg").read_text(encoding="utf8"))["preparation"]
    text = TEXT[name]
    assert stored["punctuation"] == text["punctuation"] and stored["cuts"] == text.get("cut_at_punctuation", False)
    nlp = spacy.load(model)
    again = spacy.blank("xx")
    again.add_pipe("set_valued_tagger", source=nlp)  # without the config that says how files are read
    assert again.get_pipe("set_valued_tagger").cfg["preparation"] == stored


def make_nlp(factory: str, text: HistoricalText | None, path: Path, labels: list[str] | None = None) -> Language:
    nlp = spacy.blank("xx")
    features = {"@misc": "spacy_crf.Features.v1", "templates": ["LOWER[-1..1]"]}
    has_features = factory not in ("frequency_tagger", "hmm_tagger")
    nlp.add_pipe(factory, config={"features": features} if has_features else {})
    examples = list(Corpus(path, format="tagsets", text=text)(nlp))
    nlp.config["initialize"]["components"][factory] = {"labels": labels}
    nlp.initialize(lambda: examples)
    for _ in range(2):
        nlp.update(examples)
    return nlp


COMPARED = ["frequency_tagger", "hmm_tagger", "memm_tagger"]


@pytest.mark.parametrize("factory", ["crf_tagger", "set_valued_tagger", *COMPARED[:2]])
def test_words_of_signs_are_words_where_gold_says_so(factory: str, tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    path.write_text("he\tP\n&\tKON\nse\tP\n/\t$;\n…\tOA\nkumt\tV\n/\t$;\n" * 3, encoding="utf8")
    assert len(next(read_tokens_tsv(path)).words) == 21
    nlp = make_nlp(factory, HistoricalText(punctuation="context", punctuation_tags=["$;"]), path)
    (doc,) = nlp.pipe([Doc(nlp.vocab, words=["se", "&", "he", "/", "…", "kumt", "."])])
    assert [token.tag_ for token in doc] == ["P", "KON", "P", "", "OA", "V", ""]
    assert [token.tag_ for token in nlp(Doc(nlp.vocab, words=["/"]))] == [""]
    given = Doc(nlp.vocab, words=["he", "/"], tags=["", "X"])  # what is there stays
    assert [token.tag_ for token in nlp(given)] == ["P", "X"]


def test_words_of_signs_are_words_where_gold_of_parts_of_speech_says_so(tmp_path: Path) -> None:
    path, rows = (
        tmp_path / "a.conllu",
        [("he", "PRON"), ("&", "CCONJ"), ("se", "PRON"), ("kumt", "VERB"), ("/", "PUNCT")],
    )
    lines = [f"{n}\t{word}\t_\t{tag}\t_\t_\t_\t_\t_\tChecked=Yes\n" for n, (word, tag) in enumerate(rows, 1)]
    path.write_text("# checked = pos\n" + "".join([*lines, "\n"] * 3), encoding="utf8")
    nlp = spacy.blank("xx")
    nlp.add_pipe("set_valued_tagger", config={"target": "pos"})
    text = HistoricalText(punctuation="context", punctuation_tags=["PUNCT"])
    examples = list(Corpus(str(path), text=text)(nlp))
    nlp.initialize(lambda: examples)
    for _ in range(3):
        nlp.update(examples)
    (doc,) = nlp.pipe([Doc(nlp.vocab, words=words(examples[0].reference))])
    assert [token.pos_ for token in doc] == ["PRON", "CCONJ", "PRON", "VERB", ""]
    assert nlp.evaluate(examples)["ml_acc"] == 1


def test_words_without_parts_of_speech_get_one_in_all_formats(tmp_path: Path) -> None:
    path = tmp_path / "a.conllu"
    rows = [("he", "PRON"), ("kumt", "VERB"), ("gn", "_")]
    lines = [f"{n}\t{word}\t_\t{tag}\t_\t_\t_\t_\t_\tChecked=Yes\n" for n, (word, tag) in enumerate(rows, 1)]
    path.write_text("# checked = pos\n" + "".join([*lines, "\n"] * 3), encoding="utf8")
    nlp, text = spacy.blank("xx"), HistoricalText(untagged="X")
    DocBin(docs=Corpus(str(path)).read_docs(nlp.vocab), store_user_data=True).to_disk(tmp_path / "a.spacy")
    prepared = list(Corpus(str(path), text=text).read_docs(nlp.vocab))
    stored = list(Corpus(str(tmp_path / "a.spacy")).read_docs(nlp.vocab))
    for doc, other in zip(prepared, stored, strict=True):
        prepare_gold(other, text)
        for gold in (doc, other):
            assert [(token.pos_, token.tag_) for token in gold] == [("PRON", ""), ("VERB", ""), ("X", "")]
            assert read_gold_tags(gold, GOLD_POS)[2] == {"X": 1.0}


def test_a_sign_that_is_left_out_nearly_always_is_no_word(tmp_path: Path) -> None:
    path, stored = tmp_path / "a.tsv", tmp_path / "a.spacy"
    path.write_text("/\t$;\n/\t$;\n\nhe\tP\n/\t$;\n/\tKON\nkumt\tV\n&\tKON\n…\tOA\n" * 2, encoding="utf8")
    text, nlp = HistoricalText(punctuation="removed", punctuation_tags=["$;"]), spacy.blank("xx")
    docs = list(Corpus(path, format="tagsets", text=text).read_docs(nlp.vocab))
    assert [words(doc) for doc in docs] == [["he", "/", "kumt", "&", "…", "he", "/", "kumt", "&", "…"]] or len(
        docs
    ) == 2
    DocBin(docs=docs, store_user_data=True).to_disk(stored)
    for references in (docs, list(Corpus(stored, group="sentence").read_docs(nlp.vocab))):
        preparation = Preparation.of(references)
        assert preparation is not None and preparation.words == ("&", "…")


def test_promises_count_signs_that_get_no_set(tmp_path: Path) -> None:
    """A sign that is punctuation nearly always gets no tags, so that its gold is missed where it is a word for once."""
    path = tmp_path / "a.tsv"
    path.write_text("he\tP\nkumt\tV\n/\t$;\n\nse\tP\nkumt\tV\n/\tV\n/\t$;\n/\t$;\n" * 6, encoding="utf8")
    text = HistoricalText(punctuation="context", punctuation_tags=["$;"])
    nlp = make_nlp("set_valued_tagger", text, path)
    examples = list(Corpus(str(path), format="tagsets", text=text)(nlp))
    tagger: Any = nlp.get_pipe("set_valued_tagger")
    held_out = held_out_tokens(tagger, examples)
    assert held_out.unknown == 6 and int(held_out.weights.any(axis=1).sum()) == 30
    promise = risk_control(held_out, 0.3, "token")
    tagger.cfg.update(method="guarantee", guarantee=guarantee_data(promise, tagger))
    pairs = [(example.reference, nlp(example.predicted)) for example in examples]
    missed = [token.tag_ not in own._.tag_set for gold, doc in pairs for token, own in zip(gold, doc) if token.tag_]
    assert promise.risk == pytest.approx(sum(missed) / len(missed))


def test_tags_with_a_dollar_outlive_storing(tmp_path: Path) -> None:
    """A config doubles dollars when it is written, and not all who load it take that back."""
    (tmp_path / "a.tsv").write_text("he\tP\n/\t$;\nse\tP\nkumt\tV\n.\t$;\n…\tOA\n" * 20, encoding="utf8")
    overrides: dict[str, Any] = {f"paths.{part}": str(tmp_path / "a.tsv") for part in ("train", "dev")}
    text = {"punctuation": "context", "punctuation_tags": ["$;"], "cut_at_tags": ["$;"]}
    overrides |= {f"corpora.train.text.{name}": value for name, value in text.items()}
    overrides |= {"training.max_steps": 1, "components.set_valued_tagger.temperature": 1.0}
    train(CONFIG, tmp_path / "first", overrides=overrides)
    told = json.loads((tmp_path / "first" / "model-last" / "meta.json").read_text(encoding="utf8"))["performance"]
    spacy.load(tmp_path / "first" / "model-last").to_disk(tmp_path / "second")
    spacy.load(tmp_path / "second").to_disk(tmp_path / "third")
    for model in ("first/model-last", "second", "third"):
        found = json.loads(run("sets", tmp_path / model, tmp_path / "a.tsv", "--format", "tagsets", "--json"))
        assert found["tokens"] == 80 and found["ml_acc"] == pytest.approx(told["ml_acc"], abs=1e-9)
        assert found["ml_acc_with_punctuation"] == pytest.approx(found["ml_acc"] * 2 / 3)


def test_unprepared_texts_change_nothing(tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    path.write_text("he\tP\n/\t$;\nse\tP\n/\t$;\n" * 3, encoding="utf8")
    nlp = make_nlp("crf_tagger", None, path)
    assert nlp.get_pipe("crf_tagger").cfg["preparation"] is None
    assert [token.tag_ for token in nlp(Doc(nlp.vocab, words=["he", "/"]))] == ["P", "$;"]


def test_texts_with_punctuation_that_was_removed_are_told_of(tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    path.write_text("he\tP\n/\t$;\nse\tP\n/\t$;\n" * 3, encoding="utf8")
    nlp = make_nlp("crf_tagger", HistoricalText(punctuation="removed"), path)
    with pytest.warns(UserWarning, match="CRFW432.*he /"):
        doc = nlp(Doc(nlp.vocab, words=["he", "/"]))
    assert [token.tag_ for token in doc] == ["P", ""]
    nlp(Doc(nlp.vocab, words=["he", "se"]))


def test_another_component_over_it_gives_no_sets_either(tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    path.write_text("he\tP\n/\t$;\nkumt\tV\n/\t$;\n" * 3, encoding="utf8")
    nlp = make_nlp("crf_tagger", HistoricalText(punctuation="context"), path)
    nlp.add_pipe("set_valued_tagger", config={"source": "crf_tagger"})
    doc = nlp(Doc(nlp.vocab, words=["he", "/", "kumt"]))
    assert [bool(token._.tag_set) for token in doc] == [True, False, True]
    page = render_page([doc])
    assert '<span class="word doubt">/<small>–</small></span>' in page and page.count("title=") == 2
    lines = write_webanno([ExchangeDocument.of([doc], PredictedTags())]).decode().split("\n")
    rows = [line.split("\t") for line in lines]
    assert {*next(row for row in rows if "/" in row)[3:]} == {"_", ""}


def test_over_a_tagger_of_spacy_there_are_none_either(tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    path.write_text("he\tP\n/\t$;\nkumt\tV\n/\t$;\n" * 3, encoding="utf8")
    nlp = spacy.blank("xx")
    nlp.add_pipe("tagger")
    nlp.add_pipe("set_valued_tagger", config={"source": "tagger"})
    examples = list(Corpus(path, format="tagsets", text=HistoricalText(punctuation="context"))(nlp))
    nlp.initialize(lambda: examples)
    nlp.to_disk(tmp_path / "model")
    for each in (nlp, spacy.load(tmp_path / "model"), spacy.load(tmp_path / "model").from_bytes(nlp.to_bytes())):
        doc = each(Doc(each.vocab, words=["he", "/", "kumt"]))
        assert [bool(token._.tag_set) for token in doc] == [True, False, True]


def test_trees_of_tags_have_no_node_for_it(tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    path.write_text("he\tP.a\n/\t$;\nkumt\tV.b\n/\t$;\n" * 3, encoding="utf8")
    nlp = spacy.blank("xx")
    tree = {"@misc": "spacy_crf.TagTree.v1", "separator": "."}
    features = {"@misc": "spacy_crf.Features.v1", "templates": ["LOWER"]}
    nlp.add_pipe("set_valued_tagger", config={"features": features, "method": "hierarchy", "hierarchy": tree})
    examples = list(Corpus(path, format="tagsets", text=HistoricalText(punctuation="context"))(nlp))
    nlp.initialize(lambda: examples)
    nlp.update(examples)
    doc = nlp(Doc(nlp.vocab, words=["he", "/"]))
    assert doc[1]._.tag_nodes == "" and doc[1]._.tag_set == [] and doc[0]._.tag_nodes and doc[0]._.tag_set


def test_training_learns_nothing_else_by_it(tmp_path: Path) -> None:
    """Sequences that the component ends itself are those that the reader has made."""
    path = tmp_path / "a.tsv"
    path.write_text("he\tP\n/\t$;\nse\tP\nkumt\tV\n.\t$;\nse\tP\n" * 3, encoding="utf8")
    nlp = make_nlp("crf_tagger", HistoricalText(cut_at_punctuation=True), path)
    tagger = nlp.get_pipe("crf_tagger")
    example = next(Corpus(path, format="tagsets", text=HistoricalText(cut_at_punctuation=True))(nlp))
    bare = Doc(nlp.vocab, words=words(example.predicted))
    lengths = [len(sent) for sent in example.predicted.sents]
    for doc in (example.predicted, bare):
        np.testing.assert_array_equal(tagger.read_columns([doc]).lengths, lengths)
    assert Example(bare, example.reference).get_aligned("TAG", as_string=True)[1] == "$;"


@pytest.mark.parametrize("factory", ["crf_tagger", "set_valued_tagger", *COMPARED])
@pytest.mark.parametrize(
    ("first", "now"), [("context", None), ("context", "gold"), ("removed", "context"), (None, "context")]
)
def test_further_training_with_other_texts_is_told(factory: str, first: Any, now: Any, tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    path.write_text("he\tP\nkumt\tV\n.\t$;\n\nse\tP\nkumt\tV\n.\t$;\n", encoding="utf8")
    texts = [way and HistoricalText(punctuation=way) for way in (first, now)]
    nlp = make_nlp(factory, texts[0], path, labels=["P", "V", "$;"])
    nlp.to_disk(tmp_path / "model")
    nlp = spacy.load(tmp_path / "model")
    nlp.update(list(Corpus(path, format="tagsets", text=texts[0])(nlp)))
    with pytest.warns(UserWarning, match=f"CRFW416.*{first or 'gold'}.*now from.*{now or 'gold'}"):
        nlp.update(list(Corpus(path, format="tagsets", text=texts[1])(nlp)))


@pytest.mark.parametrize("factory", COMPARED)
def test_taggers_to_compare_with_keep_the_preparation(factory: str, tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    path.write_text("he\tP\n/\t$;\nse\tP\nkumt\tV\n.\t$;\nse\tP\n" * 3, encoding="utf8")
    text = HistoricalText(punctuation="context", cut_at_punctuation=True)
    nlp = make_nlp(factory, text, path)
    nlp.add_pipe("set_valued_tagger", config={"source": factory})
    nlp.to_disk(tmp_path / "model")
    example = next(Corpus(path, format="tagsets", text=text)(nlp))
    for each in (nlp, spacy.load(tmp_path / "model"), spacy.load(tmp_path / "model").from_bytes(nlp.to_bytes())):
        tagger: Any = each.get_pipe(factory)
        doc = each(Doc(each.vocab, words=words(example.predicted)))
        is_mark = [not token.text.isalpha() for token in doc]
        assert [token.tag_ == "" for token in doc] == [token._.tag_set == [] for token in doc] == is_mark
        assert is_mark == [tag == "" for tag in example.get_aligned("TAG", as_string=True)] and any(is_mark)
        lengths = tagger.estimator.read([Doc(each.vocab, words=words(example.predicted))]).lengths
        if factory != "frequency_tagger":  # to which a Doc is one sequence
            np.testing.assert_array_equal(lengths, [len(sent) for sent in example.predicted.sents])
    run("annotate", tmp_path / "model", path, "--format", "tagsets", "--output", tmp_path / "out")
    rows = [line.split("\t") for line in next((tmp_path / "out").iterdir()).read_text(encoding="utf8").splitlines()]
    assert {tags for form, tags, _ in (row for row in rows if len(row) > 1) if form in "./"} == {"_"}
    unprepared = make_nlp(factory, None, path)
    assert [token.tag_ for token in unprepared(Doc(unprepared.vocab, words=["he", "/"]))] == ["P", "$;"]


def test_reviews_ask_for_no_tags_of_punctuation(tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    path.write_text("he\tP\n/\t$;\nkumt\tV\n/\t$;\n" * 3, encoding="utf8")
    make_nlp("crf_tagger", HistoricalText(punctuation="context"), path).to_disk(tmp_path / "model")
    (tmp_path / "raw.txt").write_text("he / kumt\n", encoding="utf8")
    rows = run("review", tmp_path / "model", tmp_path / "raw.txt", "--prefill").splitlines()
    cells = [row.split("\t") for row in rows if row and not row.startswith("#")]
    assert [row[:4] for row in cells] == [["he", "P", "", "P"], ["/", "", "", ""], ["kumt", "V", "", "V"]]
    assert cells[1][4:] == ["1.0000", "_"]
    (told,) = map(json.loads, run("review", tmp_path / "model", tmp_path / "raw.txt", "--to", "jsonl").splitlines())
    assert told["n_best"][0]["tags"] == ["P", "", "V"] and told["tokens"][1]["best"] == ""


def test_no_command_names_labels_of_punctuation(tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    path.write_text("he\tP\n/\t$;\nkumt\tV\n/\t$;\nkumt\tP\n" * 3, encoding="utf8")
    nlp = make_nlp("crf_tagger", HistoricalText(punctuation="context"), path)
    nlp.to_disk(tmp_path / "model")
    (mark,) = explain(nlp.get_pipe("crf_tagger"), Doc(nlp.vocab, words=["he", "/", "kumt"]), [1])
    assert (mark.label, mark.probability, mark.runner_up, mark.contributions) == ("", 1.0, None, [])
    why = explain(nlp.get_pipe("crf_tagger"), Doc(nlp.vocab, words=["he", "/", "kumt"]), [0, 2])
    for one in why:
        assert one.label and sum(part.difference for part in one.contributions) == pytest.approx(one.difference)
        for part in one.contributions:
            tokens = [part.token - 1, part.token][-len(part.labels.split(" > ")) :]
            for labels in (part.labels, part.other_labels):
                assert [name == "" for name in labels.split(" > ")] == [token == 1 for token in tokens]
    assert "no label" in run("explain", tmp_path / "model", "he / kumt", "--token", 1)
    rows = run("tag", tmp_path / "model", "he / kumt").splitlines()
    assert [row.split() for row in rows if "/" in row] == [["/"]]


@pytest.mark.parametrize("factory, key", [("crf_tagger", "n_best"), ("set_valued_tagger", "tag_sequences")])
def test_labellings_that_differ_in_punctuation_alone_are_one(factory: str, key: str, tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    path.write_text("he\tP\n/\t$;\nkumt\tV\n/\t$;\nkumt\tP\nse\tOA\n" * 3, encoding="utf8")
    nlp = make_nlp(factory, HistoricalText(punctuation="context"), path)
    pipe: Any = nlp.get_pipe(factory)
    doc = Doc(nlp.vocab, words=["he", "/", "kumt", "/"])
    chains = distribution_of(pipe, pipe.read_columns([doc])).chains.astype(np.float64)
    assert len(pipe.read_columns([doc]).lengths) == 1
    chain = Chain(chains.emissions, [chains.transitions] * len(doc), chains.start, chains.end)
    names, expected = pipe.tags.tags, Counter[tuple[str, ...]]()
    for labels, score in chain.paths():
        expected[(names[labels[0]], "", names[labels[2]], "")] += np.exp(score - chain.log_z())
    asked = {"n_best": 3} if factory == "crf_tagger" else {"sequences": 500, "sequence_mass": 0.9}
    pipe.cfg.update(asked)
    (found,) = pipe(doc)._.get(key)
    assert len(found["labels"]) > 1 and sum(expected.values()) == pytest.approx(1)
    for labels, probability in zip(found["labels"], found["probabilities"]):
        assert probability == pytest.approx(expected[tuple(labels)], rel=1e-4)
    best = [list(labels) for labels, _ in expected.most_common(len(found["labels"]))]
    assert found["labels"] == best
    if factory == "set_valued_tagger":
        assert found["complete"] and found["mass"] == pytest.approx(sum(found["probabilities"]))
        assert found["mass"] >= 0.9 > found["mass"] - found["probabilities"][-1]


@pytest.mark.parametrize("decode, code", [("viterbi", "CRF471"), ("posterior", None)])
@pytest.mark.parametrize("factory", ["crf_tagger", "set_valued_tagger"])
def test_order_2_is_not_asked_for_the_best_labelling_without_punctuation(
    factory: str, decode: str, code: str | None, tmp_path: Path
) -> None:
    path = tmp_path / "a.tsv"
    path.write_text("he\tP\n/\t$;\nkumt\tV\n/\t$;\nkumt\tP\nse\tOA\n" * 3, encoding="utf8")
    corpus = Corpus(path, format="tagsets", text=HistoricalText(punctuation="context"))
    model = {"@architectures": "spacy_crf.LinearChain.v1", "order": 2}
    nlp = spacy.blank("xx")
    nlp.add_pipe(factory, config={"model": model, "decode": decode})
    with pytest.raises(ValueError, match=rf"{code}.*{factory}.*order 2.*posterior") if code else nullcontext():
        nlp.initialize(lambda: corpus(nlp))


REVIEWED = """\
# spacy_crf review 1
# target = {target}
# columns = word, gold, checked, best, probability, alternatives

wen	{gold}		P	0.5	_
/	$;		$;	0.5	_
dat		yes	{gold}	0.5	_
xii			P	0.5	_
"""


@pytest.mark.parametrize(("target", "gold"), [("ext:gold_tags", "NA|ADV"), ("tag", "NA"), ("pos", "NOUN")])
@pytest.mark.parametrize("punctuation", ["context", "removed"])
def test_rows_of_a_review_are_prepared_as_the_files_beside_them(
    target: str, gold: str, punctuation: Any, tmp_path: Path
) -> None:
    """Also where they come first, so that a component learns from them how texts are prepared."""
    path = tmp_path / "a.tsv"
    path.write_text(REVIEWED.format(target=target, gold=gold).replace("$;", "PUNCT"), encoding="utf8")
    (tmp_path / "b.tsv").write_text("he\tNA\n.\tPUNCT\nwen\tADV\n", encoding="utf8")
    text = HistoricalText(untagged="OA", punctuation=punctuation, cut_at_punctuation=True, join_segments=True)
    nlp = spacy.blank("xx")
    examples = list(Corpus(tmp_path, text=text)(nlp))
    best = gold.split("|")[0]
    known = [[(token.text, token.tag_ or token.pos_) for token in example.reference] for example in examples]
    assert known[1] == [("dat", best), ("xii", "")]
    marks = [] if punctuation == "removed" else [("/", "")]
    assert known[0] == [("wen", best), *marks]
    if target != "pos":
        tagger = nlp.add_pipe("set_valued_tagger")
        nlp.initialize(lambda: examples)
        assert tagger.cfg["preparation"]["punctuation"] == punctuation  # type: ignore[attr-defined]
        for _ in range(3):
            nlp.update(examples)
        doc = nlp(Doc(nlp.vocab, words=["wen", "/", "dat"] if marks else ["wen", "dat"]))
        assert [bool(token.tag_) for token in doc] == [True, *[False for _ in marks], True]


def test_spans_of_a_review_stay_whole_in_prepared_texts(tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    rows = (
        REVIEWED.format(target="ner", gold="B-PER")
        .replace("$;", "I-PER")
        .replace("\tyes", "I-PER\t")
        .replace("xii\t", "xii\tO")
    )
    path.write_text(rows, encoding="utf8")
    text = HistoricalText(punctuation="context", cut_at_punctuation=True)
    (doc,) = Corpus(path, text=text).read_docs(spacy.blank("xx").vocab)
    assert [(span.text.strip(), span.label_) for span in doc.ents] == [("wen / dat", "PER")]


def test_tags_beside_the_spans_of_a_review_cut_none(tmp_path: Path) -> None:
    """They are what the pipeline was shown, as is what follows."""
    rows = [("xii", "O", "NUM"), ("wen", "B-PER", "PN"), ("/", "I-PER", "$;"), ("dat", "I-PER", "PN")]
    tokens = [{"text": word, "gold": tag, "checked": "yes"} for word, tag, _ in rows]
    row = {
        "format": FORMAT,
        "target": "ner",
        "text": None,
        "tokens": tokens,
        "input": {"tag": [tag for *_, tag in rows]},
    }
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps(row), encoding="utf8")
    text = HistoricalText(punctuation="context", cut_at_punctuation=True)
    (example,) = Corpus(path, text=text, input=["tag"])(spacy.blank("xx"))
    assert [(span.text.strip(), span.label_) for span in example.reference.ents] == [("wen / dat", "PER")]
    assert [token.tag_ for token in example.predicted] == [tag for *_, tag in rows]


@pytest.mark.parametrize("checked, input", [("tag", "pos"), ("pos", "tag")])
def test_punctuation_that_is_context_has_what_a_pipeline_is_shown(tmp_path: Path, checked: str, input: str) -> None:
    rows = [("he", "PRON", "PPER"), (",", "PUNCT", "$;")]
    lines = [f"{n}\t{word}\t_\t{pos}\t{tag}\t_\t_\t_\t_\tChecked=yes" for n, (word, pos, tag) in enumerate(rows, 1)]
    path = tmp_path / "a.conllu"
    path.write_text("\n".join([f"# checked = {checked}", *lines, "", ""]), encoding="utf8")
    (example,) = Corpus(path, input=[input], text=HistoricalText(punctuation="context"))(spacy.blank("xx"))
    expected = {"pos": ["PRON", "PUNCT"], "tag": ["PPER", "$;"]}[input]
    assert [getattr(token, f"{input}_") for token in example.predicted] == expected
    assert [bool(getattr(token, f"{checked}_")) for token in example.reference] == [True, False]


def test_punctuation_has_no_gold_as_a_part_of_speech_either(tmp_path: Path) -> None:
    """What CoNLL-U says of a tagger of parts of speech is measured as the same in a table of tags."""
    words, tags = ["he", ",", "wen", "."], ["PRON", "PUNCT", "VERB", "PUNCT"]
    rows = zip(range(1, 5), words, tags)
    (tmp_path / "a.tsv").write_text("".join(f"{w}\t{t}\n" for w, t in zip(words, tags)), encoding="utf8")
    lines = "".join(f"{n}\t{word}\t_\t{tag}\tXY\t_\t_\t_\t_\t_\n" for n, word, tag in rows)
    (tmp_path / "a.conllu").write_text(f"{lines}\n", encoding="utf8")
    paths = dict.fromkeys(("paths.train", "paths.dev"), str(tmp_path / "a.tsv"))
    own = {"target": "pos", "model.order": 1, "features.min_count": 1, "temperature": 1.0}
    settings = {f"components.set_valued_tagger.{name}": value for name, value in own.items()}
    for name, tags_of in (("by_form", None), ("by_tag", ["PUNCT"])):
        text = {"punctuation": "context", "punctuation_tags": tags_of}
        texts = {f"corpora.train.text.{setting}": value for setting, value in text.items()}
        train(CONFIG, tmp_path / name, overrides={**paths, **settings, **texts, "training.max_steps": 1})
        model = tmp_path / name / "model-last"
        run("convert", tmp_path / "a.conllu", tmp_path / "a.spacy")
        files = [tmp_path / f"a.{suffix}" for suffix in ("tsv", "conllu", "spacy")]
        found = [json.loads(run("sets", model, file, "--json")) for file in files]
        assert [one["tokens"] for one in found] == [2, 2, 2]
        assert found[0] == found[1] == found[2]


CHECKED_POS = """\
# checked = pos
1	he	_	PRON	XY	_	_	_	_	Checked=Yes
2	/	_	PUNCT	_	_	_	_	_	Checked=Yes
3	wen	_	_	_	_	_	_	_	Checked=Yes
4	dat	_	VERB	_	_	_	_	_	TagSet=VERB:0.7|Checked=No

"""


@pytest.mark.parametrize("untagged", ["X", "OA", ""])
def test_checked_parts_of_speech_in_conllu_go_with_prepared_texts(untagged: str, tmp_path: Path) -> None:
    (tmp_path / "a.conllu").write_text(CHECKED_POS, encoding="utf8")
    (tmp_path / "b.tsv").write_text("he\tPRON\n.\tPUNCT\nwen\tVERB\n", encoding="utf8")
    nlp = spacy.blank("xx")
    text = HistoricalText(untagged=untagged, punctuation="context", cut_at_punctuation=True)
    examples = list(Corpus([tmp_path / "a.conllu", tmp_path / "b.tsv"], text=text)(nlp))
    tagger = nlp.add_pipe("set_valued_tagger", config={"target": "pos"})
    with nullcontext() if untagged != "OA" else pytest.raises(ValueError, match=r"CRF413.*'OA'"):
        nlp.initialize(lambda: examples)
        assert list(tagger.labels) == ["PRON", "VERB", *filter(None, [untagged])]  # type: ignore[attr-defined]
        found = [(token.text, token.pos_) for example in examples for token in example.reference]
        assert found[:4] == [("he", "PRON"), ("/", ""), ("wen", untagged), ("dat", "")]
