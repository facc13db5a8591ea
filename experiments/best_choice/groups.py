"""Runs of one experiment together: the same data and settings, by method."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

import numpy as np

from experiments.engine import Found

#: Whose settings a run has.
WHOSE = {"authors": "authors' settings", "ours": "our defaults"}

#: The share of the way from the first objective to the best one that runs must have gone before
#: their times can be compared.
A_WAY = 0.05


@dataclass(frozen=True, slots=True)
class Lead:
    """How many times as long the exhaustive method took as best-choice, and until what."""

    times: float
    until: str


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
    def budget(self) -> int | None:
        """Return how many edges were allowed."""
        budget: int | None = next(iter(self.runs.values()))["max_edges"]
        return budget

    def by_alpha(self) -> list[Found]:
        """Return the runs of best-choice, the smallest alpha first."""
        runs = [one for method, one in self.runs.items() if method.startswith("alpha")]
        return sorted(runs, key=lambda one: float(one["method"].split()[-1]))

    def capped(self, method: str) -> bool:
        """Return whether the clock ended a run."""
        return bool(self.runs[method]["stop"] == "seconds")

    def stopped(self, methods: Iterable[str]) -> str | None:
        """Return which of the methods the clock ended, in words; None if none."""
        ended = [method for method in methods if self.capped(method)]
        return f"the clock ended {', '.join(ended)}" if ended else None

    def seconds(self, method: str) -> str:
        """Return how long a run took, in words."""
        return f"{'> ' if self.capped(method) else ''}{self.runs[method]['end']['seconds']:.1f} s"

    def lead(self) -> Lead | None:
        """Return how many times the median of best-choice the exhaustive method took.

        Until the ends of the runs or, where the clock ended some, until the objective that all of
        them reached, if it is some way from the start; None where there is nothing to compare.
        """
        alphas = self.by_alpha()
        if "exhaustive" not in self.runs or not alphas:
            return None
        both = [self.runs["exhaustive"], *alphas]
        if not any(one["stop"] == "seconds" for one in both):
            times = [float(one["end"]["seconds"]) for one in both]
            return Lead(times[0] / median(times[1:]), "until the end")
        target = max(float(one["end"]["objective"]) for one in both)
        start = max(float(one["curve"][0]["objective"]) for one in both)
        best = min(float(one["end"]["objective"]) for one in both)
        if start - target < A_WAY * (start - best):
            return None
        times = [_reached(one, target) for one in both]
        return Lead(times[0] / median(times[1:]), f"until objective {target:.4g}, which all reach")

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
            f"the pairs of {usual['method']}, but took {times[0]:.1f} ms in all for each "
            f"evaluation of the loss against {times[1]:.1f} ms, and {whole['evaluations']:,} "
            f"evaluations against {end['evaluations']:,}"
        )


def _reached(one: Found, objective: float) -> float:
    """Return the seconds after which a run was at an objective or below."""
    least = objective + 1e-9 * abs(objective)
    reached = (point["seconds"] for point in one["curve"] if point["objective"] <= least)
    return max(float(next(reached, one["end"]["seconds"])), 1e-6)


def groups(found: Mapping[str, Found], family: str) -> list[Group]:
    """Return the groups of a family of runs, in the order they were run."""
    together: dict[tuple[int, str, str], dict[str, Found]] = {}
    for one in found.values():
        if one.get("family") == family:
            source = one["source"]
            key = (source["variables"], source["name"], one["setting"])
            together.setdefault(key, {})[one["method"]] = one
    return [Group(*key, runs) for key, runs in together.items()]
