"""The short list: a lambda path down to the noise level, and the certified fit at its end."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from graftwork.grafting import Outcome, Recipe
from graftwork.inference.layout import Potentials
from graftwork.selection.folds import Fold
from graftwork.selection.path import LambdaPath

# With this many rows the path is walked with a share of them, which is not too large or too few.
MANY_ROWS = 200_000
LEAST_ROWS, MOST_SHARE = 50_000, 0.5
# Stages that are told of after the last lambda: the short list, and those of the tests.
STAGES_AFTER = 4


def begin_with_some_rows(
    walk: LambdaPath, lams: Sequence[float], some_rows: Callable[[float], Fold | None]
) -> None:
    """Walk down to the last lambda but one with fewer rows, where there are many.

    The noise level of a share of the rows is that of all, divided by the root of the share: as
    many rows are enough at a larger lambda. With an edge budget all rows count from the first
    edge on.

    Parameters
    ----------
    some_rows : function
        About a share of the rows; None if these are too many.
    """
    most, last = walk.problem_at(1.0).objective.sample.n_given, len(lams) - 1
    if most < MANY_ROWS or last < 1 or walk.budget.max_edges is not None:
        return
    share = max((lams[-1] / lams[-2]) ** 2, LEAST_ROWS / most)
    if share > MOST_SHARE:
        return

    def announce(lam: float) -> None:
        step, steps = lams.index(lam) + 1, len(lams) + STAGES_AFTER
        walk.observer.on_stage(f"lambda {lam:.4g}", step, steps)

    fold = some_rows(share)
    if fold is not None:
        walk.begin(fold, lams[:-1], announce)


def make_short_list(
    walk: LambdaPath,
    lams: Sequence[float],
    recipe: Recipe,
    tolerance: float,
    near: Potentials | None = None,
) -> Outcome:
    """Walk down what is left of the path, and return the certified fit at its end.

    Parameters
    ----------
    near : Potentials, optional
        The network of almost the same rows: the fit begins there, without a path.
    """
    start, lam, steps, done = near, lams[-1], len(lams) + STAGES_AFTER, len(walk.fits)
    for step, lam in enumerate(lams[done:] if near is None else [], done):
        walk.observer.on_stage(f"lambda {lam:.4g}", step + 1, steps)
        start = walk.step(lam).potentials
        if walk.full:
            break
    assert start is not None
    walk.observer.on_stage(f"short list at lambda {lam:.4g}", steps - 3, steps)
    return walk.settle(recipe, lam, start, tolerance)
