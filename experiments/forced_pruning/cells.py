"""Verdicts for each cell of the forced pruning paper's tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from experiments.engine.study import Claim, Found, judge
from experiments.forced_pruning.printed import MORE, PRINTED, Cell

#: Printed values are rounded to two decimals.
ROUNDING = 0.005
#: The same value: two decimals, and a random start.
SAME = 0.02


@dataclass(frozen=True, slots=True)
class Evidence:
    """What is known about a cell.

    Attributes
    ----------
    ours : float or None
        Test NLPL of the same rule, size and k.
    best : float or None
        The least of all rules of ours at this size.
    bound : float
        What no pairwise network of this size goes below; 0 where nobody computed it.
    """

    ours: float | None
    best: float | None
    bound: float


def evidence_of(cell: Cell, found: Mapping[str, Found]) -> Evidence:
    """Return what the steps say of a cell."""
    name, more = cell.name, cell.more
    ours = found.get(f"{name}-{cell.rule}-{more}", {}).get(str(cell.exchanged), {}).get("nll")
    at_size = [
        run["nll"]
        for rule in ("greedy", "rejection", "mcmc")
        for run in found.get(f"{name}-{rule}-{more}", {}).values()
    ]
    thorough = found.get(f"{name}-{more}-thorough")
    if thorough:
        at_size.append(thorough["restarts"]["nll"])
    return Evidence(ours, min(at_size, default=None), bound_of(name, more, found))


def bound_of(name: str, more: int, found: Mapping[str, Found]) -> float:
    """Return what no pairwise network goes below on the test rows at this size."""
    bounds = found.get(f"{name}-bounds", {})
    best = bounds["best"] if bounds.get("converged") else 0.0
    return float(max(best, bounds.get("least", {}).get(str(more), 0.0)))


def judge_cell(cell: Cell, found: Mapping[str, Found]) -> Claim:
    """Return the verdict of a cell, with its reason.

    A value cannot be if even rounded up it is below the bound.
    """
    printed, known = PRINTED[cell], evidence_of(cell, found)
    what, shown = cell.words(), f"{printed:.2f}"
    ours = "" if known.ours is None else f"{known.ours:.4f}"
    if printed + ROUNDING < known.bound:
        because = f"no pairwise network of this size has less than {known.bound:.4f} on these rows"
        return Claim(what, shown, ours, "cannot be", because)
    if known.ours is None:
        return judge(what, shown, None, None)
    apart = known.ours - printed
    because = f"ours is {'lower' if apart < 0 else 'higher'} by {abs(apart):.2f}"
    if apart > 0 and known.best is not None and known.best <= printed + ROUNDING:
        because += f"; another rule of ours has {known.best:.4f}"
    elif apart > 0 and known.best is not None:
        because += f"; the best found here at this size is {known.best:.4f}"
    if _is_copied(cell):
        because += f"; {_copied(cell)}"
    return judge(what, shown, ours, abs(apart) <= SAME, because)


def _is_copied(cell: Cell) -> bool:
    """Return whether a value of Table 2 is Table 1's, and out of line with the rest of its column.

    Examples
    --------
    >>> [cell.words() for cell in PRINTED if _is_copied(cell)]
    ['Table 2, plants, m=0, k=10']
    """
    if cell.rule != "rejection" or PRINTED[cell] != PRINTED[cell._replace(rule="greedy")]:
        return False
    larger = [PRINTED[cell._replace(more=more)] for more in MORE if more > cell.more]
    return PRINTED[cell] < min(larger, default=0.0)


def _copied(cell: Cell) -> str:
    """Say how a cell is like Table 1's and unlike its neighbours."""
    twin = PRINTED[cell._replace(rule="greedy")]
    others = [PRINTED[cell._replace(more=more)] for more in (15, 30, 45, 60)]
    return (
        f"it is Table 1's {twin:.2f}, and the same column has {min(others):.2f} to "
        f"{max(others):.2f} at other sizes"
    )
