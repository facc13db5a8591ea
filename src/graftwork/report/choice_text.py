"""Text about the choice of lambda and edges, why a search ended, and what tests of edges say."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.special import chdtri

from graftwork.estimators.edges import near_records
from graftwork.grafting.certificate import Stop
from graftwork.inference.layout import Floats
from graftwork.selection import LambdaChoice
from graftwork.selection.criteria import RISES
from graftwork.selection.path import Basis, EdgeSelection, PathSearch
from graftwork.significance import Evidence
from graftwork.text import count, probability, two_digits, verb

# How many pairs that are almost edges are named.
_NAMED = 5
# P-values of the listed pairs are below this.
_STRIKING = 0.05
# Weights that are together this much too large are told of.
_TOO_LARGE = 0.1
# With fewer rows for each number of a table that is not linear, intervals of its edge's weight
# cover less than they say (`python benchmarks/coverage.py ordered-bent`).
ROWS_A_NUMBER = 90

_STOPS: dict[Stop, str] = {
    "optimal": "no {noun} left out would improve it",
    "edges": "the {noun} budget was reached",
    "given": "its edges were given, by a tree or another start, and no others were looked for",
    "searched": "its number of edges was given, and a local search found which they are, without a "
    "guarantee",
    "rounds": "the round budget was reached",
    "tests": "the budget of tests was reached",
    "seconds": "the time budget was reached",
    "evaluations": "the budget of evaluations of the loss was reached",
    "interrupted": "it was interrupted",
    "stalled": "the solver gave up because no step improved it any further",
    "pruned": "small weights that belong to the optimum were dropped at the end",
}


def stop_text(stop: Stop, noun: str = "edge") -> str:
    """Return why a run ended, as a clause."""
    return _STOPS[stop].format(noun=noun)


def choice_text(choice: LambdaChoice) -> str:
    """Return how lambda, or the edges, were chosen.

    Examples
    --------
    >>> choice_text(LambdaChoice("given", 0.1))
    'Lambda 0.1 was given.'
    """
    if choice.tests is not None:
        judged = "" if choice.path is None else f"{_rival_text(choice.path)} "
        return judged + _selection_text(choice.tests, choice.lam)
    if choice.path is not None:
        return _path_text(choice.path, choice)
    if choice.stop is not None:
        return _cut_short(choice)
    return {
        "none": "There is no penalty.",
        "sized": "There is no sparsity penalty, because the method gives the number of edges; a "
        "standard normal prior keeps the weights finite.",
        "one-row": "One row says nothing about others, so lambda was not chosen: there is no edge.",
        "independent": "No two variables depend on each other at all, so any lambda gives the same "
        "network.",
    }.get(choice.how, f"Lambda {choice.lam:g} was given.")


def _cut_short(choice: LambdaChoice) -> str:
    """Return how far a search came that ended before there was anything to choose from."""
    assert choice.stop is not None
    why = stop_text(choice.stop)
    if choice.how == "adaptive":
        return f"The first fit was cut short ({why})."
    if choice.how == "testing":
        return (
            f"The search was cut short ({why}) while edges were being tested: the network has "
            f"those, of the short list at lambda {choice.lam:.4g} and of pairs that came in later, "
            "that no test had ruled out by then. Some may still fail, and others may be missing."
        )
    if choice.how == "tests":
        return (
            f"The search was cut short ({why}) before edges were tested; it had reached lambda "
            f"{choice.lam:.4g}."
        )
    return f"The search was cut short ({why}) before any lambda was judged."


def _rival_text(path: PathSearch) -> str:
    """Return that the network of tested edges was judged better than those of all lambdas."""
    assert path.tested is not None
    lams = f"{count(path.n_lams, 'lambda')} from {path.largest:.4g} down to {path.smallest:.4g}"
    if path.tested > path.criterion:
        return (
            f"Of {lams}, the best {_merit(path.basis, path.criterion)}, and the network of the "
            "edges that tests keep does worse by less than a standard error "
            f"({path.tested:.5g}): that was taken, as it gains more from learning with all rows."
        )
    return (
        f"The network of the edges that tests keep {_merit(path.basis, path.tested)}; the best of "
        f"{lams} predicts worse ({path.criterion:.5g})."
    )


def _path_text(path: PathSearch, choice: LambdaChoice) -> str:
    """Return which lambda of a path is best, and where the path ended."""
    text = (
        f"Of {count(path.n_lams, 'lambda')} from {path.largest:.4g} down to {path.smallest:.4g}, "
        f"{choice.lam:.4g} {_merit(path.basis, path.criterion)}."
    )
    if path.tested is not None:
        text += f" The network of the edges that tests keep predicts worse ({path.tested:.5g})."
    further = ""
    if path.planned is not None:
        further = f" It went on below its planned end of {path.planned:.4g} to make sure."
    if path.end is None:
        assert choice.stop is not None
        why = stop_text(choice.stop)
        return f"{text} The search was cut short ({why}): smaller ones might be better."
    if path.end == "rises":
        why = f"the criterion had risen for {RISES} values in a row"
        return f"{text} The path stopped at {path.smallest:.4g} because {why}.{further}"
    if path.end == "unstable":
        why = "edges became unstable"
        return f"{text} The path stopped at {path.smallest:.4g} because {why}.{further}"
    if path.end == "inside":
        where = "It lies inside the path: smaller ones are worse."
        if choice.lam >= path.largest:
            where = "That is the largest, at which there is hardly an edge: smaller ones are worse."
        return f"{text} {where}{further}"
    return (
        f"{text} That is the small end of the path, even after it was extended: the criterion "
        "still falls, or hardly changes any more."
    )


def _merit(basis: Basis, value: float) -> str:
    """Return what speaks for the lambda chosen."""
    if basis.how == "held-out":
        rows = f"{count(basis.n_rows, 'row')} held out"
        if basis.n_parts > 1:
            rows = f"rows held out, each of {basis.n_parts} parts in turn"
        return f"predicts best (negative log pseudo-likelihood {value:.5g} nats per row, on {rows})"
    if basis.how == "stars":
        return (
            f"is the smallest whose edges are stable over {count(basis.n_parts, 'subsample')} of "
            f"{count(basis.n_rows, 'row')} (instability {value:.3g}; at most {basis.threshold:g} "
            "is accepted)"
        )
    fits = "refits without the penalty" if basis.of_refits else "the penalised fits"
    return f"has the smallest EBIC of {fits} (gamma {basis.gamma:g}: {value:.6g})"


def _selection_text(tests: EdgeSelection, lam: float) -> str:
    """Return how tests chose the edges."""
    if not tests.n_tests:
        return "There is no pair of variables that might be an edge, so nothing was tested."
    listed = (
        f"Grafting down to lambda {lam:.4g}, where chance alone would give the first edge, made a "
        f"short list of {count(tests.n_listed, 'pair')}."
    )
    if tests.max_edges is not None:
        listed = (
            f"Grafting ended at lambda {lam:.4g}, where the limit of "
            f"{count(tests.max_edges, 'edge')} was reached, with a short list of "
            f"{count(tests.n_listed, 'pair')}."
        )
    if tests.largest <= tests.noise:
        listed = (
            "No pair depends more strongly than the strongest would by chance (score "
            f"{tests.largest:.3g}, noise level {tests.noise:.3g}), so none is on the short list."
        )
    tested = "The only pair was" if tests.n_tests == 1 else f"All {tests.n_tests:,} pairs were"
    were = verb(tests.n_kept, "was kept as an edge", "were kept as edges")
    kept = f"{tests.n_kept:,} {were} at a false discovery rate of {tests.fdr:g}"
    if tests.n_required:
        kept += f", in addition to {tests.n_required:,} required whatever the tests say"
    parts = [listed, f"{tested} tested in refits without the penalty, and {kept}."]
    return " ".join([*parts, *_selection_remarks(tests)])


def _selection_remarks(tests: EdgeSelection) -> list[str]:
    """Return what else there is to know about a selection of edges, in sentences."""
    out = []
    if tests.n_contested:
        pairs = "one pair" if tests.n_contested == 1 else f"{tests.n_contested:,} pairs"
        out.append(
            f"For {pairs} the tests with and without the edge disagreed; there the median p-value "
            "of the score, Wald and likelihood ratio tests decided."
        )
    if tests.sampled:
        out.append("The noise level was estimated from a sample of all pairs.")
    if tests.max_edges is not None:
        most = count(tests.max_edges, "edge")
        out.append(f"At most {most} may be kept, so pairs that pass their tests may be left out.")
    if tests.residual is not None:
        out.append(f"With this many states the refit was solved only to {tests.residual:.1g}.")
    if tests.rivals:
        out.append(_rivals_text(tests.rivals))
    return out


def _rivals_text(pairs: Sequence[tuple[Any, Any]]) -> str:
    """Return which absent pairs pass their test all the same.

    Examples
    --------
    >>> _rivals_text([("a", "b")])
    'Left out: a - b, which passes its test while it is absent and fails as an edge; it and ...'
    """
    n = len(pairs)
    return (
        f"Left out: {', '.join(f'{a} - {b}' for a, b in pairs)}, which "
        f"{verb(n, 'passes its test while it is', 'pass their tests while they are')} absent and "
        f"{verb(n, 'fails as an edge; it', 'fail as edges; they')} and edges that are kept stand "
        "in for each other."
    )


def evidence_sections(
    evidence: Evidence,
    names: Sequence[Any],
    rows: float,
    notes: Sequence[str] = (),
    max_edges: int | None = None,
) -> list[tuple[str, str]]:
    """Return titles and texts about the tests of a network's edges; nothing if there are none."""
    if not evidence.n_tests:
        return []
    meaning = " ".join([meaning_text(np.exp(evidence.edge_log_q), evidence.level), *notes])
    if max_edges is not None:
        return [
            ("What the numbers mean", meaning),
            ("Left out", _left_out(evidence, names, max_edges)),
        ]
    return [
        ("What the numbers mean", meaning),
        ("Almost edges", _almost(evidence, names, rows)),
        ("With more rows", _outlook(evidence, rows)),
    ]


