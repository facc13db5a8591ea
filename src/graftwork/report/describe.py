"""Text about single values: certificates, exchanges, tying, missing cells, drawn rows.

`describe` makes the text of any of them, and of how lambda was chosen and of bootstraps.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import singledispatch
from typing import Any

from graftwork.data.missing import MISSING_STATE
from graftwork.datasets.mixing import Mixing
from graftwork.estimators.bootstrap import Bootstrap
from graftwork.estimators.missing import Advice, MissingCells
from graftwork.estimators.predictability import Predictability
from graftwork.grafting import Tally
from graftwork.grafting.certificate import Certificate
from graftwork.grafting.tying import Tying
from graftwork.models.explanation import Explanation
from graftwork.report.bootstrap import bootstrap_text
from graftwork.report.choice_text import choice_text, stop_text
from graftwork.report.explanation import explanation_text
from graftwork.report.predictability import predictability_text
from graftwork.selection import LambdaChoice
from graftwork.text import count, names, on_a_line, sentence, verb


@singledispatch
def describe(value: Any) -> str:
    """Return what a result says, in plain sentences.

    Parameters
    ----------
    value : Certificate, LambdaChoice, Tally, Tying, MissingCells, Mixing, Bootstrap, Predictability
        or Explanation: ``certificate_``, ``choice_``, ``exchange_``, ``tying_``, ``missing_``,
        ``bootstrap_`` or ``predictability_`` of a network, ``mixing`` of drawn rows, or what
        ``explain`` of a chain returned.

    Examples
    --------
    >>> describe(Mixing("exact", 500))
    '500 rows were drawn exactly and independently.'
    """
    raise TypeError(
        f"there is no text about an object of type {type(value).__name__}; describe takes "
        "certificate_, choice_, exchange_, tying_, missing_, bootstrap_ and predictability_ of a "
        "network, the mixing of drawn rows, and explanations of a chain. Networks and estimates "
        "have summary()."
    )


@describe.register
def certificate_text(certificate: Certificate) -> str:
    """Return how close to optimal a network is, and how much of that was checked."""
    parts = [_verdict(certificate), _tested(certificate), _stationary(certificate)]
    if certificate.n_barred:
        barred = count(certificate.n_barred, "pair")
        may = verb(certificate.n_barred, "may not be an edge", "may not be edges")
        parts.append(f"Not tested: {barred} that {may}.")
    return " ".join([*parts, _exactness(certificate)])


def endless_text(edges: Sequence[tuple[Any, Any]]) -> str:
    """Return that some edges have no finite optimum.

    Examples
    --------
    >>> endless_text([("a", "b")]).split(":")[0]
    'a - b has no finite optimum'
    """
    shown = names([f"{on_a_line(a)} - {on_a_line(b)}" for a, b in edges])
    return (
        f"{shown} {verb(len(edges), 'has', 'have')} no finite optimum: some states never occur "
        "together, and nothing penalises the table. Its weights end where the solver stops; "
        "penalty_options={'l2': 0.01} makes them finite."
    )


def _verdict(certificate: Certificate) -> str:
    if not certificate.converged and _holds(certificate):
        return f"Optimal within {certificate.tolerance:g}; what was to follow ended early: " + (
            f"{_reason(certificate)}."
        )
    if not certificate.converged:
        return f"Not certified optimal: {_reason(certificate)}."
    if certificate.exact:
        return f"Optimal within {certificate.tolerance:g}."
    return f"Optimal within {certificate.tolerance:g}, as far as approximate inference can tell."


def _holds(certificate: Certificate) -> bool:
    """Return whether a run that was stopped had solved its problem, exactly and everywhere."""
    stopped = certificate.stop in ("interrupted", "seconds", "evaluations", "rounds", "tests")
    everywhere = certificate.n_tested == certificate.n_inactive and certificate.exact
    small = max(certificate.stationarity, certificate.max_violation) <= certificate.tolerance
    return stopped and everywhere and small


def _reason(certificate: Certificate) -> str:
    stop, stalled = certificate.stop, certificate.stop == "stalled" and not certificate.exact
    if stalled and (certificate.n_untrusted or not certificate.trusted):
        return "approximate inference did not converge, so that no step could be relied on"
    if stalled and certificate.stationarity <= certificate.tolerance:
        return (
            "activating pairs that violate by the rule for inactive pairs does not lower the "
            "loss, because the two approximate inference in different ways"
        )
    return stop_text(stop, certificate.noun)


def _tested(certificate: Certificate) -> str:
    unit, left_out = certificate.unit, certificate.n_inactive
    if left_out == 0:
        return f"No {unit} was left out."
    if certificate.n_tested == 0:
        return f"None of the {count(left_out, unit)} left out was tested at the final weights."
    if certificate.n_tested < left_out:
        return (
            f"{certificate.n_tested:,} of {count(left_out, unit)} left out "
            f"({certificate.coverage:.1%}) were tested at the final weights (largest violation "
            f"{certificate.max_violation:.2g})."
        )
    tested = f"All {left_out:,} {unit}s left out were"
    if left_out == 1:
        tested = f"The only {unit} left out was"
    return (
        f"{tested} tested at the final weights; {_violators(certificate)} (largest violation "
        f"{certificate.max_violation:.2g} at lambda {certificate.lam:.4g})."
    )


def _violators(certificate: Certificate) -> str:
    if certificate.max_violation <= certificate.tolerance:
        return "none violates"
    if certificate.stop == "searched":
        return f"more {certificate.noun}s would improve it further"
    return verb(certificate.n_inactive, "it still violates", "some still violate")


def _stationary(certificate: Certificate) -> str:
    noun, n = certificate.noun, certificate.n_edges
    if n == 0 and noun != "edge":
        return f"No {noun} is kept."
    kept = {0: "The variables' own potentials are", 1: f"The active {noun} is"}.get(
        n, f"The {n:,} active {noun}s are"
    )
    return f"{kept} stationary to {certificate.stationarity:.2g}."


def _exactness(certificate: Certificate) -> str:
    if certificate.exact:
        return "All these numbers are exact."
    text = f"Some of these numbers are approximate ({certificate.method or 'inference'})."
    if not certificate.trusted:
        return f"{text} The inference behind the final gradient did not converge, even damped."
    if certificate.n_untrusted:
        text += f" Inference did not converge in {count(certificate.n_untrusted, 'earlier round')}."
    return text


@describe.register
def exchange_text(tally: Tally) -> str:
    """Return what the exchanges of a search did, and why they ended.

    Examples
    --------
    >>> exchange_text(Tally("descent", 4, 4, 9, 3, first=2.0, best=1.0, ended="seconds"))
    '9 exchanges were tried and 3 of them kept; the objective fell from 2 to 1. The search ended
    because the time budget was reached.'
    """
    text = sentence(_exchanges(tally))
    if tally.best < tally.first:
        text += f"; the objective fell from {tally.first:.6g} to {tally.best:.6g}"
    text += "."
    if tally.cycles:
        others = count(tally.cycles, "other")
        text += f" {others} would have led back to edges tried before."
    if tally.restarts:
        restarts = count(tally.restarts, "random restart")
        text += f" There {verb(tally.restarts, 'was', 'were')} {restarts}."
    if tally.ended is not None:
        text += f" The search ended because {_exchange_end(tally)}."
    if tally.wanted is None:
        text += " There are as many edges as at the start, since no number was asked for."
    elif tally.shortfall is not None:
        wanted = count(tally.wanted, "edge")
        text += f" It has fewer than the {wanted} asked for: {_shortfall(tally)}."
    return text


def _exchanges(tally: Tally) -> str:
    """Return what was done."""
    if not (tally.rounds or tally.proposals):
        return "no edges were exchanged"
    made, drawn = count(tally.accepted, "exchange"), count(tally.proposals, "deletion")
    tried = tally.rounds - tally.cycles
    if tally.rule == "rejection":
        return (
            f"{made} {verb(tally.accepted, 'was', 'were')} made, for which {drawn} "
            f"{verb(tally.proposals, 'was', 'were')} drawn"
        )
    if tally.rule == "mcmc":
        proposed = count(tally.proposals, "exchange")
        were = verb(tally.proposals, "was", "were")
        return f"{proposed} of one edge {were} proposed and {tally.accepted:,} of them accepted"
    were = verb(tried, "was", "were")
    return f"{count(tried, 'exchange')} {were} tried and {tally.accepted:,} of them kept"


def _exchange_end(tally: Tally) -> str:
    """Return why the exchanges ended, as a clause."""
    limit = tally.limit or 0
    if tally.ended == "local-optimum":
        return f"exchanging any of its {limit} cheapest edges did not improve it"
    if tally.ended == "rounds-used":
        return f"the limit of {count(limit, 'round')} from one start was reached"
    if tally.ended == "all-rejected":
        return (
            f"none of {count(limit, 'deletion')} drawn at random was accepted: the mean likelihood "
            f"of a row is only exp({-tally.row_loss:.3g})"
        )
    if tally.ended == "nothing-to-exchange" or tally.ended is None:
        return "there is nothing to exchange"
    return stop_text(tally.ended)


def _shortfall(tally: Tally) -> str:
    """Return why there are fewer edges than asked for, as a clause."""
    if tally.shortfall == "no-improvement" or tally.shortfall is None:
        return "no further pair improves it"
    if tally.shortfall == "no-pairs":
        return "there are no more pairs of variables that vary"
    return stop_text(tally.shortfall)


@describe.register
def tying_text(tying: Tying) -> str:
    """Return how many values the weights share, and what that costs."""
    weights = count(tying.n_weights, "weight")
    if not tying.rounds:
        return f"Nothing needed tying: {weights} {verb(tying.n_weights, 'suffices', 'suffice')}."
    rise = tying.loss_after - tying.loss_before
    told = tying.loss_before > 0 and abs(rise) >= 5e-5 * tying.loss_before
    share = f" ({rise / tying.loss_before:+.2%})" if told else ""
    before, after = tying.n_bytes
    rest = ", the others are zero" if tying.n_weights < tying.potentials.layout.size else ""
    return (
        f"{weights} {verb(tying.n_weights, 'takes', 'take')} {count(len(tying.values), 'value')}"
        f"{rest}: {count(tying.bits, 'bit')} instead of 64 for each number, "
        f"{after:,} bytes instead of {before:,} for all numbers and their values (names, states "
        "and edges not counted). On the rows learned from, the loss is "
        f"{tying.loss_after:.6g} instead of {tying.loss_before:.6g}{share}."
    )


def _draws(missing: MissingCells, few: float, many: float) -> str:
    """Return how often cells were drawn, and what that means for tests (docs/missing.md).

    ``few`` and ``many`` are the factors by which p-values of two seeds typically differ.
    """
    if missing.lost is None:
        return "They are drawn once, so results depend on random_state."
    lost = (
        f"tests say so: {missing.lost:.0%} of the information about an edge (the median) is missing"
    )
    if missing.draws == 1:
        return (
            f"They are drawn once, and {lost}. Results depend on random_state: learn with several "
            "seeds, and rely on those edges near the limit that most of them find."
        )
    return (
        f"They are drawn {missing.draws} times, and {lost}. P-values still depend on random_state: "
        f"between seeds typically by a factor of {few:g} with 5 % of the cells missing, of "
        f"{many:g} with 20 %."
    )


@describe.register
def missing_text(missing: MissingCells) -> str:
    """Return what was done about missing cells; an empty text if nothing was missing.

    Examples
    --------
    >>> missing_text(MissingCells("drop-rows", 3, 2, 10))
    '2 of 10 rows were left out because 3 cells are missing.'
    """
    if not missing.cells:
        return ""
    cells = _missing_cells(missing)
    rows = f"{missing.rows:,} of {count(missing.of_rows, 'row')}"
    if missing.policy == "drop-rows":
        return f"{rows} {verb(missing.rows, 'was', 'were')} left out because {cells}."
    where = f"{cells} in {rows}"
    if missing.policy == "state":
        return f"{where}: missing is a state of its own, {MISSING_STATE}."
    if missing.policy == "impute" and missing.drawn:
        more = _draws(missing, 3, 9)
        return f"{where}: their states were drawn from networks learned before. {more}"
    neighbour, more = "its average", ""
    if missing.drawn:
        neighbour = "a state drawn from the network given the rest of its row"
        more = f" {_draws(missing, 2, 4)}"
    return (
        f"{where}: the observed cells of these rows are learned from, and a missing neighbour "
        f"counts as {neighbour}.{more}"
    )


def advice_text(advice: Advice) -> str:
    """Return how much is missing where nothing was said about that, and what is recommended."""
    found = advice.found
    return (
        f"{_missing_cells(found)} in {found.rows:,} of {count(found.of_rows, 'row')}, which is "
        f"refused unless you say what to do. Recommended is missing={advice.policy!r}, "
        f"{advice.why}; this estimate is for that."
    )


def _missing_cells(missing: MissingCells) -> str:
    return f"{count(missing.cells, 'cell')} {verb(missing.cells)} missing"


@describe.register
def mixing_text(mixing: Mixing) -> str:
    """Return how rows were drawn, and whether the chains they come from have mixed."""
    rows = count(mixing.n_rows, "row")
    if mixing.method == "exact":
        return f"{rows} {verb(mixing.n_rows, 'was', 'were')} drawn exactly and independently."
    verdict = "have mixed" if mixing.ok else "have not mixed"
    again = f", after {count(mixing.attempts, 'attempt')}" if mixing.attempts > 1 else ""
    return (
        f"{rows} {verb(mixing.n_rows, 'comes', 'come')} from "
        f"{count(mixing.n_chains, 'Gibbs chain')} ({count(mixing.burn_in, 'sweep')} of burn-in, "
        f"one draw every {count(mixing.thin, 'sweep')}{again}), which {verdict}: the largest R-hat "
        f"is {mixing.rhat:.3f} ({mixing.worst}; at most {mixing.limit:g} passes), the smallest "
        f"effective number of draws {mixing.ess:,.0f} of {mixing.n_chains * mixing.n_draws:,}."
    )


describe.register(LambdaChoice, choice_text)
describe.register(Bootstrap, bootstrap_text)
describe.register(Predictability, predictability_text)
describe.register(Explanation, explanation_text)
