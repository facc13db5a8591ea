"""What to say where -inf potentials leave nothing, or nothing that was reached."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from graftwork.errors import DataError
from graftwork.inference.layout import Potentials
from graftwork.inference.possible import possible_state


def no_state(evidence: Mapping[Any, Any] | None = None) -> DataError:
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


def no_draw(potentials: Potentials, evidence: Mapping[Any, Any] | None = None) -> DataError:
    """Return the error for Gibbs draws that are impossible joint states.

    Parameters
    ----------
    potentials : Potentials
        Of the variables that were drawn, given the evidence.
    evidence : mapping, optional

    Raises
    ------
    TooLargeError
        If it was not found out whether there is any possible one.
    """
    if possible_state(potentials) is None:
        return no_state(evidence)
    return DataError(
        "Gibbs chains did not leave the impossible joint states: -inf potentials cut the space "
        'apart. Use method="exact", or large negative numbers in place of -inf.'
    )
