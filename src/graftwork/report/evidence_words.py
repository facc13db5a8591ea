"""What tests of edges say, in words: what was kept, what almost was, what more rows would do."""

from __future__ import annotations

import math
from typing import Any

from scipy.special import chdtri

from graftwork.estimators.edges import near_records
from graftwork.tuning import Evidence

# How many pairs that are almost edges are named.
_NAMED = 5
# P-values of the listed pairs are below this.
_STRIKING = 0.05


def evidence_sections(net: Any, rows: float) -> list[tuple[str, str]]:
    """Return titles and texts about the tests of a network's edges; nothing if it has none.

    Parameters
    ----------
    net : MarkovNetwork
        A fitted one.
    rows : float
        Total weight of the rows it was fitted to.
    """
    evidence = getattr(net, "evidence_", None)
    if evidence is None or not evidence.n_tests:
        return []
    return [
        ("What the numbers mean", meaning(evidence)),
        ("Almost edges", almost(net, evidence, rows)),
        ("With more rows", outlook(evidence, rows)),
    ]


def meaning(evidence: Evidence) -> str:
    """Return what strengths, p-values and q-values are, for this network."""
    sure = evidence.edge_log_q[evidence.edge_log_q <= math.log(evidence.level)]
    kept = len(sure)
    text = (
        "The strength of an edge is the norm of its table, row and column means taken out: how far "
        "it moves log-probabilities. Its p-value is the chance of data speaking for it this much "
        "if it were not there, all other edges given. "
    )
    if not kept:
        return text + f"No pair is convincing at a false discovery rate of {evidence.level:g}."
    false = evidence.level * kept
    expected = f"about {false:.1f}" if false >= 0.95 else "fewer than one"
    weakest, required = max(sure), len(evidence.edges.pairs) - kept
    text += (
        f"Its q-value is the false discovery rate at which it would just be kept: among the "
        f"{kept:,} edge{'s'[: kept != 1]} kept at {evidence.level:g}, {expected} false on average. "
        f"The least sure has q = {small(math.exp(weakest))}."
    )
    if required == 1:
        text += " 1 more is there because it is required; its test does not pass."
    elif required:
        text += f" {required:,} more are there because they are required; their tests do not pass."
    return text


def almost(net: Any, evidence: Evidence, rows: float) -> str:
    """Return which pairs came closest to being edges, and what they would need."""
    near = near_records(net.names_, evidence, _NAMED)
    if not near:
        return f"No other pair has a p-value below {_STRIKING:g}."
    parts = []
    for record in near:
        need = rows_needed(record["statistic"], record["df"], evidence, rows)
        parts.append(
            f"{record['first']} - {record['second']} (p = {small(record['p_value'])}, "
            f"q = {small(record['q_value'])}{need})"
        )
    return (
        f"{'; '.join(parts)}. The number of rows is what would about do if the dependence is as "
        "strong as it looks; the closest of many pairs usually look stronger than they are."
    )


def outlook(evidence: Evidence, rows: float) -> str:
    """Return whether weaker dependences hide below what these rows can show."""
    others = evidence.n_tests - len(evidence.edges.pairs)
    if others <= 0:
        return "Every pair is an edge already."
    seen = int((evidence.others.log_p <= math.log(_STRIKING)).sum())
    chance = _STRIKING * others
    text = (
        f"Of the {others:,} pairs that are no edges, {seen:,} {'has' if seen == 1 else 'have'} a "
        f"p-value below {_STRIKING:g}; "
        f"chance alone gives about {chance:,.0f}. "
    )
    spread = math.sqrt(chance * (1 - _STRIKING))
    if seen > chance + 3 * max(spread, 1.0):
        return text + (
            f"So about {seen - chance:,.0f} weaker dependences are there that {rows:,.6g} rows "
            "cannot tell from chance one by one; more rows would bring some of them out, and so "
            "would a higher fdr. For predictions they count together: use goal='prediction'."
        )
    return text + "So few that they may all be chance."


def rows_needed(statistic: float, df: int, evidence: Evidence, rows: float) -> str:
    """Return at about how many rows a pair would be kept, if its dependence is as it looks.

    What a statistic exceeds its degrees of freedom by grows with the rows.
    """
    count = len(evidence.edges.pairs) + 1
    needed = float(chdtri(df, evidence.level * count / max(1, evidence.n_tests))) - df
    excess = statistic - df
    if excess <= 0 or needed <= excess:
        return ""
    return f", at about {_round(rows * needed / excess):,} rows"


def small(value: float) -> str:
    """Return a probability with two digits.

    Examples
    --------
    >>> small(0.0123), small(3.21e-7), small(0.0)
    ('0.012', '3.2e-07', 'below 1e-300')
    """
    return f"{value:.2g}" if value > 1e-300 else "below 1e-300"


def _round(value: float) -> int:
    """Return a number to two digits."""
    digits = max(0, len(str(int(value))) - 2)
    return int(round(int(value) / 10**digits) * 10**digits)