def meaning_text(q_values: Floats, fdr: float) -> str:
    """Return what strengths, p-values and q-values are, for a network with these at this rate."""
    sure = q_values[q_values <= fdr * (1.0 + 1e-9)]
    kept = len(sure)
    text = (
        "The strength of an edge, between 0 and 1, says how closely its two variables would depend "
        "on each other if nothing else tied them, and can be compared between variables of any "
        "numbers of states. The weight of an edge between two binary or ordered "
        "variables is signed: by how much the log odds of one step of one variable rise with "
        "one step of the other; in brackets is its 95 % interval. Its p-value is the probability "
        "of evidence at least this strong if there were no such edge, given all other edges. "
    )
    if not kept:
        return text + f"No pair is convincing at a false discovery rate of {fdr:g}."
    false = fdr * kept
    expected = f"about {false:.1f} are" if false >= 0.95 else "fewer than one is"
    required = len(q_values) - kept
    text += (
        "Its q-value is the false discovery rate at which it would just be kept: of the "
        f"{count(kept, 'edge')} kept at {fdr:g}, {expected} false on average. "
        f"The least certain has q = {probability(float(sure.max()))}."
    )
    if required == 1:
        text += " 1 more is there because it is required; its test does not pass."
    elif required:
        text += f" {required:,} more are there because they are required; their tests do not pass."
    return text


