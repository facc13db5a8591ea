"""Full optimisation: everything active from the start, the batch baseline (Full-Opt-L1)."""

from __future__ import annotations

from graftwork.grafting import AtTheEnd, Everything, Recipe
from graftwork.solvers import OrthantWise, ToConvergence


def full() -> Recipe:
    """Return the batch learner: OWL-QN over all tables (proximal steps for a group penalty)."""
    return Recipe("full", Everything(), OrthantWise(), ToConvergence(), AtTheEnd())
