"""The path of lambdas: its picture and table say what the network and its records say."""

import numpy as np
import pytest
from matplotlib.figure import Figure

import graftwork as gw
from graftwork.report import path_table, plot_path
from graftwork.selection import PathPoint

from doors.report import new_axes
from doors.selection import choice
from support.problems import random_table

CRITERIA = [
    *(("prediction", name) for name in ("hold-out", "k-fold", "ebic", "ebic-refit")),
    ("prediction", "ebic-then-refit"), ("structure", "adaptive"), ("structure", "stars"),
]  # fmt: skip


def learned(goal="prediction", criterion="hold-out", n=9):
    net = gw.MarkovNetwork(goal=goal, criterion=criterion, random_state=0)
    return net.fit(random_table(4, n=n, rows=300))


@pytest.mark.some(3)
@pytest.mark.parametrize(("goal", "criterion"), CRITERIA)
def test_picture_table_and_network_have_the_same_edges(goal, criterion, monkeypatch, tmp_path):
    # As if the network of tested edges were never good enough.
    monkeypatch.setattr(choice, "ALLOWED", -np.inf)
    net = learned(goal, criterion)
    n_edges = net.model_.n_edges
    [chosen] = [point for point in net.path_ if point.chosen]
    assert chosen.n_edges == n_edges > 0
    assert chosen.objective == net.objective_
    assert chosen.loss == net.certificate_.loss
    [row] = [line.split() for line in path_table(net.path_).splitlines() if "chosen" in line]
    assert row[1] == str(n_edges)
    ax = plot_path(net, tmp_path / "path.png")
    assert ax._repr_png_() == (tmp_path / "path.png").read_bytes()
    assert ax.get_title() == f"lambda {net.lam_:.4g}, {n_edges} edges"
    assert ax.get_xscale() == "log"
    assert np.greater(*ax.get_xlim())
    curve = ax.lines[0]
    assert np.allclose(curve.get_xdata(), [point.lam for point in net.path_])
    [edges] = ax.figure.axes[1].lines
    assert list(edges.get_ydata()) == [point.n_edges for point in net.path_]
    if criterion == "hold-out":
        assert np.allclose(curve.get_ydata(), [point.held_out for point in net.path_])
        assert set(ax.lines[1].get_ydata()) == {net.choice_.path.tested}
        assert ax.lines[2].get_xdata()[0] == net.lam_
        assert [text.get_text() for text in ax.get_legend().get_texts()] == ["the tested edges"]


def test_no_lambda_is_marked_where_tested_edges_predict_best(monkeypatch):
    monkeypatch.setattr(choice, "ALLOWED", np.inf)
    net = learned(n=5)
    ax = net.plot_path()
    assert ax.get_title() == f"the tested edges predict best: {net.model_.n_edges} edges"
    _, tested = ax.lines
    assert set(tested.get_ydata()) == {net.choice_.path.tested}
    assert "chosen" not in path_table(net.path_)


def test_of_the_structure_the_short_list_and_the_network_are_told_apart():
    net = learned("structure", None)
    listed, kept = net.certificate_.n_edges, net.model_.n_edges
    [chosen] = [point for point in net.path_ if point.chosen]
    assert chosen.n_edges == listed != kept
    assert (net.choice_.tests.n_listed, net.choice_.tests.n_kept) == (listed, kept)
    axes = Figure().add_subplot()
    ax = net.plot_path(ax=axes)
    assert ax is axes
    told = f": a short list of {listed} pairs; the network has {kept} edges"
    assert ax.get_title() == f"lambda {net.lam_:.4g}{told}"
    assert ax.get_ylabel() == "objective"
    assert "criterion" not in path_table(net.path_)
    edges, dot = ax.figure.axes[1].lines
    assert edges.get_ydata()[-1] == listed
    assert (dot.get_xdata()[0], dot.get_ydata()[0]) == (net.lam_, kept)
    assert plot_path(net, title="mine").get_title() == "mine"


PATHS = {
    "short": np.geomspace(0.4, 0.06, 5),
    "within a decade": np.geomspace(0.09, 0.02, 9),
    "across one": np.geomspace(0.15, 0.07, 4),
    "narrow": [0.1002, 0.1001],
    "long": np.geomspace(0.3, 2e-5, 17),
    "very long": np.geomspace(30.0, 1e-12, 30),
    "one": [0.08078],
    "above one": np.geomspace(250.0, 3.0, 6),
}


@pytest.mark.parametrize("width", [2.5, 7.0])
@pytest.mark.parametrize("case", PATHS)
def test_numbers_below_the_picture_have_room(case, width):
    lams = list(map(float, PATHS[case]))
    points = [PathPoint(lam, n, 3.0, 3.0 + lam, chosen=n == 0) for n, lam in enumerate(lams)]
    ax = plot_path(points, ax=new_axes(width, 4.0, (0.15, 0.15, 0.7, 0.7)))
    ax.figure.canvas.draw()
    labels = [*ax.get_xticklabels(), *ax.get_xticklabels(minor=True)]
    shown = [label.get_window_extent() for label in labels if label.get_text()]
    assert len(shown) >= min(len(lams), 2)
    assert not any(a.overlaps(b) for i, a in enumerate(shown) for b in shown[:i])
    ticks = ax.figure.axes[1].get_yticks()
    assert (ticks == ticks.round()).all()
