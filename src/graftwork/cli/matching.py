"""Text from files and options, as names and states of a model.

A file or a shell knows only text, while a state may be the int 1, the text "1" or True: here a
text finds the state that is written like it.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graftwork.cli.options import Header, missing_texts
from graftwork.errors import DataError, DataWarning

if TYPE_CHECKING:
    from graftwork.data import Table
    from graftwork.data.columns import Raw
    from graftwork.data.scanning import StoredTable
    from graftwork.models import PairwiseMRF

Meanings = Mapping[Any, Mapping[Any, str]]

#: What a missing cell is called where it is a state, as `graftwork.data.missing` has it.
MISSING_STATE = "(missing)"
#: Names and options that are listed when one was wrong.
_LISTED = 20


def match_text(text: str, known: Sequence[Any], words: Mapping[Any, str] | None = None) -> Any:
    """Return the position of the known value a text stands for, None if there is none.

    In this order: written exactly like it; the same number ("1" and 1.0); the same truth value
    ("true" and True); its word. A number finds the bin it is in.

    Examples
    --------
    >>> match_text("1", [0, 1]), match_text("1", ["0", "1"]), match_text("1", [0.0, 1.0])
    (1, 1, 1)
    >>> match_text("true", [False, True]), match_text("foul", ["f"], {"f": "foul"})
    (1, 0)
    """
    from graftwork.data.bins import bin_of

    written = [str(value) for value in known]
    if text in written:
        return written.index(text)
    place = bin_of(_number(text), tuple(known))
    if place >= 0:
        return place
    for position, value in enumerate(known):
        if isinstance(value, bool):
            if str(value).lower() == text.lower():
                return position
        elif isinstance(value, int | float) and value == _number(text):
            return position
    for position, value in enumerate(known):
        if words and words.get(value) == text:
            return position
    return None


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan


def find_variable(names: Sequence[Any], text: str) -> Any:
    """Return the variable a text names, or refuse with those that come close."""
    position = match_text(text, names)
    if position is not None:
        return names[position]
    raise DataError(f"there is no variable {text!r}{near(text, names, 'variables')}")


def find_state(model: PairwiseMRF, name: Any, text: str, meanings: Meanings | None = None) -> Any:
    """Return the state of a variable a text stands for, or refuse with those there are."""
    states = model.states[name]
    position = match_text(text, states, (meanings or {}).get(name))
    if position is not None:
        return states[position]
    raise DataError(f"{str(name)!r} has no state {text!r}{near(text, states, 'states')}")


def near(text: str, known: Sequence[Any], noun: str) -> str:
    """Return the end of a refusal: the known value that comes closest, and which there are."""
    from graftwork.data.values import listing, suggestion

    written = [str(value) for value in known]
    return f"{suggestion(text, written) or '.'} The {noun} are {listing(written, _LISTED)}."


def read_evidence(
    model: PairwiseMRF, given: Sequence[str] | None, meanings: Meanings | None = None
) -> dict[Any, Any]:
    """Return evidence from texts NAME=STATE.

    Examples
    --------
    >>> from graftwork.models import PairwiseMRF
    >>> read_evidence(PairwiseMRF({"a": [0, 1], "a=b": ["x", "y"]}), ["a=1", "a=b=x"])
    {'a': 1, 'a=b': 'x'}
    """
    evidence: dict[Any, Any] = {}
    for text in given or ():
        name, state = _split(
            text,
            "=",
            f"--given is {text!r}; write NAME=STATE.",
            lambda left: match_text(left, model.names) is not None,
            lambda left, right: _is_state(model, left, right, meanings),
        )
        name = find_variable(model.names, name)
        if name in evidence:
            raise DataError(f"--given names {str(name)!r} twice; once is enough.")
        evidence[name] = find_state(model, name, state, meanings)
    return evidence


def read_pair(model: PairwiseMRF, text: str) -> tuple[Any, Any]:
    """Return two variables from a text A,B.

    Examples
    --------
    >>> from graftwork.models import PairwiseMRF
    >>> read_pair(PairwiseMRF({"a": [0, 1], "b,c": [0, 1]}), "a,b,c")
    ('a', 'b,c')
    """
    return find_pair(model.names, text, ",", f"--pair is {text!r}; write two variables A,B.")


def find_pair(names: Sequence[Any], text: str, mark: str, sentence: str) -> tuple[Any, Any]:
    """Return two variables from a text with a mark between them; the sentence refuses others.

    Examples
    --------
    >>> find_pair(["a~b", "c"], "a~b~c", "~", "no pair")
    ('a~b', 'c')
    """
    first, second = _split(
        text,
        mark,
        sentence,
        lambda left: match_text(left, names) is not None,
        lambda left, right: match_text(right.strip(), names) is not None,
    )
    return find_variable(names, first), find_variable(names, second.strip())


def _is_state(model: PairwiseMRF, name: str, text: str, meanings: Meanings | None) -> bool:
    variable = find_variable(model.names, name)
    return match_text(text, model.states[variable], (meanings or {}).get(variable)) is not None


def _split(
    text: str,
    mark: str,
    sentence: str,
    known: Callable[[str], bool],
    fits: Callable[[str, str], bool],
) -> tuple[str, str]:
    """Return what is left and right of a mark; names and states may hold the mark themselves."""
    cuts = [(text[:k].strip(), text[k + 1 :]) for k, letter in enumerate(text) if letter == mark]
    if not cuts:
        raise DataError(sentence)
    likely = [cut for cut in cuts if known(cut[0])]
    sure = [cut for cut in likely if fits(*cut)]
    return (sure or likely or cuts)[0]


def read_for(
    model: PairwiseMRF,
    path: Path,
    *,
    gaps: bool,
    missing_values: Sequence[str] | None = None,
    sep: str | None = None,
    header: Header = Header.AUTO,
    weights: str | None = None,
    sheet: str | None = None,
) -> Table:
    """Return the table in a file, with the model's variables and states, and missing as one more.

    Columns go by name, others are not read, and cells find the states written like them.
    """
    from graftwork.data import Table, read_table
    from graftwork.models.gaps import with_missing

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)  # about columns: learning has told of them
        table = read_table(
            path,
            sep=sep,
            header=header.value_for_reading(),
            missing_values=missing_texts(missing_values, states=model.states),
            infer_types=False,
            weights=weights,
            sheet=sheet,
            missing="state",
            columns=columns_of(model),
        )
    codes = []
    for name in model.names:
        place = _place(name, table.names, path.name)
        codes.append(_column(model, name, table.states[place], table.codes[place], path, gaps))
    listed = tuple(with_missing(list(model.states.values())))
    return Table(model.names, listed, _stack(codes), table.weights)


def columns_of(model: PairwiseMRF) -> Callable[[Sequence[Any]], list[Any]]:
    """Return what finds a model's variables among the columns of a file."""

    def wanted(names: Sequence[Any]) -> list[Any]:
        found = [match_text(str(name), names) for name in model.names]
        return [names[place] for place in found if place is not None] or list(names)

    return wanted


