"""The papers' learners: every one ends at one independent optimum, and says what it did."""

import ast
import re
from functools import cache
from itertools import combinations, pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

import graftwork.recipes
from graftwork.grafting import Budget, Exhaustive, Problem, Recipe, graft
from graftwork.inference import JunctionTree, Layout
from graftwork.objectives import Likelihood, PseudoLikelihood
from graftwork.penalties import L1
from graftwork.recipes import RECIPES
from graftwork.solvers import OrthantWise, ToConvergence

from doors.data import prepare
from doors.recipes import gain, grafting, grafting_light
from support.problems import all_pairs, dense_likelihood, dense_pseudo, dense_solution, random_table

LEARNERS = {
    **{name: factory() for name, factory in RECIPES.items() if not factory().sized},
    "grafting-light-10": grafting_light(count=10),
    "grafting-light-50": grafting_light(count=50),
    "grafting-tables": grafting(features=False),
    "gain-tables": gain(features=False),
}
FEATURES = [name for name, recipe in LEARNERS.items() if recipe.features]
TOLERANCE = 1e-6
SMALL = 1e-5
# The same network evaluated anew may differ in the last digit.
ROUNDING = 1e-14


class Case(NamedTuple):
    """A random table and what is asked of it."""

    seed: int
    loss: str
    n: int
    most: int  # states
    lam: float
    l2: float
    unary: bool | float  # whether unaries are penalised, or a lambda of their own


CASES = [
    Case(61, "pseudo", 5, 2, 0.04, 0.0, False),
    Case(62, "pseudo", 4, 4, 0.05, 0.0, False),
    Case(63, "pseudo", 4, 3, 0.06, 0.02, False),
    Case(64, "pseudo", 4, 3, 0.08, 0.0, True),
    Case(65, "pseudo", 4, 3, 0.1, 0.03, 0.04),
    Case(66, "likelihood", 5, 2, 0.02, 0.0, False),
    Case(67, "likelihood", 4, 4, 0.04, 0.02, False),
    Case(68, "likelihood", 4, 3, 0.04, 0.03, True),
    Case(69, "likelihood", 4, 3, 0.04, 0.0, 0.01),
    Case(70, "pseudo", 3, 2, 0.0, 0.05, False),  # a ridge: every table stays
    Case(72, "likelihood", 3, 2, 0.0, 0.05, 0.02),
]
DENSE = {"pseudo": dense_pseudo, "likelihood": dense_likelihood}


def table_of(case):
    return random_table(case.seed, n=case.n, rows=150, most=case.most)


def problem_of(case):
    sample = prepare(table_of(case), keep_all_states=bool(case.unary))
    likely = case.loss == "likelihood"
    objective = Likelihood(sample, JunctionTree()) if likely else PseudoLikelihood(sample, 1)
    own = case.lam if case.unary is True else float(case.unary)
    return Problem(objective, L1(case.lam, case.l2, own, case.l2 if case.unary else 0.0))


def run(case, recipe, **options):
    options = {"tolerance": TOLERANCE, "rng": np.random.default_rng(3)} | options
    return graft(problem_of(case), recipe, **options)


@cache
def solved(case, learner):
    return run(case, LEARNERS[learner])


@cache
def optimum(case):
    """Its value, and the weights: unaries, then the tables of all pairs."""
    return dense_solution(
        DENSE[case.loss], table_of(case), "l1", case.lam, case.l2, case.unary
    )  # fmt: skip


def on_all_pairs(potentials):
    """The weights of a network as a vector over the unaries and the tables of all pairs."""
    layout = potentials.layout
    pairs = all_pairs(layout.n_variables)
    whole = Layout.of(layout.cards, pairs)
    places = {tuple(pair): place for place, pair in enumerate(pairs.tolist())}
    vector = whole.zeros()
    vector[: layout.n_unary] = potentials.weights[: layout.n_unary]
    for e, pair in enumerate(layout.edges.tolist()):
        whole.table(vector, places[tuple(pair)])[:] = layout.table(potentials.weights, e)
    return whole, vector


def edges_above(whole, vector, threshold):
    return [e for e in range(whole.n_edges) if np.abs(whole.table(vector, e)).max() > threshold]


