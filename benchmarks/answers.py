"""How close the answers of default networks, and of their refits, are to the truth and the rows.

Run: python benchmarks/answers.py [alarm.bif insurance.bif.gz ...] [--rows N] [--seed N]

With files of Bayesian networks (BIF; pgmpy has some among its examples) it draws rows, learns, and
compares sixty posteriors given one to three variables with exact ones: mean total variation.
Without files it tells the largest error of a margin, as a query answers, on embedded and made data.
"""

from __future__ import annotations

import argparse
import gzip
import re
import time
import warnings
from pathlib import Path

import numpy as np
from arguments import parser_of

import graftwork as gw

QUESTIONS, TEST_ROWS = 60, 3000


class Bayes:
    """A Bayesian network from a BIF file."""

    def __init__(self, path: Path) -> None:
        read = gzip.open if path.suffix == ".gz" else open
        with read(path, "rt") as file:
            text = file.read()
        self.states = {
            name: [state.strip() for state in listed.split(",")]
            for name, listed in re.findall(r"variable\s+(\S+)\s*\{[^{}]*\{([^}]*)\}", text)
        }
        self.parents: dict[str, list[str]] = {}
        self.tables: dict[str, np.ndarray] = {}
        for head, body in re.findall(r"probability\s*\(([^)]*)\)\s*\{([^}]*)\}", text):
            name, *rest = re.split(r"\s*[|,]\s*", head.strip())
            table = np.zeros([len(self.states[each]) for each in (*rest, name)])
            for given, numbers in re.findall(r"(?:\(([^)]*)\)|table)\s*([^;]*);", body):
                at = [each.strip() for each in given.split(",")] if given else []
                place = tuple(self.states[p].index(s) for p, s in zip(rest, at, strict=True))
                table[place] = [float(number) for number in numbers.split(",")]
            self.parents[name] = rest
            self.tables[name] = table / table.sum(axis=-1, keepdims=True)
        self.names = list(self.states)

    def draw(self, rows: int, rng: np.random.Generator) -> dict[str, np.ndarray]:
        """Return rows as codes, each variable after its parents."""
        found: dict[str, np.ndarray] = {}
        while len(found) < len(self.names):
            for name in self.names:
                if name in found or not all(p in found for p in self.parents[name]):
                    continue
                chances = self.tables[name][tuple(found[p] for p in self.parents[name])]
                chances = np.broadcast_to(chances, (rows, len(self.states[name])))
                over = np.cumsum(chances, axis=1) < rng.random((rows, 1))
                found[name] = np.minimum(over.sum(axis=1), len(self.states[name]) - 1)
        return {name: found[name] for name in self.names}

    def posterior(self, name: str, given: dict[str, int]) -> np.ndarray:
        """Return the exact probabilities of a variable, by summing the product of all tables."""
        number = {each: k for k, each in enumerate(self.names)}
        parts: list[object] = []
        for each in self.names:
            scope = [*self.parents[each], each]
            place = tuple(given.get(v, slice(None)) for v in scope)
            parts += [self.tables[each][place], [number[v] for v in scope if v not in given]]
        joint = np.einsum(*parts, [number[name]], optimize="greedy")
        return joint / joint.sum()


def ask(truth: Bayes, rows: int, seed: int) -> None:
    """Print the mean total variation of posteriors from the truth, and scores of new rows."""
    rng = np.random.default_rng(seed)
    drawn = truth.draw(rows + TEST_ROWS, rng)
    told = {v: np.array(truth.states[v], dtype=object)[codes] for v, codes in drawn.items()}
    train = {v: column[:rows].tolist() for v, column in told.items()}
    test = {v: column[rows:].tolist() for v, column in told.items()}
    questions = []
    while len(questions) < QUESTIONS:
        row = rows + int(rng.integers(TEST_ROWS))
        listed = rng.choice(truth.names, int(rng.integers(2, 5)), replace=False).tolist()
        given = {v: int(drawn[v][row]) for v in listed[1:]}
        questions.append((listed[0], given, truth.posterior(listed[0], given)))
    began = time.process_time()
    net = gw.MarkovNetwork(states=truth.states, n_jobs=1).fit(train)
    took = time.process_time() - began
    from graftwork.estimators.fit import fit

    plain = fit(net.spec(), train, calibrated=False).model
    report("as tested", plain, truth, questions, test, took)
    report("calibrated (default)", net.model_, truth, questions, test, 0.0)
    for times in (0.3, 1.0, 3.0):
        began = time.process_time()
        model = net.model_.refit(times * 0.5 / rows)
        took = time.process_time() - began
        report(f"refit, l2 = {times:g} / (2 N)", model, truth, questions, test, took)


