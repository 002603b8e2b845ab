"""`crf sets` and `crf annotate`: reports, files that come back as gold, and pages to read."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
import spacy
from helpers.commands import invoke, run
from helpers.pages import Page
from spacy.tokens import Doc
from spacy.training import Example

from spacy_crf.annotation.gold import read_gold_tags
from spacy_crf.core.errors import CRFWarning
from spacy_crf.corpora.reader import Corpus
from spacy_crf.tagsets.cli import LAYOUTS
from spacy_crf.tagsets.report import render_page, report_sets

TRAIN = """# sent_id = 1
he\tP
wen\tKON:0.66|KOUS:0.33
se\tP

se\tP
wen\tKON|KOUS
he\tP

se\tP
kumt\tV
"""
TEST = """he\tP
wen\tKON
se\tP
swimt\tV
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("sets")
    (path / "train").mkdir()
    (path / "train" / "a.tsv").write_text(TRAIN, encoding="utf8")
    (path / "test.tsv").write_text(TEST, encoding="utf8")
    nlp = spacy.blank("xx")
    features = {"@misc": "spacy_crf.Features.v1", "templates": ["LOWER", "LSUFFIX2"]}
    trainer = {"@misc": "spacy_crf.LBFGS.v1", "c2": 0.01}
    config = {"features": features, "trainer": trainer, "method": "mass", "coverage": 0.8}
    nlp.add_pipe("set_valued_tagger", config=config)
    examples = list(Corpus(path / "train", format="tagsets")(nlp))
    nlp.initialize(lambda: examples)
    for _ in range(3):
        nlp.update(examples)
    nlp.to_disk(path / "model")
    return path


@pytest.fixture(scope="module")
def sourced(folder: Path, tmp_path_factory) -> Path:
    """The same texts, and sets on top of another tagger."""
    nlp = spacy.blank("xx")
    nlp.add_pipe("memm_tagger", config={"c2": 0.05})
    names = {"tag_set": "crf_test_sets", "tag_probs": "crf_test_probs"}
    nlp.add_pipe("set_valued_tagger", config={"source": "memm_tagger", "method": "mass", "coverage": 0.8, **names})
    examples = list(Corpus(folder / "train", format="tagsets")(nlp))
    nlp.initialize(lambda: examples)
    nlp.update(examples)
    path = tmp_path_factory.mktemp("sourced")
    nlp.to_disk(path / "model")
    for name in ("train", "test.tsv"):
        (path / name).symlink_to(folder / name)
    return path


def annotate(folder: Path, layout: str, output: Path) -> None:
    options = ("--format", "tagsets", "--to", layout, "--output", output)
    run("annotate", folder / "model", folder / "test.tsv", *options)


def test_a_folder_of_files_with_comments_is_a_corpus(folder: Path) -> None:
    (doc,) = Corpus(folder / "train", format="tagsets").read_docs(spacy.blank("xx").vocab)
    assert [token.text for token in doc][:3] == ["he", "wen", "se"] and len(list(doc.sents)) == 3
    rows = read_gold_tags(doc)
    assert rows[1] == pytest.approx({"KON": 2 / 3, "KOUS": 1 / 3}) and rows[4] == {"KON": 0.5, "KOUS": 0.5}
    assert doc[1].tag_ == "KON"


def test_the_report(folder: Path) -> None:
    options = ("--train", folder / "train", "--format", "tagsets")
    found = json.loads(run("sets", folder / "model", folder / "test.tsv", *options, "--json"))
    assert found["tokens"] == 4 and found["labels"] == 4 and found["unknown_words"] == 0.25
    assert found["ml_acc_known"] == 1.0 and found["coverage"] >= 0.75
    assert sum(row["tokens"] for row in found["by_size"]) == 4
    assert found["size"] == sum(row["size"] * row["tokens"] for row in found["by_size"]) / 4
    text = run("sets", folder / "model", folder / "test.tsv", *options)
    assert "unknown words" in text and "25.00 %" in text and "mean size" in text
    assert "unknown" not in run("sets", folder / "model", folder / "test.tsv", "--format", "tagsets")


