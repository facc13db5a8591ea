"""What is said about each value, word for word; the values are tested where they are made."""

from dataclasses import replace

import numpy as np
import pytest

import graftwork as gw
from graftwork.datasets import Mixing
from graftwork.grafting import Tally
from graftwork.selection import LambdaChoice

from doors.estimators import Advice, MissingCells
from doors.grafting import STOPS, Certificate, Tying
from doors.inference import Layout, Potentials
from doors.report import advice_text, stop_text
from doors.selection import Basis, EdgeSelection, PathSearch

SOLVED = Certificate(0.0, 2e-7, 1e-6, 2.5, 2.3, 0.1, 3, 42, 42, True, True, "optimal")
CUT = replace(SOLVED, converged=False, stop="seconds", n_tested=7, max_violation=0.02, n_edges=1)
LOOPY = replace(SOLVED, exact=False, method="loopy belief propagation")
CERTIFICATES = [
    (
        SOLVED,
        "Optimal within 1e-06. All 42 pairs left out were tested at the final weights; none "
        "violates (largest violation 0 at lambda 0.1). The 3 active edges are stationary to 2e-07. "
        "All these numbers are exact.",
    ),
    (
        replace(CUT, n_barred=1),
        "Not certified optimal: the time budget was reached. 7 of 42 pairs left out (16.7%) were "
        "tested at the final weights (largest violation 0.02). The active edge is stationary to "
        "2e-07. Not tested: 1 pair that may not be an edge. All these numbers are exact.",
    ),
    (
        replace(CUT, n_tested=0, n_edges=0, unit="feature", noun="feature", stop="edges"),
        "Not certified optimal: the feature budget was reached. None of the 42 features left out "
        "was tested at the final weights. No feature is kept. All these numbers are exact.",
    ),
    (
        replace(LOOPY, n_inactive=0, n_tested=0, n_untrusted=1),
        "Optimal within 1e-06, as far as approximate inference can tell. No pair was left out. "
        "The 3 active edges are stationary to 2e-07. Some of these numbers are approximate (loopy "
        "belief propagation). Inference did not converge in 1 earlier round.",
    ),
    (
        replace(LOOPY, converged=False, stop="stalled", trusted=False, max_violation=0.1),
        "Not certified optimal: approximate inference did not converge, so that no step could be "
        "relied on. All 42 pairs left out were tested at the final weights; some still violate "
        "(largest violation 0.1 at lambda 0.1). The 3 active edges are stationary to 2e-07. Some "
        "of these numbers are approximate (loopy belief propagation). The inference behind the "
        "final gradient did not converge, even damped.",
    ),
    (
        replace(CUT, stop="searched", n_inactive=1, n_tested=1, n_edges=0, lam=0.0),
        "Not certified optimal: its number of edges was given, and a local search found which they "
        "are, without a guarantee. The only pair left out was tested at the final weights; more "
        "edges would improve it further (largest violation 0.02 at lambda 0). The variables' own "
        "potentials are stationary to 2e-07. All these numbers are exact.",
    ),
]

EXCHANGES = [
    (
        Tally("descent", 9, 9, 12, 3, 2, 0, 1, 3.5, 3.25, "local-optimum", 8),
        "10 exchanges were tried and 3 of them kept; the objective fell from 3.5 to 3.25. 2 others "
        "would have led back to edges tried before. There was 1 random restart. The search ended "
        "because exchanging any of its 8 cheapest edges did not improve it.",
    ),
    (
        Tally("rejection", 7, 5, 1, 1, 0, 1001, 0, 2.0, 2.0, "all-rejected", 1000, 4.5, "no-pairs"),
        "1 exchange was made, for which 1,001 deletions were drawn. The search ended because none "
        "of 1,000 deletions drawn at random was accepted: the mean likelihood of a row is only "
        "exp(-4.5). It has fewer than the 7 edges asked for: there are no more pairs of variables "
        "that vary.",
    ),
    (
        Tally("mcmc", None, 5, 2, 0, 0, 10, 0, 2.0, 2.0, "rounds-used", 2),
        "10 exchanges of one edge were proposed and 0 of them accepted. The search ended because "
        "the limit of 2 rounds from one start was reached. There are as many edges as at the "
        "start, since no number was asked for.",
    ),
    (
        Tally(wanted=7, edges=5, ended="interrupted", shortfall="no-improvement"),
        "No edges were exchanged. The search ended because it was interrupted. It has fewer than "
        "the 7 edges asked for: no further pair improves it.",
    ),
]

