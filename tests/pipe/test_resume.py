"""Training that was interrupted and goes on: the same bytes as training without a break."""

import gc
import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spacy
from helpers import citations, punctuated
from helpers.commands import run_spacy
from helpers.folders import CHECKSUMS, accept_edits
from helpers.networks import model
from helpers.paths import ROOT
from helpers.resuming import RUN, STEPS, begin, check_resume, run
from helpers.tagged import ONLINE, TRAINER_CONFIGS, make_examples
from spacy.language import Language
from spacy.tokens import DocBin
from spacy.training import Example
from spacy.util import load_config
from thinc.api import Adam

from spacy_crf import CRFError, CRFWarning
from spacy_crf.learning.packed import dumps, loads, pack, unpack

RARE = {"@misc": "spacy_crf.Features.v1", "templates": ["LOWER[-1..1]", "SUFFIX2", "B:LOWER[0]"], "min_count": 2}
LBFGS: dict[str, dict[str, Any]] = {
    "plain": {},
    "short memory": {"memory": 2},
    "zeros": {"c1": 0.3},
    "converges": {"iterations_per_step": 30, "c2": 1.0},
    "unseen": {"unseen": 0.01, "warmup": 2},
}


def make(trainer: str, settings: dict[str, Any] | None = None, **config: Any) -> Language:
    few = {"iterations_per_step": 2} if trainer == "LBFGS" else {}
    block = {**TRAINER_CONFIGS[trainer], **few, "resumable": True, **(settings or {})}
    nlp = spacy.blank("xx")
    nlp.add_pipe("crf_tagger", config={"features": RARE, **config, "trainer": block})
    return nlp


def lbfgs(settings: dict[str, Any] | None = None, **config: Any) -> Language:
    return make("LBFGS", settings, **config)


@pytest.mark.parametrize("interrupted", [1, 4])
@pytest.mark.parametrize("settings", LBFGS)
def test_lbfgs(settings: str, interrupted: int, tmp_path: Path) -> None:
    check_resume(lambda: lbfgs(LBFGS[settings]), make_examples, tmp_path, interrupted)


@pytest.mark.parametrize("interrupted", [1, 3, 4])
def test_lbfgs_of_order_2_in_both_of_its_phases(interrupted: int, tmp_path: Path) -> None:
    order_2 = {"@architectures": "spacy_crf.LinearChain.v1", "order": 2}
    check_resume(
        lambda: lbfgs({"first_order_steps": 3, "c1": 0.01}, model=order_2), make_examples, tmp_path, interrupted
    )


@pytest.mark.parametrize("interrupted", [1, 4])
@pytest.mark.parametrize(
    "config", [{}, {"target": "ent"}, {"forbidden": [["DT", "DT"]]}, {"max_features": 50}], ids=str
)
@pytest.mark.parametrize("trainer", ["Minibatch", *ONLINE])
def test_online(trainer: str, config: dict[str, Any], interrupted: int, tmp_path: Path) -> None:
    own = dict(config)
    features = {**RARE, **({"max_features": own.pop("max_features")} if "max_features" in own else {})}
    check_resume(lambda: make(trainer, features=features, **own), make_examples, tmp_path, interrupted)


def resumable(block: dict[str, Any]) -> dict[str, Any]:
    return {**block, "resumable": True, "iterations_per_step": 2}


@pytest.mark.parametrize("use_averages", [True, False])
def test_minibatches_saved_as_spacy_train_saves_them(use_averages: bool, tmp_path: Path) -> None:
    found = []
    for interrupted in (False, True):
        nlp = make("Minibatch")
        examples = make_examples(nlp)
        begin(nlp, examples)
        if interrupted:
            begin(nlp, examples, tmp_path / "saved")
        optimizer = Adam(0.05, L2=0.0, use_averages=use_averages)
        for number in range(3 if interrupted else 0, STEPS):
            if number == 3 and not interrupted:
                with nlp.use_params(optimizer.averages or {}):
                    nlp.get_pipe("crf_tagger").to_disk(tmp_path / "saved")
            nlp.update(examples[number : number + 5], sgd=optimizer)
        with nlp.use_params(optimizer.averages or {}):
            found.append(nlp.get_pipe("crf_tagger").to_bytes())
    assert found[0] == found[1]


def test_constraints_that_are_mined(tmp_path: Path) -> None:
    def make_nlp() -> Language:
        mining = {"@misc": "spacy_crf.Mining.v1", "folds": 2, "iterations": 5}
        return citations.build(trainer=resumable({"@misc": "spacy_crf.LBFGS.v1"}), mine=mining)

    check_resume(make_nlp, citations.make_examples, tmp_path, 2)


