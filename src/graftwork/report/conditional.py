"""Conditional marginal log-likelihood (CMLL): how well hidden cells are told from seen ones.

References
----------
Lee, Ganapathi and Koller, Efficient structure learning of Markov networks using
L1-regularization, section on experiments.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from graftwork.data import align
from graftwork.data.values import generator
from graftwork.inference.hidden import log_hidden
from graftwork.inference.layout import Floats, Ints
from graftwork.models import PairwiseMRF
from graftwork.parameters import whole_number

GROUPS = 4


@dataclass(frozen=True, slots=True, eq=False)
class ConditionalLogs:
    """Conditional marginal log-likelihoods of rows."""

    # (rows,): mean over the variables of log p(x_i | the variables of the other groups), in nats
    rows: Floats
    groups: tuple[Ints, ...]  # which variables were hidden together
    # whether all numbers are exact; otherwise belief propagation was used for some group
    exact: bool
    unconverged: int  # how often belief propagation did not converge


def deal_groups(
    n_variables: int, n_groups: int = GROUPS, random_state: int | np.random.Generator | None = None
) -> tuple[Ints, ...]:
    """Return the variables dealt out to groups, one at a time, in their order or shuffled."""
    count = min(whole_number("groups", n_groups, 1), n_variables)
    order = np.arange(n_variables)
    if random_state is not None:
        order = generator(random_state).permutation(n_variables)
    return tuple(np.sort(order[g::count]) for g in range(count))


def conditional_logs(
    model: PairwiseMRF,
    X: Any,
    *,
    groups: int = GROUPS,
    random_state: int | np.random.Generator | None = None,
    n_jobs: int | None = 1,
) -> ConditionalLogs:
    """Return the conditional marginal log-likelihood (CMLL) of each row.

    The variables are dealt to `groups` groups. Each group is hidden in turn and the others are
    observed; each hidden variable by itself is then told from what is observed, the rest of its
    group being summed out. With as many groups as variables this is the log pseudo-likelihood over
    the number of variables; with one group nothing is observed.
    """
    codes = align(X, model.names, tuple(model.states.values())).codes
    dealt = deal_groups(model.n_variables, groups, random_state)
    total = np.zeros(codes.shape[1])
    exact, unconverged = True, 0
    for group in dealt:
        found = log_hidden(model.potentials, codes, group, n_jobs=n_jobs)
        total += found.values.sum(axis=0)
        exact = exact and found.exact
        unconverged += found.unconverged
    return ConditionalLogs(total / model.n_variables, dealt, exact, unconverged)