def interval_notes(rows: float, excess: float, bent: int) -> list[str]:
    """Return where weights are too large, and where their intervals do not cover them.

    Examples
    --------
    >>> interval_notes(1000, 0.02, 0), len(interval_notes(1000, 0.2, 16))
    ([], 2)
    """
    notes = [_excess_text(excess)] if excess >= _TOO_LARGE else []
    if rows < ROWS_A_NUMBER * bent:
        notes.append(
            f"Edges that are not linear have up to {bent} numbers each, many for so few rows: "
            "their weights tend to be too large, and their intervals are too narrow."
        )
    return notes


def _excess_text(excess: float) -> str:
    """Return that weights are too large since only large ones are shown."""
    much = f"about {excess:.0%} too large" if excess < 1.0 else "twice as large as the true ones"
    return (
        "Only edges that look strong enough are kept, and chance makes some of them look so: "
        f"together their weights are {much}, those with the largest p-values most. Their intervals "
        "allow for it; one that reaches 0 means that the edge just passed its test, and that these "
        "rows do not tell how large its weight is."
    )


def _left_out(evidence: Evidence, names: Sequence[Any], max_edges: int) -> str:
    """Return which pairs might be edges if there were no limit."""
    parts = [
        f"{record['first']} - {record['second']} (p = {probability(record['p_value'])})"
        for record in near_records(names, evidence, _NAMED)
    ]
    if not parts:
        return f"No other pair has a p-value below {evidence.striking:.2g}."
    most = count(max_edges, "edge")
    return f"{'; '.join(parts)}. At most {most} may be kept, whatever the tests say."


