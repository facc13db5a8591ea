"""Which size of an edge orders edges rightly: candidates on networks whose truth is known.

    python benchmarks/edge_sizes.py --samples 4
    python benchmarks/edge_sizes.py --survey bfi.csv --scales 5 --rows 1000

Normal variables with known partial correlations are cut into two to seven states; a size should
order the edges that are found as their partial correlations do (rank correlations, means of the
samples). Of a survey whose columns are scales of as many items each, in order: adjusted Rand index
of communities and scales, the rank correlation of sizes with the partial correlations of the rows,
and how often signs agree with theirs. "spread" is the weight times the scores' standard deviations,
"information" the strength were no variable ordered, "even" weights are those of cells that count
alike.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

import numpy as np
from arguments import parser_of
from scipy.stats import spearmanr
from sklearn.metrics import adjusted_rand_score

import graftwork as gw
from graftwork.models.communities import find_communities
from graftwork.report.edges import double_centred

KINDS = ("binary", "ordered", "mixed", "unordered")
SIZES = ("norm", "spread", "information", "correlation", "strength")


def planted(
    rng: np.random.Generator, n: int = 12, edges: int = 16
) -> tuple[np.ndarray, np.ndarray]:
    """Return the partial correlations of normal variables, and their correlations."""
    upper = np.array(np.triu_indices(n, 1)).T
    while True:
        precision = np.eye(n)
        chosen = upper[rng.choice(len(upper), edges, replace=False)]
        for i, j in chosen:
            precision[i, j] = precision[j, i] = rng.choice([-1, 1]) * rng.uniform(0.12, 0.5)
        if np.linalg.eigvalsh(precision)[0] > 0.12:
            return np.eye(n) - precision, np.linalg.inv(precision)


def cut(values: np.ndarray, states: int, rng: np.random.Generator) -> list[int]:
    """Return normal numbers in states of uneven frequencies."""
    shares = np.sort(rng.dirichlet(np.full(states, 3.0)).cumsum()[:-1])
    found: list[int] = np.searchsorted(np.quantile(values, shares), values).tolist()
    return found


def made(kind: str, seed: int, rows: int) -> tuple[np.ndarray, dict[str, list[int]], list[str]]:
    """Return true partial correlations, rows, and which variables are ordered."""
    rng = np.random.default_rng(seed)
    partial, correlations = planted(rng)
    drawn = rng.multivariate_normal(np.zeros(len(partial)), correlations, rows)
    states = [2] * len(partial) if kind == "binary" else rng.choice([2, 3, 5, 7], len(partial))
    columns = {f"x{i}": cut(drawn[:, i], int(k), rng) for i, k in enumerate(states)}
    step = {"binary": 1, "ordered": 1, "mixed": 2, "unordered": len(columns) + 1}[kind]
    return partial, columns, list(columns)[step - 1 :: step]


def sizes_of(model: gw.PairwiseMRF) -> dict[str, np.ndarray]:
    """Return the candidates: norms, weights times standard deviations of scores, and ours."""
    scores = {name: model.scores.get(name, (0.0, 1.0)) for name in model.names}
    spreads = {
        name: np.sqrt(np.cov(np.nan_to_num(scores[name]), aweights=p, ddof=0))
        for name, p in zip(model.names, model.gaps.frequencies, strict=True)
        if len(p) == len(scores[name])
    }
    apart = [spreads.get(a, np.nan) * spreads.get(b, np.nan) for a, b in model.edges]
    norms = [np.linalg.norm(double_centred(model.table(*edge))) for edge in model.edges]
    states, potentials = [*model.states.values()], model.potentials
    unordered = gw.PairwiseMRF.from_flat(model.names, states, potentials, model.gaps)
    found = (
        norms, np.abs(model.weights) * apart, unordered.strengths, np.abs(model.correlations),
        model.strengths,
    )  # fmt: skip
    return dict(zip(SIZES, map(np.asarray, found), strict=True))


def agreements(samples: int, rows: int) -> Iterator[str]:
    """Yield a line for each kind of variables."""
    for kind in KINDS:
        found = []
        for seed in range(samples):
            partial, columns, ordered = made(kind, seed, rows)
            model = gw.MarkovNetwork(ordinal=ordered or False, n_jobs=1).fit(columns).model_
            truth = np.abs(partial[tuple(model.potentials.layout.edges.T)])
            sizes = sizes_of(model).values()
            found.append([spearmanr(size[truth > 0], truth[truth > 0]).statistic for size in sizes])
        yield " ".join([f"{kind:10}", *(f"{mean:12.2f}" for mean in np.mean(found, axis=0))])


def surveyed(path: str, scales: int, rows: int, samples: int) -> Iterator[str]:
    """Yield how communities agree with scales, and sizes with partial correlations."""
    answers = np.genfromtxt(path, delimiter=",", skip_header=1)
    answers = answers[~np.isnan(answers).any(axis=1)].astype(int)
    n, found = answers.shape[1], []
    for seed in range(samples):
        drawn = np.random.default_rng(seed).choice(answers, rows, replace=False)
        columns = {f"x{i}": drawn[:, i].tolist() for i in range(n)}
        model = gw.MarkovNetwork(ordinal=True, n_jobs=1).fit(columns).model_
        edges = model.potentials.layout.edges
        inverse = np.linalg.inv(np.corrcoef(drawn.T))
        partial = -inverse / np.sqrt(np.outer(np.diag(inverse), np.diag(inverse)))
        truth = np.abs(partial[tuple(edges.T)])
        sizes = [*sizes_of(model).values(), truth]
        scale = np.arange(n) // (n // scales)
        parts = [adjusted_rand_score(scale, find_communities(n, edges, size)) for size in sizes]
        order = [spearmanr(size, truth).statistic for size in sizes]
        signs = np.sign(partial[tuple(edges.T)])
        states, flat = [*model.states.values()], model.potentials
        even = gw.PairwiseMRF.from_flat(model.names, states, flat, scores=model.scores)
        signed = even.weights, model.weights, model.correlations
        told = [np.mean(np.sign(x) == signs) for x in signed]
        found.append([*parts, *order, *told])
    mean = np.mean(found, axis=0)
    k = len(SIZES) + 1
    yield " ".join(["communities", *(f"{x:12.2f}" for x in mean[:k])])
    yield " ".join(["order      ", *(f"{x:12.2f}" for x in mean[k : 2 * k])])
    yield "signs: even weights {:.3f}, weights {:.3f}, correlations {:.3f}".format(*mean[2 * k :])


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    """Return what is asked for."""
    parser = parser_of(__doc__)
    parser.add_argument("--samples", type=int, default=4)
    parser.add_argument("--rows", type=int, default=3000)
    parser.add_argument("--survey", help="a CSV file of complete rows, whole numbers")
    parser.add_argument("--scales", type=int, default=5)
    return parser.parse_args(arguments)


def main(given: argparse.Namespace) -> None:
    """Print the tables."""
    names, lines = SIZES, agreements(given.samples, given.rows)
    if given.survey:
        names = (*SIZES, "partial")
        lines = surveyed(given.survey, given.scales, given.rows, given.samples)
    print(" " * 10, *(f"{name:>12}" for name in names))
    for line in lines:
        print(line, flush=True)


if __name__ == "__main__":
    main(parse())
