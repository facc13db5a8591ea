"""graftwork's Gibbs sampler: single-site updates."""

from __future__ import annotations

import numpy as np

from graftwork.inference.layout import Layout, Potentials
from graftwork.inference.sampling import gibbs_sample


def prepare(data, options):
    """Return the network and how long the chains are."""
    layout = Layout.of(data["cards"].tolist(), [tuple(edge) for edge in data["edges"].tolist()])
    return Potentials(layout, data["weights"]), options


def solve(problem):
    """Run the chains; all but the last state of each is thrown away."""
    potentials, options = problem
    return gibbs_sample(
        potentials,
        options["chains"],
        np.random.default_rng(0),
        burn_in=options["sweeps"],
        thin=1,
        n_chains=options["chains"],
        n_jobs=options["threads"],
    )


def answer(problem, codes):
    """Updates in all, and mean frequencies."""
    potentials, options = problem
    sweeps = options["sweeps"] + 1  # one more to the draw that is kept
    layout = potentials.layout
    shares = [
        np.bincount(codes[i], minlength=layout.cards[i]) / codes.shape[1]
        for i in range(layout.n_variables)
    ]
    return {
        "updates": sweeps * options["chains"] * layout.n_variables,
        "marginals": np.concatenate(shares).tolist(),
    }
