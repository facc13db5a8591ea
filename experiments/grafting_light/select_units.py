"""Evaluations of the loss to the optimum, features M at a time, on planted chains of variables.

python -m experiments.grafting_light.select_units
"""

from __future__ import annotations

from typing import Any, NamedTuple

import graftwork as gw
from graftwork.parameters import Loss
from graftwork.recipes.gauss_seidel import gauss_seidel
from graftwork.recipes.grafting import grafting
from graftwork.recipes.grafting_light import grafting_light

UNITED: dict[str, Any] = {
    "grafting-light": grafting_light,
    "without memory": lambda count: grafting_light(count, memory=False),
    "grafting": grafting,
    "gauss-seidel": gauss_seidel,
}


class Solved(NamedTuple):
    """One run to the optimum."""

    evaluations: int
    objective: float
    edges: int
    converged: bool


def planted_chain(seed: int) -> gw.Table:
    """Ten variables in a chain among twenty others, three states, 2,000 rows."""
    return gw.datasets.make_planted_chain(10, 20, 3, n_rows=2_000, random_state=seed).data


def by_select_unit(seed: int, unit: int, loss: Loss) -> dict[str, Solved]:
    """Learn a planted chain by every method that takes features ``unit`` at a time."""
    data = planted_chain(seed)
    return {name: solved(data, make(unit), loss) for name, make in UNITED.items()}


def solved(data: gw.Table, method: Any, loss: Loss) -> Solved:
    """Learn by L1 to the optimum."""
    net = gw.MarkovNetwork(method, loss=loss, penalty="l1", lam=0.02, random_state=0).fit(data)
    return Solved(
        net.trace_[-1].evaluations, net.objective_, net.model_.n_edges, net.certificate_.converged
    )


def main() -> None:
    """Print the evaluations of every method, and as a ratio to grafting-light's."""
    for loss in ("pseudolikelihood", "likelihood"):
        seeds = range(3)
        print(f"\n{loss}: evaluations of the loss on {len(seeds)} planted chains, and as a ratio")
        print(f"{'M':>5} " + " ".join(f"{name:>22}" for name in UNITED))
        for unit in (1, 10, 20, 50, 110):
            runs = [by_select_unit(seed, unit, loss) for seed in seeds]
            spent = {name: sum(run[name].evaluations for run in runs) for name in UNITED}
            least = spent["grafting-light"]
            cells = (f"{count:14,d} ({count / least:5.2f})" for count in spent.values())
            print(f"{unit:5d} " + " ".join(cells), flush=True)
        if loss == "pseudolikelihood":  # a likelihood of all pairs at once has no exact inference
            everything = sum(solved(planted_chain(s), "full", loss).evaluations for s in seeds)
            print(f"everything at once (full): {everything:,d}")


if __name__ == "__main__":
    main()
