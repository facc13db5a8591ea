"""Columns that are hardly meant to be learned from: identifiers, free text, ungrouped numbers."""

from __future__ import annotations

import re
import warnings
from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from graftwork.data.answer_codes import MANY_STATES, code_states, written
from graftwork.data.columns import level_of_caller
from graftwork.data.missing import MISSING_STATE
from graftwork.data.placed import AnyTable
from graftwork.data.table import Table
from graftwork.data.text import as_numbers, is_number
from graftwork.data.values import listing
from graftwork.errors import DataError, DataWarning
from graftwork.text import cut

# Least share of the rows whose state no other row has: of identifiers, and of free text (other rows
# of which may say "none"), whose median state has at least WORDS words.
OWN_STATES = 0.5
OWN_TEXTS, WORDS = 0.1, 3
# With a larger mean weight, rows are not single observations.
HEAVY = 2.0
# Whole weights of a larger mean may be meant as sampling weights. If they were counts, and as many
# times more rows were possible than there are, most would be 1.
EXPANDED, MANY_CELLS = 10.0, 100.0
# Largest share of other texts among the states of a column that was meant to hold numbers.
OTHER_TEXTS = 0.2
# Levels that ordered answers have; and that columns have at most which are taken as such.
FEWEST_ANSWERS, MOST_ANSWERS, MOST_TAKEN = 3, 10, 7
_SHOWN, _LISTED, _TEXT_SHOWN = 5, 40, 60
# What people write where there is no answer; and codes that stand for it, beside answers from 0 or
# 1 on or beside numbers that are at most half as large.
NO_ANSWER = re.compile(
    r"(i )?(don'?t know|do not know|dk)|no (answer|response|opinion|data)|not (answered|applicable|"
    r"asked|stated|known|sure)|prefer not.*|refus(ed|al|es)|declined( to .*)?|unknown|missing|"
    r"skipped|can'?t say|n\.?a\.?|wei(ß|ss) nicht|keine angabe|ne sait pas|no sabe|no contesta"
)
# Numbers as they are written with decimal commas.
_COMMAS = re.compile(r"[+-]?\d*,\d+")
# Marks of empty cells, where a column has few states.
_EMPTY = re.compile(r"[?.]+")


def lone_columns(table: AnyTable) -> tuple[Hashable, ...]:
    """Return the columns that have a state of their own in most rows, or are free text.

    Columns of floats are not among them: `as_table` tells of continuous ones.
    """
    return _lone_columns(table, _counts(table))


def _lone_columns(table: AnyTable, counts: Iterable[Any]) -> tuple[Hashable, ...]:
    if table.total_weight > HEAVY * table.n_rows:
        return ()
    return lone_by_counts(table.names, table.states, counts)


def lone_by_counts(
    names: Sequence[Hashable], states: Sequence[Sequence[Hashable]], rows: Iterable[Any]
) -> tuple[Hashable, ...]:
    """Return those columns by how many rows each state has, that of missing cells left out.

    Examples
    --------
    >>> lone_by_counts(["id", "sex"], [range(30), (0, 1)], [np.ones(30), np.array([15, 15])])
    ('id',)
    """
    found = []
    for name, listed, counts in zip(names, states, rows, strict=True):
        if len(listed) < MANY_STATES or any(isinstance(state, float) for state in listed):
            continue
        alone = np.count_nonzero(counts == 1) / max(counts.sum(), 1)
        if np.count_nonzero(counts) < MANY_STATES or alone < OWN_TEXTS:
            continue
        if alone >= OWN_STATES or _words(listed) >= WORDS:
            found.append(name)
    return tuple(found)


def number_columns(table: AnyTable) -> dict[Hashable, int]:
    """Return the columns of many different numbers, and how many these are."""
    return _number_columns(table, _counts(table))


