"""The experiments of five papers, beside what they printed: ``python -m experiments PAPER``."""

from __future__ import annotations

from importlib import import_module

from experiments.engine import Study
from graftwork.errors import DataError

#: Names, in the order of the documentation, and what each is about in one line.
PAPERS = {
    "best-choice": "best-choice edge grafting: reservoir ranks, alphas, heuristics, Jester, Yummly",
    "priority": "priority grafting on the mushroom data",
    "l1-markov": "L1-regularised Markov networks: synthetic data, digits, SNPs",
    "grafting-light": "Grafting-Light: a synthetic chain, NP chunks, letters",
    "forced-pruning": "forced pruning on nltcs, msnbc and plants",
}


def find_study(name: str) -> Study:
    """Return a paper's study by its name.

    Examples
    --------
    >>> find_study("priority").name
    'priority'
    """
    if name not in PAPERS:
        raise DataError(f"there is no paper {name!r}; there are {', '.join(PAPERS)}")
    study: Study = import_module(f"experiments.{name.replace('-', '_')}").STUDY
    return study
