"""Runs of one experiment together: the same data and settings, by method."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

import numpy as np

from graftwork.reproduce.study import Found


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

    def seconds(self, method: str) -> str:
        """Return how long a run took, in words."""
        return f"{'> ' if self.capped(method) else ''}{self.runs[method]['end']['seconds']:.1f} s"

    def ratio(self, counter: str = "seconds") -> float | None:
        """Return how many times the median of best-choice the exhaustive method took.

        None where it is not known, or where the clock ended best-choice.
        """
        alphas = [one for one in self.by_alpha() if one["stop"] != "seconds"]
        if "exhaustive" not in self.runs or not alphas:
            return None
        usual = median(float(one["end"][counter]) for one in alphas)
        return float(self.runs["exhaustive"]["end"][counter]) / max(usual, 1e-9)

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

    def why_not_slower(self) -> str:
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


def groups(found: Mapping[str, Found], family: str) -> list[Group]:
    """Return the groups of a family of runs, in the order they were run."""
    together: dict[tuple[int, str, str], dict[str, Found]] = {}
    for one in found.values():
        if one.get("family") == family:
            source = one["source"]
            key = (source["variables"], source["name"], one["setting"])
            together.setdefault(key, {})[one["method"]] = one
    return [Group(*key, runs) for key, runs in together.items()]