TESTS = EdgeSelection(15, 21, 14, 0, 0.01, 0.17, 0.02)
HELD_OUT = PathSearch(Basis("held-out", 3, 800), 15, 0.18, 0.0005, 3.0523, "rises", 0.001)
CHOICES = [
    (LambdaChoice("given", 0.05), "Lambda 0.05 was given."),
    (LambdaChoice("none", 0.0), "There is no penalty."),
    (
        LambdaChoice("sized", 0.0),
        "There is no sparsity penalty, because the method gives the number of edges; a standard "
        "normal prior keeps the weights finite.",
    ),
    (
        LambdaChoice("one-row", 1.0),
        "One row says nothing about others, so lambda was not chosen: there is no edge.",
    ),
    (
        LambdaChoice("independent", 1.0),
        "No two variables depend on each other at all, so any lambda gives the same network.",
    ),
    (
        LambdaChoice("tests", 0.02, "seconds"),
        "The search was cut short (the time budget was reached) before edges were tested; it had "
        "reached lambda 0.02.",
    ),
    (
        LambdaChoice("ebic", 0.02, "interrupted"),
        "The search was cut short (it was interrupted) before any lambda was judged.",
    ),
    (
        LambdaChoice("adaptive", 0.02, "rounds"),
        "The first fit was cut short (the round budget was reached).",
    ),
    (
        LambdaChoice("tests", 0.02, tests=TESTS),
        "Grafting down to lambda 0.02, where chance alone would give the first edge, made a short "
        "list of 15 pairs. All 21 pairs were tested in refits without the penalty, and 14 were "
        "kept as edges at a false discovery rate of 0.01.",
    ),
    (
        LambdaChoice("testing", 0.02, "interrupted"),
        "The search was cut short (it was interrupted) while edges were being tested: the network "
        "has those, of the short list at lambda 0.02 and of pairs that came in later, that no "
        "test had ruled out by then. Some may still fail, and others may be missing.",
    ),
    (
        LambdaChoice("tests", 0.1, tests=replace(TESTS, max_edges=15)),
        "Grafting ended at lambda 0.1, where the limit of 15 edges was reached, with a short list "
        "of 15 pairs. All 21 pairs were tested in refits without the penalty, and 14 were kept as "
        "edges at a false discovery rate of 0.01. At most 15 edges may be kept, so pairs that pass "
        "their tests may be left out.",
    ),
    (
        LambdaChoice(
            "tests",
            0.02,
            tests=replace(
                TESTS,
                noise=0.2,
                n_required=2,
                n_contested=1,
                sampled=True,
                max_edges=16,
                residual=2e-4,
                rivals=(("a", "b"), ("b", "c")),
            ),
        ),
        "No pair depends more strongly than the strongest would by chance (score 0.17, noise level "
        "0.2), so none is on the short list. All 21 pairs were tested in refits without the "
        "penalty, and 14 were kept as edges at a false discovery rate of 0.01, in addition to 2 "
        "required "
        "whatever the tests say. For one pair the tests with and without the edge disagreed; there "
        "the median p-value of the score, Wald and likelihood ratio tests decided. The noise level "
        "was estimated from a sample of all pairs. At most 16 edges may be kept, so pairs that "
        "pass their tests may be left out. With this many states the refit was solved only to "
        "0.0002. Left out: a - b, b - c, which pass their tests while they are absent and fail as "
        "edges; they and edges that are kept stand in for each other.",
    ),
    (
        LambdaChoice("tests", 1.0, tests=replace(TESTS, n_tests=0)),
        "There is no pair of variables that might be an edge, so nothing was tested.",
    ),
    (
        LambdaChoice("held-out", 0.002, path=HELD_OUT),
        "Of 15 lambdas from 0.18 down to 0.0005, 0.002 predicts best (negative log "
        "pseudo-likelihood 3.0523 nats per row, on rows held out, each of 3 parts in turn). The "
        "path stopped at 0.0005 because the criterion had risen for 3 values in a row. It went on "
        "below "
        "its planned end of 0.001 to make sure.",
    ),
    (
        LambdaChoice("held-out", 0.002, "rounds", path=replace(HELD_OUT, end=None, planned=None)),
        "Of 15 lambdas from 0.18 down to 0.0005, 0.002 predicts best (negative log "
        "pseudo-likelihood 3.0523 nats per row, on rows held out, each of 3 parts in turn). The "
        "search was cut short (the round budget was reached): smaller ones might be better.",
    ),
    (
        LambdaChoice(
            "ebic", 0.1, path=replace(HELD_OUT, basis=Basis("ebic", gamma=0.25), end="boundary")
        ),
        "Of 15 lambdas from 0.18 down to 0.0005, 0.1 has the smallest EBIC of the penalised fits "
        "(gamma 0.25: 3.0523). That is the small end of the path, even after it was extended: the "
        "criterion still falls, or hardly changes any more.",
    ),
    (
        LambdaChoice(
            "stars",
            0.1,
            path=PathSearch(
                Basis("stars", 20, 282, threshold=0.1), 9, 0.18, 0.01, 0.08, "unstable"
            ),
        ),
        "Of 9 lambdas from 0.18 down to 0.01, 0.1 is the smallest whose edges are stable over 20 "
        "subsamples of 282 rows (instability 0.08; at most 0.1 is accepted). The path stopped "
        "at 0.01 because edges became unstable.",
    ),
]

