"""`crf apply`: names, formats, what is bad, and runs that are broken off at any moment."""

import json
import random
import re
import shutil
import subprocess
import sys
import time
import warnings
from pathlib import Path
from typing import Any, cast

import pytest
import spacy
from helpers.commands import invoke
from helpers.paths import ROOT
from spacy.tokens import DocBin
from spacy.training import Example
from spacy.util import load_config
from typer.testing import Result

from spacy_crf import Corpus, CRFWarning
from spacy_crf.annotation.documents import read_doc_name
from spacy_crf.cli.apply import OutputPart, annotate_part
from spacy_crf.reading import files

TRAIN = ROOT / "corpus" / "crf_tagger" / "train.conllu"


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    nlp = spacy.blank("en")
    nlp.add_pipe("crf_tagger", config={"features": {"@misc": "spacy_crf.Features.v1", "templates": ["LOWER[-1..1]"]}})
    examples: list[Example] = list(Corpus(TRAIN, limit=40)(nlp))
    optimizer = nlp.initialize(lambda: examples)
    nlp.update(examples, sgd=optimizer)
    path = tmp_path_factory.mktemp("model")
    nlp.to_disk(path)
    return path


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "CHUNK_SIZE", 1 << 13)


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in three formats."""
    folder = tmp_path_factory.mktemp("texts")
    lines = [line.removeprefix("# text = ") for line in TRAIN.read_text().splitlines() if line.startswith("# text")]
    (folder / "letters").mkdir()
    (folder / "letters" / "1425.txt").write_text("\n".join(lines) + "\n", encoding="utf8")
    (folder / "b.jsonl").write_text("".join(json.dumps({"text": line, "name": "own"}) + "\n" for line in lines[:60]))
    (folder / "c.conllu").write_text(TRAIN.read_text()[:60_000].rpartition("\n\n")[0] + "\n\n", encoding="utf8")
    return folder


def run(*arguments: object) -> Result:
    return invoke("apply", *arguments, "--quiet")


def content(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in sorted(folder.iterdir())}


@pytest.mark.parametrize("lines", ["they\tPRP\nswim\tVB\n", "they O\nswim O\n"])
def test_columns_in_a_file_called_txt_are_no_running_text(model: Path, tmp_path: Path, lines: str) -> None:
    (tmp_path / "gold.txt").write_text(lines)
    assert json.loads(run(model, tmp_path / "gold.txt", tmp_path / "out", "--json").stdout)["documents"] == 1
    (line,) = (tmp_path / "out" / "part-00000.jsonl").read_text().splitlines()
    assert json.loads(line)["text"].split() == ["they", "swim"]


@pytest.mark.parametrize("group", ["document", 5, "auto"])
@pytest.mark.parametrize("has_marks", [False, True])
def test_documents_are_grouped_as_in_training(model: Path, tmp_path: Path, group: str | int, has_marks: bool) -> None:
    blocks = TRAIN.read_text().split("\n\n")[:80]
    marked = {30, 55} if has_marks else set()
    texts = [f"# newdoc id = n{k}\n{own}" if k in marked else own for k, own in enumerate(_without_marks(blocks))]
    (tmp_path / "a.conllu").write_text("\n\n".join(texts) + "\n\n", encoding="utf8")
    nlp = shutil.copytree(model, tmp_path / "model")
    config = load_config(nlp / "config.cfg")
    config["corpora"]["dev"] = {"@readers": "spacy_crf.Corpus.v1", "path": None, "group": group}
    config.to_disk(nlp / "config.cfg")
    told = json.loads(run(nlp, tmp_path / "a.conllu", tmp_path / "out", "--json").stdout)
    expected = list(Corpus(tmp_path / "a.conllu", group=cast(Any, group)).read_docs(spacy.blank("en").vocab))
    assert told["documents"] == len(expected) and not told["faults"]
    found = [
        json.loads(line) for file in sorted((tmp_path / "out").glob("part*")) for line in file.read_text().splitlines()
    ]
    assert [one["text"] for one in found] == [doc.text for doc in expected]
    assert [one["_"]["doc_name"] for one in found] == [read_doc_name(doc) for doc in expected]


def test_a_pipeline_whose_corpora_have_one_reader_is_applied(model: Path, tmp_path: Path) -> None:
    nlp = shutil.copytree(model, tmp_path / "model")
    config = load_config(nlp / "config.cfg")
    config["corpora"] = {"@readers": "ours.v1", "path": None}
    config.to_disk(nlp / "config.cfg")
    (tmp_path / "a.txt").write_text("they swim\n")
    shutil.copy(TRAIN, tmp_path / "b.conllu")
    told = json.loads(run(nlp, tmp_path / "a.txt", tmp_path / "b.conllu", tmp_path / "out", "--json").stdout)
    assert told["documents"] > 1 and not told["faults"]


def _without_marks(blocks: list[str]) -> list[str]:
    return ["\n".join(line for line in own.split("\n") if "newdoc" not in line) for own in blocks]


def test_names_and_order_are_kept(model: Path, texts: Path, tmp_path: Path) -> None:
    result = run(model, texts, tmp_path / "out", "--json", "--part-size", 16)
    told = json.loads(result.stdout)
    parts = b"".join(own for name, own in content(tmp_path / "out").items() if name.startswith("part"))
    read = list(map(json.loads, parts.splitlines()))
    names = list(dict.fromkeys(line["_"]["doc_name"] for line in read))
    marked = [line.removeprefix("# newdoc id = ") for line in (texts / "c.conllu").read_text().splitlines()]
    assert names == ["own", *(name for name in marked if name and name in names), "letters/1425"] and len(names) > 3
    assert told["documents"] == len(read) and told["faults"] == [] and told["parts"] > 3
    assert [line["text"] for line in read if line["_"]["doc_name"] == "letters/1425"] == (
        texts / "letters" / "1425.txt"
    ).read_text().splitlines()
    assert all("tag" in token for line in read for token in line["tokens"])


@pytest.mark.parametrize("to", ["jsonl", "conllu", "spacy", "parquet"])
def test_two_processes_write_what_one_writes(model: Path, texts: Path, tmp_path: Path, to: str) -> None:
    if to == "parquet":
        pytest.importorskip("pyarrow", reason="needs the extra parquet")
    for processes in (1, 2):
        done = run(model, texts, tmp_path / str(processes), "--to", to, "--processes", processes, "--part-size", 16)
        assert done.exit_code == 0, done.output
    assert content(tmp_path / "1") == content(tmp_path / "2")


def test_workers_of_a_cluster_write_what_one_process_writes(
    model: Path, texts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    distributed = pytest.importorskip("distributed", reason="needs the extra dask")
    (tmp_path / "model").symlink_to(model)
    (tmp_path / "texts").symlink_to(texts)
    DocBin(docs=[spacy.blank("en")("A dog barks .")]).to_disk(tmp_path / "d.spacy")
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster:
        monkeypatch.chdir(tmp_path)  # where the workers are not
        for output, more in (("one", ()), ("cluster", ("--scheduler", cluster.scheduler_address))):
            result = run("model", "texts", "d.spacy", output, "--part-size", 16, *more)
            assert result.exit_code == 0, result.output
            assert "left out" not in result.stderr
    assert content(tmp_path / "one") == content(tmp_path / "cluster")


def test_an_address_without_a_scheduler_is_told(model: Path, texts: Path, tmp_path: Path) -> None:
    pytest.importorskip("distributed", reason="needs the extra dask")
    result = run(model, texts, tmp_path / "output", "--scheduler", "foo")
    assert result.exit_code == 1 and "[CRF885] There is no Dask scheduler at 'foo'" in result.output


def test_a_pipeline_that_was_trained_anew_is_loaded_anew(model: Path, texts: Path, tmp_path: Path) -> None:
    place = tmp_path / "model"
    shutil.copytree(model, place)
    assert run(place, texts, tmp_path / "before").exit_code == 0
    nlp = spacy.load(place)
    nlp.add_pipe("sentencizer", config={"overwrite": True})
    nlp.to_disk(place)
    assert run(place, texts, tmp_path / "after").exit_code == 0
    before, after = (content(tmp_path / name)["part-00000.jsonl"] for name in ("before", "after"))
    assert before != after
    part = OutputPart(0, [], str(place), files.checksum_of_files(model), "jsonl")
    with pytest.raises(ValueError, match="CRF699"):
        annotate_part(part)


def test_what_is_bad_costs_itself_and_is_listed(model: Path, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.jsonl").write_bytes(b'{"text": "A dog"}\n{"text": 1}\n{"text": "barks"}\n')
    (tmp_path / "in" / "b.spacy").write_bytes(b"no DocBin")
    (tmp_path / "in" / "c.txt").write_bytes(b"good\nb\xffd\ngood\n")
    result = run(model, tmp_path / "in", tmp_path / "out")
    assert result.exit_code == 0 and "3 inputs were left out" in result.stderr
    assert all(told in result.stderr for told in ("CRF683", "CRF517"))
    told = json.loads(run(model, tmp_path / "in", tmp_path / "out", "--json").stdout)
    assert told["documents"] == 4 and len(told["faults"]) == 3
    stopped = run(model, tmp_path / "in", tmp_path / "other", "--on-error", "raise")
    assert stopped.exit_code == 1 and "CRF686" in stopped.stdout
    (tmp_path / "in" / "a.jsonl").write_bytes(b'{"text": "A dog"}\n')


def test_what_two_runs_at_the_same_time_have_made_counts_once(model: Path, texts: Path, tmp_path: Path) -> None:
    """It was told as input that had changed, so that nothing could go on with it."""
    arguments = (model, texts, tmp_path / "out", "--part-size", 1)
    assert run(*arguments).exit_code == 0
    manifest = tmp_path / "out" / "manifest.jsonl"
    settings, first, second, *others = manifest.read_bytes().splitlines(keepends=True)
    assert others, "there is another part"
    manifest.write_bytes(b"".join([settings, first, first, others[0], second, second, *others]))
    assert run(*arguments).exit_code == 0
    assert manifest.read_bytes() == b"".join([settings, first, second, *others])


def test_another_run_is_not_mixed_with_this_one(model: Path, texts: Path, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.txt").write_text("a\nb\n")
    assert run(model, tmp_path / "in", tmp_path / "out").exit_code == 0
    assert "CRF684" in run(model, tmp_path / "in", tmp_path / "out", "--to", "conllu").stdout
    (tmp_path / "in" / "a.txt").write_text("a\nc\n")
    assert "CRF685" in run(model, tmp_path / "in", tmp_path / "out").stdout
    (tmp_path / "in" / "a.txt").write_text("")
    assert "CRF685" in run(model, tmp_path / "in", tmp_path / "out").stdout


def test_a_run_goes_on_behind_the_last_whole_part(model: Path, texts: Path, tmp_path: Path) -> None:
    out, whole = tmp_path / "out", tmp_path / "whole"
    for folder in (out, whole):
        assert run(model, texts, folder, "--part-size", 8).exit_code == 0
    expected, size = content(whole), (out / "manifest.jsonl").stat().st_size
    rng = random.Random(0)
    for _ in range(5):
        with (out / "manifest.jsonl").open("r+b") as file:  # as if the disk had known no more
            file.truncate(rng.randrange(size))
        files_of_parts = sorted(out.glob("part-*"))
        files_of_parts[-1].write_bytes(b"half")
        assert run(model, texts, out, "--part-size", 8).exit_code == 0
        assert content(out) == expected


def test_the_output_may_stand_in_the_folder_of_the_input(model: Path, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a\n")
    for name in ("part-00000.txt", "z.txt"):
        (tmp_path / name).write_text("b\nc\n")
    assert run(model, tmp_path, tmp_path / "out").exit_code == 0
    expected = content(tmp_path / "out")
    again = run(model, tmp_path, tmp_path / "out", "--json")
    assert json.loads(again.stdout)["documents"] == 5 and content(tmp_path / "out") == expected
    assert "CRF697" in run(model, tmp_path / "out" / "part-00000.jsonl", tmp_path / "out").stdout


def test_files_of_a_folder_that_are_not_read_are_told(model: Path, tmp_path: Path) -> None:
    """As subtitles and documents beside texts, which were left out without a word."""
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.txt").write_text("So it is.\n", encoding="utf8")
    for name in ("talk.srt", "act.docx", ".hidden.srt", "TypeSystem.xml"):
        (tmp_path / "in" / name).write_text("1\n00:00:00,000 --> 00:00:02,000\nso\n", encoding="utf8")
    with pytest.warns(CRFWarning, match=r"CRFW473.*: act\.docx, talk\.srt\."):
        result = run(model, tmp_path / "in", tmp_path / "in" / "out", "--json")
    assert json.loads(result.stdout)["documents"] == 1
    with warnings.catch_warnings(action="error"):
        assert run(model, tmp_path / "in" / "a.txt", tmp_path / "in" / "talk.srt", tmp_path / "two").exit_code == 0


@pytest.mark.parametrize(("format", "code"), [("nope", "CRF523"), ("sections", "CRF698")])
def test_a_format_that_a_folder_cannot_have_is_refused_at_once(
    model: Path, texts: Path, tmp_path: Path, format: str, code: str
) -> None:
    result = run(model, texts, tmp_path / "out", "--format", format)
    assert result.exit_code == 1 and code in result.stdout and not (tmp_path / "out").exists()


@pytest.mark.slow
@pytest.mark.parametrize(("processes", "signal"), [(1, "KILL"), (2, "KILL"), (2, "INT")])
def test_a_run_that_is_killed_goes_on(model: Path, texts: Path, tmp_path: Path, processes: int, signal: str) -> None:
    lines = (texts / "letters" / "1425.txt").read_text()
    inputs = [texts, *(tmp_path / f"{number}.txt" for number in range(16))]
    for path in inputs[1:]:
        path.write_text(lines * 10, encoding="utf8")
    command = [sys.executable, "-m", "spacy", "crf", "apply", str(model), *map(str, inputs), str(tmp_path / "out")]
    command += ["--part-size", "100", "--quiet", "--processes", str(processes)]
    whole = [*command, "--processes", "1"]
    whole[whole.index(str(tmp_path / "out"))] = str(tmp_path / "whole")
    subprocess.run(whole, check=True)
    manifest, rng = tmp_path / "out" / "manifest.jsonl", random.Random(processes)
    for killed in range(1, 5):
        before = manifest.stat().st_size if manifest.exists() else 0
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while process.poll() is None and (not manifest.exists() or manifest.stat().st_size <= before):
            time.sleep(0.05)
        time.sleep(0.5 * rng.random())
        process.kill() if signal == "KILL" else process.send_signal(2)
        assert process.wait() != 0, f"killed {killed} times"
    subprocess.run(command, check=True)
    assert content(tmp_path / "out") == content(tmp_path / "whole")


@pytest.mark.parametrize("to", ["jsonl", "conllu", "spacy"])
def test_a_file_whose_name_is_no_utf8_has_a_name_that_can_be_written(model: Path, tmp_path: Path, to: str) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "caf\udce9.txt").write_text("Ada met Bo.\n")
    result = run(model, tmp_path / "in", tmp_path / "out", "--to", to)
    assert result.exit_code == 0, result.output
    (part,) = (tmp_path / "out").glob("part-*")
    names = (
        [read_doc_name(doc) for doc in DocBin().from_disk(part).get_docs(spacy.blank("en").vocab)]
        if to == "spacy"
        else re.findall(r"caf.*?e9", part.read_text())[:1]
    )
    assert [name.replace("\\\\", "\\") for name in names] == [r"caf\xe9"]


BESIDE_WORDS = """\
# newdoc id = d
# newpar id = p1
# sent_id = one
# text = (dámelo) ahora del
1 ( SpaceAfter=No
2-4 dámelo SpaceAfter=No
2 da _
3 me _
3.1 hidden _
4 lo _
5 ) _
6 ahora _
7-8 del _
7 de _
8 el _

