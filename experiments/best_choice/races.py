"""Claims about races: the same data and settings, several methods (Figs. 2 to 4 and 7)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from experiments.best_choice.groups import WHOSE, Group, groups
from experiments.engine.study import Claim, Found, judge

#: Objectives this close, as a share, are the same solution.
SAME = 1e-3
#: Nearly ten times: five at least. Faster: by more than clocks vary.
NEARLY_TEN, FASTER = 5.0, 1.2
#: A clear positive correlation.
CLEAR = 0.9


def race_claims(found: Mapping[str, Found]) -> Iterator[Claim]:
    """Yield the claims about Figs. 2 to 4, for each network and setting."""
    races = groups(found, "race")
    if not races:
        yield judge("Figs. 2 to 4: races with a budget of 3n edges", "", None, None)
    largest = max((group.n for group in races), default=0)
    for group in races:
        where = f"n={group.n}, {WHOSE[group.setting]}"
        yield speed(f"Fig. 2, {where}", group, nearly_ten=group.n == largest)
        yield _tradeoff(f"Figs. 2 and 4, {where}", group)
        yield correlation(f"Fig. 3, {where}", group)
        yield _first_hit(f"Figs. 2 and 4, {where}", group)
    for setting in WHOSE:
        yield _growth(setting, [group for group in races if group.setting == setting])


def speed(where: str, group: Group, *, nearly_ten: bool = False) -> Claim:
    """Return the claim that best-choice is faster than the exhaustive method."""
    what = f"{where}: seconds of exhaustive against best-choice"
    printed = "nearly ten times as long" if nearly_ten else "best-choice is significantly faster"
    lead = group.lead()
    if lead is None:
        return judge(what, printed, None, None)
    times = ", ".join(f"{method} {group.seconds(method)}" for method in group.methods)
    ours = f"{lead.times:.1f} times the median of best-choice {lead.until} ({times})"
    holds = lead.times >= (NEARLY_TEN if nearly_ten else FASTER)
    return judge(what, printed, ours, holds, group.spent())


def _tradeoff(where: str, group: Group) -> Claim:
    what = f"{where}: alpha trades quality for speed"
    printed = "larger alpha: better objective and recall, more seconds"
    alphas = group.by_alpha()
    if len(alphas) < 2:
        return judge(what, printed, None, None)
    low, high = alphas[0], alphas[-1]
    ends = [f"{low['method']} to {high['method']}"]
    for name, form in (("objective", ".2f"), ("recall", ".3f"), ("seconds", ".1f")):
        if name in low["end"]:
            ends.append(f"{name} {low['end'][name]:{form}} to {high['end'][name]:{form}}")
    better = high["end"]["objective"] < low["end"]["objective"] * (1 - SAME / 10)
    found = high["end"].get("recall", 1.0) >= low["end"].get("recall", 0.0)
    slower = high["end"]["seconds"] > low["end"]["seconds"]
    answers = {"objective better": better, "recall as high": found, "seconds more": slower}
    because = ", ".join(f"{name}: {'yes' if said else 'no'}" for name, said in answers.items())
    if group.spread(alphas) < SAME / 10:
        stops = sorted({one["stop"] for one in alphas})
        because = (
            f"every alpha ends at the same objective (they differ by {group.spread(alphas):.1e} "
            f"of it) with {low['end']['edges']} to {high['end']['edges']} edges, "
            f"{group.budget} allowed: runs ended by {', '.join(stops)}; alpha decides the way alone"
        )
    stopped = group.stopped([low["method"], high["method"]])
    holds = better and found and slower
    return judge(what, printed, "; ".join(ends), holds, because, unless=stopped)


def correlation(where: str, group: Group) -> Claim:
    """Return the claim that the objective and the test NLPL fall together."""
    what = f"{where}: objective and test NLPL along the runs"
    printed = "positive correlation; no over-fitting even with small alpha"
    correlations = group.correlations()
    if not correlations:
        return judge(what, printed, None, None)
    least = min(correlations, key=lambda method: correlations[method])
    ours = f"correlation {correlations[least]:.4f} at least ({least})"
    because = f"the correlation is below {CLEAR} for {least}"
    return judge(what, printed, ours, correlations[least] > CLEAR, because)


def _first_hit(where: str, group: Group) -> Claim:
    what = f"{where}: first hit"
    printed = "of lower quality than best-choice"
    one, alphas = group.runs.get("first hit"), group.by_alpha()
    if one is None or not alphas:
        return judge(what, printed, None, None)
    worst = max(alphas, key=lambda other: float(other["end"]["objective"]))
    name = worst["method"]
    ours = f"objective {one['end']['objective']:.2f}, {name} {worst['end']['objective']:.2f}"
    if "recall" in one["end"]:
        ours += f"; recall {one['end']['recall']:.3f}, {name} {worst['end']['recall']:.3f}"
    holds = one["end"]["objective"] > worst["end"]["objective"] * (1 + SAME / 10)
    because = (
        f"first hit ended by {one['stop']!r} with {one['end']['edges']} edges of {group.budget}, "
        f"{name} by {worst['stop']!r} with {worst['end']['edges']}; evaluations "
        f"{one['end']['evaluations']:,} against {worst['end']['evaluations']:,}"
    )
    longer = one["end"]["seconds"] >= worst["end"]["seconds"]  # then it had its chance
    stopped = "" if longer else group.stopped(["first hit"])
    return judge(what, printed, ours, holds, because, unless=stopped)


def _growth(setting: str, races: list[Group]) -> Claim:
    what = f"Fig. 2, {WHOSE[setting]}: exhaustive falls behind as n grows"
    printed = "the gap increases with the number of variables"
    leads = [(group, lead) for group in races if (lead := group.lead()) is not None]
    if len(leads) < 2:
        return judge(what, printed, None, None)
    told = [
        f"n={group.n}: {lead.times:.1f} times the seconds {lead.until}, {group.scored():.0f} times "
        "the pairs scored"
        for group, lead in leads
    ]
    first, last = leads[0][1].times, leads[-1][1].times
    holds = last >= FASTER * max(first, 1.0)
    return judge(what, printed, "; ".join(told), holds, leads[-1][0].spent())
