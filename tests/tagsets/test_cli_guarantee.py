"""`crf guarantee`: promises on held-out data, and pipelines that keep them."""

import json
import re
import warnings
from pathlib import Path

import numpy as np
import pytest
import spacy
from helpers.commands import invoke, run
from helpers.networks import CNN
from spacy.tokens import Doc
from spacy.training import Example

from spacy_crf.annotation.gold import write_gold_tags
from spacy_crf.core.errors import CRFWarning
from spacy_crf.core.sets.conformal import calibrate
from spacy_crf.tagsets.guarantee import (
    ConformalPromise,
    UnknownWords,
    conformal_sets,
    held_out_tokens,
    read_guarantee,
    read_strata,
    risk_control,
)

TAGS = ("A", "B", "C", "D")
LISTENER = {"@architectures": "spacy.Tok2VecListener.v1", "width": CNN["width"], "upstream": "*"}
Data = list[list[tuple[str, str]]]


def sentences(seed: int, n: int) -> Data:
    """Words of which each has its usual tag two times out of three, and the next one else."""
    rng = np.random.default_rng(seed)
    found = []
    for length in rng.integers(2, 9, n).tolist():
        numbers = rng.integers(0, 8, length)
        chosen = np.where(rng.random(length) < 2 / 3, numbers % 4, (numbers + 1) % 4)
        found.append([(f"w{number}", TAGS[tag]) for number, tag in zip(numbers, chosen)])
    return found


def examples(nlp, data: Data) -> list[Example]:
    found = []
    for sentence in data:
        words, tags = zip(*sentence)
        found.append(Example(Doc(nlp.vocab, words=words), Doc(nlp.vocab, words=words, tags=tags)))
    return found


@pytest.fixture(scope="module")
def model(tmp_path_factory) -> Path:
    nlp = spacy.blank("en")
    features = {"@misc": "spacy_crf.Features.v1", "templates": ["LOWER[0]"]}
    trainer = {"@misc": "spacy_crf.LBFGS.v1", "c2": 0.1}
    nlp.add_pipe("set_valued_tagger", config={"features": features, "trainer": trainer})
    train = examples(nlp, sentences(0, 300))
    nlp.initialize(lambda: train)
    for _ in range(3):
        nlp.update(train)
    path = tmp_path_factory.mktemp("model")
    nlp.to_disk(path)
    return path


