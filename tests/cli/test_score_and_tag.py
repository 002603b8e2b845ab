"""`crf score` and `crf tag` on a pipeline trained in the test."""

import json

import pytest
import spacy
from helpers.commands import invoke, run
from spacy.training import Example

TRAIN = """the DT
can NN
leaks VBZ

they PRP
can MD
swim VB

the DT
swim NN

they PRP
can MD
leak VB

he PRP
can MD
"""
DEV = """they PRP
can MD
swim VB

the DT
can NN
leaks VBZ
"""


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    nlp = spacy.blank("en")
    features = {"@misc": "spacy_crf.Features.v1", "templates": ["LOWER[-1..1]"]}
    nlp.add_pipe("crf_tagger", config={"features": features, "trainer": {"@misc": "spacy_crf.LBFGS.v1", "c2": 0.05}})
    examples = []
    for block in TRAIN.strip().split("\n\n"):
        words, tags = zip(*(line.split() for line in block.splitlines()))
        reference = spacy.tokens.Doc(nlp.vocab, words=list(words), tags=list(tags))
        examples.append(Example(spacy.tokens.Doc(nlp.vocab, words=list(words)), reference))
    optimizer = nlp.initialize(lambda: examples)
    for _ in range(3):
        nlp.update(examples, sgd=optimizer)
    path = tmp_path_factory.mktemp("model")
    nlp.to_disk(path)
    return path


def test_score_beside_the_baseline(model, tmp_path):
    for name, text in (("train.tsv", TRAIN), ("dev.tsv", DEV)):
        (tmp_path / name).write_text(text.replace(" ", "\t"))
    columns = ["--columns", "word,tag"]
    output = run("evaluate", model, tmp_path / "dev.tsv", *columns, "--train", tmp_path / "train.tsv")
    lines = {line.rsplit(None, 1)[0].strip(): line.rsplit(None, 1)[1] for line in output.splitlines() if line}
    assert lines["tag_acc"] == "100.00"
    # "can" is MD more often, so the baseline misses its NN; of "swim" both tags come once, and the first one wins
    assert lines["tag_acc_most_frequent"] == "83.33"


def test_fields_are_scored_with_their_confusions(tmp_path):
    nlp = spacy.blank("xx")
    nlp.add_pipe("constrained_ner", config={"scheme": "none"})
    words = ["Lee", ":", "Ropes", ".", "1999"]
    gold = spacy.tokens.Doc(nlp.vocab, words=words, ents=["B-AUTHOR", "I-AUTHOR", "B-TITLE", "I-TITLE", "B-DATE"])
    examples = [Example(spacy.tokens.Doc(nlp.vocab, words=words), gold)]
    nlp.initialize(lambda: examples)
    nlp.update(examples, sgd=nlp.create_optimizer())
    nlp.get_pipe("constrained_ner").set_constraints(["at_most(AUTHOR, 0)", "at_most(DATE, 0)"])
    nlp.to_disk(tmp_path / "model")
    spacy.tokens.DocBin(docs=[gold]).to_disk(tmp_path / "gold.spacy")
    output = run("evaluate", tmp_path / "model", tmp_path / "gold.spacy")
    lines = {line.split()[0]: line.split()[1:] for line in output.splitlines() if line}
    assert lines["weighted_p"] == ["16.00"] and lines["weighted_r"] == ["40.00"] and lines["macro_r"] == ["33.33"]
    assert lines["gold"] == ["AUTHOR", "DATE", "TITLE"]
    assert [lines[name] for name in ("AUTHOR", "DATE", "TITLE")] == [["2"], ["1"], ["2"]]  # all in the last column


def test_score_names_what_is_wrong(model, tmp_path):
    assert "[CRF5" in run("evaluate", model, tmp_path / "nothing.conllu", code=1)
    assert "[CRF602]" in run("evaluate", model, tmp_path, "--component", "tagger", code=1)


