"""What the best-choice paper says of its figures, and how it is judged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from statistics import fmean
from typing import Any

from scipy.stats import spearmanr

from experiments.best_choice.grid import grid_claims
from experiments.best_choice.groups import BUDGETS, WHOSE, Group, groups
from experiments.best_choice.hubs import hub_claims
from experiments.best_choice.recorded import recorded_claims
from experiments.best_choice.table1 import cost_claims
from experiments.engine import Claim, Found, Row, judge, judge_all, span

#: Objectives this close, as a share, are the same solution.
SAME = 1e-3
#: Faster: by more than clocks vary.
FASTER = 1.2
#: "Nearly ten times" lies between these.
TEN = (5.0, 20.0)
#: A clear correlation.
CLEAR = 0.9
#: The reservoir's mean rank must be this close to what is expected, for this share of sizes.
RANK_ERROR, RANK_SHARE = 0.05, 0.9
#: The sizes of the paper's networks: of Figs. 2 to 4, and of Figs. 5 and 6.
RACED, CONVERGED = (200, 400, 600), (200,)

Values = dict[str, Any]

RANKS = [
    Row(
        "Fig. 1: mean rank of the best of a reservoir, n={variables}, |R| = 1 to {sizes}",
        "nearly identical to the expected rank, about 79,800 / (|R| + 1)",
        "mean rank over expected rank {average:.3f} on average; within two standard errors for "
        "{inside_two_errors:.0%} of the sizes",
        [("error_of_the_average", "<", RANK_ERROR), ("inside_two_errors", ">", RANK_SHARE)],
    ),
    Row(
        "Fig. 1: a small reservoir against first hit, n={variables}", "significant gains",
        "rank {first:,.0f} with |R|=1, {last:,.0f} with |R|={sizes}",
        [("first_over_last", ">", 10)],
        [],
        ["{few_ranks}"],
    ),
]  # fmt: skip
MIXING = Row(
    "data{drawn}: do the chains mix?",
    "20,000 rows of the network by Gibbs: burn-in 1,000, every tenth kept",
    "largest R-hat {largest_R-hat:.2f}, fewest effective draws {ess:,.0f}",
    [("largest_R-hat", "<=", "limit")],
    ["chains with different starts are still different"],
)


def _speed(figure: str) -> Row:
    return Row(
        figure + ", {group}: CPU seconds of exhaustive against best-choice",
        "best-choice is significantly faster",
        "{exhaustive_over_best_choice:.1f} times the median of best-choice until {level} "
        "({seconds} in all)",
        [("exhaustive_over_best_choice", ">=", FASTER)],
        ["{spent}"],
        ["{another_size}", "{no_way}"],
    )  # fmt: skip


def _correlation(figure: str) -> Row:
    return Row(
        figure + ", {group}: objective and test NLPL along the runs",
        "positive correlation; no over-fitting even with small alpha",
        "correlation {least_correlation:.4f} at least ({least_correlated})",
        [("least_correlation", ">", CLEAR)],
        ["of {least_correlated} it is smaller"],
        ["{made_rows}"],
    )


TRADEOFF = Row(
    "Figs. 2 and 4, {group}: alpha trades quality for speed",
    "larger alpha: better objective and recall, more seconds", "{ends}",
    [("rank_correlation_of_alpha_and_objective", "<=", -CLEAR),
     ("rank_correlation_of_alpha_and_recall", ">=", CLEAR),
     ("rank_correlation_of_alpha_and_CPU_seconds", ">=", CLEAR)],
    ["rank correlations of alpha: objective {rank_correlation_of_alpha_and_objective:.2f}, recall "
     "{rank_correlation_of_alpha_and_recall:.2f}, CPU seconds "
     "{rank_correlation_of_alpha_and_CPU_seconds:.2f}"],
    ["{another_size}", "{alphas_unlimited}", "{alphas_ended}"],
)  # fmt: skip
FIRST_HIT = Row(
    "Figs. 2 and 4, {group}: first hit", "of lower quality than best-choice",
    "objective {objective_of_first_hit:.2f}, best-choice up to {worst_objective_of_best_choice:.2f}"
    "; recall {recall_of_first_hit:.3f}, best-choice from {least_recall_of_best_choice:.3f} on",
    [("objective_of_first_hit", ">", "worst_objective_of_best_choice"),
     ("recall_of_first_hit", "<", "least_recall_of_best_choice")],
    [],
    ["{another_size}", "{first_unlimited}", "{first_ended}"],
)  # fmt: skip
TIMES = Row(
    "Fig. 2, {group}: CPU seconds to add all {most} edges, exhaustive against best-choice",
    "nearly ten times as long",
    "{more}{exhaustive_over_best_choice_in_all:.1f} times the median of best-choice ({seconds})",
    [("exhaustive_over_best_choice_in_all", ">=", TEN[0]),
     ("exhaustive_over_best_choice_in_all", "<=", TEN[1])],
    ["{spent}"],
    ["{another_size}", "{alphas_unlimited}", "{open_times}"],
)  # fmt: skip
RACE = [_speed("Fig. 2"), TRADEOFF, _correlation("Fig. 3"), FIRST_HIT]
GROWTH = Row(
    "Fig. 2, {whose}: exhaustive falls behind as n grows",
    "the gap increases with the number of variables", "{told}",
    [("least_ratio_of_neighbours", ">=", 1.0)],
    ["{spent}"],
    ["{another_size}"],
)  # fmt: skip
CONVERGENCE = [
    Row(
        "Fig. 5, {group}: end", "all methods reach a similar solution",
        "{ended} of {methods} methods ended; objectives differ by {spread:.1e} of their size; "
        "{edges:,} edges",
        [("spread", "<", SAME), ("ended", "==", "methods")],
        ["belief propagation is approximate: where a run ends depends on its way there"],
        ["{stopped}"],
    ),
    _speed("Fig. 5"),
    Row(
        "Fig. 5, {group}: first hit converges last", "slower than edge grafting",
        "first hit {first_time} (CPU), exhaustive {exhaustive_time}",
        [("CPU_seconds_of_first_hit", ">", "CPU_seconds_of_exhaustive")],
        ["first hit took {first[evaluations]:,} evaluations of the loss and "
         "{first[blocks_scored]:,} tests, exhaustive {exhaustive[evaluations]:,} and "
         "{exhaustive[blocks_scored]:,}"],
        ["{another_size}", "{slow_ended}"],
    ),
]  # fmt: skip
REAL = [_speed("Fig. 7"), _correlation("Fig. 7")]
DIMENSION = Row(
    "Fig. 7, {whose}: the advantage grows with dimension", "Yummly more than Jester", "{told}",
    [("least_ratio_of_neighbours", ">=", 1.0)],
    ["{spent}"],
    ["{another_size}"],
)  # fmt: skip

NOTHING: Values = {"group": "no runs", "drawn": "", "variables": "?", "sizes": "?", "most": "?"}


def claims(found: Mapping[str, Found]) -> list[Claim]:
    """Return all claims."""
    races, real = groups(found, "race"), groups(found, "real")
    largest = max((group.n for group in races), default=0)
    return [
        *judge_all(RANKS, _ranks(found.get("ranks"))),
        *_mixing(found),
        *cost_claims(found),
        *_of_groups(RACE, races, RACED),
        *_of_groups([TIMES], [group for group in races if group.n == largest], RACED),
        *(judge(GROWTH, _growth(setting, races, RACED)) for setting in WHOSE),
        *_of_groups(CONVERGENCE, groups(found, "converge"), CONVERGED),
        *hub_claims(found),
        *grid_claims(found),
        *_of_groups(REAL, real, ()),
        *(judge(DIMENSION, _growth(setting, real, ())) for setting in WHOSE),
        *recorded_claims(found),
    ]


def _of_groups(rows: Sequence[Row], several: Sequence[Group], sizes: Sequence[int]) -> list[Claim]:
    values = [values_of(group, sizes) for group in several] or [NOTHING]
    return [claim for each in values for claim in judge_all(rows, each)]


# ---- Values of groups --------------------------------------------------------------------------


def values_of(group: Group, sizes: Sequence[int]) -> Values:
    """Return what the rows about one group of runs are judged by.

    ``sizes`` are those of the paper's networks.
    """
    alphas = group.by_alpha()
    correlations = group.correlations()
    least = min(correlations, key=correlations.__getitem__, default=None)
    return {
        "group": group,
        "most": f"{group.most:,}" if group.most else None,
        "seconds": ", ".join(f"{method}: {group.seconds(method)}" for method in group.methods),
        "another_size": group.another_size(sizes),
        "made_rows": group.made_rows(),
        "least_correlation": None if least is None else correlations[least],
        "least_correlated": least,
        **_lead(group),
        **_ends(group),
        **(_tradeoff(group, alphas) if len(alphas) > 1 else {}),
        **(_first_hit(group, alphas) if alphas and "first hit" in group.runs else {}),
    }


def _lead(group: Group) -> Values:
    """Return how much faster best-choice is."""
    lead, times = group.lead(), group.to_the_ends()
    if lead is None:
        return {}
    ended = group.ended(["exhaustive"])
    still_open = ended and times is not None and times <= TEN[1]
    return {
        "exhaustive_over_best_choice": lead.times,
        "level": f"an objective of {lead.objective:.4g}, {lead.way:.0%} of the way to the best",
        "no_way": "some run hardly left its start" if lead.way < 0.05 else None,
        "exhaustive_over_best_choice_in_all": times,
        "more": "more than " if ended else "",
        "open_times": ended if still_open else None,
        "spent": group.spent(),
    }


def _tradeoff(group: Group, alphas: Sequence[Found]) -> Values:
    """Return how ends change with alpha, over all its values."""
    forms = {"objective": ".2f", "recall": ".3f", "seconds": ".1f"}
    columns = {
        name: [float(one["end"][name]) for one in alphas]
        for name in forms
        if all(name in one["end"] for one in alphas)
    }
    numbers = [float(one["method"].split()[-1]) for one in alphas]
    ranked = {name: _rank_correlation(numbers, column) for name, column in columns.items()}
    methods = [one["method"] for one in alphas]
    told = (
        f"{name.replace('seconds', 'CPU seconds')} "
        + ", ".join(f"{value:{forms[name]}}" for value in column)
        for name, column in columns.items()
    )
    return {
        "ends": f"alpha {', '.join(f'{number:g}' for number in numbers)}: {'; '.join(told)}",
        "rank_correlation_of_alpha_and_objective": ranked.get("objective"),
        "rank_correlation_of_alpha_and_recall": ranked.get("recall"),
        "rank_correlation_of_alpha_and_CPU_seconds": ranked.get("seconds"),
        "alphas_unlimited": group.unlimited(methods),
        "alphas_ended": group.ended(methods),
    }


def _rank_correlation(across: Sequence[float], upward: Sequence[float]) -> float:
    """Return Spearman's correlation, 0 where nothing changes."""
    return float(spearmanr(across, upward)[0]) if len(set(upward)) > 1 else 0.0


