"""How a network answers: the engine that a word stands for, and what is refused or warned of."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from graftwork.data.columns import level_of_caller
from graftwork.errors import ApproximationWarning, ConvergenceWarning, DataError, TooLargeError
from graftwork.inference import ENGINES
from graftwork.inference.device.drawing import gibbs_sample_on
from graftwork.inference.device.torch_ import wants_device
from graftwork.inference.engines import Beliefs, Engine
from graftwork.inference.evidence import Reduced
from graftwork.inference.junction import JunctionTree
from graftwork.inference.layout import Ints, Layout, Potentials
from graftwork.inference.loopy import LoopyBP
from graftwork.inference.sampled import Sampler
from graftwork.inference.sampling import gibbs_sample, log_weights
from graftwork.inference.search import possible_state, search_mode

Evidence = Mapping[Any, Any] | None
Inference = str | Engine


def engine_for(inference: Inference, layout: Layout) -> Engine:
    """Return the engine meant: a word, or the one given.

    "exact" is a junction tree, "bp" loopy belief propagation, "trw" tree-reweighted belief
    propagation (its log Z is an upper bound), "auto" a junction tree where that fits, else "bp".
    """
    if isinstance(inference, str):
        if inference == "auto":
            return JunctionTree() if JunctionTree().fits(layout) else LoopyBP()
        if inference in ENGINES:
            engine: Engine = ENGINES[inference]()
            return engine
    elif isinstance(inference, Engine):
        return inference
    raise DataError(f'inference is {inference!r}; use "exact", "bp", "trw", "auto" or an engine.')


def infer(
    reduced: Reduced, inference: Inference, evidence: Evidence = None
) -> tuple[Engine, Beliefs]:
    """Return the engine meant and its beliefs; refuse contradictions, warn of approximations."""
    layout = reduced.potentials.layout
    if inference == "auto" and not JunctionTree().fits(layout) and Sampler.fits(layout):
        drawn = _drawn(reduced, evidence)
        if drawn is not None:
            return drawn
    engine: Engine = engine_for(inference, layout)
    try:
        beliefs = engine.infer(reduced.potentials)
    except ZeroDivisionError:  # messages that leave a variable no state
        _check_consistent(reduced.potentials, evidence)
        raise
    _check_possible(reduced, beliefs.log_partition, evidence)
    if not beliefs.exact:
        _check_consistent(reduced.potentials, evidence)
    if inference == "auto" and not beliefs.exact and beliefs.converged:
        _warn_approximate("loopy belief propagation was used, which converged")
    elif inference == "auto" and not beliefs.exact:
        drawn = _drawn(reduced, evidence)
        if drawn is not None:
            return drawn
        _warn_unsettled(engine, beliefs)
    elif not beliefs.converged:
        _warn_unsettled(engine, beliefs)
    return engine, beliefs


def _drawn(reduced: Reduced, evidence: Evidence) -> tuple[Engine, Beliefs] | None:
    """Return what draws say of a large network; None where no draw was possible."""
    engine = Sampler()
    try:
        beliefs = engine.infer(reduced.potentials)
    except ZeroDivisionError:
        return None
    _check_possible(reduced, beliefs.log_partition, evidence)
    _warn_approximate(
        f"joint states were drawn, with a standard error of up to {100 * beliefs.noise:.1f} points"
    )
    return engine, beliefs


def most_probable(
    reduced: Reduced, inference: Literal["auto", "exact"], evidence: Evidence = None
) -> Ints:
    """Return the codes of the most probable state, or of the best that a search found."""
    exact = inference == "exact" or JunctionTree().fits(reduced.potentials.layout)
    if exact:
        codes, best = JunctionTree().maximise(reduced.potentials)
    else:
        codes, best = search_mode(reduced.potentials, np.random.default_rng(0))
    _check_possible(reduced, best, evidence)
    if not exact:
        _warn_approximate("the most probable state is the best of a search")
    return codes


def draw_rows(
    reduced: Reduced,
    n: int,
    rng: np.random.Generator,
    method: Literal["auto", "exact", "gibbs"],
    evidence: Evidence = None,
    n_jobs: int | None = 1,
    device: str | None = None,
) -> NDArray[np.unsignedinteger]:
    """Return the codes of rows drawn exactly ("exact", "auto" where that fits) or by Gibbs."""
    _check_possible(reduced, 0.0, evidence)
    on_device = check_device(device, method)
    exact = method == "exact" or (
        method == "auto" and JunctionTree().fits(reduced.potentials.layout)
    )
    if exact and not on_device:
        try:
            return JunctionTree().sample(reduced.potentials, n, rng)
        except ValueError:
            _check_possible(reduced, -np.inf, evidence)
            raise
    drawn = draw_chains(reduced.potentials, n, rng, n_jobs=n_jobs, device=device)
    if impossible(reduced.potentials, drawn):
        raise no_draw(reduced.potentials, evidence)
    return drawn


def check_device(device: str | None, method: str) -> bool:
    """Return whether rows are to be drawn on a graphics card, which only Gibbs sampling can.

    Examples
    --------
    >>> check_device("cpu", "auto"), check_device("cuda", "gibbs")
    (False, True)
    >>> check_device("cuda", "auto")
    Traceback (most recent call last):
        ...
    graftwork.errors.DataError: device="cuda" draws by Gibbs sampling only, and method is 'auto'...
    """
    if not wants_device(device):
        return False
    if method != "gibbs":
        raise DataError(
            f'device="{device}" draws by Gibbs sampling only, and method is {method!r}: use '
            'method="gibbs", or leave device out.'
        )
    return True


def draw_chains(
    potentials: Potentials,
    n: int,
    rng: np.random.Generator,
    burn_in: int = 1000,
    thin: int = 10,
    n_chains: int | None = None,
    n_jobs: int | None = 1,
    start: Ints | None = None,
    device: str | None = None,
) -> NDArray[np.unsignedinteger]:
    """Return ``n`` Gibbs draws as codes, shape (n_variables, n), from the processor or a card."""
    if wants_device(device):
        found: NDArray[np.unsignedinteger] = gibbs_sample_on(
            str(device), potentials, n, rng, burn_in, thin, n_chains, start=start
        )
        return found
    return gibbs_sample(potentials, n, rng, burn_in, thin, n_chains, n_jobs, start=start)


def impossible(potentials: Potentials, codes: NDArray[np.unsignedinteger]) -> bool:
    """Return whether a draw has probability zero, which only potentials of -inf can do."""
    if not np.isneginf(potentials.weights).any():
        return False
    return bool(np.isneginf(log_weights(potentials, codes)).any())


def no_state(evidence: Evidence = None) -> DataError:
    """Return the error for a network, or for evidence, that leaves no joint state possible.

    Examples
    --------
    >>> print(no_state({"sex": "m", "pregnant": "yes"}))
    the evidence {'sex': 'm', 'pregnant': 'yes'} has probability zero under this network.
    """
    if not evidence:
        return DataError(
            "every joint state of this network is impossible: its -inf potentials contradict each "
            "other."
        )
    given = ", ".join(f"{name!r}: {state!r}" for name, state in evidence.items())
    return DataError(f"the evidence {{{given}}} has probability zero under this network.")


def no_draw(potentials: Potentials, evidence: Evidence = None) -> DataError:
    """Return the error for Gibbs draws that are impossible joint states."""
    if possible_state(potentials) is None:
        return no_state(evidence)
    return DataError(
        "Gibbs chains did not leave the impossible joint states: -inf potentials cut the space "
        'apart. Use method="exact", or large negative numbers in place of -inf.'
    )


def _check_possible(reduced: Reduced, rest: float, evidence: Evidence) -> None:
    """Refuse evidence of probability zero."""
    if not reduced.constant + rest > -np.inf:
        raise no_state(evidence)


def _check_consistent(potentials: Potentials, evidence: Evidence = None) -> None:
    """Refuse what messages need not show: -inf potentials that leave no joint state."""
    try:
        if possible_state(potentials) is None:
            raise no_state(evidence)
    except TooLargeError as error:
        warnings.warn(
            f"{error} If they leave none, this answer means nothing.",
            ApproximationWarning,
            stacklevel=level_of_caller(),
        )


def _warn_approximate(what: str) -> None:
    """Warn that an answer is approximate, and why."""
    warnings.warn(
        f"exact inference is too large for this network: {what}. The answer is approximate.",
        ApproximationWarning,
        stacklevel=level_of_caller(),
    )


def _warn_unsettled(engine: Engine, beliefs: Beliefs) -> None:
    """Warn that an engine stopped before its messages had settled."""
    warnings.warn(
        f"{engine.describe()}: it did not converge (messages still change by up to "
        f"{beliefs.residual:.2g} after {beliefs.sweeps} sweeps), so the answer may be poor. Use "
        'inference="exact" where it fits, or more sweeps, as in LoopyBP(max_sweeps=5000).',
        ConvergenceWarning,
        stacklevel=level_of_caller(),
    )
