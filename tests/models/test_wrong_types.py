"""Arguments of a wrong type: one sentence each."""

import numpy as np
import pytest

import graftwork as gw
from graftwork.data import Table
from graftwork.errors import DataError

TABLE = {"names": ("a", "b"), "states": ((0, 1), (0, 1)), "codes": [[0, 1, 1], [1, 1, 0]]}
ODD = (None, 1, "x", [1], [[1, 2], [3]], [{}], object())


def counts():
    found = gw.count_pairs(Table(**TABLE))
    return {name: getattr(found, name) for name in ("names", "states", "matrix", "n_rows")}


@pytest.mark.parametrize("odd", ODD, ids=lambda odd: type(odd).__name__)
def test_tables_and_counts_of_odd_parts(odd):
    for name in TABLE:
        with pytest.raises(DataError):
            Table(**{**TABLE, name: odd})
    parts = {**counts(), "total_weight": 3.0}
    for name in parts:
        if name != "total_weight" or odd != 1:
            with pytest.raises(DataError):
                gw.PairTables(**{**parts, name: odd})
    assert gw.PairTables(**parts).n_rows == Table(**TABLE).n_rows


@pytest.mark.parametrize("odd", [*ODD, np.zeros((2, 3))], ids=lambda odd: type(odd).__name__)
def test_methods_of_networks_given_what_they_do_not_take(odd):
    model = gw.PairwiseMRF({"a": [0, 1], "b": [0, 1]})
    for method in (model.log_conditionals, model.log_probabilities):
        with pytest.raises(DataError, match="log_prob and log_pseudo_likelihood take tables"):
            method(odd)
    with pytest.raises(DataError, match="potentials are those of a network"):
        model.with_weights(odd, None)


def test_axes_that_are_none():
    net = gw.MarkovNetwork().fit([["sun", "dry"], ["rain", "wet"]] * 50)
    for odd in ("left", 1, [None]):
        with pytest.raises(DataError, match="ax must be axes of matplotlib"):
            net.plot_path(ax=odd)
        with pytest.raises(DataError, match="ax must be axes of matplotlib"):
            net.plot_pair("x0", "x1", ax=odd)