def _first_hit(group: Group, alphas: Sequence[Found]) -> Values:
    """Return first hit beside best-choice, and beside the exhaustive method."""
    first, methods = group.runs["first hit"]["end"], [one["method"] for one in alphas]
    recalls = [one["end"]["recall"] for one in alphas if "recall" in one["end"]]
    values: Values = {
        "first": first,
        "objective_of_first_hit": first["objective"],
        "worst_objective_of_best_choice": max(one["end"]["objective"] for one in alphas),
        "recall_of_first_hit": first.get("recall"),
        "least_recall_of_best_choice": min(recalls, default=None),
        "first_unlimited": group.unlimited(["first hit"]),
        "first_ended": group.ended(["first hit", *methods]),
    }
    if "exhaustive" not in group.runs:
        return values
    exhaustive = group.runs["exhaustive"]["end"]
    return values | {
        "first_time": group.seconds("first hit"),
        "CPU_seconds_of_first_hit": first["seconds"],
        "exhaustive": exhaustive,
        "exhaustive_time": group.seconds("exhaustive"),
        "CPU_seconds_of_exhaustive": exhaustive["seconds"],
        "slow_ended": group.ended(["first hit", "exhaustive"]),
    }


def _ends(group: Group) -> Values:
    """Return how far the ends of all methods are apart."""
    done = [one for one in group.runs.values() if one["stop"] not in (*BUDGETS, "edges")]
    return {
        "methods": len(group.runs),
        "ended": len(done),
        "stopped": group.ended(group.methods),
        "spread": group.spread(done) if len(done) > 1 else None,
        "edges": span(one["end"]["edges"] for one in done) if done else None,
    }


