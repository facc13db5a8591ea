"""Record what the library answers on many small problems, and compare two records.

Run: python benchmarks/record.py write FILE
     python benchmarks/record.py compare BEFORE AFTER [--tolerance 1e-9]

The problems cross methods, losses, penalties, inference, missing cells, prior knowledge, weights,
goals and criteria; chains too. Recorded are objective, edges, strengths, p-values, scores,
marginals, samples and weights. It is for changes of code that should change no answer: write a
record before, another after, and compare.
"""

from __future__ import annotations

import argparse
import json
import math
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from arguments import parser_of

import graftwork as gw

Answer = dict[str, Any]


def planted(n: int = 8, states: Any = 3, rows: int = 300, seed: int = 0) -> gw.Table:
    """Return rows of a scale-free network."""
    return gw.datasets.make_scale_free(n, states, n_rows=rows, random_state=seed).data


def weighted() -> gw.Table:
    """Return rows with whole weights, some of them zero."""
    table = planted(seed=1)
    return table.with_weights(np.random.default_rng(0).integers(0, 4, table.n_rows).astype(float))


def with_gaps(share: float = 0.06) -> list[list[Any]]:
    """Return rows in which some cells are missing."""
    rng, rows = np.random.default_rng(3), np.array(planted(6, 3, 250, 2).codes.T, dtype=object)
    rows[rng.random(rows.shape) < share] = None
    return [list(map(_plain, row)) for row in rows.tolist()]


def _plain(value: Any) -> Any:
    return None if value is None else int(value)


METHODS = (
    "best-choice", "working-set", "edge-grafting", "first-hit", "grafting", "gain",
    "mutual-information", "grafting-light", "gauss-seidel", "full", "priority",
)  # fmt: skip
PENALTIES = ("group-l1", "l1", "elastic-net", "l2", "none")

Problem = tuple[Callable[[], Any], dict[str, Any]]


def problems() -> dict[str, Problem]:
    """Return the problems of networks by name: what makes the data, and the parameters."""
    known: dict[str, Problem] = {}
    for method in METHODS:
        known[f"method-{method}"] = planted, {"method": method, "lam": 0.03}
    for penalty in PENALTIES:
        options: dict[str, Any] = {"penalty": penalty, "lam": 0.02, "method": "grafting-light"}
        if penalty == "elastic-net":
            options["penalty_options"] = {"l2": 0.01}
        known[f"penalty-{penalty}"] = lambda: planted(5, 3, 200, 4), options
    for inference in ("exact", "bp", "trw"):
        for rule in ("path", "product"):
            engine = inference
            if rule == "product" and inference != "exact":
                engine = f"{inference}:rule=product"
            options = {"loss": "likelihood", "inference": engine, "lam": 0.05}
            known[f"likelihood-{inference}-{rule}"] = lambda: planted(6, 2, 300, 5), options
    for policy in ("state", "drop-rows", "available-case", "impute"):
        known[f"missing-{policy}"] = with_gaps, {"missing": policy, "lam": 0.03}
        known[f"missing-{policy}-structure"] = with_gaps, {"missing": policy}
    names = [f"x{k}" for k in range(8)]
    star = [(names[0], name) for name in names[1:]]
    known |= {
        "weights": (weighted, {"lam": 0.03}),
        "weights-structure": (weighted, {}),
        "required": (planted, {"lam": 0.05, "knowledge": {"required": [(names[0], names[7])]}}),
        "forbidden-structure": (planted, {"knowledge": {"forbidden": [(names[0], names[1])]}}),
        "candidates": (planted, {"lam": 0.02, "knowledge": {"candidates": star}}),
        "penalty-weights": (
            planted, {"knowledge": {"penalty_weights": {star[0]: 0.1}}, "lam": 0.03},
        ),
        "structure-binary": (lambda: planted(15, 2, 800, 6), {}),
        "structure-five": (lambda: planted(12, 5, 500, 7), {}),
        "structure-likelihood": (lambda: planted(7, 2, 400, 8), {"loss": "likelihood"}),
        "structure-fdr": (lambda: planted(12, 3, 300, 9), {"fdr": 0.1}),
        "prediction-k-fold": (planted, {"goal": "prediction"}),
        "criterion-ebic": (planted, {"criterion": "ebic"}),
        "criterion-ebic-refit": (planted, {"criterion": "ebic-refit"}),
        "criterion-adaptive": (planted, {"criterion": "adaptive"}),
        "criterion-stars": (
            planted, {"criterion": "stars", "criterion_options": {"subsamples": 5}},
        ),
        "chow-liu": (planted, {"method": "chow-liu"}),
        "forced-pruning": (planted, {"method": "forced-pruning", "max_edges": 9}),
        "start-chow-liu": (planted, {"method_options": {"start": "chow-liu"}, "lam": 0.03}),
        "tie": (planted, {"lam": 0.03, "tie": 4}),
        "budget-edges": (planted, {"lam": 0.01, "max_edges": 5, "method": "best-choice"}),
        "penalised-unaries": (planted, {"lam": 0.03, "penalty_options": {"unary": True}}),
        "mixed-states": (lambda: planted(9, (2, 3, 4, 5, 6, 2, 3, 4, 5), 400, 10), {}),
        "mushroom": (gw.datasets.load_mushroom, {"lam": 0.05}),
    }  # fmt: skip
    return known