def test_tag_shows_tokens_with_probabilities(model):
    output = run("tag", model, "they can leak")
    rows = [line.split() for line in output.splitlines() if line.strip()]
    assert [row[:2] for row in rows[2:]] == [["they", "PRP"], ["can", "MD"], ["leak", "VB"]]
    assert all(0.3 < float(row[2]) <= 1 for row in rows[2:])


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_tag_reads_standard_input(model, end):
    result = invoke("tag", model, data=f"they can{end}{end}he leaks{end}")
    assert result.output == invoke("tag", model, "they can", "he leaks").output
    assert result.output.count("token") == 2 and "leaks" in result.output


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_line_of_standard_input_is_tagged_as_the_text_alone(model, end):
    assert invoke("tag", model, data=f"they can{end}").output == invoke("tag", model, "they can").output
    assert invoke("tag", model, data=f"\ufeffthey can{end}").output == invoke("tag", model, "they can").output


def shown(result):
    assert result.exit_code == 0, result.output
    lines = [line for line in result.output.splitlines() if line.strip()]
    starts = [0, *(place + 3 for place in range(len(lines[1])) if lines[1].startswith("   -", place))]
    ends = [*starts[1:], None]
    return [[line[start:end].strip() for start, end in zip(starts, ends)] for line in lines]


def trained(factory, config, gold):
    """A pipeline trained on the same annotated texts again and again."""
    nlp = spacy.blank("en")
    features = {"@misc": "spacy_crf.Features.v1", "templates": ["LOWER"]}
    nlp.add_pipe(factory, config={"features": features, **config})
    examples = [Example.from_dict(nlp.make_doc(text), annotation) for text, annotation in gold]
    nlp.initialize(lambda: examples)
    for _ in range(3):
        nlp.update(examples)
    return nlp


CLOSE = {"trainer": {"@misc": "spacy_crf.LBFGS.v1", "c2": 0.001}}
NAMES = [("Ada met Bo", {"entities": [(0, 3, "PER"), (8, 10, "PER")]})] * 3
TOWNS = [("Ada left Ulm", {"entities": [(0, 3, "PER"), (9, 12, "LOC")]})] * 3


def test_tag_shows_what_constraints_leave(tmp_path):
    nlp = trained("constrained_ner", {"constraints": ["at_most(PER, 1)"]}, NAMES + TOWNS)
    nlp.to_disk(tmp_path)
    header, _, *rows = shown(invoke("tag", tmp_path, "Ada met Bo"))
    assert header == ["token", "tag", "prob.", "or"]
    doc = nlp("Ada met Bo")
    tags = [f"{token.ent_iob_}-{token.ent_type_}" if token.ent_type_ else "O" for token in doc]
    assert [row[1] for row in rows] == tags and tags.count("B-PER") == 1
    changed = next(row for row in rows if row[0] in ("Ada", "Bo") and row[1] != "B-PER")
    assert float(changed[2]) < 0.5 and changed[3].startswith("B-PER 0.")  # the probability of the tag that is shown


def test_tag_shows_the_path_not_the_best_tag_of_each_token(tmp_path):
    # x is A or B, at odds, and pairs are alike: AA .3, BB .3, BC .4; so x is B, but y is none but A, B or C
    gold = [("x y", {"tags": list(tags)}) for tags in ("AA",) * 4 + ("BB",) * 3 + ("BC",) * 3]
    nlp = trained("crf_tagger", CLOSE, gold)
    nlp.to_disk(tmp_path)
    _, _, *rows = shown(invoke("tag", tmp_path, "x y"))
    assert [row[1] for row in rows] == [token.tag_ for token in nlp("x y")] == ["A", "A"]
    assert float(rows[0][2]) < 0.5 and rows[0][3].startswith("B 0.6")


