"""`method = "hierarchy"`: sets that are the tags below a node of a tree."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example

from spacy_crf.core.errors import CRFWarning
from spacy_crf.core.sets.hierarchy import best_nodes, tree_from_parents, tree_from_separator
from spacy_crf.core.sets.predict import make_utility
from spacy_crf.tagsets.block import TreeSettings

TREE = "spacy_crf.TagTree.v1"
WORDS = ["huse", "deme", "huse", "wol", "deme", "huse", "wol", "deme"]
TAGS = ["NA.Dat", "D.Dat", "NA.Akk", "AVD", "D.Akk", "NA.Nom", "AVD", "D.Dat"]
FILE = "# cases\nNA.Dat\tNA\nNA.Akk\tNA\nNA.Nom\tNA\nD.Dat\tD\nD.Akk\tD\n\nNA\tany\nD\tany\nAVD\tany\n"


def trained(hierarchy: dict[str, Any] | None, **config: Any) -> Language:
    nlp = spacy.blank("xx")
    features = {"@misc": "spacy_crf.Features.v1", "templates": ["LOWER"]}
    trainer = {"@misc": "spacy_crf.LBFGS.v1", "c2": 0.1}
    block = None if hierarchy is None else {"@misc": TREE, **hierarchy}
    settings = {"features": features, "trainer": trainer, "method": "hierarchy", "hierarchy": block, **config}
    nlp.add_pipe("set_valued_tagger", config=settings)
    example = Example(Doc(nlp.vocab, words=WORDS), Doc(nlp.vocab, words=WORDS, tags=TAGS))
    nlp.initialize(lambda: [example])
    nlp.update([example])
    return nlp


def check(nlp: Language, tree: Any, beta: float = 1.0) -> list[str]:
    """Sets and nodes are those of greatest expected utility; their names are returned."""
    doc = nlp(Doc(nlp.vocab, words=WORDS))
    labels = list(nlp.get_pipe("set_valued_tagger").labels)
    values = np.array([[token._.tag_probs[label] for label in labels] for token in doc])
    nodes, sets = best_nodes(values, tree, make_utility("g", 1.0, beta).values(len(labels)))
    for token, members in zip(doc, sets.members):
        assert set(token._.tag_set) == {label for label, is_in in zip(labels, members) if is_in}
        assert token._.tag_set[0] == max(token._.tag_set, key=token._.tag_probs.__getitem__)
    found = [token._.tag_nodes for token in doc]
    assert found == [tree.names[node] for node in nodes]
    return found


def test_the_names_of_tags_say_where_they_belong(tmp_path: Path) -> None:
    nlp = trained({"separator": "."})
    tree = tree_from_separator(nlp.get_pipe("set_valued_tagger").labels, ".")
    assert check(nlp, tree)[1:4] == ["D.*", "NA.*", "AVD"]
    nlp.to_disk(tmp_path)
    again = spacy.load(tmp_path)
    assert check(again, tree) == check(nlp, tree)
    again.get_pipe("set_valued_tagger").cfg["beta"] = 3.0
    assert check(again, tree, 3.0) != check(nlp, tree)


def test_a_tree_from_a_file_is_saved_with_the_component(tmp_path: Path) -> None:
    path = tmp_path / "tags.tsv"
    path.write_text(FILE, encoding="utf8")
    nlp = trained({"path": str(path)})
    parents = dict(line.split("\t") for line in FILE.split("\n") if "\t" in line)
    tree = tree_from_parents(nlp.get_pipe("set_valued_tagger").labels, parents)
    assert check(nlp, tree)[1:4] == ["D", "NA", "AVD"]
    nlp.to_disk(tmp_path / "model")
    data = nlp.to_bytes()
    path.unlink()
    assert check(spacy.load(tmp_path / "model"), tree)[2] == "NA"
    assert check(from_bytes(data, path), tree)[2] == "NA"


def from_bytes(data: bytes, path: Path) -> Language:
    nlp = spacy.blank("xx")
    features = {"@misc": "spacy_crf.Features.v1", "templates": ["LOWER"]}
    config = {"features": features, "method": "hierarchy", "hierarchy": {"@misc": TREE, "path": str(path)}}
    nlp.add_pipe("set_valued_tagger", config=config)
    return nlp.from_bytes(data)


def test_other_methods_have_no_nodes() -> None:
    with pytest.warns(CRFWarning, match=r"CRFW887.*hierarchy"):
        nlp = trained({"separator": "."}, method="utility")
    doc = nlp(Doc(nlp.vocab, words=WORDS))
    assert doc._.tag_nodes is None and doc[0]._.tag_nodes is None and doc[0]._.tag_set


def test_nodes_of_another_component_s_probabilities() -> None:
    nlp = spacy.blank("xx")
    nlp.add_pipe("tagger")
    block = {"@misc": TREE, "separator": "."}
    nlp.add_pipe("set_valued_tagger", config={"source": "tagger", "method": "hierarchy", "hierarchy": block})
    example = Example(Doc(nlp.vocab, words=WORDS), Doc(nlp.vocab, words=WORDS, tags=TAGS))
    nlp.initialize(lambda: [example])
    tree = tree_from_separator(nlp.get_pipe("tagger").labels, ".")
    check(nlp, tree)
    with pytest.raises(ValueError, match=r"CRF408.*hierarchy\.path.*source"):
        block = {"@misc": TREE, "path": "tags.tsv"}
        names = {"tag_set": "crf_test_second", "tag_probs": "crf_test_second_probs"}
        nlp.add_pipe("set_valued_tagger", "second", config={"source": "tagger", "hierarchy": block, **names})


@pytest.mark.parametrize(
    "content, problem",
    [
        (FILE.replace("AVD\tany\n", ""), r"CRF808.*AVD"),
        (FILE.replace("NA\tany", "NA\tNA"), r"CRF809.*NA"),
        (FILE + "AVD\tother\n", r"CRF810.*AVD.*any.*other"),
        (FILE + "AVD any\n", r"CRF553.*tags\.tsv, line 11.*AVD any"),
        (FILE + "AVD\t\n", r"CRF553.*line 11"),
        (None, r"CRF553.*tags\.tsv"),
    ],
)
def test_what_is_wrong_with_a_file_shows_before_training(tmp_path: Path, content: str | None, problem: str) -> None:
    path = tmp_path / "tags.tsv"
    if content is not None:
        path.write_text(content, encoding="utf8")
    with pytest.raises(ValueError, match=problem):
        trained({"path": str(path)})


def test_settings_that_make_no_tree() -> None:
    for settings in ({}, {"path": "a", "separator": "."}, {"path": "", "separator": ""}):
        with pytest.raises(ValueError, match="CRF554"):
            TreeSettings(**settings)
    with pytest.raises(ValueError, match=r"CRF408.*hierarchy.*TagTree"):
        trained(None)
