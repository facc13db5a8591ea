"""Fig. 6 of the best-choice paper: hubs preferred or not, by which rule, from which centrality."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from statistics import fmean
from typing import Any

from experiments.best_choice.groups import WHOSE, groups
from experiments.engine import Claim, Found, Row, judge, judge_all

#: A gap that is worth a word: this much recall, on average over the edges added.
GAP = 0.01
#: The variables of the paper's network.
VARIABLES = 200

Values = dict[str, Any]

HEURISTICS = Row(
    "Fig. 6, {group}: structure heuristics, {method}", "significant gap: higher recall with them",
    "recall {helped[recall]:.3f} with, {plain[recall]:.3f} without at the end; {mean_gain:+.3f} on "
    "average until {most} edges",
    [("mean_gain", ">", GAP)],
    ["with them {helped[blocks_scored]:,} pairs were scored and {helped[edges]} edges found, "
     "without {plain[blocks_scored]:,} and {plain[edges]}; both ended by {stops[0]!r} and "
     "{stops[1]!r}"],
    ["{another_size}"],
)  # fmt: skip
RULE = Row(
    "Fig. 6, {group}: {rule}",
    "significant gap: higher recall with the structure heuristics",
    "recall until 3n edges, averaged over edges and {seeds}: {told}; {off:.3f} without",
    [("least_gain_over_thresholds_and_seeds", ">", GAP)],
    ["the least gain is that of threshold {weakest}"],
    ["{another_size}"],
)
CHOICES = [
    Row(
        "Fig. 6, {group}: in every reorganisation or once",
        "(not in the paper, which has one rule; the authors' code has the other)",
        "mean recall, always minus once, at equal thresholds: {differences}; seeds differ by up to "
        "{range_over_seeds:.3f}",
        [("largest_difference_of_rules", "<=", "range_over_seeds")],
        ["the rule matters more than the seed"],
        ["{another_size}", "{one_seed}"],
    ),
    Row(
        "Fig. 6, {group}: the threshold of hubs",
        "(not in the paper, which gives no threshold)",
        "recall with 3n edges: {by_threshold}; without hubs {off_at_the_end:.3f}",
        [("recall_with_the_mean_over_the_best", ">=", 0.9)],
        ["threshold {best} is best"],
        ["{another_size}"],
    ),
]
RULES = {
    "always": "priorities fall in every reorganisation (Algorithm 2)",
    "once": "priorities fall once for each hub (the authors' code)",
}
NOTHING: Values = {"group": "no runs", "method": "", "rule": ""}


def hub_claims(found: Mapping[str, Found]) -> list[Claim]:
    """Return the claims about the structure heuristics."""
    return [*(judge(HEURISTICS, values) for values in _heuristics(found)), *_ablation(found)]


def _another_size(n: int) -> str | None:
    return f"this network has {n} variables, the paper's {VARIABLES}" if n != VARIABLES else None


def _heuristics(found: Mapping[str, Found]) -> list[Values]:
    """Return each run without the structure heuristics beside the one with them."""
    helped = {(group.n, group.setting): group.runs for group in groups(found, "race")}
    return [
        {"group": group, "method": method, "another_size": _another_size(group.n),
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
        "mean_gain": mean_recall(helped, most) - mean_recall(plain, most),
        "stops": [helped["stop"], plain["stop"]],
    }


def mean_recall(one: Found, most: int) -> float:
    """Return the mean recall of a run by its edges, until it has ``most``."""
    points = [point for point in one["curve"] if point["edges"] <= most]
    area = sum(
        (b["edges"] - a["edges"]) * (a["recall"] + b["recall"]) / 2 for a, b in pairwise(points)
    )
    return float(area / max(points[-1]["edges"] - points[0]["edges"], 1))


# ---- Rules and thresholds ----------------------------------------------------------------------


def variants(found: Mapping[str, Found]) -> dict[tuple[str, str], list[Found]]:
    """Return the runs of each rule and threshold in words; without hubs the rule is "off"."""
    runs: dict[tuple[str, str], list[Found]] = {}
    for one in found.values():
        if one.get("family") == "hubs":
            rule, _, threshold = one["name"].partition(", ")
            runs[rule, threshold] = one["runs"]
    return runs


def _ablation(found: Mapping[str, Found]) -> list[Claim]:
    runs = variants(found)
    if ("off", "") not in runs or len({rule for rule, _ in runs}) < 3:
        return [
            *(judge(RULE, {**NOTHING, "rule": words}) for words in RULES.values()),
            *judge_all(CHOICES, NOTHING),
        ]
    plain = runs.pop(("off", ""))
    most = min(one["end"]["edges"] for several in (plain, *runs.values()) for one in several)
    off = [mean_recall(one, most) for one in plain]
    means = {key: [mean_recall(one, most) for one in several] for key, several in runs.items()}
    n = plain[0]["source"]["variables"]
    about = {
        "group": f"n={n}, {WHOSE[plain[0]['setting']]}, {plain[0]['method']}",
        "another_size": _another_size(n),
        "seeds": f"{len(plain)} seeds" if len(plain) > 1 else "one seed",
        "off": fmean(off),
    }
    rules = (judge(RULE, about | _rule(rule, off, means)) for rule in RULES)
    ends = {key: _recall(several) for key, several in runs.items()}
    values = about | _differences([off, *means.values()], means) | _thresholds(ends, plain)
    return [*rules, *judge_all(CHOICES, values)]


def _rule(
    rule: str, off: Sequence[float], means: Mapping[tuple[str, str], Sequence[float]]
) -> Values:
    """Return what one rule gains with each threshold."""
    own = {threshold: found for (name, threshold), found in means.items() if name == rule}
    gains = {
        threshold: min(a - b for a, b in zip(found, off, strict=True))
        for threshold, found in own.items()
    }
    weakest = min(gains, key=gains.__getitem__)
    return {
        "rule": RULES[rule],
        "told": ", ".join(f"{threshold}: {fmean(found):.3f}" for threshold, found in own.items()),
        "weakest": weakest,
        "least_gain_over_thresholds_and_seeds": gains[weakest],
    }


def _differences(
    everything: Sequence[Sequence[float]], means: Mapping[tuple[str, str], Sequence[float]]
) -> Values:
    """Return how far the two rules are apart, and how far seeds are."""
    thresholds = [threshold for rule, threshold in means if rule == "once"]
    apart = {
        threshold: fmean(means["always", threshold]) - fmean(means["once", threshold])
        for threshold in thresholds
        if ("always", threshold) in means
    }
    few = len(everything[0]) < 2
    return {
        "differences": ", ".join(f"{name}: {value:+.3f}" for name, value in apart.items()),
        "largest_difference_of_rules": max(map(abs, apart.values()), default=None),
        "range_over_seeds": max(max(each) - min(each) for each in everything),
        "one_seed": "there is one seed of each" if few else None,
    }


def _thresholds(ends: Mapping[tuple[str, str], float], plain: Sequence[Found]) -> Values:
    """Return recalls at the end by threshold, averaged over both rules."""
    names = dict.fromkeys(threshold for _, threshold in ends)
    by_name = {
        name: fmean(end for (_, threshold), end in ends.items() if threshold == name)
        for name in names
    }
    best = max(by_name, key=by_name.__getitem__)
    over = by_name["mean"] / by_name[best] if by_name[best] else 1.0
    return {
        "by_threshold": ", ".join(f"{name}: {value:.3f}" for name, value in by_name.items()),
        "off_at_the_end": _recall(plain),
        "best": best,
        "recall_with_the_mean_over_the_best": over,
    }


def _recall(runs: Sequence[Found]) -> float:
    return fmean(float(one["end"]["recall"]) for one in runs)


def hub_lines(found: Mapping[str, Found]) -> list[Values]:
    """Return a line for each rule and threshold, averaged over seeds."""
    runs = variants(found)
    most = min((one["end"]["edges"] for several in runs.values() for one in several), default=0)
    return [_line(rule, threshold, several, most) for (rule, threshold), several in runs.items()]


def _line(rule: str, threshold: str, several: Sequence[Found], most: int) -> Values:
    ends = [one["end"] for one in several]
    recalls = [float(end["recall"]) for end in ends]
    names = ("edges", "precision", "objective", "test_nlpl", "blocks_scored", "tables_counted")
    return {
        "rule": rule,
        "threshold": threshold,
        "seeds": len(several),
        "mean recall on the way": fmean(mean_recall(one, most) for one in several),
        "recall at the end": fmean(recalls),
        "least": min(recalls),
        "largest": max(recalls),
        **{name: fmean(float(end[name]) for end in ends) for name in names},
    }
