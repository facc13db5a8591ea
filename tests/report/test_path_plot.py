import numpy as np
import pytest
from matplotlib.figure import Figure

import graftwork as gw
from graftwork.errors import DataError
from graftwork.report import path_table, plot_path
from graftwork.selection import PathPoint

from doors.report import new_axes
from doors.selection import choice
from support.problems import random_table


@pytest.fixture(scope="module")
def path_alone():
    """As if the network of tested edges were never good enough."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(choice, "ALLOWED", -np.inf)
        yield


@pytest.fixture(scope="module")
def net(path_alone):
    table = random_table(2, n=5, rows=150)
    return gw.MarkovNetwork(goal="prediction", criterion="hold-out", random_state=0).fit(table)


def test_the_picture_shows_criterion_edges_and_choice(net, tmp_path):
    ax = net.plot_path()
    curve, tested, mark = ax.lines
    assert set(tested.get_ydata()) == {net.choice_.path.tested}
    [label] = ax.get_legend().get_texts()
    assert label.get_text() == "the tested edges"
    assert np.allclose(curve.get_xdata(), [point.lam for point in net.path_])
    assert np.allclose(curve.get_ydata(), [point.held_out for point in net.path_])
    assert mark.get_xdata()[0] == net.lam_
    assert ax.get_xscale() == "log"
    left, right = ax.get_xlim()
    assert left > right
    [edges] = ax.figure.axes[1].lines
    assert list(edges.get_ydata()) == [point.n_edges for point in net.path_]
    plot_path(net, tmp_path / "path.svg")
    assert (tmp_path / "path.svg").read_text().startswith("<?xml")
    assert net.plot_path(ax=ax) is ax


def test_notebooks_show_the_path(net, tmp_path):
    ax = plot_path(net, tmp_path / "path.png")
    assert ax._repr_png_() == (tmp_path / "path.png").read_bytes()


def test_a_path_of_the_structure_shows_the_objective():
    net = gw.MarkovNetwork(random_state=0).fit(random_table(2, n=5, rows=150))
    assert plot_path(net.path_).get_ylabel() == "objective"
    assert "criterion" not in path_table(net.path_)


CRITERIA = {
    "prediction": ["hold-out", "k-fold", "ebic", "ebic-refit", "ebic-then-refit"],
    "structure": ["adaptive", "stars"],
}


def test_no_lambda_is_marked_where_tested_edges_predict_best(monkeypatch):
    monkeypatch.setattr(choice, "ALLOWED", np.inf)
    table = random_table(4, n=5, rows=300)
    net = gw.MarkovNetwork(goal="prediction", criterion="hold-out", random_state=0).fit(table)
    ax = net.plot_path()
    assert ax.get_title() == f"the tested edges predict best: {net.model_.n_edges} edges"
    _, tested = ax.lines
    assert set(tested.get_ydata()) == {net.choice_.path.tested}
    assert "chosen" not in path_table(net.path_)


@pytest.mark.some(3)
@pytest.mark.usefixtures("path_alone")
@pytest.mark.parametrize(
    ("goal", "criterion"), [(goal, name) for goal, names in CRITERIA.items() for name in names]
)
def test_picture_table_and_network_have_the_same_edges(goal, criterion):
    table = random_table(4, n=9, rows=300)
    net = gw.MarkovNetwork(goal=goal, criterion=criterion, random_state=0).fit(table)
    n_edges = net.model_.n_edges
    [chosen] = [point for point in net.path_ if point.chosen]
    assert chosen.n_edges == n_edges > 0
    assert chosen.objective == net.objective_
    assert chosen.loss == net.certificate_.loss
    [row] = [line.split() for line in path_table(net.path_).splitlines() if "chosen" in line]
    assert row[1] == str(n_edges)
    ax = net.plot_path()
    assert ax.get_title() == f"lambda {net.lam_:.4g}, {n_edges} edges"
    [edges] = ax.figure.axes[1].lines
    assert edges.get_ydata()[edges.get_xdata().tolist().index(net.lam_)] == n_edges


def test_of_the_structure_the_short_list_and_the_network_are_told_apart():
    net = gw.MarkovNetwork(random_state=0).fit(random_table(4, n=9, rows=300))
    listed, kept = net.certificate_.n_edges, net.model_.n_edges
    [chosen] = [point for point in net.path_ if point.chosen]
    assert chosen.n_edges == listed != kept
    assert (net.choice_.tests.n_listed, net.choice_.tests.n_kept) == (listed, kept)
    ax = net.plot_path()
    told = f": a short list of {listed} pairs; the network has {kept} edges"
    assert ax.get_title() == f"lambda {net.lam_:.4g}{told}"
    edges, dot = ax.figure.axes[1].lines
    assert edges.get_ydata()[-1] == listed
    assert (dot.get_xdata()[0], dot.get_ydata()[0]) == (net.lam_, kept)
    assert net.plot_path(ax=Figure().add_subplot()).get_title() == ax.get_title()
    assert plot_path(net, title="mine").get_title() == "mine"


def points(lams):
    return [PathPoint(lam, n, 3.0, 3.0 + lam, chosen=n == 0) for n, lam in enumerate(lams)]


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
    ax = plot_path(points(lams), ax=new_axes(width, 4.0, (0.15, 0.15, 0.7, 0.7)))
    ax.figure.canvas.draw()
    labels = [*ax.get_xticklabels(), *ax.get_xticklabels(minor=True)]
    shown = [label.get_window_extent() for label in labels if label.get_text()]
    assert len(shown) >= min(len(lams), 2)
    assert not any(a.overlaps(b) for i, a in enumerate(shown) for b in shown[:i])
    ticks = ax.figure.axes[1].get_yticks()
    assert (ticks == ticks.round()).all()


def test_a_given_lambda_has_no_path():
    net = gw.MarkovNetwork(lam=0.1).fit(random_table(2, n=5, rows=150))
    with pytest.raises(DataError, match="lambda was given"):
        net.plot_path()
    assert "no path" in path_table(net.path_)