def parts_for(
    model: PairwiseMRF, stored: StoredTable, source: str, *, gaps: bool
) -> Callable[[], Iterator[Table]]:
    """Return what yields the parts of stored rows as `read_for` returns the rows of a file."""
    from graftwork.data import Table
    from graftwork.data.encode import small
    from graftwork.models.gaps import with_missing

    places, lookups = [], []
    for name in model.names:
        place = _place(name, stored.names, source)
        seen = stored.row_counts[place] > 0
        states = stored.states[place]
        codes = _codes(model, name, states, seen, stored.first_seen[place].__getitem__, gaps)
        lookups.append(small(codes, len(model.states[name]) + 1))
        places.append(place)
    listed = tuple(with_missing(list(model.states.values())))

    def tables() -> Iterator[Table]:
        for number in range(stored.n_parts):
            part = stored.part(number)
            codes = [own[part.codes[place]] for place, own in zip(places, lookups, strict=True)]
            yield Table(model.names, listed, _stack(codes), part.weights)

    return tables


def rows_for(
    model: PairwiseMRF, raw: Raw, path: Path, *, absent: Any = None, ignore: bool = False
) -> Table:
    """Return a file's columns of text as rows of a model, with missing as one more state."""
    import numpy as np

    from graftwork.data import Table
    from graftwork.data.encode import encode
    from graftwork.data.missing import settle
    from graftwork.models.gaps import with_missing

    listed = with_missing(list(model.states.values()))
    codes = []
    for name, states in zip(model.names, listed, strict=True):
        if name == absent and match_text(str(name), raw.names) is None:
            codes.append(np.full(raw.n_rows, states.index(MISSING_STATE)))
            continue
        place = _place(name, raw.names, path.name)
        column = settle(encode(raw.column(place), name, raw.place), name, "state", raw.place)
        codes.append(_column(model, name, column.states, column.codes, path, True, ignore))
    return Table(model.names, tuple(listed), _stack(codes))


