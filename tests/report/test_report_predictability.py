"""Predictability and communities in words and in pictures."""

from __future__ import annotations

import numpy as np
import pytest

import graftwork as gw

from doors.estimators import Predictability
from doors.report import (
    MOST_RINGS,
    PALETTE,
    both_text,
    community_text,
    plot_network,
    predictability_text,
    ring_shares,
)

ALIKE = [[1.0, 0.0], [0.0, 1.0]]


def predicted(correct, marginal, n_rows=1000, sample="in-sample", folds=0):
    shares, base = np.array(correct), np.array(marginal)
    n = np.full(len(shares), float(n_rows))
    loss = n * (1 - shares)
    names = tuple("abcdef"[: len(shares)])
    return Predictability(
        names, n, n * shares, n * base, loss, n * (1 - base), n_rows, sample, folds
    )


def path_network(n):
    names = [f"x{i}" for i in range(n)]
    pairs = {(names[i], names[i + 1]): ALIKE for i in range(n - 1)}
    return gw.PairwiseMRF({name: [0, 1] for name in names}, None, pairs)


def test_words_say_means_extremes_and_which_rows():
    text = predictability_text(predicted([0.9, 0.75, 0.6], [0.5, 0.5, 0.6]))
    assert text.startswith("In sample (1,000 rows), 75% of the cells are predicted correctly")
    assert "would be right in 53%" in text
    assert "Mean normalised accuracy 0.43" in text
    assert "Highest normalised accuracy: a (0.80), b (0.50)." in text
    assert "No better than by its marginals: c." in text
    assert text.endswith("so this is optimistic.")
    assert "rough" not in text


def test_words_of_few_rows_and_of_folds():
    text = predictability_text(predicted([0.9, 0.4], [0.5, 0.5], 25, "held-out", 5))
    assert text.startswith("Held out (25 rows in 5 folds)")
    assert "may be off by 0.20" in text
    assert "optimistic" not in text


def test_of_two_samples_the_one_of_many_rows_is_told_by_variable():
    inside = predicted([0.9], [0.5])
    many, few = (predicted([0.8], [0.5], rows, "held-out") for rows in (200, 20))
    assert "optimistic" not in both_text(inside, many)
    assert "Held out (200 rows), 80%" in both_text(inside, many)
    assert "optimistic" in both_text(inside, few)
    assert both_text(inside, few).endswith("may be off by 0.22.")
    assert both_text(None, None) == ""
    assert both_text(None, many) == predictability_text(many)


def test_constant_variables_have_nothing_to_explain():
    assert "nothing to explain" in predictability_text(predicted([1.0], [1.0]))


def test_summaries_tell_what_was_asked_for():
    rows = [["sun", "dry"], ["rain", "wet"]] * 50
    net = gw.MarkovNetwork(lam=0.1).fit(rows)
    assert "Predictability" not in net.summary()
    net.predictability(rows)
    assert "Predictability\n  In sample (100 rows), 100% of the cells" in net.summary()
    assert gw.describe(net.predictability_) in " ".join(net.summary().split())


def test_rings_are_filled_as_far_as_accuracies_go():
    net = gw.MarkovNetwork(lam=0.02).fit(rows := [["a", "x"], ["b", "y"], ["b", "x"]] * 30)
    table = net.predictability(rows)
    expected = {
        name: max(share, 0)
        for name, share in zip(table["variable"], table["normalised_accuracy"], strict=True)
    }
    for given in (table, net.predictability_, table.to_dict("records")):
        assert ring_shares(given)[0] == expected
    assert "in sample (90 rows)" in ring_shares(net.predictability_)[1]
    shares, meaning = ring_shares({"x": 1.5, "y": float("nan"), "z": -1})
    assert shares == {"x": 1.0, "y": 0.0, "z": 0.0}
    assert "values given" in meaning


def test_rings_are_drawn_and_repeat(tmp_path):
    model = path_network(6)
    shares = {"x0": 0.0, "x1": 0.25, "x2": 0.5, "x3": 0.75, "x4": 1.0}  # x5 has none
    for name in ("a.png", "b.png"):
        ax = plot_network(model, tmp_path / name, predictability=shares)
    assert (tmp_path / "a.png").read_bytes() == (tmp_path / "b.png").read_bytes()
    without = plot_network(model)
    # a white disc, a pale one and one for the node to lie on, and a sector where it is not empty
    assert len(rings_of(ax)) == 3 + 4
    assert not rings_of(without)
    assert "Rings show the values given" in " ".join(ax.texts[-1].get_text().split())
    assert "Rings" not in without.texts[-1].get_text()


def test_too_many_nodes_have_no_rings():
    model = path_network(MOST_RINGS + 1)
    ax = plot_network(model, predictability=dict.fromkeys(model.names, 0.5), max_labels=2)
    assert "No rings are drawn" in ax.texts[-1].get_text()
    assert not rings_of(ax)


def rings_of(ax):
    """What lies between edges and nodes."""
    return [each for each in ax.collections if 2 < each.zorder < 3]


def blocks():
    pairs = [("a", "b"), ("b", "c"), ("a", "c"), ("d", "e"), ("e", "f"), ("d", "f"), ("c", "d")]
    states = {name: [0, 1] for name in "abcdefg"}
    return gw.PairwiseMRF(states, None, dict.fromkeys(pairs, ALIKE))


def legend_of(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def test_legends_name_communities_and_groups():
    model = blocks()
    assert legend_of(plot_network(model)) == ["positive"]
    found = legend_of(plot_network(model, communities=True))
    assert found == ["community 1", "community 2", "positive"]
    own = dict(
        zip("abcdefg", ["mood", "mood", "sleep", "sleep", "sleep", "mood", None], strict=True)
    )
    assert legend_of(plot_network(model, communities=own)) == ["mood", "sleep", "positive"]


def test_the_smallest_of_many_groups_share_a_colour():
    model = path_network(12)
    own = {name: i // 2 * (i < 4) or i for i, name in enumerate(model.names)}
    words = legend_of(plot_network(model, communities=own))
    assert words[-2:] == ["others", "positive"]
    assert len(words) == len(PALETTE) + 2


def test_networks_without_edges_have_no_legend():
    model = gw.PairwiseMRF({"a": [0, 1], "b": [0, 1]})
    ax = plot_network(model, communities=True, predictability={"a": 0.5})
    assert ax.get_legend() is None
    assert "no communities" in community_text(model, {"a": None, "b": None})


def test_communities_in_words():
    model = blocks()
    text = community_text(model, {**dict.fromkeys("abc", 1), **dict.fromkeys("def", 2), "g": None})
    assert text.startswith("2 communities, found by Louvain's algorithm (modularity 0.36).")
    assert "1: a, b, c. 2: d, e, f. In none, without an edge: g." in text
    assert "weak evidence" not in text
    weak = community_text(path_network(2), {"x0": 1, "x1": 1})
    assert weak.startswith("1 community")
    assert "weak evidence" in weak


def test_describe_names_what_it_takes():
    with pytest.raises(TypeError, match="predictability_"):
        gw.describe(3)
