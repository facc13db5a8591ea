"""The table of edges: its order, and its numbers against the network's own."""

import numpy as np
import pytest
from matplotlib.collections import LineCollection

import graftwork as gw
from graftwork.models import PairwiseMRF, read_info
from graftwork.report import Association, edge_table, plot_network

from doors.report import double_centred, edges_of, saved_edges


@pytest.fixture
def model():
    return PairwiseMRF(
        {"a": [0, 1], "b": ["x", "y", "z"], "c": [False, True]},
        pairwise={
            ("a", "b"): [[2.0, 0.0, 0.0], [0.0, 0.0, 1.0]],
            ("c", "a"): [[5.0, 0.0], [0.0, 5.0]],
        },
    )


def test_the_numbers_are_the_networks_own_the_strongest_first(model):
    potentials = model.potentials
    ordered = PairwiseMRF.from_flat(
        model.names, [*model.states.values()], potentials, scores={"b": [0.0, 1.0, 4.0]}
    )
    records = edge_table(ordered)
    assert [(r.first, r.second) for r in records] == [("a", "c"), ("a", "b")]
    for record in records:
        for number in ("strength", "weight", "correlation", "linear_share"):
            own = getattr(ordered, number)(record.first, record.second)
            assert getattr(record, number) == pytest.approx(own, abs=0, nan_ok=True)
    assert repr(edge_table(ordered, top=1)) == repr(records[:1])  # NaN is not equal to itself


def test_states_keep_their_types_and_ties_take_the_last(model):
    first, second = edge_table(model, unseen={"b": ["x"]})
    assert first.together == Association(1, True, 2.5)
    assert first.apart == Association(1, False, -2.5)
    assert first.together.first_state is not True
    assert "x" not in (second.together.second_state, second.apart.second_state)


def test_large_tables_are_not_stronger_for_their_size(tmp_path):
    """A weak edge of two variables of eight states, and a strong one of two binary variables."""
    rng = np.random.default_rng(0)
    many, few = rng.integers(8, size=2000), rng.integers(2, size=2000)
    other = np.where(rng.random(2000) < 0.5, many, rng.integers(8, size=2000))
    copy = np.where(rng.random(2000) < 0.9, few, 1 - few)
    net = gw.MarkovNetwork(lam=0.02).fit({"many": many, "other": other, "few": few, "copy": copy})
    pairs = [("many", "other"), ("few", "copy")]
    assert set(net.model_.edges) == set(pairs)
    tables = [double_centred(net.model_.table(*pair)) for pair in pairs]
    assert np.linalg.norm(tables[0]) > np.linalg.norm(tables[1])
    first, second = edges_of(net)
    assert (first.first, first.second) == ("few", "copy")
    # Alone, an edge's joint is that of the rows, but for the penalty: compare with their numbers.
    assert first.strength == pytest.approx(np.corrcoef(few, copy)[0, 1], abs=0.1)
    assert net.summary().index("few - copy  strength") < net.summary().index("many - other")
    assert net._repr_html_().index(">few<") < net._repr_html_().index(">many<")
    widths = []
    for drawn in (net, net.graph_):
        [lines] = [c for c in plot_network(drawn).collections if isinstance(c, LineCollection)]
        widths.append(lines.get_linewidths())  # the widest is drawn last
    assert np.allclose(widths, [[0.8 + 4.4 * second.strength / first.strength, 5.2]] * 2)
    net.save(tmp_path / "m.gw")
    saved = saved_edges(gw.load(tmp_path / "m.gw"), read_info(tmp_path / "m.gw"))
    assert [(r.first, r.strength) for r in saved] == [
        ("few", first.strength), ("many", second.strength),
    ]  # fmt: skip


def test_copies_are_as_strong_as_edges_can_be_and_no_stronger():
    rng = np.random.default_rng(0)
    a, n = rng.integers(2, size=500), rng.integers(4, size=500)
    net = gw.MarkovNetwork().fit(
        {"a": a, "b": a.copy(), "n": ["wxyz"[k] for k in n], "m": ["wxyz"[k] for k in n]}
    )
    found = {(r.first, r.second): r for r in edges_of(net)}
    assert set(found) == {("a", "b"), ("n", "m")}
    assert 0.9 < found["a", "b"].strength <= 1.0
    # Four even states: log 4 nats in common, if all of them are.
    assert 0.9 < found["n", "m"].strength <= np.sqrt(1 - 1 / 16) + 1e-6
