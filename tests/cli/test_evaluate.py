"""`crf evaluate` on the saved pipelines of all components: its figures beside those of other libraries."""

import json
import re
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spacy
from contract.models import MODELS
from contract.snapshots import DATA
from helpers.commands import run
from helpers.folders import unpack_model
from helpers.paths import ROOT
from seqeval.metrics.sequence_labeling import precision_recall_fscore_support as score_entities
from sklearn.metrics import accuracy_score, precision_recall_fscore_support
from spacy.tokens import Doc, DocBin
from spacy.training import Example

from spacy_crf.cli.data import Data
from spacy_crf.lab.statistics import flatten
from spacy_crf.punctuation.docs import WordView, gold_labels

WITHOUT = {"sections_certified"}  # a share that is a proof's, not an estimate
PIPES = {"sourced": "crf_tagger"}
SETS = ROOT / "corpus" / "set_valued_tagger" / "dev"
GOLD = {"sets": SETS, "hierarchy": SETS}  # several documents


@pytest.fixture(scope="module")
def evaluated(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The JSON of a saved pipeline on its gold, and its examples as annotated; made once for each."""
    known: dict[str, tuple[dict[str, Any], list[Example], Any]] = {}

    def evaluate(name: str) -> tuple[dict[str, Any], list[Example], Any]:
        if name not in known:
            folder = tmp_path_factory.mktemp(name)
            unpack_model(name, folder / "model")
            gold, format = GOLD.get(name, DATA / "gold" / MODELS[name].gold["path"]), MODELS[name].gold.get("format")
            options = () if format is None else ("--format", format)
            train = () if name in ("sections", "punctuation") else ("--train", ROOT / "corpus" / MODELS[name].train)
            pipe = ("--component", PIPES[name]) if name in PIPES else ()
            run(
                "evaluate",
                folder / "model",
                gold,
                *options,
                *train,
                *pipe,
                "--intervals",
                "--output",
                folder / "out.json",
            )
            data, nlp = json.loads((folder / "out.json").read_text(encoding="utf8")), spacy.load(folder / "model")
            examples = Data(gold, format).examples(nlp, data["made_of"]["model"]["component"])
            done = nlp.pipe(example.predicted for example in examples)
            known[name] = data, [Example(doc, one.reference) for doc, one in zip(done, examples)], nlp
        return known[name]

    return evaluate


def macro(gold: list[str], found: list[str]) -> list[float]:
    return list(precision_recall_fscore_support(gold, found, average="macro", zero_division=0)[:3])


def bounds(intervals: dict[str, Any], path: tuple[str, ...] = ()) -> dict[tuple[str, ...], tuple[float, float]]:
    found: dict[tuple[str, ...], tuple[float, float]] = {}
    for name, value in intervals.items():
        found |= bounds(value, (*path, name)) if isinstance(value, dict) else {(*path, name): tuple(value)}
    return found


@pytest.mark.parametrize("name", sorted(MODELS))
def test_every_score_of_the_component_is_told_with_its_interval(evaluated: Any, name: str) -> None:
    data, examples, nlp = evaluated(name)
    scores = flatten(nlp.get_pipe(data["made_of"]["model"]["component"]).score(examples))
    scores = {path: value for path, value in scores.items() if path != ("crf_score",) and "confusions" not in path[0]}
    told = flatten(data["scores"])
    assert scores and {path: told[path] for path in scores} == pytest.approx(scores, abs=1e-6)
    intervals = bounds(data["intervals"])
    assert bool(intervals) == (data["counts"]["docs"] > 1)
    if not intervals:
        return
    assert list(intervals) == [path for path in told if path in intervals]  # so that files can be compared
    assert {path[0] for path in scores.keys() - intervals.keys()} <= WITHOUT
    assert all(low <= told[path] + 1e-6 and told[path] - 1e-6 <= high for path, (low, high) in intervals.items())


def test_tags(evaluated: Any) -> None:
    data, examples, _ = evaluated("tagger")
    pairs = [(g.tag_, p.tag_, p.text) for eg in examples for g, p in zip(eg.reference, eg.predicted)]
    gold, found, words = map(list, zip(*pairs))
    scores, labels = data["scores"], data["labels"]
    assert scores["tag_acc"] == pytest.approx(accuracy_score(gold, found), abs=1e-6)
    assert [scores[f"tag_macro_{x}"] for x in "prf"] == pytest.approx(macro(gold, found), abs=1e-6)
    names = sorted({*gold, *found})
    rows = zip(names, *precision_recall_fscore_support(gold, found, labels=names, zero_division=0))
    for name, precision, recall, f, support in rows:
        own = labels[name]
        assert (own["precision"], own["recall"], own["f"]) == pytest.approx((precision, recall, f), abs=1e-6)
        assert own["gold"] == support
    assert data["confusions"] == {
        name: dict(sorted(Counter(f for g, f in zip(gold, found) if g == name).items())) for name in sorted({*gold})
    }
    # known and unknown words, and the most frequent tag of each word, counted in plain Python
    tags: dict[str, Counter[str]] = defaultdict(Counter)
    for line in (ROOT / "corpus" / MODELS["tagger"].train).read_text(encoding="utf8").splitlines():
        cells = line.split("\t")
        if len(cells) == 10:
            tags[cells[1]][cells[4]] += 1
    unknown = [g == f for g, f, word in pairs if word not in tags]
    assert unknown and scores["tag_acc_unknown"] == pytest.approx(np.mean(unknown), abs=1e-6)
    assert scores["tag_acc_known"] == pytest.approx(np.mean([g == f for g, f, w in pairs if w in tags]), abs=1e-6)
    assert data["unknown_words"] == pytest.approx(len(unknown) / len(words), abs=1e-6)
    once = Counter(next(iter(own)) for own in tags.values() if own.total() == 1).most_common(1)[0][0]
    guesses = [tags[word].most_common(1)[0][0] if word in tags else once for word in words]
    assert scores["tag_acc_most_frequent"] == pytest.approx(accuracy_score(gold, guesses), abs=1e-6)


def test_entities(evaluated: Any) -> None:
    data, examples, _ = evaluated("entities")
    sides = [
        [[f"{t.ent_iob_}-{t.ent_type_}" if t.ent_type_ else "O" for t in doc] for doc in docs]
        for docs in zip(*((eg.reference, eg.predicted) for eg in examples))
    ]
    expected = score_entities(*sides, average="micro")[:3]
    assert [data["scores"][f"ents_{name}"] for name in "prf"] == pytest.approx(expected, abs=1e-6)
    low, high = data["intervals"]["ents_f"]
    assert low <= data["scores"]["ents_f"] <= high and low < high


def test_sets(evaluated: Any) -> None:
    data, examples, _ = evaluated("sets")
    rows = [
        (token._.gold_tags or {gold.tag_: 1.0}, set(own._.tag_set))
        for eg in examples
        for token, gold, own in zip(eg.reference, eg.reference, eg.predicted)
    ]
    covered = [any(gold[tag] == max(gold.values()) for tag in gold if tag in chosen) for gold, chosen in rows]
    assert data["scores"]["set_size"] == pytest.approx(np.mean([len(chosen) for _, chosen in rows]), abs=1e-6)
    assert data["scores"]["set_coverage"] == pytest.approx(np.mean(covered), abs=1e-6)
    assert {"ml_acc_known", "ml_util_unknown", "tag_ece", "tag_classwise_ece"} <= data["scores"].keys()
    assert {"ml_acc", "ml_util", "set_size", "set_coverage", "ml_acc_unknown"} <= data["intervals"].keys()


def test_fields(evaluated: Any) -> None:
    data, examples, _ = evaluated("references")
    gold, found = (
        [token.ent_type_ or "O" for doc in docs for token in doc]
        for docs in zip(*((eg.reference, eg.predicted) for eg in examples))
    )
    scores = data["scores"]
    assert scores["tok_acc"] == scores["field_micro_f"] == pytest.approx(accuracy_score(gold, found), abs=1e-6)
    assert [scores[f"field_macro_{x}"] for x in "prf"] == pytest.approx(macro(gold, found), abs=1e-6)
    whole = [
        [(e.start, e.end, e.label_) for e in eg.reference.ents]
        == [(e.start, e.end, e.label_) for e in eg.predicted.ents]
        for eg in examples
    ]
    assert scores["whole_doc_acc"] == pytest.approx(np.mean(whole), abs=1e-6)
    assert {"whole_doc_acc", "tok_acc", "macro_f", "ents_f", "certified"} <= data["intervals"].keys()


def test_sections(evaluated: Any) -> None:
    data, _, _ = evaluated("sections")
    gold, found = zip(
        *((g, f) for g, row in data["confusions"].items() for f, n in row.items() for _ in range(n) if g != "NEWLINE")
    )
    assert data["scores"]["elements_acc"] == pytest.approx(accuracy_score(gold, found), abs=1e-6)
    names = ["NR", "SECTION_TITLE", "TEXT_BLOCK"]
    for name, f in zip(names, precision_recall_fscore_support(gold, found, labels=names, zero_division=0)[2]):
        assert data["scores"]["elements_f_per_type"][name]["f"] == pytest.approx(f, abs=1e-6)
        assert data["labels"][name]["f"] == pytest.approx(f, abs=1e-6)
    kinds = {"parseval_f", "parseval_mean_f", "parseval_crossing", "sections_level_acc", "sections_steds"}
    assert kinds <= data["scores"].keys() and kinds <= data["intervals"].keys()


def test_marks(evaluated: Any) -> None:
    data, examples, nlp = evaluated("punctuation")
    scores = data["scores"]
    gold, found = zip(*((g, f) for g, row in data["confusions"].items() for f, n in row.items() for _ in range(n)))
    marks = sorted({*gold, *found} - {"O"})
    micro = precision_recall_fscore_support(gold, found, labels=marks, average="micro", zero_division=0)[:3]
    means = precision_recall_fscore_support(gold, found, labels=marks, average="macro", zero_division=0)[:3]
    assert [scores[f"punct_{x}"] for x in "prf"] == pytest.approx(micro, abs=1e-6)
    assert [scores[f"punct_macro_{x}"] for x in "prf"] == pytest.approx(means, abs=1e-6)
    cases = scores["case_per_type"]
    assert scores["word_acc"] == pytest.approx(accuracy_score(gold, found), abs=1e-6)
    assert all(0 <= own[x] <= 1 for own in cases.values() for x in "prf") and "lower" in cases
    # the expected calibration error of the most probable mark, in ten bins; words are tokens here
    scheme = nlp.get_pipe("punctuation_restorer").label_scheme
    tops = []
    for example in examples:
        words = WordView.of(example.predicted, scheme).last_tokens.tolist()
        for label, place in zip(gold_labels(example, scheme), words):
            told = example.predicted[place]._.punct_probs
            top = max(told, key=told.get)
            tops.append((told[top], top == ("" if label.mark == "O" else label.mark)))
    bins = defaultdict(list)
    for top, right in tops:
        bins[min(int(top * 10), 9)].append((top, right))
    error = sum(abs(sum(p for p, _ in own) - sum(right for _, right in own)) for own in bins.values()) / len(tops)
    assert scores["mark_ece"] == pytest.approx(error, abs=2e-3) and 0 < scores["mark_classwise_ece"] < 1


def test_unknown_words_of_a_restorer_are_bare_ones(evaluated: Any, tmp_path: Path) -> None:
    _, examples, nlp = evaluated("punctuation")
    nlp.to_disk(tmp_path / "model")
    gold = DATA / "gold" / "punctuation.txt"
    (tmp_path / "train.txt").write_text("Well, where were you?\nI waited until noon.\n", encoding="utf8")
    known = {"well", "where", "were", "you", "i", "waited", "until", "noon"}
    tokens = [token.text for example in examples for token in example.predicted]
    for train, words in ((tmp_path / "train.txt", known), (gold, set(tokens))):
        data = json.loads(run("evaluate", tmp_path / "model", gold, "--train", train, "--json"))
        assert data["unknown_words"] == pytest.approx(np.mean([one not in words for one in tokens]), abs=1e-6)
        assert data["counts"]["tokens_trained_on"] == (len(known) if train != gold else len(tokens))
    run("report", tmp_path / "model", gold, "--train", gold, "--output", tmp_path / "report.html")


def test_the_file_tells_what_it_was_made_of_and_is_the_same_again(tmp_path: Path) -> None:
    unpack_model("tagger", tmp_path / "model")
    gold = DATA / "gold" / "tagger.conllu"
    read = []
    for name in ("one", "two"):
        run("evaluate", tmp_path / "model", gold, "--intervals", "--output", tmp_path / "new" / f"{name}.json")
        read.append(json.loads((tmp_path / "new" / f"{name}.json").read_text(encoding="utf8")))
    for data in read:
        assert data.pop("speed")["tokens_per_second"] > 0
    assert json.dumps(read[0]) == json.dumps(read[1])
    made_of = read[0]["made_of"]
    assert made_of["data"] == "tagger.conllu" and "train" not in made_of and made_of["libraries"]["spacy"]
    assert made_of["model"]["component"] == "crf_tagger" and made_of["model"]["bytes"] > 1000
    assert str(tmp_path) not in json.dumps(read[0]) and "unknown_words" not in read[0]
    counts = read[0]["counts"]
    assert counts["documents"] <= counts["docs"] < counts["tokens"]


def test_one_document_has_no_intervals(tmp_path: Path) -> None:
    unpack_model("sets", tmp_path / "model")
    out = run("evaluate", tmp_path / "model", DATA / "gold" / "sets.tsv", "--format", "tagsets", "--intervals")
    assert "There are no intervals" in out and "95 %" not in out


def test_labels_of_tokens_have_their_table_beside_entities_of_another_component(tmp_path: Path) -> None:
    unpack_model("tagger", tmp_path / "model")
    nlp = spacy.load(tmp_path / "model")
    nlp.add_pipe("entity_ruler").add_patterns([{"label": "PLACE", "pattern": "Riga"}])
    nlp.to_disk(tmp_path / "model")
    words, tags, ents = ["The", "boat", "left", "Riga"], ["DT", "NN", "VBD", "NNP"], ["O", "O", "O", "B-PLACE"]
    DocBin(docs=[Doc(nlp.vocab, words, tags=tags, ents=ents)], store_user_data=True).to_disk(tmp_path / "gold.spacy")
    out = run("evaluate", tmp_path / "model", tmp_path / "gold.spacy", "--component", "crf_tagger")
    assert "ents_per_type" in out and "most frequent of" in out and re.search(r"^VBD +1 +[0-9]", out, re.MULTILINE)
    run("report", tmp_path / "model", tmp_path / "gold.spacy", "--output", tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text(encoding="utf8")
    assert "By label: ents_per_type" in page and re.search(r"By label</h[1-6]>", page)


def test_data_without_gold_are_refused(tmp_path: Path) -> None:
    unpack_model("tagger", tmp_path / "model")
    (tmp_path / "bare.tsv").write_text("the\nboat\n\nleft\n", encoding="utf8")
    out = run("evaluate", tmp_path / "model", tmp_path / "bare.tsv", "--columns", "word", code=1)
    assert "CRF623" in out and "bare.tsv" in out


def test_the_old_name_is_hidden(tmp_path: Path) -> None:
    unpack_model("tagger", tmp_path / "model")
    assert "tag_acc" in run("score", tmp_path / "model", DATA / "gold" / "tagger.conllu")
    listed = [line.split()[0] for line in run("--help").splitlines() if line.startswith("  ") and line.strip()]
    assert "evaluate" in listed and "score" not in listed
