"""How often comparisons of groups that are equal find a difference: p-values that are too small.

Run: python benchmarks/equal_groups.py [--seeds N] [--what NAME ...]

The same network twice, scale-free with tables of the same norm, or a ring of five-point items. The
columns: comparisons with a false difference, the share of p-values of pairs below .05 and .01, and
the share of p-values of global strength below .05. "missing" has cells deleted at random;
"weights" are gamma with a design effect, "weights of one group" in the first group alone.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass

import numpy as np
from arguments import parser_of

import graftwork as gw
from graftwork.report.edges import double_centred


@dataclass(frozen=True)
class Equal:
    """Groups of the same network: its variables and states, rows of each group, cells missing."""

    n: int
    states: int
    rows: tuple[int, ...]
    missing: float = 0.0
    ordinal: bool = False
    effects: tuple[float, ...] = ()

    def weights(self, seed: int) -> np.ndarray | None:
        """Return the weights of the rows of all groups, which have nothing to do with the rows."""
        if not self.effects:
            return None
        rng = np.random.default_rng([seed, 1])
        parts = [
            rng.gamma(1.0 / (effect - 1.0), effect - 1.0, size) if effect > 1.0 else np.ones(size)
            for effect, size in zip(self.effects, self.rows, strict=True)
        ]
        return np.maximum(np.concatenate(parts), 1e-3)

    def network(self, seed: int) -> gw.PairwiseMRF:
        """Return the network of all groups."""
        names, states = [f"x{i}" for i in range(self.n)], range(self.states)
        if self.ordinal:
            scores = np.arange(self.states) - (self.states - 1) / 2
            table = 0.3 * np.outer(scores, scores)
            ring = {(names[i], names[(i + 1) % self.n]): table for i in range(self.n)}
            return gw.PairwiseMRF(dict.fromkeys(names, states), None, ring)
        drawn = gw.datasets.scale_free_network(self.n, self.states, centred=True, random_state=seed)
        norm = 1.0 if self.states < 5 else 1.6
        tables = {
            (a, b): norm * drawn.table(a, b) / np.linalg.norm(double_centred(drawn.table(a, b)))
            for a, b in drawn.edges
        }
        unaries = {name: drawn.unary(name) for name in drawn.names}
        return gw.PairwiseMRF(dict.fromkeys(drawn.names, states), unaries, tables)

    def table(self, seed: int) -> dict[str, list[object]]:
        """Return the rows of all groups."""
        network, rng = self.network(seed), np.random.default_rng(seed)
        parts = [
            network.sample(size, random_state=1000 * k + seed).to_dict()
            for k, size in enumerate(self.rows, 1)
        ]
        columns: dict[str, list[object]] = {}
        for name in map(str, network.names):
            cells = [cell for part in parts for cell in part[name]]
            gone = rng.random(len(cells)) < self.missing
            columns[name] = [None if out else c for c, out in zip(cells, gone, strict=True)]
        columns["g"] = np.repeat(np.arange(len(self.rows)), self.rows).tolist()
        return columns


SETTINGS = {
    "binary": Equal(20, 2, (500, 500)),
    "three states": Equal(15, 3, (400, 400)),
    "unequal sizes": Equal(12, 2, (1000, 120)),
    "unequal sizes, three states": Equal(12, 3, (1000, 300)),
    "complete": Equal(10, 2, (500, 500)),
    "missing": Equal(10, 2, (500, 500), missing=0.1),
    "a quarter missing": Equal(10, 2, (500, 500), missing=0.25),
    "missing, ordered": Equal(10, 5, (300, 300), missing=0.1, ordinal=True),
    "weights": Equal(10, 2, (500, 500), effects=(1.9, 1.9)),
    "weights, three states": Equal(10, 3, (500, 500), effects=(1.9, 1.9)),
    "weights of one group": Equal(10, 2, (800, 400), effects=(1.9, 1.0)),
    "ordered": Equal(12, 5, (300, 300), ordinal=True),
    "ordered, unequal sizes": Equal(12, 5, (1000, 120), ordinal=True),
}


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    """Return the arguments."""
    parser = parser_of(__doc__ or "")
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--what", nargs="+", choices=list(SETTINGS), default=list(SETTINGS))
    return parser.parse_args(arguments)


def main(arguments: list[str] | None = None) -> None:
    """Print a line for each setting."""
    given = parse(arguments)
    print("setting | false | p < .05 | p < .01 | strength p < .05")
    for name in given.what:
        one = SETTINGS[name]
        false, p_values, strengths = 0, [], []
        for seed in range(given.first, given.first + given.seeds):
            found = gw.compare_groups(
                one.table(seed),
                "g",
                sample_weight=one.weights(seed),
                missing="available-case" if one.missing else "error",
                ordinal=one.ordinal or None,
            )
            false += bool(found.different.any())
            p_values += np.exp(found.tests.log_p[found.known]).tolist()
            strengths.append(found.strength.p_value)
        p = np.array(p_values)
        shares = f"{(p < 0.05).mean():.3f} | {(p < 0.01).mean():.3f} of {len(p)}"
        sums = f"{(np.array(strengths) < 0.05).mean():.3f}"
        print(f"{name} | {false} of {given.seeds} | {shares} | {sums}", flush=True)


if __name__ == "__main__":
    main()
