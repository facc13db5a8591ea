"""Rows from a known network: independent where that is affordable, else from checked chains."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Literal

import numpy as np

from graftwork.data import Table
from graftwork.data.values import generator
from graftwork.datasets.mixing import Codes, Diagnosis, Mixing, diagnose
from graftwork.errors import ApproximationWarning, DataError
from graftwork.inference.device.drawing import MOST_CHAINS
from graftwork.inference.junction import JunctionTree
from graftwork.inference.layout import Ints
from graftwork.inference.sampling import CHAINS
from graftwork.kernels.threads import count_threads
from graftwork.models import PairwiseMRF
from graftwork.models.engines import check_device, draw_chains, impossible, no_draw
from graftwork.parameters import whole_number

#: The check looks at this many draws of each chain at least, though fewer rows may be wanted.
LEAST_DRAWS = 50


@dataclass(frozen=True, slots=True)
class Drawn:
    """Rows with a known truth.

    Attributes
    ----------
    model : PairwiseMRF
        The network the rows come from.
    data : Table
        Rows to learn from.
    test : Table or None
        Other rows, independent of `data` given the network.
    mixing : Mixing
        How the rows were drawn, and whether the chains had mixed.

    Examples
    --------
    >>> import graftwork as gw
    >>> made = gw.datasets.make_bernoulli(6, mean_degree=2, n_rows=100, random_state=0)
    >>> made.data
    Table: 100 rows x 6 variables, 2 states each
    >>> made.mixing.method
    'exact'
    """

    model: PairwiseMRF
    data: Table
    test: Table | None
    mixing: Mixing


@dataclass(frozen=True, slots=True)
class Chains:
    """How many chains to run and how long; burn-in and thinning double up to a limit."""

    n_chains: int
    n_draws: int
    burn_in: int
    thin: int
    most_burn_in: int


def draw(
    model: PairwiseMRF,
    n_rows: int = 19_000,
    *,
    n_test: int = 0,
    method: Literal["auto", "exact", "gibbs"] = "auto",
    n_chains: int | None = None,
    burn_in: int = 1_000,
    thin: int = 10,
    max_burn_in: int = 16_000,
    random_state: int | np.random.Generator | None = None,
    n_jobs: int | None = 1,
    device: str | None = None,
) -> Drawn:
    """Return rows drawn from a network, with a report of how well the draws mixed.

    Gibbs chains start far apart: every other one in independent random states, the rest with all
    variables at one end, or in the middle, of their states. While the check fails, they are run
    again with twice the burn-in and twice the thinning. Test rows come from chains of their own.

    Parameters
    ----------
    model : PairwiseMRF
        The network.
    n_rows, n_test : int
        Rows to learn from, and rows to test on.
    method : {"auto", "exact", "gibbs"}
        Independent exact draws, Markov chains, or exact where a junction tree fits.
    n_chains : int, optional
        Independent chains, at least 2; by default 64, on a graphics card as many as give 50 draws
        each (at most 65,536).
    burn_in, thin : int
        Sweeps thrown away at first, and sweeps from one draw to the next.
    max_burn_in : int
        Burn-in is not doubled beyond this; ``max_burn_in=burn_in`` makes one attempt.
    random_state : int, Generator or None
        The same seed gives the same rows, whatever `n_jobs`.
    n_jobs : int, optional
        Threads of the chains; None or -1 for every core.
    device : {None, "cpu", "cuda"}
        "cuda" runs the chains on a graphics card, with ``method="gibbs"``; other rows then than
        those of the processor, from the same distribution.

    Returns
    -------
    Drawn
        The ``model`` given, ``data``, ``test`` (None without test rows) and ``mixing``.

    Warns
    -----
    ApproximationWarning
        If the chains never pass the check.

    Examples
    --------
    >>> alike = [[1, 0], [0, 1]]
    >>> ring = PairwiseMRF(
    ...     {name: [0, 1] for name in "abc"},
    ...     pairwise={("a", "b"): alike, ("b", "c"): alike, ("c", "a"): alike},
    ... )
    >>> draw(ring, 500, random_state=0).mixing.method
    'exact'
    >>> drawn = draw(ring, 500, n_test=100, method="gibbs", random_state=0)
    >>> drawn.data, drawn.test.n_rows, drawn.mixing.ok
    (Table: 500 rows x 3 variables, 2 states each, 100, True)
    """
    if not isinstance(model, PairwiseMRF):
        raise DataError(f"model is a {type(model).__name__}; pass a PairwiseMRF (net.model_).")
    if method not in ("auto", "exact", "gibbs"):
        raise DataError(f'method is {method!r}; use "auto", "exact" or "gibbs".')
    n_rows, n_test = whole_number("n_rows", n_rows, 1), whole_number("n_test", n_test, 0)
    on_device = check_device(device, method)
    if n_chains is None:
        most = min((n_rows + n_test) // LEAST_DRAWS, MOST_CHAINS) if on_device else 0
        n_chains = max(CHAINS, most)
    plan = _plan(n_rows, n_test, n_chains, burn_in, thin, max_burn_in)
    rng = generator(random_state)
    threads = count_jobs(n_jobs)
    if method == "exact" or (method == "auto" and JunctionTree().fits(model.potentials.layout)):
        table = model.sample(n_rows + n_test, None, rng, "exact")
        report = Mixing("exact", n_rows + n_test, ess=float(n_rows + n_test))
        test = table.take_rows(np.arange(n_rows, n_rows + n_test)) if n_test else None
        return Drawn(model, table.take_rows(np.arange(n_rows)), test, report)
    codes, report = _run(model, plan, n_rows + n_test, rng, threads, device)
    kept, tested = _share_out(plan, n_rows, n_test, rng)
    test = _table(model, codes[:, tested]) if n_test else None
    return Drawn(model, _table(model, codes[:, kept]), test, report)


def count_jobs(n_jobs: int | None) -> int:
    """Return the number of threads meant, or refuse.

    Examples
    --------
    >>> count_jobs(2)
    2
    """
    if n_jobs is not None and (
        isinstance(n_jobs, bool) or not isinstance(n_jobs, int | np.integer)
    ):
        raise DataError(f"n_jobs is {n_jobs!r}; use a whole number other than 0, or None.")
    if n_jobs == 0:
        raise DataError("n_jobs is 0; use 1 for one thread, -1 or None for every core.")
    return count_threads(None if n_jobs is None else int(n_jobs))


def _plan(
    n_rows: int, n_test: int, n_chains: int, burn_in: int, thin: int, max_burn_in: int
) -> Chains:
    """Return chains that give enough draws for both parts, from different chains."""
    n_chains = whole_number("n_chains", n_chains, 2)
    burn_in, thin = whole_number("burn_in", burn_in, 0), whole_number("thin", thin, 1)
    most = whole_number("max_burn_in", max_burn_in, 0)
    apart = _test_chains(n_chains, n_rows, n_test)
    needed = -(-n_rows // (n_chains - apart))
    if n_test:
        needed = max(needed, -(-n_test // apart))
    return Chains(n_chains, max(needed, LEAST_DRAWS), burn_in, thin, most)


def _test_chains(n_chains: int, n_rows: int, n_test: int) -> int:
    """Return how many of the chains give the test rows: their share, one at least."""
    if not n_test:
        return 0
    share = round(n_chains * n_test / (n_rows + n_test))
    return min(max(share, 1), n_chains - 1)


def _share_out(
    plan: Chains, n_rows: int, n_test: int, rng: np.random.Generator
) -> tuple[Ints, Ints]:
    """Return which draws are rows, and which test rows: evenly from their chains, shuffled."""
    border = (plan.n_chains - _test_chains(plan.n_chains, n_rows, n_test)) * plan.n_draws
    end = plan.n_chains * plan.n_draws
    kept = np.linspace(0, border, n_rows, endpoint=False).astype(np.int64)
    tested = np.linspace(border, end, n_test, endpoint=False).astype(np.int64)
    return rng.permutation(kept), rng.permutation(tested)


def _run(
    model: PairwiseMRF,
    plan: Chains,
    n_rows: int,
    rng: np.random.Generator,
    threads: int,
    device: str | None,
) -> tuple[Codes, Mixing]:
    """Return the draws of all chains, run until they pass the check or the limit is reached."""
    burn_in, thin, attempts = plan.burn_in, plan.thin, 0
    while True:
        attempts += 1
        codes, found = _attempt(model, plan, burn_in, thin, rng, threads, device)
        report = Mixing(
            "gibbs", n_rows, plan.n_chains, plan.n_draws, burn_in, thin, attempts, *found
        )
        longer = max(2 * burn_in, LEAST_DRAWS)
        if report.ok or longer > plan.most_burn_in:
            break
        burn_in, thin = longer, 2 * thin
    if not report.ok:
        warnings.warn(
            f"The {plan.n_chains:,} Gibbs chains have not mixed after {burn_in:,} sweeps of "
            f"burn-in: the largest R-hat is {report.rhat:.3f} ({report.worst}), above "
            f"{report.limit:g}. Raise max_burn_in, or weaken the couplings.",
            ApproximationWarning,
            stacklevel=3,
        )
    return codes, report


def _attempt(
    model: PairwiseMRF,
    plan: Chains,
    burn_in: int,
    thin: int,
    rng: np.random.Generator,
    threads: int,
    device: str | None,
) -> tuple[Codes, Diagnosis]:
    """Return the draws of chains started afresh, and what the check says of them."""
    codes = draw_chains(
        model.potentials,
        plan.n_chains * plan.n_draws,
        rng,
        burn_in,
        thin,
        plan.n_chains,
        threads,
        start=_far_apart(model.potentials.layout.cards, plan.n_chains, rng),
        device=device,
    )
    if impossible(model.potentials, codes):
        raise no_draw(model.potentials)
    return codes, diagnose(model, codes, plan.n_chains)


def _far_apart(cards: Ints, n_chains: int, rng: np.random.Generator) -> Ints:
    """Return starts (n_chains, n_variables): every other one with all variables alike."""
    start = rng.integers(0, cards, size=(n_chains, len(cards)))
    alike = rng.random((n_chains // 2, 1))
    start[1::2] = (alike * cards).astype(np.int64)
    return start


def _table(model: PairwiseMRF, codes: Codes) -> Table:
    return Table(model.names, tuple(model.states.values()), codes, ordered=model.order)
