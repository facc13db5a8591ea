"""Best-choice edge grafting: reservoir ranks, alphas, hubs, lambda and l2, Jester, Yummly."""

from __future__ import annotations

from collections.abc import Mapping

from experiments.best_choice.claims import claims, run_lines
from experiments.best_choice.figures import figures
from experiments.best_choice.grid import grid_lines
from experiments.best_choice.hubs import hub_lines
from experiments.best_choice.plans import steps
from experiments.best_choice.table1 import cost_lines
from experiments.engine import Found, Report, Study

PAPER = (
    "Chaabene and Huang, Best-choice edge grafting for efficient structure learning of Markov "
    "random fields (2017)"
)


def report(found: Mapping[str, Found]) -> Report:
    """Return claims, tables and figures."""
    tables = {
        "table1": cost_lines(found),
        "hubs": hub_lines(found),
        "grid": grid_lines(found),
        "runs": run_lines(found),
    }
    return Report(claims(found), tables, figures(found))


STUDY = Study("best-choice", PAPER, steps, report, ("jester", "yummly"))
