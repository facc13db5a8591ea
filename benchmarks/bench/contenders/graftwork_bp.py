"""graftwork's loopy belief propagation: a given number of sweeps, several times over."""

from __future__ import annotations

from graftwork.inference.layout import Layout, Potentials
from graftwork.inference.loopy import LoopyBP


def prepare(data, options):
    """Return the network and the engine."""
    layout = Layout.of(data["cards"].tolist(), [tuple(edge) for edge in data["edges"].tolist()])
    # Damping keeps it from a second, damped attempt; this much changes no digit.
    # No change is below a negative tolerance, so no sweep is saved.
    engine = LoopyBP(max_sweeps=options["sweeps"], tol=-1.0, damping=1e-15)
    return Potentials(layout, data["weights"]), engine, options["repeats"]


def solve(problem):
    """Infer from uniform messages each time."""
    potentials, engine, repeats = problem
    for _ in range(repeats):
        beliefs = engine.infer(potentials)
    return beliefs


def answer(problem, beliefs):
    """Marginals, and sweeps in all."""
    layout = problem[0].layout
    return {
        "marginals": beliefs.values[: layout.n_unary].tolist(),
        "sweeps": beliefs.sweeps * problem[2],
    }
