"""The adaptive group lasso: edges that a first fit found strong are penalised less."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from graftwork.grafting import Outcome, PairFactors, Problem
from graftwork.grafting.networks import strengths
from graftwork.inference.layout import Potentials
from graftwork.selection.criteria.information import EbicRefit
from graftwork.selection.levels import find_levels
from graftwork.selection.path import LambdaPath, PathEndedError, path_values

# The strengths that weigh are those of a refit, solved to this.
ACCURACY = 1e-3


@dataclass(frozen=True, slots=True)
class Adaptive(EbicRefit):
    """Penalties divided by the strengths of a first fit; then EBIC of refits chooses lambda.

    The first fit is the one at the noise level; pairs that are no edges there are out.

    References
    ----------
    Wang and Leng (2008), A note on adaptive group lasso. Zou (2006), The adaptive lasso and its
    oracle properties.
    """

    def weigh(
        self, problem_at: Callable[[float], Problem], options: dict[str, Any]
    ) -> PairFactors | Outcome:
        """Return the factors of the second path: the mean strength over each edge's own.

        If it is cut short (Ctrl-C, a budget), return what there is by then.
        """
        used = {name: options[name] for name in ("budget", "rng", "observer")}
        path = LambdaPath(problem_at, **used)
        try:
            for lam in path_values(find_levels(problem_at(1.0))):
                path.observer.on_stage(f"first fit, lambda {lam:.4g}", 0, 1)
                start = path.step(lam).potentials
            fitted: Potentials = path.refit(lam, start, ACCURACY).point.potentials
        except PathEndedError:
            return path.conclude(path.fits[-1], options["tolerance"])
        norms = np.sqrt(strengths(fitted))
        factors = norms.mean() / np.maximum(norms, 1e-9 * norms.max()) if len(norms) else norms
        return PairFactors.of(fitted.layout.n_variables, fitted.layout.edges, factors, np.inf)
