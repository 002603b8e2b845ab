"""Curves are pictures, or a message that says what is missing."""

import struct
import sys
from pathlib import Path

import pytest

from spacy_crf.lab.report import check_plotting, draw_curves

LINES = {"one": [(0.2, 0.5, 0.1), (5.0, 0.7, 0.0)], "two": [(0.2, 0.6, 0.1), (1.0, 0.8, 0.2)]}


@pytest.mark.parametrize("log_x", [False, True])
def test_a_picture(tmp_path: Path, log_x: bool) -> None:
    pytest.importorskip("matplotlib")
    draw_curves(tmp_path / "a.png", "beta", "ml_util", LINES, log_x)
    data = (tmp_path / "a.png").read_bytes()
    assert data.startswith(b"\x89PNG") and struct.unpack(">II", data[16:24]) == (900, 600)
    draw_curves(tmp_path / "b.png", "beta", "ml_util", {"one": LINES["one"]}, log_x)
    assert (tmp_path / "b.png").read_bytes() != data


def test_what_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ValueError, match=r"CRF627.*spacy_crf\[plots\]"):
        check_plotting()