@pytest.fixture(scope="module")
def held_out(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("data") / "held_out.tsv"
    blocks = ["\n".join("\t".join(pair) for pair in sentence) for sentence in sentences(1, 400)]
    path.write_text("\n\n".join(blocks) + "\n", encoding="utf8")
    return path


@pytest.fixture(scope="module")
def sourced(tmp_path_factory) -> Path:
    """The same data, sets on top of another tagger."""
    nlp = spacy.blank("en")
    nlp.add_pipe("hmm_tagger")
    nlp.add_pipe("set_valued_tagger", config={"source": "hmm_tagger"})
    train = examples(nlp, sentences(0, 300))
    nlp.initialize(lambda: train)
    nlp.update(train)
    path = tmp_path_factory.mktemp("sourced")
    nlp.to_disk(path)
    return path


def promise(*arguments: object):
    return invoke("guarantee", *arguments, "--columns", "word,tag")


def misses(folder: Path, data: Data) -> tuple[float, float, float]:
    """Share of tokens, mean share per sentence, and mean size of the sets that a saved pipeline gives."""
    nlp = spacy.load(folder)
    docs = nlp.pipe([Doc(nlp.vocab, words=[word for word, _ in sentence]) for sentence in data])
    missed = [
        [tag not in token._.tag_set for token, (_, tag) in zip(doc, sentence)] for doc, sentence in zip(docs, data)
    ]
    sizes = [len(tags) for doc in nlp.pipe(" ".join(w for w, _ in s) for s in data) for tags in doc._.tag_set]
    return (
        float(np.mean(np.concatenate(missed))),
        float(np.mean([np.mean(row) for row in missed])),
        float(np.mean(sizes)),
    )


def test_where_no_set_has_one_tag_none_of_these_is_right_or_wrong(model: Path, held_out: Path) -> None:
    asked = model, held_out, "--unit", "sentence", "--loss", "any", "--level", 0.003, "--levels", 0.003
    (row,) = json.loads(promise(*asked, "--json").stdout)["levels"]
    assert row["share_single"] == 0 and row["share_single_right"] is None
    assert re.search(r"99\.7 % +\S+ +0\.00 % *\n", promise(*asked).stdout)


@pytest.mark.parametrize(
    "options, unit",
    [
        (["--unit", "sentence"], "sentence"),
        (["--unit", "token"], "token"),
        (["--conformal"], "token"),
        (["--conformal", "--by-tag"], "token"),
        (["--conformal", "--score", "raps", "--penalty", "0.1", "--k-reg", "2"], "token"),
    ],
)
def test_what_is_promised_is_kept(model: Path, held_out: Path, tmp_path: Path, options: list[str], unit: str) -> None:
    result = promise(model, held_out, "--level", 0.1, "--output", tmp_path / "out", *options)
    assert result.exit_code == 0, result.output
    assert "level 0.1" in result.output and unit in result.output and "Mean size" in result.output
    tokens, shares, size = misses(tmp_path / "out", sentences(2, 400))
    assert (tokens if unit == "token" else shares) < 0.13
    assert 1 < size < 4


@pytest.mark.parametrize("options, unit", [(["--unit", "sentence"], "sentence"), (["--conformal"], "token")])
def test_sets_on_top_of_another_tagger_keep_a_promise(
    sourced: Path, held_out: Path, tmp_path: Path, options: list[str], unit: str
) -> None:
    result = promise(sourced, held_out, "--level", 0.1, "--output", tmp_path / "out", *options)
    assert result.exit_code == 0, result.output
    assert "level 0.1" in result.output and "of 4 tags" in result.output
    tokens, shares, size = misses(tmp_path / "out", sentences(2, 400))
    assert (tokens if unit == "token" else shares) < 0.13 and 1 < size < 4


def test_sentences_of_documents_are_units_of_their_own(sourced: Path, model: Path) -> None:
    for folder in (sourced, model):
        nlp = spacy.load(folder)
        words = ["w1", "w2", "w3", "w4", "w5"]
        starts = [True, False, True, False, False]
        gold = Doc(nlp.vocab, words=words, tags=["A"] * 5, sent_starts=starts)
        given = [Example(Doc(nlp.vocab, words=words, sent_starts=starts), gold)] * 2
        found = held_out_tokens(nlp.get_pipe("set_valued_tagger"), given)
        assert found.sentences.tolist() == [0, 0, 1, 1, 1, 2, 2, 3, 3, 3]
        assert found.documents.tolist() == [0] * 5 + [1] * 5


def test_a_sentence_without_a_miss_is_promised(model: Path, held_out: Path, tmp_path: Path) -> None:
    result = promise(model, held_out, "--level", 0.2, "--unit", "sentence", "--loss", "any", "--output", tmp_path)
    assert result.exit_code == 0 and "The probability that a sentence has a token" in " ".join(result.output.split())
    data = sentences(3, 600)
    found = sets_of(tmp_path, data)
    missed = [any(tag not in tags for (_, tag), tags in zip(sentence, own)) for sentence, own in zip(data, found)]
    error = np.sqrt(0.2 * 0.8 * (1 / 600 + 1 / 400))
    assert 0.2 - 4 * error < np.mean(missed) < 0.2 + 3 * error


@pytest.mark.parametrize("options", [["--unit", "sentence"], ["--conformal"]])
def test_a_table_tells_what_each_level_takes(model: Path, held_out: Path, options: list[str]) -> None:
    result = promise(model, held_out, *options, "--level", 0.3, "--levels", "0.05,0.0001")
    assert result.exit_code == 0, result.output
    assert re.search(r"level +promised +tags in a set +one tag +right of these", result.output)
    assert re.search(r"\n +0.05 +95 % .*\n +0.3 +70 % ", result.output) and "CRF818" in result.output, result.output
    as_data = promise(model, held_out, *options, "--levels", "0.3,0.1,0.0001", "--json")
    told = json.loads(as_data.stdout)
    assert "CRF818" in as_data.stderr, "what is left out of the data is told beside them"
    by_default = promise(model, held_out, *options, "--json")  # which asks for no level in particular
    assert by_default.stderr == "" and json.loads(by_default.stdout)["levels"]
    sizes = [one["size"] for one in told["levels"]]
    singles = [one["share_single"] for one in told["levels"]]
    assert [one["level"] for one in told["levels"]] == [0.05, 0.1, 0.3] and told["level"] == 0.05
    assert sizes == sorted(sizes, reverse=True) and singles == sorted(singles) and sizes[0] > 1 > singles[0]


def test_a_lower_level_makes_larger_sets(model: Path, held_out: Path, tmp_path: Path) -> None:
    sizes = []
    for level in (0.3, 0.1, 0.02):
        assert promise(model, held_out, "--level", level, "--unit", "sentence", "--output", tmp_path).exit_code == 0
        sizes.append(misses(tmp_path, sentences(2, 50))[2])
    assert sizes == sorted(sizes) and sizes[0] < sizes[-1]


@pytest.mark.parametrize("command", [["guarantee", "--level", "0.1", "--unit", "sentence"], ["calibrate"]])
def test_scores_with_other_sets_are_not_told(model: Path, held_out: Path, tmp_path: Path, command: list[str]) -> None:
    nlp = spacy.load(model)
    nlp.meta["performance"] = {"ml_util": 0.25}
    nlp.to_disk(tmp_path / "model")
    files = [str(tmp_path / "model"), str(held_out), "--columns", "word,tag", "--output", str(tmp_path / "out")]
    run(command[0], *files, *command[1:])
    assert not spacy.load(tmp_path / "out").meta.get("performance")


def test_the_unit_of_a_document_needs_many_of_them(model: Path, held_out: Path, tmp_path: Path) -> None:
    result = promise(model, held_out, "--level", 0.001)
    assert result.exit_code == 1 and "CRF818" in result.output and "document" in result.output


@pytest.mark.parametrize("command", ["guarantee", "calibrate"])
def test_data_of_training_are_told(model: Path, held_out: Path, tmp_path: Path, command: str) -> None:
    nlp = spacy.load(model)
    trained = tmp_path / "model"
    for path, is_told in ((held_out, True), (held_out.parent, True), (tmp_path, False)):
        nlp.config["corpora"]["train"]["path"] = str(path)
        nlp.to_disk(trained)
        more = ["--unit", "sentence"] if command == "guarantee" else []
        result = invoke(command, trained, held_out, "--columns", "word,tag", *more)
        assert result.exit_code == 0, result.output
        assert ("CRFW696" in result.output) == is_told


@pytest.mark.parametrize("command", ["guarantee", "calibrate"])
def test_pipelines_whose_corpora_have_one_reader(model: Path, held_out: Path, tmp_path: Path, command: str) -> None:
    """As spaCy documents them: the corpora have no blocks of their own."""
    nlp = spacy.load(model)
    nlp.config["corpora"] = {"@readers": "own.Corpora.v1", "folder": "corpora"}
    nlp.to_disk(tmp_path / "model")
    more = ["--unit", "sentence"] if command == "guarantee" else []
    result = invoke(command, tmp_path / "model", held_out, "--columns", "word,tag", *more)
    assert result.exit_code == 0 and "CRFW696" not in result.output, result.output


def test_gold_that_the_tagger_does_not_know_is_told(model: Path, tmp_path: Path) -> None:
    data = [*sentences(1, 300), [("w1", "NEW"), ("w2", "C")]]
    path = tmp_path / "data.tsv"
    path.write_text("\n\n".join("\n".join("\t".join(pair) for pair in s) for s in data) + "\n", encoding="utf8")
    result = promise(model, path, "--level", 0.1, "--unit", "token")
    assert result.exit_code == 0 and "1 tokens are missed whatever their sets" in result.output
    many = [*sentences(1, 300), *[[("w1", "NEW"), ("w2", "C")]] * 200]
    path.write_text("\n\n".join("\n".join("\t".join(pair) for pair in s) for s in many) + "\n", encoding="utf8")
    for more in (["--unit", "token"], ["--unit", "sentence"], ["--conformal"]):
        refused = promise(model, path, "--level", 0.05, *more)
        assert refused.exit_code == 1 and "CRF824" in refused.output


def test_a_token_whose_best_tag_is_unknown_is_missed_whatever_else_is_right(model: Path) -> None:
    nlp = spacy.load(model)
    (tagger,) = (nlp.get_pipe(name) for name in nlp.pipe_names)
    doc = Doc(nlp.vocab, words=["w1", "w2"])
    write_gold_tags(doc, [{"NEW": 0.66, tagger.labels[0]: 0.34}, {"NEW": 1.0}])
    held_out = held_out_tokens(tagger, [Example(Doc(nlp.vocab, words=["w1", "w2"]), doc)])
    assert held_out.marginals.shape == (2, len(tagger.labels)) and held_out.weights.shape == (2, len(tagger.labels) + 1)
    assert held_out.unknown == 1 and held_out.weights[0, [0, -1]].tolist() == pytest.approx([0.34, 0.66])
    scores = calibrate(held_out.marginals, held_out.weights)
    assert np.isinf(np.concatenate(scores.samples)).tolist() == [True, True]


def test_weighted_gold_is_covered_by_its_best_tag(model: Path) -> None:
    nlp = spacy.load(model)
    given = examples(nlp, sentences(1, 60))
    for example in given:
        rows = [{token.tag_: 0.75, "D": 0.25} if token.tag_ != "D" else {"D": 1.0} for token in example.reference]
        write_gold_tags(example.reference, rows)
    found = held_out_tokens(nlp.get_pipe("set_valued_tagger"), given)
    assert found.unknown == 0 and set(np.unique(found.weights)) == {0.0, 0.25, 0.75, 1.0}
    lengths = [len(example.predicted) for example in given]
    assert np.bincount(found.documents).tolist() == np.bincount(found.sentences).tolist() == lengths
    sets = conformal_sets(found, 0.1).predict(found.marginals, found.tokens)
    assert (sets & (found.weights > 0.5)).any(axis=1).mean() >= 0.9
    assert risk_control(found, 0.1, "document").risk <= 0.1


# -- groups and randomness ---------------------------------------------------------------------------------------


def sets_of(folder: Path, data: Data, batch_size: int = 100) -> list[list[list[str]]]:
    nlp = spacy.load(folder)
    docs = nlp.pipe((Doc(nlp.vocab, words=[w for w, _ in s]) for s in data), batch_size=batch_size)
    return [doc._.tag_set for doc in docs]


def test_a_promise_for_unknown_words_is_kept_for_them(model: Path, held_out: Path, tmp_path: Path) -> None:
    train, out = tmp_path / "train.tsv", tmp_path / "out"
    rows = [f"w{number}\tA\n" for number in range(4)] * 2 + ["w4\tA\n"]
    train.write_text("\n".join(rows), encoding="utf8")
    options = ("--conformal", "--by", "unknown", "--train", train, "--min-count", 2, "--level", 0.1)
    result = promise(model, held_out, *options, "--output", out)
    assert result.exit_code == 0, result.output
    assert "The groups are: known words, unknown words." in " ".join(result.output.split())
    stored = spacy.util.load_config(out / "config.cfg")["components"]["set_valued_tagger"]["guarantee"]
    known = UnknownWords.of_words(["w0", "w1", "w2", "w3"])
    assert read_strata(stored["by"]) == known and stored["strata"] == [0, 1]
    data = sentences(2, 600)
    hits: dict[bool, list[bool]] = {True: [], False: []}
    for sentence, found in zip(data, sets_of(out, data)):
        for (word, tag), tags in zip(sentence, found):
            hits[word in ("w0", "w1", "w2", "w3")].append(tag in tags)
    assert all(0.87 < np.mean(values) < 0.95 for values in hits.values()), {k: np.mean(v) for k, v in hits.items()}


def test_words_that_mean_something_in_a_config_stay_known(model: Path, held_out: Path, tmp_path: Path) -> None:
    words = ["$", "$5", "$$", "US$", "${w5}", "${", "%", "w0", "w1", "1", "true", "null", "[", "a,b", "@misc"]
    train, out = tmp_path / "train.tsv", tmp_path / "out"
    train.write_text("".join(f"{word}\tA\n\n" for word in words), encoding="utf8")
    options = ("--conformal", "--by", "unknown", "--train", train, "--level", 0.1)
    result = promise(model, held_out, *options, "--output", out)
    assert result.exit_code == 0, result.output
    for folder in (out, tmp_path / "again"):
        nlp = spacy.load(folder)
        made = read_guarantee("", nlp.get_pipe("set_valued_tagger").cfg["guarantee"])
        assert isinstance(made, ConformalPromise) and made.by == UnknownWords.of_words(words)
        nlp.to_disk(tmp_path / "again")


def test_a_promise_by_sequence_length(model: Path, held_out: Path, tmp_path: Path) -> None:
    options = ("--conformal", "--by", "length", "--edges", "3,5", "--level", 0.1, "--output", tmp_path / "out")
    result = promise(model, held_out, *options)
    assert result.exit_code == 0, result.output
    text = " ".join(result.output.split())
    assert "The groups are: sequences of 1 to 3, sequences of 4 to 5, sequences of 6 or more." in text
    data = sentences(2, 900)
    hits: dict[int, list[bool]] = {0: [], 1: [], 2: []}
    for sentence, found in zip(data, sets_of(tmp_path / "out", data)):
        group = (len(sentence) > 3) + (len(sentence) > 5)
        hits[group] += [tag in tags for (_, tag), tags in zip(sentence, found)]
    assert all(0.86 < np.mean(values) < 0.95 for values in hits.values())


def test_groups_with_too_few_tokens_are_told(model: Path, held_out: Path) -> None:
    result = promise(model, held_out, "--conformal", "--by", "length", "--edges", "1,8", "--level", 0.05)
    assert result.exit_code == 0 and "Too few" not in result.output  # there are no sequences of one token
    result = promise(model, held_out, "--conformal", "--by", "length", "--edges", "2,8", "--level", 0.005)
    text = " ".join(result.output.split())
    assert "these groups share the quantile of all tokens" in text and "sequences of 1 to 2 (" in text


def test_randomised_sets_are_the_same_for_the_same_text(model: Path, held_out: Path, tmp_path: Path) -> None:
    data, found = sentences(2, 200), {}
    for seed in (0, 1):
        options = ("--conformal", "--score", "aps", "--randomised", "--seed", seed, "--level", 0.1)
        result = promise(model, held_out, *options, "--output", tmp_path / str(seed))
        assert result.exit_code == 0 and f"seed {seed}" in " ".join(result.output.split()), result.output
        found[seed] = sets_of(tmp_path / str(seed), data)
    assert found[0] != found[1]
    assert found[0] == sets_of(tmp_path / "0", data, batch_size=3) == sets_of(tmp_path / "0", data[::-1])[::-1]
    hits = [tag in tags for s, own in zip(data, found[0]) for (_, tag), tags in zip(s, own)]
    assert 0.86 < np.mean(hits) < 0.94
    assert promise(model, held_out, "--conformal", "--score", "aps", "--output", tmp_path / "plain").exit_code == 0
    size = {
        name: np.mean([len(tags) for own in sets_of(tmp_path / name, data) for tags in own]) for name in ("0", "plain")
    }
    assert size["0"] < size["plain"]


@pytest.mark.parametrize(
    "options, code",
    [
        (["--by", "length", "--edges", "3"], "CRF639.*--by goes with --conformal"),
        (["--by-tag"], "CRF639.*--by-tag goes with --conformal"),
        (["--randomised"], "CRF639.*--randomised goes with --conformal"),
        (["--conformal", "--by", "length", "--edges", "3", "--by-tag"], "CRF639.*--by-tag"),
        (["--conformal", "--by", "unknown"], "CRF639.*--train"),
        (["--conformal", "--by", "length"], "CRF639.*--edges"),
        (["--conformal", "--edges", "3"], "CRF639.*--by length"),
        (["--conformal", "--min-count", "3"], "CRF639.*--by unknown"),
        (["--conformal", "--by", "length", "--edges", "3,2"], "CRF819.*edges"),
        (["--conformal", "--by", "length", "--edges", "a"], "CRF607.*edges"),
        (["--conformal", "--by", "length", "--edges", "2.5"], "CRF607.*edges"),
        (["--conformal", "--randomised"], "CRF819.*randomised"),
        (["--conformal", "--unit", "document"], "CRF639.*--unit goes with promises without --conformal"),
        (["--conformal", "--unit", "sentence"], "CRF639.*--unit"),
        (["--conformal", "--loss", "share"], "CRF639.*--loss"),
        (["--score", "aps"], "CRF639.*--score goes with --conformal"),
        (["--conformal", "--score", "aps", "--penalty", "0.1"], "CRF639.*--penalty"),
        (["--conformal", "--k-reg", "2"], "CRF639.*--k-reg"),
        (["--conformal", "--seed", "3"], "CRF639.*--seed goes with --randomised"),
        (["--conformal", "--full"], "CRF639.*--full goes with --by-tag or --by"),
        (["--train", "nowhere.tsv"], "CRF639.*--train"),
    ],
)
def test_options_that_would_do_nothing_are_refused(model: Path, held_out: Path, options: list[str], code: str) -> None:
    result = promise(model, held_out, *options)
    assert result.exit_code == 1 and re.search(code, " ".join(result.output.split())), result.output


def test_a_document_is_what_has_one_name(model: Path, tmp_path: Path) -> None:
    """Sentences of a file that marks no documents are parts of one; promises about documents take that for one unit."""
    for number in range(20):
        blocks = ["\n".join("\t".join(pair) for pair in sentence) for sentence in sentences(number, 6)]
        (tmp_path / f"{number}.tsv").write_text("\n\n".join(blocks) + "\n", encoding="utf8")
    result = promise(model, tmp_path, "--level", 0.1)
    assert "n = 20 calibration documents" in " ".join(result.output.split()), result.output
    result = promise(model, tmp_path, "--level", 0.1, "--unit", "sentence")
    assert "n = 120 calibration sentences" in " ".join(result.output.split()), result.output
    result = promise(model, tmp_path / "0.tsv", "--level", 0.1)
    assert result.exit_code == 1 and "[CRF818]" in result.output


# -- a promise belongs to a model ---------------------------------------------------------------------------------


def text(nlp) -> Doc:
    return Doc(nlp.vocab, words=["w1", "w2"])


@pytest.mark.parametrize("folder, name", [("model", "set_valued_tagger"), ("sourced", "hmm_tagger")])
def test_a_promise_tells_when_the_model_is_another(
    request, held_out: Path, tmp_path: Path, folder: str, name: str
) -> None:
    out = tmp_path / "out"
    assert (
        promise(request.getfixturevalue(folder), held_out, "--level", 0.1, "--unit", "token", "--output", out).exit_code
        == 0
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error", CRFWarning)
        nlp = spacy.load(out)
        nlp(text(nlp))
        nlp.to_disk(tmp_path / "again")  # stored and loaded, it is the same model
        nlp = spacy.load(tmp_path / "again")
        nlp(text(nlp))
    train = examples(nlp, sentences(5, 50))
    nlp.get_pipe(name).update(train, sgd=nlp.resume_training())
    nlp.to_disk(tmp_path / "further")
    nlp = spacy.load(tmp_path / "further")
    with pytest.warns(CRFWarning, match="CRFW448.*set_valued_tagger"):
        nlp(text(nlp))
    with warnings.catch_warnings():
        warnings.simplefilter("error", CRFWarning)
        nlp(text(nlp))  # once is enough


def test_a_promise_tells_of_training_and_of_a_temperature_while_it_is_used(
    model: Path, held_out: Path, tmp_path: Path
) -> None:
    assert promise(model, held_out, "--level", 0.1, "--unit", "token", "--output", tmp_path).exit_code == 0
    nlp = spacy.load(tmp_path)
    nlp(text(nlp))
    nlp.get_pipe("set_valued_tagger").cfg["temperature"] = 0.5
    with pytest.warns(CRFWarning, match="CRFW448"):
        nlp(text(nlp))
    nlp = spacy.load(tmp_path)
    nlp(text(nlp))
    nlp.update(examples(nlp, sentences(5, 50)), sgd=nlp.resume_training())
    with pytest.warns(CRFWarning, match="CRFW448"):
        nlp(text(nlp))


def test_a_promise_made_anew_takes_the_place_of_settings_that_were_assigned(
    model: Path, held_out: Path, tmp_path: Path
) -> None:
    assert promise(model, held_out, "--level", 0.1, "--unit", "token", "--output", tmp_path / "first").exit_code == 0
    nlp = spacy.load(tmp_path / "first")
    nlp.get_pipe("set_valued_tagger").cfg["method"] = "utility"
    nlp.to_disk(tmp_path / "first")
    arguments = (tmp_path / "first", held_out, "--level", 0.2, "--unit", "token", "--output", tmp_path / "second")
    assert promise(*arguments).exit_code == 0
    cfg = spacy.load(tmp_path / "second").get_pipe("set_valued_tagger").cfg
    assert cfg["method"] == "guarantee" and cfg["guarantee"]["level"] == 0.2


@pytest.mark.parametrize("setting", [{"sequence": "doc"}, {"forbidden": [["A", "B"]]}], ids=str)
def test_a_promise_tells_of_settings_that_change_probabilities(
    model: Path, held_out: Path, tmp_path: Path, setting: dict
) -> None:
    assert promise(model, held_out, "--level", 0.1, "--unit", "token", "--output", tmp_path).exit_code == 0
    nlp = spacy.load(tmp_path, config={"components": {"set_valued_tagger": setting}})
    with pytest.warns(CRFWarning, match="CRFW448"):
        nlp(text(nlp))


@pytest.mark.parametrize(
    "setting", [{"smoothing": 50.0}, {"suffix_length": 0}, {"order": 3}, {"sequence": "doc"}], ids=str
)
def test_a_promise_tells_of_settings_of_its_source(
    sourced: Path, held_out: Path, tmp_path: Path, setting: dict
) -> None:
    assert promise(sourced, held_out, "--level", 0.1, "--unit", "token", "--output", tmp_path).exit_code == 0
    nlp = spacy.load(tmp_path, config={"components": {"hmm_tagger": setting}})
    with pytest.warns(CRFWarning, match="CRFW448"):
        nlp(text(nlp))


def test_a_promise_tells_that_its_source_has_counted_more(sourced: Path, held_out: Path, tmp_path: Path) -> None:
    assert promise(sourced, held_out, "--level", 0.1, "--unit", "token", "--output", tmp_path).exit_code == 0
    nlp = spacy.load(tmp_path)
    nlp(text(nlp))
    nlp.update(examples(nlp, sentences(5, 50)))
    with pytest.warns(CRFWarning, match="CRFW448"):
        nlp(text(nlp))


@pytest.mark.parametrize("source", [None, "tagger"])
def test_a_promise_tells_that_shared_vectors_are_others(source: str | None, held_out: Path, tmp_path: Path) -> None:
    nlp = spacy.blank("xx")
    nlp.add_pipe("tok2vec", config={"model": CNN})
    nlp.add_pipe("tagger", config={"model": {"@architectures": "spacy.Tagger.v2", "tok2vec": LISTENER}})
    own = (
        {"source": source} if source else {"model": {"@architectures": "spacy_crf.LinearChain.v1", "tok2vec": LISTENER}}
    )
    nlp.add_pipe("set_valued_tagger", config=own)
    train = examples(nlp, sentences(5, 50))
    nlp.update(train, sgd=nlp.initialize(lambda: train))
    nlp.to_disk(tmp_path / "model")
    assert promise(tmp_path / "model", held_out, "--level", 0.1, "--unit", "token", "--output", tmp_path).exit_code == 0
    nlp = spacy.load(tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("error", CRFWarning)
        nlp(text(nlp))
        list(nlp.pipe([text(nlp)] * 2, n_process=2, batch_size=1))
    for node in nlp.get_pipe("tok2vec").model.walk():
        for name in node.param_names:
            if node.has_param(name):
                node.set_param(name, node.get_param(name) * 2)
    nlp.to_disk(tmp_path / "other")
    nlp = spacy.load(tmp_path / "other")
    with pytest.warns(CRFWarning, match="CRFW448"):
        nlp(text(nlp))


def test_calibration_does_not_break_a_promise(model: Path, held_out: Path, tmp_path: Path) -> None:
    assert promise(model, held_out, "--level", 0.1, "--unit", "token", "--output", tmp_path / "out").exit_code == 0
    arguments = ["calibrate", str(tmp_path / "out"), str(held_out), "--columns", "word,tag"]
    assert "CRF448" in run(*arguments, "--output", tmp_path / "sure", code=1) and not (tmp_path / "sure").exists()
    assert invoke(*arguments).exit_code == 0


def test_calibration_does_not_break_the_promise_of_another_component(held_out: Path, tmp_path: Path) -> None:
    nlp = spacy.blank("en")
    features = {"@misc": "spacy_crf.Features.v1", "templates": ["LOWER[0]"]}
    nlp.add_pipe("crf_tagger", config={"features": features})
    nlp.add_pipe("set_valued_tagger", config={"source": "crf_tagger"})
    train = examples(nlp, sentences(0, 300))
    optimizer = nlp.initialize(lambda: train)
    nlp.update(train, sgd=optimizer)
    nlp.to_disk(tmp_path / "model")
    assert (
        promise(tmp_path / "model", held_out, "--level", 0.1, "--unit", "token", "--output", tmp_path / "out").exit_code
        == 0
    )
    arguments = [str(tmp_path / "out"), str(held_out), "--columns", "word,tag", "--output", str(tmp_path / "sure")]
    assert re.search("CRF448.*crf_tagger", " ".join(run("calibrate", *arguments, code=1).split()))
