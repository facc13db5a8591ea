"""How soon graftwork is there: import, first fit of a new installation, next process."""

from __future__ import annotations

from bench.judging import figure, find, under
from bench.planted import Planted
from bench.runs import Arrays, Entry, Problem, Results, Size, Source, Target

NAME = "start"


def make(source: Source) -> Arrays:
    """Return a small table of five-state variables."""
    return Planted(20, 5, 600, test=10).make()


def entries(size: Size) -> tuple[Entry, ...]:
    """Return graftwork alone; the small version has no time to compile everything."""
    return (Entry("graftwork", "graftwork_start", {"empty_cache": size == "full"}, limit=300.0),)


def targets(results: Results) -> list[Target]:
    """Judge wall seconds of whole processes."""
    run = find(results, NAME, "graftwork")
    return [
        under(NAME, "import graftwork under 1 s (wall)", figure(run, "import_s"), 1.0),
        under(NAME, "first fit, empty cache, under 20 s (wall)", figure(run, "first_fit_s"), 20.0),
        under(NAME, "the next process under 2 s (wall)", figure(run, "next_fit_s"), 2.0),
        under(
            NAME,
            "graftwork learn small.csv, all its files and its picture, under 1.5 s (wall)",
            figure(run, "command_s"),
            1.5,
        ),
    ]


PROBLEM = Problem(
    NAME,
    "Processes of their own: import, the first fit with an empty cache of kernels, the next one, "
    "and the command on a table of 20 columns and 600 rows (the median of five).",
    make,
    entries,
    lambda arrays, answer: answer,
    targets,
)
