"""The last digits of a refit: a few Newton steps with the whole Hessian."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import cg

from graftwork.grafting import Problem
from graftwork.solvers import Solution
from graftwork.tuning.contrasts import all_states
from graftwork.tuning.hessian import Parameters, hessian
from graftwork.tuning.rows import Rows

MOST_STEPS = 8
# The Hessian is only built where no variable's conditional has more parameters than this.
MOST_PARAMETERS = 3000
ENOUGH = 1e-13


def polish(problem: Problem, solution: Solution, n_threads: int) -> Solution:
    """Return the optimum of a ridge problem with free unaries, to rounding error if that is near.

    The Hessian is that of the point given, for all steps: close to the optimum each of them still
    gains several digits. Steps that do not help end it.

    Parameters
    ----------
    problem : Problem
        The pseudo-likelihood with a ridge on tables alone.
    solution : Solution
        Close to its optimum, with double-centred tables.
    """
    sample, potentials = problem.objective.sample, solution.point.potentials
    parameters = Parameters.of(potentials.layout, all_states(sample))
    if max((star.parameters.size for star in parameters.stars()), default=0) > MOST_PARAMETERS:
        return solution
    total, ridge = sample.total_weight, np.zeros(parameters.size)
    ridge[parameters.starts[potentials.layout.n_variables] :] = 2.0 * problem.penalty.l2
    rows = Rows(sample, potentials, parameters.contrasts, n_threads)
    bend = hessian(rows, parameters) / total + sparse.diags_array(ridge)
    scale = 1.0 / np.maximum(bend.diagonal(), 1e-12)
    for _ in range(MOST_STEPS):
        weights = solution.point.potentials.weights
        slope = parameters.read(solution.point.gradient) + ridge * parameters.read(weights)
        step, _ = cg(bend, -slope, rtol=1e-6, atol=0.0, M=sparse.diags_array(scale), maxiter=500)
        moved = replace(potentials, weights=weights + parameters.write(step))
        trial = problem.solution(moved, solution.memory)
        if not trial.residual < 0.5 * solution.residual:
            break
        solution = replace(trial, evaluations=solution.evaluations + 1)
        if solution.residual < ENOUGH:
            break
    return solution
