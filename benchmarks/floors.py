"""What each hot kernel takes, beside the least that its task can take on this machine.

    python benchmarks/floors.py [--json FILE] [--quick]

First the machine: rates of elementary work on one core, in cache (benchmarks/rates.py). A floor is
the least work of a task, counted in such pieces and divided by their rates; it is about the task,
not about how the library goes about it. Then the library's own kernels through their usual entries,
on one thread; CPU time, the least of a few runs. ``--quick`` takes fewer rows and runs.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from arguments import parser_of
from rates import LANES, Rates, best_seconds, measure
from threadpoolctl import threadpool_limits

import graftwork as gw
from graftwork.data.chains import Sequences
from graftwork.data.counts import PairCounts
from graftwork.data.encoded import EncodedRows, prepare
from graftwork.inference import LoopyBP
from graftwork.inference.chains import ChainShape, FeatureLayout, FeatureWeights
from graftwork.inference.layout import Potentials
from graftwork.inference.sampling import gibbs_sample
from graftwork.objectives import PseudoLikelihood
from graftwork.objectives.chains.data import ChainData
from graftwork.objectives.chains.features import find_features
from graftwork.objectives.chains.likelihood import ChainLikelihood

VARIABLES, STATES, ROWS = 200, 5, 19_000


@dataclass(frozen=True)
class Floor:
    """A kernel's time beside its floor, both in seconds; ``counted`` says what the floor is."""

    kernel: str
    measured: float
    floor: float
    target: float
    counted: str

    def record(self) -> dict[str, object]:
        """Return it as it is written to files."""
        return {
            "kernel": self.kernel,
            "measured": self.measured,
            "floor": self.floor,
            "unit": "s",
            "ratio": self.measured / self.floor,
            "target": self.target,
            "counted": self.counted,
        }


@dataclass(frozen=True)
class Problem:
    """The network all but chains are measured on."""

    potentials: Potentials
    sample: EncodedRows
    repeats: int

    @staticmethod
    def of(rows: int, repeats: int) -> Problem:
        """Return a scale-free network and rows from Gibbs chains."""
        model = gw.datasets.scale_free_network(VARIABLES, STATES, centred=True, random_state=0)
        codes = gibbs_sample(
            model.potentials, rows, np.random.default_rng(0), burn_in=200, thin=5, n_chains=64
        )
        states = {f"x{i}": range(STATES) for i in range(VARIABLES)}
        table = gw.as_table(codes.T.astype(np.uint8), states=states)
        return Problem(model.potentials, prepare(table, keep_all_states=True, n_jobs=1), repeats)

    @property
    def degrees(self) -> np.ndarray:
        """Neighbours of each variable."""
        return np.bincount(self.potentials.layout.edges.ravel(), minlength=VARIABLES)

    def seconds(self, action: Callable[[], object]) -> float:
        """Return the least CPU seconds of a few runs, after one to warm up."""
        action()
        return best_seconds(action, self.repeats)

    def inactive(self) -> np.ndarray:
        """Return all pairs that are no edges."""
        pairs = np.stack(np.triu_indices(VARIABLES, 1), axis=1)
        edges = np.sort(self.potentials.layout.edges, axis=1)
        keys = edges[:, 0] * VARIABLES + edges[:, 1]
        return pairs[~np.isin(pairs[:, 0] * VARIABLES + pairs[:, 1], keys)]

    def configurations(self) -> np.ndarray:
        """Return how many different states of its neighbours each variable has among the rows."""
        marks = np.random.default_rng(1).integers(0, 2**63, (VARIABLES, STATES), dtype=np.uint64)
        marked = np.stack([marks[i][self.sample.codes[i]] for i in range(VARIABLES)])
        keys = np.zeros_like(marked)
        for i, j in self.potentials.layout.edges:
            keys[i] += marked[j]
            keys[j] += marked[i]
        return np.array([len(np.unique(row)) for row in keys])


