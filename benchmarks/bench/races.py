"""Best-choice against exhaustive edge grafting, with the paper's budget of three edges a variable.

Captions of the paper say "200 nodes and 600 edges": 3 n is how many edges are added, the true
networks have 2 n - 4. With LAM the optimum has nearly as many for 600 variables.
"""

from __future__ import annotations

import operator

from bench.judging import MET, MISSED, UNKNOWN, compare, faster, figure, find
from bench.runs import Entry, Results, Run, Target

LAM = 0.0033
TOL = 1e-4
BEST, ALL = "best-choice, 3n edges", "exhaustive, 3n edges"


def race(variables: int) -> tuple[Entry, Entry]:
    """Return the two methods with the same budget."""
    options = {"lam": LAM, "max_edges": 3 * variables, "tol": TOL}
    return (
        Entry(BEST, "graftwork_fit", {**options, "method": "best-choice"}, limit=3600.0),
        Entry(ALL, "graftwork_fit", {**options, "method": "edge-grafting"}, limit=1800.0),
    )


def race_targets(results: Results, problem: str, smaller: str) -> list[Target]:
    """Judge time and objective, and that the ratio is larger than on the smaller problem."""
    best, full = find(results, problem, BEST), find(results, problem, ALL)
    return [
        faster(problem, "best-choice in at most a fifth of exhaustive edge grafting's time", best,
               full, 5.0),
        close(problem, best, full),
        grows(results, problem, smaller),
    ]  # fmt: skip


def close(problem: str, best: Run, full: Run) -> Target:
    """Judge the objective; a certified optimum is below all others, known or not."""
    words = "best-choice within 1 % of the exhaustive objective"
    ours, theirs = figure(best, "objective"), figure(full, "objective")
    if ours is None or theirs is None:
        if best.figures.get("converged"):
            return Target(problem, words, f"certified optimum ({TOL:g}); exhaustive not done", MET)
        return Target(problem, words, "", UNKNOWN)
    excess = 100 * (ours - theirs) / abs(theirs)
    return compare(problem, words, excess, operator.le, 1.0, "{value:+.3f} %")


def ratio(results: Results, problem: str) -> float | None:
    """Return CPU time of the exhaustive search over that of best-choice."""
    best, full = find(results, problem, BEST), find(results, problem, ALL)
    return full.cpu / best.cpu if best.timed and full.timed and best.cpu > 0 else None


def grows(results: Results, larger: str, smaller: str) -> Target:
    """Judge whether the ratio grows with the network; a time-out of the larger search helps."""
    words = f"the ratio grows from {smaller} to {larger}"
    few, many = ratio(results, smaller), ratio(results, larger)
    if few is None or many is None:
        return Target(larger, words, "", UNKNOWN)
    text = f"{few:.3g} to {many:.3g}"
    exact = all(find(results, name, entry).done for name in (smaller, larger) for entry in (BEST,))
    exact = exact and find(results, smaller, ALL).done
    if not exact:
        return Target(larger, words, f"{text}, some too slow", UNKNOWN)
    if not find(results, larger, ALL).done:
        return Target(larger, words, f"{text} or more", MET if many > few else UNKNOWN)
    return Target(larger, words, text, MET if many > few else MISSED)
