"""Couplings of all pairs and their average product correction, against plain numpy."""

import numpy as np
import pytest

import graftwork as gw

from doors.report import double_centred


def network(seed: int = 0, absent: float = 0.3) -> gw.PairwiseMRF:
    """A network of mixed state counts in which some pairs have no edge."""
    rng = np.random.default_rng(seed)
    cards = rng.integers(2, 6, 7)
    states = {f"v{k}": list(range(s)) for k, s in enumerate(cards)}
    tables = {
        (f"v{j}", f"v{i}"): rng.normal(size=(cards[j], cards[i]))
        for i in range(7)
        for j in range(i + 1, 7)
        if rng.random() > absent
    }
    return gw.PairwiseMRF(states, None, tables)


def by_hand(model: gw.PairwiseMRF) -> np.ndarray:
    """Norms in the zero-sum gauge less the average product, pair by pair."""
    n, names = model.n_variables, model.names
    norms = np.zeros((n, n))
    for a, b in model.edges:
        table = model.table(a, b)
        for axis in (0, 1):
            table = table - table.mean(axis=axis, keepdims=True)
        i, j = names.index(a), names.index(b)
        norms[i, j] = norms[j, i] = np.sqrt((table**2).sum())
    found = np.zeros((n, n))
    of_all = np.mean([norms[i, j] for i in range(n) for j in range(n) if i != j])
    for i in range(n):
        for j in range(n):
            own = np.mean([norms[i, k] for k in range(n) if k != i])
            other = np.mean([norms[j, k] for k in range(n) if k != j])
            found[i, j] = norms[i, j] - own * other / of_all
    return found


def test_couplings_are_those_of_numpy_in_order():
    model = network()
    expected, names = by_hand(model), model.names
    for score in ("norm", "apc"):
        records = model.couplings(score).to_dict("records")
        assert len({(r["first"], r["second"]) for r in records}) == 21
        values = [r[score] for r in records]
        assert values == sorted(values, reverse=True)
        for r in records:
            i, j = names.index(r["first"]), names.index(r["second"])
            assert i < j
            assert r["apc"] == pytest.approx(expected[i, j], abs=1e-12)
            joined = (r["first"], r["second"]) in model.edges
            table = model.table(r["first"], r["second"]) if joined else np.zeros((2, 2))
            own = np.linalg.norm(double_centred(table))
            assert r["norm"] == pytest.approx(own, abs=1e-12)
    assert model.couplings().equals(model.couplings("norm"))


@pytest.mark.parametrize("names", ["a", "ab"])
def test_without_edges_every_coupling_is_zero(names):
    model = gw.PairwiseMRF({name: [0, 1] for name in names})
    found = model.couplings("apc")
    assert len(found) == len(names) // 2
    assert (found["apc"] == 0).all()


def test_odd_couplings_are_refused():
    with pytest.raises(gw.ParameterError, match="score must be 'norm' or 'apc', got 'mi'"):
        network().couplings("mi")
    barred = gw.PairwiseMRF({"a": [0, 1], "b": [0, 1]}, None, {("a", "b"): [[0, -np.inf], [0, 0]]})
    with pytest.raises(gw.DataError, match="no couplings"):
        barred.couplings("apc")


def test_the_correction_finds_contacts_that_busy_positions_hide():
    """A site's variance shows in all its pairs: contacts between quiet sites come after that."""
    rng = np.random.default_rng(1)
    busy = rng.uniform(0.3, 3.0, 12)
    contacts = {(2 * k, 2 * k + 1) for k in range(6)}
    tables = {
        (f"v{i:02}", f"v{j:02}"): np.sqrt(busy[i] * busy[j]) * rng.normal(size=(8, 8))
        + 0.9 * ((i, j) in contacts) * rng.normal(size=(8, 8))
        for i in range(12)
        for j in range(i + 1, 12)
    }
    model = gw.PairwiseMRF({f"v{k:02}": list(range(8)) for k in range(12)}, None, tables)
    found = {}
    for score in ("norm", "apc"):
        first = model.couplings(score).to_dict("records")[:6]
        found[score] = sum((int(r["first"][1:]), int(r["second"][1:])) in contacts for r in first)
    assert found["apc"] > found["norm"]
