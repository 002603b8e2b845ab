import itertools

import numpy as np
import pytest

from spacy_crf.core.labels import TagSet


def legal_by_hand(scheme, path):
    """Whether a tag sequence is what some set of spans looks like."""
    spans, opened = [], None
    for position, tag in enumerate([*path, "O"]):
        prefix, _, label = tag.partition("-")
        if prefix in ("I", "L"):
            if opened is None or opened[1] != label:
                return False
            if prefix == "L":
                spans.append((opened[0], position + 1, label))
                opened = None
            continue
        if opened is not None:
            if scheme == "BILUO":
                return False
            spans.append((opened[0], position, opened[1]))
            opened = None
        if prefix == "B":
            opened = (position, label)
        if prefix == "U":
            spans.append((position, position + 1, label))
    return spans


@pytest.mark.parametrize("scheme", ["BIO", "BILUO"])
def test_masks_and_spans_agree_with_a_state_machine(scheme):
    tags = TagSet.of_spans(("A", "B") if scheme == "BIO" else ("A",), scheme)
    allowed, starts, ends = tags.legal()
    for path in itertools.product(range(len(tags)), repeat=4):
        by_mask = starts[path[0]] and ends[path[-1]] and all(allowed[a, b] for a, b in itertools.pairwise(path))
        by_hand = legal_by_hand(scheme, [tags.tags[t] for t in path])
        assert bool(by_mask) == (by_hand is not False), path
        if by_mask:
            first, end, tag = tags.spans(np.array(path), np.array([4]))
            found = [(a, b, tags.tags[t][2:]) for a, b, t in zip(first.tolist(), end.tolist(), tag.tolist())]
            assert found == by_hand


def test_spans_do_not_cross_sequences():
    tags = TagSet.of_spans(("A",), "BIO")
    first, end, _ = tags.spans(np.array([1, 2, 1, 0]), np.array([2, 0, 2]))
    assert (first.tolist(), end.tolist()) == ([0, 2], [2, 3])


def test_tags_that_look_like_a_scheme_mean_nothing_without_one():
    tags = TagSet(("B-A", "O", "I-A"), "none")
    assert tags.legal()[0].all() and tags.span_labels == ()


def test_labels_with_hyphens_keep_them():
    tags = TagSet.of_spans(("creative-work",), "BILUO")
    assert tags.span_labels == ("creative-work",)
    assert tags.tag_span(0, 3, "creative-work") == ["B-creative-work", "I-creative-work", "L-creative-work"]


def test_spans_need_a_scheme():
    with pytest.raises(ValueError, match="CRF106"):
        TagSet.of_spans(("A",), "none")


def test_plain_spans_are_maximal_runs_of_each_tag_but_o():
    tags = TagSet(("A", "O", "B"), "none")
    first, end, tag = tags.spans(np.array([0, 0, 2, 1, 0, 0, 1]), np.array([2, 3, 2]))
    assert (first.tolist(), end.tolist()) == ([0, 2, 4, 5], [2, 3, 5, 6])
    assert [tags.span_label(number) for number in tag.tolist()] == ["A", "B", "A", "A"]
    assert tags.tag_span(3, 5, "B") == ["B", "B"]


def test_plain_spans_need_no_o():
    first, end, _ = TagSet(("A", "B"), "none").spans(np.array([0, 1, 1]), np.array([0, 3]))
    assert (first.tolist(), end.tolist()) == ([0, 1], [1, 3])