def _almost(evidence: Evidence, names: Sequence[Any], rows: float) -> str:
    """Return which pairs came closest to being edges, and what they would need."""
    near = near_records(names, evidence, _NAMED)
    if not near:
        return f"No other pair has a p-value below {evidence.striking:.2g}."
    parts, needs = [], []
    for record in near:
        need = _rows_needed(record["statistic"], record["df"], evidence, rows)
        needs.append(need)
        parts.append(
            f"{record['first']} - {record['second']} (p = {probability(record['p_value'])}, "
            f"q = {probability(record['q_value'])}{need})"
        )
    told = "; ".join(parts) + "."
    if any(needs):
        told += (
            " The number of rows is roughly what it would take if the dependence is as strong as "
            "it looks; the closest of many pairs usually look stronger than they are."
        )
    return told


def _outlook(evidence: Evidence, rows: float) -> str:
    """Return whether weaker dependences hide below what these rows can show."""
    others = evidence.n_tests - len(evidence.edges.pairs)
    if others <= 0:
        return "Every pair is an edge already."
    striking = min(_STRIKING, evidence.striking)
    seen = int((evidence.others.log_p <= math.log(striking)).sum())
    chance = striking * others
    pairs = f"{count(others, 'pair')} that {verb(others, 'is not an edge', 'are not edges')}"
    text = (
        f"Of the {pairs}, {seen:,} {verb(seen, 'has', 'have')} a p-value below {striking:.2g}; "
        f"chance alone gives about {chance:,.0f}. "
    )
    spread = math.sqrt(chance * (1 - striking))
    if seen > chance + 3 * max(spread, 1.0):
        return text + (
            f"So there are about {seen - chance:,.0f} weaker dependences that {rows:,.6g} rows "
            "cannot tell from chance one by one; more rows would bring some of them out, and so "
            "would a higher fdr. The network is likely denser than it looks. For predictions they "
            "count together: use goal='prediction'."
        )
    return text + "That is not clearly more than chance would give."


def _rows_needed(statistic: float, df: int, evidence: Evidence, rows: float) -> str:
    """Return at about how many rows a pair would be kept, if its dependence is as it looks.

    What a statistic exceeds its degrees of freedom by grows with the rows.
    """
    kept = len(evidence.edges.pairs) + 1
    needed = float(chdtri(df, evidence.level * kept / max(1, evidence.family))) - df
    excess = statistic - df
    if excess <= 0 or needed <= excess:
        return ""
    return f", at about {two_digits(rows * needed / excess):,} rows"
