import numpy as np
import pytest
from problems import random_table

import graftwork as gw
from graftwork.errors import DataError
from graftwork.report import path_table, plot_path


@pytest.fixture(scope="module")
def net():
    table = random_table(2, n=5, rows=150)
    return gw.MarkovNetwork(goal="prediction", criterion="hold-out", random_state=0).fit(table)


def test_the_picture_shows_criterion_edges_and_choice(net, tmp_path):
    ax = net.plot_path()
    curve, mark = ax.lines
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


def test_a_given_lambda_has_no_path():
    net = gw.MarkovNetwork(lam=0.1).fit(random_table(2, n=5, rows=150))
    with pytest.raises(DataError, match="lambda was given"):
        net.plot_path()
    assert "no path" in path_table(net.path_)