@pytest.mark.some(3)
@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("case", CASES, ids=lambda case: "-".join(map(str, case)))
def test_every_learner_ends_at_the_dense_optimum_with_its_support(case, learner):
    outcome = solved(case, learner)
    certificate, (best, there) = outcome.certificate, optimum(case)
    assert certificate.converged
    assert certificate.exact
    assert certificate.coverage == 1.0
    assert abs(certificate.objective - best) <= 1e-6 * abs(best)
    whole, vector = on_all_pairs(outcome.potentials)
    assert edges_above(whole, vector, SMALL) == edges_above(whole, there, SMALL)
    # Without l2 the optimum is a whole face: a constant moved from a row of one table to the
    # unary, or to a row of another table, may leave both the loss and the l1 norm as they are, so
    # only the interactions, and with them the edges, are unique. With l2 > 0 every cell is.
    if case.l2 > 0:
        cells = np.abs(np.stack([vector, there])[:, whole.n_unary :]) > SMALL
        assert np.array_equal(cells[0], cells[1])


@pytest.mark.parametrize("case", [CASES[1], CASES[3], CASES[6], CASES[8]], ids=str)
@pytest.mark.parametrize("learner", FEATURES)
def test_the_certificate_of_features_holds_when_checked_again(case, learner):
    """Gradients of all cells, of enumeration or matrices over all rows; not the loop's."""
    outcome = solved(case, learner)
    whole, weights = on_all_pairs(outcome.potentials)
    value, gradient = DENSE[case.loss](table_of(case), weights, whole.edges)
    own = case.lam if case.unary is True else float(case.unary)
    unary = np.arange(whole.size) < whole.n_unary
    lam = np.where(unary, own, case.lam)
    l2 = np.where(unary, case.l2 * bool(case.unary), case.l2)
    slope = gradient + lam * np.sign(weights) + 2 * l2 * weights
    idle = (weights == 0) & (lam > 0)
    assert idle.any()
    assert (np.abs(gradient) - lam)[idle].max() <= TOLERANCE
    assert np.abs(slope[~idle]).max() <= TOLERANCE
    objective = value + lam @ np.abs(weights) + l2 @ weights**2
    assert np.isclose(outcome.certificate.objective, objective, rtol=1e-12)
    violation = np.maximum(0.0, np.abs(gradient) - lam)[idle].max()
    assert max(outcome.certificate.max_violation, outcome.certificate.stationarity) >= violation
    assert np.isclose(outcome.certificate.stationarity, np.abs(slope[~idle]).max(), atol=1e-11)
    assert outcome.certificate.unit == "feature"
    assert outcome.certificate.n_inactive + outcome.trace[-1].blocks == whole.size - whole.n_unary


@pytest.mark.parametrize("learner", LEARNERS)
def test_the_trace_of_every_learner_falls_and_adds_up(learner):
    trace = solved(CASES[1], learner).trace
    assert [r.index for r in trace] == list(range(len(trace)))
    assert trace[0].edges == trace[0].blocks == trace[0].activated == 0
    for before, after in pairwise(trace):
        assert after.objective <= before.objective * (1 + ROUNDING)
        assert after.blocks == before.blocks + after.activated - after.pruned
        assert after.evaluations >= before.evaluations
        assert after.blocks_scored >= before.blocks_scored


@pytest.mark.parametrize("learner", LEARNERS)
def test_the_same_seed_gives_the_same_run_of_every_learner(learner):
    def told(outcome):
        records = [{**record.to_dict(), "seconds": 0} for record in outcome.trace]
        return records, outcome.potentials.weights.tolist()

    assert told(solved(CASES[5], learner)) == told(run(CASES[5], LEARNERS[learner]))


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("most", [0, 1, 2])
def test_every_learner_keeps_an_edge_budget_and_solves_what_it_has(learner, most):
    outcome = run(CASES[0], LEARNERS[learner], budget=Budget(max_edges=most))
    certificate = outcome.certificate
    assert certificate.n_edges == most
    assert certificate.stop == "edges"
    assert not certificate.converged
    assert certificate.stationarity <= TOLERANCE
    assert all(record.edges <= most for record in outcome.trace)


