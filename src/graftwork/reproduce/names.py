"""Which papers there are, in the order of the documentation."""

from __future__ import annotations

from importlib import import_module

from graftwork.errors import DataError
from graftwork.reproduce.study import Study

#: Module of each study, and what it is about in one line.
NAMES = {
    "best-choice": "best-choice edge grafting: reservoir ranks, alphas, heuristics, Jester, Yummly",
    "priority": "priority grafting on the mushroom data",
    "l1-markov": "L1-regularised Markov networks: synthetic data, digits, SNPs",
    "grafting-light": "Grafting-Light: a synthetic chain, NP chunks, letters",
    "forced-pruning": "forced pruning on nltcs, msnbc and plants",
}


def find_study(name: str) -> Study:
    """Return a study by its name.

    Examples
    --------
    >>> find_study("priority").name
    'priority'
    """
    if name not in NAMES:
        raise DataError(f"there is no study {name!r}; there are {', '.join(NAMES)}")
    module = import_module(f"graftwork.reproduce.{name.replace('-', '_')}")
    study: Study = module.STUDY
    return study