def _number_columns(table: AnyTable, rows: Iterable[Any]) -> dict[Hashable, int]:
    found = {}
    for name, states, counts in zip(table.names, table.states, rows, strict=True):
        if len(states) > MANY_STATES and all(map(_is_number, states)):
            seen = int(np.count_nonzero(counts))
            if seen > MANY_STATES:
                found[name] = seen
    return found


def text_number_columns(table: AnyTable) -> dict[Hashable, tuple[str, ...]]:
    """Return the columns of numbers that other texts keep from being numbers, and these texts."""
    found = {}
    for name, states in zip(table.names, table.states, strict=True):
        texts = [state for state in states if isinstance(state, str) and state != MISSING_STATE]
        if len(texts) <= MANY_STATES or len(texts) < len(states) - (MISSING_STATE in states):
            continue
        others = tuple(text for text in texts if not is_number(text))
        if 0 < len(others) <= OTHER_TEXTS * len(texts) and not _with_commas(texts):
            found[name] = others
    return found


def comma_columns(
    names: Sequence[Hashable], states: Sequence[Sequence[Hashable]]
) -> dict[Hashable, str]:
    """Return the columns of many numbers with decimal commas, and one such number.

    Examples
    --------
    >>> comma_columns(["a", "b"], [[f"1,{k}" for k in range(30)], ["1,5", "2"]])
    {'a': '1,0'}
    """
    many = {n: own for n, own in zip(names, states, strict=True) if len(own) >= MANY_STATES}
    found = {name: _with_commas(own) for name, own in many.items()}
    return {name: text for name, text in found.items() if text}


def _with_commas(states: Sequence[Hashable]) -> str:
    """Return the first number with a decimal comma; none unless all other states are numbers."""
    first = ""
    for state in states:
        if state == MISSING_STATE:
            continue
        if not isinstance(state, str):
            return ""
        if _COMMAS.fullmatch(state):
            first = first or state
        elif not is_number(state):
            return ""
    return first


def answer_columns(table: AnyTable) -> tuple[Hashable, ...]:
    """Return the columns that look like ordered answers, and are not taken as ordered.

    These have 3 to 10 whole numbers, one after the other from 0 or 1 on, or around 0.
    """
    known = {} if table.ordered is None else table.ordered.scores
    found = []
    for name, states in zip(table.names, table.states, strict=True):
        levels = as_numbers([state for state in states if state != MISSING_STATE]) or []
        if name in known or not FEWEST_ANSWERS <= len(levels) <= MOST_ANSWERS:
            continue
        if _without_gap(levels):
            found.append(name)
    return tuple(found)


def items(table: AnyTable) -> tuple[Hashable, ...]:
    """Return the columns of whole numbers where all columns look like items of a questionnaire.

    All that have more than two states, and no known order, hold three to seven whole numbers, and
    together these are the numbers from 0 or 1 on, or around 0, without a gap.
    """
    known = {} if table.ordered is None else table.ordered.scores
    found, numbers = [], set[float]()
    for name, states in zip(table.names, table.states, strict=True):
        levels = [state for state in states if state != MISSING_STATE]
        if name not in known and len(levels) >= FEWEST_ANSWERS:
            own = as_numbers(levels)
            if own is None:
                return ()
            found.append(name)
            numbers.update(own)
    if not FEWEST_ANSWERS <= len(numbers) <= MOST_TAKEN or not _without_gap(list(numbers)):
        return ()
    return tuple(found)


def _without_gap(levels: Sequence[float]) -> bool:
    """Return whether numbers are the whole numbers from 0 or 1 on, or around 0."""
    if not all(level == int(level) for level in levels):
        return False
    low, high = min(levels), max(levels)
    return bool(high - low == len(levels) - 1 and (low in (0, 1) or low == -high))


def missing_codes(table: AnyTable) -> dict[Hashable, tuple[Hashable, ...]]:
    """Return the columns of answers or numbers with states that look like missing answers.

    These are texts such as "don't know" among numbers, or in an ordered column, codes such as 9, 99
    or -1 among answers from 1 to 5, or 999 among ages, and "?" or "." among few states.
    """
    return _missing_codes(table, _counts(table))


