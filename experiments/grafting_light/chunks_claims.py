"""What the Grafting-Light paper says of noun phrases, judged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from experiments.engine.observers import first_below
from experiments.engine.study import Claim, Found, judge
from experiments.grafting_light.chain import FULL, GRAFTING, LIGHT, SEIDEL
from experiments.grafting_light.chain_claims import NAMES, paired
from experiments.grafting_light.chunks import path_runs, race_lines

SENTENCES = 8_936
CANDIDATES = 3_000_000
DROPPED = 0.999
#: F1 may be so many points below.
POINTS = 1.0
#: A run has arrived when its objective is within this share of the best one.
ARRIVED = 0.02
SAME = 0.02
SAME_FEATURES = 0.1


def chunk_claims(found: Mapping[str, Found]) -> list[Claim]:
    """Return the claims about noun phrases."""
    path, batch = path_runs(found), found.get("chunks-all")
    lines = race_lines(found)
    return [
        _candidates(path),
        _dropped(path, batch),
        _batch_f1(lines, batch),
        _faster(lines, GRAFTING),
        _faster(lines, SEIDEL),
        _as_good(lines, path),
    ]


def _candidates(path: Sequence[Found]) -> Claim:
    what, printed = "6.1.2: candidate features", "more than 3 million"
    if not path:
        return judge(what, printed, None, None)
    count, used = path[0]["candidates"], path[0]["n_train"]
    because = (
        f"{used:,} of the {SENTENCES:,} sentences were used"
        if used < SENTENCES
        else "the templates are those of CRF++ for this task"
    )
    return judge(what, printed, f"{count:,}", count > CANDIDATES, because)


def _dropped(path: Sequence[Found], batch: Found | None) -> Claim:
    what = "4.1: F1 with 99.9 % of the features dropped"
    printed = "no more than 1 % below that of all features"
    if not path or batch is None:
        return judge(what, printed, None, None)
    tries = [
        f"{run['dropped']:.3%} dropped ({run['features']:,} kept): {run['f1']:.2f}" for run in path
    ]
    ours = f"all features {batch['f1']:.2f}; " + "; ".join(tries)
    sparse = [run for run in path if run["dropped"] >= DROPPED]
    near = [run for run in sparse if run["f1"] >= batch["f1"] - POINTS and run["converged"]]
    stopped = "" if batch["converged"] else "the clock stopped the run with all features"
    because = _dropped_words(path, sparse, batch)
    return judge(what, printed, ours, bool(near), because, unless=stopped)


def _dropped_words(path: Sequence[Found], sparse: Sequence[Found], batch: Found) -> str:
    near = [run for run in path if run["f1"] >= batch["f1"] - POINTS]
    most = f"{max(run['dropped'] for run in near):.3%}" if near else "none"
    best = f"{max(run['f1'] for run in sparse):.2f}" if sparse else "no run"
    text = f"within 1 point {most} can be dropped, and with 99.9 % dropped F1 is {best}"
    used = path[0]["n_train"]
    if used < SENTENCES:
        text += f", on {used:,} of the {SENTENCES:,} sentences"
    return text


def _batch_f1(lines: Mapping[str, Sequence[Found]], batch: Found | None) -> Claim:
    what = "6.1.2: F1 of Full-Opt-L1"
    printed = "less than 1 % below the models with all features"
    if batch is None or FULL not in lines:
        return judge(what, printed, None, None)
    [full] = lines[FULL]
    ours = f"{full['f1']:.2f}, all features {batch['f1']:.2f}"
    stop = "" if full["converged"] else f", and {full['stop']} stopped it"
    because = f"it is {batch['f1'] - full['f1']:.2f} points below{stop}"
    stopped = "" if batch["converged"] else "the clock stopped the run with all features"
    holds = full["f1"] > batch["f1"] - POINTS
    return judge(what, printed, ours, holds, because, unless=stopped)


def _faster(lines: Mapping[str, list[Found]], other: str) -> Claim:
    what = f"Fig. 3: gradients against {NAMES[other]}"
    printed = "Grafting-Light needs fewer, at all select units"
    pairs = paired(dict(lines), other)
    if not pairs:
        return judge(what, printed, None, None)
    best = min(run["objective"] for line in lines.values() for run in line)
    told, lost = [], []
    for light, rival in pairs:
        counts = [_arrival(run, best) for run in (light, rival)]
        shown = [_count_words(run, n) for run, n in zip((light, rival), counts, strict=True)]
        told.append(f"M = {light['select']:,}: {shown[0]} and {shown[1]}")
        if not _is_sooner(counts, light, rival):
            lost.append(f"{light['select']:,}")
    ours = f"gradients to within {ARRIVED:.0%} of the best objective: " + "; ".join(told)
    because = f"it is not sooner there, nor lower in the same time, at M = {', '.join(lost)}"
    return judge(what, printed, ours, not lost, because)


def _is_sooner(counts: Sequence[int | None], light: Found, rival: Found) -> bool:
    """Return whether Grafting-Light arrives first or, where neither does, has come further."""
    own, theirs = counts
    if own is None:
        return theirs is None and bool(light["objective"] < rival["objective"])
    return theirs is None or own < theirs


def _arrival(run: Found, best: float) -> int | None:
    """Return how many gradients brought a run near the best objective; None if it never was."""
    curve = run["curve"]
    k = first_below(curve, "objective", best * (1 + ARRIVED))
    return None if k is None else int(curve["evaluations"][k])


def _count_words(run: Found, count: int | None) -> str:
    if count is not None:
        return str(count)
    return f"not in {run['evaluations']} (objective {run['objective']:.3f})"


def _as_good(lines: Mapping[str, Sequence[Found]], path: Sequence[Found]) -> Claim:
    what = "Fig. 3: Grafting-Light against Full-Opt-L1"
    printed = "as good in likelihood, F1 and non-zero features"
    if LIGHT not in lines or FULL not in lines:
        return judge(what, printed, None, None)
    [full] = lines[FULL]
    same = [run for run in path if run["c1"] == full["c1"]]
    light = min([*lines[LIGHT], *same], key=lambda run: run["objective"])
    ours = "; ".join(
        f"{NAMES[run['method']]}: objective {run['objective']:.4f}, NLL {run['nll']:,.0f}, F1 "
        f"{run['f1']:.2f}, {run['features']:,} features"
        for run in (light, full)
    )
    far = [
        words
        for words, near in (
            ("likelihoods differ", abs(light["nll"] / (full["nll"] or 1.0) - 1) <= SAME),
            ("F1 is lower", light["f1"] >= full["f1"] - POINTS),
            (
                "numbers of features differ",
                abs(light["features"] / max(full["features"], 1) - 1) <= SAME_FEATURES,
            ),
        )
        if not near
    ]
    holds = not far
    because = " and ".join(far)
    stopped = [NAMES[run["method"]] for run in (light, full) if not run["converged"]]
    if stopped:
        because += f"; the limit of time stopped {' and '.join(stopped)}"
    else:
        gap = abs(light["objective"] / full["objective"] - 1)
        because += f"; both converged, to objectives within {gap:.1g}: the optimum leaves it open"
    return judge(what, printed, ours, holds, because)
