"""`python -m spacy crf constraints`."""

import json
from pathlib import Path

import spacy
from helpers.citations import MINE, RULES, train
from helpers.commands import invoke


def run(*arguments: object) -> tuple[int, str]:
    result = invoke("constraints", *arguments)
    return result.exit_code, result.output


def test_the_table_shows_cost_support_rate_and_text(tmp_path: Path) -> None:
    nlp = train(constraints=RULES, mine={**MINE, "costs": "rate", "scale": 1.0})
    nlp.to_disk(tmp_path)
    code, text = run(tmp_path)
    assert code == 0
    lines = text.strip().splitlines()
    assert lines[0].split() == ["cost", "support", "rate", "origin", "constraint"]
    entries = nlp.get_pipe("constrained_ner").constraint_entries  # type: ignore[attr-defined]
    assert len(lines) == 2 + len(entries)
    assert [line.split()[0] for line in lines[2:6]] == ["hard"] * 4
    cost, support, rate, origin = lines[6].split()[:4]
    greatest = max((e for e in entries if e.about), key=lambda entry: entry.constraint.cost)
    assert (float(cost), int(support), origin) == (
        round(greatest.constraint.cost, 3),
        greatest.about["support"],
        "mined",
    )
    assert float(rate) == round(greatest.about["rate"], 4)
    code, text = run(tmp_path, "--json", "--component", "constrained_ner")
    assert code == 0 and len(json.loads(text)) == len(entries)


def test_a_pipeline_without_constraints(tmp_path: Path) -> None:
    nlp = train()
    nlp.to_disk(tmp_path / "own")
    code, text = run(tmp_path / "own", "--component", "tagger")
    assert code == 1 and "CRF446" in text and "constrained_ner" in text
    spacy.blank("xx").to_disk(tmp_path / "blank")
    code, text = run(tmp_path / "blank")
    assert code == 1 and "CRF446" in text
    code, text = run(tmp_path / "nowhere")
    assert code == 1 and "No constraints were shown" in text
