"""Which pairs are looked at again: bounds hold, and no pair that rises is overlooked."""

import numpy as np
import pytest

import graftwork as gw
from graftwork.grafting import NetworkFamily, Problem
from graftwork.penalties import GroupL1

from doors.data import prepare
from doors.grafting import only, with_pairs
from doors.objectives import FittedRows, PseudoLikelihood, all_states, independent_potentials
from doors.selection import AbsentPairs, absent, refit, shifts, unshrunk
from doors.significance import SHARE, Cut, MomentTables, View, frequent_states, pair_screen
from doors.solvers import newton


class Case:
    """A chain, and the same network without its strongest edge, both refitted exactly."""

    def __init__(self, states, weights=False):
        table = gw.datasets.make_scale_free(14, states, n_rows=700, random_state=4).data
        if weights:
            table = table.with_weights(np.random.default_rng(0).integers(1, 4, 700).astype(float))
        self.sample = prepare(table)
        family = NetworkFamily(self.sample)
        self.problem = Problem(PseudoLikelihood(self.sample, 1), GroupL1(0.05), family)
        chain = np.array([(i, i + 1) for i in range(10)] + [(0, 5)])
        start = with_pairs(independent_potentials(self.sample), chain)
        self.here = self.fit(start)
        potentials = self.here.point.potentials
        layout, weights = potentials.layout, potentials.weights
        norms = [np.linalg.norm(layout.table(weights, e)) for e in range(layout.n_edges)]
        self.gone = layout.edges[np.argmax(norms)].tolist()
        self.there = self.fit(only(potentials, np.arange(11) != np.argmax(norms)))

    def fit(self, start):
        """Return an exact refit."""
        problem = unshrunk(self.problem).on(start.layout)
        return newton(problem, refit(self.problem, start, 1e-5), 1e-12)

    def rows(self, fitted):
        """Return the sample under a network."""
        return FittedRows.of(fitted.point, frequent_states(self.sample))

    def view(self, fitted):
        """Return coordinates of all variables."""
        return View.of(MomentTables(self.rows(fitted)))


@pytest.fixture(scope="module", params=[(2, False), (3, False), (2, True)])
def case(request):
    """Return a case."""
    return Case(*request.param)


def test_roots_of_statistics_shift_no_more_than_the_bound(case):
    pairs = np.stack(np.triu_indices(14, 1), axis=1)
    view = case.view(case.there)
    statistics = [
        view.statistics(pairs, fitted.point.pair_expectations(pairs))
        for fitted in (case.here, case.there)
    ]
    apart = case.there.point.drift(case.here.point.snapshot())[:, 0]
    bound = shifts(view, apart)[pairs].sum(axis=1)
    change = np.abs(np.sqrt(statistics[1]) - np.sqrt(statistics[0]))
    assert (change <= bound + 1e-9).all()
    assert change.max() > 0.5 * absent.MOVED


def test_pairs_that_rise_are_found(case, monkeypatch):
    monkeypatch.setattr(absent, "MOST_MOVED", 1.0)
    pairs_seen, cut = AbsentPairs(case.problem.space, 700), Cut(0.05, 91)
    assert pairs_seen.risen(case.rows(case.here), case.here.point, cut, 0) is None
    pairs_seen.renew(case.here.point)
    assert not len(pairs_seen.risen(case.rows(case.here), case.here.point, cut, 0))
    found = pairs_seen.risen(case.rows(case.there), case.there.point, cut, 0)
    assert case.gone in found.tolist()
    view = case.view(case.there)
    needed = pair_screen.needed(view.degrees(found), cut.level * 11 / 91)
    reached = view.statistics(found, case.there.point.pair_expectations(found))
    assert (reached >= SHARE * needed).all()
    assert (found[:, 0] < found[:, 1]).all()
    edges = set(map(tuple, case.there.point.potentials.layout.edges.tolist()))
    assert edges.isdisjoint(map(tuple, found.tolist()))
    again = pairs_seen.risen(case.rows(case.there), case.there.point, cut, 0)
    assert not len(again)  # its variables count as looked at


def test_all_pairs_are_looked_at_where_many_variables_moved(case, monkeypatch):
    monkeypatch.setattr(absent, "MOST_MOVED", 0.0)
    pairs_seen = AbsentPairs(case.problem.space, 700)
    pairs_seen.renew(case.here.point)
    assert pairs_seen.risen(case.rows(case.there), case.there.point, Cut(0.05, 91), 0) is None


def test_one_basis_serves_all_variables_with_the_same_groups():
    sample = Case(2).sample
    bases = all_states(sample).bases
    assert all(basis is bases[0] for basis in bases)