def network_answer(make: Callable[[], Any], options: dict[str, Any]) -> Answer:
    """Return what is recorded of one network."""
    data = make()
    net = gw.MarkovNetwork(**options, random_state=0, n_jobs=1).fit(data)
    model = net.model_
    order = sorted(range(model.n_edges), key=lambda k: sorted(map(str, model.edges[k])))
    edges = [model.edges[k] for k in order]
    tests = {frozenset((r["first"], r["second"])): r for r in _records(net.edges_)}
    drawn = model.sample(5, random_state=1)
    marginals = model.marginals()
    return {
        "objective": net.objective_,
        "lam": net.lam_,
        "edges": [sorted(map(str, edge)) for edge in edges],
        "strengths": model.strengths.tolist(),
        "p_values": [_finite(tests[frozenset(edge)]["p_value"]) for edge in edges],
        "score": net.score(data),
        "marginals": {str(name): np.asarray(marginals[name]).tolist() for name in model.names},
        "sample": np.asarray(drawn.codes).tolist(),
    }


def _records(table: Any) -> list[dict[str, Any]]:
    return table if isinstance(table, list) else table.to_dict("records")


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def chain_answer(options: dict[str, Any]) -> Answer:
    """Return what is recorded of one chain."""
    made = gw.datasets.labelled_chains(60, length=5, n_inputs=12, n_relevant=4, random_state=0)
    crf = gw.ChainCRF(**options).fit(made.X, made.y)
    weights = _records(crf.weights_)
    weights.sort(key=lambda record: [str(record[key]) for key in sorted(record) if key != "weight"])
    return {
        "objective": crf.objective_,
        "features": [[str(r[key]) for key in sorted(r) if key != "weight"] for r in weights],
        "weights": [float(r["weight"]) for r in weights],
        "score": crf.score(made.X, made.y),
        "predictions": crf.predict(made.X)[:5],
    }


CHAINS = {
    "chain-grafting-light": {"method": "grafting-light", "lam": 0.02},
    "chain-grafting": {"method": "grafting", "lam": 0.02},
    "chain-full": {"method": "full", "lam": 0.02},
    "chain-second-order": {"lam": 0.02, "order": 2},
    "chain-group": {"lam": 0.05, "penalty": "group-l1"},
}


def bootstrap_answer() -> Answer:
    """Return what is recorded of one bootstrap."""
    net = gw.MarkovNetwork(random_state=0, n_jobs=1)
    boot = net.bootstrap(planted(8, 3, 250, 11), 6, random_state=2)
    return {
        "pairs": boot.pairs.tolist(),
        "shares": boot.frequencies.tolist(),
        "intervals": [[record["low"], record["high"]] for record in boot.edges()],
        "correlations": np.nan_to_num(boot.correlations).tolist(),
    }


def record() -> dict[str, Answer]:
    """Return all answers by problem."""
    answers = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, problem in problems().items():
            answers[name] = network_answer(*problem)
        for name, options in CHAINS.items():
            answers[name] = chain_answer(options)
        answers["bootstrap"] = bootstrap_answer()
    return answers


def differences(before: Any, after: Any, path: str = "") -> list[tuple[str, float]]:
    """Return where two records differ and by how much; infinite for what is no number."""
    if isinstance(before, dict) and isinstance(after, dict):
        found = []
        for key in sorted({*before, *after}):
            if key not in before or key not in after:
                found.append((f"{path}/{key}", math.inf))
            else:
                found += differences(before[key], after[key], f"{path}/{key}")
        return found
    if isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        pairs = zip(before, after, strict=True)
        return [d for k, (a, b) in enumerate(pairs) for d in differences(a, b, f"{path}[{k}]")]
    if before == after:
        return []
    numbers = all(isinstance(x, int | float) and not isinstance(x, bool) for x in (before, after))
    return [(path, abs(before - after) / max(1.0, abs(before)) if numbers else math.inf)]


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    """Return what is asked for."""
    parser = parser_of(__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("write").add_argument("file", type=Path)
    compare = commands.add_parser("compare")
    compare.add_argument("before", type=Path)
    compare.add_argument("after", type=Path)
    compare.add_argument("--tolerance", type=float, default=1e-9, help="relative; default: 1e-9")
    return parser.parse_args(arguments)


def main(chosen: argparse.Namespace) -> int:
    """Write a record, or print how two differ; return 1 if they differ by more than allowed."""
    if chosen.command == "write":
        answers = record()
        chosen.file.write_text(json.dumps(answers, indent=1) + "\n", encoding="utf-8")
        print(f"{len(answers)} problems recorded")
        return 0
    before, after = (
        json.loads(path.read_text(encoding="utf-8")) for path in (chosen.before, chosen.after)
    )
    found = differences(before, after)
    large = [each for each in found if each[1] > chosen.tolerance]
    for path, size in sorted(large, key=lambda each: -each[1])[:40]:
        print(f"{size:9.2g}  {path}")
    largest = max((size for _, size in found), default=0.0)
    print(
        f"{len(before)} problems, {len(large)} numbers differ by more than {chosen.tolerance:g}; "
        f"largest difference {largest:.2g}"
    )
    return int(bool(large))


if __name__ == "__main__":
    raise SystemExit(main(parse()))
