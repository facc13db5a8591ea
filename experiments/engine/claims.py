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

Verdict = Literal["reproduced", "differs", "not comparable", "cannot be", "not run"]
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
    """A claim with its verdict: what is claimed, what was printed, what was found, and why.

    ``threshold`` says what had to hold for "reproduced".
    """

    what: str
    printed: str
    ours: str
    verdict: Verdict
    because: str = ""
    threshold: str = ""


@dataclass(frozen=True, slots=True)
class Row:
    """What a paper says, and what makes it reproduced.

    Attributes
    ----------
    what, printed, ours : str
        Figure or table and what is claimed; the paper's value or words; how ours are told.
    holds : sequence of conditions
        All of them must hold; where a value is None the claim was not run. The page prints them, so
        that the values need readable names.
    because : sequence of clauses
        Why it differs, if it does.
    incomparable : sequence of clauses
        Why neither verdict would mean anything: another size, other settings, a run that a budget
        ended.
    """

    what: str
    printed: str
    ours: str
    holds: Sequence[Condition]
    because: Sequence[str] = ()
    incomparable: Sequence[str] = ()


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
    Claim(what='Table 1', ..., verdict='differs', because='4 pairs tie', threshold='n = 12')
    >>> judge(row, {"n": None}).verdict
    'not run'
    """
    what, printed = row.what.format_map(values), row.printed.format_map(values)
    needed = "; ".join(_words(condition, values) for condition in row.holds)
    answers = [_answer(condition, values) for condition in row.holds]
    if None in answers or not _known(row.ours, values):
        return Claim(what, printed, "", "not run", "", needed)
    ours, other = row.ours.format_map(values), clauses(row.incomparable, values)
    if other:
        return Claim(what, printed, ours, "not comparable", other, needed)
    if all(answers):
        return Claim(what, printed, ours, "reproduced", "", needed)
    return Claim(what, printed, ours, "differs", clauses(row.because, values), needed)


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


def _words(condition: Condition, values: Values) -> str:
    """Return a condition in words.

    Examples
    --------
    >>> _words(("lead.times", ">=", 5.0), {}), _words(("edges", "<", "most[n]"), {"most": {"n": 9}})
    ('lead times >= 5', 'edges < 9 (most n)')
    >>> _words(("ended", "==", True), {})
    'ended'
    """
    name, relation, bound = condition
    known = _value(bound, values) if isinstance(bound, str) else bound
    if relation == "==" and known is True:
        return _plain(name)
    told = f"{known:.4g}" if isinstance(known, float) else str(known)
    if isinstance(bound, str):
        told = _plain(bound) if known is None else f"{told} ({_plain(bound)})"
    return f"{_plain(name)} {'=' if relation == '==' else relation} {told}"


def _plain(field: str) -> str:
    return " ".join(field.replace("_", " ").replace(".", " ").replace("[", " ").split("]")).strip()


def _value(field: str, values: Values) -> Any:
    """Return a value by its name, which may end in keys and attributes; None if it is not known."""
    known = values.get(field.split(".")[0].split("[")[0]) is not None
    return Formatter().get_field(field, (), values)[0] if known else None


def _known(text: str, values: Values) -> bool:
    """Return whether every value that a template names is known."""
    fields = (field for _, field, _, _ in Formatter().parse(text) if field is not None)
    return all(_value(field, values) is not None for field in fields)
