"""A claim of a paper is a row of data; one function judges it by what was measured.

Texts of a row are templates over the measured values. A clause is left out where a value that it
names is None, so what is known decides which reasons are given.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from string import Formatter
from typing import Any, Literal, NamedTuple

Verdict = Literal["reproduced", "differs", "cannot be", "not run"]
Values = Mapping[str, Any]
#: A value, how it must compare, and a number or another value, named as in a template.
Condition = tuple[str, str, Any]

_COMPARE: dict[str, Callable[[Any, Any], Any]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
}


@dataclass(frozen=True, slots=True)
class Claim:
    """A claim with its verdict: what is claimed, what was printed, what was found, and why."""

    what: str
    printed: str
    ours: str
    verdict: Verdict
    because: str = ""


@dataclass(frozen=True, slots=True)
class Row:
    """What a paper says, and what makes it reproduced.

    Attributes
    ----------
    what, printed, ours : str
        Figure or table and what is claimed; the paper's value or words; how ours are told.
    holds : sequence of conditions
        All of them must hold; where a value is None the claim was not run.
    because : sequence of clauses
        Why it differs, if it does.
    unless : sequence of clauses
        What forbids calling it reproduced even if it holds, such as a run that a limit stopped.
    """

    what: str
    printed: str
    ours: str
    holds: Sequence[Condition]
    because: Sequence[str] = ()
    unless: Sequence[str] = ()


class Span(NamedTuple):
    """The least and the largest of some values, written once where they look the same.

    Examples
    --------
    >>> f"{Span(3, 3)}, {Span(1.0, 2.0):.1f}"
    '3, 1.0 to 2.0'
    """

    low: Any
    high: Any

    def __format__(self, form: str) -> str:
        low, high = format(self.low, form), format(self.high, form)
        return low if low == high else f"{low} to {high}"


def span(values: Iterable[Any]) -> Span:
    """Return the range of some values."""
    known = list(values)
    return Span(min(known), max(known))


def judge(row: Row, values: Values) -> Claim:
    """Return a row's claim with its verdict.

    Examples
    --------
    >>> row = Row("Table 1", "12 edges", "{n} edges", [("n", "==", 12)], ["{ties} pairs tie"])
    >>> judge(row, {"n": 15, "ties": 4})
    Claim(what='Table 1', printed='12 edges', ours='15 edges', verdict='differs', because='4 ...')
    >>> judge(row, {"n": None}).verdict
    'not run'
    """
    what, printed = row.what.format_map(values), row.printed.format_map(values)
    answers = [_answer(condition, values) for condition in row.holds]
    if None in answers or not _known(row.ours, values):
        return Claim(what, printed, "", "not run")
    ours, stopped = row.ours.format_map(values), clauses(row.unless, values)
    if all(answers) and not stopped:
        return Claim(what, printed, ours, "reproduced")
    reasons = [stopped] if all(answers) else [clauses(row.because, values), stopped]
    return Claim(what, printed, ours, "differs", "; ".join(filter(None, reasons)))


def judge_all(rows: Iterable[Row], values: Values) -> list[Claim]:
    """Return the claims of rows about the same values."""
    return [judge(row, values) for row in rows]


def clauses(texts: Iterable[str], values: Values, between: str = "; ") -> str:
    """Return the clauses all of whose values are known, joined.

    Examples
    --------
    >>> clauses(["{a} runs", "{b:.1f} s"], {"a": None, "b": 2.0})
    '2.0 s'
    """
    return between.join(text.format_map(values) for text in texts if _known(text, values))


def _answer(condition: Condition, values: Values) -> bool | None:
    """Return whether a condition holds, None where a value is not known."""
    name, relation, bound = condition
    value, other = _value(name, values), _value(bound, values) if isinstance(bound, str) else bound
    return None if value is None or other is None else bool(_COMPARE[relation](value, other))


def _value(field: str, values: Values) -> Any:
    """Return a value by its name, which may end in keys and attributes; None if it is not known."""
    known = values.get(field.split(".")[0].split("[")[0]) is not None
    return Formatter().get_field(field, (), values)[0] if known else None


def _known(text: str, values: Values) -> bool:
    """Return whether every value that a template names is known."""
    fields = (field for _, field, _, _ in Formatter().parse(text) if field is not None)
    return all(_value(field, values) is not None for field in fields)