@pytest.mark.filterwarnings(r"ignore:\[CRFW4(06|19)\]")  # these are tested elsewhere
@pytest.mark.parametrize("command", ["sets", "evaluate", "report"])
def test_probabilities_that_another_component_wrote_are_not_measured(
    folder: Path, tmp_path: Path, command: str
) -> None:
    nlp = spacy.load(folder / "model")
    other = nlp.add_pipe("set_valued_tagger", name="other", config={"target": "pos", "tag_set": "crf_test_others"})
    examples = [Example.from_dict(nlp.make_doc("he se"), {"pos": ["PRON", "PRON"]})]
    other.initialize(lambda: examples, nlp=nlp)
    other.update(examples, sgd=nlp.resume_training())
    nlp.to_disk(tmp_path / "model")
    options = ["--component", "set_valued_tagger", "--format", "tagsets"]
    options += ["--output", str(tmp_path / "page.html")] if command == "report" else []
    result = invoke(command, tmp_path / "model", folder / "test.tsv", *options)
    assert result.exit_code == 1 and "CRF555" in result.output and "doc._.tag_probs" in result.output


def test_calibration_and_gaps_of_coverage(folder: Path) -> None:
    nlp = spacy.load(folder / "model")
    (example,) = Corpus(folder / "test.tsv", format="tagsets")(nlp)
    other = Doc(nlp.vocab, words=["he", "swimt"], tags=["P", "NEW"])  # a tag that the tagger does not know
    examples = [Example(nlp(example.predicted), example.reference)]
    examples.append(Example(nlp(Doc(nlp.vocab, words=["he", "swimt"])), other))
    tagger = nlp.get_pipe("set_valued_tagger")
    found = report_sets(tagger, examples)
    rows = [(token, gold.tag_) for eg in examples for token, gold in zip(eg.predicted, eg.reference)]
    hits = {name: [] for name in ("tags", "documents")}
    for token, gold in rows:
        for name, key in (("tags", gold), ("documents", token.doc[0].text + str(len(token.doc)))):
            hits[name].append((key, gold in token._.tag_set))
    for name, gap in (("tags", found.gap_tags), ("documents", found.gap_documents)):
        shares = [np.mean([hit for key, hit in hits[name] if key == one]) for one in {key for key, _ in hits[name]}]
        assert gap == pytest.approx(np.mean(np.abs(np.array(shares) - 0.8))) and found.target == pytest.approx(0.8)
    tags = [*tagger.labels, "NEW"]
    table = np.array([[token._.tag_probs.get(tag, 0.0) for tag in tags] for token, _ in rows])
    gold = np.array([tags.index(tag) for _, tag in rows])
    right = table.argmax(axis=1) == gold
    assert found.ece == pytest.approx(by_bins(table.max(axis=1), right))
    assert found.classwise_ece == pytest.approx(np.mean([by_bins(table[:, t], gold == t) for t in range(len(tags))]))
    empty = Example(nlp(Doc(nlp.vocab)), Doc(nlp.vocab))
    assert report_sets(tagger, [examples[0], empty, examples[1]]).ece == found.ece
    tagger.cfg["method"] = "utility"
    assert report_sets(tagger, examples).target == found.coverage
    data = json.loads(run("sets", folder / "model", folder / "test.tsv", "--format", "tagsets", "--json"))
    assert {"target", "gap_tags", "gap_documents", "ece", "classwise_ece"} <= set(data)
    text = run("sets", folder / "model", folder / "test.tsv", "--format", "tagsets")
    assert "CovGap of tags, from 80.00 %" in text and "classwise" in text


def by_bins(confidences: np.ndarray, right: np.ndarray) -> float:
    """Expected calibration error in ten bins, one by one."""
    error = 0.0
    for low in range(10):
        inside = [k for k, p in enumerate(confidences) if low / 10 < p <= (low + 1) / 10 or (low == 0 and p == 0)]
        if inside:
            error += len(inside) / len(right) * abs(confidences[inside].mean() - right[inside].mean())
    return error


