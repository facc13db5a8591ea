"""What the best-choice study says: claims of the paper, judged by what the runs found."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

from experiments.best_choice.figures import figures
from experiments.best_choice.groups import WHOSE, Group, groups
from experiments.best_choice.races import FASTER, SAME, correlation, race_claims, speed
from experiments.best_choice.recorded import recorded_claims
from experiments.engine.study import Claim, Found, Report, judge


def report(found: Mapping[str, Found]) -> Report:
    """Return claims, tables and figures of whatever was run."""
    claims = [*_ranks(found), *_mixing(found), *race_claims(found)]
    claims += [*_convergence(found), *_heuristics(found)]
    claims += [*_real(found), *recorded_claims(found)]
    tables = {"runs": [_line(one) for one in found.values() if "end" in one]}
    return Report(claims, tables, figures(found))


def _line(one: Found) -> dict[str, Any]:
    """Return a run's end as a line of a table."""
    source, end = one["source"], one["end"]
    capped = one["stop"] == "seconds"
    return {
        "family": one["family"],
        "data": source["name"],
        "variables": source["variables"] or "",
        "edge_sd": round(source["edge_sd"], 4) if source["variables"] else "",
        "rhat": one["mixing"].get("rhat", ""),
        "settings": one["setting"],
        "changed": ", ".join(f"{k}={v}" for k, v in one["changed"].items()),
        "method": one["method"],
        "seconds": end["seconds"],
        "capped": capped,
        "edges": end["edges"],
        "recall": end.get("recall", ""),
        "precision": end.get("precision", ""),
        "objective": end["objective"],
        "test_nlpl": end["test_nlpl"],
        "evaluations": end["evaluations"],
        "pairs_scored": end["blocks_scored"],
        "tables_counted": end["tables_counted"],
        "stop": one["stop"],
    }


def _ranks(found: Mapping[str, Found]) -> Iterator[Claim]:
    what = "Fig. 1: mean rank of the best of a reservoir, n=400, |R| = 1 to 500"
    printed = "nearly identical to the expected rank, about 79,800 / (|R| + 1)"
    one = found.get("ranks")
    if one is None or not one["mean"]:
        yield judge(what, printed, None, None)
        return
    expected = [(one["pairs"] + 1) / (size + 2) for size in range(len(one["mean"]))]
    ratios = [mean / least for mean, least in zip(one["mean"], expected, strict=True)]
    # the least of |R| draws spreads about as much as its mean: the mean of trials, by its root
    wide = 2 / one["trials"] ** 0.5
    inside = sum(abs(ratio - 1) <= wide for ratio in ratios) / len(ratios)
    average = sum(ratios) / len(ratios)
    ours = (
        f"mean rank over expected rank {average:.3f} on average; within two standard errors for "
        f"{inside:.0%} of the sizes"
    )
    yield judge(what, printed, ours, abs(average - 1) < 0.05 and inside > 0.9)
    small, whole = one["mean"][0] / one["mean"][-1], one["mean"][-1]
    ours = f"rank {one['mean'][0]:,.0f} with |R|=1, {whole:,.0f} with |R|={len(ratios)}"
    yield judge(
        "Fig. 1: a small reservoir against first hit", "significant gains", ours, small > 10
    )


def _mixing(found: Mapping[str, Found]) -> Iterator[Claim]:
    """Yield whether chains as short as the paper's give rows of the network."""
    drawn = {
        (one["source"]["variables"], one["source"]["edge_sd"]): one["mixing"]
        for one in found.values()
        if one.get("mixing")
    }
    printed = "20,000 rows of the network by Gibbs: burn-in 1,000, every tenth kept"
    if not drawn:
        yield judge("data: do the chains mix?", printed, None, None)
    for (n, edge_sd), mixing in sorted(drawn.items()):
        what = f"data, n={n}, edge sd {edge_sd:.3g}: do the chains mix?"
        ours = f"largest R-hat {mixing['rhat']:.2f}, fewest effective draws {mixing['ess']:,.0f}"
        because = "R-hat is above 1.05: chains with different starts are still different"
        yield judge(what, printed, ours, bool(mixing["ok"]), because)


