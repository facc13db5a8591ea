"""graftwork's loopy belief propagation: a given number of sweeps, several times over."""

from __future__ import annotations

from graftwork.inference.layout import Layout, Potentials
from graftwork.inference.messages import attempt, read, ready, warm_messages
from graftwork.inference.wiring import wire


def prepare(data, options):
    """Return the network, and how many sweeps how often."""
    layout = Layout.of(data["cards"].tolist(), [tuple(edge) for edge in data["edges"].tolist()])
    return Potentials(layout, data["weights"]), options["sweeps"], options["repeats"]


def solve(problem):
    """Infer from uniform messages each time, as ``LoopyBP`` does, but with every sweep.

    No change is below a negative tolerance, so no sweep is saved; and there is no second attempt.
    """
    potentials, sweeps, repeats = problem
    layout = potentials.layout
    for _ in range(repeats):
        tables = ready(potentials)
        start = warm_messages(layout, wire(layout), None)
        done = attempt(layout, tables, start, sweeps, -1.0, 0.0)
        values, _ = read(layout, tables, done.messages)
    return values, done.sweeps


def answer(problem, found):
    """Marginals, and sweeps in all."""
    layout = problem[0].layout
    return {
        "marginals": found[0][: layout.n_unary].tolist(),
        "sweeps": found[1] * problem[2],
    }
