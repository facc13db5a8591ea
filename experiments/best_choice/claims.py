"""What the best-choice paper says, and how it is judged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from statistics import fmean
from typing import Any

from experiments.best_choice.groups import WHOSE, Group, groups
from experiments.best_choice.recorded import recorded_claims
from experiments.engine import Claim, Found, Row, judge, judge_all, span

#: Objectives this close, as a share, are the same solution.
SAME = 1e-3
#: Nearly ten times: five at least. Faster: by more than clocks vary.
NEARLY_TEN, FASTER = 5.0, 1.2
#: A clear positive correlation.
CLEAR = 0.9
#: The reservoir's mean rank must be this close to what is expected, for this share of sizes.
RANK_ERROR, RANK_SHARE = 0.05, 0.9

Values = dict[str, Any]

RANKS = [
    Row(
        "Fig. 1: mean rank of the best of a reservoir, n=400, |R| = 1 to 500",
        "nearly identical to the expected rank, about 79,800 / (|R| + 1)",
        "mean rank over expected rank {average:.3f} on average; within two standard errors for "
        "{inside:.0%} of the sizes",
        [("error", "<", RANK_ERROR), ("inside", ">", RANK_SHARE)],
    ),
    Row(
        "Fig. 1: a small reservoir against first hit", "significant gains",
        "rank {first:,.0f} with |R|=1, {last:,.0f} with |R|={sizes}",
        [("gain", ">", 10)],
    ),
]  # fmt: skip
MIXING = Row(
    "data{drawn}: do the chains mix?",
    "20,000 rows of the network by Gibbs: burn-in 1,000, every tenth kept",
    "largest R-hat {rhat:.2f}, fewest effective draws {ess:,.0f}",
    [("ok", "==", True)],
    ["R-hat is above 1.05: chains with different starts are still different"],
)


def _speed(figure: str, printed: str = "best-choice is significantly faster",
           times: float = FASTER) -> Row:  # fmt: skip
    return Row(
        figure + ", {group}: seconds of exhaustive against best-choice", printed,
        "{lead.times:.1f} times the median of best-choice {lead.until} ({seconds})",
        [("lead.times", ">=", times)],
        ["{spent}"],
    )  # fmt: skip


def _correlation(figure: str) -> Row:
    return Row(
        figure + ", {group}: objective and test NLPL along the runs",
        "positive correlation; no over-fitting even with small alpha",
        "correlation {correlation:.4f} at least ({least_correlated})",
        [("correlation", ">", CLEAR)],
        [f"the correlation is below {CLEAR} for {{least_correlated}}"],
    )


TRADEOFF = Row(
    "Figs. 2 and 4, {group}: alpha trades quality for speed",
    "larger alpha: better objective and recall, more seconds", "{ends}",
    [("better", "==", True), ("recalled", "==", True), ("slower", "==", True)],
    ["every alpha ends at the same objective (they differ by {same_end:.1e} of it) with {edges} "
     "edges, {group.budget} allowed: runs ended by {stops}; alpha decides the way alone",
     "objective better: {better}, recall as high: {recalled}, seconds more: {slower}"],
    ["{ends_stopped}"],
)  # fmt: skip
FIRST_HIT = Row(
    "Figs. 2 and 4, {group}: first hit", "of lower quality than best-choice",
    "objective {first[objective]:.2f}, {worst_alpha} {worst[objective]:.2f}",
    [("first[objective]", ">", "worst_objective")],
    ["first hit ended by {first_stop!r} with {first[edges]} edges of {group.budget}, {worst_alpha} "
     "by {worst_stop!r} with {worst[edges]}; evaluations {first[evaluations]:,} against "
     "{worst[evaluations]:,}"],
    ["{first_stopped}"],
)  # fmt: skip
RACE = [_speed("Fig. 2"), TRADEOFF, _correlation("Fig. 3"), FIRST_HIT]
LARGEST_RACE = [_speed("Fig. 2", "nearly ten times as long", NEARLY_TEN), *RACE[1:]]
GROWTH = Row(
    "Fig. 2, {whose}: exhaustive falls behind as n grows",
    "the gap increases with the number of variables", "{told}",
    [("last", ">=", "needed")],
    ["{spent}"],
)  # fmt: skip
CONVERGENCE = [
    Row(
        "Fig. 5, {group}: end", "all methods reach a similar solution",
        "{done} of {methods} methods ended; objectives differ by {spread:.1e} of their size; "
        "{done_edges:,} edges",
        [("spread", "<", SAME), ("done", "==", "methods")],
        ["{left} runs were stopped by the clock",
         "{approximate}: where a run ends depends on its way there"],
    ),
    _speed("Fig. 5"),
    Row(
        "Fig. 5, {group}: first hit converges last", "slower than edge grafting",
        "first hit {first_time}, exhaustive {exhaustive_time}",
        [("first[seconds]", ">", "slow")],
        ["first hit took {first[evaluations]:,} evaluations, exhaustive "
         "{exhaustive[evaluations]:,}"],
        ["{exhaustive_stopped}"],
    ),
]  # fmt: skip
HEURISTICS = Row(
    "Fig. 6, {group}: structure heuristics, {method}", "significant gap: higher recall with them",
    "recall {helped[recall]:.3f} with, {plain[recall]:.3f} without at the end; {gain:+.3f} on "
    "average until {most} edges",
    [("gain", ">", 0.01)],
    ["with them {helped[blocks_scored]:,} pairs were scored and {helped[edges]} edges found, "
     "without {plain[blocks_scored]:,} and {plain[edges]}; both ended by {stops[0]!r} and "
     "{stops[1]!r}"],
)  # fmt: skip
REAL = [_speed("Fig. 7"), _correlation("Fig. 7")]
DIMENSION = Row(
    "Fig. 7, {whose}: the advantage grows with dimension", "Yummly more than Jester", "{told}",
    [("last", ">=", "needed")],
    ["{spent}"],
)  # fmt: skip

NOTHING: Values = {"group": "no runs", "method": "", "drawn": ""}


def claims(found: Mapping[str, Found]) -> list[Claim]:
    """Return all claims."""
    races, real = groups(found, "race"), groups(found, "real")
    largest = max((group.n for group in races), default=0)
    return [
        *judge_all(RANKS, _ranks(found.get("ranks"))),
        *_mixing(found),
        *(claim for group in races if group.n < largest for claim in _of_groups(RACE, [group])),
        *_of_groups(LARGEST_RACE, [group for group in races if group.n == largest]),
        *(judge(GROWTH, _growth(setting, races)) for setting in WHOSE),
        *_of_groups(CONVERGENCE, groups(found, "converge")),
        *(judge(HEURISTICS, values) for values in _heuristics(found, races)),
        *_of_groups(REAL, real),
        *(judge(DIMENSION, _growth(setting, real)) for setting in WHOSE),
        *recorded_claims(found),
    ]


def _of_groups(rows: Sequence[Row], several: Sequence[Group]) -> list[Claim]:
    values = [values_of(group) for group in several] or [NOTHING]
    return [claim for each in values for claim in judge_all(rows, each)]


# ---- Values of groups --------------------------------------------------------------------------


def values_of(group: Group) -> Values:
    """Return what the rows about one group of runs are judged by."""
    lead, alphas = group.lead(), group.by_alpha()
    seconds = ", ".join(f"{method} {group.seconds(method)}" for method in group.methods)
    correlations = group.correlations()
    least = min(correlations, key=correlations.__getitem__, default=None)
    return {
        "group": group,
        "lead": lead,
        "seconds": seconds,
        "spent": group.spent() if lead else None,
        "correlation": None if least is None else correlations[least],
        "least_correlated": least,
        **_ends(group),
        **(_tradeoff(group, alphas) if len(alphas) > 1 else {}),
        **(_first_hit(group, alphas) if alphas and "first hit" in group.runs else {}),
    }


def _tradeoff(group: Group, alphas: Sequence[Found]) -> Values:
    (low, high), spread = (alphas[0]["end"], alphas[-1]["end"]), group.spread(alphas)
    methods = [alphas[0]["method"], alphas[-1]["method"]]
    forms = {"objective": ".2f", "recall": ".3f", "seconds": ".1f"}
    ends = [f"{name} {low[name]:{form}} to {high[name]:{form}}"
            for name, form in forms.items() if name in low]  # fmt: skip
    same = spread < SAME / 10
    return {
        "ends": "; ".join([f"{methods[0]} to {methods[1]}", *ends]),
        "better": high["objective"] < low["objective"] * (1 - SAME / 10),
        "recalled": high.get("recall", 1.0) >= low.get("recall", 0.0),
        "slower": high["seconds"] > low["seconds"],
        "same_end": spread if same else None,
        "edges": span([low["edges"], high["edges"]]),
        "stops": ", ".join(sorted({one["stop"] for one in alphas})),
        "ends_stopped": group.stopped(methods),
    }


def _first_hit(group: Group, alphas: Sequence[Found]) -> Values:
    """Return first hit beside the worst of best-choice."""
    one, worst = group.runs["first hit"], max(alphas, key=lambda run: run["end"]["objective"])
    first, last, name = one["end"], worst["end"], worst["method"]
    longer = first["seconds"] >= last["seconds"]  # then it had its chance
    return {
        "first": first,
        "first_stop": one["stop"],
        "first_stopped": None if longer else group.stopped(["first hit"]),
        "worst": last,
        "worst_alpha": name,
        "worst_stop": worst["stop"],
        "worst_objective": last["objective"] * (1 + SAME / 10),
        **_slowest(group),
    }


def _slowest(group: Group) -> Values:
    """Return first hit beside the exhaustive method."""
    if "exhaustive" not in group.runs:
        return {}
    exhaustive = group.runs["exhaustive"]["end"]
    return {
        "first_time": group.seconds("first hit"),
        "slow": FASTER * exhaustive["seconds"],
        "exhaustive": exhaustive,
        "exhaustive_time": group.seconds("exhaustive"),
        "exhaustive_stopped": group.stopped(["exhaustive"]),
    }


def _ends(group: Group) -> Values:
    """Return how far the ends of all methods are apart."""
    done = [one for one in group.runs.values() if one["stop"] not in ("seconds", "edges")]
    left = len(group.runs) - len(done)
    return {
        "methods": len(group.runs),
        "done": len(done),
        "left": left or None,
        "approximate": None if left else "belief propagation is approximate",
        "spread": group.spread(done) if len(done) > 1 else None,
        "done_edges": span(one["end"]["edges"] for one in done) if done else None,
    }


def _growth(setting: str, several: Sequence[Group]) -> Values:
    """Return how the lead of best-choice changes from the first group to the last."""
    own = [group for group in several if group.setting == setting]
    leads = [(group, lead) for group in own if (lead := group.lead()) is not None]
    if len(leads) < 2:
        return {"whose": WHOSE[setting]}
    told = (
        f"{group.place}: {lead.times:.1f} times the seconds {lead.until}, {group.scored():.0f} "
        "times the pairs scored"
        for group, lead in leads
    )
    return {
        "whose": WHOSE[setting],
        "told": "; ".join(told),
        "last": leads[-1][1].times,
        "needed": FASTER * max(leads[0][1].times, 1.0),
        "spent": leads[-1][0].spent(),
    }


# ---- Ranks, chains, heuristics -----------------------------------------------------------------


def _ranks(one: Found | None) -> Values:
    if one is None or not one["mean"]:
        return {}
    expected = [(one["pairs"] + 1) / (size + 2) for size in range(len(one["mean"]))]
    ratios = [mean / least for mean, least in zip(one["mean"], expected, strict=True)]
    # the least of |R| draws spreads about as much as its mean: the mean of trials, by its root
    wide = 2 / one["trials"] ** 0.5
    return {
        "average": fmean(ratios),
        "error": abs(fmean(ratios) - 1),
        "inside": sum(abs(ratio - 1) <= wide for ratio in ratios) / len(ratios),
        "first": one["mean"][0],
        "last": one["mean"][-1],
        "sizes": len(ratios),
        "gain": one["mean"][0] / one["mean"][-1],
    }


def _mixing(found: Mapping[str, Found]) -> list[Claim]:
    """Return whether chains as short as the paper's give rows of the network."""
    drawn = {
        (one["source"]["variables"], one["source"]["edge_sd"]): one["mixing"]
        for one in found.values()
        if one.get("mixing")
    }
    return [
        judge(MIXING, {"drawn": f", n={n}, edge sd {edge_sd:.3g}", **mixing})
        for (n, edge_sd), mixing in sorted(drawn.items())
    ] or [judge(MIXING, NOTHING)]


