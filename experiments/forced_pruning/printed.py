"""What the forced pruning paper prints: two tables of negative PLL on test rows."""

from __future__ import annotations

from typing import NamedTuple

NAMES = ("nltcs", "plants", "msnbc")
#: Edges beyond the Chow-Liu tree's, and edges exchanged at once. The tables call the first column
#: of each group k=0, the text k=1.
MORE = (0, 15, 30, 45, 60)
EXCHANGED = (1, 5, 10)
#: How the tables' columns are labelled.
LABELS = {1: "0", 5: "5", 10: "10"}

_GREEDY = {
    "nltcs": "5.08 4.95 4.96 4.75 4.71 4.71 4.75 4.71 4.71 4.77 4.71 4.71 4.75 4.73 4.72",
    "plants": "12.25 11.43 11.15 12.22 11.40 11.11 12.37 11.21 11.20 12.27 11.25 11.15 "
    "12.25 11.23 11.17",
    "msnbc": "6.29 6.15 6.06 5.71 5.59 5.52 5.71 5.57 5.53 5.72 5.57 5.53 5.71 5.57 5.53",
}
_REJECTION = {
    "nltcs": "5.89 5.88 5.88 5.59 5.58 5.58 5.51 5.44 5.46 5.33 5.14 5.13 5.38 4.88 4.90",
    "plants": "12.91 13.36 11.15 12.82 13.29 13.29 12.79 13.30 13.28 12.91 13.31 13.29 "
    "13.01 12.92 13.16",
    "msnbc": "6.40 6.55 6.63 5.83 5.83 5.92 5.77 5.82 5.86 5.75 5.77 5.77 5.77 5.69 5.77",
}


class Cell(NamedTuple):
    """A place in the tables."""

    rule: str
    name: str
    more: int
    exchanged: int

    @property
    def table(self) -> int:
        """Number of its table."""
        return 1 if self.rule == "greedy" else 2

    def words(self) -> str:
        """Return the place as the paper labels it.

        Examples
        --------
        >>> Cell("greedy", "nltcs", 15, 1).words()
        'Table 1, nltcs, m=15, k=0'
        """
        label = LABELS[self.exchanged]
        return f"Table {self.table}, {self.name}, m={self.more}, k={label}"


def _read(rule: str, lines: dict[str, str]) -> dict[Cell, float]:
    places = [(more, k) for more in MORE for k in EXCHANGED]
    return {
        Cell(rule, name, more, k): float(value)
        for name, line in lines.items()
        for (more, k), value in zip(places, line.split(), strict=True)
    }


#: Every printed value.
PRINTED = {**_read("greedy", _GREEDY), **_read("rejection", _REJECTION)}
