"""What a scan is told: columns, states, weights, missing cells, memory."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from graftwork.data.bins import Bins, check_binned_names, check_bins
from graftwork.data.columns import clean_names, declared_by_name
from graftwork.data.encode import MAX_STATES
from graftwork.data.files import MISSING, GapTexts, Wanted, choose_columns, converter
from graftwork.data.missing import check_missing
from graftwork.data.text import UnreadTitle
from graftwork.data.values import listing, suggestion
from graftwork.errors import DataError, ParameterError
from graftwork.parameters import memory_bytes

States = Mapping[Any, Iterable[Any]]
Header = bool | Literal["auto"]
#: What missing cells are, as in `as_table`.
Policy = Literal["error", "state"]

# Rows of a part are a power of two between these, and take about a share of the memory.
_FEWEST, _MOST, _SHARE = 1 << 14, 1 << 20, 16
# Distinct numbers of a column that is to be binned: bytes that one takes, and the share of memory.
_VALUE_BYTES, _VALUE_SHARE = 250, 4


@dataclass(frozen=True, slots=True)
class ScanOptions:
    """What `graftwork.scan` is told, checked."""

    columns: Wanted | None = None  # columns, drop: columns to read, and to leave out
    drop: Wanted | None = None
    states: Mapping[Hashable, tuple[Hashable, ...]] = field(default_factory=dict)  # declared ones
    weights: Hashable | None = None  # the column that holds the weights of rows
    # texts that mean a missing cell
    gaps: GapTexts = field(default_factory=lambda: GapTexts.of(MISSING))
    sep: str | None = None  # sep, header: of text files, as in `read_table`
    header: Header = "auto"
    missing: Policy = "error"
    bins: Bins | None = None
    memory: int = 2 * 10**9  # bytes
    part_rows: int | None = None  # rows of a part; chosen by the memory otherwise
    infer_types: bool = True  # whether texts of files may become numbers and bools

    def rows_of_part(self, n_columns: int) -> int:
        """Return how many rows a part has.

        Examples
        --------
        >>> ScanOptions().rows_of_part(40), ScanOptions().rows_of_part(2000)
        (1048576, 32768)
        """
        if self.part_rows is not None:
            return self.part_rows
        fitting = self.memory // (_SHARE * max(n_columns, 1))
        return min(max(1 << max(fitting.bit_length() - 1, 0), _FEWEST), _MOST)

    def is_binned(self, name: Hashable) -> bool:
        """Return whether the numbers of a column are to be put into bins."""
        return name in self.bins if isinstance(self.bins, Mapping) else self.bins is not None

    @property
    def most_numbers(self) -> int:
        """How many distinct numbers of a column are kept to choose bins by.

        Examples
        --------
        >>> ScanOptions().most_numbers
        2000000
        """
        return max(self.memory // (_VALUE_SHARE * _VALUE_BYTES), MAX_STATES)

    def converts(self, name: Hashable) -> bool:
        """Return whether a column of a text file may become numbers or bools."""
        return converter(self.infer_types, self.states, self.weights)(name)

    def chosen(self, names: Sequence[Any]) -> list[int]:
        """Return the positions of the columns to read, that of the weights last if it is one."""
        listed = clean_names(names)
        self.gaps.check(listed)
        if self.weights is not None and self.weights not in listed:
            raise DataError(
                f"weights names the column {self.weights!r}, which does not exist"
                f"{suggestion(self.weights, listed) or '.'} The columns are {listing(listed)}."
            )
        places = choose_columns(listed, self.columns, self.drop, also=self.weights)
        kept = [place for place in places if listed[place] != self.weights]
        if not kept:
            raise DataError("no columns are left; choose at least one.")
        variables = [listed[place] for place in kept]
        declared_by_name(dict(self.states), variables)
        check_binned_names(self.bins, variables, self.states)
        return kept if self.weights is None else [*kept, listed.index(self.weights)]

    def settled(self, names: Sequence[Any] | None) -> ScanOptions:
        """Return options that name columns rather than have functions or a file choose them."""
        if names is None:
            return self
        if not (callable(self.columns) or callable(self.drop)):
            index = [str(each) for each in names if isinstance(each, UnreadTitle)]
            if self.columns is not None or not index or index == [self.weights]:
                return self
            return replace(self, drop=[*(self.drop or ()), *index])
        places = choose_columns(clean_names(names), self.columns, self.drop, also=self.weights)
        return replace(self, columns=[names[place] for place in places], drop=None)


def checked_options(
    *,
    columns: Wanted | None = None,
    drop: Wanted | None = None,
    states: States | None = None,
    weights: Any = None,
    missing_values: Any = MISSING,
    sep: str | None = None,
    header: Any = "auto",
    missing: Any = "error",
    bins: Bins | None = None,
    memory: Any = "2GB",
    part_rows: int | None = None,
    infer_types: bool = True,
) -> ScanOptions:
    """Return options as they are given to `graftwork.scan`, or refuse them.

    Examples
    --------
    >>> checked_options(memory="1GB", part_rows=1000).part_rows
    1000
    """
    check_missing(missing)
    if header not in (True, False, "auto"):
        raise DataError(f"header is {header!r}, but it must be True, False or 'auto'.")
    if sep is not None and (not isinstance(sep, str) or len(sep) != 1 or sep in '"\r\n'):
        raise DataError(f"sep is {sep!r}, but it must be one character.")
    if weights is not None and not isinstance(weights, Hashable):
        raise DataError("weights must be the name of a column when rows are scanned.")
    for option, wanted in (("columns", columns), ("drop", drop)):
        if isinstance(wanted, str):
            raise DataError(
                f"{option} is a single string, {wanted!r}; pass a list of names, [{wanted!r}]."
            )
    if states is not None and not isinstance(states, Mapping):
        raise DataError(
            "states must be a mapping from column name to its states, "
            f"not a {type(states).__name__}, e.g. states={{'a': [0, 1]}}."
        )
    whole = isinstance(part_rows, int) and not isinstance(part_rows, bool) and part_rows >= 1
    if part_rows is not None and not whole:
        raise ParameterError(f"part_rows is {part_rows!r}, but it must be a positive integer.")
    return ScanOptions(
        columns=columns if columns is None or callable(columns) else list(columns),
        drop=drop if drop is None or callable(drop) else list(drop),
        states={} if states is None else declared_by_name(states, list(states)),
        weights=weights,
        gaps=GapTexts.of(missing_values),
        sep=sep,
        header=header,
        missing=missing,
        bins=check_bins(bins),
        memory=memory_bytes("memory", memory),
        part_rows=part_rows,
        infer_types=infer_types,
    )
