"""How large everything is, in each of the three sizes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from experiments.engine import Size
from experiments.l1_markov.corollary import Arm


@dataclass(frozen=True, slots=True)
class Plan:
    """How large everything is.

    Attributes
    ----------
    networks : int
        Random networks of each kind.
    n, degree, rows
        Of the random networks on which the number of rows varies.
    degrees, sizes, few
        Mean degrees and numbers of variables, one varied at a time, at ``few`` rows.
    exact_n, exact_rows
        Of networks learned by the exact likelihood.
    lambdas : int
        How many strengths are tried for L1 and L2, between 1 and .001.
    features : tuple of int
        After how many features networks are compared.
    timed : tuple of int
        Variables of the networks on which CPU time is measured.
    loopy_n, loopy_degree, loopy_rows
        Of the networks on which belief propagation is watched.
    digits, side, digit_rows, n_test, digit_lam
        Which digits, pixels of a side, images to learn from and to test on, and the strength of
        the likelihood's penalty where belief propagation is watched.
    snp_windows, snp_width
    loopy_grid : tuple of float
        Strengths of L2 under belief propagation; those below are mostly spent on oscillations.
    chains : int
        Planted chains on which rows are counted.
    arms : mapping
        How they are learned, by name.
    """

    networks: int
    n: int
    degree: float
    rows: tuple[int, ...]
    degrees: tuple[float, ...]
    sizes: tuple[int, ...]
    few: int
    exact_n: int
    exact_rows: tuple[int, ...]
    lambdas: int
    features: tuple[int, ...]
    timed: tuple[int, ...]
    loopy_n: int
    loopy_degree: float
    loopy_rows: int
    digits: tuple[int, ...]
    side: int
    digit_rows: int
    n_test: int
    digit_lam: float
    snp_windows: int
    snp_width: int
    loopy_grid: tuple[float, ...]
    chains: int
    arms: Mapping[str, Arm] = field(default_factory=dict)

    def grid(self) -> list[float]:
        """Return the strengths tried."""
        return [float(lam) for lam in np.geomspace(1.0, 1e-3, self.lambdas)]


# The constants of the scaled strengths keep nearly all independent pairs out of networks of sixteen
# variables; they are chosen there, once. L2 is given the best of its strengths.
EXACT = Arm(
    "working-set", "l1", "likelihood", "exact", (0.6,), True, 0.2,
    (16, 32, 64, 128, 256, 512), 6_400,
)  # fmt: skip
PSEUDO = replace(
    EXACT, loss="pseudolikelihood", inference="auto", strengths=(1.0,), excess=0.35,
    sizes=(16, 24, 32, 48, 64), most_rows=12_800,
)  # fmt: skip
RIDGE = replace(
    PSEUDO, method="full", penalty="l2", strengths=(0.5, 0.2, 0.1, 0.05, 0.02), scaled=False
)
LIKELIHOOD_L1, PSEUDO_L1, PSEUDO_L2 = "l1-likelihood", "l1-pseudo", "l2-pseudo"


def _arms(exact: tuple[int, ...], pseudo: tuple[int, ...]) -> dict[str, Arm]:
    """Return how planted chains are learned, with these numbers of variables."""
    return {
        LIKELIHOOD_L1: replace(EXACT, sizes=exact),
        PSEUDO_L1: replace(PSEUDO, sizes=pseudo),
        PSEUDO_L2: replace(RIDGE, sizes=pseudo),
    }


PLANS: dict[Size, Plan] = {
    "full": Plan(
        networks=12, n=16, degree=3.0, rows=(50, 100, 200, 500, 1_000),
        degrees=(4.0, 5.0, 6.0), sizes=(32, 64), few=100, exact_n=12,
        exact_rows=(50, 100, 200, 500, 1_000),
        lambdas=10, features=(4, 8, 12, 16, 24, 32, 40), timed=(16, 32, 64),
        loopy_n=16, loopy_degree=4.0, loopy_rows=500,
        digits=tuple(range(10)), side=7, digit_rows=100, n_test=500, digit_lam=0.02,
        snp_windows=12, snp_width=24, loopy_grid=(0.3, 0.15, 0.07, 0.03),
        chains=8, arms=_arms(EXACT.sizes, PSEUDO.sizes),
    ),
    "quick": Plan(
        networks=4, n=12, degree=3.0, rows=(50, 500),
        degrees=(5.0,), sizes=(18,), few=50, exact_n=8, exact_rows=(50, 500),
        lambdas=7, features=(4, 8, 12, 16), timed=(10, 16),
        loopy_n=10, loopy_degree=4.0, loopy_rows=300,
        digits=(1, 5, 8), side=7, digit_rows=50, n_test=500, digit_lam=0.02,
        snp_windows=2, snp_width=24, loopy_grid=(0.2,),
        chains=4, arms=_arms((16, 32, 64, 128), (16, 24, 32)),
    ),
    "tiny": Plan(
        networks=2, n=6, degree=2.0, rows=(30, 100),
        degrees=(3.0,), sizes=(8,), few=30, exact_n=5, exact_rows=(30, 60),
        lambdas=3, features=(2, 4, 6), timed=(6, 8),
        loopy_n=6, loopy_degree=2.0, loopy_rows=100,
        digits=(1, 5), side=5, digit_rows=60, n_test=60, digit_lam=0.1,
        snp_windows=2, snp_width=8, loopy_grid=(0.2,),
        chains=2, arms=_arms((12, 16, 24), (12, 16, 24)),
    ),
}  # fmt: skip
