"""What learning shows while it runs: a bar on a terminal, a few lines elsewhere; on stderr."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING, Any, Protocol, Self

from graftwork.cli.failures import MOST_SAID, say
from graftwork.text import cut, harmless

if TYPE_CHECKING:
    from graftwork.grafting.trace import Round
    from graftwork.inference.layout import Potentials

#: Seconds between two lines where there is no terminal.
_PAUSE = 15.0


class Progress(Protocol):
    """An observer of the loop that is also told what happens around it."""

    noun: str  # what rounds count: edges, or features of chains

    def __enter__(self) -> Self: ...
    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None: ...
    def note(self, text: str) -> None:
        """Show a line that stays."""
        ...

    def on_stage(self, text: str, step: int, steps: int) -> None:
        """Take note of a stage; `step` of `steps` are done."""
        ...

    def on_round(self, record: Round) -> None:
        """Take note of a round."""
        ...

    def on_network(self, potentials: Potentials) -> None:
        """Take note of the network at the end of a round."""
        ...

    def on_step(self, steps: int) -> None:
        """Take note of solver steps taken since the last round."""
        ...

    def on_search(self, tested: int, total: int) -> None:
        """Take note of candidates (pairs, or features) scored since the last round."""
        ...

    def on_count(self, text: str, done: int, total: int) -> None:
        """Take note that so many of equal pieces of work are done."""
        ...

    def on_rows(self, rows: int, total: int | None) -> None:
        """Take note of how many rows are read, of how many if that is known."""
        ...

    def on_part(self, part: int, parts: int) -> None:
        """Take note of which part of the rows is looked at, from 1 on."""
        ...


def progress_for(*, quiet: bool, noun: str = "edge") -> Progress:
    """Return what suits: nothing if quiet, a bar on a terminal, lines elsewhere."""
    if quiet:
        return Quiet()
    return Bar(noun=noun) if sys.stderr.isatty() else Lines(noun=noun)


class Quiet:
    """Shows nothing."""

    noun = "edge"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Do nothing."""

    def note(self, text: str) -> None:
        """Do nothing."""

    def on_stage(self, text: str, step: int, steps: int) -> None:
        """Do nothing."""

    def on_round(self, record: Round) -> None:
        """Do nothing."""

    def on_network(self, potentials: Potentials) -> None:
        """Do nothing."""

    def on_step(self, steps: int) -> None:
        """Do nothing."""

    def on_search(self, tested: int, total: int) -> None:
        """Do nothing."""

    def on_count(self, text: str, done: int, total: int) -> None:
        """Do nothing."""

    def on_rows(self, rows: int, total: int | None) -> None:
        """Do nothing."""

    def on_part(self, part: int, parts: int) -> None:
        """Do nothing."""


class Lines(Quiet):
    """Plain lines, few of them: notes at once, the state of things now and then."""

    def __init__(self, pause: float | None = None, noun: str = "edge") -> None:
        self._pause = _PAUSE if pause is None else pause
        self.noun = noun
        self._last = time.monotonic()
        self._stage, self._numbers = "learning", ""

    def note(self, text: str) -> None:
        """Print the line."""
        say(cut(text, MOST_SAID))

    def on_stage(self, text: str, step: int, steps: int) -> None:
        """Remember the stage for the next line."""
        self._stage, self._numbers = f"{text} (stage {step + 1} of {steps})", ""

    def on_round(self, record: Round) -> None:
        """Print a line if the last was long ago."""
        self._numbers = numbers(record, self.noun)
        self._say_now_and_then(self._numbers)

    def on_step(self, steps: int) -> None:
        """Print a line if the last was long ago."""
        if self._numbers:
            self._say_now_and_then(f"{self._numbers}, step {steps:,}")

    def on_count(self, text: str, done: int, total: int) -> None:
        """Print a line if the last was long ago."""
        self._stage = f"{done:,} of {total:,} done"
        self._say_now_and_then(text)

    def on_rows(self, rows: int, total: int | None) -> None:
        """Print a line if the last was long ago."""
        self._stage = "reading"
        self._say_now_and_then(row_words(rows, total))

    def on_part(self, part: int, parts: int) -> None:
        """Print a line if the last was long ago."""
        if parts > 1:
            where = f"part {part:,} of {parts:,} of the rows"
            self._say_now_and_then(f"{self._numbers}, {where}" if self._numbers else where)

    def _say_now_and_then(self, text: str) -> None:
        now = time.monotonic()
        if now - self._last >= self._pause:
            self._last = now
            say(f"{self._stage}: {text}")


