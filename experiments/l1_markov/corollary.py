"""How many rows L1 needs as variables are added to a network whose true weights stay the same."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments.engine import Context, Found
from graftwork.data import Table
from graftwork.datasets import make_planted_chain
from graftwork.estimators import MarkovNetwork
from graftwork.models import PairwiseMRF
from graftwork.parameters import Loss

#: Variables of the chain; all others are independent fair coins. With this coupling a chain of ten
#: is worth 1.0 nats a row in likelihood, and 1.8 in pseudo-likelihood.
CHAIN, COUPLING = 10, 0.5
#: Numbers of rows are tried from the first on, each this many times the one before.
FIRST_ROWS, TIMES = 50, 2
#: Penalised are all weights, those of single states too: otherwise they alone would need rows in
#: proportion to the variables.
COMMON: dict[str, Any] = {"penalty_options": {"unary": True}, "tol": 1e-3}


@dataclass(frozen=True, slots=True)
class Arm:
    """How networks are learned, and what they must be worth.

    Attributes
    ----------
    method, penalty : str
    loss : str
        Its excess on other rows is what counts.
    inference : str
    strengths : tuple of float
        Lambdas, the strongest first; of several the one that is best on the test rows is taken.
    scaled : bool
        Whether lambda is the strength times sqrt(ln n / rows), as the corollary has it.
    excess : float
        Nats a row above the true network's loss: about a fifth of what the chain is worth.
    sizes : tuple of int
        Numbers of variables.
    most_rows : int
        More rows are not tried.
    """

    method: str
    penalty: str
    loss: Loss
    inference: str
    strengths: tuple[float, ...]
    scaled: bool
    excess: float
    sizes: tuple[int, ...]
    most_rows: int

    def settings(self) -> dict[str, Any]:
        """Return the arguments of ``MarkovNetwork`` but for lambda."""
        names = ("method", "penalty", "loss", "inference")
        return {**{name: getattr(self, name) for name in names}, **COMMON}


def needed_rows(context: Context, *, network: int, name: str, arm: Arm, n_test: int) -> Found:
    """Return the excess loss of networks of growing size, learned from ever more rows.

    The chain, its rows and those of the other variables are the same for all sizes of a network.
    """
    seed = 1_000 * context.seed + network
    chain = make_planted_chain(
        CHAIN, 0, 2, coupling=COUPLING, unary_sd=0.0, shuffle=False,
        n_rows=arm.most_rows + n_test, n_test=0, random_state=seed,
    )  # fmt: skip
    shape = (max(arm.sizes) - CHAIN, chain.data.n_rows)
    coins = np.random.default_rng([seed, 1]).integers(0, 2, shape, dtype=np.uint8)
    codes = np.concatenate([chain.data.codes, coins])
    lines: list[dict[str, Any]] = []
    for n in arm.sizes:
        test = _table(codes[:n, arm.most_rows :])
        true = _loss(chain.model, _table(codes[:CHAIN, arm.most_rows :]), arm.loss)
        true += (n - CHAIN) * float(np.log(2))
        for line in _more_and_more(context, arm, codes[:n, : arm.most_rows], test):
            line["excess"] = line.pop("test_loss") - true
            lines.append({"network": network, "arm": name, "n": n, **line})
            if line["excess"] <= arm.excess:
                break
    return {"lines": lines}


def _more_and_more(
    context: Context, arm: Arm, codes: NDArray[np.uint8], test: Table
) -> Iterator[dict[str, Any]]:
    """Yield the best network of 50, 100, 200, ... rows, and its loss on others."""
    rows = FIRST_ROWS
    while rows <= codes.shape[1]:
        yield {"rows": rows, **_best(context, arm, _table(codes[:, :rows]), test)}
        rows *= TIMES


def _best(context: Context, arm: Arm, train: Table, test: Table) -> dict[str, Any]:
    """Return the best of the strengths on the test rows; weaker ones are tried while they help."""
    best: dict[str, Any] = {}
    scale = float(np.sqrt(np.log(train.n_variables) / train.n_rows)) if arm.scaled else 1.0
    for strength in arm.strengths:
        net = MarkovNetwork(
            lam=strength * scale, n_jobs=context.n_jobs, verbose=context.observer, **arm.settings()
        ).fit(train)
        loss = _loss(net.model_, test, arm.loss)
        if best and loss >= best["test_loss"]:
            break
        best = {
            "test_loss": loss,
            "lam": net.lam_,
            "edges": net.model_.n_edges,
            "converged": bool(net.certificate_.converged),
        }
    return best


def _loss(model: PairwiseMRF, rows: Table, loss: Loss) -> float:
    """Return the mean loss of a row."""
    logs = model.log_prob(rows) if loss == "likelihood" else model.log_pseudo_likelihood(rows)
    return -float(logs.mean())


def _table(codes: NDArray[np.uint8]) -> Table:
    names = tuple(f"x{k}" for k in range(len(codes)))
    return Table(names, ((0, 1),) * len(names), np.ascontiguousarray(codes))


def crossing(rows: Sequence[float], excess: Sequence[float], wanted: float) -> float | None:
    """Return how many rows bring the excess down to what is wanted; None if none of these do.

    Between two numbers of rows the excess is taken for a power of them.

    Examples
    --------
    >>> crossing([100, 200, 400], [4.0, 2.0, 0.5], 1.0)
    282.8427...
    """
    for k in range(1, len(rows)):
        before, after = excess[k - 1], excess[k]
        if after <= wanted < before and after > 0:
            share = np.log(before / wanted) / np.log(before / after)
            return float(rows[k - 1] * (rows[k] / rows[k - 1]) ** share)
    return None
