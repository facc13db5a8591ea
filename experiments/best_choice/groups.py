"""Runs of one experiment together: the same data and settings, by method."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

import numpy as np

from experiments.engine import Found

#: Whose settings a run has.
WHOSE = {"authors": "authors' settings", "ours": "our defaults"}

#: Stops that a budget makes: the run would have gone on.
BUDGETS = ("evaluations", "tests", "rounds")
#: Runs are compared where they have come this share of the way to the worst of their ends.
NEARLY = 0.99
#: Fewer rows of real data are another problem than the paper's.
SMALL = 1_000


@dataclass(frozen=True, slots=True)
class Lead:
    """How many times the CPU seconds of best-choice the exhaustive method took, and until what.

    Attributes
    ----------
    times : float
        Over the median of best-choice.
    objective : float
        What all of them reached by then.
    way : float
        Which share that is of the way from the first objective to the best one of any run.
    """

    times: float
    objective: float
    way: float


@dataclass(frozen=True, slots=True, eq=False)
class Group:
    """The runs of several methods on the same data with the same settings.

    Attributes
    ----------
    n : int
        Variables of a scale-free network, 0 for real data.
    data, setting : str
        What was learned from, and with whose settings.
    runs : dict of method to Found
    """

    n: int
    data: str
    setting: str
    runs: Mapping[str, Found]

    @property
    def methods(self) -> list[str]:
        """Return what was run."""
        return list(self.runs)

    @property
    def place(self) -> str:
        """What was learned from."""
        return f"n={self.n}" if self.n else self.data

    def __str__(self) -> str:
        return f"{self.place}, {WHOSE[self.setting]}"

    @property
    def source(self) -> Mapping[str, Any]:
        """Return where the rows come from."""
        source: Mapping[str, Any] = next(iter(self.runs.values()))["source"]
        return source

    @property
    def most(self) -> int | None:
        """Return how many edges were allowed."""
        most: int | None = next(iter(self.runs.values()))["max_edges"]
        return most

    def by_alpha(self) -> list[Found]:
        """Return the runs of best-choice, the smallest alpha first."""
        runs = [one for method, one in self.runs.items() if method.startswith("alpha")]
        return sorted(runs, key=lambda one: float(one["method"].split()[-1]))

    def ended(self, methods: Iterable[str]) -> str | None:
        """Return which of the methods a budget ended, in words; None if none."""
        known = [self.runs[method] for method in methods if method in self.runs]
        ended = [one for one in known if one["stop"] in BUDGETS]
        limits = (f"{one['method']} (after {in_words(one['budget'])})" for one in ended)
        return f"a budget ended {', '.join(limits)}" if ended else None

    def seconds(self, method: str) -> str:
        """Return how long a run took, in words."""
        more = "more than " if self.ended([method]) else ""
        return f"{more}{self.runs[method]['end']['seconds']:.1f} s"

    def unlimited(self, methods: Iterable[str]) -> str | None:
        """Return that runs did not end at the limit of edges, in words; None if one did."""
        known = [self.runs[method] for method in methods if method in self.runs]
        if not known or any(one["stop"] != "optimal" for one in known):
            return None
        edges = ", ".join(str(count) for count in sorted({one["end"]["edges"] for one in known}))
        return f"no limit of edges ended these runs: all end at the optimum, with {edges} edges"

    def made_rows(self) -> str | None:
        """Return that the rows are not those of the data set, in words; None if they are."""
        return f"these rows are made, not those of {self.data}" if self.source["made"] else None

    def another_size(self, sizes: Sequence[int]) -> str | None:
        """Return that the paper's sizes are other ones, in words; None if they are not."""
        if self.made_rows():
            return self.made_rows()
        if self.n and self.n not in sizes:
            return f"this network has {self.n} variables, the paper's {listed(sizes)}"
        rows = self.source["rows"]
        small = not self.n and rows <= SMALL
        return f"{rows:,} rows of {self.data} at most are used" if small else None

    def lead(self) -> Lead | None:
        """Return the lead of best-choice until nearly the objective that all runs reached."""
        alphas = self.by_alpha()
        if "exhaustive" not in self.runs or not alphas:
            return None
        both = [self.runs["exhaustive"], *alphas]
        ends = [float(one["end"]["objective"]) for one in both]
        start = max(float(one["curve"][0]["objective"]) for one in both)
        objective = start - NEARLY * (start - max(ends))
        times = [_reached(one, objective) for one in both]
        way = (start - objective) / max(start - min(ends), 1e-300)
        return Lead(times[0] / max(median(times[1:]), 1e-6), objective, way)

    def to_the_ends(self) -> float | None:
        """Return how many times the seconds of the median of best-choice exhaustive took in all.

        Where a budget ended it, it would have taken more. None where one ended best-choice.
        """
        alphas = self.by_alpha()
        if "exhaustive" not in self.runs or not alphas:
            return None
        if self.ended([one["method"] for one in alphas]):
            return None
        usual = median(float(one["end"]["seconds"]) for one in alphas)
        return float(self.runs["exhaustive"]["end"]["seconds"]) / max(usual, 1e-6)

    def scored(self) -> float | None:
        """Return how many times the pairs of the median of best-choice exhaustive scored."""
        alphas = [float(one["end"]["blocks_scored"]) for one in self.by_alpha()]
        if "exhaustive" not in self.runs or not alphas:
            return None
        return float(self.runs["exhaustive"]["end"]["blocks_scored"]) / max(median(alphas), 1.0)

    def spread(self, runs: Sequence[Found]) -> float:
        """Return how much final objectives differ, as a share of them."""
        ends = [float(one["end"]["objective"]) for one in runs]
        return (max(ends) - min(ends)) / abs(min(ends))

    def correlations(self) -> dict[str, float]:
        """Return the correlation of objective and test NLPL along each run."""
        found = {}
        for method, one in self.runs.items():
            pairs = np.array([[p["objective"], p["test_nlpl"]] for p in one["curve"]])
            if len(pairs) > 2 and (np.ptp(pairs, axis=0) > 0).all():
                found[method] = float(np.corrcoef(pairs.T)[0, 1])
        return found

    def spent(self) -> str:
        """Return what the exhaustive method and best-choice spent, in counters."""
        alphas = self.by_alpha()
        whole = self.runs["exhaustive"]["end"]
        usual = sorted(alphas, key=lambda one: float(one["end"]["seconds"]))[len(alphas) // 2]
        end = usual["end"]
        times = [1e3 * one["seconds"] / max(one["evaluations"], 1) for one in (whole, end)]
        return (
            f"exhaustive scored {whole['blocks_scored'] / max(end['blocks_scored'], 1):.0f} times "
            f"the pairs of {usual['method']}, and took {times[0]:.1f} ms in all for each "
            f"evaluation of the loss against {times[1]:.1f} ms, and {whole['evaluations']:,} "
            f"evaluations against {end['evaluations']:,}"
        )


def listed(sizes: Sequence[int]) -> str:
    """Return numbers in words.

    Examples
    --------
    >>> listed([200, 400, 600]), listed([200])
    ('200, 400 and 600', '200')
    """
    *first, last = map(str, sizes)
    return f"{', '.join(first)} and {last}" if first else last


def in_words(budget: Mapping[str, int]) -> str:
    """Return the limits of a budget, in words.

    Examples
    --------
    >>> in_words({"max_tests": 15000})
    '15,000 tests'
    """
    return ", ".join(f"{most:,} {name.removeprefix('max_')}" for name, most in budget.items())


def _reached(one: Found, objective: float) -> float:
    """Return the seconds after which a run had come to an objective, between rounds by a line."""
    path = one["path"]
    falling = np.minimum.accumulate(np.array(path["objective"], dtype=np.float64))
    return float(np.interp(-objective, -falling, np.array(path["seconds"], dtype=np.float64)))


def groups(found: Mapping[str, Found], family: str) -> list[Group]:
    """Return the groups of a family of runs, in the order they were run."""
    together: dict[tuple[int, str, str], dict[str, Found]] = {}
    for one in found.values():
        if one.get("family") == family:
            source = one["source"]
            n = source["variables"] if source["name"] == "scale-free" else 0
            key = (n, source["name"], one["setting"])
            together.setdefault(key, {})[one["method"]] = one
    return [Group(*key, runs) for key, runs in together.items()]