class Bar:
    """A bar with stage, edges (or features), objective, worst violation and time."""

    def __init__(self, console: Any = None, noun: str = "edge") -> None:
        from rich.console import Console
        from rich.progress import BarColumn, SpinnerColumn, TextColumn, TimeElapsedColumn
        from rich.progress import Progress as RichProgress

        self._console = console or Console(stderr=True, highlight=False)
        self._bar = RichProgress(
            SpinnerColumn(),
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=16),
            TextColumn("{task.fields[numbers]}", markup=False),
            TimeElapsedColumn(),
            console=self._console,
            transient=True,
        )
        self._task = self._bar.add_task("starting", total=None, numbers="")
        self._numbers, self.noun = "", noun

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def note(self, text: str) -> None:
        """Print the line above the bar."""
        self._console.print(harmless(cut(text, MOST_SAID)), markup=False, highlight=False)

    def on_stage(self, text: str, step: int, steps: int) -> None:
        """Move the bar to the stages done."""
        total = steps if steps > 1 else None
        self._numbers = ""
        told = harmless(text)
        self._bar.update(self._task, description=told, completed=step, total=total, numbers="")

    def on_round(self, record: Round) -> None:
        """Show the round's numbers."""
        self._numbers = numbers(record, self.noun)
        self._bar.update(self._task, numbers=self._numbers)

    def on_network(self, potentials: Potentials) -> None:
        """Do nothing: the round's numbers are shown."""

    def on_step(self, steps: int) -> None:
        """Show how far the weights are being improved."""
        text = f"{self._numbers}, step {steps:,}" if self._numbers else ""
        self._bar.update(self._task, numbers=text)

    def on_search(self, tested: int, total: int) -> None:
        """Show how far the search for further edges is."""
        text = f"{self._numbers}, {tested:,} candidates tested" if self._numbers else ""
        self._bar.update(self._task, numbers=text)

    def on_count(self, text: str, done: int, total: int) -> None:
        """Move the bar to what is done."""
        told = f"{done:,} of {total:,} done"
        self._bar.update(
            self._task, description=told, completed=done, total=total, numbers=harmless(text)
        )

    def on_rows(self, rows: int, total: int | None) -> None:
        """Move the bar to the rows read."""
        told = row_words(rows, total)
        self._bar.update(
            self._task, description="reading", completed=rows, total=total, numbers=told
        )

    def on_part(self, part: int, parts: int) -> None:
        """Show which part of the rows is looked at."""
        if parts > 1:
            where = f"part {part:,} of {parts:,}"
            text = f"{self._numbers}, {where}" if self._numbers else where
            self._bar.update(self._task, numbers=text)


def row_words(rows: int, total: int | None) -> str:
    """Return how many rows are read.

    Examples
    --------
    >>> row_words(2000, 10_000), row_words(2000, None)
    ('2,000 of 10,000 rows', '2,000 rows')
    """
    return f"{rows:,} rows" if total is None else f"{rows:,} of {total:,} rows"


def numbers(record: Round, noun: str = "edge") -> str:
    """Return a round's numbers as text, with the number of features where these are single."""
    grown = f"{record.edges:,} {noun}{'s'[: record.edges != 1]}"
    if record.blocks != record.edges:
        grown += f" ({record.blocks:,} features)"
    return f"{grown}, objective {record.objective:.5g}, {record.watched()}"
