"""Tell what an experiment of the kind "active" shows of each order: figures by what was checked, and words for a goal.

python curve.py EXPERIMENT OUTPUT: of results/pos-active.json, OUTPUT-random.json and the like are made.
"""

import json
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

GOAL, THOUSAND = 0.85, 1000
SCORES = ("ml_acc", "ml_util", "set_size", "set_singletons", "set_singletons_acc")


def find_curves(experiment: dict[str, Any]) -> dict[str, Any]:
    """For each order its scores by percent of the text, thousands of words checked, and those for the goal."""
    curves: dict[str, dict[str, Any]] = {}
    for group in experiment["groups"]:
        scores = {name: group["scores"][name] for name in SCORES if name in group["scores"]}
        checked = {"checked": group["counts"]["tokens_trained_on"] / THOUSAND}
        curves.setdefault(group["series"], {})[f"{100 * group['fraction']:g}"] = {**checked, **scores}
    made_of = {key: experiment[key] for key in ("made_of", "splits")}
    return {order: {**made_of, "curve": curve, "for_goal": checked_for(curve)} for order, curve in curves.items()}


def checked_for(curve: dict[str, dict[str, float]]) -> float | None:
    """Thousands of words to be checked for the goal, between the two points of the curve beside it; None if neither
    side is there."""
    points = sorted((point["checked"], point["ml_acc"]) for point in curve.values())
    for (before, low), (after, high) in pairwise(points):
        if low < GOAL <= high:
            return round(before + (GOAL - low) / (high - low) * (after - before), 3)
    return None


if __name__ == "__main__":
    source, output = Path(sys.argv[1]), Path(sys.argv[2])
    for order, found in find_curves(json.loads(source.read_text(encoding="utf8"))).items():
        path = output.with_name(f"{output.name}-{order}.json")
        path.write_text(json.dumps(found, indent=2) + "\n", encoding="utf8")