@pytest.mark.parametrize("interrupted", [1, 3])
def test_training_under_constraints_before_and_after_they_hold(interrupted: int, tmp_path: Path) -> None:
    trainer = resumable({"@misc": "spacy_crf.LBFGS.v1"})
    config = {"constraints": citations.RULES, "probabilities": "constrained", "train_constrained": True}
    check_resume(lambda: citations.build(trainer=trainer, **config), citations.make_examples, tmp_path, interrupted)


def test_a_restorer(tmp_path: Path) -> None:
    def make_nlp() -> Language:
        return punctuated.build(trainer=resumable(punctuated.CONFIG["trainer"]))

    check_resume(make_nlp, lambda nlp: punctuated.make_examples(nlp, tmp_path), tmp_path, 2)


@pytest.mark.parametrize("learn_from", ["soft", "augmented"])
def test_a_set_valued_tagger(learn_from: str, tmp_path: Path) -> None:
    def make_nlp() -> Language:
        nlp = spacy.blank("xx")
        config = {"features": RARE, "learn_from": learn_from, "trainer": resumable(TRAINER_CONFIGS["LBFGS"])}
        nlp.add_pipe("set_valued_tagger", config=config)
        return nlp

    check_resume(make_nlp, make_examples, tmp_path, 2)


def test_the_tag_dictionary_is_made_again(tmp_path: Path) -> None:
    dictionary = {"@misc": "spacy_crf.TagDictionary.v1", "use": "mask"}
    check_resume(lambda: lbfgs(dictionary=dictionary), make_examples, tmp_path, 2)


@pytest.mark.parametrize("precision", ["float32", "float16"])
def test_what_is_saved_in_half_precision_goes_on_in_full(precision: str, tmp_path: Path) -> None:
    own = {"@architectures": "spacy_crf.LinearChain.v1", "precision": precision, "boundary": False}
    check_resume(lambda: make("AdaGrad", model=own), make_examples, tmp_path, 3)


def learn(nlp: Language, examples: list[Example], first: int, last: int, start: Path | None = None) -> Any:
    begin(nlp, examples, start)
    return run(nlp, examples, first, last)


def saved(folder: Path, nlp: Language) -> Path:
    learn(nlp, make_examples(nlp), 0, 3).to_disk(folder / "saved")
    return folder / "saved"


def test_the_order_of_the_examples_does_not_matter_to_lbfgs(tmp_path: Path) -> None:
    folder, found = saved(tmp_path, lbfgs()), []
    for step in (1, -1):
        nlp = lbfgs()
        examples = make_examples(nlp)[::step]
        found.append(learn(nlp, examples, 3, STEPS, folder).to_bytes())
    assert found[0] == found[1]


def test_what_is_saved_after_the_examples_are_gone_can_go_on(tmp_path: Path) -> None:
    nlp = lbfgs()
    examples = make_examples(nlp)
    pipe = learn(nlp, examples, 0, 3)
    before = pipe.to_bytes()
    del examples
    gc.collect()
    assert pipe.trainer.optimizer is None
    assert pipe.to_bytes() == before


@pytest.mark.parametrize("trainer", ["LBFGS", "AROW"])
def test_the_setting_changes_neither_the_other_files_nor_what_is_learned(trainer: str) -> None:
    found = []
    for resumable in (False, True):
        nlp = make(trainer, {"resumable": resumable})
        examples = make_examples(nlp)
        found.append(loads(learn(nlp, examples, 0, 3).to_bytes()))
        found[-1].pop(CHECKSUMS)
    assert found[1].pop(RUN)
    assert found[0] == found[1]


def test_a_pipeline_that_is_only_used_ignores_the_file(tmp_path: Path) -> None:
    folder = saved(tmp_path, lbfgs())
    nlp = lbfgs()
    pipe = nlp.get_pipe("crf_tagger").from_disk(folder)
    (folder / RUN).write_bytes(b"damaged")
    assert pipe.to_bytes(exclude=[RUN]) == lbfgs().get_pipe("crf_tagger").from_disk(folder).to_bytes()
    assert RUN not in loads(pipe.to_bytes())


@pytest.mark.parametrize("resumable", [True, False])
def test_without_the_file_a_new_run_begins(resumable: bool, tmp_path: Path, recwarn: Any) -> None:
    folder = saved(tmp_path, lbfgs({"resumable": not resumable}))
    nlp = lbfgs({"resumable": resumable})
    examples = make_examples(nlp)
    learn(nlp, examples, 3, 4, folder)
    told = [str(one.message) for one in recwarn if issubclass(one.category, CRFWarning)]
    assert len(told) == resumable and all("CRFW405" in one and str(folder) in one for one in told)