def pair_counts(problem: Problem, rates: Rates, states: int, rows: int, weighted: bool) -> Floor:
    """All pair tables from codes, nothing kept from before; with whole weights up to 7."""
    rng = np.random.default_rng(2)
    codes = rng.integers(0, states, (VARIABLES, rows)).astype(np.uint8)
    cards = np.full(VARIABLES, states)
    pairs = np.stack(np.triu_indices(VARIABLES, 1), axis=1)
    weights = np.minimum(rng.poisson(1.0, rows), 7).astype(float) if weighted else None
    measured = problem.seconds(lambda: PairCounts(codes, cards, weights, n_jobs=1).compute(pairs))
    digits = (
        np.ones(1) if weights is None else np.array([(weights >= 2**p).mean() for p in (0, 1, 2)])
    )
    words = len(pairs) * (states - 1) ** 2 * rows / 64 * digits.sum()
    kind = ", weighted" if weighted else ""
    return Floor(
        f"pair counts, {states} states{kind}",
        measured,
        words / rates.words + codes.nbytes / rates.bytes_read,
        2.0,
        "words to AND and popcount, for all cells but a table's last row and column"
        + (", for each binary digit that weights have" if weighted else "")
        + "; codes read once",
    )


def _conditionals(rates: Rates, entries: float, exponentials: float) -> float:
    return entries / rates.entries32 + exponentials / rates.exponentials32


def pseudo_likelihood(problem: Problem, rates: Rates) -> list[Floor]:
    """Value, gradient and curvature at the true weights.

    Rows whose neighbours have the same states need not be looked at again. What is left is little
    enough that it is done in double precision, which certificates need: its floor is, too.
    """
    objective = PseudoLikelihood(problem.sample, n_jobs=1)
    measured = problem.seconds(lambda: objective.at(problem.potentials).gradient)
    free, rows = STATES - 1, problem.sample.n_rows
    floors = []
    for words, per_variable, single in (
        ("rows", np.full(VARIABLES, rows), True),
        ("different neighbours' states", problem.configurations(), False),
    ):
        updates = float((per_variable * problem.degrees).sum()) * free
        exponentials = float(per_variable.sum()) * free
        short = 2 * updates / rates.entries32 + exponentials / rates.exponentials32
        double = 2 * updates / rates.entries64 + exponentials / rates.exponentials64
        floors.append(
            Floor(
                f"pseudo-likelihood, by {words}",
                measured,
                short if single else double,
                3.0,
                f"{updates / 1e6:.1f} M table entries to look up and add, and as many sums of "
                f"probabilities; {exponentials / 1e6:.1f} M exponentials; one state of each "
                f"follows from the others; float32 {1e3 * short:.1f} ms, float64 "
                f"{1e3 * double:.1f} ms",
            )
        )
    return floors


def scoring(problem: Problem, rates: Rates) -> Floor:
    """Gradients of all inactive pairs at a new point, their counts known."""
    objective, pairs = PseudoLikelihood(problem.sample, n_jobs=1), problem.inactive()

    def score() -> None:
        objective.at(problem.potentials).pair_gradients(pairs)

    def evaluate() -> None:
        _ = objective.at(problem.potentials).gradient

    measured = problem.seconds(score) - problem.seconds(evaluate)
    free, rows = STATES - 1, problem.sample.n_rows
    sums = 2.0 * len(pairs) * rows * free
    by_rows = sums / rates.entries32
    by_product = 2.0 * sums * free / rates.flops32
    conditionals = _conditionals(
        rates, float(problem.degrees.sum()) * rows * free, float(VARIABLES) * rows * free
    )
    return Floor(
        f"scoring {len(pairs):,} inactive pairs",
        measured,
        min(by_rows, by_product) + conditionals,
        3.0,
        f"conditionals of all variables; then {sums / 1e9:.2f} G probabilities added by the "
        f"other's state ({1e3 * by_rows:.0f} ms), or float32 matrix products "
        f"({1e3 * by_product:.0f} ms), whichever is less",
    )


def belief_propagation(problem: Problem, rates: Rates) -> Floor:
    """One sweep: every message once."""
    engine = LoopyBP()
    cold = engine.infer(problem.potentials)
    warm = engine.infer(problem.potentials, cold)
    first = problem.seconds(lambda: engine.infer(problem.potentials))
    again = problem.seconds(lambda: engine.infer(problem.potentials, cold))
    messages = 2 * problem.potentials.layout.n_edges
    products = messages * (STATES**2 + 5 * STATES)
    return Floor(
        "belief propagation, a sweep",
        (first - again) / (cold.sweeps - warm.sweeps),
        products / rates.small_products64 + messages / rates.divisions64,
        3.0,
        f"for each of {messages} messages s^2 multiply-adds of a table with a vector and 5 s more "
        "(products of messages without one, scaling, change), and a division; float64",
    )