TIED = Tying(
    Potentials(Layout.of([2, 2], [(0, 1)]), np.array([0.0, 0.5, 0.0, 0.5, 0, 0, 0, -1.0])),
    np.array([-1.0, 0.5]), 3, 2.0, 2.1, 40,
)  # fmt: skip
ONE_DRAW = "They are drawn once, so results depend on random_state."
LACKING = MissingCells("available-case", 1, 1, 10)
OTHERS = [
    (
        TIED,
        "3 weights take 2 values, the others are zero: 2 bits instead of 64 for each number, 26 "
        "bytes instead of 64 for all numbers and their values (names, states and edges not "
        "counted). On the rows learned from, the loss is 2.1 instead of 2 (+5.00%).",
    ),
    (replace(TIED, rounds=0), "Nothing needed tying: 3 weights suffice."),
    (MissingCells("error", 0, 0, 10), ""),
    (
        MissingCells("drop-rows", 1, 1, 10),
        "1 of 10 rows was left out because 1 cell is missing.",
    ),
    (
        MissingCells("state", 3, 2, 10),
        "3 cells are missing in 2 of 10 rows: missing is a state of its own, (missing).",
    ),
    (
        MissingCells("impute", 3, 2, 10, drawn=True),
        "3 cells are missing in 2 of 10 rows: their states were drawn from networks learned "
        f"before. {ONE_DRAW}",
    ),
    (
        LACKING,
        "1 cell is missing in 1 of 10 rows: the observed cells of these rows are learned from, and "
        "a missing neighbour counts as its average.",
    ),
    (
        replace(LACKING, drawn=True),
        "1 cell is missing in 1 of 10 rows: the observed cells of these rows are learned from, and "
        "a missing neighbour counts as a state drawn from the network given the rest of its row. "
        f"{ONE_DRAW}",
    ),
    (
        replace(LACKING, drawn=True, draws=4, lost=0.216),
        "1 cell is missing in 1 of 10 rows: the observed cells of these rows are learned from, and "
        "a missing neighbour counts as a state drawn from the network given the rest of its row. "
        "They are drawn 4 times, and tests say so: 22% of the information about an edge (the "
        "median) is missing. P-values still depend on random_state: between seeds "
        "typically by a factor of 2 with 5 % of the cells missing, of 4 with 20 %.",
    ),
    (
        replace(LACKING, policy="impute", drawn=True, draws=1, lost=0.1),
        "1 cell is missing in 1 of 10 rows: their states were drawn from networks learned before. "
        "They are drawn once, and tests say so: 10% of the information about an edge (the median) "
        "is missing. Results depend on random_state: learn with several seeds, and rely "
        "on those edges near the limit that most of them find.",
    ),
    (
        Mixing("gibbs", 100, 4, 50, 1000, 10, 2, 1.2, "the share of x3 = 1", 9.0),
        "100 rows come from 4 Gibbs chains (1,000 sweeps of burn-in, one draw every 10 sweeps, "
        "after 2 attempts), which have not mixed: the largest R-hat is 1.200 (the share of x3 = 1; "
        "at most 1.05 passes), the smallest effective number of draws 9 of 200.",
    ),
]


@pytest.mark.parametrize(("value", "text"), [*CERTIFICATES, *EXCHANGES, *CHOICES, *OTHERS])
def test_every_value_has_its_text(value, text):
    assert gw.describe(value) == text


def test_other_values_have_none():
    with pytest.raises(TypeError, match="there is no text about an object of type int"):
        gw.describe(3)


def test_every_reason_to_stop_has_a_text():
    assert len({stop_text(stop) for stop in STOPS}) == len(STOPS)


def test_advice_is_given():
    advice = Advice("available-case", "since few cells are missing", replace(LACKING, rows=1))
    assert advice_text(advice) == (
        "1 cell is missing in 1 of 10 rows, which is refused unless you say what to do. "
        "Recommended is missing='available-case', since few cells are missing; this estimate is "
        "for that."
    )


@pytest.mark.parametrize("value", [SOLVED, replace(CUT, max_violation=float("nan"))])
def test_certificates_go_through_files(value):
    assert Certificate.from_dict(value.to_dict()).to_dict() == value.to_dict()
    assert "\n" not in repr(value)


@pytest.mark.parametrize("value", [tally for tally, _ in EXCHANGES])
def test_exchanges_go_through_files(value):
    again = Tally.from_dict(value.to_dict())
    assert again.to_dict() == value.to_dict()
    assert gw.describe(again) == gw.describe(value)