def _missing_codes(table: AnyTable, rows: Iterable[Any]) -> dict[Hashable, tuple[Hashable, ...]]:
    ordered = {} if table.ordered is None else table.ordered.scores
    found: dict[Hashable, tuple[Hashable, ...]] = {}
    for name, states, counts in zip(table.names, table.states, rows, strict=True):
        seen = [state for state, times in zip(states, counts, strict=True) if times]
        texts = [state for state in seen if isinstance(state, str) and not is_number(state)]
        told = [text for text in texts if NO_ANSWER.fullmatch(_spoken(text))]
        numbers = [state for state in seen if state not in texts]
        empty = [text for text in texts if _EMPTY.fullmatch(text)]
        if told and (name in ordered or (len(told) == len(texts) and numbers)):
            found[name] = tuple(told)
        elif empty and len(empty) < len(seen) <= MANY_STATES:
            found[name] = tuple(empty)
        elif not texts and all(_is_number(state) for state in seen):
            gone = code_states([state for state in seen if isinstance(state, int | float)])
            if gone:
                found[name] = gone
    return found


def _spoken(text: str) -> str:
    """Return a text without what is written around and differently: cases, quotes, brackets."""
    return text.casefold().replace("\u2019", "'").strip(" .()[]<>*-")


def _is_number(state: Hashable) -> bool:
    """Return whether a state is a number, or that of missing cells."""
    if state == MISSING_STATE:
        return True
    return isinstance(state, int | float) and not isinstance(state, bool)


def column_remarks(table: AnyTable) -> tuple[str, ...]:
    """Return sentences about columns that learning will not profit from as they are."""
    counts = list(_counts(table))
    commas = comma_columns(table.names, table.states)
    lone = [name for name in _lone_columns(table, counts) if name not in commas]
    numbers = {name: n for name, n in _number_columns(table, counts).items() if name not in lone}
    gone = {name: own for name, own in _missing_codes(table, counts).items() if name not in lone}
    texts = {n: own for n, own in text_number_columns(table).items() if n not in gone}
    found = [_lone_words(lone), _comma_words(commas), _number_words(numbers)]
    return tuple(filter(None, [*found, _text_number_words(texts), *_code_words(table, gone)]))


def order_remarks(table: AnyTable) -> tuple[str, ...]:
    """Return what there is to say about the order of columns that nothing was said about."""
    taken = None if table.ordered is None else table.ordered.taken
    if taken == ():
        return ()
    if taken:
        one = len(taken) == 1
        return (
            f"{listing(taken, _SHOWN)} {'holds' if one else 'hold'} a few whole numbers, and "
            f"{'is' if one else 'are'} taken as ordered. If these are codes of categories, "
            "ordinal=False says so.",
        )
    names = answer_columns(table)
    if not names:
        return ()
    one, every = len(names) == 1, len(names) == table.n_variables
    if every and not one:
        which, option = f"All {len(names)} columns", "ordinal=True"
    else:
        texts = [str(name) for name in names]
        some = ", ".join(texts[:_SHOWN])
        which = some + f" and {len(texts) - _SHOWN} more" * (len(texts) > _SHOWN)
        listed = f"ordinal={list(names)!r}"
        option = listed if len(names) <= _LISTED else "ordinal, with their names,"
    verb, each = ("has", "") if one else ("have", " each")
    return (
        f"{which} {verb} a few whole numbers{each}, which are taken as states without an order. If "
        f"they are ordered answers, {option} says so, and gives edges between them a sign.",
    )


def warn_of_columns(table: AnyTable) -> None:
    """Warn of columns that are almost certainly there by mistake, and of weights that may be.

    A table of one such column of texts is refused.
    """
    warn_of_lone(lone_columns(table), table.names, table.states)
    for words in weight_remarks(table):
        warnings.warn(words, DataWarning, stacklevel=level_of_caller())