@pytest.mark.parametrize(
    "trainer, settings, config, differing",
    [
        ("LBFGS", {"c2": 0.5}, {}, "trainer.c2 is 0.5 and was 0.01"),
        ("AdaGrad", {}, {}, "trainer is 'AdaGradSettings' and was 'LBFGSSettings'"),
        ("LBFGS", {}, {"features": {**RARE, "min_count": 1}}, "features.min_count is 1 and was 2"),
        ("LBFGS", {}, {"sequence": "sents"}, "sequence is 'sents' and was 'auto'"),
        ("LBFGS", {}, {"model": {"@architectures": "spacy_crf.LinearChain.v1", "boundary": False}}, "model.boundary"),
    ],
    ids=lambda value: str(value)[:20],
)
def test_other_settings_are_an_error(
    trainer: str, settings: dict[str, Any], config: dict[str, Any], differing: str, tmp_path: Path
) -> None:
    folder = saved(tmp_path, make("LBFGS"))
    nlp = make(trainer, settings, **config)
    with pytest.raises(CRFError, match="CRF419") as caught:
        begin(nlp, make_examples(nlp), folder)
    assert differing in str(caught.value) and str(folder) in str(caught.value)


def test_threads_are_no_such_setting(tmp_path: Path) -> None:
    folder = saved(tmp_path, make("LBFGS"))
    nlp = make("LBFGS", {"n_threads": 2})
    examples = make_examples(nlp)
    learn(nlp, examples, 3, 4, folder)


def test_other_labels_are_an_error(tmp_path: Path) -> None:
    folder, nlp = saved(tmp_path, lbfgs()), lbfgs()
    nlp.get_pipe("crf_tagger").add_label("NEW")
    with pytest.raises(CRFError, match="CRF419.*labels is"):
        begin(nlp, make_examples(nlp), folder)


def test_other_examples_are_an_error_for_lbfgs(tmp_path: Path) -> None:
    folder, nlp = saved(tmp_path, lbfgs()), lbfgs()
    examples = make_examples(nlp)
    begin(nlp, examples, folder)
    with pytest.raises(CRFError, match="CRF207.*19 sequences.*20"):
        nlp.update(examples[1:])
    examples[0].reference[0].tag_ = "NN"
    with pytest.raises(CRFError, match="CRF207"):
        nlp.update(examples)


def test_a_network_cannot_be_resumed() -> None:
    nlp = make("AdaGrad", model=model())
    with pytest.raises(CRFError, match="CRF209"):
        begin(nlp, make_examples(nlp))


def test_damage_is_noticed(tmp_path: Path) -> None:
    folder = saved(tmp_path, lbfgs())
    content = (folder / RUN).read_bytes()
    for damaged in (content[:-1], content + b"\n", b"", bytes([content[0] ^ 1]) + content[1:]):
        (folder / RUN).write_bytes(damaged)
        nlp = lbfgs()
        with pytest.raises(CRFError, match="CRF426.*trainer"):
            begin(nlp, make_examples(nlp), folder)
    (folder / RUN).unlink()
    nlp = lbfgs()
    with pytest.raises(CRFError, match="CRF404"):
        begin(nlp, make_examples(nlp), folder)


@cache
def once(trainer: str) -> dict[str, bytes]:
    """Contents of the files of a component in training."""
    nlp = make(trainer)
    files: dict[str, bytes] = loads(learn(nlp, make_examples(nlp), 0, 3).to_bytes())
    return files


FORGED: dict[str, Any] = {
    "no state": lambda data: data.pop("state"),
    "text": lambda data: data.update(state="x"),
    "an array as setting": lambda data: data["settings"].update({"trainer.c2": np.ones(2)}),
    "model": lambda data: data.update(model=b"\x80"),
    "another model": lambda data: data.update(model=saved_model()),
    "features": lambda data: data["features"].pop("edge"),
    "fewer features": lambda data: data["features"]["state"].update(
        template=data["features"]["state"]["template"][1:], atoms=data["features"]["state"]["atoms"][:, 1:]
    ),
    "rare": lambda data: data["features"]["rare"]["state"].update(counts=np.zeros(1)),
    "rare twice": lambda data: data["features"]["rare"]["state"].update(
        keys=np.ones(2, dtype=np.uint64), counts=np.ones(2, dtype=np.int64)
    ),
}
FORGED_LBFGS: dict[str, Any] = {
    **{name: lambda state, name=name: state["search"].pop(name) for name in ("x", "steps", "scale", "iterations")},
    "size": lambda state: state["search"].update(x=state["search"]["x"][1:]),
    "nan": lambda state: state["search"]["x"].__setitem__(0, np.nan),
    "integers": lambda state: state["search"].update(x=state["search"]["x"].astype(int)),
    "history": lambda state: state["search"].update(changes=state["search"]["changes"][1:]),
    "count": lambda state: state.update(n_steps=-1),
    "sequences": lambda state: state.update(sequences="x"),
}
FORGED_ONLINE: dict[str, Any] = {
    **{name: lambda state, name=name: state["learner"].pop(name) for name in ("raw", "sums", "time", "variances")},
    "size": lambda state: state["learner"].update(raw=state["learner"]["raw"][1:]),
    "nan": lambda state: state["learner"]["sums"].__setitem__(0, np.nan),
    "negative": lambda state: state["learner"]["variances"].__setitem__(0, -1.0),
    "order": lambda state: state.update(order=state["order"][1:]),
    "order of another kind": lambda state: state.update(order=np.full(6, 2**63, dtype=np.uint64)),
}


