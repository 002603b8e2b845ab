"""`crf report`: a page for each kind of component, with the figures of other commands, and nothing from elsewhere."""

import json
import re
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
import spacy
from helpers import tagged
from helpers.commands import run
from helpers.folders import unpack_model
from helpers.pages import Page
from helpers.paths import ROOT
from hypothesis import given
from hypothesis import strategies as st
from spacy.tokens import Doc
from spacy.training import Example

from spacy_crf import calibrate
from spacy_crf.core.errors import CRFWarning
from spacy_crf.lab.evaluation import evaluate
from spacy_crf.pipe.calibration import measure_reliability
from spacy_crf.service.charts import Axis, confusion_matrix, line_chart, reliability_diagram
from spacy_crf.service.report import Reported, make_report, tell_reliability

CORPUS = ROOT / "corpus"
OF_ALL = {"Scores", "By label", "Documents"}
REPORTS = {
    "tagger": ("crf_tagger/dev.conllu", {"Confusions", "Reliability", "Most surprising errors", "Strongest weights"}),
    "sets": ("set_valued_tagger/dev", {"Tag sets", "Reliability", "Most surprising errors", "Strongest weights"}),
    "references": ("constrained_ner/dev", {"Constraints", "What constraints changed", "Most surprising errors"}),
    "sections": ("section_parser/test", {"Confusions", "Reliability"}),
    "punctuation": ("punctuation_restorer/dev", {"Reliability", "Most surprising errors"}),
    "second_order": ("crf_tagger/dev.conllu", {"Most surprising errors"}),
    "sourced": ("crf_tagger/dev.conllu", set()),
}


@pytest.mark.parametrize("name", REPORTS)
def test_a_page_for_each_kind_of_component(name: str, tmp_path: Path) -> None:
    data, expected = REPORTS[name]
    output = tmp_path / "deep" / "report.html"
    told = run("report", unpack_model(name, tmp_path / name), CORPUS / data, "--output", output, "--most", 3)
    assert "".join(f"Wrote {output}".split()) in "".join(told.split())
    text = output.read_text(encoding="utf8")
    page = Page(text)
    assert OF_ALL | expected <= {heading.partition(":")[0] for heading in page.headings}, page.headings
    (style,) = re.findall(r"<style>(.*?)</style>", text, re.DOTALL)
    assert "url(" not in style and "@import" not in style
    anchors = re.findall(r' id="([^"]+)"', text)
    assert len(anchors) == len(set(anchors))
    assert set(re.findall(r'href="#([^"]+)"', text)) <= set(anchors)


def test_figures_are_those_of_other_commands(tmp_path: Path) -> None:
    model, data, found = (
        unpack_model("tagger", tmp_path / "tagger"),
        CORPUS / "crf_tagger" / "dev.conllu",
        tmp_path / "found.json",
    )
    run("evaluate", model, data, "--intervals", "--output", found)
    told = json.loads(found.read_text(encoding="utf8"))
    nlp = spacy.load(model)
    examples = list(spacy_corpus(data, nlp))
    text = Page(make_report(Reported(nlp, "crf_tagger", evaluate(nlp, "crf_tagger", examples), "It"))).text
    assert f"{100 * told['scores']['tag_acc']:.2f}" in text
    fitted = calibrate(nlp.get_pipe("crf_tagger"), spacy_corpus(data, nlp))
    assert f"expected calibration error {fitted.before.error:.4f}" in text


def spacy_corpus(path: Path, nlp: Any) -> Any:
    from spacy_crf import Corpus

    return Corpus(path)(nlp)