@pytest.mark.some(3)
@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("case", [CASES[0], CASES[2]], ids=str)
def test_from_its_own_optimum_every_learner_stays_and_says_so(case, learner):
    """A solved network is solved: nothing to activate, no rise, and a certificate."""
    first = solved(case, learner)
    again = run(case, LEARNERS[learner], start=first.potentials)
    assert again.certificate.converged
    assert again.certificate.objective <= first.certificate.objective * (1 + ROUNDING)
    assert np.isclose(again.certificate.objective, first.certificate.objective, rtol=1e-9)
    assert again.trace[-1].evaluations < first.trace[-1].evaluations


@pytest.mark.parametrize("learner", LEARNERS)
def test_a_table_of_zeros_to_start_from_is_no_edge_at_the_end(learner):
    problem = problem_of(CASES[0]).at(10.0)  # nothing is worth that much
    empty = graft(problem, LEARNERS[learner]).potentials
    layout = Layout.of(empty.layout.cards, [(0, 1), (1, 3)])
    weights = layout.zeros()
    weights[: layout.n_unary] = empty.weights
    outcome = graft(problem, LEARNERS[learner], start=type(empty)(layout, weights))
    assert outcome.certificate.n_edges == 0
    assert outcome.potentials.layout.n_edges == 0
    assert outcome.certificate.converged


class LeastFirst:
    """A scorer that prefers the violators that violate least."""

    def rank(self, space, view, keys, scores):
        return -scores


@pytest.mark.parametrize("seed", [44, 45, 54])
def test_the_order_of_violators_decides_the_way_and_not_the_end(seed):
    """A violator that gains less than rounding is no reason to stop while others gain much."""
    case = Case(seed, "pseudo", 4, 3, 0.05, 0.0, False)
    parts = Exhaustive(1, LeastFirst()), OrthantWise(), ToConvergence()
    backwards = Recipe("least-first", *parts, features=True)
    ends = [run(case, recipe, tolerance=1e-8).certificate for recipe in (backwards, grafting())]
    assert ends[0].converged
    assert np.isclose(ends[0].objective, ends[1].objective, rtol=1e-12)


FILES = sorted(
    path for path in Path(graftwork.recipes.__file__).parent.glob("*.py") if path.stem[0] != "_"
)


def test_every_recipe_has_a_file_of_its_own_name():
    assert [path.stem for path in FILES] == sorted(name.replace("-", "_") for name in RECIPES)
    for name, factory in RECIPES.items():
        recipe = factory()
        assert isinstance(recipe, Recipe)
        assert recipe.name == name
        assert Path(factory.__code__.co_filename).stem == factory.__name__


def telling_lines(text):
    """The lines that say something: no imports, no blank lines, no lone quotes or underlines."""
    imports = {
        line
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Import | ast.ImportFrom)
        for line in range(node.lineno, node.end_lineno + 1)
    }
    lines = enumerate(text.splitlines(), start=1)
    return [line.strip() for k, line in lines if k not in imports and re.search(r"\w", line)]


def shared_runs(first, second, length):
    """Runs of so many telling lines that both texts have."""
    runs = [
        {tuple(lines[k : k + length]) for k in range(len(lines) - length + 1)}
        for lines in (telling_lines(first), telling_lines(second))
    ]
    return runs[0] & runs[1]


def test_no_recipe_file_is_longer_than_sixty_lines():
    assert {path.stem: n for path in FILES if (n := len(path.read_text().splitlines())) > 60} == {}


def test_no_two_recipe_files_share_a_run_of_lines():
    texts = {path.stem: path.read_text() for path in FILES}
    shared = {
        (a, b): runs
        for a, b in combinations(texts, 2)
        if (runs := shared_runs(texts[a], texts[b], 4))
    }
    assert shared == {}


def test_a_copied_run_of_lines_would_be_found():
    copied = "a = 1\nb = 2\n\nc = 3\nd = 4\n"
    first, second = f"import x\n{copied}e = 5\n", f"import x\nz = 0\n{copied}"
    assert shared_runs(first, second, 4) == {("a = 1", "b = 2", "c = 3", "d = 4")}
    assert shared_runs(first, second, 5) == set()
    assert shared_runs("import x\nimport y\n", "import x\nimport y\n", 1) == set()
