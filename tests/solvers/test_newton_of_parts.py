"""Newton's steps where tables have a linear part and a rest (ordered variables)."""

from __future__ import annotations

import numpy as np
import pytest

import graftwork as gw


def _items(n: int) -> dict[str, list[int]]:
    """Return eight items of three answers; one answer of the first leaves one of the second."""
    rng = np.random.default_rng(4)
    base = rng.normal(size=n)
    items = np.round(0.6 * base[:, None] + rng.normal(size=(n, 8)) + 1).clip(0, 2).astype(int)
    items[:, 1] = np.where(items[:, 0] == 2, 0, items[:, 1])
    return {f"v{j}": items[:, j].tolist() for j in range(8)}


@pytest.mark.filterwarnings("ignore::graftwork.errors.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore::graftwork.errors.DataWarning")
@pytest.mark.parametrize("ordinal", [["v1"], ["v0", "v1"], "all"])
def test_required_pairs_whose_states_exclude_each_other_are_solved_soon(ordinal):
    """Their best weights are infinite: without the Hessian it took 250 evaluations and more."""
    net = gw.MarkovNetwork(lam=0.05, ordinal=ordinal, knowledge={"required": [("v0", "v1")]})
    net.fit(_items(300))
    assert net.certificate_.converged
    assert net.certificate_.stationarity <= net.certificate_.tolerance
    assert net.trace_[-1].evaluations < 150