def test_documents_without_gold_have_no_measures(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_text("he\t_\n", encoding="utf8")
    assert "CRF638" in run("sets", folder / "model", tmp_path / "a.tsv", "--format", "tagsets", code=1)


@pytest.mark.parametrize("layout", ["tsv", "webanno"])
def test_what_is_written_comes_back_if_it_is_asked_for(folder: Path, tmp_path: Path, layout: str) -> None:
    run(
        "annotate",
        folder / "model",
        folder / "test.tsv",
        "--format",
        "tagsets",
        "--to",
        layout,
        "--output",
        tmp_path,
    )
    (path,) = tmp_path.iterdir()
    assert path.name == "test.tsv"
    nlp = spacy.load(folder / "model")
    (untouched,) = Corpus(path).read_docs(nlp.vocab)
    assert not any(token.tag_ or row for token, row in zip(untouched, read_gold_tags(untouched)))
    (doc,) = Corpus(path, unchecked="soft").read_docs(nlp.vocab)
    assert [token.text for token in doc] == ["he", "wen", "se", "swimt"]
    (tagged,) = nlp.pipe([Doc(nlp.vocab, words=[token.text for token in doc])])
    assert [token.tag_ for token in doc] == [token.tag_ for token in tagged]
    if layout == "tsv":
        assert [set(row) for row in read_gold_tags(doc)] == [set(tags) for tags in tagged._.tag_set]


@pytest.mark.parametrize("layout", ["tsv", "conllu"])
def test_what_a_person_has_checked_is_not_written_over(folder: Path, tmp_path: Path, layout: str) -> None:
    for _ in range(2):  # as long as nobody has
        annotate(folder, layout, tmp_path)
    (path,) = tmp_path.iterdir()
    written = path.read_text(encoding="utf8")
    checked = written.replace("\t_\n", "\tyes\n", 1).replace("Checked=No", "Checked=Yes", 1)
    arguments = ["annotate", folder / "model", folder / "test.tsv", "--format", "tagsets", "--to", layout]
    before = r"he\t" if layout == "tsv" else r"he\t_\t_\t"
    untagged = re.sub(rf"({before})\S+", r"\1_", checked)
    other_column = untagged.replace("he\t_\t_", "he\t_\tPRON").replace("# checked = tag", "# checked = pos")
    for content in (checked, untagged, other_column, "words of a person\n"):
        path.write_text(content, encoding="utf8")
        result = invoke(*arguments, "--output", tmp_path)
        assert result.exit_code and "CRF493" in result.output and path.read_text(encoding="utf8") == content
    path.write_text(written, encoding="utf8")
    annotate(folder, layout, tmp_path)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_files_that_nobody_has_filled_in_are_written_again(folder: Path, tmp_path: Path, layout: str) -> None:
    for _ in range(2):
        annotate(folder, layout, tmp_path)


def test_a_list_that_is_filled_in_is_not_written_over(folder: Path, tmp_path: Path) -> None:
    for prefill in ([], ["--prefill"]):
        path = tmp_path / "list.tsv"
        path.unlink(missing_ok=True)
        arguments = ["review", folder / "model", folder / "test.tsv", "--format", "tagsets", "--output", path, *prefill]
        for _ in range(2):
            run(*arguments)
        lines = path.read_text(encoding="utf8").splitlines()
        place = next(k for k, line in enumerate(lines) if line.startswith("swimt\t"))
        word, gold, _, *rest = lines[place].split("\t")
        lines[place] = "\t".join([word, gold, "yes", *rest])
        path.write_text("\n".join(lines), encoding="utf8")
        result = invoke(*arguments)
        assert result.exit_code and "CRF493" in result.output
        assert path.read_text(encoding="utf8") == "\n".join(lines)


def test_checked_words_of_other_tokens_are_told(folder: Path, tmp_path: Path) -> None:
    """A pipeline that makes tokens of its own: none of the same number has the marks of others."""
    nlp = spacy.load(folder / "model")
    corpus = {"@readers": "spacy_crf.Corpus.v1", "path": "dev.tsv", "retokenize": True}
    nlp.config = nlp.config.merge({"corpora": {"dev": corpus}, "training": {"dev_corpus": "corpora.dev"}})
    nlp.to_disk(tmp_path / "model")
    rows = [("he.", "A"), ("wen", "B"), ("de se", "C"), ("swimt", "D")]  # he, ., wen, de, se, swimt
    for length, warned in ((4, "2 of 4 checked"), (3, "2 of 3 checked"), (2, "1 of 2 checked")):
        table = "".join(f"{word}\t{tag}\tyes\n" for word, tag in rows[:length])
        (tmp_path / "a.tsv").write_text(f"# columns = form, tags, checked\n{table}", encoding="utf8")
        with pytest.warns(CRFWarning, match=f"CRFW496.*'a': {warned}"):
            run("annotate", tmp_path / "model", tmp_path / "a.tsv", "--output", tmp_path / str(length))
        (doc,) = Corpus(tmp_path / str(length) / "a.tsv").read_docs(nlp.vocab)
        found = {token.text: token.tag_ for token in doc if token.tag_}
        assert found == {word: tag for word, tag in rows[:length] if word in ("wen", "swimt")}


def test_what_was_written_before_is_not_read_again(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_text(f"# columns = form, tags\n{TEST}", encoding="utf8")
    arguments = ["annotate", folder / "model", tmp_path, "--output", tmp_path / "to_check"]
    run(*arguments)
    again = invoke(*arguments)
    assert again.exit_code and "CRF495" in again.output
    assert [path.name for path in (tmp_path / "to_check").rglob("*")] == ["a.tsv"]


class PageOfSets(Page):
    """A page, and how many of its words have several tags."""

    open_words = 0

    def handle_starttag(self, tag, attrs):
        super().handle_starttag(tag, attrs)
        self.open_words += {"word", "open"} <= set((dict(attrs).get("class") or "").split())


def test_a_page_to_read_is_whole_and_needs_nothing_else(folder: Path, tmp_path: Path) -> None:
    run(
        "annotate",
        folder / "model",
        folder / "test.tsv",
        "--format",
        "tagsets",
        "--to",
        "html",
        "--output",
        tmp_path,
    )
    text = (tmp_path / "test.html").read_text(encoding="utf8")
    Page(text)
    assert "http" not in text and "url(" not in text
    nlp = spacy.load(folder / "model")
    (doc,) = nlp.pipe([Doc(nlp.vocab, words=["he", "wen", "<se>", "&"])])
    text = render_page([doc])
    assert "&lt;se&gt;" in text and "&amp;" in text
    assert PageOfSets(text).open_words == sum(len(tags) > 1 for tags in doc._.tag_set) >= 1


def test_sets_on_top_of_another_tagger_are_measured(sourced: Path) -> None:
    options = ("--train", sourced / "train", "--format", "tagsets")
    found = json.loads(run("sets", sourced / "model", sourced / "test.tsv", *options, "--json"))
    assert found["tokens"] == 4 and found["labels"] == 4 and found["unknown_words"] == 0.25
    assert found["ml_acc_known"] == 1.0 and found["size"] > 1


@pytest.mark.parametrize("layout", ["tsv", "webanno", "html"])
def test_sets_on_top_of_another_tagger_are_written(sourced: Path, tmp_path: Path, layout: str) -> None:
    annotate(sourced, layout, tmp_path)
    (path,) = tmp_path.iterdir()
    nlp = spacy.load(sourced / "model")
    (doc,) = nlp.pipe([Doc(nlp.vocab, words=["he", "wen", "se", "swimt"])])
    assert any(len(tags) > 1 for tags in doc._.crf_test_sets)
    if layout == "html":
        page = PageOfSets(path.read_text(encoding="utf8"))
        assert page.open_words == sum(len(tags) > 1 for tags in doc._.crf_test_sets)
        return
    (read,) = Corpus(path, unchecked="soft").read_docs(nlp.vocab)
    assert [token.tag_ for token in read] == [token.tag_ for token in doc]
    if layout == "tsv":
        weights = [token._.crf_test_probs for token in doc]
        for row, tags, values in zip(read_gold_tags(read), doc._.crf_test_sets, weights):
            total = sum(values[tag] for tag in tags)
            assert row == pytest.approx({tag: values[tag] / total for tag in tags}, abs=0.01)


def test_empty_documents_make_an_empty_page() -> None:
    nlp = spacy.blank("xx")
    nlp.add_pipe("set_valued_tagger")
    Page(render_page([nlp.make_doc("")]))


def test_a_pipeline_without_sets_is_named(tmp_path: Path, folder: Path) -> None:
    spacy.blank("xx").to_disk(tmp_path)
    result = invoke("sets", tmp_path, folder / "test.tsv")
    assert result.exit_code == 1 and "CRF602" in result.output and "set_valued_tagger" in result.output