# checked = tag
# sent_id = two
# text_en = thus
# text = así
1 así _

# text = acaba
1 acaba _

"""


@pytest.mark.parametrize("mark", ["# newdoc id = d\n", ""])
def test_conllu_keeps_comments_and_multiword_tokens(model: Path, tmp_path: Path, mark: str) -> None:
    given = BESIDE_WORDS.replace("# newdoc id = d\n", mark)
    filled = re.sub("^([0-9.-]+) (.+) (.+)$", r"\1\t\2" + r"\t_" * 7 + r"\t\3", given, flags=re.MULTILINE)
    (tmp_path / "d.conllu").write_text(filled, encoding="utf8")
    assert run(model, tmp_path / "d.conllu", tmp_path / "out", "--to", "conllu").exit_code == 0
    lines = (tmp_path / "out" / "part-00000.conllu").read_text(encoding="utf8").splitlines()
    shown = [re.sub("\t.*\t", " ", line.replace("\t", " ", 1)) for line in lines]
    assert shown == [line for line in BESIDE_WORDS.splitlines() if not line.startswith(("3.1", "# checked"))]


def test_comments_and_multiword_tokens_go_where_sentences_and_tokens_become_others(tmp_path: Path) -> None:
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer", config={"overwrite": True, "punct_chars": [")"]})
    nlp.to_disk(tmp_path / "model")
    row = "\t_" * 8 + "\n"
    (tmp_path / "d.conllu").write_text(
        f"# sent_id = one\n1-2\ta){row}1\ta{row}2\t){row}3-4\tdel{row}3\tde{row}4\tel{row}\n", encoding="utf8"
    )
    assert run(tmp_path / "model", tmp_path / "d.conllu", tmp_path / "out", "--to", "conllu").exit_code == 0
    lines = (tmp_path / "out" / "part-00000.conllu").read_text(encoding="utf8").splitlines()
    ids = ["1-2", "1", "2", "1-2", "1", "2"]
    assert [line.split("\t")[0] for line in lines if line[:1].isdigit()] == ids and "sent_id" not in "".join(lines)
