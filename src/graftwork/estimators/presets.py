"""The papers' own settings, by name: what to pass to a learner to do as they did.

Where a paper and its authors' code differ in a setting, this is what the code has: its results are
theirs. Errors of papers and code are not among the settings (docs/papers lists them).
"""

from __future__ import annotations

import copy
import math
from typing import Any

from graftwork.errors import ParameterError
from graftwork.parameters import known, number

#: What each stands for, in one line.
PRESETS = {
    "best-choice-paper": "best-choice edge grafting as its authors ran it (2017)",
    "exhaustive-paper": "the exhaustive edge grafting they compare with",
    "first-hit-paper": "the first-hit edge grafting they compare with",
    "priority-paper": "priority grafting on whole tables, L1 on every weight (2016)",
    "l1-markov-paper": "feature induction by gain (2006); needs lam",
    "grafting-light-paper": (
        "Grafting-Light on single features, likelihood by loopy BP (2010); needs lam"
    ),
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
# The arguments of each. A lam of None must be given; a preset without lam has no use for one.
_SETTINGS: dict[str, dict[str, Any]] = {
    "best-choice-paper": {"method": "best-choice", **_BEST_CHOICE},
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
    # All digits of the paper are lost in the copies we know.
    "l1-markov-paper": {
        "method": "gain",
        "loss": "likelihood",
        "inference": "bp",
        "penalty": "l1",
        "lam": None,
    },
    # An edge of zeros sends no message, so with BP an inactive pair's marginals are a product.
    # Whether single pixels are penalised is not known, nor are the lambda and M for networks.
    "grafting-light-paper": {
        "method": "grafting-light",
        "method_options": {"count": 20},
        "loss": "likelihood",
        "inference": "bp:rule=product",
        "penalty": "l1",
        "lam": None,
    },
    # The number of edges is the caller's: the tables have the tree's, and 15 to 60 more. How many
    # values tied weights take is not said: trees tied to five to seven come closest to what is
    # printed where nothing is added (docs/papers/forced-pruning.md).
    "forced-pruning-paper": {
        "method": "forced-pruning",
        "method_options": {"delete": "rejection", "exchange": 10, "tied": 7},
    },
}


def preset(
    name: str, n_variables: int | None = None, *, lam: float | None = None
) -> dict[str, Any]:
    """Return the arguments of ``MarkovNetwork`` that do as a paper did.

    A paper's settings have a lambda. Without one ``MarkovNetwork`` would choose the network by
    tests and refit its weights without the penalty, which is another algorithm; so a preset asks
    for the lambda where that of its paper is not known. It is passed by name, since two numbers
    after each other are easily confused.

    Parameters
    ----------
    name : str
        One of ``PRESETS``.
    n_variables : int, optional
        Some settings depend on it: best-choice grafting draws floor(sqrt(n)) pairs a round. By
        default they are left out, and the method's own defaults hold.
    lam : float, optional
        The strength of the penalty, in place of the authors'. "l1-markov-paper" and
        "grafting-light-paper" need it; "forced-pruning-paper", which learns a number of edges, has
        none.

    Raises
    ------
    ParameterError
        If there is no such preset, or lam is missing or of no use.

    Examples
    --------
    >>> preset("best-choice-paper", 400)["method_options"]
    {'tests': 20}
    >>> preset("priority-paper")["lam"], preset("priority-paper", lam=0.6)["lam"]
    (0.7, 0.6)
    """
    found = settings_of(name)
    if n_variables is not None:
        number("n_variables", n_variables, 1, whole=True)
        if name == "best-choice-paper":
            found["method_options"] = {"tests": math.isqrt(int(n_variables))}
    if lam is None:
        if found.get("lam", 0) is None:
            raise ParameterError(
                f"preset={name!r} has no lambda of its own, as that of its paper is not known; "
                "give lam= too, for example lam=0.05."
            )
    elif "lam" in found:
        found["lam"] = number("lam", lam, 0.0, above=True)
    else:
        raise ParameterError(
            f"lam={lam!r} has no effect with preset={name!r}, which learns a given number of "
            "edges. Leave it out."
        )
    return found


def settings_of(name: str) -> dict[str, Any]:
    """Return the arguments of a preset as its paper has them; lam is None where it is not known."""
    return copy.deepcopy(_SETTINGS[known("preset", name, PRESETS)])
