"""pyAgrum's greedy hill climbing (BIC score): the skeleton of the Bayesian network it learns.

It reads rows from a file; writing that is outside the clock, reading inside.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import pyagrum as gum


def prepare(data, options):
    """Return a file of the rows, and a network that knows the states."""
    folder = tempfile.TemporaryDirectory()
    path = str(Path(folder.name) / "rows.csv")
    names = [f"x{i}" for i in range(data["codes"].shape[1])]
    head = ",".join(names)
    np.savetxt(path, data["codes"], fmt="%d", delimiter=",", header=head, comments="")
    states = gum.BayesNet()
    for name, card in zip(names, data["cards"], strict=True):
        states.add(gum.RangeVariable(name, "", 0, int(card) - 1))
    return folder, path, states, options


def solve(problem):
    """Learn the directed graph."""
    _, path, states, options = problem
    learner = gum.BNLearner(path, states)
    learner.setNumberOfThreads(options["threads"])
    learner.useScoreBIC()
    learner.useGreedyHillClimbing()
    return learner.learnDAG()


def answer(problem, dag):
    """Undirected edges."""
    problem[0].cleanup()
    return {"edges": [sorted((int(a), int(b))) for a, b in dag.arcs()]}
