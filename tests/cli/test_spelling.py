"""`crf spelling`: a table for people to read and correct."""

from pathlib import Path

from helpers.commands import run

from spacy_crf.features.spelling import SpellingTable

TEXT = "\n".join(f"{word}\tX" for word in ["water"] * 12 + ["wader", "watter", "dat", "huus", "hus"])


def test_table(tmp_path: Path) -> None:
    (tmp_path / "text.tsv").write_text(TEXT + "\n", encoding="utf8")
    options = ["--rules", "free_spelling", "--lengths", "5", "--output", str(tmp_path / "out" / "table.tsv")]
    output = run("spelling", tmp_path / "text.tsv", "--format", "tagsets", *options)
    assert "4 forms, 3 normal forms, 1 variants" in output
    assert "uater         " in output and "uader" in output
    table = SpellingTable.read(tmp_path / "out" / "table.tsv").table
    assert table == {"uater": "uater", "uader": "uater", "dat": "dat", "hus": "hus"}


def test_bad_options(tmp_path: Path) -> None:
    (tmp_path / "text.tsv").write_text(TEXT, encoding="utf8")
    for options, code in (
        (["--lengths", "a"], "CRF607"),
        (["--rules", "none"], "CRF321"),
        (["--ratio", "0"], "CRF549"),
    ):
        assert code in run("spelling", tmp_path / "text.tsv", "--format", "tagsets", *options, code=1)
