"""Chunks against maximal spans by brute force, conlleval's own lists, and counts by hand."""

from __future__ import annotations

import json
import random

import numpy as np
import pytest

from graftwork.report import chunk_scores, label_scores

from doors.report import chunks, is_chunk_tag

SCHEMES = ["BIO", "IO", "EIO", "BIESO", "BILUO", "BMESO", "[]IO", "BIELMSUO[]"]


def drawn(rng: random.Random, letters: str, length: int) -> list[str]:
    """Random tags of two types, or none, with no regard to any rule."""
    out = []
    for _ in range(length):
        letter = rng.choice(letters)
        out.append(letter if letter == "O" else letter + rng.choice(["-A", "-B-x", "", "-"]))
    return out


def spans(tags: list[str]) -> set[tuple[str, int, int]]:
    """All spans that hold together and would not if they were longer."""
    kinds = [tag[2:] for tag in tags]

    def holds(i: int, j: int) -> bool:
        if i < 0 or j > len(tags):
            return False
        inside = tags[i:j]
        return (
            "O" not in inside
            and len(set(kinds[i:j])) == 1
            and not any(tag[0] in "BSU[]" for tag in inside[1:])
            and not any(tag[0] in "ELSU[]" for tag in inside[:-1])
        )

    n = len(tags)
    return {
        (kinds[i], i, j)
        for i in range(n)
        for j in range(i + 1, n + 1)
        if holds(i, j) and not holds(i - 1, j) and not holds(i, j + 1)
    }


@pytest.mark.parametrize("letters", SCHEMES)
def test_chunks_are_the_maximal_spans(letters):
    rng = random.Random(letters)
    for _ in range(300):
        tags = drawn(rng, letters, rng.randrange(9))
        found = chunks(tags)
        assert len(found) == len(set(found))
        assert set(found) == spans(tags)


# What conlleval has between two tags of one type; another type begins and ends chunks as well.
BEGINS = {"BB", "IB", "OB", "OI", "EE", "EI", "OE"}
ENDS = {"BB", "BO", "IB", "IO", "EE", "EI", "EO"}


def walked(truth: list[list[str]], predicted: list[list[str]]) -> tuple[int, int, int]:
    """True, predicted and correct chunks, counted token by token as conlleval does."""

    def change(pairs, one, two, which):
        others = one[2:] != two[2:] and (one, two)[which] != "O"
        return one[0] + two[0] in pairs or others

    n_true = n_predicted = n_correct = 0
    running = False
    flat = [[tag for tags in ([], *side) for tag in [*tags, "O"]] for side in (truth, predicted)]
    before = ("O", "O")
    for now in zip(*flat, strict=True):
        ends = [change(ENDS, before[k], now[k], 0) for k in (0, 1)]
        begins = [change(BEGINS, before[k], now[k], 1) for k in (0, 1)]
        if running and any(ends):
            n_correct += all(ends)
            running = False
        n_true += begins[0]
        n_predicted += begins[1]
        if all(begins) and now[0][2:] == now[1][2:]:
            running = True
        elif any(begins):
            running = False
        before = now
    return n_true, n_predicted, n_correct


@pytest.mark.parametrize("letters", ["BIO", "EIO", "IO"])
def test_counts_are_those_of_conlleval(letters):
    rng = random.Random(letters)
    for _ in range(200):
        truth = [drawn(rng, letters, rng.randrange(8)) for _ in range(3)]
        predicted = [
            [tag if rng.random() < 0.7 else drawn(rng, letters, 1)[0] for tag in tags]
            for tags in truth
        ]
        overall = chunk_scores(truth, predicted).overall
        counts = (overall.n_true, overall.n_predicted, overall.n_correct)
        assert counts == walked(truth, predicted)


TRUTH = [["B-NP", "I-NP", "B-VP", "B-PP", "B-NP"], ["B-NP", "O", "B-NP", "I-NP"]]
GUESS = [["B-NP", "I-NP", "B-VP", "B-NP", "I-NP"], ["B-NP", "O", "B-NP", "B-NP"]]


def test_scores_by_hand():
    scores = chunk_scores(TRUTH, GUESS)
    # True NPs: 0-1 and 4 in the first, 0 and 2-3 in the second; guessed 0-1, 3-4; 0, 2, 3.
    found = scores["NP"]
    assert (found.n_true, found.n_predicted, found.n_correct) == (4, 5, 2)
    assert (found.precision, found.recall, found.f1) == (0.4, 0.5, 4 / 9)
    assert (scores["PP"].precision, scores["PP"].recall, scores["PP"].f1) == (0.0, 0.0, 0.0)
    assert scores["VP"].f1 == 1.0
    overall = scores.overall
    assert (overall.n_true, overall.n_predicted, overall.n_correct) == (6, 6, 3)
    assert scores.f1 == 0.5
    assert scores.accuracy == 6 / 9
    assert scores.tokens.n_right_sequences == 0
    assert [found.name for found in scores.types] == ["NP", "PP", "VP"]
    plain = json.loads(json.dumps(scores.to_dict()))
    assert (plain["f1"], plain["accuracy"]) == (0.5, 6 / 9)
    assert plain["types"]["NP"]["n_predicted"] == 5


def test_chunks_end_with_their_sequence():
    cut = chunk_scores([["B-A"], ["I-A"]], [["B-A"], ["I-A"]])
    assert cut.overall.n_true == 2
    assert cut.f1 == 1.0
    assert chunk_scores([["B-A", "I-A"]], [["I-A", "I-A"]]).f1 == 1.0


def test_nothing_at_all_is_right():
    for scores in (chunk_scores([], []), chunk_scores([["O"]], [["O"]])):
        assert (scores.f1, scores.accuracy, scores.types) == (1.0, 1.0, ())
    assert chunk_scores([["O"]], [["B-A"]]).overall.recall == 0.0
    assert label_scores([], []).macro_f1 == 1.0


def test_label_scores_by_hand():
    scores = label_scores([[0, 1, 1], [2]], (np.array([0, 1, 0]), np.array([1])))
    assert [found.name for found in scores.labels] == [0, 1, 2]
    assert [(f.n_true, f.n_predicted, f.n_correct) for f in scores.labels] == [
        (1, 2, 1),
        (2, 2, 1),
        (1, 0, 0),
    ]
    assert scores.accuracy == 0.5
    assert scores.macro_f1 == pytest.approx((2 / 3 + 1 / 2 + 0) / 3)
    assert scores[1].recall == 0.5
    plain = json.loads(json.dumps(scores.to_dict()))
    assert plain["labels"][1]["label"] == 1


def test_labels_of_any_hashable_kind():
    scores = label_scores([[("a", 1), None]], [[("a", 1), "x"]])
    assert scores[("a", 1)].f1 == 1.0
    assert scores[None].n_true == 1


@pytest.mark.parametrize("label", ["NN", "X-NP", "", "-", "b-NP", 1, None, "OO-A", "O-A"])
def test_labels_that_are_no_chunk_tags(label):
    assert not is_chunk_tag(label)