def gibbs(problem: Problem, rates: Rates) -> Floor:
    """One sweep of one chain, 64 at a time."""
    chains, sweeps = 64, 50

    def run(burn_in: int) -> Callable[[], object]:
        rng = np.random.default_rng
        return lambda: gibbs_sample(
            problem.potentials, chains, rng(0), burn_in=burn_in, thin=1, n_chains=chains
        )

    spent = problem.seconds(run(5 + sweeps)) - problem.seconds(run(5))
    free = STATES - 1
    return Floor(
        "Gibbs, a sweep of one chain",
        spent / (chains * sweeps),
        _conditionals(rates, float(problem.degrees.sum()) * free, float(VARIABLES) * free)
        + VARIABLES / rates.draws,
        3.0,
        "for each variable and neighbour s - 1 table entries to look up and add, s - 1 "
        "exponentials, one random number and its comparison; float32",
    )


def forward_backward(problem: Problem, rates: Rates, labels: int, n_sequences: int) -> Floor:
    """Value and gradients of a chain model, attributes included."""
    length, attributes, each = 24, 5_000, 10
    rng = np.random.default_rng(3)
    positions = n_sequences * length
    names = tuple(f"a{k}" for k in range(attributes))
    indices = rng.integers(0, attributes, positions * each).astype(np.int32)
    starts = np.arange(n_sequences + 1) * length
    sequences = Sequences(starts, np.arange(positions + 1) * each, indices, np.zeros(0), names)
    codes = rng.integers(0, labels, positions).astype(np.int32)
    data = ChainData.of(sequences, codes, ChainShape(labels, 1))
    objective = ChainLikelihood(data, *find_features(data, observed=False), n_jobs=1)
    chosen = np.arange(objective.features.size)
    layout = FeatureLayout.of(np.arange(len(chosen) + 1), chosen)
    weights = FeatureWeights(layout, 0.1 * rng.standard_normal(len(chosen)))
    measured = problem.seconds(lambda: objective.at(weights))
    products = 3.0 * positions * labels**2
    entries = 2.0 * positions * each * (-(-labels // LANES) * LANES)
    exponentials = float(positions * labels)
    return Floor(
        f"forward-backward, {labels} labels",
        measured,
        products / rates.products64
        + entries / rates.entries64
        + exponentials / rates.exponentials64,
        3.0,
        f"{products / 1e6:.0f} M multiply-adds (forward, backward, expected moves), "
        f"{entries / 1e6:.1f} M entries of attributes' rows to look up and add (scores and "
        f"expectations; registers of {LANES}), {exponentials / 1e6:.2f} M exponentials; float64",
    )


def measure_all(rates: Rates, rows: int, repeats: int) -> list[Floor]:
    """Return every kernel beside its floor."""
    problem = Problem.of(rows, repeats)
    floors = [pair_counts(problem, rates, states, rows, False) for states in range(2, 9)]
    floors.append(pair_counts(problem, rates, STATES, rows, True))
    floors += pseudo_likelihood(problem, rates)
    floors.append(scoring(problem, rates))
    floors.append(belief_propagation(problem, rates))
    floors.append(gibbs(problem, rates))
    floors += [forward_backward(problem, rates, n, rows // 20) for n in (3, 9, 22, 26, 45, 50)]
    return floors


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = parser_of(__doc__)
    parser.add_argument("--json", type=Path, help="write the records to this file")
    parser.add_argument("--quick", action="store_true", help="fewer rows and runs")
    return parser.parse_args(arguments)


def main(options: argparse.Namespace) -> None:
    rows, repeats = (4_000, 3) if options.quick else (ROWS, 7)
    with threadpool_limits(1):
        rates = measure()
        print("One core does in a second, in cache (G):")
        for name, value in asdict(rates).items():
            print(f"  {name:18}{value / 1e9:8.2f}")
        floors = measure_all(rates, rows, repeats)
    print(f"\n{VARIABLES} variables of {STATES} states, {rows:,} rows, scale-free, one thread, CPU")
    print(f"{'kernel':48}{'measured ms':>12}{'floor ms':>11}{'ratio':>8}{'target':>8}")
    for row in floors:
        print(
            f"{row.kernel:48}{1e3 * row.measured:12.3f}{1e3 * row.floor:11.3f}"
            f"{row.measured / row.floor:8.1f}{row.target:8.0f}"
        )
    print("\nCounted in the floors:")
    for row in floors:
        print(f"  {row.kernel}: {row.counted}")
    if options.json:
        options.json.write_text(json.dumps([row.record() for row in floors], indent=1) + "\n")


if __name__ == "__main__":
    main(parse())
