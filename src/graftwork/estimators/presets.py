"""The papers' own settings, by name: what to pass to a learner to do as they did.

Where a paper and its authors' code differ in a setting, this is what the code has: its results are
theirs. Errors of papers and code are not among the settings (docs/papers lists them).
"""

from __future__ import annotations

import math
from numbers import Integral
from typing import Any

from graftwork.errors import DataError

#: What each stands for, in one line.
PRESETS = {
    "best-choice-paper": "best-choice edge grafting as its authors ran it (2017)",
    "exhaustive-paper": "the exhaustive edge grafting they compare with",
    "first-hit-paper": "the first-hit edge grafting they compare with",
    "priority-paper": "priority grafting on whole tables, L1 on every weight (2016)",
    "l1-markov-paper": "feature induction by gain, annealed (2006)",
    "grafting-light-paper": "Grafting-Light on single features, likelihood by loopy BP (2010)",
    "forced-pruning-paper": "a tree and more edges (max_edges), exchanged by rejection; tied",
}

# Unaries are penalised like tables, and a pair's model marginal is the product of two beliefs; the
# penalty l2/2 norm^2 with l2 = 1.5 is .75 norm^2 here.
_BEST_CHOICE: dict[str, Any] = {
    "loss": "likelihood",
    "inference": "bp:rule=product",
    "penalty": "group-l1",
    "penalty_options": {"l2": 0.75, "unary": True},
    "lam": 0.05,
}


def preset(name: str, n_variables: int | None = None) -> dict[str, Any]:
    """Return the arguments of ``MarkovNetwork`` that do as a paper did.

    Parameters
    ----------
    name : str
        One of ``PRESETS``.
    n_variables : int, optional
        Some settings depend on it (draws per round are floor(sqrt(n))); default: they are left out.

    Examples
    --------
    >>> preset("best-choice-paper", 400)["method_options"]
    {'tests': 20}
    >>> preset("priority-paper")["penalty"]
    'l1'
    """
    if not (n_variables is None or (isinstance(n_variables, Integral) and n_variables > 0)):
        raise DataError(f"n_variables is {n_variables!r}; use the number of variables, or None.")
    draws: dict[str, Any] = {}
    if n_variables is not None:
        draws["method_options"] = {"tests": math.isqrt(n_variables)}
    settings: dict[str, dict[str, Any]] = {
        "best-choice-paper": {"method": "best-choice", **_BEST_CHOICE, **draws},
        "exhaustive-paper": {"method": "edge-grafting", **_BEST_CHOICE},
        "first-hit-paper": {"method": "first-hit", **_BEST_CHOICE},
        "priority-paper": {
            "method": "priority",
            "method_options": {"central": 4, "density": 0.05, "epsilon": 1e-4},
            "loss": "likelihood",
            "inference": "bp:rule=product",
            "penalty": "l1",
            "penalty_options": {"unary": True},
            "lam": 0.7,
        },
        "l1-markov-paper": {
            "method": "gain",
            "loss": "likelihood",
            "inference": "bp",
            "penalty": "l1",
            "method_options": {"anneal": 5},
        },
        # An edge of zeros sends no message, so with BP an inactive pair's marginals are a product.
        # The paper does not say whether single pixels are penalised, nor its M for networks.
        "grafting-light-paper": {
            "method": "grafting-light",
            "loss": "likelihood",
            "inference": "bp:rule=product",
            "penalty": "l1",
            "method_options": {"count": 20},
        },
        # The number of edges is the caller's: the tables have the tree's, and 15 to 60 more. How
        # many values tied weights take is not said.
        "forced-pruning-paper": {
            "method": "forced-pruning",
            "method_options": {"delete": "rejection", "exchange": 10},
            "tie": 10,
        },
    }
    if name not in settings:
        raise DataError(f"there is no preset {name!r}; there are {', '.join(settings)}")
    return settings[name]
