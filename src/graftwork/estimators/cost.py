"""What learning will cost, as a value with words."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

# Real times were mostly within this factor (benchmarks/estimates.py): more where states nearly
# determine each other, less where the guessed network is too large.
FACTOR = 4.0


@dataclass(frozen=True, slots=True)
class CostEstimate:
    """What learning from some data will take, before it is done.

    Attributes
    ----------
    method, loss : str
        What the estimate is of.
    rows, merged_rows : int
        Rows with a weight; rows that a pass over the data sees, where equal ones are merged.
    total_weight : float
        Sum of the row weights.
    variables, constant : int
        All variables, and those with one state.
    states : (int, int)
        Fewest and most states that occur.
    pairs, entries : int
        Pairs of variables that vary, and entries of all their tables.
    weights : int
        Weights of a network with all pairs: the entries, and one for each state.
    expected_edges, expected_weights : int
        Of the network to come, guessed from a tree and what it leaves unexplained.
    lam : float
        The penalty this guess is for; with lam="auto" the guessed noise level, or a share of it.
    memory : dict of str to int
        Bytes of what is held at once.
    seconds : float or None
        Rough time of learning; None where it would be refused.
    threads : int
    treewidth, clique_cells, inference_bytes : int
        Of exact inference in the guessed network: width of the order found, cells of the largest
        table, bytes of all tables.
    inference_words : str
        What that means for learning and for questions.
    missing_words : str
        What becomes of missing cells; empty if there are none.
    partial : bool
        Whether the guess is from part of the variables, with as many edges at each assumed.
    refusals : tuple of str
        Why learning would be refused, if it would.
    notes : tuple of str
        What about the data should be looked at first.

    Examples
    --------
    >>> import graftwork as gw
    >>> cost = gw.MarkovNetwork(lam=0.01).estimate([["a", 0], ["b", 1], ["a", 0]] * 20)
    >>> cost.pairs, cost.entries, cost.weights, cost.treewidth
    (1, 4, 8, 1)
    """

    method: str
    loss: str
    rows: int
    merged_rows: int
    total_weight: float
    variables: int
    constant: int
    states: tuple[int, int]
    pairs: int
    entries: int
    weights: int
    expected_edges: int
    expected_weights: int
    lam: float
    memory: dict[str, int]
    seconds: float | None
    threads: int
    treewidth: int
    clique_cells: int
    inference_bytes: int
    inference_words: str
    missing_words: str = ""
    partial: bool = False
    refusals: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def peak_bytes(self) -> int:
        """Everything that is held at once, in bytes."""
        return sum(self.memory.values())

    def to_dict(self) -> dict[str, Any]:
        """Return the estimate as plain values."""
        return {**asdict(self), "peak_bytes": self.peak_bytes}

    def sections(self) -> list[tuple[str, str]]:
        """Return headings and paragraphs, for people."""
        parts = [
            ("Data", self._data()),
            ("Network", self._network()),
            ("Time", self._time()),
            ("Memory", self._memory()),
            ("Inference", self.inference_words),
        ]
        if self.refusals:
            parts.insert(0, ("Refused", " ".join(self.refusals)))
        if self.notes:
            parts.append(("Look at", " ".join(self.notes)))
        return parts

    def words(self) -> str:
        """Return the estimate in words, a line for each heading."""
        return "\n".join(f"{title}: {text}" for title, text in self.sections())

    def _data(self) -> str:
        low, high = self.states
        each = f"{low:,} to {high:,} states" if low < high else f"{amount(low, 'state')} each"
        text = f"{amount(self.rows, 'row')} of {amount(self.variables, 'variable')}, {each}."
        if self.merged_rows < self.rows:
            text += f" Equal rows are merged, which leaves {self.merged_rows:,}."
        if self.total_weight != self.rows:
            text += f" Their total weight is {self.total_weight:,.6g}."
        text += (
            f" There are {amount(self.pairs, 'pair')} of variables that vary, whose tables have "
            f"{self.entries:,} entries; a network of all of them has {self.weights:,} weights."
        )
        return f"{text} {self.missing_words}".rstrip()

    def _network(self) -> str:
        about = "about " if self.expected_edges else ""
        text = (
            f"{about}{amount(self.expected_edges, 'edge')} with "
            f"{amount(self.expected_weights, 'weight')} are expected"
            f"{f' at lambda {self.lam:.2g}' if self.lam else ''}, from a tree and what it leaves "
            "unexplained."
        )
        if self.partial:
            text += " That was guessed from part of the variables."
        return text[0].upper() + text[1:]

    def _time(self) -> str:
        if self.seconds is None:
            return "None: learning would be refused."
        low, high = self.seconds / FACTOR, self.seconds * FACTOR
        return (
            f"About {duration(self.seconds)} on {amount(self.threads, 'thread')}: a rough guess "
            "from timing a small piece of the work and what such fits usually take. Expect "
            f"{duration(low)} to {duration(high)}."
        )

    def _memory(self) -> str:
        parts = [f"{what} {size(held)}" for what, held in self.memory.items() if held]
        return f"At most about {size(self.peak_bytes)}: {', '.join(parts)}."


def amount(n: int, noun: str) -> str:
    """Return a number with its noun, in the plural unless it is one.

    Examples
    --------
    >>> amount(1, "row"), amount(2500, "row")
    ('1 row', '2,500 rows')
    """
    return f"{n:,} {noun}{'s'[: n != 1]}"


def size(held: int) -> str:
    """Return a number of bytes in words.

    Examples
    --------
    >>> size(80), size(2_500_000), size(10**30)
    ('80 bytes', '2.5 MB', '10^30 bytes')
    """
    if held < 1000:
        return f"{held} bytes"
    if held >= 10**18:
        return f"10^{round(math.log10(held))} bytes"
    power = min(5, (len(str(held)) - 1) // 3)
    value = held / 1000**power
    return f"{value:.{0 if value >= 9.95 else 1}f} {['', 'kB', 'MB', 'GB', 'TB', 'PB'][power]}"


def duration(seconds: float) -> str:
    """Return a time in words.

    Examples
    --------
    >>> duration(0.02), duration(42), duration(600), duration(90_000)
    ('0.02 s', '42 s', '10 min', '1.0 days')
    """
    if seconds < 100:
        return f"{seconds:.1g} s" if seconds < 10 else f"{seconds:.0f} s"
    if seconds < 100 * 60:
        return f"{seconds / 60:.0f} min"
    if seconds < 24 * 3600:
        return f"{seconds / 3600:.1f} h"
    return f"{seconds / 86400:,.1f} days"