def test_tag_shows_sets(tmp_path):
    gold = [("x y", {"tags": list(tags)}) for tags in ("AC",) * 3 + ("BC",) * 2]
    nlp = trained("set_valued_tagger", {**CLOSE, "method": "mass", "coverage": 0.9}, gold)
    nlp.to_disk(tmp_path)
    header, _, *rows = shown(invoke("tag", tmp_path, "x y"))
    assert header == ["token", "tag", "prob.", "set"]
    assert [row[1::2] for row in rows] == [["A", "A B"], ["C", "C"]]


def tagged(model, *arguments):
    """Words of each text, as `crf tag --json` writes them, and what is told beside them."""
    result = invoke("tag", model, "--json", *arguments)
    assert result.exit_code == 0, result.output
    texts = map(json.loads, filter(None, result.stdout.splitlines()))
    return [[row["token"] for row in text["tokens"]] for text in texts], result.stderr


@pytest.mark.parametrize(
    ("name", "content", "format", "expected"),
    [
        ("lines.txt", "the can leaks\nthey swim\n", None, [["the", "can", "leaks"], ["they", "swim"]]),
        ("words.txt", "the\ncan\n\nthey\nswim\n", None, [["the", "can"], ["they", "swim"]]),
        ("words.tsv", "the\ncan\n\nthey\nswim\n", None, [["the", "can"], ["they", "swim"]]),
        ("words.txt", "the\ncan\n", "text", [["the"], ["can"]]),
        ("gold.tsv", "the\tDT\ncan\tNN\n", None, [["the", "can"]]),
        ("gold.txt", "the\tDT\r\ncan\tNN\r\n", None, [["the", "can"]]),
        ("gold.txt", "the\tDT\ncan\tNN\n", "text", [["the", "\t", "DT"], ["can", "\t", "NN"]]),
        ("spans.txt", "the B-NP\ncan I-NP\n\nleaks O\n", None, [["the", "can"], ["leaks"]]),
        ("lines.txt", "plan B\n", None, [["plan", "B"]]),
        ("prose.txt", "the can\nleaks. they\n\nswim\n", "prose", [["the", "can", "leaks", ".", "they"], ["swim"]]),
    ],
)
def test_tag_reads_files(model, tmp_path, name, content, format, expected):
    (tmp_path / name).write_text(content)
    found, _ = tagged(model, tmp_path / name, *(["--format", format] if format else []))
    assert found == expected


def test_tag_takes_texts_and_files_in_order_and_says_what_a_text_that_looks_like_a_file_is(
    model, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "one.txt").write_text("the can")
    assert tagged(model, "they swim", "one.txt") == ([["they", "swim"], ["the", "can"]], "")
    assert tagged(model, "one.txt", "--text") == ([["one.txt"]], "")
    words, told = tagged(model, "none.txt")
    assert words == [["none.txt"]] and "CRFW846" in told
    assert "CRF639" in invoke("tag", model, "they swim", "--format", "text").output
    assert tagged(model, "") == ([[]], "")


def test_lines_of_a_script_without_spaces_are_texts(model, tmp_path):
    (tmp_path / "lines.txt").write_text("今天很冷。\n明天不会下雨。\n", encoding="utf8")
    found, told = tagged(model, tmp_path / "lines.txt")
    assert len(found) == 2 and told == ""


def test_a_file_of_words_has_nothing_else(model, tmp_path):
    (tmp_path / "words.txt").write_text("the\ncan\nthey swim\n")
    assert tagged(model, tmp_path / "words.txt")[0] == [["the"], ["can"], ["they", "swim"]]
    result = invoke("tag", model, tmp_path / "words.txt", "--format", "words")
    assert result.exit_code == 1 and "line 3: there is more than one word" in " ".join(result.output.split())


def test_texts_that_are_no_utf8_are_told_by_a_code(model):
    for command in ("tag", "explain"):
        assert "[CRF488] 'caf" in run(command, model, "caf\udce9", code=1)
    result = invoke("tag", model, data=b"they can\ncaf\xe9\n")
    assert result.exit_code == 1 and "[CRF504] standard input, line 2: not UTF-8" in result.output
