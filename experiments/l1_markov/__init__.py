"""Lee, Ganapathi and Koller: L1-regularised Markov networks on synthetic data, digits, SNPs.

The digits of the paper's numbers are lost in the copy that there is, so its words are judged: each
claim is about a mean difference over networks, and holds if that exceeds two standard errors.
"""

from __future__ import annotations

from collections.abc import Mapping

from experiments.engine.study import Found, Report, Study
from experiments.l1_markov.claims import claims
from experiments.l1_markov.figures import figures
from experiments.l1_markov.plan import steps
from experiments.l1_markov.tables import tables

PAPER = (
    "S. Lee, V. Ganapathi, D. Koller (2006), Efficient structure learning of Markov networks using "
    "L1-regularization, NIPS 19"
)


def report(found: Mapping[str, Found]) -> Report:
    """Return claims, tables and pictures of what the steps found."""
    return Report(claims(found), tables(found), figures(found))


STUDY = Study("l1-markov", PAPER, steps, report, ("mnist", "hapmap"))