def _growth(setting: str, several: Sequence[Group], sizes: Sequence[int]) -> Values:
    """Return how the lead of best-choice changes from group to group, by the same measure."""
    own = [group for group in several if group.setting == setting]
    leads = [(group, lead) for group in own if (lead := group.lead()) is not None]
    if len(leads) < 2:
        return {"whose": WHOSE[setting]}
    told = (
        f"{group.place}: {lead.times:.1f} times the CPU seconds until {lead.way:.0%} of the way to "
        f"the best objective, {group.scored():.0f} times the pairs scored in all"
        for group, lead in leads
    )
    return {
        "whose": WHOSE[setting],
        "told": "; ".join(told),
        "least_ratio_of_neighbours": min(
            after.times / before.times for (_, before), (_, after) in pairwise(leads)
        ),
        "another_size": next(filter(None, (group.another_size(sizes) for group in own)), None),
        "spent": leads[-1][0].spent(),
    }


# ---- Ranks and chains --------------------------------------------------------------------------


def _ranks(one: Found | None) -> Values:
    if one is None or not one["mean"]:
        return NOTHING
    expected = [(one["pairs"] + 1) / (size + 2) for size in range(len(one["mean"]))]
    ratios = [mean / least for mean, least in zip(one["mean"], expected, strict=True)]
    # the least of |R| draws spreads about as much as its mean: the mean of trials, by its root
    wide = 2 / one["trials"] ** 0.5
    few = f"there are {one['pairs']:,} pairs, in the paper 79,800"
    return {
        "variables": one["variables"],
        "average": fmean(ratios),
        "error_of_the_average": abs(fmean(ratios) - 1),
        "inside_two_errors": sum(abs(ratio - 1) <= wide for ratio in ratios) / len(ratios),
        "first": one["mean"][0],
        "last": one["mean"][-1],
        "sizes": len(ratios),
        "first_over_last": one["mean"][0] / one["mean"][-1],
        "few_ranks": few if one["pairs"] != 79_800 else None,
    }


