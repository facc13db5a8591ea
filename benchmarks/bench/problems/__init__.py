"""Problems by name, in the order of a full run."""

from __future__ import annotations

from bench.problems import (
    conll,
    conll_dicts,
    debd,
    gibbs,
    ising_100,
    likelihood_600,
    many_rows,
    potts_50,
    potts_200,
    potts_600,
    propagation,
    questionnaires,
    sparse,
    start,
    yummly,
)
from bench.runs import Problem

_ALL = (
    start.PROBLEM,
    propagation.PROBLEM,
    gibbs.PROBLEM,
    potts_50.PROBLEM,
    ising_100.PROBLEM,
    potts_200.PROBLEM,
    potts_600.PROBLEM,
    likelihood_600.PROBLEM,
    *questionnaires.PROBLEMS,
    many_rows.PROBLEM,
    many_rows.LARGE,
    sparse.PROBLEM,
    *debd.PROBLEMS,
    yummly.PROBLEM,
    conll.PROBLEM,
    conll_dicts.PROBLEM,
)
PROBLEMS: dict[str, Problem] = {problem.name: problem for problem in _ALL}
