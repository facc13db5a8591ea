"""The prior of refits: the same in penalties, in Newton's steps and in tests."""

import numpy as np
import pytest

from graftwork.data import Table
from graftwork.grafting import Problem
from graftwork.objectives import PseudoLikelihood
from graftwork.penalties import GroupL1
from graftwork.selection import refit

from doors.data import Ordered, prepare
from doors.grafting import with_pairs
from doors.objectives import FittedRows, Parameters, all_states, independent_potentials
from doors.selection import bent, unshrunk
from doors.significance import MomentTables, _examine, examine_pairs
from doors.solvers import newton

CARDS = {"a": 5, "b": 4, "c": 3, "d": 2}  # c and d have no order
PAIRS = np.array([[0, 1], [0, 2], [0, 3], [1, 2], [2, 3]])


def mixed(rows=300, seed=0):
    rng = np.random.default_rng(seed)
    codes = np.stack([rng.integers(s, size=rows) for s in CARDS.values()])
    table = Table(tuple(CARDS), tuple(tuple(range(s)) for s in CARDS.values()), codes)
    return prepare(table.with_order(Ordered.by_rank({"a": range(5), "b": range(4)})))


@pytest.mark.parametrize("curved", [None, frozenset(), frozenset({(0, 2), (0, 1)})])
def test_penalties_and_hessians_have_the_same_prior(curved):
    sample, rng = mixed(), np.random.default_rng(1)
    problem = unshrunk(bent(Problem(PseudoLikelihood(sample), GroupL1(0.0)), curved))
    layout = with_pairs(independent_potentials(sample), PAIRS).layout
    parameters = Parameters.of(layout, all_states(sample, curved))
    drawn = rng.normal(size=parameters.size)
    drawn[: sample.cards.sum() - len(sample.cards)] = 0.0
    value = problem.penalty.value(problem.blocks(layout), parameters.write(drawn))
    tables = drawn[parameters.starts[layout.n_variables] :]
    precisions = parameters.contrasts.precisions(layout.edges)
    expected = 0.5 * precisions @ tables**2 / sample.total_weight
    assert value == pytest.approx(expected, rel=1e-12)


def test_the_prior_by_hand():
    sample = mixed()
    problem = unshrunk(bent(Problem(PseudoLikelihood(sample), GroupL1(0.0)), None))
    layout = with_pairs(independent_potentials(sample), PAIRS).layout
    a, b = np.arange(5) - 2.0, np.arange(4) - 1.5
    bend = np.outer(a**2 - 2.0, b)
    town = np.outer(a, [1.0, -2.0, 1.0])
    nominal = np.outer([1.0, 0.0, -1.0], [0.5, -0.5])
    for pair, table, expected in [
        ([0, 1], np.outer(a, b), (np.outer(a, b) ** 2).mean() / 9.0),
        ([0, 1], bend, (bend**2).sum()),
        ([0, 1], np.outer(a, b) + bend, (np.outer(a, b) ** 2).mean() / 9.0 + (bend**2).sum()),
        ([0, 2], town, (town**2).mean() / 9.0),
        ([2, 3], nominal, (nominal**2).sum()),
    ]:
        weights = layout.zeros()
        e = PAIRS.tolist().index(pair)
        weights[layout.edge_offsets[e] : layout.edge_offsets[e + 1]] = table.ravel()
        value = problem.penalty.value(problem.blocks(layout), weights)
        assert value == pytest.approx(0.5 * expected / sample.total_weight, rel=1e-12)


@pytest.mark.parametrize("curved", [None, frozenset({(0, 2)})])
def test_newton_and_gradients_end_at_the_same_weights(curved):
    sample = mixed()
    problem = bent(Problem(PseudoLikelihood(sample), GroupL1(0.0)), curved)
    start = with_pairs(independent_potentials(sample), PAIRS)
    slow = refit(problem, start, 1e-9)
    quick = newton(unshrunk(problem).on(start.layout), refit(problem, start, 1e-2), 1e-12)
    assert quick.residual <= 1e-12
    first = slow.point.potentials.layout.n_unary  # a constant may be added to unaries
    here, there = (one.point.potentials.weights[first:] for one in (slow, quick))
    assert np.abs(here - there).max() < 1e-5


@pytest.mark.parametrize("curved", [None, frozenset(), frozenset({(0, 2), (0, 1)})])
def test_precisions_of_each_table_are_those_of_its_parts(curved):
    contrasts = all_states(mixed(), curved)
    found = contrasts.precisions(PAIRS)
    expected = []
    for i, j in PAIRS.tolist():
        own = np.ones(contrasts.sides(np.array([[i, j]]))[0])
        if contrasts.ordered[[i, j]].any():
            cells = len(contrasts.groups[i]) * len(contrasts.groups[j])
            own[: contrasts.linear[i], : contrasts.linear[j]] = 1 / 9 / cells
        expected.append(own.ravel())
    assert found == pytest.approx(np.concatenate(expected))


def test_items_of_the_same_states_share_their_contrasts():
    sample = mixed()
    contrasts = all_states(sample)
    for i, first in enumerate(sample.scores.bases):
        assert np.allclose(contrasts.bases[i].T @ contrasts.bases[i], np.eye(len(first) - 1))
        assert np.array_equal(contrasts.bases[i][:, : first.shape[1]], first)


@pytest.mark.parametrize("curved", [frozenset(), frozenset({(0, 1)})])
def test_slopes_along_scores_need_no_other_contrasts(curved):
    """Their statistics are those of the first contrasts among all."""
    sample = mixed()
    point = PseudoLikelihood(sample).at(with_pairs(independent_potentials(sample), PAIRS[1:2]))
    pairs = np.array([[0, 1], [0, 3], [1, 2], [1, 3], [2, 3]])
    rows = FittedRows.of(point, all_states(sample, curved))
    found = examine_pairs(rows, point, pairs)
    whole = _examine(MomentTables(rows), pairs, point.pair_expectations(pairs))
    assert rows.straight.contrasts.sizes.tolist() == [1, 1, 2, 1]
    assert found.pairs.tolist() == pairs.tolist()
    for name in ("statistics", "degrees", "log_p"):
        assert np.allclose(getattr(found, name), getattr(whole, name), rtol=1e-9)
