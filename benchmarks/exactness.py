"""Answers, losses and draws of small random networks and chains against enumeration.

python benchmarks/exactness.py --models 10000 --out docs/decisions/exactness.md
"""

from __future__ import annotations

import argparse
import math
import warnings
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from arguments import parser_of
from exact_chains import chain_answers
from exact_draws import DRAWS, Fit, draw
from exact_gradients import network_losses
from exact_networks import Model, deviations

from graftwork.errors import ApproximationWarning, ConvergenceWarning

Found = dict[str, tuple[float, int]]


def campaign(models: int, seed: int = 0) -> tuple[Found, dict[str, Fit]]:
    """Return the largest deviation of each answer and of how many models, and the draws' fit."""
    rng, draws, others = (np.random.default_rng(s) for s in (seed, [seed, 1], [seed, 2]))
    out: Found = {}
    fits: dict[str, Fit] = {}
    for _ in range(models):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", ConvergenceWarning)
            warnings.simplefilter("ignore", ApproximationWarning)
            model = Model(rng)
            found = deviations(model) | network_losses(others) | chain_answers(others)
            if model.possible:
                draw(model, draws, fits)
        for name, value in found.items():
            worst, asked = out.get(name, (0.0, 0))
            out[name] = (max(worst, value) if value == value else math.inf, asked + 1)
    return out, fits


def page(found: Found, fits: dict[str, Fit], models: int) -> str:
    """Return the tables as a page."""
    lines = [
        "# Exactness",
        "",
        f"{models:,} random networks of up to four variables with up to three states each.",
        "Potentials are of size 0, 1, 30 or 1,000, and none, 30 % or 70 % of them are -inf.",
        "Answers are compared with the enumeration of all joint states. The same number of",
        "chains of order 1 or 2, with up to three labels, three attributes and three sequences",
        "of up to four positions, is compared with the enumeration of all label sequences. So",
        "is the same number of losses of random rows with row weights; their gradients are",
        "compared with complex-step derivatives of the enumerated loss. Values above 1 are",
        "compared relative to their size. Networks whose -inf potentials leave no joint state",
        "must be refused. The table is made by",
        "",
        f"    python benchmarks/exactness.py --models {models} --out docs/decisions/exactness.md",
        "",
        "| answer | networks or chains | largest deviation |",
        "|---|---|---|",
        *(f"| {name} | {asked:,} | {worst:.1e} |" for name, (worst, asked) in found.items()),
        "",
        "## Draws",
        "",
        f"{DRAWS} independent draws from each network that has a joint state. The frequency of",
        "each joint state is tested against its enumerated probability (exact binomial tests,",
        "the smallest p-value times the number of tests). All networks together are tested by",
        "the sum of Pearson's chi-square statistics, with rare states pooled, standardised by",
        "its mean and variance: z. Gibbs sampling from random states is tested only where",
        "potentials are of size 0 or 1 and finite, so that it mixes. One sweep from exact draws",
        "must preserve their distribution.",
        "",
        "| sampler | networks | joint states | impossible draws | corrected p-value | z |",
        "|---|---|---|---|---|---|",
        *(
            f"| {name} | {fit.networks:,} | {fit.tests:,} | {fit.impossible} | "
            f"{fit.p_value:.2g} | {fit.z:+.2f} |"
            for name, fit in fits.items()
        ),
    ]  # fmt: skip
    return "\n".join(lines) + "\n"


def parse(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """Return the arguments."""
    parser = parser_of(__doc__ or "")
    parser.add_argument("--models", type=int, default=10_000)
    parser.add_argument("--out", type=Path)
    return parser.parse_args(arguments)


def main() -> None:
    """Run the campaign and write the page."""
    options = parse()
    text = page(*campaign(options.models), options.models)
    print(text)
    if options.out is not None:
        options.out.write_text(text)


if __name__ == "__main__":
    main()