def _mixing(found: Mapping[str, Found]) -> list[Claim]:
    """Return whether chains as short as the paper's give rows of the network."""
    drawn = {
        (one["source"]["variables"], one["source"]["edge_sd"]): one["mixing"]
        for one in found.values()
        if one.get("mixing")
    }
    return [
        judge(
            MIXING,
            {"drawn": f", n={n}, edge sd {edge_sd:.3g}", **mixing, "largest_R-hat": mixing["rhat"]},
        )
        for (n, edge_sd), mixing in sorted(drawn.items())
    ] or [judge(MIXING, NOTHING)]


# ---- All runs ----------------------------------------------------------------------------------

_COLUMNS = {
    "edges": "edges", "recall": "recall", "precision": "precision", "objective": "objective",
    "test_nlpl": "test_nlpl", "evaluations": "evaluations", "pairs_scored": "blocks_scored",
    "tables_counted": "tables_counted",
}  # fmt: skip


def run_lines(found: Mapping[str, Found]) -> list[Values]:
    """Return the ends of all runs as lines of a table."""
    return [_line(one) for one in found.values() if "end" in one]


def _line(one: Found) -> Values:
    source, end = one["source"], one["end"]
    return {
        "family": one["family"],
        "data": source["name"],
        "variables": source["variables"],
        "edge_sd": round(source["edge_sd"], 4) if source["name"] == "scale-free" else "",
        "rhat": one["mixing"].get("rhat", ""),
        "settings": one["setting"],
        "changed": ", ".join(f"{k}={v}" for k, v in one["changed"].items()),
        "method": one["method"],
        "cpu_seconds": end["seconds"],
        **{name: end.get(key, "") for name, key in _COLUMNS.items()},
        "stop": one["stop"],
    }