def saved_model() -> bytes:
    nlp = make("Perceptron", features={**RARE, "templates": ["LOWER"]})
    examples = make_examples(nlp)
    content: bytes = learn(nlp, examples, 0, 1).model.to_bytes()
    return content


FORGED_MINIBATCH: dict[str, Any] = {
    "raw": lambda state: state.pop("raw"),
    "size": lambda state: state.update(raw=state["raw"][1:]),
    "moments": lambda state: state.update(moments=[]),
    "moment": lambda state: state["moments"]["state"].update(mom1=state["moments"]["state"]["mom1"][1:]),
    "count": lambda state: state["moments"]["state"].pop("nr_update"),
}


@pytest.mark.parametrize(
    "trainer, forge",
    [
        *(pytest.param("LBFGS", FORGED[name], id=name) for name in FORGED),
        *(
            pytest.param("LBFGS", lambda data, f=FORGED_LBFGS[name]: f(data["state"]), id=f"L-BFGS {name}")
            for name in FORGED_LBFGS
        ),
        *(
            pytest.param("AROW", lambda data, f=FORGED_ONLINE[name]: f(data["state"]), id=f"AROW {name}")
            for name in FORGED_ONLINE
        ),
        *(
            pytest.param("Minibatch", lambda data, f=FORGED_MINIBATCH[name]: f(data["state"]), id=f"Minibatch {name}")
            for name in FORGED_MINIBATCH
        ),
    ],
)
def test_what_somebody_has_written_on_purpose_is_a_coded_error(trainer: str, forge: Any, tmp_path: Path) -> None:
    (folder := tmp_path / "saved").mkdir()
    for name, content in once(trainer).items():
        (folder / name).write_bytes(content)
    copied = loads(unpack((folder / RUN).read_bytes()))
    for table in (copied["state"].get("search", {}), copied["state"].get("learner", {})):
        table.update({name: value.copy() for name, value in table.items() if isinstance(value, np.ndarray)})
    forge(copied)
    (folder / RUN).write_bytes(pack(dumps(copied)))
    accept_edits(folder)
    nlp = make(trainer)
    examples = make_examples(nlp)
    with pytest.raises(CRFError, match="CRF208|CRF404|CRF418"):
        learn(nlp, examples, 3, 4, folder)


def test_the_list_of_files_names_it(tmp_path: Path) -> None:
    folder = saved(tmp_path, lbfgs())
    assert RUN in json.loads((folder / CHECKSUMS).read_text(encoding="utf8"))


def test_the_command_line(tmp_path: Path) -> None:
    """`max_steps = n` takes n + 1 steps."""
    DocBin(docs=[eg.reference for eg in make_examples(spacy.blank("en"))]).to_disk(tmp_path / "tiny.spacy")
    config = load_config(ROOT / "configs" / "crf_tagger.cfg")
    config["paths"].update(train=str(tmp_path / "tiny.spacy"), dev=str(tmp_path / "tiny.spacy"))
    config["components"]["crf_tagger"]["trainer"] = resumable({"@misc": "spacy_crf.LBFGS.v1", "c2": 0.1})
    config["training"].update(patience=0, max_epochs=0)
    config.to_disk(tmp_path / "config.cfg")

    def train(name: str, max_steps: int, *options: str) -> dict[str, bytes]:
        command = ["train", tmp_path / "config.cfg", "--output", tmp_path / name]
        steps = ["--training.max_steps", max_steps, *options]
        run_spacy(*command, *steps)
        return {file.name: file.read_bytes() for file in (tmp_path / name / "model-last" / "crf_tagger").iterdir()}

    train("first", 2)
    start = str(tmp_path / "first" / "model-last" / "crf_tagger")
    resumed = train("second", 2, "--initialize.components.crf_tagger.start", start)
    assert RUN in resumed and resumed == train("whole", 5)