def test_the_log_of_training_is_drawn(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    step = {"epoch": 0, "losses": {"crf_tagger": 3.0}, "scores": {"tag_acc": 50.0, "speed": 1e4}, "score": 0.5}
    log.write_text("".join(json.dumps({**step, "step": number}) + "\n" for number in (10, 20)), encoding="utf8")
    model, output = unpack_model("tagger", tmp_path / "tagger"), tmp_path / "report.html"
    run("report", model, CORPUS / "crf_tagger" / "dev.conllu", "--log", log, "--output", output, "--most", 1)
    text = output.read_text(encoding="utf8")
    assert "Training" in Page(text).headings and "tag_acc: 10: 50; 20: 50" in text
    others = [{"step": 1}, {**step, "step": 1, "losses": 3.0}]
    for line, texts in (
        (1, others[:1]),
        (1, others[1:]),
        (2, [{**step, "step": 1}, {**step, "step": 1, "scores": {"ents_f": 1.0}}]),
    ):
        log.write_text("".join(json.dumps(text) + "\n" for text in texts), encoding="utf8")
        told = run("report", model, CORPUS / "crf_tagger" / "dev.conllu", "--log", log, "--output", output, code=1)
        assert "CRF584" in told and f"line {line}" in " ".join(told.split())


@pytest.mark.parametrize(("loss", "is_drawn"), [(3.0, True), (4.0, False), (None, True)])
def test_the_log_that_the_config_names_is_drawn_unless_it_is_of_another_training(
    tmp_path: Path, loss: float | None, is_drawn: bool
) -> None:
    log, model, output = tmp_path / "log.jsonl", tmp_path / "model", tmp_path / "report.html"
    step = {"epoch": 0, "losses": {"crf_tagger": 3.0}, "scores": {"tag_acc": 50.0}, "score": 0.5, "step": 10}
    log.write_text(json.dumps({**step, "losses": {"crf_tagger": 9.0}, "step": 0}) + "\n" + json.dumps(step) + "\n")
    nlp = spacy.load(unpack_model("tagger", tmp_path / "tagger"))
    nlp.config["training"]["logger"] = {"@loggers": "spacy.ConsoleLogger.v3", "output_file": str(log)}
    nlp.meta["performance"] = {"tag_acc": 0.6} | ({} if loss is None else {"crf_tagger_loss": loss})
    nlp.to_disk(model)
    with nullcontext() if is_drawn else pytest.warns(CRFWarning, match="CRFW584"):
        run("report", model, CORPUS / "crf_tagger" / "dev.conllu", "--output", output, "--most", 1)
    assert ("Training" in Page(output.read_text(encoding="utf8")).headings) == is_drawn


def test_names_and_texts_bring_no_html(tmp_path: Path) -> None:
    nlp = spacy.blank("en")
    tagger = nlp.add_pipe("crf_tagger")
    words, tags = ["<script>alert(1)</script>", "&", "b"], ["<b>X", "Y&", "Z"]
    examples = [Example(Doc(nlp.vocab, words=words), Doc(nlp.vocab, words=words, tags=tags)) for _ in range(3)]
    nlp.initialize(lambda: examples)
    nlp.update(examples)
    examples = [Example(Doc(nlp.vocab, words=words), Doc(nlp.vocab, words=words, tags=tags[::-1]))]
    figures = evaluate(nlp, tagger.name, examples)
    page = Page(make_report(Reported(nlp, tagger.name, figures, "<script>", {"<b>": "<i>"})))
    assert "<script>alert(1)</script>" in page.text and "<b>X" in page.text


@given(st.lists(st.tuples(st.floats(-1e6, 1e6), st.floats(-1e6, 1e6)), min_size=1, max_size=20))
def test_lines_stay_in_their_picture(points: list[tuple[float, float]]) -> None:
    text = line_chart({"a<b": points}, "x", "y")
    places = [float(value) for value in re.findall(r' c[xy]="([^"]+)"', text)]
    assert all(0 <= place <= 420 for place in places) and "a&lt;b" in text


def test_all_lines_are_drawn_and_named() -> None:
    text = line_chart({f"score {k}": [(0.0, k), (1.0, k)] for k in range(8)}, "step", "score")
    assert text.count("<polyline") == 8 and all(f">score {k}</span>" in text for k in range(8))


@given(st.floats(-1e6, 1e6), st.floats(1e-6, 1e6))
def test_an_axis_has_a_few_round_numbers_within_its_ends(least: float, size: float) -> None:
    axis = Axis([least, least + size], 0, 100)
    assert len(axis.ticks) <= 6
    assert all(axis.least - 1e-6 * size <= tick <= axis.greatest + 1e-6 * size for tick in axis.ticks)


def test_a_matrix_is_shaded_by_the_share_of_its_row() -> None:
    text = confusion_matrix({("A", "A"): 3, ("A", "B"): 1, ("B", "B"): 2}, ["A", "B"])
    assert re.findall(r"--share:([\d.]+)", text) == ["0.750", "0.250", "1.000"]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["tagger", "sets", "references", "sections", "punctuation"])
def test_a_page_is_no_wider_than_the_window_and_draws_what_it_has(browser: Any, tmp_path: Path, name: str) -> None:
    output = tmp_path / "report.html"
    run("report", unpack_model(name, tmp_path / name), CORPUS / REPORTS[name][0], "--output", output, "--most", 2)
    for width in (390, 1280):
        screen = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", screen)
        browser.get(output.as_uri())
        assert browser.execute_script("return document.documentElement.scrollWidth") <= width
        drawn = browser.execute_script("return [...document.querySelectorAll('svg')].map((one) => one.clientHeight)")
        assert drawn and min(drawn) > 100
    assert [line for line in browser.get_log("browser") if line["level"] == "SEVERE"] == []


def test_probabilities_are_those_of_what_the_component_sees() -> None:
    """Also where it looks at the tags that it corrects."""
    nlp, make = tagged.train_correcting()
    pipe = nlp.get_pipe("crf_tagger")
    reported = Reported(nlp, "crf_tagger", evaluate(nlp, "crf_tagger", make()), "a page")
    ((_, told),) = tell_reliability(reported)
    assert reliability_diagram(measure_reliability(pipe, make())) in told