def report(label, model, truth, questions, test, took) -> None:  # type: ignore[no-untyped-def]
    """Print one line about a network."""
    apart = []
    for name, given, exact in questions:
        evidence = {v: truth.states[v][code] for v, code in given.items()}
        apart.append(0.5 * np.abs(model.marginals(evidence)[name] - exact).sum())
    print(
        f"  {label:28} total variation {np.mean(apart):.4f}  NLPL of new rows "
        f"{-model.score(test):.4f}  {took:.1f} CPU s",
        flush=True,
    )


def made() -> dict[str, object]:
    """Return ten made sets: nominal, ordered, mixed, and nearly deterministic."""
    found: dict[str, object] = {}
    for seed, (n, states) in enumerate([(14, 3), (20, 2), (12, 4)]):
        drawn = gw.datasets.make_scale_free(n, states, n_rows=800, random_state=seed)
        found[f"nominal, {n} of {states} states"] = drawn.data
    rng = np.random.default_rng(5)
    for n, levels in ((10, 5), (16, 4), (8, 7)):
        z = rng.normal(size=(600, 3))
        answers = 1.2 * z[:, rng.integers(0, 3, n)] + rng.normal(size=(600, n))
        cuts = np.quantile(answers, np.linspace(0, 1, levels + 1)[1:-1])
        found[f"ordered, {n} of {levels} levels"] = np.searchsorted(cuts, answers)
    for n in (9, 15):
        z = rng.normal(size=(500, n)) + rng.normal(size=(500, 1))
        columns = {f"b{i}": (z[:, i] > 0.5).astype(int).tolist() for i in range(n // 3)}
        columns |= {
            f"o{i}": np.digitize(z[:, i], [-1, 0, 1]).tolist() for i in range(n // 3, n - 2)
        }
        columns |= {f"n{i}": [f"s{int(v) % 3}" for v in 2 * z[:, i]] for i in (n - 2, n - 1)}
        found[f"mixed, {n}"] = columns
    x = rng.integers(0, 4, 700)
    for noise in (0.0, 0.005):
        wrong = rng.random((700, 5)) < noise
        columns = {f"c{i}": ((x + wrong[:, i]) % 4).tolist() for i in range(5)}
        columns |= {"half": (x // 2).tolist(), "free": rng.integers(0, 3, 700).tolist()}
        found[f"nearly deterministic, noise {noise:g}"] = {
            name: [f"s{value}" for value in column] for name, column in columns.items()
        }
    return found


def large() -> dict[str, object]:
    """Return two sets whose networks are too large for a junction tree: factors, and a torus."""
    rng = np.random.default_rng(3)
    factors = rng.normal(size=(1500, 5)) @ rng.normal(size=(5, 30))
    items = np.digitize(factors + rng.normal(size=(1500, 30)), [-1.5, 0, 1.5])
    side, coupling, lean = 12, 0.4, 0.02
    spins = rng.choice([-1, 1], size=(1500, side, side))
    colour = np.add.outer(np.arange(side), np.arange(side)) % 2
    for _ in range(300):
        for now in (0, 1):
            pull = sum(np.roll(spins, step, axis) for step in (1, -1) for axis in (1, 2))
            up = rng.random(spins.shape) < 1 / (1 + np.exp(-2 * (coupling * pull + lean)))
            spins = np.where(colour == now, np.where(up, 1, -1), spins)
    return {"30 items of 5 factors": items, "torus of 12 x 12 spins": spins.reshape(1500, -1)}


def margins() -> None:
    """Print the largest error of a margin of default networks."""
    adhd = gw.datasets.load_adhd()
    sets = {
        "adhd": adhd.take_columns([name for name in adhd.names if name != "group"]),
        "adhd, with group": adhd,
        "boredom": gw.datasets.load_boredom(),
        "mushroom": gw.datasets.load_mushroom(),
    }
    sets |= made() | large()
    for label, table in sets.items():
        net = gw.MarkovNetwork(n_jobs=1).fit(table)
        model = net.model_
        told = model.observed
        assert told is not None
        answer = model.answer()
        found = np.concatenate(list(answer.marginals.values()))
        shares = np.concatenate(list(model.frequencies().values()))
        error = 100 * np.abs(found - shares).max()
        print(
            f"  {label:34} {model.n_edges:4} edges  {answer.how}: largest error {error:.3f} points "
            f"(told {100 * told.margin_error:.3f} +- {100 * told.noise:.3f})",
            flush=True,
        )


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    """Return the arguments."""
    parser = parser_of(__doc__ or "")
    parser.add_argument("networks", nargs="*", type=Path, metavar="FILE")
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args(arguments)


def main() -> None:
    """Measure what the arguments say."""
    options = parse()
    warnings.simplefilter("ignore")
    for path in options.networks:
        print(f"{path.name}, {options.rows} rows")
        ask(Bayes(path), options.rows, options.seed)
    if not options.networks:
        margins()


if __name__ == "__main__":
    main()