def weight_remarks(table: AnyTable) -> tuple[str, ...]:
    """Return what there is to say about whole weights that stand for far more rows.

    Nothing of tables in which each row is there once: these are counts. In a table of many columns
    it may be that no two rows are equal; then weights without a 1 are no counts.

    Examples
    --------
    >>> from graftwork.data import Table
    >>> weight_remarks(Table(("a",), ((0, 1),), [[0, 1, 1]], [30, 20, 25]))
    ('The row weights are whole numbers, so 3 rows count as 75...',)
    >>> weight_remarks(Table(("a",), ((0, 1),), [[0, 1]], [30, 45]))
    ()
    """
    if not isinstance(table, Table) or table.weights is None or table.squares is not None:
        return ()
    if table.total_weight <= EXPANDED * table.n_rows:
        return ()
    codes, weights = table.codes[:, table.weights > 0], table.weights[table.weights > 0]
    twice = len(np.unique(codes, axis=1).T) < len(weights)
    cells = np.log(np.maximum(table.cards, 1)).sum()
    if not twice and (weights.min() == 1.0 or cells < np.log(MANY_CELLS * table.total_weight)):
        return ()
    return (
        f"The row weights are whole numbers, so {table.n_rows:,} rows count as "
        f"{table.total_weight:,.0f}, which makes p-values that much smaller. If these are sampling "
        "weights, divide them by their mean: weights that are not whole are taken as such.",
    )


def warn_of_lone(
    names: Sequence[Hashable],
    every: Sequence[Hashable],
    states: Sequence[Sequence[Hashable]],
) -> None:
    """Warn of columns that have a state of their own in most rows, or decimal commas.

    Refuse a table that is one such column of texts, or one that holds several columns.
    """
    if len(every) == 1 and isinstance(states[0][0], str) and (names or _joined(every, states)):
        name, one = cut(repr(every[0]), _TEXT_SHOWN), cut(repr(states[0][0]), _TEXT_SHOWN)
        raise DataError(
            f"there is one column only, {name}, with {len(states[0]):,} different texts, such as "
            f"{one}: {_guess([str(state) for state in states[0]])}."
        )
    commas = comma_columns(every, states)
    for words in (
        _lone_words([name for name in names if name not in commas]),
        _comma_words(commas),
    ):
        if words:
            warnings.warn(words, DataWarning, stacklevel=level_of_caller())


def _joined(names: Sequence[Hashable], states: Sequence[Sequence[Hashable]]) -> bool:
    """Return whether spaces part a column's name and its states into equally many words.

    Examples
    --------
    >>> _joined(["age  sex"], [["17 m", "18 w"]]), _joined(["answer"], [["not good", "very good"]])
    (True, False)
    """
    words = {len(str(text).split()) for text in (*names, *states[0])}
    return len(words) == 1 and words != {1}


def _guess(texts: Sequence[str]) -> str:
    """Return what a column of different texts may be, and what to do.

    Examples
    --------
    >>> _guess(["a 1", "b 2"]), _guess(["ACGT", "ACGA"])[:33]
    ("spaces seem to part its cells, which sep=' ' says", 'these seem to be aligned sequence')
    """
    words, sizes = {len(text.split()) for text in texts}, {len(text) for text in texts}
    if len(words) == 1 and words != {1}:
        return "spaces seem to part its cells, which sep=' ' says"
    if words == {1} and len(sizes) == 1 and all(text.isalpha() for text in texts):
        return (
            "these seem to be aligned sequences: make a table with a row for each and a column for "
            "each position"
        )
    return (
        "this seems to be free text or a list of names, or sep is not what parts its cells; a "
        "table with a column for each variable is needed"
    )


