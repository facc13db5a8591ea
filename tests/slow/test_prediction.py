"""goal="prediction" on standard data sets. Run by make test-slow."""

import numpy as np
import pytest

import graftwork as gw
from graftwork.data import as_table
from graftwork.grafting import Problem
from graftwork.objectives import PseudoLikelihood
from graftwork.penalties import GroupL1
from graftwork.selection import find_levels

from doors.data import prepare
from doors.estimators import to_model
from doors.selection import FURTHEST, RATIO, LambdaPath
from support.problems import standard_split

pytestmark = pytest.mark.slow


def best_along_the_path(train, test):
    """The smallest test NLPL of any lambda, down to where it has risen five times in a row."""
    table = as_table(train)
    sample = prepare(table)
    objective, rng = PseudoLikelihood(sample), np.random.default_rng(0)
    walk = LambdaPath(lambda lam: Problem(objective, GroupL1(lam)), rng=rng)
    levels = find_levels(walk.problem_at(1.0))
    lam, scores = 1.02 * levels.largest, []
    while lam >= FURTHEST * levels.noise and (
        len(scores) < 6 or scores[-6:] != sorted(scores[-6:])
    ):
        model = to_model(table, sample, walk.step(lam).potentials)
        scores.append(-float(model.log_pseudo_likelihood(test, n_jobs=None).mean()))
        lam *= RATIO
    return min(scores)


@pytest.mark.parametrize("name", ["nltcs", "plants", "msnbc", "jester"])
def test_the_lambda_chosen_predicts_nearly_as_well_as_the_best(name):
    train, test = standard_split(name, "ts"), standard_split(name, "test")
    net = gw.MarkovNetwork(goal="prediction", tol=1e-5, random_state=0).fit(train)
    assert net.certificate_.converged
    assert -net.score(test) <= best_along_the_path(train, test) + 0.02