def _convergence(found: Mapping[str, Found]) -> Iterator[Claim]:
    """Yield the claims about Fig. 5."""
    converged = groups(found, "converge")
    if not converged:
        yield judge("Fig. 5: full convergence", "all methods reach a similar solution", None, None)
    for group in converged:
        where = f"Fig. 5, n={group.n}, {WHOSE[group.setting]}"
        runs = list(group.runs.values())
        done = [one for one in runs if one["stop"] not in ("seconds", "edges")]
        spread = group.spread(done) if len(done) > 1 else None
        ours = None
        if spread is not None:
            edges = sorted(one["end"]["edges"] for one in done)
            ours = (
                f"{len(done)} of {len(runs)} methods ended; objectives differ by {spread:.1e} of "
                f"their size; {edges[0]:,} to {edges[-1]:,} edges"
            )
        holds = None if spread is None else spread < SAME and len(done) == len(runs)
        because = (
            f"{len(runs) - len(done)} runs were stopped by the clock"
            if len(done) < len(runs)
            else "belief propagation is approximate: where a run ends depends on its way there"
        )
        printed = "all methods reach a similar solution"
        yield judge(f"{where}: end", printed, ours, holds, because if ours else "")
        yield speed(where, group)
        yield _slowest(where, group)


def _slowest(where: str, group: Group) -> Claim:
    first, rest = group.runs.get("first hit"), [*group.by_alpha()]
    what, printed = f"{where}: first hit converges last", "slower than edge grafting"
    exhaustive = group.runs.get("exhaustive")
    if first is None or exhaustive is None or not rest:
        return judge(what, printed, None, None)
    times = f"first hit {group.seconds('first hit')}, exhaustive {group.seconds('exhaustive')}"
    because = (
        f"first hit took {first['end']['evaluations']:,} evaluations, exhaustive "
        f"{exhaustive['end']['evaluations']:,}"
    )
    holds = first["end"]["seconds"] > FASTER * exhaustive["end"]["seconds"]
    return judge(what, printed, times, holds, because, unless=group.stopped(["exhaustive"]))


def _heuristics(found: Mapping[str, Found]) -> Iterator[Claim]:
    """Yield the claims about Fig. 6."""
    without = {(group.n, group.setting): group for group in groups(found, "heuristics")}
    races = {(group.n, group.setting): group for group in groups(found, "race")}
    if not without:
        yield judge("Fig. 6: structure heuristics", "higher recall with them", None, None)
    for (n, setting), group in without.items():
        where = f"Fig. 6, n={n}, {WHOSE[setting]}: structure heuristics"
        for method, plain in group.runs.items():
            helped = races[n, setting].runs.get(method) if (n, setting) in races else None
            yield _helped(f"{where}, {method}", plain, helped)


def _helped(what: str, plain: Found, helped: Found | None) -> Claim:
    printed = "significant gap: higher recall with them"
    if helped is None:
        return judge(what, printed, None, None)
    ends = (helped["end"]["recall"], plain["end"]["recall"])
    most = min(helped["end"]["edges"], plain["end"]["edges"])
    gain = _mean_recall(helped, most) - _mean_recall(plain, most)
    ours = (
        f"recall {ends[0]:.3f} with, {ends[1]:.3f} without at the end; {gain:+.3f} on average "
        f"until {most} edges"
    )
    because = (
        f"with them {helped['end']['blocks_scored']:,} pairs were scored and "
        f"{helped['end']['edges']} edges found, without {plain['end']['blocks_scored']:,} and "
        f"{plain['end']['edges']}; both ended by {helped['stop']!r} and {plain['stop']!r}"
    )
    return judge(what, printed, ours, gain > 0.01, because)


def _mean_recall(one: Found, most: int) -> float:
    """Return the mean recall of a run by its edges, until it has so many."""
    points = [point for point in one["curve"] if point["edges"] <= most]
    area = sum(
        (b["edges"] - a["edges"]) * (a["recall"] + b["recall"]) / 2 for a, b in pairwise(points)
    )
    return float(area / max(points[-1]["edges"] - points[0]["edges"], 1))


def _real(found: Mapping[str, Found]) -> Iterator[Claim]:
    """Yield the claims about Fig. 7."""
    real = groups(found, "real")
    if not real:
        yield judge("Fig. 7: Jester and Yummly", "best-choice converges faster", None, None)
    for group in real:
        where = f"Fig. 7, {group.data}, {WHOSE[group.setting]}"
        yield speed(where, group)
        yield correlation(where, group)
    for setting in WHOSE:
        pair = [group for group in real if group.setting == setting]
        if len(pair) == 2:
            yield _dimension(setting, *pair)


def _dimension(setting: str, narrow: Group, wide: Group) -> Claim:
    what = f"Fig. 7, {WHOSE[setting]}: the advantage grows with dimension"
    first, second = narrow.lead(), wide.lead()
    if first is None or second is None:
        return judge(what, "Yummly more than Jester", None, None)
    ours = f"{narrow.data} {first.times:.1f} times, {wide.data} {second.times:.1f} times"
    because = wide.spent()
    holds = second.times >= FASTER * max(first.times, 1.0)
    return judge(what, "Yummly more than Jester", ours, holds, because)
