"""What the Grafting-Light paper says of noun phrases, judged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from experiments.engine import Claim, Found, Row, judge, judge_all
from experiments.engine.observers import first_below
from experiments.grafting_light.chain import FULL, GRAFTING, LIGHT, SEIDEL
from experiments.grafting_light.chunks import path_runs, race_lines
from experiments.grafting_light.pairs import NAMES, Lines, Values, gap_of, paired, stopped

#: "As good" is within these shares in likelihood and in numbers of features.
SAME, SAME_FEATURES = 0.02, 0.1
#: F1 may be this many points below.
POINTS = 1.0
#: Likelihood and F1 are compared where the objective is within this share of the optimum's.
CLOSE = 1e-3
#: A run has arrived when its objective is within this share of the best one.
ARRIVED = 0.02
SENTENCES, CANDIDATES, DROPPED = 8_936, 3_000_000, 0.999
_PART = f"{{part:,}} of the {SENTENCES:,} sentences were used"

CANDIDATE_FEATURES = Row(
    "6.1.2: candidate features", "more than 3 million", "{candidates:,}",
    [("candidates", ">", CANDIDATES)],
    ["the templates are those of CRF++"],
    [_PART],
)  # fmt: skip
F1_DROPPED = Row(
    "4.1: F1 with 99.9 % of the features dropped", "no more than 1 % below that of all features",
    "all features {all[f1]:.2f}; {tries}",
    [("best_F1_with_999_of_1000_dropped", ">=", "F1_of_all_features_less_1")],
    ["within 1 point {most:.3%} can be dropped",
     "with 99.9 % dropped F1 is {best_F1_with_999_of_1000_dropped:.2f}"],
    ["{all_stopped}", "{none_sparse}", _PART],
)  # fmt: skip
F1_BATCH = Row(
    "6.1.2: F1 of Full-Opt-L1", "less than 1 % below the models with all features",
    "{full[f1]:.2f}{above}, all features {all[f1]:.2f}",
    [("points_below", "<", POINTS)],
    ["it is {points_below:.2f} points below"],
    ["{all_stopped}", "{far}", _PART],
)  # fmt: skip
FASTER = Row(
    "Fig. 3: gradients against {rival}", "Grafting-Light needs fewer, at all select units",
    f"gradients to within {ARRIVED:.0%} of the best objective: {{told}}",
    [("select_units_where_it_is_not_sooner", "==", 0)],
    ["it is not sooner there, nor lower after as many gradients, at M = {lost_at}"],
)  # fmt: skip
AS_GOOD = Row(
    "Fig. 3: likelihood and F1 against Full-Opt-L1", "Grafting-Light is as good",
    "Grafting-Light and Full-Opt-L1{above}: objective {light[objective]:.4f} and "
    "{full[objective]:.4f}, NLL {light[nll]:,.0f} and {full[nll]:,.0f}, F1 {light[f1]:.2f} and "
    "{full[f1]:.2f}",
    [("difference_of_NLL", "<=", SAME), ("points_of_F1_below", "<=", POINTS)],
    ["of their size, likelihoods differ by {difference_of_NLL:.1g}; F1 is "
     "{points_of_F1_below:.2f} points lower"],
    ["{light_stopped}", "{far}"],
)  # fmt: skip
AS_SPARSE = Row(
    "Fig. 3: non-zero features against Full-Opt-L1", "almost the same numbers",
    "Grafting-Light {light[features]:,}, Full-Opt-L1 {full[features]:,}{above}",
    [("difference_of_features", "<=", SAME_FEATURES)],
    ["both converged, to objectives within {done_gap:.1g}: the optimum leaves it open"],
    ["{stopped}"],
)  # fmt: skip


def chunk_claims(found: Mapping[str, Found]) -> list[Claim]:
    """Return the claims about noun phrases."""
    lines, values = race_lines(found), _values(found)
    return [
        *(judge(row, values) for row in (CANDIDATE_FEATURES, F1_DROPPED, F1_BATCH)),
        *(judge(FASTER, _arrivals(lines, other)) for other in (GRAFTING, SEIDEL)),
        *judge_all([AS_GOOD, AS_SPARSE], _as_good(lines, path_runs(found))),
    ]


def _values(found: Mapping[str, Found]) -> Values:
    path, batch = path_runs(found), found.get("chunks-all")
    lines = race_lines(found)
    full = lines[FULL][0] if FULL in lines else None
    values: Values = {"all": batch, "full": full}
    if path:
        used = path[0]["n_train"]
        values |= {"candidates": path[0]["candidates"], "part": used if used < SENTENCES else None}
    if batch:
        ended = None if batch["converged"] else "the run with all features has no optimum"
        values["all_stopped"] = ended
    if path and batch:
        values |= _path_values(path, batch)
    if full and batch:
        values |= {"points_below": batch["f1"] - full["f1"], **_distance(full, path)}
    return values


def _distance(full: Found, path: Sequence[Found]) -> Values:
    """Return how far the batch method ended from the optimum, and whether that is too far.

    The optimum is that of a run with a certificate, at the same penalty.
    """
    known = [run for run in path if run["c1"] == full["c1"] and run["converged"]]
    if full["converged"]:
        return {"above": "", "far": None}
    if not known:
        return {"above": "", "far": stopped([full])}
    gap = full["objective"] / known[0]["objective"] - 1
    far = f"{stopped([full])}, {gap:.1g} of its size above the optimum, more than {CLOSE:g}"
    return {
        "above": f" (ended by the limit of evaluations {gap:.1g} above the optimum)",
        "far": far if gap > CLOSE else None,
    }


def _path_values(path: Sequence[Found], batch: Found) -> Values:
    """Return what is left of F1 where most features are dropped."""
    sparse = [run for run in path if run["dropped"] >= DROPPED and run["converged"]]
    near = [run for run in path if run["f1"] >= batch["f1"] - POINTS]
    none = f"no run that reached its optimum drops {DROPPED:.1%} of the features"
    return {
        "tries": "; ".join(
            f"{run['dropped']:.3%} dropped ({run['features']:,} kept): {run['f1']:.2f}"
            for run in path
        ),
        "F1_of_all_features_less_1": batch["f1"] - POINTS,
        "best_F1_with_999_of_1000_dropped": max(
            (run["f1"] for run in sparse), default=float("nan")
        ),
        "none_sparse": None if sparse else none,
        "most": max((run["dropped"] for run in near), default=None),
    }


def _arrivals(lines: Lines, other: str) -> Values:
    """Return how many gradients brought both methods near the best objective."""
    pairs, name = paired(lines, other), NAMES[other]
    if not pairs:
        return {"rival": name}
    best = min(run["objective"] for line in lines.values() for run in line)
    told, lost = [], []
    for light, rival in pairs:
        counts = [_arrival(run, best) for run in (light, rival)]
        shown = [_arrival_words(*both) for both in zip((light, rival), counts, strict=True)]
        told.append(f"M = {light['select']:,}: {shown[0]} and {shown[1]}")
        if not _is_sooner(counts, light, rival):
            lost.append(f"{light['select']:,}")
    return {
        "rival": name,
        "told": "; ".join(told),
        "select_units_where_it_is_not_sooner": len(lost),
        "lost_at": ", ".join(lost) or None,
    }


def _is_sooner(counts: Sequence[int | None], light: Found, rival: Found) -> bool:
    """Return whether Grafting-Light arrives first or, where neither does, has come further."""
    own, theirs = counts
    if own is None:
        return theirs is None and bool(light["objective"] < rival["objective"])
    return theirs is None or own < theirs


def _arrival(run: Found, best: float) -> int | None:
    curve = run["curve"]
    k = first_below(curve, "objective", best * (1 + ARRIVED))
    return None if k is None else int(curve["evaluations"][k])


def _arrival_words(run: Found, count: int | None) -> str:
    if count is not None:
        return str(count)
    return f"not in {run['evaluations']} (objective {run['objective']:.3f})"


def _as_good(lines: Lines, path: Sequence[Found]) -> Values:
    """Return the best run of Grafting-Light beside the batch method."""
    if LIGHT not in lines or FULL not in lines:
        return {}
    [full] = lines[FULL]
    same = [run for run in path if run["c1"] == full["c1"]]
    light = min([*lines[LIGHT], *same], key=lambda run: run["objective"])
    cut = stopped([light, full])
    return {
        "light": light,
        "full": full,
        **_distance(full, same),
        "difference_of_NLL": abs(light["nll"] / (full["nll"] or 1.0) - 1),
        "points_of_F1_below": full["f1"] - light["f1"],
        "difference_of_features": abs(light["features"] / max(full["features"], 1) - 1),
        "light_stopped": stopped([light]),
        "stopped": cut,
        "done_gap": None if cut else gap_of(light, full),
    }