def _lone_words(names: Sequence[Hashable]) -> str:
    """Return what to do about columns with a state of their own in most rows."""
    if not names:
        return ""
    one = len(names) == 1
    return (
        f"Column{'s'[: not one]} {listing(names, _SHOWN)} {'has' if one else 'have'} a value of "
        f"{'its' if one else 'their'} own in many rows, as identifiers and free text do, so there "
        f"is nothing to learn from {'it' if one else 'them'}: leave {'it' if one else 'them'} out "
        f"(drop={list(names[:_SHOWN])!r} when a file is read), or group the values."
    )


def _comma_words(columns: dict[Hashable, str]) -> str:
    """Return what to do about numbers with decimal commas."""
    if not columns:
        return ""
    one, text = len(columns) == 1, next(iter(columns.values()))
    return (
        f"The cells of column{'s'[: not one]} {listing(list(columns), _SHOWN)} look like numbers "
        f"with decimal commas, such as {text!r}, and are taken as texts: write them with points "
        "(pandas.read_csv reads them as numbers with decimal=','), and group them with bins=7."
    )


def _number_words(numbers: dict[Hashable, int]) -> str:
    """Return what to do about columns of many numbers."""
    if not numbers:
        return ""
    some = [f"{name} ({n:,})" for name, n in numbers.items()]
    text = ", ".join(some[:_SHOWN]) + (f" and {len(some) - _SHOWN} more" * (len(some) > _SHOWN))
    return (
        f"Many different numbers, each taken as a state of its own: {text}. "
        "bins=7 groups them, which leaves more rows for each state."
    )


def _text_number_words(columns: dict[Hashable, tuple[str, ...]]) -> str:
    """Return what to do about numbers with other texts among them."""
    if not columns:
        return ""
    name, others = next(iter(columns.items()))
    also = [str(each) for each in list(columns)[1:_SHOWN]]
    more = f" (so {'do' if len(also) > 1 else 'does'} {', '.join(also)})" if also else ""
    return (
        f"Column {name!r} holds numbers and {listing(others, 3)}{more}, so all are taken as texts: "
        f"if that means a missing cell, missing_values={list(others[:3])!r} says so when a file is "
        "read."
    )


def _code_words(table: AnyTable, columns: dict[Hashable, tuple[Hashable, ...]]) -> list[str]:
    """Return what to do about states that look like missing answers, alike columns together."""
    alike: defaultdict[tuple[Hashable, ...], list[Hashable]] = defaultdict(list)
    for name, codes in columns.items():
        alike[codes].append(name)
    out = []
    for codes, names in alike.items():
        texts = [written(code) for code in codes]
        others = [
            states
            for name, states in zip(table.names, table.states, strict=True)
            if name not in names
        ]
        everywhere = len(names) > 1 and not any(
            written(state) in texts for states in others for state in states
        )
        which = {None: texts} if everywhere else dict.fromkeys(names[:_SHOWN], texts)
        one = len(names) == 1
        some = listing(names, _SHOWN)
        what = "looks like no answer" if len(codes) == 1 else "look like no answers"
        means = "it means a missing cell" if len(codes) == 1 else "they mean missing cells"
        out.append(
            f"Column{'s'[: not one]} {some} {'has' if one else 'have'} {', '.join(texts)} among "
            f"other answers, which {what}, but {'is a state' if len(codes) == 1 else 'are states'} "
            f"like any other: if {means}, missing_values={which!r} says so when a file is read (in "
            "a frame, put NaN there)."
        )
    return out


def _counts(table: AnyTable) -> Iterator[Any]:
    """Yield how many rows each state of a variable has, that of missing cells left out."""
    for states, counts in zip(table.states, table.row_counts, strict=True):
        if MISSING_STATE in states:
            counts = counts.copy()
            counts[states.index(MISSING_STATE)] = 0
        yield counts


def _words(states: Sequence[Hashable]) -> float:
    """Return how many words a state has, the middle one of them; 0 where some are no text."""
    if not all(isinstance(state, str) for state in states):
        return 0.0
    return float(np.median([len(str(state).split()) for state in states]))
