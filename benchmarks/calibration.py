"""Whether the false discovery rate holds: shares of false edges in tables whose truth is known.

Run: python benchmarks/calibration.py [NAME ...] [--repeats N | --seeds A:B] [--json FILE]
     python benchmarks/calibration.py --add FILE ... [--json FILE]

A line for each situation (`situations.py`) and number of rows: the share of false edges among those
found, averaged over tables, at fdr .01, .05 and .2 (a fit for each), with its standard error; the
share of true edges found at .01; how many of the pairs without an edge have p < .001 there, in per
cent. "high" marks lines where a share is above 1.3 times the rate asked for and above that rate
plus two standard errors; of few tables that may be chance. Lines that are "not pairwise" are only
reported. Seeds A to B - 1 may be split over processes, kept with --json and added up with --add.
One thread is used.
"""

from __future__ import annotations

import argparse
import json
import warnings
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from arguments import add_names, parser_of
from situations import SITUATIONS, Case, Situation

import graftwork as gw

RATES = (0.01, 0.05, 0.2)
REPEATS = 8
# What is kept of each line: sums over tables, so that files can be added up.
Sums = dict[str, Any]


def tables(group: str, one: Situation, count: int, seeds: range) -> Iterator[Case]:
    """Yield a case for each seed, the same whatever else is run."""
    for seed in seeds:
        key = zlib.crc32(f"{group}, {one.name}, {count}".encode())
        yield one.make(count, np.random.default_rng([key, seed]))


def measure(case: Case, criterion: str | None = None) -> list[tuple[float, float, int, int]]:
    """Return false share, recall, null pairs with p < .001 and null pairs, at each rate."""
    found = []
    for rate in RATES:
        options = {**case.options, "criterion": criterion, "fdr": rate}
        net = gw.MarkovNetwork(n_jobs=1, random_state=0, **options)
        net.fit(case.rows, sample_weight=case.weights)
        place = {name: i for i, name in enumerate(net.names_)}
        edges = {tuple(sorted((place[a], place[b]))) for a, b in net.model_.edges}
        n = len(place)
        nulls = n * (n - 1) // 2 - len(case.edges)
        low = 0
        evidence = net.evidence_
        for tests in () if evidence is None else (evidence.edges, evidence.others):
            listed = zip(tests.pairs.tolist(), tests.log_p.tolist(), strict=True)
            low += sum(log_p < np.log(0.001) for pair, log_p in listed
                       if tuple(sorted(pair)) not in case.edges)  # fmt: skip
        share = len(edges - case.edges) / max(1, len(edges))
        recall = len(edges & case.edges) / max(1, len(case.edges))
        found.append((share, recall, low, nulls))
    return found


def summed(
    group: str, one: Situation, count: int, seeds: range, criterion: str | None = None
) -> Sums:
    """Return the sums of a line."""
    shares, recalls = np.zeros((2, len(RATES))), np.zeros(len(RATES))
    low = nulls = true = 0
    for case in tables(group, one, count, seeds):
        found = np.array(measure(case, criterion))
        shares += found[:, 0], found[:, 0] ** 2
        recalls += found[:, 1]
        low, nulls = low + int(found[0, 2]), nulls + int(found[0, 3])
        true += len(case.edges)
    return {
        "group": group, "name": one.name, "rows": count, "pairwise": one.pairwise,
        "tables": len(seeds), "false": shares[0].tolist(), "squares": shares[1].tolist(),
        "recall": recalls.tolist(), "true": true, "low": low, "nulls": nulls,
    }  # fmt: skip


def added(parts: list[Sums]) -> list[Sums]:
    """Return one line for each situation and size, of all tables."""
    lines: dict[tuple[str, str, int], Sums] = {}
    for part in parts:
        key = part["group"], part["name"], part["rows"]
        line = lines.setdefault(key, part)
        if line is not part:
            for name in ("tables", "true", "low", "nulls"):
                line[name] += part[name]
            for name in ("false", "squares", "recall"):
                line[name] = np.add(line[name], part[name]).tolist()
    return list(lines.values())


def shares_of(line: Sums) -> tuple[Any, Any]:
    """Return the mean share of false edges at each rate, and its standard error."""
    count = line["tables"]
    mean = np.array(line["false"]) / count
    variance = np.array(line["squares"]) / count - mean**2
    return mean, np.sqrt(np.maximum(variance, 0.0) / max(1, count - 1))


def is_high(line: Sums, errors: float = 2.0) -> bool:
    """Whether a share is above 1.3 times its rate and above the rate plus standard errors."""
    mean, error = shares_of(line)
    rates = np.array(RATES)
    return bool(np.any((mean > 1.3 * rates) & (mean > rates + errors * error)))


def text(line: Sums) -> str:
    """Return a line of the table."""
    mean, error = shares_of(line)
    cells = "".join(f" {m:8.3f} ({e:.3f})" for m, e in zip(mean, error, strict=True))
    name = f"{line['group']}: {line['name']}"
    low = 100.0 * line["low"] / max(1, line["nulls"])
    recall = line["recall"][0] / line["tables"]
    verdict = "high" * is_high(line) if line["pairwise"] else "(not pairwise)"
    shown = f"{recall:7.2f}" if line["true"] else "      -"
    return f"{name:46}{line['rows']:6,d}{line['tables']:7d}{cells}{shown}{low:9.2f}  {verdict}"


def span(word: str) -> range:
    """Read A:B."""
    first, _, end = word.partition(":")
    return range(int(first), int(end))


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    """Return the arguments."""
    parser = parser_of(__doc__ or "")
    add_names(parser, SITUATIONS)
    parser.add_argument("--repeats", type=int, default=REPEATS, help="tables of each line")
    parser.add_argument("--seeds", type=span, metavar="A:B", help="instead of 0:REPEATS")
    parser.add_argument("--criterion", help="another way to choose edges than tests")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write sums to add up")
    parser.add_argument("--add", type=Path, nargs="+", default=[], metavar="FILE")
    return parser.parse_args(arguments)


def main(arguments: list[str] | None = None) -> list[Sums]:
    """Print the table, and return the sums of its lines."""
    given = parse(arguments)
    heads = "".join(f"{f'fdr {rate}':>17}" for rate in RATES)
    print(f"{'':46}{'rows':>6}{'tables':>7}{heads}{'recall':>7}{'p<.001 %':>9}")
    lines = added([line for file in given.add for line in json.loads(file.read_text())])
    for line in lines:
        print(text(line))
    seeds = given.seeds or range(given.repeats)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", gw.DataWarning)
        for group in () if given.add else given.names or SITUATIONS:
            for one in SITUATIONS[group]:
                for count in one.sizes:
                    lines.append(summed(group, one, count, seeds, given.criterion))
                    print(text(lines[-1]), flush=True)
    if given.json:
        given.json.write_text(json.dumps(lines, indent=1) + "\n")
    return lines


if __name__ == "__main__":
    main()