def _place(name: Any, names: Sequence[Any], source: str) -> int:
    """Return where a file has a variable of the model, or refuse the file."""
    place = match_text(str(name), names)
    if place is None:
        raise DataError(
            f"{source}: there is no column {str(name)!r}, a variable of the model"
            f"{near(str(name), names, 'columns')}"
        )
    return int(place)


def _column(
    model: PairwiseMRF,
    name: Any,
    states: Sequence[Any],
    given: Any,
    path: Path,
    gaps: bool,
    ignore: bool | None = None,
) -> Any:
    """Return one variable's codes in the model's states; one more is a missing cell."""
    import numpy as np

    def where(k: int) -> str:
        return f"{path.name}: row {int(np.argmax(given == k)) + 1}"

    seen = np.bincount(given, minlength=len(states)) > 0
    return _codes(model, name, states, seen, where, gaps, ignore)[given]


def _codes(
    model: PairwiseMRF,
    name: Any,
    states: Sequence[Any],
    seen: Any,
    where: Callable[[int], str],
    gaps: bool,
    ignore: bool | None = None,
) -> Any:
    """Return the model's code of each state that is seen; one more than the last is missing.

    Unknown states are missing where they are to be ignored; None where a command cannot do that.
    """
    import numpy as np

    listed = model.states[name]
    codes = np.zeros(len(seen), dtype=np.int64)
    for k in np.flatnonzero(seen).tolist():
        text = str(states[k])
        found = match_text(text, listed)
        if found is None and ignore and text != MISSING_STATE:
            found = gap_code(listed)
        elif found is None:
            if text != MISSING_STATE:
                also = "" if ignore is None else " --unseen ignore takes such cells as missing."
                raise DataError(
                    f"{where(k)} has {name!s} = {text!r}, a state the model does not "
                    f"have{near(text, listed, 'states')}{also}"
                )
            if not gaps:
                raise DataError(
                    f"{where(k)} has no {name!s}, and a missing cell is not a state of "
                    "that variable in the model: --missing available-case lets the observed cells "
                    "of such rows count, --missing drop-rows leaves them out."
                )
            found = len(listed)
        codes[k] = found
    return codes


def gap_code(states: Sequence[Any]) -> int:
    """Return the code of a missing cell: of that state, or one more than the last.

    Examples
    --------
    >>> gap_code(["x", "y"]), gap_code(["x", "(missing)"])
    (2, 1)
    """
    return states.index(MISSING_STATE) if MISSING_STATE in states else len(states)


def _stack(columns: list[Any]) -> Any:
    import numpy as np

    return np.stack(columns)
