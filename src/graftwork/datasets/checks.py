"""What generators refuse, each with a sentence."""

from __future__ import annotations

from typing import Any

import numpy as np

from graftwork.errors import DataError
from graftwork.inference.layout import Ints
from graftwork.parameters import whole_number

#: Codes are kept in 16 bits.
MOST_STATES = 2**16


def state_counts(n_states: Any, n_variables: int) -> Ints:
    """Return the number of states of each variable, from one number or one a variable."""
    if isinstance(n_states, int | np.integer):
        listed = [n_states] * n_variables
    else:
        try:
            listed = list(n_states)
        except TypeError:
            listed = [n_states]
        if isinstance(n_states, str) or len(listed) != n_variables:
            raise DataError(
                f"n_states is {n_states!r}; use one whole number, or one for each of the "
                f"{n_variables} variables."
            )
    return np.array([whole_number("n_states", s, 2, MOST_STATES) for s in listed], dtype=np.int64)