def _heuristics(found: Mapping[str, Found], races: Sequence[Group]) -> list[Values]:
    """Return each run without the structure heuristics beside the one with them."""
    helped = {(group.n, group.setting): group.runs for group in races}
    return [
        {"group": group, "method": method,
         **_helped(plain, helped.get((group.n, group.setting), {}).get(method))}
        for group in groups(found, "heuristics")
        for method, plain in group.runs.items()
    ] or [NOTHING]  # fmt: skip


def _helped(plain: Found, helped: Found | None) -> Values:
    if helped is None:
        return {}
    most = min(helped["end"]["edges"], plain["end"]["edges"])
    return {
        "helped": helped["end"],
        "plain": plain["end"],
        "most": most,
        "gain": _mean_recall(helped, most) - _mean_recall(plain, most),
        "stops": [helped["stop"], plain["stop"]],
    }


def _mean_recall(one: Found, most: int) -> float:
    """Return the mean recall of a run by its edges, until it has ``most``."""
    points = [point for point in one["curve"] if point["edges"] <= most]
    area = sum(
        (b["edges"] - a["edges"]) * (a["recall"] + b["recall"]) / 2 for a, b in pairwise(points)
    )
    return float(area / max(points[-1]["edges"] - points[0]["edges"], 1))


_COLUMNS = {
    "edges": "edges", "recall": "recall", "precision": "precision", "objective": "objective",
    "test_nlpl": "test_nlpl", "evaluations": "evaluations", "pairs_scored": "blocks_scored",
    "tables_counted": "tables_counted",
}  # fmt: skip


def run_lines(found: Mapping[str, Found]) -> list[Values]:
    """Return the ends of all runs as lines of a table."""
    return [_line(one) for one in found.values() if "end" in one]


def _line(one: Found) -> Values:
    source, end, drawn = one["source"], one["end"], bool(one["source"]["variables"])
    return {
        "family": one["family"],
        "data": source["name"],
        "variables": source["variables"] or "",
        "edge_sd": round(source["edge_sd"], 4) if drawn else "",
        "rhat": one["mixing"].get("rhat", ""),
        "settings": one["setting"],
        "changed": ", ".join(f"{k}={v}" for k, v in one["changed"].items()),
        "method": one["method"],
        "seconds": end["seconds"],
        "capped": one["stop"] == "seconds",
        **{name: end.get(key, "") for name, key in _COLUMNS.items()},
        "stop": one["stop"],
    }
