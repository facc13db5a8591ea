"""This checkout beside another one: the same problems, contenders of graftwork alone, by turns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from bench.harness import Harness
from bench.runs import Problem, Run, Size
from graftwork.errors import DataError, DataMissingError

#: Each side runs this often, and its quickest run counts: other work on the machine only adds.
TURNS = 3


def compare(problems: Sequence[Problem], harness: Harness, checkout: Path) -> None:
    """Print CPU seconds and memory of both, and their ratio."""
    sides = [replace(harness, checkout=checkout), harness]
    print(f"{'':44}  CPU s before    now  ratio   MB before    now  ratio", flush=True)
    for problem in problems:
        turns: list[tuple[dict[str, Run], dict[str, Run]]] = []
        own = replace(problem, entries=lambda size, of=problem: own_entries(of, size))
        try:
            for _ in range(TURNS):
                turns.append(tuple({run.entry: run for run in s.run(own)} for s in sides))
        except (DataMissingError, DataError) as error:
            print(f"{problem.name}: skipped: {error}", flush=True)
            continue
        for entry in turns[0][1]:
            print(line(problem.name, [(old[entry], new[entry]) for old, new in turns]), flush=True)


def own_entries(problem: Problem, size: Size):
    """Return the entries of graftwork's contenders."""
    return tuple(e for e in problem.entries(size) if e.contender.startswith("graftwork"))


def line(problem: str, pairs: Sequence[tuple[Run, Run]]) -> str:
    """Return the comparison of one entry."""
    name = f"{problem}: {pairs[0][0].entry}"
    failed = [run.reason for pair in pairs for run in pair if not run.done]
    if failed:
        return f"{name:44}  {failed[0]}"
    out = f"{name:44}"
    for what, width, digits in (("cpu", 14, 2), ("peak_mb", 12, 0)):
        before, now = (min(getattr(pair[k], what) for pair in pairs) for k in (0, 1))
        out += f"{before:{width}.{digits}f} {now:6.{digits}f} {now / before:6.2f}"
    return out
