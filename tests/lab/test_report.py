"""Curves are pictures, or a message that says what is missing."""

import struct
import sys
from pathlib import Path

import pytest

from spacy_crf.lab.report import Curve, check_plotting, draw_curve
from spacy_crf.lab.results import spread

LINES = {"one": [(0.2, spread([0.4, 0.6])), (5.0, spread([0.7]))], "two": [(0.2, spread([0.6])), (1.0, spread([0.8]))]}


@pytest.mark.parametrize("x", ["beta", "share of the training data"])
def test_a_picture(tmp_path: Path, x: str) -> None:
    pytest.importorskip("matplotlib")
    draw_curve(tmp_path / "a.png", Curve("a", x, "ml_util", LINES))
    data = (tmp_path / "a.png").read_bytes()
    assert data.startswith(b"\x89PNG") and struct.unpack(">II", data[16:24]) == (900, 600)
    draw_curve(tmp_path / "b.png", Curve("b", x, "ml_util", {"one": LINES["one"]}))
    assert (tmp_path / "b.png").read_bytes() != data


def test_what_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ValueError, match=r"CRF627.*spacy_crf\[plots\]"):
        check_plotting()
